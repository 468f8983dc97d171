"""Retiming in a real browser: a clip is chosen, a pose is pinned and dragged in time, and the motion answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

STAGE = "window.choreograph.stage"
STORE = "window.choreograph.store"
ASKED = f"{STORE}.state.document.requests.retime"
MIDDLE = """(() => {
  const box = document.querySelector(".timeline .mark").getBoundingClientRect();
  return [box.x + box.width / 2, box.y + box.height / 2];
})()"""
"""Of the marker on the timeline."""
Until = Callable[..., None]
SLOW_S = 120.0
"""Without a graphics card, beside other work, and with kernels still to be compiled."""


@pytest.fixture
def opened(page: Any, until: Until) -> Any:
    """The Retime panel with a clip of the library."""
    page.get_by_role("tab", name="Retime").click()
    page.evaluate(f"{STAGE}.player.pause()")  # without a graphics card, each frame drawn holds the pointer up
    page.get_by_label("Motion", exact=True).select_option(label="walk")
    until(page, shown("!one.request.keys"), SLOW_S)
    page.evaluate(f"{STAGE}.player.pause()")
    return page


def shown(condition: str) -> str:
    """Whether the retimed motion on the stage meets a condition on `one`, its result."""
    return (
        f"{STORE}.state.results.some((one) => one.verb === 'retime' && one.motions[0].id === {STAGE}.shown[0]?.id "
        f"&& {condition})"
    )


def on_stage(page: Any) -> Any:
    return page.evaluate(
        f"{STORE}.state.results.find((one) => one.verb === 'retime' && one.motions[0].id === {STAGE}.shown[0]?.id)"
    )


def test_a_pose_is_pinned_and_dragged_in_time(opened: Any, until: Until, shot: Callable[[Any, str], None]) -> None:
    page = opened
    before = on_stage(page)
    assert page.locator(".warp .key").count() == 2, "the first frame and the last"
    until(page, "document.querySelectorAll('.warp .speeds path').length === 4")

    # Pin the pose in the middle by a double click on the timeline.
    track = page.locator(".timeline .track").bounding_box()
    page.mouse.dblclick(track["x"] + 0.5 * track["width"], track["y"] + 0.7 * track["height"])
    until(page, f"Object.keys({ASKED}?.keys ?? {{}}).length === 1")
    [(frame, second)] = page.evaluate(f"Object.entries({ASKED}.keys)")
    until(page, shown(f"one.request.keys?.[{frame}] === {second}"), SLOW_S)
    results = page.evaluate(f"{STORE}.state.results.filter((one) => one.verb === 'retime').length")

    # Drag it to the right: the motion answers while it is held, and the curve goes through it.
    until(page, "document.querySelectorAll('.timeline .mark:not([hidden])').length === 1")
    x, y = page.evaluate(MIDDLE)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 0.03 * track["width"], y, steps=2)
    until(page, shown(f"one.request.keys?.[{frame}] > {second}"), SLOW_S)
    assert page.evaluate(f"{ASKED}.keys[{frame}]") == second, "the document waits for the end of the drag"
    for share in (0.05, 0.07, 0.09):
        page.mouse.move(x + share * track["width"], y)
        page.wait_for_timeout(60)
    shot(page, "retime-dragging")
    page.mouse.up()
    until(page, f"{ASKED}.keys[{frame}] > {second}")
    at = page.evaluate(f"{ASKED}.keys[{frame}]")
    until(
        page,
        shown(f"one.request.keys?.[{frame}] === {at} && !one.passing") + f" && {STORE}.state.unsaved === 0",
        SLOW_S,
    )
    result = on_stage(page)
    assert result["subject"] == before["subject"] and result["problems"] == []
    warp = result["details"]["warp"]
    nearest = min(range(len(warp["seconds"])), key=lambda k: abs(warp["seconds"][k] - at))
    assert warp["frames"][nearest] == pytest.approx(float(frame), abs=2)
    until(page, f"{STORE}.state.results.filter((one) => one.verb === 'retime').length === {results + 1}")
    shot(page, "retime")

    # Typed, freed, undone.
    page.locator(".warp .key:not(.fixed)").first.focus()
    page.keyboard.press("Delete")
    until(page, f"{ASKED}.keys === undefined && document.querySelectorAll('.timeline .mark').length === 0")
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("Control+z")
    until(page, f"{ASKED}.keys?.[{frame}] === {at} && {STAGE}.shown[0].id === '{result['motions'][0]['id']}'", SLOW_S)


def test_it_takes_the_timing_of_another_clip(opened: Any, until: Until) -> None:
    page = opened
    page.get_by_label("Be like", exact=True).select_option(index=2)
    until(page, shown("one.request.like?.length === 1"), SLOW_S)
    like = page.evaluate(f"{ASKED}.like[0]")
    name = page.evaluate(f"{STORE}.state.document.clips.find((clip) => 'clip:' + clip.id === '{like}').name")
    assert on_stage(page)["details"]["references"] == [name]
    page.get_by_role("button", name=f"Not like {name}").click()
    until(page, f"{ASKED}.like === undefined")
