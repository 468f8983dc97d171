"""FBX files as Blender reads them: every joint on keys, and between keys where both join these by straight lines."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
from tests.unit.formats import fbx_files as fbx
from tests.unit.formats.test_fbx import Y_UP, R, _body, _walk

from choreograph.formats import read_clip
from choreograph.motion.clip import Clip

BLENDER = os.environ.get("CHOREOGRAPH_BLENDER", "")

pytestmark = [
    pytest.mark.skipif(not BLENDER, reason="CHOREOGRAPH_BLENDER names no Python with Blender (bpy); run make blender"),
    pytest.mark.timeout(600),
]


def _gap(file: Path, clip: Clip, frames: list[int], folder: Path) -> float:
    """The largest distance of a joint from where Blender has it, metres."""
    script, out = Path(__file__).with_name("read_fbx.py"), folder / "blender.npy"
    words = [BLENDER, script, file, out, json.dumps([frame / clip.fps for frame in frames])]
    ended = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    names = json.loads(out.with_suffix(".json").read_text())
    mine = [name.split(":")[-1] for name in clip.skeleton.names]
    pairs = [(k, mine.index(name.split(":")[-1])) for k, name in enumerate(names) if name.split(":")[-1] in mine]
    assert len(pairs) >= 11
    # Blender's x, z, -y are x, y, z here.
    theirs = np.load(out)[:, [k for k, _ in pairs]][..., [0, 2, 1]] * [1, 1, -1]
    return float(np.linalg.norm(theirs - clip.global_positions()[frames][:, [j for _, j in pairs]], axis=2).max())


def test_a_dance_on_keys_and_between(recordings: Path, tmp_path: Path) -> None:
    file = recordings / "rigs" / "Samba_Dancing.fbx"
    clip = read_clip(file)
    assert _gap(file, clip, [0, 7, 100, 333, 546], tmp_path) < 2e-5
    # Blender takes no notice of the file's tangents.
    for rate in (24.0, 47.3, 60.0):
        between = clip.resampled(rate)
        assert _gap(file, between, list(range(0, len(between) - 1, 37)), tmp_path) < 1e-3


@pytest.mark.parametrize("order", [0, 2, 5])
def test_orders_pivots_and_rotations_before_and_behind(tmp_path: Path, order: int) -> None:
    props = {
        "RotationActive": [1], "RotationOrder": [order], "PreRotation": [10.0, 20.0, 30.0],
        "PostRotation": [5.0, -7.0, 3.0], "RotationPivot": [1.0, 2.0, 3.0], "RotationOffset": [0.5, 0.0, -0.5],
        "ScalingPivot": [2.0, 0.0, 1.0], "ScalingOffset": [0.0, 1.0, 0.0],
    }  # fmt: skip
    take = _walk()
    take["curves"][4, R, "Y"] = {"t": [0.0, 1.0], "v": [0.0, 25.0]}
    file = tmp_path / "a.fbx"
    axes = {"FrontAxis": [2], "FrontAxisSign": [1], "CoordAxis": [0], "CoordAxisSign": [1]}
    file.write_bytes(fbx.binary(fbx.scene(_body(LeftLeg=props), [take], {**Y_UP, **axes})))
    assert _gap(file, read_clip(file), [0, 11, 30], tmp_path) < 2e-5
