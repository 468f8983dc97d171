"""What any form and panel does: motions and names to choose, errors that go with their cause, work that is not lost."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.e2e.studio.test_flow import STAGE, STATE, show

from choreograph.demo import demo_clip
from choreograph.formats import write_clip

Until = Callable[..., None]


@pytest.fixture(scope="module")
def clips(start_studio: Callable[..., Any], tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("forms")
    for name in ("walk", "walk_veer_left", "stand"):
        write_clip(folder / f"{name}.npz", demo_clip(name, 30.0))
    studio = start_studio(folder)
    studio.wait_for_jobs()
    return studio


def test_a_field_that_names_a_motion_offers_those_of_the_project(
    clips: Any, open_page: Any, shot: Callable[[Any, str], None], until: Until
) -> None:
    page = open_page(clips)
    show(page, "layer")
    form = page.locator(".panel.layer")
    ask = form.get_by_role("button", name="Layer", exact=True)
    assert ask.is_disabled(), "there is nothing to lay anything over yet"
    form.get_by_label("Motion", exact=True).select_option("walk_veer_left")
    until(page, f"{STAGE}.shown[0]?.name === 'walk_veer_left'")
    upper = form.get_by_label("Upper", exact=True)
    assert upper.locator("option").all_inner_texts() == ["Choose …", "stand", "walk", "walk_veer_left"]
    upper.select_option("stand")
    until(page, f"{STATE}.document.requests.layer?.upper?.startsWith('clip:')")
    ask.click()
    until(page, f"{STATE}.results[0]?.verb === 'layer'")
    assert page.evaluate(f"{STATE}.results[0].name") == "walk_veer_left with stand"
    shot(page, "forms-layer")


def test_names_that_nobody_knows_beforehand_are_typed(clips: Any, open_page: Any, until: Until) -> None:
    page = open_page(clips)
    show(page, "retarget")
    form = page.locator(".panel.retarget")
    form.locator("summary", has_text="Roles").click()
    form.get_by_label("Add to roles", exact=True).fill("left_foot")
    page.keyboard.press("Enter")
    role = form.get_by_label("left_foot", exact=True)
    role.fill("L_Ankle")
    role.press("Enter")
    until(page, f"{STATE}.document.requests.retarget?.roles?.left_foot === 'L_Ankle'")
    form.get_by_role("button", name="Remove left_foot", exact=True).click()
    until(page, f"{STATE}.document.requests.retarget?.roles === undefined && {STATE}.unsaved === 0")


def test_an_error_goes_when_it_is_put_right_or_left_behind(clips: Any, open_page: Any, until: Until) -> None:
    page = open_page(clips)
    show(page, "loop")
    form = page.locator(".panel.loop")
    form.get_by_label("Motion", exact=True).select_option("walk")
    until(page, f"{STATE}.document.subjects.loop && {STATE}.unsaved === 0")
    form.get_by_label("Min, s", exact=True).fill("9")
    page.keyboard.press("Enter")
    status = page.locator(".status[data-kind=error]")
    status.wait_for()
    form.get_by_label("Min, s", exact=True).fill("0.5")
    page.keyboard.press("Enter")
    until(page, f"{STATE}.results[0]?.verb === 'loop'")
    assert status.count() == 0, "the error outlived its cause"
    form.get_by_label("Min, s", exact=True).fill("9")
    page.keyboard.press("Enter")
    status.wait_for()
    show(page, "library")
    assert status.count() == 0, "the error followed to another panel"


def test_each_panel_is_where_it_was_scrolled_to(clips: Any, open_page: Any) -> None:
    page = open_page(clips)
    show(page, "follow")
    page.evaluate("document.querySelector('aside.left').scrollTop = 200")
    show(page, "solve")
    assert page.evaluate("document.querySelector('aside.left').scrollTop") == 0
    show(page, "follow")
    assert page.evaluate("document.querySelector('aside.left').scrollTop") == 200


def test_who_is_alone_is_never_put_beside_anybody(clips: Any, open_page: Any, until: Until) -> None:
    page = open_page(clips)
    ids = page.evaluate(f"{STATE}.clips.map((clip) => clip.id)")
    page.evaluate("(ids) => window.choreograph.store.setView({ shown: ids })", ids[:2])
    until(page, f"{STAGE}.shown.length === 2")
    page.get_by_label("Figures side by side", exact=True).click()
    places = f"[...{STAGE}.actors].map(({{ figure }}) => figure.object.position.toArray())"
    until(page, f"{places}.every(([x]) => Math.abs(x) > 0.1)")
    page.evaluate("(ids) => window.choreograph.store.setView({ shown: ids })", ids[1:2])
    until(page, f"{STAGE}.shown.length === 1")
    assert page.evaluate(places) == [[0, 0, 0]], "it is not where its motion has it, and no button brings it back"


def test_a_change_that_does_not_arrive_is_kept_and_sent_again(clips: Any, open_page: Any, until: Until) -> None:
    page = open_page(clips)
    show(page, "library")
    lost = []

    def lose(route: Any) -> None:
        lost.append(route.request.method)
        route.abort()

    page.route("**/api/document", lose)
    change = "window.choreograph.store.change('Rename project', (document) => (document.name = 'kept')) && undefined"
    page.evaluate(change)
    until(page, f"{STATE}.unsaved === 1 && {STATE}.document.name === 'kept'")
    page.wait_for_timeout(500)
    assert lost and page.evaluate(f"{STATE}.document.name") == "kept", "what was changed is gone"
    page.unroute("**/api/document")
    until(page, f"{STATE}.unsaved === 0")
    assert clips.project()["document"]["name"] == "kept"
    page.watch.errors.clear()  # the browser tells of requests that were lost


def test_words_on_the_stage_stay_in_the_picture(clips: Any, open_page: Any, until: Until) -> None:
    page = open_page(clips)
    box = page.locator(".stage").bounding_box()
    page.evaluate(f"{STAGE}.player.pause()")
    edge = page.evaluate(
        f"{STAGE}.floor.under({{ clientX: {box['x'] + box['width'] - 12}, clientY: {box['y'] + 300} }})"
    )
    text = "this is said of a place close to the right edge of the picture"
    page.evaluate(f"([x, z]) => void {STAGE}.addText([x, 0, z], '{text}')", [edge["x"], edge["z"]])
    label = page.locator(".stage-label", has_text=text)
    until(
        page,
        f"[...document.querySelectorAll('.stage-label')].some((one) => one.textContent === '{text}' && !one.hidden)",
    )
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    found = label.bounding_box()
    assert found["x"] >= box["x"] and found["x"] + found["width"] <= box["x"] + box["width"]


def test_an_empty_project_says_where_to_begin(start_studio: Any, open_page: Any, tmp_path: Any) -> None:
    page = open_page(start_studio(tmp_path))
    for verb in ("graph", "follow", "solve", "plan", "perform", "steer", "complete", "retime", "bend", "loop"):
        page.evaluate(f"window.choreograph.store.setView({{ verb: '{verb}' }})")
        page.wait_for_selector(f"body[data-verb={verb}]")
        assert page.locator(".hint").inner_text() == "Drop motion files anywhere on this window, to begin."
    page.mouse.click(600, 400)
    outline = "getComputedStyle(document.querySelector('.stage canvas')).outlineStyle"
    assert page.evaluate(f"document.activeElement.tagName + ' ' + {outline}") == "CANVAS none"
