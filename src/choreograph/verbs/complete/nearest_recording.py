"""A guide: the recorded motion that is nearest to the most likely one, at a pace of its own.

Under linear dynamics the most likely motion between two keyframes is the mean of all that lead from one to the other:
where bodies go through in several ways, a pose that nobody took. So the recordings are searched for what comes nearest,
and the control's mean is the one that the recorded body had there, instead of the mean over all recordings.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from choreograph.base.arrays import Flags, Floats, Ints, Ints32
from choreograph.features.pose_space import PoseSpace

if TYPE_CHECKING:
    from choreograph.features.linear_dynamics import LinearDynamics


CLOSE, NEAR = 0.5, 0.5
"""Beside a guide, how far steps are from its own as a share of how far they are from the dynamics' without one, and
poses from its own as a share of how far they are from the mean pose: a half, so that keyframes still lead."""
BETWEEN = 0.05
"""How much a frame counts at which no pose is asked for, beside one at which it is."""
_LEAP, _UNEVEN = 4.0, 2.0
"""What going on elsewhere in the recordings costs, and half or double speed for a step; poses whose squared distance is
the motion's whole variance cost `_SPREAD`."""
_SPREAD = 30.0  # in ln p
_WAYS, _BESIDE = 6, 10
"""How many ways through recordings are taken, and frames within which two are the same way."""
UNSURE, _LEAST_LIKELY = 10.0, 4.0
"""How much more a way costs that is 1/e times as likely as the nearest; from e^-4 on, ways do not count."""
_SMOOTH = 3.0
"""Frames over which the pace is evened out."""
_FADE = 6
"""Frames on either side of a leap over which one recording gives way to the next."""
_MOST_CELLS = 5_000_000
"""Frames of the motion times frames of recordings that are compared; of more recordings, the nearest are taken."""


@dataclass(frozen=True, eq=False)
class RecordedStates:
    """Recorded motion as states, to find guides in."""

    states: Floats
    """One recording behind another, (T, d)."""
    lengths: Ints
    """Frames of each recording."""

    @classmethod
    def of(cls, sequences: Sequence[Floats]) -> RecordedStates:
        """Recordings, (F, d) each."""
        return cls(np.concatenate(sequences), np.array([len(own) for own in sequences], np.int64))

    def nearest(self, poses: Floats, most: int) -> RecordedStates:
        """Recordings with at most so many frames: those that come nearest to poses (N, d)."""
        if len(self.states) <= most:
            return self
        stops = np.cumsum(self.lengths)
        parts = [self.states[stop - length : stop] for stop, length in zip(stops, self.lengths, strict=True)]
        away = [_squared(poses, part).min(axis=1).sum() for part in parts]
        clips, frames = [], 0
        for n in np.argsort(away, kind="stable"):
            part = parts[n][: most - frames]
            if len(part):
                clips.append(part)
            frames += len(part)
        return RecordedStates.of(clips)


def beside(own: LinearDynamics) -> LinearDynamics:
    """How motion follows a guide: the dynamics of what is between the two, one distribution about none."""
    one = own.merged()
    return replace(
        one,
        means=np.zeros_like(one.means),
        covariances=CLOSE**2 * one.covariances,
        noise=CLOSE**2 * one.noise,
        start_mean=np.zeros_like(one.start_mean),
        start_covariance=CLOSE**2 * one.start_covariance,
    )


