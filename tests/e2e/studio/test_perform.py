"""Performing a way with the mouse in a real browser: seen while it is drawn, answered when the hand is lifted."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable
from typing import Any

import pytest

STAGE = "window.choreograph.stage"
STORE = "window.choreograph.store"
ASKED = f"{STORE}.state.document.requests.perform"
Until = Callable[..., None]
SLOW_S = 120.0
"""Without a graphics card, beside other work, and with kernels still to be compiled."""


@pytest.fixture
def opened(page: Any, until: Until) -> Any:
    """The Perform panel, ready."""
    page.get_by_role("tab", name="Perform").click()
    until(page, "document.querySelector('.panel.perform')?.textContent.includes('segments, up to')", SLOW_S)
    page.evaluate(f"{STAGE}.player.pause()")  # without a graphics card, each frame drawn holds the pointer up
    return page


def on_stage(page: Any) -> Any:
    """The performance on the stage, if there is one."""
    return page.evaluate(
        f"{STORE}.state.results.find((one) => one.verb === 'perform' && one.motions[0].id === {STAGE}.shown[0]?.id)"
    )


def performing(page: Any) -> bool:
    shown: bool = page.evaluate(f"{STAGE}.shown[0]?.id === 'partial' && {STAGE}.shown[0].name === 'performed'")
    return shown


def test_a_way_is_performed_with_the_mouse(opened: Any, until: Until, shot: Callable[[Any, str], None]) -> None:
    page = opened
    box = page.locator(".stage canvas").bounding_box()
    x, y = box["x"] + 0.3 * box["width"], box["y"] + 0.75 * box["height"]
    page.mouse.move(x, y)
    page.mouse.down()
    began = time.monotonic()
    while (seconds := time.monotonic() - began) < SLOW_S:
        # Round and round at half a metre a second, so that no step is a leap on a busy machine, until the figure comes.
        page.mouse.move(x + 150 * (1 - math.cos(0.35 * seconds)), y - 75 * math.sin(0.35 * seconds))
        page.wait_for_timeout(15)
        if seconds > 4 and performing(page):
            break
    assert performing(page), "a figure follows while the way is performed"
    assert "m/s" in page.locator(".perform .meter").text_content()
    shot(page, "perform-live")
    page.mouse.up()

    until(page, f"{ASKED}?.samples?.length > 10", SLOW_S)
    until(page, f"{STORE}.state.view.shown[0] === {STAGE}.shown[0]?.id && {STORE}.state.unsaved === 0", SLOW_S)
    until(page, f"{STORE}.state.results.some((one) => one.verb === 'perform')", SLOW_S)
    result = on_stage(page)
    samples = page.evaluate(f"{ASKED}.samples")
    times = [t for t, _, _ in samples]
    assert times == sorted(set(times)) and result["request"]["samples"] == samples
    assert result["metrics"]["seconds"]["value"] == pytest.approx(times[-1], abs=0.2)
    assert result["metrics"]["way_mean"]["value"] < 0.25
    # What it is made of: in the panel, on the timeline, and as a file.
    pieces = result["details"]["pieces"]
    assert page.locator(".perform .piece").count() == len(pieces) == page.locator(".timeline .mark").count()
    with page.expect_download() as coming:
        page.get_by_role("button", name="Transcription (CSV)").click()
    rows = coming.value.path().read_text().splitlines()
    assert rows[0].startswith("start_s,") and len(rows) == len(pieces) + 1
    shot(page, "perform")

    # Read otherwise: the same way, another answer; then back.
    page.locator(".perform summary", has_text="How it is read").click()
    beam = page.get_by_label("Beam, m²·s", exact=True)
    beam.evaluate(
        "(e) => { for (let at = e; at; at = at.parentElement) if (at.tagName === 'DETAILS') at.open = true; }"
    )
    beam.fill("0.05")
    beam.press("Enter")
    until(
        page,
        f"{STORE}.state.results.some((one) => one.request.advanced?.beam_m2_s === 0.05 && one.verb === 'perform')",
        SLOW_S,
    )
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("Control+z")
    until(
        page,
        f"{ASKED}.advanced?.beam_m2_s === undefined && {STAGE}.shown[0].id === '{result['motions'][0]['id']}'",
    )
    page.keyboard.press("Control+z")
    until(page, f"{ASKED}?.samples === undefined")
    page.keyboard.press("Control+Shift+z")
    until(page, f"{ASKED}?.samples?.length === {len(samples)}")
    page.reload()
    page.wait_for_selector("body[data-state=ready]", timeout=120_000)
    until(page, f"document.querySelectorAll('.perform .piece').length === {len(pieces)}", SLOW_S)
    assert on_stage(page)["id"] == result["id"]


def test_examples_are_chosen_and_their_speed_is_felt(opened: Any, until: Until) -> None:
    page = opened
    before = page.evaluate(f"{ASKED}?.only ?? null")
    page.locator(".perform summary", has_text="Examples").click()
    boxes = page.locator(".perform .examples input")
    chosen = [boxes.nth(k).is_checked() for k in range(boxes.count())]
    assert 0 < sum(chosen) < len(chosen), "the walks of the library, not all of it"
    boxes.nth(chosen.index(True)).click()
    until(
        page,
        f"{ASKED}.only?.split(' or ').length === {sum(chosen) - 1} && {STORE}.state.unsaved === 0",
    )
    page.keyboard.press("Control+z")
    until(
        page,
        f"JSON.stringify({ASKED}?.only ?? null) === {json.dumps(json.dumps(before, separators=(',', ':')))}",
    )
    feel = page.get_by_role("button", name="Feel the speed")
    feel.focus()
    page.keyboard.press("Enter")
    until(page, "[...document.querySelectorAll('.stage *')].some((one) => / m.s$/.test(one.textContent))", SLOW_S)
    page.get_by_role("button", name="Stop the dot").click()
    until(page, "![...document.querySelectorAll('.stage *')].some((one) => / m.s$/.test(one.textContent))")
