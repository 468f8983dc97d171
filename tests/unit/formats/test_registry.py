from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from choreograph.base.errors import FormatError, OutputExists, RequestError
from choreograph.formats import read_clip, read_clips, read_figures, write_clip
from choreograph.formats.atomic import atomic_write
from choreograph.formats.registry import FORMATS, find_format, suffixes
from choreograph.motion.clip import Clip


def test_formats_by_suffix() -> None:
    assert find_format("a/B.BVH").name == "bvh"
    assert {".bvh", ".amc", ".npz", ".glb", ".usda"} <= set(suffixes(readable=True))
    assert ".csv" in suffixes() and ".csv" not in suffixes(readable=True)
    assert ".fbx" in suffixes(readable=True) and ".fbx" not in suffixes()
    assert all(known.writer or known.reader for known in FORMATS)
    with pytest.raises(FormatError, match=r"unknown file type '.max'; known: .bvh, .amc"):
        find_format("a.max")
    with pytest.raises(FormatError, match=r"read but not written; Blender, Unreal"):
        find_format("a.fbx")
    with pytest.raises(FormatError, match="a motion graph, no motion; it can be looked into"):
        find_format("a.mog")
    with pytest.raises(FormatError, match="no suffix"):
        find_format("a")
    with pytest.raises(FormatError, match=r"give the \.amc file"):
        find_format("a.asf")


def test_what_is_to_be_read_is_named_as_what_it_is(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="no such file"):
        read_clip(tmp_path / "nowhere")
    (tmp_path / "a.max").write_text("?")
    with pytest.raises(FormatError, match=r"known: .*\.usd, \.fbx$"):
        read_clip(tmp_path / "a.max")
    with pytest.raises(FormatError, match="is a folder; give a motion file"):
        read_clip(tmp_path)
    (tmp_path / "a.bvh").write_bytes(b"")
    with pytest.raises(FormatError, match="the file is empty"):
        read_clip(tmp_path / "a.bvh")


def test_a_file_in_the_way_of_a_folder_is_named(walker: Clip, tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("mine")
    with pytest.raises(FormatError, match="taken is a file, not a folder"):
        write_clip(tmp_path / "taken" / "deep" / "a.bvh", walker)
    assert (tmp_path / "taken").read_text() == "mine"


def test_what_is_written_but_not_read(walker: Clip, tmp_path: Path) -> None:
    write_clip(tmp_path / "a.csv", walker)
    with pytest.raises(FormatError, match="written but not read"):
        read_clip(tmp_path / "a.csv")
    with (tmp_path / "a.csv").open(newline="") as table:
        rows = list(csv.DictReader(table))
    assert len(rows) == 24 and rows[3]["frame"] == "3" and float(rows[3]["seconds"]) == pytest.approx(0.1)
    assert float(rows[7]["LeftFoot.y"]) == pytest.approx(walker.global_positions()[7, 2, 1], abs=1e-6)


def test_csv_quotes_awkward_names(walker: Clip, tmp_path: Path) -> None:
    odd = replace(walker, skeleton=replace(walker.skeleton, names=("Hips", 'a,"b', "c d", "e")))
    write_clip(tmp_path / "a.csv", odd)
    with (tmp_path / "a.csv").open(newline="") as table:
        header, first, *_ = csv.reader(table)
    assert header[5] == 'a,"b.x' and len(header) == len(first) == 14


def test_a_failed_write_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "a.bvh"
    path.parent.mkdir()
    path.write_text("old")
    with pytest.raises(ZeroDivisionError), atomic_write(path, overwrite=True) as temporary:
        temporary.write_text("half")
        raise ZeroDivisionError
    assert path.read_text() == "old" and len(list(path.parent.iterdir())) == 1
    with atomic_write(path, overwrite=True) as temporary:
        assert temporary.suffix == ".bvh" and temporary.parent == path.parent
        temporary.write_text("new")
    assert path.read_text() == "new" and len(list(path.parent.iterdir())) == 1


def test_a_file_that_appears_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "a.bvh"
    with pytest.raises(OutputExists), atomic_write(path) as temporary:
        temporary.write_text("mine")
        path.write_text("theirs")
    assert path.read_text() == "theirs"
    with pytest.raises(FormatError, match="is a folder"), atomic_write(tmp_path):
        pass


def test_array_sizes_in_a_file_stay_what_they_are(walker: Clip, tmp_path: Path) -> None:
    for suffix in (".bvh", ".npz"):
        write_clip(tmp_path / f"a{suffix}", walker[:1])
        assert np.allclose(read_clip(tmp_path / f"a{suffix}").root_pos, walker.root_pos[:1], atol=1e-6)


@pytest.mark.parametrize("suffix", [".glb", ".usdc"])
def test_all_figures_of_a_file(tmp_path, human, suffix):
    if suffix == ".usdc":
        pytest.importorskip("pxr", reason="needs the usd extra")
    pair = [human.with_name("one"), human[:20].with_name("two")]
    write_clip(tmp_path / f"pair{suffix}", pair)
    assert [(clip.name, len(clip)) for clip in read_figures(tmp_path / f"pair{suffix}")] == [
        ("one", len(human)),
        ("two", 20),
    ]
    assert read_clip(tmp_path / f"pair{suffix}", figure=1).name == "two"


@pytest.mark.parametrize("suffix", [".bvh", ".npz", ".glb", ".usdc"])
def test_the_clips_of_a_file_are_its_motions(tmp_path, human, suffix):
    if suffix == ".usdc":
        pytest.importorskip("pxr", reason="needs the usd extra")
    write_clip(tmp_path / f"a{suffix}", human)
    (clip,) = read_clips(tmp_path / f"a{suffix}")
    assert clip.name == read_clip(tmp_path / f"a{suffix}").name and len(clip) == len(human)


def test_the_takes_of_a_file_are_its_clips(tmp_path, human):
    write_clip(tmp_path / "moves.glb", [human.with_name("walk"), human[:20].with_name("hop")], takes=True)
    clips = read_clips(tmp_path / "moves.glb", fps=24.0)
    assert [(clip.name, len(clip), clip.fps) for clip in clips] == [("walk", len(human), 24.0), ("hop", 20, 24.0)]
    assert [len(clip) for clip in read_figures(tmp_path / "moves.glb", take=1)] == [20]
    assert [len(clip) for clip in read_figures(tmp_path / "moves.glb")] == [len(human)]


def test_one_figure_where_there_is_room_for_one(tmp_path, human):
    with pytest.raises(RequestError, match="bvh files hold one figure, not 2"):
        write_clip(tmp_path / "a.bvh", [human, human])
    write_clip(tmp_path / "a.bvh", [human])
    assert len(read_figures(tmp_path / "a.bvh")) == 1
    with pytest.raises(RequestError, match="there is no number 1"):
        read_clip(tmp_path / "a.bvh", figure=1)
