"""Planning in a real browser: a scene is drawn on the floor or opened from a file, and ways come with their bound."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.studio.test_flow import STAGE, STATE, pixel, settle, show

Until = Callable[..., None]
Take = Callable[[Any, str], None]
SLOW_S = 180.0
ASKED = f"{STATE}.document.requests.plan"
AT_REST = "document.querySelector('.planner').dataset.busy === 'false'"
DRAWING = """<svg xmlns="http://www.w3.org/2000/svg">
<g id="start"><line x1="0" y1="0" x2="0" y2="50"/></g>
<g id="goal"><circle cx="50" cy="300" r="30"/></g>
<g id="obstacles"><rect x="-100" y="150" width="100" height="40"/></g>
</svg>"""


def found(condition: str) -> str:
    """Whether the plan on the stage meets a condition on `one`, its result."""
    return (
        f"{STATE}.results.some((one) => one.verb === 'plan' && one.motions[0].id === {STAGE}.shown[0]?.id "
        f"&& {condition})"
    )


def on_stage(page: Any) -> Any:
    return page.evaluate(f"{STATE}.results.find((one) => one.motions[0].id === {STAGE}.shown[0]?.id)")


def drag(page: Any, *places: tuple[float, float]) -> None:
    """Press on the floor at the first place, and let go at the last."""
    page.mouse.move(*pixel(page, *places[0]))
    page.mouse.down()
    for place in places[1:]:
        page.mouse.move(*pixel(page, *place), steps=4)
    page.mouse.up()


def put(page: Any, what: str) -> None:
    page.get_by_role("toolbar", name="Put down").get_by_role("button", name=what, exact=True).click()


def marks(page: Any, kind: str) -> int:
    """How many overlays of a kind are on the stage: those that have this member."""
    count: int = page.evaluate(f"[...{STAGE}.layer.all].filter((one) => one.visible && '{kind}' in one).length")
    return count


@pytest.fixture
def opened(page: Any, until: Until) -> Any:
    """The Plan panel, seen from above."""
    show(page, "plan")
    page.evaluate("window.choreograph.store.setView({ follow_camera: false })")
    page.evaluate(f"{STAGE}.player.pause(); {STAGE}.camera.frame([[-1, 0], [1, 3.5]]); {STAGE}.camera.view(5)")
    settle(page)
    return page


def test_a_scene_is_drawn_and_walked(opened: Any, until: Until, shot: Take) -> None:
    page = opened
    page.evaluate(
        """(() => {
          window.said = [];
          const bound = document.querySelector('.planner .bound');
          new MutationObserver(() => bound.textContent && window.said.push(bound.textContent))
            .observe(bound, { childList: true, subtree: true, characterData: true });
        })()"""
    )
    # A goal, and where to look there.
    drag(page, (0.2, 3.4), (0.2, 4.0))
    until(page, f"{ASKED}?.goals?.length && {STATE}.undo === 'Put down: goal' && {STATE}.unsaved === 0")
    goal = page.evaluate(f"{ASKED}.goals[0]")
    assert goal["place"] == pytest.approx([0.2, 3.4], abs=0.05) and abs(goal["facing_deg"]) < 8
    until(page, found("one.details.footprints.length > 2"), SLOW_S)
    until(page, f"{AT_REST} && {found('one.metrics.bound')}", SLOW_S)
    first = on_stage(page)
    assert first["problems"] == []
    assert math.dist(first["path"][-1], goal["place"]) < 0.35

    # It got nearer to the best while one looked; footprints and the places that were looked at lie on the floor.
    said = page.evaluate("window.said")
    bounds = [float(text.split("×")[1].split()[0]) for text in said]
    assert bounds and all(later <= before for before, later in pairwise(bounds)), bounds
    assert bounds[-1] == pytest.approx(first["metrics"]["bound"]["value"], abs=0.006) and bounds[-1] >= 1
    assert marks(page, "dots") == 1 and len(first["details"]["expanded"]) > 100

    # A pillar in the way is gone round.
    put(page, "Pillar")
    drag(page, (0.1, 1.8), (0.5, 1.8))
    until(
        page, f"{ASKED}.scene?.obstacles?.length === 1 && {STATE}.undo === 'Put down: pillar' && {STATE}.unsaved === 0"
    )
    pillar = page.evaluate(f"{ASKED}.scene.obstacles[0]")
    assert pillar["radius_m"] == pytest.approx(0.4, abs=0.05)
    until(page, f"{AT_REST} && {found('one.request.scene?.obstacles?.length === 1')}", SLOW_S)
    round_it = on_stage(page)
    assert round_it["problems"] == []
    away = min(math.dist(place, pillar["centre"]) for place in round_it["path"])
    assert away > pillar["radius_m"] > min(math.dist(place, pillar["centre"]) for place in first["path"])
    page.evaluate(f"{STAGE}.camera.view(1)")
    settle(page)
    shot(page, "plan")

    # The pillar is dragged aside.
    page.evaluate(f"{STAGE}.camera.view(5)")
    settle(page)
    before = pillar["centre"]
    drag(page, (before[0] - 0.1, before[1]), (before[0] - 0.1 + 1.2, before[1]))
    until(page, f"{ASKED}.scene.obstacles[0].centre[0] > {before[0] + 0.6} && {STATE}.unsaved === 0")
    until(page, f"{AT_REST} && {found(f'one.request.scene?.obstacles?.[0].centre[0] > {before[0] + 0.6}')}", SLOW_S)
    aside = on_stage(page)
    assert aside["cost"] < round_it["cost"] + 1e-9, "the way is free again"


def test_scenes_are_opened_from_files(opened: Any, until: Until, shot: Take, tmp_path: Path) -> None:
    page = opened
    scene = tmp_path / "scene.yaml"
    scene.write_text("goals: [{place: [0, 3]}]\nscene: {gaps: [{low: [-1, 1.2], high: [1, 1.5]}]}\ntime_limit_s: 4\n")
    page.set_input_files("input[aria-label='Scene file']", str(scene))
    until(page, f"{ASKED}?.scene?.gaps?.length === 1 && {STATE}.undo === 'Open scene.yaml' && {STATE}.unsaved === 0")
    until(page, f"{AT_REST} && {found('one.request.scene?.gaps?.length === 1')}", SLOW_S)
    across = on_stage(page)
    assert across["problems"] == []
    for x, z, *_ in across["details"]["footprints"]:
        assert not (abs(x) < 1 and 1.2 < z < 1.5), "no foot stands in the gap"

    # The scene is saved as a file that anybody else can open: emptied and opened again, it is the same.
    drawn_before = page.evaluate(ASKED)
    with page.expect_download() as coming:
        page.get_by_role("button", name="Request file").click()
    kept = tmp_path / "kept.yaml"
    coming.value.save_as(kept)
    page.get_by_role("button", name="Empty the scene").click()
    until(page, f"{ASKED}.scene?.gaps === undefined && {STATE}.undo === 'Empty the scene' && {STATE}.unsaved === 0")
    page.set_input_files("input[aria-label='Scene file']", str(kept))
    until(page, f"{ASKED}?.scene?.gaps?.length === 1 && {STATE}.undo === 'Open kept.yaml' && {STATE}.unsaved === 0")
    again = page.evaluate(ASKED)
    assert {name: again[name] for name in ("goals", "scene")} == {
        name: drawn_before[name] for name in ("goals", "scene")
    }

    # A floor plan joins what is there; the scene is emptied first, and its goal stays.
    page.get_by_role("button", name="Empty the scene").click()
    until(page, f"{ASKED}.scene?.gaps === undefined && {STATE}.undo === 'Empty the scene' && {STATE}.unsaved === 0")
    plan = tmp_path / "plan.svg"
    plan.write_text(DRAWING)
    page.set_input_files("input[aria-label='Scene file']", str(plan))
    until(page, f"{ASKED}?.scene?.obstacles?.length === 1 && {STATE}.undo === 'Open plan.svg' && {STATE}.unsaved === 0")
    until(page, f"{AT_REST} && {found('one.request.scene?.obstacles?.length === 1')}", SLOW_S)
    drawn = on_stage(page)
    assert drawn["problems"] == [] and drawn["request"]["goals"][-1]["place"] == [0, 3]
    assert all(not (-1 < x < 0 and 1.5 < z < 1.9) for x, z in drawn["path"]), "it goes round the wall"
    shot(page, "plan-drawing")

    # What cannot be read is said, and changes nothing.
    plan.write_text("<svg><g id='walls'/></svg>")
    page.set_input_files("input[aria-label='Scene file']", str(plan))
    until(page, f"{STATE}.status.kind === 'error' && {STATE}.status.text.includes('layer')")
    assert page.evaluate(f"{ASKED}.scene.obstacles.length") == 1
    page.watch.errors.clear()  # browsers log that the server would not have it
