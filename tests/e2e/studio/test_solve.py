"""Solving in the browser: constraints placed by dragging, answers that improve, undo, reload, files."""

from __future__ import annotations

import json
import math
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.studio.test_flow import CLIPS, STAGE, STATE, pixel, send, settle, show

from choreograph.contract.document import read_request_file
from choreograph.demo import demo_clip
from choreograph.formats import write_clip
from choreograph.verbs.solve.request import SolveRequest

ROOT = Path(__file__).parents[3]
LONG_S = 180.0
"""How long an answer may take on a busy machine, with cuts to be found before the first."""

Take = Callable[[Any, str], None]
Until = Callable[..., None]


@pytest.fixture(scope="module")
def project(start_studio: Callable[..., Any], tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A project of a few walks and their graph."""
    folder = tmp_path_factory.mktemp("solving")
    for name in CLIPS:
        write_clip(folder / f"{name}.npz", demo_clip(name, 30.0))
    studio = start_studio(folder)
    studio.wait_for_jobs()
    send(studio, "POST", "api/jobs", {"kind": "build", "ask": {}})
    studio.wait_for_jobs()
    return studio


def asked(page: Any) -> Any:
    return page.evaluate(f"{STATE}.document.requests.solve ?? {{ duration_s: 8 }}")


def drag(page: Any, start: tuple[float, float], stop: tuple[float, float]) -> None:
    page.evaluate(f"{STAGE}.player.pause()")  # without a graphics card, each frame drawn holds the pointer up
    page.mouse.move(*start)
    page.mouse.down()
    for share in (0.25, 0.5, 0.75, 1.0):
        page.mouse.move(*(a + share * (b - a) for a, b in zip(start, stop, strict=True)))
    page.mouse.up()


def floor(page: Any, place: tuple[float, float]) -> tuple[float, float]:
    at = page.evaluate(f"([x, y]) => {STAGE}.floor.under({{ clientX: x, clientY: y }})", list(place))
    return at["x"], at["z"]


def answer(page: Any, until: Until) -> Any:
    """Wait until the request as it is now is answered and the search is over; the result on the stage."""
    shown = f"{STATE}.results.find((r) => r.verb === 'solve' && 'result:' + r.id === {STATE}.view.shown[0])"
    same = f"JSON.stringify({shown}?.request.goals) === JSON.stringify({STATE}.document.requests.solve?.goals)"
    until(page, f"document.querySelector('.solver').dataset.busy === 'false' && {same}", LONG_S)
    page.wait_for_selector("body[data-state=ready]")
    return page.evaluate(shown)


def test_arrows_are_placed_dragged_undone_and_found_again(
    project: Any, open_page: Any, shot: Take, until: Until, tmp_path: Path
) -> None:
    page = open_page(project)
    show(page, "solve")
    page.evaluate("window.choreograph.store.setView({ follow_camera: false })")
    settle(page)

    # Press and drag: a place and a heading.
    start, ahead = (480.0, 470.0), (560.0, 440.0)
    drag(page, start, ahead)
    until(page, f"{STATE}.document.requests.solve?.goals?.length === 1")
    (x, z), (to_x, to_z) = floor(page, start), floor(page, ahead)
    arrow = asked(page)["goals"][0]
    assert arrow["at_s"] == 0 and arrow["place"] == pytest.approx([x, z], abs=0.02)
    assert arrow["facing_deg"] == pytest.approx(math.degrees(math.atan2(to_x - x, to_z - z)), abs=1)
    drag(page, (760.0, 400.0), (800.0, 370.0))
    until(page, f"{STATE}.document.requests.solve?.goals?.length === 2")
    assert asked(page)["goals"][1]["at_s"] == asked(page)["duration_s"]

    first = answer(page, until)
    assert first["metrics"]["body_worst"]["value"] < 0.05 and not first["problems"][1:]
    assert page.locator(".card").count() >= 2, "there is something to choose from"
    assert page.locator('[data-where="body[1]"] .error').inner_text().split(" ")[1] == "cm,"
    shot(page, "solve-dark")

    # Moving an arrow solves anew.
    before = asked(page)["goals"]
    settle(page)
    at = pixel(page, *before[1]["place"])
    page.evaluate(f"{STAGE}.player.pause()")
    page.mouse.move(*at)
    page.mouse.down()
    page.mouse.move(at[0] + 30, at[1] + 10)
    page.mouse.move(at[0] + 40, at[1] + 15)
    # The motion goes along while the arrow is in the hand; the document waits until it is let go.
    until(page, f"{STATE}.results.some((r) => r.verb === 'solve' && r.request.count === 1)", LONG_S)
    assert asked(page)["goals"] == before
    page.mouse.move(at[0] + 60, at[1] + 20)
    page.mouse.up()
    until(page, f"{STATE}.undo === 'Move an arrow'")
    moved = asked(page)["goals"][1]["place"]
    assert math.dist(moved, before[1]["place"]) > 0.2
    second = answer(page, until)
    assert second["id"] != first["id"] and second["metrics"]["body_worst"]["value"] < 0.05

    # Undo brings back the request, and the answers that were there.
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("Control+z")
    until(page, f"{STATE}.redo === 'Move an arrow'")
    assert asked(page)["goals"] == before
    assert answer(page, until)["request"]["goals"] == before

    # Nothing is lost on reload.
    until(page, f"{STATE}.unsaved === 0")
    page.wait_for_timeout(600)  # the view is sent when it has rested
    page.reload()
    page.wait_for_selector("body[data-state=ready]")
    assert asked(page)["goals"] == before
    again = answer(page, until)
    assert again["request"]["goals"] == before
    assert page.locator(".marks .mark").count() == 2
    page.evaluate("window.choreograph.store.setView({ theme: 'light' })")
    settle(page)
    shot(page, "solve-light")
    page.evaluate("window.choreograph.store.setView({ theme: 'dark' })")

    # Time is dragged below: the last arrow comes sooner.
    box = page.locator(".marks .mark").nth(1).bounding_box()
    middle = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    drag(page, middle, (middle[0] - 200, middle[1]))
    until(page, f"{STATE}.undo === 'Move in time'")
    assert 4 < asked(page)["goals"][1]["at_s"] < 8

    # The request as a file is what the command line reads.
    with page.expect_download() as download:
        page.get_by_role("button", name="Request file").click()
    download.value.save_as(tmp_path / "request.yaml")
    request = read_request_file(SolveRequest, tmp_path / "request.yaml")
    assert [list(one.place) for one in request.goals] == [one["place"] for one in asked(page)["goals"]]


def test_all_constraints_can_be_typed_and_unmet_ones_are_red(
    project: Any, open_page: Any, shot: Take, until: Until
) -> None:
    page = open_page(project)
    show(page, "solve")
    page.evaluate(
        """() => window.choreograph.store.change('Begin', ({ requests }) => (requests.solve = {
          duration_s: 8, goals: [{ at_s: 0, place: [0, 0], facing_deg: 0 }], time_limit_s: 1,
        }))"""
    )
    page.get_by_role("button", name="Circle", exact=True).press("Enter")
    until(page, f"{STATE}.document.requests.solve.scene?.obstacles?.length === 1")
    assert asked(page)["scene"]["obstacles"][0] == {"centre": [0, 2], "radius_m": 0.5}, "ahead of the last arrow"
    page.get_by_role("button", name="Remove Round obstacle").click()
    page.get_by_role("button", name="Joint", exact=True).click()
    page.get_by_role("menuitem", name="Head", exact=True).click()
    until(page, f"{STATE}.document.requests.solve.goals?.length === 2")
    form = page.locator('[data-where="joints[0]"] .constraint-form')
    for name, value in (("x", ""), ("y", "2.6"), ("z", "")):
        form.get_by_label(name, exact=True).first.fill(value)
        form.get_by_label(name, exact=True).first.press("Enter")
    until(page, f"JSON.stringify({STATE}.document.requests.solve.goals[1].position) === '[null,2.6,null]'")
    page.wait_for_selector('li[data-where="joints[0]"][data-met=false]', timeout=1000 * LONG_S)
    said = "document.querySelector('li[data-where=\"joints[0]\"] > .problem')?.textContent"
    until(page, f"{said}?.includes('out of reach')", LONG_S)
    shot(page, "solve-unmet")
    # What is refused is said beside what it is about.
    page.evaluate(
        "() => window.choreograph.store.change('Wrong', ({ requests }) => (requests.solve.goals[1].joint = 'nose'))"
    )
    until(page, "document.querySelector('[data-where=\"joints[0]\"] > .problem')?.textContent.includes('nose')", LONG_S)
    page.get_by_role("button", name="Remove nose").click()
    until(page, f"{STATE}.document.requests.solve.goals.length === 1 && {STATE}.undo.startsWith('Remove nose')")


# ---------------------------------------------------------------- without a page


@pytest.fixture(scope="module")
def node() -> str:
    """Node, from the virtual environment or the system."""
    found = shutil.which("node", path=str(Path(sys.executable).parent)) or shutil.which("node")
    if found is None:
        pytest.skip("node is not installed; `make page` installs it")
    return found


def run(node: str, expression: str, ask: Any) -> Any:
    """What an expression over the functions of panels/solverequest.ts gives."""
    script = (
        f"import * as solve from {json.dumps((ROOT / 'web/src/panels/solverequest.ts').as_uri())};"
        f"const ask = {json.dumps(ask)};"
        f"console.log(JSON.stringify({expression}));"
    )
    words = [node, "--input-type=module", "--disable-warning=ExperimentalWarning", "-e", script]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def whole() -> dict[str, Any]:
    arrow = {"at_s": 0, "position": [0, 0], "facing_deg": 0}
    return {
        "length_s": 8,
        "body": [arrow, {**arrow, "at_s": 8, "position": [1, -2.5], "facing_deg": None}],
        "joints": [
            {"at_s": 4, "joint": "head", "position": [None, 1.9, None], "velocity": [None, None, None], "weight": 2}
        ],
        "poses": [{"at_s": 7, "clip": 'say: "hi" # 1', "frame": 3, "weight": 1}],
        "frames": [{"at_s": 6, "clip": "walk", "frame": 10, "duration_s": 1}],
        "labels": [{"start_s": 1, "stop_s": 2, "label": "walk", "weight": 1}],
        "obstacles": [
            {"centre": [3, 3], "radius_m": 0.5},
            {"corners": [[5, 5], [6, 5], [5, 6]], "clearance_m": 0.1, "of": "hips"},
        ],
        "min_piece_s": 0.4,
    }


def test_a_shorter_motion_takes_its_constraints_along(node: str) -> None:
    shorter = run(node, "(solve.setLength(ask, 5), ask)", whole())
    assert [one["at_s"] for one in shorter["body"]] == [0, 5], "what was at the end stays there"
    assert shorter["poses"][0]["at_s"] == 5 and shorter["frames"][0] == {
        **whole()["frames"][0],
        "at_s": 5,
        "duration_s": 0,
    }
    longer = run(node, "(solve.setLength(ask, 12), ask)", whole())
    assert [one["at_s"] for one in longer["body"]] == [0, 12] and longer["poses"][0]["at_s"] == 7


def test_arrows_get_the_next_time_that_is_free(node: str) -> None:
    ask = whole()
    assert run(node, "solve.nextTime({ ...ask, body: [] }, 3)", ask) == 0
    assert run(node, "solve.nextTime({ ...ask, body: ask.body.slice(0, 1) }, 3)", ask) == 8
    assert run(node, "solve.nextTime(ask, 3.14)", ask) == 3.1
    assert run(node, "solve.nextTime(ask, 7.9)", ask) == 4, "the middle, where an arrow is there already"
    mixed = {**ask, "body": ask["body"][::-1]}
    ordered = run(node, "(solve.putInOrder(ask), ask.body)", mixed)
    assert [one["at_s"] for one in ordered] == [0, 8]


def test_sentences_name_their_constraint(node: str) -> None:
    found = run(node, "solve.whereOf('body[12].at_s is 12; it must')", whole())
    assert found == {"kind": "body", "index": 12}
    assert run(node, "solve.whereOf('length_s is -1')", whole()) is None
