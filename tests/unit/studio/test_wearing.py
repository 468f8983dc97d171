"""Poses on a character in the page: web/src/stage/wearing.ts puts them where `live_map` does."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from tests.unit.motion.test_retarget_rigs import other_rig

from choreograph.demo import demo_clip
from choreograph.motion.clip import Clip
from choreograph.motion.foot_geometry import body_stance
from choreograph.motion.live_map import live_map
from choreograph.motion.packed import pack_frames
from choreograph.studio.tasks.characters import live_facts

ROOT = Path(__file__).parents[3]
SCRIPT = """
import { readFileSync, writeFileSync } from "node:fs";
import { Wearing } from "./web/src/stage/wearing.ts";
const { facts, rows } = JSON.parse(readFileSync(0, "utf8"));
writeFileSync(process.env.ROWS, new Uint8Array(new Wearing(facts).rows(rows).buffer));
"""


def test_the_page_puts_poses_where_python_does(tmp_path: Path) -> None:
    node = shutil.which("node")
    if node is None or subprocess.run([node, "-e", "process.exit(process.features.typescript ? 0 : 1)"]).returncode:
        pytest.skip("needs Node.js 22.18 or newer, which runs TypeScript")
    if not (ROOT / "node_modules" / "three").is_dir():
        pytest.skip("needs node_modules: make page")
    clip = demo_clip("walk_turn_90_left", 30.0)
    rig, _ = other_rig(clip.skeleton)
    table = live_map(clip, rig, body_stance(rig))
    root, local = table.poses(clip.root_pos, clip.local_rot)
    asked = {
        "facts": live_facts(table).model_dump(),
        "rows": np.frombuffer(pack_frames(clip), "<f4").astype(float).tolist(),
    }
    words = [node, "--no-warnings", "--input-type=module", "-e", SCRIPT]
    ended = subprocess.run(
        words, input=json.dumps(asked), capture_output=True, text=True, check=False, cwd=ROOT,
        env={**os.environ, "ROWS": str(tmp_path / "rows")},
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    rows = np.frombuffer((tmp_path / "rows").read_bytes(), "<f4").reshape(len(clip), -1).astype(float)
    turns = rows[:, 3:].reshape(len(clip), -1, 4)[..., [3, 0, 1, 2]]
    page, python = (Clip(rig, clip.fps, *pose, "a") for pose in ((rows[:, :3], turns), (root, local)))
    assert np.abs(page.global_positions() - python.global_positions()).max() < 1e-4
