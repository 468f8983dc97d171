"""Columns of numbers, as motion files hold them, turned into positions and rotations.

BVH and AMC both give each joint a list of channels: shifts along and turns about x, y and z, applied in the order
written. A channel's kind is 0-2 for a shift, 3-5 for a turn, -1 for one that is not understood and passed over.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from choreograph.maths import quat

Array = NDArray[np.float64]
Ints = NDArray[np.int64]


def parse_numbers(data: bytes, at: int) -> tuple[Array, int]:
    """Every whitespace-separated number from `at` on, and the place of the first word that is none (or -1).

    Room is made for the numbers that are really there, whatever a file's header promises.
    """
    from choreograph.formats import _compiled

    view = np.frombuffer(data, np.uint8)
    return _compiled.parse_numbers(view, at, _compiled.count_words(view, at))


def parse_numbers_python(data: bytes, at: int) -> tuple[Array, int]:
    """The plain twin of `parse_numbers`."""
    values: list[float] = []
    import re

    for word in re.finditer(rb"[^ \t\n\v\f\r]+", data[at:]):
        if not re.fullmatch(rb"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", word[0]) or not np.isfinite(float(word[0])):
            return np.array(values), at + word.start()
        values.append(float(word[0]))
    return np.array(values), -1


def channels_to_motion(values: Array, joints: Ints, kinds: Ints, offsets: Array) -> tuple[Array, Array]:
    """Local positions (F, J, 3) and sign-continuous local rotations (F, J, 4).

    Args:
        values: Channel values, (F, C); angles in radians.
        joints: The joint each channel moves, (C,).
        kinds: What each channel does, (C,).
        offsets: Positions where no channel gives one, (J, 3).
    """
    from choreograph.formats import _compiled

    return _compiled.channels_to_motion(np.ascontiguousarray(values), joints, kinds, np.ascontiguousarray(offsets))


def channels_to_motion_numpy(values: Array, joints: Ints, kinds: Ints, offsets: Array) -> tuple[Array, Array]:
    """The plain twin of `channels_to_motion`."""
    frames = len(values)
    pos = np.tile(offsets, (frames, 1, 1)).astype(float)
    rot = np.tile(quat.IDENTITY, (frames, len(offsets), 1))
    for c, (j, kind) in enumerate(zip(joints, kinds, strict=True)):
        if 0 <= kind < 3:
            pos[:, j, kind] = values[:, c]
        elif kind >= 3:
            rot[:, j] = quat.multiply(rot[:, j], quat.from_axis_angle(np.eye(3)[kind - 3], values[:, c]))
    return pos, quat.make_continuous(rot)


def line_of(data: bytes, at: int) -> int:
    """The line, counted from 1, that a byte stands in."""
    return data.count(b"\n", 0, at) + 1


def word_at(data: bytes, at: int) -> str:
    """The word that begins at a byte, cut to a readable length."""
    words = data[at : at + 40].split()
    return words[0].decode("latin-1") if words else ""
