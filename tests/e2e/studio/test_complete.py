"""Completing in a real browser: a keyframe is picked, a hand is dragged, a track is drawn, and the motion answers."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

STAGE = "window.choreograph.stage"
STORE = "window.choreograph.store"
ASKED = f"{STORE}.state.document.requests.complete"
Until = Callable[..., None]
DRAG = "window.choreograph.parts.drag"
SLOW_S = 180.0
"""Without a graphics card, beside other work, with a model to be learned and kernels to be compiled."""


def shown(condition: str) -> str:
    """Whether the completed motion on the stage meets a condition on `one`, its result."""
    return (
        f"{STORE}.state.results.some((one) => one.verb === 'complete' && one.motions[0].id === {STAGE}.shown[0]?.id "
        f"&& {condition})"
    )


@pytest.fixture
def opened(page: Any, until: Until) -> Any:
    """The Complete panel with a keyframe of the library's first clip."""
    page.get_by_role("tab", name="Complete").click()
    page.evaluate(f"{STAGE}.player.pause()")
    page.evaluate(f"{STORE}.change('Begin anew', ({{requests}}) => delete requests.complete)")
    until(page, f"{ASKED} === undefined")
    page.get_by_role("button", name="Pose", exact=True).click()
    until(page, f"({ASKED}?.goals ?? []).length === 1")
    until(page, shown("one.request.goals?.length === 1"), SLOW_S)
    page.evaluate(f"{STAGE}.player.pause()")
    return page


def test_a_hand_is_held_and_dragged(opened: Any, until: Until, shot: Callable[[Any, str], None]) -> None:
    page = opened
    page.evaluate(f"{STAGE}.player.seek(Math.round(1.0 * {STAGE}.player.fps))")
    page.get_by_role("button", name="Joint", exact=True).click()
    page.get_by_role("menuitem", name="RightHand", exact=True).click()
    until(page, f"({ASKED}.goals ?? []).some((goal) => goal.joint)")
    asked = page.evaluate(f"{ASKED}.goals.find((goal) => goal.joint)")
    assert asked["joint"] == "RightHand" and abs(asked["at_s"] - 1.0) < 0.05
    until(page, shown("one.request.goals?.some((goal) => goal.joint) && one.problems.length === 0"), SLOW_S)
    shot(page, "complete-hand")
    before = page.evaluate(f"{DRAG}.told.answers")
    begin = on_screen(page, "RightHand")
    pull(page, begin, 30, 0)
    until(page, f"{DRAG}.told.answers > {before}", SLOW_S)
    until(
        page,
        f"JSON.stringify({ASKED}.goals.find((goal) => goal.joint).position) !== "
        f"'{json.dumps(asked['position'], separators=(',', ':'))}'",
    )
    until(page, shown("one.problems.length === 0 && !one.passing"), SLOW_S)
    shot(page, "complete-dragged")


def on_screen(page: Any, joint: str) -> dict[str, float]:
    """Where a joint of the figure is in the window, by what the pointer would name there."""
    return page.evaluate(
        """(name) => {
            const stage = window.choreograph.stage;
            const [motion] = stage.shown;
            const at = stage.jointAt(motion.id, motion.joints.indexOf(name), stage.player.frame);
            return at && stage.onScreen(at);
        }""",
        joint,
    )


def pull(page: Any, begin: dict[str, float], dx: float, dy: float, steps: int = 40) -> None:
    page.mouse.move(begin["x"], begin["y"])
    page.mouse.down()
    for step in range(1, steps + 1):
        page.mouse.move(begin["x"] + dx * step / steps, begin["y"] + dy * step / steps)
        page.wait_for_timeout(15)
    page.mouse.up()


def test_a_pose_is_pulled_in_the_view_and_becomes_a_keyframe(
    opened: Any, until: Until, shot: Callable[[Any, str], None]
) -> None:
    page = opened
    page.evaluate(f"{STAGE}.player.seek(Math.round(1.5 * {STAGE}.player.fps))")
    page.get_by_role("button", name="Pull", exact=True).click()
    page.wait_for_timeout(500)
    begin = on_screen(page, "RightHand")
    before = page.evaluate(f"{DRAG}.told.answers")
    page.mouse.move(begin["x"], begin["y"])
    page.mouse.down()
    for step in range(1, 41):
        page.mouse.move(begin["x"] - step, begin["y"] - 2 * step)
        page.wait_for_timeout(15)
    until(page, f"{DRAG}.told.answers > {before}", SLOW_S)
    page.wait_for_timeout(300)
    shot(page, "complete-pulling")
    page.mouse.up()
    until(page, f"({ASKED}.goals ?? []).some(({{ pose }}) => pose?.rotations?.length > 0)", SLOW_S)
    pose = page.evaluate(f"{ASKED}.goals.find(({{ pose }}) => pose?.rotations)")
    assert abs(pose["at_s"] - 1.5) < 0.05 and pose["as_recorded"]
    until(page, shown("one.request.goals?.length === 2 && one.problems.length === 0"), SLOW_S)
    now = on_screen(page, "RightHand")
    assert abs(now["x"] - begin["x"] + 40) < 8 and abs(now["y"] - begin["y"] + 80) < 8, (begin, now)
    shot(page, "complete-pulled")
    page.get_by_role("button", name="Remove the pose at 1.5 s").click()
    until(page, f"{ASKED}.goals.length === 1")


def test_tracks_are_drawn_in_the_view_and_dragged_and_a_camera_asks(
    opened: Any, until: Until, shot: Callable[[Any, str], None]
) -> None:
    page = opened
    page.get_by_role("button", name="Track", exact=True).click()
    page.get_by_role("menuitem", name="LeftHand", exact=True).click()
    begin = on_screen(page, "LeftHand")
    # In few moves: the track lasts as long as the drawing, and a browser that is slow takes its time for each.
    pull(page, begin, 40, -60, steps=10)
    until(page, f"({ASKED}.goals ?? []).some((goal) => goal.joint)")
    points = page.evaluate(f"{ASKED}.goals.find((goal) => goal.points).points")
    rises = [point[1] for point in points]
    assert max(rises) - min(rises) > 0.15, "it is drawn in the view's plane, not on the floor"
    until(page, shown("one.request.goals?.some((goal) => goal.points)"), SLOW_S)
    shot(page, "complete-track")
    end = page.evaluate(f"{STAGE}.onScreen({{x: {points[-1][0]}, y: {points[-1][1]}, z: {points[-1][2]}}})")
    pull(page, end, 25, -20, steps=10)
    until(page, f"{ASKED}.goals.find((goal) => goal.points).points.at(-1)[1] > {points[-1][1] + 0.03}")
    assert page.evaluate(f"{ASKED}.goals.find((goal) => goal.points).points[0]") == points[0], "its other end stays"

    page.get_by_role("button", name="View", exact=True).click()
    page.get_by_role("menuitem", name="Head", exact=True).click()
    until(page, f"({ASKED}.goals ?? []).some((goal) => goal.camera)")
    seen = page.evaluate(f"{ASKED}.goals.find((goal) => goal.camera).seen")
    assert all(0 < part < 1 for part in seen)
    until(page, shown("one.request.goals?.some((goal) => goal.camera)"), SLOW_S)
    shot(page, "complete-view")
    page.get_by_role("button", name="Remove the view of Head").click()
    until(page, f"!({ASKED}.goals ?? []).some((goal) => goal.camera)")
