"""FBX files as Blender reads them: every joint on keys, and between keys where both join these by straight lines."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.unit.formats import fbx_files as fbx
from tests.unit.formats.test_fbx import Y_UP, R, _body, _walk

from choreograph.base import quat
from choreograph.formats import read_clip
from choreograph.formats._fbx_curves import FbxCurve
from choreograph.formats._fbx_scene import local_matrices, read_scene
from choreograph.formats._fbx_tree import read_tree
from choreograph.formats.fbx import figures_of, split_matrices
from choreograph.motion.clip import Clip

BLENDER = os.environ.get("CHOREOGRAPH_BLENDER", "")

pytestmark = [
    pytest.mark.skipif(not BLENDER, reason="CHOREOGRAPH_BLENDER names no Python with Blender (bpy); run make blender"),
    pytest.mark.timeout(600),
]


def _gap(file: Path, names: Sequence[str], places: np.ndarray, times: Sequence[float], folder: Path) -> float:
    """The largest distance of a joint, places (F, J, 3), from where Blender has it at these times, metres."""
    script, out = Path(__file__).with_name("read_fbx.py"), folder / "blender.npy"
    words = [BLENDER, script, file, out, json.dumps([float(time) for time in times])]
    ended = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    theirs = json.loads(out.with_suffix(".json").read_text())
    mine = [name.split(":")[-1] for name in names]
    pairs = [(k, mine.index(name.split(":")[-1])) for k, name in enumerate(theirs) if name.split(":")[-1] in mine]
    assert len(pairs) >= 11
    # Blender's x, z, -y are x, y, z here.
    wanted = np.load(out)[:, [k for k, _ in pairs]][..., [0, 2, 1]] * [1, 1, -1]
    return float(np.linalg.norm(wanted - places[:, [j for _, j in pairs]], axis=2).max())


def _of_frames(clip: Clip, frames: list[int]) -> tuple[tuple[str, ...], np.ndarray, list[float]]:
    return clip.skeleton.names, clip.global_positions()[frames], [frame / clip.fps for frame in frames]


def _straight(curve: FbxCurve) -> FbxCurve:
    slopes = np.repeat((np.diff(curve.values) / np.diff(curve.times))[:, None], 2, axis=1)
    return replace(curve, slopes=slopes, weights=np.full_like(slopes, 1 / 3), steps=np.zeros(len(slopes), np.int8))


def _joined_by_lines(file: Path, times: np.ndarray) -> tuple[list[str], np.ndarray]:
    """Joints and their places, (F, J, 3), metres: each joint posed at its own keys, and between them as Blender does.

    Blender takes no notice of tangents: places and quaternions go along straight lines.
    """
    scene = read_scene(read_tree(file.read_bytes())[1])
    (take,), joints = scene.takes, figures_of(scene)[0]
    worlds: dict[int, np.ndarray] = {}
    for by_prop in take.curves.values():
        for three in by_prop.values():
            three[:] = [_straight(one) if isinstance(one, FbxCurve) else one for one in three]
    for node in joints:
        curves = [c for three in take.curves.get(node.id, {}).values() for c in three if isinstance(c, FbxCurve)]
        keys = np.unique(np.concatenate([curve.times for curve in curves])) if curves else np.zeros(1)
        posed = local_matrices(node, take, keys)
        place, turn, _ = split_matrices(posed[:, None])
        span = np.clip(np.searchsorted(keys, times, side="right") - 1, 0, max(len(keys) - 2, 0))
        behind = np.minimum(span + 1, len(keys) - 1)
        share = np.clip((times - keys[span]) / np.maximum(keys[behind] - keys[span], 1e-9), 0.0, 1.0)
        local = np.tile(np.eye(4), (len(times), 1, 1))
        even = quat.make_continuous(turn[:, 0])
        between = (1 - share[:, None]) * even[span] + share[:, None] * even[behind]
        local[:, :3, :3] = quat.as_matrix(quat.normalise(between))
        local[:, :3, 3] = place[span, 0] + share[:, None] * (place[behind, 0] - place[span, 0])
        above = worlds.get(node.parent.id) if node.parent is not None else None
        worlds[node.id] = local if above is None else above @ local
    return [node.name for node in joints], np.stack([worlds[node.id][:, :3, 3] for node in joints], 1) * scene.metres()


def test_a_dance_on_keys_and_between(recordings: Path, tmp_path: Path) -> None:
    file = recordings / "rigs" / "Samba_Dancing.fbx"
    clip = read_clip(file)
    assert _gap(file, *_of_frames(clip, [0, 7, 100, 333, 546]), tmp_path) < 2e-5
    # Some of its keys are between frames, so that a clip at 30 Hz does not hold them.
    for rate in (24.0, 47.3, 60.0, 120.0):
        times = np.arange(0.0, (len(clip) - 1) / clip.fps, 1 / rate)
        assert _gap(file, *_joined_by_lines(file, times), times, tmp_path) < 1e-4


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
    assert _gap(file, *_of_frames(read_clip(file), [0, 11, 30]), tmp_path) < 2e-5
