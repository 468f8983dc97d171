"""What stays where it is at a cut: the feet that stand before it and behind it.

Two poses that are near enough for a cut can have their feet a hand's breadth apart when one torso is laid upon the
other. So the piece that is entered is moved along the floor until feet that stand in both poses lie upon each other;
the torso goes that bit of the way while the jump is smoothed. Where no foot stands, torsos lie upon each other.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from choreograph.base.arrays import Complexes, Floats32, seal
from choreograph.features.frames import FrameTable

STILL_M_S = 0.3
"""Speed at which a foot joint counts half as much as one at rest."""
LOOSE = 0.05
"""How much the torso counts beside feet: little against one that stands, all where none does."""


def find_stance(frames: FrameTable, feet: tuple[int, ...]) -> Floats32:
    """How firmly each foot joint stands in each row, and that times where it is in the torso's floor frame, (G, F, 3).

    Firmness is 1 at rest and falls with speed; rows that are no frames have none.
    """
    x, y, z = np.moveaxis(frames.joints[:, list(feet)].astype(float), -1, 0)
    world = frames.place[:, None] + frames.turn[:, None] * (x + 1j * z)
    step = np.sqrt(np.abs(np.diff(world, axis=0)) ** 2 + np.diff(y, axis=0) ** 2)
    # The mean of the steps to and from a frame, of the one that there is at a clip's ends.
    known = frames.real[1:] & frames.real[:-1]
    step[~known] = 0.0
    sides = np.zeros(len(frames))
    sides[1:] += known
    sides[:-1] += known
    total = np.zeros((len(frames), len(feet)))
    total[1:] += step
    total[:-1] += step
    speed = total / np.maximum(sides, 1)[:, None] * frames.rate_hz
    firm = frames.real[:, None] / (1 + (speed / STILL_M_S) ** 2)
    return seal(np.stack([firm, firm * x, firm * z], axis=-1).astype(np.float32))


def cut_shift(stance: Floats32, source: NDArray[np.integer], target: NDArray[np.integer]) -> Complexes:
    """How far the torso goes at each cut, x + iz in the floor frame of the torso that is left, metres."""
    left, entered = stance[source].astype(float), stance[target].astype(float)
    both = (left[..., 0] * entered[..., 0]).sum(axis=-1) + LOOSE
    gap = left[..., 1:] * entered[..., :1] - left[..., :1] * entered[..., 1:]
    return np.asarray((gap.sum(axis=-2) / both[..., None]) @ np.array([1, 1j]))
