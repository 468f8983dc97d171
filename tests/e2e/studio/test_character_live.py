"""Steering and performing on one's own character in Chromium: what is drawn is the character, as recorded."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import choreograph as cg
from choreograph.demo import demo_clip
from choreograph.formats.character import read_character
from choreograph.formats.stage_figure import stage_body
from choreograph.motion import kinematics
from choreograph.motion.role_map import SIDES
from choreograph.motion.skeleton import Skeleton

STATE = "window.choreograph.store.state"
STAGE = "window.choreograph.stage"
NAMES = ("walk", "walk_veer_left", "walk_turn_90_left", "start_left_foot", "stop_left_foot")
SLOW_S = 480.0
"""Without a graphics card, beside other work, and with value functions still to be learned."""
KEEP = f"""() => {{
  const add = {STAGE}.addLive.bind({STAGE});
  window.lives = [];
  {STAGE}.addLive = (...asked) => {{
    const live = add(...asked), update = live.update.bind(live);
    live.update = (row) => {{ live.row = Array.from(row); update(row); }};
    window.lives.push(live);
    return live;
  }};
}}"""
"""Live figures are remembered, with the pose that each was given last."""
PLACES = "(figure) => figure.bones.map(({ matrixWorld }) => matrixWorld.elements.slice(12, 15))"
Until = Callable[..., None]


@pytest.fixture(scope="module")
def few(start_studio: Callable[..., Any], tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A studio with a few recordings, learned soon."""
    folder = tmp_path_factory.mktemp("few")
    cg.save_graph(cg.build_graph([demo_clip(name, 30.0) for name in NAMES]), folder / "few.mog")
    return start_studio(folder / "few.mog")


@pytest.fixture
def worn(recordings: Path, few: Any, open_page: Callable[..., Any], until: Until) -> tuple[Any, Skeleton]:
    """A page on whose stage a character is, and its body."""
    rig = recordings / "rigs" / "CesiumMan.glb"
    page = open_page(few)
    page.get_by_role("tab", name="Library").click()
    page.set_input_files("input[aria-label='Character file']", str(rig))
    until(page, f"{STATE}.view.character")
    return page, stage_body(read_character(rig))


def _arms(skeleton: Skeleton, at: Any) -> np.ndarray:
    """Directions of upper arms and forearms, (4, 3)."""
    parts = ("upper_arm", "forearm"), ("forearm", "hand")
    joints = [[skeleton.need(f"{side}_{part}") for part in pair] for side in SIDES for pair in parts]
    bones = np.array([np.asarray(at)[end] - np.asarray(at)[start] for start, end in joints])
    return np.asarray(bones / np.linalg.norm(bones, axis=1, keepdims=True))


def test_who_is_steered_is_the_character(
    worn: tuple[Any, Skeleton], until: Until, shot: Callable[[Any, str], None]
) -> None:
    page, body = worn
    page.evaluate(f"({KEEP})()")
    page.get_by_role("tab", name="Steer").click()
    page.get_by_role("button", name="Start live control").click()
    until(page, "window.lives[0]?.row && window.lives[0].figure", SLOW_S)
    began = np.array(page.evaluate(f"({PLACES})(window.lives[0].figure)"))
    assert began.shape == (len(body), 3)
    x, _, z, *_ = page.evaluate("window.lives[0].row")
    page.locator(".stage").hover()
    page.keyboard.down("ArrowUp")
    until(page, f"Math.hypot(window.lives[0].row[0] - {x}, window.lives[0].row[2] - {z}) > 1", SLOW_S)
    shot(page, "character-steered")
    row, at = page.evaluate(f"[window.lives[0].row, ({PLACES})(window.lives[0].figure)]")
    page.keyboard.up("ArrowUp")
    recorded = demo_clip("walk", 30.0).skeleton
    turns = np.array(row[3:]).reshape(1, -1, 4)[..., [3, 0, 1, 2]]
    there, _ = kinematics.forward(np.array([row[:3]]), turns, recorded.offsets[None], recorded.parents)
    assert np.abs(_arms(body, at) - _arms(recorded, there[0])).max() < 0.01
    moved = np.hypot(*(np.array(at)[0] - began[0])[[0, 2]])
    assert moved > 0.3, "it goes as much less far as its legs are shorter"


def test_who_performs_is_the_character(
    worn: tuple[Any, Skeleton], until: Until, shot: Callable[[Any, str], None]
) -> None:
    page, body = worn
    page.get_by_role("tab", name="Perform").click()
    until(page, "document.querySelector('.panel.perform')?.textContent.includes('segments, up to')", SLOW_S)
    page.evaluate(f"{STAGE}.player.pause()")
    performed = f"[...{STAGE}.actors].find((one) => one.track.motion.name === 'performed' && one.character)"
    box = page.locator(".stage canvas").bounding_box()
    x, y = box["x"] + 0.3 * box["width"], box["y"] + 0.75 * box["height"]
    page.mouse.move(x, y)
    page.mouse.down()
    began = time.monotonic()
    while (seconds := time.monotonic() - began) < SLOW_S:
        page.mouse.move(x + 150 * (1 - np.cos(0.35 * seconds)), y - 75 * np.sin(0.35 * seconds))
        page.wait_for_timeout(15)
        if seconds > 4 and page.evaluate(f"Boolean({performed})"):
            break
    shot(page, "character-performs")
    assert len(page.evaluate(f"({PLACES})({performed}.character)")) == len(body), "seen while the way is drawn"
    page.mouse.up()
    answered = f"{STATE}.results.find((one) => one.verb === 'perform')?.motions[0].id"
    until(page, f"{STAGE}.actors.lead?.id === {answered} && {STAGE}.actors.lead.character", SLOW_S)
    shot(page, "character-performed")
