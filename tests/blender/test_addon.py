"""The Blender add-on, in Blender: a curve becomes a walk on an armature, every bone where the motion has it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import choreograph as cg
from choreograph.formats.npz import read_npz

ROOT = Path(__file__).parents[2]
BLENDER = os.environ.get("CHOREOGRAPH_BLENDER", "")

pytestmark = [
    pytest.mark.skipif(not BLENDER, reason="CHOREOGRAPH_BLENDER names no Python with Blender (bpy); run make blender"),
    pytest.mark.timeout(900),
]


def _walk(source: str, folder: Path) -> tuple[np.ndarray, cg.Clip]:
    command = Path(sys.executable).with_name("choreograph")
    script = ROOT / "tests/blender/walk_a_curve.py"
    words = [BLENDER, script, ROOT / "integrations/blender", command, source, folder]
    ended = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert json.loads((folder / "said.json").read_text()) == ["FINISHED"], ended.stdout + ended.stderr
    return np.load(folder / "blender.npy"), read_npz(folder / "motion.npz")


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from choreograph.demo import demo_clip

    file = tmp_path_factory.mktemp("graph") / "walks.mog"
    names = ("walk", "walk_veer_left", "walk_veer_right", "walk_turn_90_left")
    cg.save_graph(cg.build_graph([demo_clip(name, 60.0) for name in names]), file)
    return file


def _holds(blender: np.ndarray, motion: cg.Clip) -> None:
    # Blender's x, z, -y are x, y, z here.
    wanted = motion.global_positions()
    assert np.abs(blender[..., [0, 2, 1]] * [1, 1, -1] - wanted).max() < 1e-3
    hips = blender[:, 0]
    assert np.hypot(*(hips[0, :2] - [1, 0])) < 0.3 and np.hypot(*(hips[-1, :2] - [1, -5])) < 0.3
    assert 0.8 < hips[:, 2].mean() < 1.1


def test_a_curve_becomes_a_walk_by_the_installed_package(graph: Path, tmp_path: Path) -> None:
    _holds(*_walk(str(graph), tmp_path))


@pytest.fixture
def address(graph: Path) -> Iterator[str]:
    from tests.unit.studio.running import opened

    with opened(graph) as studio:
        studio.settle()
        yield f"http://127.0.0.1:{studio.port}"


def test_a_curve_becomes_a_walk_by_a_running_studio(address: str, tmp_path: Path) -> None:
    _holds(*_walk(address, tmp_path))
