"""Faces in a real browser: a slider makes a key, a landmark is dragged, a head is chosen, and the face answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

STORE = "window.choreograph.store"
ASKED = f"{STORE}.state.document.requests.face"
Until = Callable[..., None]
SLOW_S = 120.0


def test_sliders_and_points_lead_a_face(page: Any, until: Until, shot: Callable[[Any, str], None]) -> None:
    page.get_by_role("tab", name="Face").click()
    until(page, "document.body.dataset.face === 'ready'", SLOW_S)
    page.get_by_role("slider", name="JawOpen", exact=True).fill("0.6")
    until(page, f"{ASKED}?.goals?.[0]?.shapes?.JawOpen === 0.6", SLOW_S)
    until(page, "document.querySelector('.panel.face').innerText.includes('found in')", SLOW_S)
    shot(page, "face-slider")

    page.get_by_label("Time of the face").fill("1000")
    at = page.evaluate("window.choreograph.parts.face.place(54)")
    page.mouse.move(at["x"], at["y"])
    page.mouse.down()
    for step in range(1, 6):
        page.mouse.move(at["x"] + 2 * step, at["y"] - 2 * step)
        page.wait_for_timeout(50)
    page.mouse.up()
    until(page, f"{ASKED}.goals.length === 2", SLOW_S)
    point = page.evaluate(f"{ASKED}.goals[1]")
    assert point["landmark"] == 54 and point["at_s"] == 2
    until(page, "document.querySelector('[aria-label=Points]').children.length === 1")
    until(page, f"{STORE}.state.results.some((one) => one.verb === 'face' && one.request.goals.length === 2)", SLOW_S)
    shot(page, "face-point")
    page.get_by_role("button", name="Remove point 1").click()
    until(page, f"{ASKED}.goals.length === 1")
