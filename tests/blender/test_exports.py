"""What is exported, as Blender opens it: every joint where the motion has it, and a character with its mesh."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

import choreograph as cg
from choreograph.demo import demo_clip
from choreograph.formats.export import PRESETS, ExportSettings, export_clip
from choreograph.motion.clip import Clip

BLENDER = os.environ.get("CHOREOGRAPH_BLENDER", "")
FRAMES = (0, 7, 30, 58)

pytestmark = [
    pytest.mark.skipif(not BLENDER, reason="CHOREOGRAPH_BLENDER names no Python with Blender (bpy); run make blender"),
    pytest.mark.timeout(600),
]


def _opened(file: Path, clip: Clip, folder: Path) -> tuple[float, int]:
    """The largest distance of a joint from where the motion has it, metres, and the vertices that are there."""
    script, out = Path(__file__).with_name("read_motion.py"), folder / "blender.npy"
    shares = [frame / (len(clip) - 1) for frame in FRAMES]
    words = [BLENDER, script, file, out, json.dumps(shares)]
    ended = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    facts = json.loads(out.with_suffix(".json").read_text())
    names = [name.replace(":", "_").replace(".", "_") for name in clip.skeleton.names]
    bones = [name.split("/")[-1].replace(":", "_").replace(".", "_") for name in facts["bones"]]
    pairs = [(k, names.index(name)) for k, name in enumerate(bones) if name in names]
    assert len(pairs) >= 15
    # Blender's x, z, -y are x, y, z here.
    places = np.load(out)[:, [k for k, _ in pairs]][..., [0, 2, 1]] * [1, 1, -1]
    gaps = np.linalg.norm(places - clip.global_positions()[list(FRAMES)][:, [j for _, j in pairs]], axis=2)
    return float(gaps.max()), facts["vertices"]


@pytest.mark.parametrize("suffix", [".glb", ".bvh", ".usdc"])
def test_the_preset_for_blender(tmp_path: Path, suffix: str) -> None:
    assert suffix in PRESETS["blender"].suffixes
    walk = demo_clip("walk_turn_90_left", 30.0)[:59]
    export_clip(tmp_path / f"walk{suffix}", walk, ExportSettings(program="blender"))
    gap, _ = _opened(tmp_path / f"walk{suffix}", walk, tmp_path)
    assert gap < 1e-3


@pytest.mark.parametrize("rig", ["Xbot.glb", "CesiumMan.glb", "RobotExpressive.glb", "Samba_Dancing.fbx"])
def test_a_character_with_a_new_motion(recordings: Path, tmp_path: Path, rig: str) -> None:
    hero = cg.read_character(recordings / "rigs" / rig)
    moved = cg.retarget(demo_clip("walk_turn_90_left", 30.0)[:59], str(recordings / "rigs" / rig)).best.clips[0]
    cg.write_character(tmp_path / "hero.glb", hero, moved)
    gap, vertices = _opened(tmp_path / "hero.glb", moved, tmp_path)
    assert gap < 1e-3 and vertices > 500
