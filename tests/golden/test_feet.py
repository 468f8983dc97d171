"""Feet stand, and steps begin, in the frames in which they did.

They are held to the frame: nothing but a change of how feet are seen changes them, and then they are recorded again.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.golden import feet

import choreograph as cg


@cache
def kept() -> dict[str, NDArray[Any]]:
    with np.load(feet.KEPT) as file:
        return {name: file[name] for name in file.files}


def compare(name: str, clip: cg.Clip) -> None:
    for who, flags in feet.flags_of(clip).items():
        shape = tuple(kept()[f"{name}.{who}.shape"].tolist())
        before = np.unpackbits(kept()[f"{name}.{who}"], count=int(np.prod(shape))).reshape(shape).astype(bool)
        assert flags.shape == before.shape, f"{name}, {who}"
        assert np.array_equal(flags, before), f"{name}, {who}: {np.mean(flags != before):.2%} of the flags differ"
    for who, rows in feet.frames_of(clip).items():
        assert rows.tolist() == kept()[f"{name}.{who}"].tolist(), f"{name}, cuts of {who}"


@pytest.mark.parametrize("name", feet.DEMO)
def test_demo_motion(name: str) -> None:
    compare(name, feet.demos()[name])


@pytest.mark.recordings
@pytest.mark.parametrize("name", feet.RECORDINGS)
def test_recordings(name: str, recordings: Path) -> None:
    compare(name.rpartition("/")[2], cg.read_clip(recordings / f"{name}.amc")[: feet.MOST])