def find_guide(examples: RecordedStates, space: PoseSpace, states: Floats, keyed: Flags) -> Floats:
    """The recorded motion nearest to states, (F, d); velocities are those of the pace at which it is taken.

    Recordings that are nearly as near count too, each by how likely it is beside the nearest: where they differ, nobody
    knows which it was, and their mean is off the least.

    Args:
        examples: Where to look.
        space: Their pose space.
        states: The most likely motion so far, (F, d).
        keyed: Frames at which a pose is asked for, (F,): they count most.
    """
    examples = examples.nearest(states[keyed] if keyed.any() else states, max(2, _MOST_CELLS // len(states)))
    scale = _SPREAD / max(float(space.variances.sum()), 1e-12)
    back, cost = _ways(examples, states, np.where(keyed, 1.0, BETWEEN) * scale, scale)
    ways = _nearest_ways(back, cost)
    shares = np.exp((ways[0][0] - np.array([price for price, _, _ in ways])) / UNSURE)
    guide = np.zeros_like(states)
    for (_, at, leaps), share in zip(ways, shares / shares.sum(), strict=True):
        guide += share * _states_at(examples, space, at, leaps)
    return guide


def _states_at(examples: RecordedStates, space: PoseSpace, at: Floats, leaps: Sequence[int]) -> Floats:
    """The states along a way through recordings, (F, d), at an even pace from leap to leap."""
    states, pace = np.empty((len(at), space.dimensions)), np.ones(len(at))
    for first, stop in pairwise([0, *leaps, len(at)]):
        own = _evened(at[first:stop])
        before = np.floor(own).astype(np.int64)
        behind = np.minimum(before + 1, int(np.ceil(at[first:stop].max())))
        share = (own - before)[:, None]
        states[first:stop] = examples.states[before] * (1 - share) + examples.states[behind] * share
        if stop - first > 1:
            pace[first:stop] = np.gradient(own)
    rows = space.lift(states)
    rows[:, -3:] *= pace[:, None]
    states = space.project(rows)
    _join(states, leaps)
    return states


def _ways(examples: RecordedStates, states: Floats, weights: Floats, scale: float) -> tuple[Ints32, Floats]:
    """The way through recordings that is nearest to states, for each recorded frame that it may end at, by dynamic
    programming: how each frame was come to, (F, T), and what the whole way costs, (T,).

    A step goes on by one recorded frame, by two, or in two frames by one.
    """
    recorded, lengths = examples.states, examples.lengths
    frames, count = len(states), len(recorded)
    # How many frames of the same recording are before each.
    within = np.concatenate([np.arange(length) for length in lengths])
    own = (recorded**2).sum(axis=1)
    back = np.zeros((frames, count), np.int32)

    def away(pose: Floats) -> Floats:
        return np.asarray(own + recorded @ (-2 * pose) + (pose**2).sum())

    def shifted(cost: Floats, by: int) -> Floats:
        out = np.full(count, np.inf)
        out[by:] = cost[:-by]
        out[within < by] = np.inf
        return out

    now = weights[0] * away(states[0])
    cost, before, last = now, np.full(count, np.inf), now
    for t in range(1, frames):
        now = weights[t] * away(states[t])
        best = int(cost.argmin())
        apart = away(recorded[min(best + 1, count - 1)])
        options = np.stack([
            shifted(cost, 1), shifted(cost, 2) + _UNEVEN, shifted(before + last, 1) + _UNEVEN,
            cost[best] + _LEAP + scale * apart,
        ])  # fmt: skip
        which = options.argmin(axis=0)
        back[t] = np.where(which == 3, -1 - best, which)
        cost, before, last = options[which, np.arange(count)] + now, cost, now
    return back, cost


def _nearest_ways(back: Ints32, cost: Floats) -> list[tuple[float, Floats, list[int]]]:
    """The nearest ways that are different ones, the nearest first: what each costs, where it is at each frame, and
    before which frames it leaps."""
    left = np.where(cost <= cost.min() + _LEAST_LIKELY * UNSURE, cost, np.inf)
    ways: list[tuple[float, Floats, list[int]]] = []
    while len(ways) < _WAYS and np.isfinite(left).any():
        end = int(left.argmin())
        at, leaps = _traced(back, end)
        if all(2 * np.count_nonzero(np.abs(at - other) <= _BESIDE) < len(at) for _, other, _ in ways):
            ways.append((float(cost[end]), at, leaps))
        left[max(0, end - _BESIDE) : end + _BESIDE + 1] = np.inf
    return ways


def _traced(back: Ints32, end: int) -> tuple[Floats, list[int]]:
    """The path that ends at a recorded frame: where it is at each frame, and before which frames it leaps."""
    t, at = len(back) - 1, end
    path, leaps = np.empty(len(back)), []
    path[t] = at
    while t > 0:
        step = int(back[t, at])
        if step < 0:
            leaps.append(t)
            t, at = t - 1, -1 - step
        elif step == 2:
            path[t - 1] = at - 0.5
            t, at = t - 2, at - 1
        else:
            t, at = t - 1, at - 1 - step
        path[t] = at
    return path, leaps[::-1]


def _evened(at: Floats) -> Floats:
    """A stretch's recorded frames with an even pace, both ends where they were, (F,)."""
    from scipy.ndimage import gaussian_filter1d

    straight = np.linspace(at[0], at[-1], len(at))
    even = straight + gaussian_filter1d(at - straight, _SMOOTH, mode="nearest")
    return np.clip(even, at[0], at[-1])


def _join(states: Floats, leaps: Sequence[int]) -> None:
    """Let stretches on either side of leaps give way to each other."""
    for leap in leaps:
        apart = states[leap] - states[leap - 1]
        first, stop = max(0, leap - _FADE), min(len(states), leap + _FADE)
        before, behind = (
            np.arange(1, leap - first + 1) / (leap - first + 1),
            np.arange(stop - leap, 0, -1) / (stop - leap + 1),
        )
        for part, share, sign in ((slice(first, leap), before, 0.5), (slice(leap, stop), behind, -0.5)):
            states[part] += sign * (share**2 * (3 - 2 * share))[:, None] * apart


def _squared(one: Floats, other: Floats) -> Floats:
    """Squared distances of rows (N, d) from rows (M, d), (N, M)."""
    return np.asarray((one**2).sum(axis=1)[:, None] + (other**2).sum(axis=1) - 2 * one @ other.T)
