"""Bending by hand in a real browser: the way of a clip is dragged, and the motion goes along while it is."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.e2e.studio.test_flow import STAGE, STATE, distances, frames, pixel, settle, show

Take = Callable[[Any, str], None]
Until = Callable[..., None]
ASKED = f"{STATE}.document.requests.bend"
SLOW_S = 120.0
"""Without a graphics card, beside other work, and with kernels still to be compiled."""


@pytest.fixture
def opened(page: Any, until: Until) -> Any:
    """The Bend panel with a straight walk, from above."""
    show(page, "bend")
    page.get_by_label("Motion", exact=True).select_option(label="walk")
    until(page, f"{STAGE}.shown[0]?.name === 'walk' && {STATE}.document.subjects.bend?.startsWith('clip:')")
    page.evaluate(f"{STAGE}.player.pause(); {STAGE}.player.seek(0)")
    page.evaluate("window.choreograph.store.setView({ follow_camera: false })")
    way = places(page)
    page.evaluate(f"{STAGE}.camera.frame({json.dumps([way[0].tolist(), way[-1].tolist()])}); {STAGE}.camera.view(5)")
    settle(page)
    return page


def places(page: Any) -> np.ndarray[Any, Any]:
    """Where the root of the motion on the stage is, ten times, (10, 2)."""
    found = page.evaluate(
        f"""Array.from({{ length: 10 }}, (_, k) => {{
          const motion = {STAGE}.shown[0];
          const at = {STAGE}.jointAt(motion.id, 0, (k / 9) * (motion.frames - 1));
          return [at.x, at.z];
        }})"""
    )
    return np.array(found)


def bent(condition: str = "true") -> str:
    """Whether a bent motion is on the stage, whose result meets a condition on `one`."""
    return (
        f"{STATE}.results.some((one) => one.verb === 'bend' && one.motions[0].id === {STAGE}.shown[0]?.id "
        f"&& {condition})"
    )


def on_stage(page: Any) -> Any:
    return page.evaluate(
        f"{STATE}.results.find((one) => one.verb === 'bend' && one.motions[0].id === {STAGE}.shown[0]?.id)"
    )


def test_the_way_of_a_clip_is_dragged(opened: Any, studio: Any, until: Until, shot: Take) -> None:
    page = opened
    straight = places(page)
    assert page.evaluate(f"{ASKED}?.points === undefined"), "nothing is asked before something is bent"
    # Press on the line itself, between handles, and pull it aside by 40 cm.
    middle, ahead = straight[4], (straight[-1] - straight[0]) / np.linalg.norm(straight[-1] - straight[0])
    aside = np.array([ahead[1], -ahead[0]])
    x, y = pixel(page, *middle)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(*pixel(page, *(middle + 0.2 * aside)), steps=3)
    until(page, bent("one.passing"), SLOW_S)
    assert page.evaluate(f"{ASKED}?.points === undefined"), "the document waits for the end of the drag"
    page.mouse.move(*pixel(page, *(middle + 0.4 * aside)), steps=3)
    shot(page, "bend-dragging")
    page.mouse.up()
    until(page, f"{ASKED}?.points?.length > 1 && {STATE}.undo === 'Bend the path' && {STATE}.unsaved === 0")
    until(page, bent("!one.passing"), SLOW_S)
    result = on_stage(page)
    away = (places(page) - straight[0]) @ aside - (straight - straight[0]) @ aside
    assert away[4] > 0.25 and abs(away[0]) < 0.1 and abs(away[-1]) < 0.1, away
    drawn = np.array(page.evaluate(f"{ASKED}.points"))
    assert distances(frames(studio, result), drawn).max() < 0.2, "the motion does not go along the path"
    assert result["subject"] == page.evaluate(f"{STATE}.document.subjects.bend")
    print("from the request to the bent motion, s:", result["total_s"])
    shot(page, "bend")

    # What was only passed on the way is gone; undo brings the clip back, redo what was bent.
    until(page, f"{STATE}.results.filter((one) => one.verb === 'bend' && one.passing).length === 0")
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("Control+z")
    until(
        page,
        f"{ASKED}?.points === undefined && {STAGE}.shown[0].name === 'walk' && {STAGE}.shown[0].id.startsWith('clip:')",
    )
    page.keyboard.press("Control+y")
    until(page, f"{STAGE}.shown[0].id === 'result:{result['id']}'", SLOW_S)
    page.get_by_role("button", name="As recorded").click()
    until(page, f"{ASKED}?.points === undefined && {STAGE}.shown[0].id.startsWith('clip:')")


def test_what_cannot_be_is_red_and_what_is_on_the_stage_is_taken(opened: Any, until: Until, shot: Take) -> None:
    """A path twice as long as the walk is not walked to its end; a result of another verb can be bent too."""
    page = opened
    straight = places(page)
    start, end = straight[0], straight[-1]
    page.mouse.move(*pixel(page, *end))
    page.mouse.down()
    page.mouse.move(*pixel(page, *(end + 0.3 * (end - start))), steps=4)
    page.mouse.up()
    until(page, bent("!one.passing && one.problems.length > 0"), SLOW_S)
    page.locator(".panel.bend .problem", has_text="before the path does").first.wait_for()
    shot(page, "bend-problem")
    page.keyboard.press("Control+z")
    until(page, f"{ASKED}?.points === undefined")

    show(page, "follow")
    until(
        page,
        f"{STATE}.results.some((one) => one.verb === 'follow' && one.motions[0].id === {STAGE}.shown[0]?.id)",
        SLOW_S,
    )
    show(page, "library")
    show(page, "bend")
    walk = page.evaluate(f"{STATE}.results.find((one) => one.verb === 'follow').motions[0].id")
    page.evaluate(f"window.choreograph.store.setView({{ shown: ['{walk}'] }})")
    page.get_by_role("button", name="Take what is on the stage").click()
    until(page, f"{STATE}.document.subjects.bend === '{walk}' && {STATE}.unsaved === 0")
    assert page.get_by_role("button", name="Take what is on the stage").is_hidden()
