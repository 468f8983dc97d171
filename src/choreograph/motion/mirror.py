"""Mirroring left and right: the same recording as its reflection in the plane x = 0."""

from __future__ import annotations

import re

import numpy as np

from choreograph.base.arrays import Floats, Ints32

_SIDES = {"left": "right", "right": "left", "Left": "Right", "Right": "Left", "LEFT": "RIGHT", "RIGHT": "LEFT"}
_SIDE_WORD = re.compile(rf"(?<![A-Za-z])({'|'.join(_SIDES)})(?![a-z])")


def mirror_positions(values: Floats) -> Floats:
    """Positions (..., 3) reflected."""
    return np.asarray(values * np.array([-1.0, 1.0, 1.0]))


def mirror_rotations(local_rot: Floats, pairs: Ints32) -> Floats:
    """Local rotations (F, J, 4) reflected, each joint taking its twin's.

    Reflecting in x turns a rotation (w, x, y, z) into (w, x, -y, -z).
    """
    return np.asarray(local_rot[:, pairs] * np.array([1.0, 1.0, -1.0, -1.0]))


def mirror_text(text: str) -> str:
    """Words with left and right exchanged: "turn left" becomes "turn right"."""
    return _SIDE_WORD.sub(lambda match: _SIDES[match[0]], text)
