"""Drawing by a file's name: which kind of picture comes of it, and how large."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from choreograph.base.errors import RequestError
from choreograph.motion.clip import Clip
from choreograph.pictures.drawing import Drawing, check_drawing, write_drawing
from choreograph.pictures.raster import Stroke
from choreograph.pictures.theme import AMBER


def size_of(path: Path) -> tuple[int, int]:
    with Image.open(path) as image:
        return image.size


def test_the_name_says_what_is_drawn(walker: Clip, tmp_path: Path) -> None:
    write_drawing(tmp_path / "a.png", [walker], Drawing((320, None)))
    assert size_of(tmp_path / "a.png")[0] == 320 and size_of(tmp_path / "a.png")[1] != 180
    write_drawing(tmp_path / "b.png", [walker], Drawing((320, None), frame=3))
    assert size_of(tmp_path / "b.png") == (320, 180)
    write_drawing(tmp_path / "c.gif", [walker[:4]], Drawing((64, 48)))
    assert size_of(tmp_path / "c.gif") == (64, 48)
    for name in ("a.jpg", "a"):
        with pytest.raises(RequestError, match=r"pictures are written as \.png, films as \.mp4 or \.gif, not"):
            check_drawing(name)


def test_a_sheet_shows_what_lies_on_the_floor(walker: Clip, tmp_path: Path) -> None:
    """The path that somebody asked for, in amber."""
    beside = walker.root_pos[[0, -1]][:, [0, 2]] + [0.4, 0.0]
    counts = []
    for floor in ([], [Stroke(beside, AMBER, 0.05, 1.0)]):
        write_drawing(tmp_path / "a.png", [walker], Drawing((640, None)), floor=floor, overwrite=True)
        with Image.open(tmp_path / "a.png") as image:
            red, _, blue = np.moveaxis(np.asarray(image.convert("RGB")).astype(int), -1, 0)
        counts.append(int((red - blue > 80).sum()))
    assert counts[0] < 20 and counts[1] > 200
