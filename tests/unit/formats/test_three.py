"""What is exported for three.js, as its own loaders read and its mixer plays it."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from choreograph.demo import demo_clip
from choreograph.formats.export import PRESETS, ExportSettings, export_clip

ROOT = Path(__file__).parents[3]
FRAMES = [0, 7, 30, 57]


@pytest.mark.parametrize("suffix", [".glb", ".bvh"])
def test_the_preset_for_three(tmp_path: Path, suffix: str) -> None:
    node = shutil.which("node")
    if node is None or not (ROOT / "node_modules" / "three").is_dir():
        pytest.skip("needs node and node_modules: make page")
    assert suffix in PRESETS["three"].suffixes
    walk, file = demo_clip("walk_turn_90_left", 30.0)[:59], tmp_path / f"walk{suffix}"
    export_clip(file, walk, ExportSettings(program="three"))
    words = [node, ROOT / "tests/tools/three_places.mjs", file, *(frame / walk.fps for frame in FRAMES)]
    ended = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    found = json.loads(ended.stdout)
    wanted = walk.global_positions()[FRAMES]
    for joint, name in enumerate(walk.skeleton.names):
        assert np.abs(np.array(found[name]) - wanted[:, joint]).max() < 1e-3, name
