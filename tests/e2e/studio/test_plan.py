"""Planning in a real browser: a goal and a pillar are put down on the floor, and a way comes with its bound."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.e2e.studio.test_flow import STAGE, STATE

Until = Callable[..., None]
SLOW_S = 180.0
ASKED = f"{STATE}.document.requests.plan"


def found(condition: str) -> str:
    """Whether a plan meets a condition on `one`, its result."""
    return f"{STATE}.results.some((one) => one.verb === 'plan' && {condition})"


def test_a_scene_is_drawn_and_walked(page: Any, until: Until, shot: Callable[[Any, str], None]) -> None:
    page.get_by_role("tab", name="Plan", exact=True).click()
    page.evaluate(f"{STAGE}.player.pause()")
    box = page.locator(".stage canvas").first.bounding_box()
    middle = (box["x"] + box["width"] / 2, box["y"] + box["height"] * 0.45)
    page.mouse.click(*middle)
    until(page, f"{ASKED}?.goal")
    until(page, found("one.metrics.bound && one.details.footprints.length > 2"), SLOW_S)
    page.get_by_role("toolbar", name="Put down").get_by_role("button", name="Pillar").click()
    page.mouse.click(middle[0] + 200, middle[1] + 30)
    until(page, f"{ASKED}.obstacles?.length === 1")
    until(page, found("one.request.obstacles?.length === 1"), SLOW_S)
    until(page, "document.querySelector('.planner .bound').textContent.includes('of the best')", SLOW_S)
    shot(page, "plan")
