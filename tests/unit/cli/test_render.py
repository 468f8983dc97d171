from __future__ import annotations

import numpy as np
import pytest
import typer
from PIL import Image
from typer.testing import CliRunner

from choreograph.base.errors import ChoreographError, FormatError, OutputExists, RequestError
from choreograph.cli import plot, render
from choreograph.formats import write_clip
from choreograph.motion.clip import Clip
from choreograph.motion.skeleton import Skeleton


@pytest.fixture
def folder(tmp_path):
    """Two short motions of a four-joint body."""
    offsets = np.array([[0, 0, 0], [0.1, -0.1, 0], [0, -0.8, 0], [0, -0.05, 0.15]])
    skeleton = Skeleton(("Hips", "LeftUpLeg", "LeftFoot", "LeftToe"), np.array([-1, 0, 1, 2]), offsets)
    rot = np.tile([1.0, 0, 0, 0], (12, 4, 1))
    for number, speed in enumerate((0.0, 0.1)):
        root = np.column_stack([np.zeros(12), np.full(12, 0.95), speed * np.arange(12)])
        write_clip(tmp_path / f"clip_{number}.bvh", Clip(skeleton, 30.0, root, rot, name=f"clip_{number}"))
    return tmp_path


def run(verb, *words):
    app = typer.Typer()
    verb.register(app)
    result = CliRunner().invoke(app, [str(word) for word in words])
    if isinstance(result.exception, ChoreographError):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.output


def test_sheet_overview_still_and_films(folder):
    run(render, folder / "clip_1.bvh", "-o", folder / "sheet.png", "--size", "320", "--every", 4)
    run(render, folder, "-o", folder / "overview.png", "--size", "400x120", "--theme", "light")
    run(render, folder / "clip_0.bvh", "-o", folder / "still.png", "--frame", 3, "--size", "96x54", "--camera", "top")
    run(render, folder, "-o", folder / "both.gif", "--size", "64x36", "--rate", 10)
    said = run(render, folder, "-o", folder / "films", "--to", "mp4", "--size", "64x36", "--bare", "--stop", 4)
    assert "2 files" in said
    assert sorted(p.name for p in (folder / "films").iterdir()) == ["clip_0.mp4", "clip_1.mp4"]
    sizes = {}
    for name in ("sheet.png", "overview.png", "still.png", "both.gif"):
        with Image.open(folder / name) as picture:
            sizes[name] = picture.size
    assert sizes["sheet.png"][0] == 320
    assert sizes["still.png"] == (96, 54) and sizes["both.gif"] == (64, 36)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["-o", "a.jpg"], "jpg"),
        (["-o", "a.png", "--camera", "side"], "--frame"),
        (["-o", "a.mp4", "--every", "3"], "--every"),
        (["-o", "a.mp4", "--frame", "3"], "--frame"),
        (["-o", "a.mp4", "--size", "wide"], "1280x720"),
        (["-o", "a.png", "--frame", "99"], "0 to 11"),
    ],
)
def test_requests_that_make_no_sense_are_refused(folder, words, says, monkeypatch):
    monkeypatch.chdir(folder)
    before = sorted(folder.iterdir())
    with pytest.raises(RequestError, match=says):
        run(render, "clip_0.bvh", *words)
    assert sorted(folder.iterdir()) == before


def test_nothing_is_overwritten_or_begun_without_force(folder):
    taken = folder / "out.png"
    taken.write_bytes(b"mine")
    with pytest.raises(OutputExists):
        run(render, folder / "clip_0.bvh", "-o", taken)
    assert taken.read_bytes() == b"mine"
    run(render, folder / "clip_0.bvh", "-o", taken, "--force", "--size", "200")
    assert taken.read_bytes().startswith(b"\x89PNG")


def test_missing_file_is_named(folder):
    with pytest.raises(FormatError, match=r"nobody\.bvh"):
        run(render, folder / "nobody.bvh", "-o", folder / "a.png")


def test_plots_of_each_kind(folder, monkeypatch):
    monkeypatch.chdir(folder)
    run(plot, "clip_1.bvh")
    run(plot, "clip_1.bvh", "--kind", "feet", "-o", "feet.pdf")
    run(plot, "clip_1.bvh", "--kind", "angles", "--joints", "LeftFoot,left_toe", "-o", "angles.svg")
    assert (folder / "clip_1-path.png").exists() and (folder / "feet.pdf").exists()
    assert "LeftToe" in (folder / "angles.svg").read_text()
    with pytest.raises(RequestError, match="--kind angles"):
        run(plot, "clip_1.bvh", "--joints", "LeftFoot", "-o", "b.png")
