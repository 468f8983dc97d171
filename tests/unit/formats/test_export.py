"""Motions as pipelines want them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from choreograph.base.errors import RequestError, SkeletonMismatch
from choreograph.demo import demo_clip
from choreograph.formats import read_clip, write_clip
from choreograph.formats._glb import Glb, chunks, take_names
from choreograph.formats.export import PRESETS, ExportSettings, export_clip
from choreograph.motion.clip import Clip
from choreograph.motion.helper_root import fold_helper_root


@pytest.fixture(scope="module")
def walk() -> Clip:
    return demo_clip("walk_turn_90_left", 30.0)


@pytest.mark.parametrize(
    ("program", "suffix"), [(name, suffix) for name, preset in PRESETS.items() for suffix in preset.suffixes]
)
def test_every_preset_keeps_every_joint_where_it_was(tmp_path: Path, walk: Clip, program: str, suffix: str) -> None:
    file = tmp_path / f"walk{suffix}"
    export_clip(file, walk, ExportSettings(program=program))
    read = read_clip(file)
    assert np.abs(fold_helper_root(read).global_positions() - walk.global_positions()).max() < 1e-5
    preset = PRESETS[program]
    assert (read.skeleton.names[0] == "root") == (preset.root == "bone")
    if suffix.startswith(".usd"):
        assert read.source is not None
        assert read.source.metres_per_unit == pytest.approx(0.01 if preset.unit == "cm" else 1.0)
        assert read.source.up_axis == (preset.up or "y")


@pytest.mark.parametrize("up", ["y", "z"])
@pytest.mark.parametrize("unit", ["m", "cm", "in"])
def test_bvh_in_other_units_and_axes_reads_back(tmp_path: Path, walk: Clip, unit: str, up: str) -> None:
    file = tmp_path / "walk.bvh"
    export_clip(file, walk, ExportSettings(unit=unit, up=up))
    text = file.read_text()
    read = read_clip(file)
    assert read.source is not None and read.source.up_axis == up
    assert np.abs(read.global_positions() - walk.global_positions()).max() < 1e-5
    first = [float(word) for word in text.splitlines()[text.splitlines().index("MOTION") + 3].split()[:3]]
    height = first[2] if up == "z" else first[1]
    assert height * {"m": 1.0, "cm": 0.01, "in": 0.0254}[unit] == pytest.approx(walk.root_pos[0, 1], abs=1e-5)


def test_rate_range_name_and_what_is_set_before_a_preset(tmp_path: Path, walk: Clip) -> None:
    file = tmp_path / "part.glb"
    settings = ExportSettings(program="unreal", rate_hz=24, start_s=1.0, end_s=2.5, root="hips", title="Turn")
    export_clip(file, walk, settings)
    read = read_clip(file)
    assert (len(read), read.fps, read.name) == (36, 24.0, "Turn")
    assert read.skeleton.names == walk.skeleton.names
    assert np.abs(read.root_pos[0] - walk.root_pos[30]).max() < 1e-6


def test_several_takes_are_one_figure_with_several_animations(tmp_path: Path) -> None:
    clips = [demo_clip(name, 30.0) for name in ("walk", "run", "jump_high")]
    file = tmp_path / "moves.glb"
    export_clip(file, clips, takes=True)
    assert take_names(Glb(*chunks(file.read_bytes()))) == ["walk", "run", "jump_high"]
    for which, clip in [(0, clips[0]), (1, clips[1]), ("jump_high", clips[2])]:
        read = read_clip(file, take=which)
        assert read.name == clip.name and len(read) == len(clip)
        assert np.abs(read.global_positions() - clip.global_positions()).max() < 1e-5
        assert read.labels == clip.labels
    with pytest.raises(RequestError, match="there is no take 'hop'; there are: 0 'walk', 1 'run', 2 'jump_high'"):
        read_clip(file, take="hop")


def test_takes_of_different_bodies_are_refused(tmp_path: Path, walk: Clip) -> None:
    from dataclasses import replace

    other = replace(walk.skeleton, names=("pelvis", *walk.skeleton.names[1:]))
    with pytest.raises(SkeletonMismatch):
        write_clip(tmp_path / "x.glb", [walk, replace(walk, skeleton=other)], takes=True)
    assert not (tmp_path / "x.glb").exists()


@pytest.mark.parametrize(
    ("name", "fields", "said"),
    [
        ("walk.bvh", {"program": "unreal"}, "for unreal write .glb or .usdc or .usda or .usd, not .bvh"),
        ("walk.glb", {"unit": "cm"}, "always in metres"),
        ("walk.glb", {"up": "z"}, "y is always up"),
        ("walk.amc", {"root": "bone"}, "no place for a bone that moves"),
        ("walk.npz", {"start_s": 100.0}, "behind the end"),
    ],
)
def test_what_a_file_cannot_hold_is_refused(
    tmp_path: Path, walk: Clip, name: str, fields: dict[str, object], said: str
) -> None:
    with pytest.raises(RequestError, match=said):
        export_clip(tmp_path / name, walk, ExportSettings(**fields))
    assert not list(tmp_path.iterdir())


def test_settings_that_make_no_sense_are_refused() -> None:
    with pytest.raises(RequestError, match="not after start_s"):
        ExportSettings(start_s=2, end_s=1)
    with pytest.raises(RequestError, match="unknown unit"):
        ExportSettings(unit="ell")
