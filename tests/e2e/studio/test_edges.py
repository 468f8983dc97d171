"""Rough edges of the studio that were smoothed, each held in Chromium: undo in fields, blank stretches, a camera that
stays, panels that keep their own things, names and colours that tell results apart, one scale, hints for tablets."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from tests.e2e.studio.test_flow import STAGE, STATE, answered, draw, newest, settle, show

Take = Callable[[Any, str], None]
Until = Callable[..., None]
ASKED = f"{STATE}.document.requests.follow"


@pytest.fixture
def followed(page: Any, until: Until) -> Any:
    """The Follow panel with a line of ten metres, and the camera following whoever walks it."""
    # A studio keeps the view for whoever opens it next, and other tests let the camera stand still.
    page.evaluate("window.choreograph.store.setView({ follow_camera: true })")
    show(page, "follow")
    shape(page, "Line", until)
    until(page, f"{STAGE}.player.playing")
    page.evaluate(f"{STAGE}.player.pause()")
    return page


def shape(page: Any, name: str, until: Until) -> Any:
    """A path from the menu of shapes; the walk along it."""
    before = newest(page)
    page.get_by_role("button", name="Shapes").click()
    page.get_by_role("menuitem", name=name).click()
    return answered(page, before, until)


def test_undo_in_a_field_is_of_what_is_typed_there(followed: Any, until: Until) -> None:
    page = followed
    field = page.get_by_label("Smooth, m")
    was, step = field.input_value(), page.evaluate(f"{STATE}.undo")
    field.click()
    page.keyboard.press("Control+a")
    page.keyboard.type("0.75")
    page.keyboard.press("Control+z")
    until(page, f"document.activeElement.value === {json.dumps(was)}")
    assert page.evaluate(f"{STATE}.undo") == step, "typing was undone, and nothing else"
    # Taken over, it is a step of the document; the field that has the focus shows what comes back.
    page.keyboard.press("Control+a")
    page.keyboard.type("0.6")
    page.keyboard.press("Enter")
    until(page, f"{ASKED}.smooth_m === 0.6 && {STATE}.undo === 'Change smooth'")
    page.keyboard.press("Control+z")
    until(page, f"{STATE}.redo === 'Change smooth'")
    until(page, f"document.activeElement.value === {json.dumps(was)}")
    page.keyboard.press("Control+y")
    until(page, f"{ASKED}.smooth_m === 0.6 && document.activeElement.value === '0.6'")
    page.keyboard.press("Control+z")
    until(page, f"{STATE}.redo === 'Change smooth'")


def test_a_new_stretch_asks_for_nothing_until_somebody_does(followed: Any, until: Until) -> None:
    page = followed
    known = newest(page)
    page.get_by_role("button", name="Ask for something on a stretch").click()
    row = page.locator(".stretches li")
    assert "nothing asked yet" in row.inner_text()
    speed = page.locator(".stretch-form").get_by_label("Speed, m/s")
    assert speed.input_value() == ""
    assert page.evaluate(f"{ASKED}.goals === undefined") and newest(page) == known, "it is no request yet"
    speed.fill("1.3")
    speed.press("Enter")
    until(page, f"{ASKED}.goals?.[0]?.speed_m_s === 1.3")
    answered(page, known, until)
    for nothing in ("0", ""):
        speed = page.locator(".stretch-form").get_by_label("Speed, m/s")
        speed.fill(nothing)
        speed.press("Enter")
        until(page, f"{ASKED}.goals === undefined")
        assert row.count() == 1 and "nothing asked yet" in row.inner_text(), "it stays where it is"
        speed = page.locator(".stretch-form").get_by_label("Speed, m/s")
        speed.fill("1.1")
        speed.press("Enter")
        until(page, f"{ASKED}.goals?.[0]?.speed_m_s === 1.1")
    page.get_by_role("button", name="Remove this stretch").click()
    until(page, f"{ASKED}.goals === undefined && document.querySelectorAll('.stretches li').length === 0")


def test_what_is_drawn_stays_where_it_was_drawn(followed: Any, until: Until, shot: Take) -> None:
    page = followed
    settle(page)
    corner = f"(({{ x, z }}) => [x, z])({STAGE}.floor.under({{ clientX: 430, clientY: 430 }}))"
    before, seen = newest(page), page.evaluate(corner)
    draw(page)
    answered(page, before, until)
    settle(page)
    assert page.evaluate(f"{STATE}.view.follow_camera") is True
    assert page.evaluate(corner) == pytest.approx(seen, abs=1e-6), "the camera went away from the drawing"
    shot(page, "edges-held")
    page.evaluate(f"{STAGE}.player.pause()")
    # From above too, without anything being drawn; whoever wants the figure back asks for it.
    page.keyboard.press("5")
    until(page, f"{STAGE}.camera.polar < 0.1")
    settle(page)
    seen = page.evaluate(corner)
    page.evaluate(f"{STAGE}.player.seek(60)")
    settle(page)
    assert page.evaluate(corner) == pytest.approx(seen, abs=1e-6)
    page.keyboard.press("1")
    until(page, f"{STAGE}.camera.polar > 1")
    settle(page)
    root = page.evaluate(f"{STAGE}.jointAt({STAGE}.shown[0].id, 0, {STAGE}.player.frame)")
    target = page.evaluate(f"({{ x: {STAGE}.camera.target.x, z: {STAGE}.camera.target.z }})")
    assert target == pytest.approx({"x": root["x"], "z": root["z"]}, abs=0.05)


def test_each_verb_shows_its_own(followed: Any, until: Until) -> None:
    """A stretch of Follow, its walk and its time are not what Solve and Retime show."""
    page = followed
    known = newest(page)
    page.get_by_role("button", name="Ask for something on a stretch").click()
    speed = page.locator(".stretch-form").get_by_label("Speed, m/s")
    speed.fill("1.2")
    speed.press("Enter")
    walk = answered(page, known, until)
    labels = "[...document.querySelectorAll('.stage-labels *')].filter((one) => one.textContent === '1.2 m/s').length"
    until(page, f"{labels} === 1")
    drawn = page.evaluate(f"{STAGE}.layer.all.size")
    show(page, "solve")
    until(page, f"{labels} === 0")
    until(page, f"{STAGE}.shown[0]?.id !== 'result:{walk['id']}'")
    assert page.evaluate(f"!{STATE}.view.shown.includes('result:{walk['id']}')")
    show(page, "follow")
    until(page, f"{labels} === 1 && {STAGE}.shown[0]?.id === 'result:{walk['id']}'")
    assert page.evaluate(f"{STAGE}.layer.all.size") == drawn
    page.get_by_role("button", name="Remove this stretch").click()
    until(page, f"{ASKED}.goals === undefined")


def test_results_are_told_apart(followed: Any, until: Until, shot: Take) -> None:
    """By what differs in their names; on the stage by tints, below it by strips."""
    page = followed
    before = newest(page)
    page.locator(".follow summary", has_text="Finishing").click()
    page.get_by_label("Blend", exact=True).select_option("linear")
    second = answered(page, before, until)["id"]
    page.get_by_label("Blend", exact=True).select_option("cubic")
    first = answered(page, second, until)["id"]
    until(page, f"{ASKED}.finish === undefined && {STATE}.unsaved === 0")
    names = [page.locator(f".card[data-result='{one}'] .name").inner_text() for one in (first, second)]
    assert "blend linear" in names[1] and "blend" not in names[0], names
    page.evaluate(f"window.choreograph.store.setView({{ shown: ['result:{first}', 'result:{second}'] }})")
    until(page, f"{STAGE}.shown.length === 2")
    tints = page.evaluate(f"[...{STAGE}.actors].map(({{ figure }}) => figure.clay.color.getHexString())")
    assert len(set(tints)) == 2 and "ffffff" not in tints
    until(page, "document.querySelectorAll('.strip-names .swatch').length === 2")
    colours = "[...document.querySelectorAll('%s .swatch')].map((one) => getComputedStyle(one).backgroundColor).sort()"
    strips, cards = colours % ".strip-names", colours % ".card"
    until(page, f"new Set({cards}).size === 2 && String({strips}) === String({cards})")
    rows = page.evaluate(
        """(() => {
          const canvas = document.querySelector('canvas.strips');
          const scale = canvas.height / canvas.clientHeight;
          const pen = canvas.getContext('2d');
          const alpha = (y) => pen.getImageData(canvas.width / 3, Math.round(y * scale), 1, 1).data[3];
          return [alpha(8), alpha(17.5), alpha(27)];
        })()"""
    )
    assert rows[0] > 0 and rows[1] == 0 and rows[2] > 0, "two strips with a gap between them"
    shot(page, "edges-compare")
    page.evaluate(f"window.choreograph.store.setView({{ shown: ['result:{first}'] }})")
    until(page, f"{STAGE}.shown.length === 1 && document.querySelectorAll('.strip-names .swatch').length === 0")
    assert page.evaluate(f"{STAGE}.actors.lead.figure.clay.color.getHexString()") == "ffffff"


def test_slider_and_curve_have_one_scale(page: Any, until: Until, shot: Take) -> None:
    show(page, "graph")
    page.wait_for_selector(".chart path.frames")
    slider = page.locator(".over-chart input[type=range]")
    for value in (0.0, 0.12, 0.31):
        slider.evaluate(
            "(input, value) => { input.value = value; input.dispatchEvent(new Event('input', { bubbles: true })); }",
            value,
        )
        until(page, f"Math.abs({STATE}.document.graph.threshold_m - {value}) < 1e-9")
        until(page, f"document.querySelector('.chart').getAttribute('aria-valuenow') === '{value:.3f}'")
        box, line = slider.bounding_box(), page.locator(".chart line.threshold").bounding_box()
        share = value / float(slider.get_attribute("max") or "nan")
        thumb = box["x"] + 7 + share * (box["width"] - 14)
        assert thumb == pytest.approx(line["x"] + line["width"] / 2, abs=1.5)
    shot(page, "edges-threshold")
    page.keyboard.press("Control+z")
    until(page, f"{STATE}.graph.current")


@pytest.mark.parametrize("size", [(1280, 720), (768, 1024)])
def test_hints_are_seen_whole_and_fit_the_hand(
    open_page: Any, studio: Any, until: Until, shot: Take, size: tuple[int, int]
) -> None:
    tablet = size[0] < 1024
    page = open_page(studio, viewport={"width": size[0], "height": size[1]}, has_touch=tablet, is_mobile=tablet)
    tab = page.locator(".tab[data-verb=follow]")
    (tab.tap if tablet else tab.click)()
    page.wait_for_selector("body[data-verb=follow]")
    until(page, f"({ASKED}?.points?.length ?? 0) > 1")
    hint = page.locator(".hint")
    assert ("right button" in hint.inner_text()) is not tablet
    assert ("Two fingers" in hint.inner_text()) is tablet
    page.evaluate("window.choreograph.store.setView({ ghosts: true })")
    box, looks = hint.bounding_box(), page.locator(".looks").bounding_box()
    if tablet:
        column, tabs = page.locator(".side.left").bounding_box(), page.locator(".tabs").bounding_box()
        assert column["x"] + column["width"] <= box["x"], "the column lies over the hint"
        toggle = page.get_by_role("button", name="Left column").bounding_box()
        assert toggle["x"] + toggle["width"] <= tabs["x"], "tabs lie over the button beside them"
    stage = page.locator(".stage").bounding_box()
    assert stage["x"] <= box["x"] and box["x"] + box["width"] <= looks["x"], "buttons lie over the hint"
    assert box["y"] >= stage["y"]
    assert hint.evaluate("(one) => one.scrollWidth <= one.clientWidth && one.scrollHeight <= one.clientHeight")
    shot(page, f"edges-hint-{size[0]}")
    page.evaluate("window.choreograph.store.setView({ ghosts: false })")


def test_verbs_without_room_are_in_a_menu(open_page: Any, studio: Any, until: Until) -> None:
    page = open_page(studio, viewport={"width": 1280, "height": 720})
    last = page.locator(".tab").last
    more = page.get_by_role("button", name="More verbs")
    more.click()
    entry = page.get_by_role("menuitem", name=last.inner_text())
    entry.click()
    page.wait_for_selector(f"body[data-verb={last.get_attribute('data-verb')}]")
    until(page, "document.querySelector('.tabs').lastElementChild.getBoundingClientRect().right <= innerWidth")
    assert page.locator(".timeline").is_hidden(), "a face has a time of its own"
    page.set_viewport_size({"width": 2000, "height": 720})
    more.wait_for(state="hidden")
    page.click(".tab[data-verb=follow]")
