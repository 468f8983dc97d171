"""The plain twins of `choreograph.finishing._compiled`: the same arguments, the same answers, NumPy only."""

from __future__ import annotations

import numpy as np

from choreograph.base import quat
from choreograph.base.arrays import Floats, Ints
from choreograph.base.floor import FloorTransform


def sample(root: Floats, rot: Floats, row: Ints, share: Floats, place: Floats) -> tuple[Floats, Floats]:
    transform = FloorTransform(place[:, 0], place[:, 1], place[:, 2])
    after = np.where(share > 0, row + 1, row)
    out_root = transform.apply((1 - share[:, None]) * root[row] + share[:, None] * root[after])
    out_rot = quat.slerp(rot[row], rot[after], np.broadcast_to(share[:, None], (len(row), rot.shape[1])))
    out_rot[:, 0] = transform.turn(out_rot[:, 0])
    return out_root, out_rot


def mix(root: Floats, rot: Floats, at: Ints, other_root: Floats, other_rot: Floats, weight: Floats) -> None:
    root[at] += weight[:, :1] * (other_root - root[at])
    rot[at] = quat.slerp(rot[at], other_rot, weight[:, 1:])
