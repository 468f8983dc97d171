"""What hands do besides clicking: drawing with a finger and a pen, dropping folders, dragging trims, walking on."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.e2e.studio.test_flow import STAGE, STATE, answered, distances, frames, newest, pixel, settle, show

from choreograph.demo import demo_clip
from choreograph.formats import write_clip

Take = Callable[[Any, str], None]
Until = Callable[..., None]
LINE = [(330 + 20 * k, 450 - 50 * math.sin(math.pi * k / 16)) for k in range(17)]


def still(page: Any) -> None:
    """Nobody moves and the camera stands: what is under a pixel stays there."""
    page.evaluate(f"{STAGE}.player.pause(); window.choreograph.store.setView({{ follow_camera: false }})")
    settle(page)


@pytest.mark.parametrize("hand", ["finger", "pen"])
def test_a_path_is_drawn_with(hand: str, open_page: Any, studio: Any, shot: Take, until: Until) -> None:
    page = open_page(studio, viewport={"width": 1024, "height": 768}, has_touch=True)
    show(page, "follow")
    still(page)
    before = newest(page)
    under = [page.evaluate(f"{STAGE}.floor.under({{ clientX: {x}, clientY: {y} }})") for x, y in (LINE[0], LINE[-1])]
    page.evaluate(
        f"""{STAGE}.element.addEventListener(
          'pointerdown', (event) => (document.body.dataset.hand = event.pointerType), true)"""
    )
    device = page.context.new_cdp_session(page)
    kinds = ["Start", *["Move"] * (len(LINE) - 1), "End"]
    for kind, (x, y) in zip(kinds, [*LINE, LINE[-1]], strict=True):
        if hand == "finger":
            points = [] if kind == "End" else [{"x": x, "y": y}]
            device.send("Input.dispatchTouchEvent", {"type": f"touch{kind}", "touchPoints": points})
        else:
            kind = {"Start": "mousePressed", "Move": "mouseMoved", "End": "mouseReleased"}[kind]
            pressed = {"button": "left", "buttons": 1, "clickCount": 1, "pointerType": "pen", "force": 0.5}
            device.send("Input.dispatchMouseEvent", {"type": kind, "x": x, "y": y, **pressed})
    result = answered(page, before, until)
    assert page.evaluate("document.body.dataset.hand") == {"finger": "touch", "pen": "pen"}[hand]
    points = page.evaluate(f"{STATE}.document.requests.follow.points")
    for place, point in zip(under, (points[0], points[-1]), strict=True):
        assert point == pytest.approx([place["x"], place["z"]], abs=0.03)
    assert distances(frames(studio, result), np.array(result["path"])).max() < 0.15
    shot(page, f"draw-{hand}")


def test_a_folder_is_dropped(open_page: Any, studio: Any, until: Until, tmp_path: Path) -> None:
    """As the system's file manager drops it: folders within it are opened, pairs of ASF and AMC find each other."""
    folder = tmp_path / "recordings"
    for inside, name in (("", "dropped_bvh.bvh"), ("acclaim", "dropped_amc.amc")):
        (folder / inside).mkdir(parents=True, exist_ok=True)
        write_clip(folder / inside / name, demo_clip("stand"))
    assert (folder / "acclaim" / "dropped_amc.asf").is_file()
    (folder / "notes.txt").write_text("nothing to read")
    page = open_page(studio)
    device = page.context.new_cdp_session(page)
    for kind in ("dragEnter", "dragOver", "drop"):
        data = {"items": [], "files": [str(folder)], "dragOperationsMask": 1}
        device.send("Input.dispatchDragEvent", {"type": kind, "x": 640, "y": 300, "data": data})
        if kind == "dragOver":
            page.get_by_text("Drop to add to the library").wait_for()
    for name in ("dropped_bvh", "dropped_amc"):
        page.wait_for_selector(f".clip[data-name={name}]", timeout=120_000)
    assert page.evaluate(f"{STATE}.undo") == "Add 2 clips"
    assert page.get_by_text("Drop to add to the library").is_hidden()
    formats = {r["name"]: r["format"] for r in page.evaluate(f"{STATE}.recordings")}
    assert (formats["dropped_bvh"], formats["dropped_amc"]) == ("bvh", "amc")
    page.keyboard.press("Control+z")
    page.wait_for_selector(".clip[data-name=dropped_bvh]", state="detached")


