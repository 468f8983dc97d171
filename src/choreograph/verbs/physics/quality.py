"""How natural a motion is, by figures that do not depend on how it was made: what finishing must not make worse."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from choreograph.base import quat
from choreograph.base.arrays import Complexes, Floats
from choreograph.motion.clip import Clip
from choreograph.motion.contacts import runs

WORSE = 1.08
"""Times as large as before that a figure may be: a tenth, less what it differs by if other frames are measured."""
_NEAR_M, _LOW_M, _SLOW_M_S, _SHORTEST_S = 0.025, 0.03, 0.5, 0.1
_ZERO_TOLERANCE = {
    "sliding_m_s": 1e-4,
    "slide_m": 1e-4,
    "turn_peak": 0.5,
    "root_peak": 0.05,
    "novelty_m": 1e-4,
    "depth_m": 1e-4,
}
"""Differences below which a figure is the same."""
_RATE_HZ, _MOST_POSES = 30.0, 20_000
"""Poses of a motion that are compared with recorded ones, a second, and of recorded ones in all."""
QUALITY_TEXT = {
    "sliding_m_s": "feet near the floor slide more",
    "slide_m": "planted feet wander more",
    "turn_peak": "joints jerk more",
    "root_peak": "the root jerks more",
    "novelty_m": "poses are farther from recorded ones",
    "depth_m": "feet are deeper in the floor",
    "gain": "no less force is left unexplained",
    "change": "poses change more than that gains (recordings, given as examples, would tell how natural they are)",
}


@dataclass(frozen=True)
class Quality:
    """Figures of a motion; less is better."""

    sliding_m_s: float
    """Mean speed of foot joints near the floor, the nearer the more it counts."""
    slide_m: float
    """How far a planted foot wanders: 95th percentile over plants."""
    turn_peak: float
    """99.9th percentile of the joints' angular acceleration, rad/s²."""
    root_peak: float
    """The same of the root's acceleration, m/s²."""
    novelty_m: float
    """95th percentile of the distance to the nearest recorded pose; where none is known, of the motion before."""
    depth_m: float
    """How deep the deepest foot joint is below where feet stand."""

    def worse_than(self, before: Quality, whole: Quality | None = None, room_m: float = 0.0) -> list[str]:
        """Names of the figures that are worse than before by more than a tenth.

        Args:
            before: Of the same stretch.
            whole: Of all of the motion before: peaks and percentiles that it has elsewhere are no worse for being here.
            room_m: How much farther from known poses it may be all the same.
        """
        out = []
        for one in fields(self):
            most = WORSE * getattr(before, one.name)
            if whole is not None and one.name != "sliding_m_s":
                most = max(most, getattr(whole, one.name))
            if one.name == "novelty_m":
                most += room_m
            if getattr(self, one.name) > most + _ZERO_TOLERANCE[one.name]:
                out.append(one.name)
        return out


class Gauge:
    """Measures motions on one skeleton against what is known of it."""

    def __init__(self, clip: Clip, sources: Sequence[Clip] = ()) -> None:
        """Learn where its feet stand, and the poses that were recorded.

        Args:
            clip: The motion before it is changed.
            sources: Recordings that it is made of.
        """
        self.feet = clip.skeleton.feet
        known = [one for one in sources if one.skeleton.same_joints(clip.skeleton)]
        heights = [np.percentile(one.global_positions()[:, self.feet, 1], 0.5, axis=0) for one in known or [clip]]
        self.standing, self.lowest = np.median(heights, axis=0), np.min(heights, axis=0)
        self.recorded = bool(known)
        known = known or [clip]
        every = 1 + sum(map(len, known)) // _MOST_POSES
        self.poses = _parts(np.concatenate([one.global_positions()[::every] for one in known]))

    def measure(self, clip: Clip) -> Quality:
        """The figures of a motion."""
        pos, step = clip.global_positions(), 1.0 / clip.fps
        feet = pos[:, self.feet]
        high = feet[1:, :, 1] - self.standing
        speed = np.linalg.norm(np.diff(feet[..., [0, 2]], axis=0), axis=2) / step
        weight = 2 - 2 ** np.clip(high / _NEAR_M, 0, 1)
        low, slides = (high < _LOW_M) & (speed < _SLOW_M_S), [0.0]
        for k in range(feet.shape[1]):
            for start, stop in runs(np.asarray(low[:, k])):
                if (stop - start) * step >= _SHORTEST_S:
                    spot = feet[start + 1 : stop + 1, k][:, [0, 2]]
                    slides.append(float(np.linalg.norm(spot - spot.mean(axis=0), axis=1).max()))
        turn = quat.as_rotvec(quat.multiply(quat.inverse(clip.local_rot[:-1]), clip.local_rot[1:])) / step
        turning = np.linalg.norm(np.diff(turn, axis=0), axis=2) / step
        root = np.linalg.norm(np.diff(clip.root_pos, n=2, axis=0), axis=1) / step**2
        return Quality(
            float((speed * weight).sum() / max(float(weight.sum()), 1e-9)),
            float(np.percentile(slides, 95)),
            float(np.percentile(turning, 99.9)),
            float(np.percentile(root, 99.9)),
            self._novelty(pos[:: max(1, round(clip.fps / _RATE_HZ))]),
            max(0.0, float((self.lowest - feet[..., 1]).max())),
        )

    def _novelty(self, pos: Floats) -> float:
        height, flat = _parts(pos)
        heights, flats = self.poses
        own = (height**2).sum(axis=1) + (np.abs(flat) ** 2).sum(axis=1)
        theirs = (heights**2).sum(axis=1) + (np.abs(flats) ** 2).sum(axis=1)
        gap = own[:, None] + theirs - 2 * height @ heights.T - 2 * np.abs(flat @ flats.conj().T)
        return float(np.percentile(np.sqrt(np.maximum(gap.min(axis=1), 0.0) / pos.shape[1]), 95))


def _parts(pos: Floats) -> tuple[Floats, Complexes]:
    """Heights, and places on the floor about their middle as complex numbers, which turn without effort."""
    flat = pos[..., 0] + 1j * pos[..., 2]
    return pos[..., 1], flat - flat.mean(axis=1, keepdims=True)
