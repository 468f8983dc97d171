"""Columns of numbers, as motion files hold them, turned into positions and rotations.

BVH and AMC both give each joint a list of channels: shifts along and turns about x, y and z, applied in the order
written. A channel's kind is 0-2 for a shift, 3-5 for a turn; columns that no channel names are passed over.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from choreograph.base import quat
from choreograph.base.arrays import Floats, Ints
from choreograph.base.errors import FormatError

MAX_GROWTH = 64
"""Bytes of arrays that a byte of file may become. Motion in text takes two or three; only a file made to exhaust
memory (thousands of joints, none of which moves, over frames of one digit) comes near."""
_ROOM = 16 << 20
"""Bytes of arrays that even the smallest file may become."""


@dataclass(frozen=True)
class Channels:
    """Which column of a file's numbers moves which joint, and how; in the order of application."""

    columns: Ints
    """(C,)"""
    joints: Ints
    """(C,)"""
    kinds: Ints
    """(C,), 0-2 shift along x, y, z; 3-5 turn about x, y, z."""

    @classmethod
    def from_rows(cls, rows: list[tuple[int, int, int]]) -> Channels:
        """From (column, joint, kind) each."""
        table = np.array(rows, np.int64).reshape(-1, 3)
        return cls(*(np.ascontiguousarray(column) for column in table.T))


def check_growth(size: int, frames: int, joints: int) -> None:
    """Raise a FormatError before room is made for what a file of `size` bytes cannot honestly hold."""
    needed = 7 * 8 * frames * joints
    if needed > MAX_GROWTH * size + _ROOM:
        raise FormatError(
            f"{frames} frames of {joints} joints need {needed >> 20} MiB, {needed // max(size, 1)} times the file's "
            "own size, which is not to be believed"
        )


def parse_numbers(data: bytes, at: int) -> tuple[Floats, int]:
    """Every whitespace-separated number from `at` on, and the place of the first word that is none (or -1).

    Room is made for the numbers that are really there, whatever a file's header promises.
    """
    from choreograph.formats import _compiled

    return _compiled.parse_numbers(np.frombuffer(data, np.uint8), at)


def parse_numbers_python(data: bytes, at: int) -> tuple[Floats, int]:
    """The plain twin of `parse_numbers`."""
    values: list[float] = []
    for word in re.finditer(rb"[^ \t\n\v\f\r]+", data[at:]):
        if not re.fullmatch(rb"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", word[0]) or not np.isfinite(float(word[0])):
            return np.array(values), at + word.start()
        values.append(float(word[0]))
    return np.array(values), -1


def compute_positions(values: Floats, channels: Channels, offsets: Floats) -> tuple[Floats, Floats | None]:
    """Root positions (F, 3), and joint positions (F, J, 3) where joints other than the root have shifts too.

    Args:
        values: The file's numbers, (F, columns).
        channels: What they mean.
        offsets: Positions where no channel gives one, (J, 3).
    """
    shifts = channels.kinds < 3
    inner = bool((channels.joints[shifts] > 0).any())
    pos = np.tile(offsets if inner else offsets[:1], (len(values), 1, 1))
    for column, joint, kind in zip(
        channels.columns[shifts], channels.joints[shifts], channels.kinds[shifts], strict=True
    ):
        pos[:, joint, kind] = values[:, column]
    return pos[:, 0].copy(), pos if inner else None


def compute_rotations(values: Floats, channels: Channels, axes: Floats, radians: float = 1.0) -> Floats:
    """Sign-continuous local rotations (F, J, 4): in each joint's own axes, its turns one after another.

    Args:
        values: The file's numbers, (F, columns).
        channels: What they mean.
        axes: Rotation of each joint's own axes against the world's, (J, 4).
        radians: What the values' unit of angle is in radians.
    """
    from choreograph.formats import _compiled

    turns = channels.kinds >= 3
    return _compiled.compute_rotations(
        np.ascontiguousarray(values), channels.columns[turns], channels.joints[turns], channels.kinds[turns] - 3,
        np.ascontiguousarray(axes, float), radians,
    )  # fmt: skip


def compute_rotations_numpy(values: Floats, channels: Channels, axes: Floats, radians: float = 1.0) -> Floats:
    """The plain twin of `compute_rotations`."""
    rot = np.tile(np.asarray(axes, float), (len(values), 1, 1))
    for column, joint, kind in zip(channels.columns, channels.joints, channels.kinds, strict=True):
        if kind >= 3:
            turn = quat.from_axis_angle(np.eye(3)[kind - 3], values[:, column] * radians)
            rot[:, joint] = quat.multiply(rot[:, joint], turn)
    return quat.make_continuous(quat.multiply(rot, quat.inverse(axes)))


def lines_from(data: bytes, at: int) -> Iterator[tuple[int, bytes]]:
    """The lines of a file from a place on, each with where it begins, one at a time."""
    while at < len(data):
        stop = data.find(b"\n", at)
        stop = len(data) if stop < 0 else stop
        yield at, data[at:stop]
        at = stop + 1


def line_of(data: bytes, at: int) -> int:
    """The line, counted from 1, that a byte stands in."""
    return data.count(b"\n", 0, at) + 1


def word_at(data: bytes, at: int) -> str:
    """The word that begins at a byte, cut to a readable length."""
    words = data[at : at + 40].split()
    return words[0].decode("latin-1") if words else ""
