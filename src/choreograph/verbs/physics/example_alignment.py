"""What examples do at the same moment: each aligned with a sketch by who stands when, and their mean.

The paper's prior pulls every pose to one mean pose, so arms hang and nobody crouches. Here the mean moves along:
dynamic time warping of contacts finds which moment of an example belongs to which of the sketch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from choreograph.base.arrays import Flags, Floats, Indices
from choreograph.dynamics.contacts import GROUPS, ContactPoints
from choreograph.motion.clip import Clip
from choreograph.motion.facts import GRAVITY_M_S2
from choreograph.verbs.physics.pose_basis import PoseBasis, feet_level
from choreograph.verbs.physics.sketch import Sketch, contacts_of

RATE_HZ = 60.0
_SOFT_S, _CALM_S = 0.05, 0.035
"""How far contacts are blurred in time, so that nearly the same moment is nearly the same; and the way afterwards."""
_PACE = 0.2
"""What it costs to dwell in a frame of an example, or to leave one out, in contacts of one part of a foot."""
_POSE = 3.0
"""What it costs that a key pose is a standard deviation away."""
_UNLIKE, _OVER_RAD = 0.8, 2.0
"""Mean cost from which on an example does something else; and the pitch by which it then turns over, or does not."""
_LEAST_COST = 0.02
_FADE_S = 0.2
"""How soon what a key pose has of its own is forgotten."""
ROOT = (1, 4, 5)
"""Coordinates of the root that examples tell about: height, lean and pitch."""


@dataclass(frozen=True, eq=False)
class ExampleTrack:
    """An example, frame by frame."""

    flags: Flags
    """Which groups of points stand, (F, 6)."""
    soft: Floats
    """The same, blurred."""
    states: Floats
    """In the basis, (F, d), standard deviations."""
    root: Floats
    """Height above what feet stand on, lean and pitch, (F, 3), metres and radians."""


@dataclass(frozen=True, eq=False)
class ExampleMean:
    """What a sketch's motion is expected to be like at its nodes."""

    states: Floats
    """(K, d), standard deviations."""
    root: Floats
    """(K, 3)."""


def make_track(clip: Clip, basis: PoseBasis, points: ContactPoints, floor: float, level: float) -> ExampleTrack:
    """An example as `lead` takes it.

    Args:
        clip: The example.
        basis: Of the body that it has.
        points: Of the feet.
        floor: Height of the floor, metres.
        level: How high above the floor the joints of this body's feet are where they stand, metres.
    """
    slow = clip.resampled(min(clip.fps, RATE_HZ))
    flags = contacts_of(slow, basis.dofs, points, floor)
    q = basis.dofs.angles(slow)
    at = np.rint(np.arange(round(slow.seconds * RATE_HZ)) * slow.fps / RATE_HZ).astype(int).clip(0, len(slow) - 1)
    root = q[:, ROOT]
    root[:, 0] += level - feet_level(clip)
    d = basis.space.dimensions
    return ExampleTrack(flags, _blurred(flags[at], _SOFT_S), basis.state(q[at])[:, :d], root[at])


