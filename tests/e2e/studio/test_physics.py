"""Physics in a real browser: a jump's end, apex and arrow are dragged, and mechanics answers."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from tests.e2e.studio.test_flow import STAGE, STATE, pixel, settle, show

Take = Callable[[Any, str], None]
Until = Callable[..., None]
ASKED = f"{STATE}.document.requests.physics"
POSE = f"{ASKED}?.goals?.find((one) => one.pose)"
PRINTS = "((goals) => new Set(goals.filter((one) => one.foot).map((one) => `${one.foot} ${one.position}`)).size)"
"""Of how many footprints some goals are: contacts of one foot in one place are one."""
SLOW_S = 180.0
"""Without a graphics card, beside other work, and with kernels still to be compiled."""


def solved(condition: str = "true") -> str:
    """Whether solving is over and its motion on the stage, with a result that meets a condition on `one`."""
    return (
        "document.querySelector('.panel.physics .verb').dataset.busy === 'false' && "
        f"{STATE}.results.some((one) => one.verb === 'physics' && one.motions[0].id === {STAGE}.shown[0]?.id "
        f"&& {condition})"
    )


def on_stage(page: Any) -> Any:
    return page.evaluate(
        f"{STATE}.results.find((one) => one.verb === 'physics' && one.motions[0].id === {STAGE}.shown[0]?.id)"
    )


def hips(page: Any, share: float) -> list[float]:
    """Where the hips of the motion on the stage are, at a share of its time."""
    found: list[float] = page.evaluate(
        f"""(() => {{
          const motion = {STAGE}.shown[0];
          const at = {STAGE}.jointAt(motion.id, 0, {share} * (motion.frames - 1));
          return [at.x, at.y, at.z];
        }})()"""
    )
    return found


def look(page: Any) -> None:
    """From in front of its side, with the whole way in the picture."""
    start, end = hips(page, 0), hips(page, 1)
    page.evaluate(f"{STAGE}.player.pause(); {STAGE}.player.seek(0)")
    page.evaluate(f"{STAGE}.camera.frame({json.dumps([start, end])}); {STAGE}.camera.view(1)")
    settle(page)


def find(page: Any, words: str, near: tuple[float, float], step: tuple[float, float]) -> tuple[float, float]:
    """Go from a pixel in steps until the pointer is over the handle that says these words."""
    x, y = near
    for _ in range(80):
        page.mouse.move(x, y)
        if words in page.evaluate(f"{STAGE}.element.querySelector('canvas').title"):
            return x, y
        x, y = x + step[0], y + step[1]
    raise AssertionError(f"no handle says {words!r} from {near} by {step}")


@pytest.fixture
def opened(page: Any, until: Until) -> Any:
    """The Physics panel with a jump on the spot."""
    show(page, "physics")
    page.locator(".panel.physics").get_by_label("Motion", exact=True).select_option(label="jump")
    until(page, f"{STAGE}.shown[0]?.name === 'jump' && {STATE}.document.subjects.physics?.startsWith('clip:')")
    page.evaluate("window.choreograph.store.setView({ follow_camera: false })")
    look(page)
    return page


def test_a_jump_is_dragged_farther_higher_and_round(opened: Any, until: Until, shot: Take) -> None:
    page = opened
    assert page.evaluate(f"{STATE}.results.every((one) => one.verb !== 'physics')"), "nothing is solved before a change"

    # Its end, 30 cm ahead: where it looks at its start.
    before = hips(page, 1)
    x, y = find(page, "farther", pixel(page, before[0], before[2]), (0, -2))
    page.mouse.down()
    page.mouse.move(*pixel(page, before[0], before[2] + 0.3), steps=4)
    page.mouse.up()
    until(page, f"Math.abs({ASKED}?.farther_m ?? 0) > 0.1 && {STATE}.undo === 'Go farther' && {STATE}.unsaved === 0")
    farther = page.evaluate(f"{ASKED}.farther_m")
    until(page, solved(f"one.request.farther_m === {farther}"), SLOW_S)
    first = on_stage(page)
    assert first["subject"] == page.evaluate(f"{STATE}.document.subjects.physics") and first["problems"] == []
    after = hips(page, 1)
    went = ((after[0] - before[0]) ** 2 + (after[2] - before[2]) ** 2) ** 0.5
    assert went == pytest.approx(abs(farther), abs=0.02)
    page.locator(".panel.physics .figures", has_text="centre of mass off its parabola").wait_for()

    # Its apex, straight up. It is solved while it is held, and no such motion is kept.
    look(page)
    shot(page, "physics")
    top = max((hips(page, k / 60) for k in range(61)), key=lambda place: place[1])
    x, y = find(page, "higher", pixel(page, top[0], top[2]), (0, -5))
    page.mouse.down()
    page.mouse.move(x, y - 15, steps=4)
    until(page, solved("one.passing && one.request.higher_m > 0.01"), SLOW_S)
    assert page.evaluate(f"{ASKED}.higher_m === undefined"), "the document hears of it when it is let go"
    page.mouse.up()
    until(page, f"{ASKED}?.higher_m > 0.01 && {STATE}.undo === 'Rise higher' && {STATE}.unsaved === 0")
    higher = page.evaluate(f"{ASKED}.higher_m")
    until(page, solved(f"one.request.higher_m === {higher} && one.request.farther_m === {farther}"), SLOW_S)
    assert on_stage(page)["metrics"]["rise"]["value"] - first["metrics"]["rise"]["value"] == pytest.approx(
        higher, abs=0.03
    )

    # Undo brings the first one back, without solving it again.
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("Control+z")
    until(page, f"{ASKED}?.higher_m === undefined && {STAGE}.shown[0].id === 'result:{first['id']}'", SLOW_S)

    # Its arrow, a quarter to the left.
    look(page)
    end = hips(page, 1)
    find(page, "turn farther", pixel(page, end[0], end[2] + 0.65), (0, 1))
    page.mouse.down()
    page.mouse.move(*pixel(page, end[0] + 0.46, end[2] + 0.46), steps=4)
    page.mouse.move(*pixel(page, end[0] + 0.65, end[2]), steps=4)
    page.mouse.up()
    until(page, f"{ASKED}?.turn_deg > 60 && {STATE}.undo === 'Turn' && {STATE}.unsaved === 0")
    turn = page.evaluate(f"{ASKED}.turn_deg")
    until(page, solved(f"one.request.turn_deg === {turn}"), SLOW_S)
    turned = on_stage(page)["metrics"]["turn"]["value"] - first["metrics"]["turn"]["value"]
    assert turned == pytest.approx(turn, abs=2.0) and turn == pytest.approx(90, abs=25)
    look(page)
    shot(page, "physics-turned")


def test_forces_contacts_and_poses_are_on_stage_and_timeline(opened: Any, until: Until, shot: Take) -> None:
    page = opened
    # Motions on the way to the answer are seen.
    page.evaluate(
        f"""(() => {{ window.seen = 0;
        const preview = {STAGE}.preview.bind({STAGE});
        {STAGE}.preview = (...words) => {{ window.seen += 1; return preview(...words); }}; }})()"""
    )
    page.get_by_role("button", name="Solve", exact=True).click()
    until(page, solved("one.mechanics"), SLOW_S)
    first = on_stage(page)
    assert page.evaluate("window.seen") >= 1, "iterates are shown"

    # Its ground forces are arrows.
    look(page)
    page.evaluate(f"{STAGE}.player.seek(1)")
    until(page, f"[...{STAGE}.layer.all].filter((one) => 'along' in one && one.visible).length === 2", SLOW_S)

    # Four stances: two feet, before and behind the flight. The left one's landing is dragged a little later.
    spans = page.locator(".lane").nth(0).locator(".span")
    assert [page.locator(".lane").nth(k).locator(".span").count() for k in (0, 1)] == [2, 2]
    box = spans.nth(1).bounding_box()
    track = page.locator(".track").bounding_box()
    seconds = first["motions"][0]["frames"] / first["motions"][0]["fps"]
    by = 0.04 / seconds * track["width"]
    page.mouse.move(box["x"] + 2, box["y"] + 7)
    page.mouse.down()
    page.mouse.move(box["x"] + 2 + by, box["y"] + 7, steps=3)
    page.mouse.up()
    until(page, f"{PRINTS}({ASKED}?.goals ?? []) === 4 && {STATE}.undo === 'Change when a foot stands'")
    landed = page.evaluate(f"{ASKED}.goals.filter((one) => one.foot === 'left').at(-1).start_s")
    parts = [one for one in first["details"]["footprints"] if one["foot"] == "left"]
    before = min(one["start_s"] for one in parts if one["position"] == parts[-1]["position"])
    assert landed - before == pytest.approx(0.04, abs=0.03)
    until(page, solved(f"{PRINTS}(one.request.goals ?? []) === 4"), SLOW_S)

    # The left foot's last footprint is dragged 5 cm to the side, and the foot stands there.
    look(page)
    print_of = "details.footprints.filter((print) => print.foot === 'left').at(-1)"
    place = on_stage(page)["details"]["footprints"]
    place = [one for one in place if one["foot"] == "left"][-1]["position"]
    x, y = find(page, "footprint", pixel(page, place[0], place[2]), (1, 0))
    there, beside = pixel(page, place[0], place[2]), pixel(page, place[0] + 0.05, place[2])
    page.mouse.down()
    page.mouse.move(x + beside[0] - there[0], y + beside[1] - there[1], steps=4)
    page.mouse.up()
    until(page, f"{STATE}.undo === 'Move a footprint' && {STATE}.unsaved === 0")
    asked = page.evaluate(f"{ASKED}.goals.filter((one) => one.foot === 'left').at(-1).position")
    assert asked[0] - place[0] == pytest.approx(0.05, abs=0.015) and asked[1] == pytest.approx(place[1], abs=0.002)
    until(page, solved(f"!one.passing && Math.abs(one.{print_of}.position[0] - {asked[0]}) < 0.01"), SLOW_S)
    assert on_stage(page)["problems"] == []

    # A key pose is a ghost, and a mark on the timeline.
    page.evaluate(f"{STAGE}.player.pause(); {STAGE}.player.seek(Math.round(0.5 * {STAGE}.player.frames))")
    page.get_by_role("button", name="Key pose here").click()
    until(page, f"{POSE} && {STATE}.undo === 'Add a key pose'")
    page.locator(".mark").first.wait_for()
    until(page, solved("one.request.goals?.some((one) => one.pose)"), SLOW_S)

    # The ghost is dragged 4 cm to the side; the body goes there.
    look(page)
    at = page.evaluate(f"{POSE}.at_s")
    share = at / ((first["motions"][0]["frames"] - 1) / first["motions"][0]["fps"])
    before = hips(page, share)
    x, y = find(page, "where the body is", pixel(page, before[0], before[2]), (0, -5))
    there, beside = pixel(page, before[0], before[2]), pixel(page, before[0] + 0.04, before[2])
    page.mouse.down()
    page.mouse.move(x + beside[0] - there[0], y + beside[1] - there[1], steps=4)
    page.mouse.up()
    until(page, f"{POSE}.place && {STATE}.undo === 'Move a key pose' && {STATE}.unsaved === 0")
    wanted = page.evaluate(f"(({{ place, height_m }}) => [place[0], height_m, place[1]])({POSE})")
    assert wanted[0] - before[0] == pytest.approx(0.04, abs=0.02)
    until(page, solved("!one.passing && one.request.goals?.find((one) => one.pose).place"), SLOW_S)
    assert hips(page, share) == pytest.approx(wanted, abs=0.01)
    look(page)
    page.evaluate(f"{STAGE}.player.seek(Math.round({share} * ({STAGE}.player.frames - 1)))")
    settle(page)
    shot(page, "physics-sketch")
