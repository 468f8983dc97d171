"""One's own character in Chromium: chosen, seen with its materials, exported, and put away."""

from __future__ import annotations

import json
import struct
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from choreograph.demo import demo_clip
from choreograph.formats import write_clip
from choreograph.formats.character import read_character
from choreograph.formats.stage_figure import stage_body
from choreograph.motion import kinematics
from choreograph.motion.foot_geometry import body_stance
from choreograph.motion.live_map import live_map

STATE = "window.choreograph.store.state"


def test_a_character_is_seen_and_exported(
    recordings: Path,
    start_studio: Callable[..., Any],
    open_page: Callable[..., Any],
    shot: Callable[..., None],
    until: Callable[..., None],
    tmp_path: Path,
) -> None:
    rig = "CesiumMan.glb"
    write_clip(tmp_path / "walk.bvh", demo_clip("walk", 30.0))
    studio = start_studio(tmp_path)
    studio.wait_for_jobs()
    page = open_page(studio)
    page.evaluate(f"window.choreograph.store.setView({{ verb: 'library', shown: [{STATE}.clips[0].id] }})")
    page.set_input_files("input[aria-label='Character file']", str(recordings / "rigs" / rig))
    until(page, f"{STATE}.view.character")
    until(page, f"{STATE}.status.text.includes('on the stage')")
    until(page, "document.body.dataset.state === 'ready'")
    page.evaluate("window.choreograph.stage.player.pause(); window.choreograph.stage.player.seek(20)")
    page.wait_for_timeout(1500)
    shot(page, f"character-{Path(rig).stem}")
    assert any("/figure.glb" in url for url in page.watch.requests)
    deadline = time.monotonic() + 30
    while studio.project()["view"]["character"] is None and time.monotonic() < deadline:
        time.sleep(0.1)
    clip = page.evaluate(f"{STATE}.clips[0].id")
    job = page.evaluate(
        """async (motion) => (await fetch("/api/jobs", {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ kind: "export", ask: { motion, suffix: ".glb" } }),
        })).json()""",
        clip,
    )
    studio.wait_for_jobs()
    [name] = next(one["results"] for one in studio.project()["jobs"] if one["id"] == job["id"])
    with urllib.request.urlopen(f"{studio.url}api/exports/{job['id']}/{name}", timeout=30) as answer:
        data = answer.read()
    (size,) = struct.unpack_from("<I", data, 12)
    document = json.loads(data[20 : 20 + size])
    assert len(document["animations"]) == 1 and len(document["materials"]) >= 1
    page.get_by_role("button", name="Mannequin").click()
    until(page, f"{STATE}.view.character === null")


def test_joints_of_a_character_are_shown_and_changed(
    recordings: Path,
    start_studio: Callable[..., Any],
    open_page: Callable[..., Any],
    shot: Callable[..., None],
    until: Callable[..., None],
    tmp_path: Path,
) -> None:
    write_clip(tmp_path / "walk.bvh", demo_clip("walk", 30.0))
    studio = start_studio(tmp_path)
    studio.wait_for_jobs()
    page = open_page(studio)
    page.evaluate(f"window.choreograph.store.setView({{ verb: 'library', shown: [{STATE}.clips[0].id] }})")
    page.set_input_files("input[aria-label='Character file']", str(recordings / "rigs" / "CesiumMan.glb"))
    until(page, f"{STATE}.view.character")
    before = page.evaluate(f"{STATE}.view.character")
    page.get_by_role("button", name="Joints").click()
    feet = page.locator("[data-role=left_foot] select")
    feet.wait_for()
    shot(page, "character-joints")
    own = feet.input_value()
    assert own
    use = page.get_by_role("button", name="Use these joints")
    feet.select_option("")
    assert use.is_disabled()
    feet.select_option(own)
    hand = page.locator("[data-role=left_hand] select")
    hand.select_option("")
    use.click()
    until(page, f"{STATE}.view.character !== '{before}'")
    after = page.evaluate(f"{STATE}.view.character")
    with urllib.request.urlopen(f"{studio.url}api/characters/{after}", timeout=30) as answer:
        facts = json.load(answer)
    assert facts["roles"]["left_hand"] == "" and facts["roles"]["left_foot"] == own and not facts["missing"]


LIVE = """async () => {
  const { stage, store } = window.choreograph;
  const motion = store.state.clips[0];
  const until = async (ready) => { while (!ready()) await new Promise((next) => setTimeout(next, 50)); };
  const places = ({ bones }) => bones.map(({ matrixWorld }) => matrixWorld.elements.slice(12, 15));
  const row = stage.row(20);
  const live = stage.addLive(motion.skeleton);
  await until(() => live.figure);
  live.update(row);
  const ghost = stage.addGhost(motion.id, 20);
  await until(() => ghost.ghost);
  ghost.update(20, { yaw: 0, x: 1, z: 0 });
  const whole = { ...motion, frames: 2 };
  const rows = new Float32Array([...row, ...row]);
  stage.stream(1000, whole, 0, rows, 2);
  await until(() => stage.actors.lead.id === "stream");
  stage.actors.lead.worn.track.pose(stage.actors.lead.character.bones, 0);
  stage.actors.lead.character.object.updateMatrixWorld(true);
  return { live: places(live.figure), ghost: places(ghost.ghost), streamed: places(stage.actors.lead.character) };
}"""


def test_what_comes_live_and_ghosts_are_the_character(
    recordings: Path,
    start_studio: Callable[..., Any],
    open_page: Callable[..., Any],
    shot: Callable[..., None],
    until: Callable[..., None],
    tmp_path: Path,
) -> None:
    rig, walk = recordings / "rigs" / "CesiumMan.glb", demo_clip("walk", 30.0)
    write_clip(tmp_path / "walk.npz", walk)
    studio = start_studio(tmp_path)
    studio.wait_for_jobs()
    page = open_page(studio)
    page.evaluate(f"window.choreograph.store.setView({{ verb: 'library', shown: [{STATE}.clips[0].id] }})")
    page.set_input_files("input[aria-label='Character file']", str(rig))
    until(page, f"{STATE}.view.character && {STATE}.status.text.includes('on the stage')")
    until(page, "document.body.dataset.state === 'ready' && window.choreograph.stage.actors.lead?.character")
    page.evaluate("window.choreograph.stage.player.pause()")
    seen = page.evaluate(LIVE)
    shot(page, "character-live")
    character = read_character(rig)
    body = stage_body(character)
    table = live_map(walk, body, body_stance(body, character.sole_m))
    root, local = table.poses(walk.root_pos[20:21], walk.local_rot[20:21])
    wanted, _ = kinematics.forward(root, local, body.offsets[None], body.parents)
    assert np.abs(np.array(seen["live"]) - wanted[0]).max() < 1e-3
    assert np.abs(np.array(seen["streamed"]) - wanted[0]).max() < 1e-3
    ghost = np.array(seen["ghost"])
    assert ghost.shape == wanted[0].shape
    # It stands where the recorded body does, and as the finished motion does.
    assert ghost[0, [0, 2]] == pytest.approx(walk.root_pos[20, [0, 2]] + [1.0, 0.0], abs=1e-3)
    assert np.abs((ghost - ghost[0]) - (wanted[0] - wanted[0, 0])).max() < 0.05
