"""Completing in a real browser: a keyframe is picked, a hand is dragged, a track is drawn, and the motion answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

STAGE = "window.choreograph.stage"
STORE = "window.choreograph.store"
ASKED = f"{STORE}.state.document.requests.complete"
Until = Callable[..., None]
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
    page.get_by_role("button", name="Pose", exact=True).click()
    until(page, f"({ASKED}?.poses ?? []).length === 1")
    until(page, shown("one.request.poses?.length === 1"), SLOW_S)
    page.evaluate(f"{STAGE}.player.pause()")
    return page


def test_a_hand_is_held_and_a_track_is_drawn(opened: Any, until: Until, shot: Callable[[Any, str], None]) -> None:
    page = opened
    page.evaluate(f"{STAGE}.player.seek(Math.round(1.0 * {STAGE}.player.fps))")
    page.get_by_role("button", name="Joint", exact=True).click()
    page.get_by_role("menuitem", name="RightHand", exact=True).click()
    until(page, f"({ASKED}.joints ?? []).length === 1")
    asked = page.evaluate(f"{ASKED}.joints[0]")
    assert asked["joint"] == "RightHand" and abs(asked["at_s"] - 1.0) < 0.05
    until(page, shown("one.request.joints?.length === 1 && one.problems.length === 0"), SLOW_S)
    shot(page, "complete-hand")

    page.get_by_role("button", name="Track", exact=True).click()
    page.get_by_role("menuitem", name="LeftHand", exact=True).click()
    box = page.locator("canvas").first.bounding_box()
    x, y = box["x"] + 0.5 * box["width"], box["y"] + 0.7 * box["height"]
    page.mouse.move(x, y)
    page.mouse.down()
    for step in range(1, 8):
        page.mouse.move(x + 8 * step, y)
        page.wait_for_timeout(60)
    page.mouse.up()
    until(page, f"({ASKED}.joints ?? []).length === 2")
    track = page.evaluate(f"{ASKED}.joints[1]")
    assert track["joint"] == "LeftHand" and len(track["points"]) > 2 and track["stop_s"] > track["start_s"]
    until(page, shown("one.request.joints?.length === 2"), SLOW_S)
    shot(page, "complete-track")
    page.get_by_role("button", name="Remove the track of LeftHand").click()
    until(page, f"{ASKED}.joints.length === 1")