def find_lead(sketch: Sketch, basis: PoseBasis, tracks: Sequence[ExampleTrack]) -> ExampleMean | None:
    """The mean of the examples at the moments of a sketch, through its key poses; None where none does the same."""
    d, count = basis.space.dimensions, round(sketch.seconds * RATE_HZ) + 1
    times = np.arange(count) / RATE_HZ
    nodes = np.rint(np.interp(times, sketch.times, np.arange(sketch.nodes))).astype(int)
    soft = _blurred(sketch.flags[nodes, : len(GROUPS)], _SOFT_S)
    poses = [(min(round(float(sketch.times[pose.node]) * RATE_HZ), count - 1), pose) for pose in sketch.poses]
    keys = np.array([basis.state(pose.q)[:d] for _, pose in poses])
    over = sketch.poses[-1].q[5] - sketch.poses[0].q[5]
    matches: list[tuple[float, Floats]] = []
    for track in tracks:
        gap = ((soft[:, None] - track.soft) ** 2).sum(axis=2)
        for (row, pose), key in zip(poses, keys, strict=True):
            if pose.joints:
                gap[row] += _POSE * ((track.states - key) ** 2).mean(axis=1)
        way, cost = _warp(gap)
        if cost > _UNLIKE or abs(track.root[way[-1], 2] - track.root[way[0], 2] - over) > _OVER_RAD:
            continue
        rows = np.concatenate([track.states, track.root], axis=1)[way]
        rows[:, d] += _arcs(sketch, times, way)
        rows[:, d + 2] -= 2 * np.pi * np.round((rows[0, d + 2] - sketch.poses[0].q[5]) / (2 * np.pi))
        matches.append((cost, _blurred(rows, _CALM_S)))
    if not matches:
        return None
    costs = np.array([cost for cost, _ in matches])
    shares = np.exp(-(costs - costs.min()) / max(float(costs.min()), _LEAST_COST))
    mean = np.tensordot(shares / shares.sum(), np.array([rows for _, rows in matches]), axes=1)
    mean = np.stack([np.interp(sketch.times, times, column) for column in mean.T], axis=1)
    own = np.array([[*key, *pose.q[list(ROOT)]] for (_, pose), key in zip(poses, keys, strict=True)])
    bent, whole = [pose.joints for _, pose in poses], [pose.whole for _, pose in poses]
    at = np.array([pose.node for _, pose in poses])
    mean[:, :d] = _through(sketch.times, mean[:, :d], at[bent], own[bent, :d])
    mean[:, d:] = _through(sketch.times, mean[:, d:], at[whole], own[whole, d:])
    return ExampleMean(mean[:, :d], mean[:, d:])


def _warp(gap: Floats) -> tuple[Indices, float]:
    """The frame of an example for each moment, (M,), that costs the least in all, and the mean cost.

    Args:
        gap: What it costs that a moment is a frame, (M, F).
    """
    count, frames = gap.shape
    moves, every = np.zeros((count, frames), np.intp), np.arange(frames)
    sums, options = np.array(gap[0]), np.full((3, frames), np.inf)
    for row in range(1, count):
        options[0] = sums + _PACE
        options[1, 1:] = sums[:-1]
        options[2, 2:] = sums[:-2] + _PACE
        moves[row] = options.argmin(axis=0)
        sums = options[moves[row], every] + gap[row]
    way = np.empty(count, np.intp)
    way[-1] = sums.argmin()
    for row in range(count - 1, 0, -1):
        way[row - 1] = way[row] - moves[row, way[row]]
    return way, float(sums.min()) / count


def _arcs(sketch: Sketch, times: Floats, way: Indices) -> Floats:
    """How much higher flights rise than those of an example, which may last longer or less long, (M,), metres."""
    out = np.zeros(len(times))
    for start, stop in sketch.flights():
        begin, end = sketch.times[max(start - 1, 0)], sketch.times[min(stop, sketch.nodes - 1)]
        first, last = np.interp([begin, end], times, way) / RATE_HZ
        share = np.clip((times - begin) / max(end - begin, 1e-9), 0.0, 1.0)
        out += GRAVITY_M_S2 / 2 * ((end - begin) ** 2 - (last - first) ** 2) * share * (1 - share)
    return out


def _through(times: Floats, rows: Floats, at: Indices, keys: Floats) -> Floats:
    """Rows (K, c) bent through keys at some nodes; what they differ there fades away from them."""
    if not len(at):
        return rows
    near = np.exp(-np.abs(times[:, None] - times[at]) / _FADE_S)
    return np.asarray(rows + near @ np.linalg.solve(near[at], keys - rows[at]))


def _blurred(values: Floats | Flags, seconds: float) -> Floats:
    from scipy.ndimage import gaussian_filter1d

    return np.asarray(gaussian_filter1d(values.astype(float), seconds * RATE_HZ, axis=0, mode="nearest"))