def test_a_trim_is_narrowed_and_widened_again(page: Any, shot: Take, until: Until) -> None:
    """The timeline is as long as the recording while its clip is edited, so that the handles go both ways."""
    show(page, "library")
    page.click(".clip[data-name=walk]")
    until(page, f"{STAGE}.shown[0]?.name === 'walk' && {STAGE}.shown[0].id.startsWith('clip:')")
    page.evaluate(f"{STAGE}.player.pause()")
    whole = page.evaluate(f"{STAGE}.shown[0].frames")
    track = page.locator(".timeline .track").bounding_box()
    entry = f"{STATE}.document.clips.find((clip) => clip.name === 'walk')"

    def drag(side: str, share: float) -> None:
        handle = page.get_by_role("slider", name={"start": "First frame used", "stop": "End of the frames"}[side])
        box = handle.bounding_box()
        y = box["y"] + box["height"] / 2
        page.mouse.move(box["x"] + box["width"] / 2, y)
        page.mouse.down()
        page.mouse.move(track["x"] + share * track["width"], y, steps=3)
        page.mouse.up()

    def trimmed(start: float, stop: float) -> None:
        until(
            page, f"{STATE}.unsaved === 0 && {STAGE}.shown[0]?.frames === (({{ trim }}) => trim[1] - trim[0])({entry})"
        )
        assert page.evaluate(f"{entry}.trim") == pytest.approx([start * whole, stop * whole], abs=2)

    until(page, "document.querySelectorAll('.trim .handle').length === 2")
    drag("start", 0.25)
    trimmed(0.25, 1)
    drag("stop", 0.75)
    trimmed(0.25, 0.75)
    shot(page, "trim")
    drag("start", 0.1)
    trimmed(0.1, 0.75)
    drag("stop", 0.9)
    trimmed(0.1, 0.9)
    first = page.get_by_role("slider", name="First frame used")
    first.focus()
    first.press("Shift+ArrowLeft")
    trimmed(0.1 - 10 / whole, 0.9)
    for _ in range(5):
        page.evaluate("window.choreograph.store.undo()")
    until(page, f"{entry}.trim === null && {STAGE}.shown[0].frames === {whole}")


def test_the_list_of_clips_keeps_its_place_beside_the_editor(page: Any, shot: Take) -> None:
    show(page, "library")
    page.click(".clip[data-name=walk]")
    page.wait_for_selector(".clip-editor:not([hidden])")
    panel, clips, editor = (
        page.locator(which).bounding_box() for which in (".panel.library", ".panel.library .clips", ".clip-editor")
    )
    assert clips["height"] >= 0.4 * panel["height"] - 1
    assert editor["height"] > 150
    assert editor["y"] + editor["height"] <= panel["y"] + panel["height"] + 1
    page.get_by_role("button", name="Remove from the library").scroll_into_view_if_needed()
    shot(page, "library-editor")


def test_walking_on_turns_where_the_path_does(page: Any, studio: Any, shot: Take, until: Until) -> None:
    show(page, "follow")
    before = newest(page)
    page.get_by_role("button", name="Shapes").click()
    page.get_by_role("menuitem", name="Line").click()
    first = answered(page, before, until)
    end = frames(studio, first)[-1]
    page.locator(".card").first.get_by_role("button", name="More about").click()
    page.get_by_role("menuitem", name="Walk on from here").click()
    before = f"{STATE}.results.find((r) => r.id === {json.dumps(first['id'])}).request"
    same = f"JSON.stringify({STATE}.document.requests.follow.before) === JSON.stringify({before})"
    until(page, f"{STATE}.unsaved === 0 && {same}")
    still(page)
    x, z = end
    page.evaluate(f"{STAGE}.camera.view(5)")
    settle(page)
    page.evaluate(f"{STAGE}.camera.frame([[{x - 1}, {z - 1}], [{x + 5}, {z + 4}]])")
    settle(page)
    corner = [(x, z + 0.3 * k) for k in range(1, 9)] + [(x + 0.3 * k, z + 2.4) for k in range(1, 12)]
    line = [pixel(page, *place) for place in corner]
    page.mouse.move(*line[0])
    page.mouse.down()
    for place in line[1:]:
        page.mouse.move(*place)
    page.mouse.up()
    result = answered(page, first["id"], until)
    shot(page, "walk-on")
    drawn = np.array(page.evaluate(f"{STATE}.document.requests.follow.points"))
    assert drawn[0] == pytest.approx(end, abs=0.3), "the stroke begins where the walk ended"
    whole = np.concatenate([np.array(first["path"]), drawn])
    travelled = frames(studio, result)
    assert distances(travelled, whole).max() < 0.4
    assert np.hypot(*(travelled[-1] - drawn[-1])) < 0.4
    turned = np.degrees(np.arctan2(*(travelled[-1] - travelled[-40])))
    assert turned == pytest.approx(90, abs=25), "it walks along the second leg in the end"
