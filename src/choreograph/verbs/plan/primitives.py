"""Primitives: recorded steps and blends of two or three of them, each with where it leads, how long it takes, its cost.

Only steps of one sort are blended, aligned piecewise linearly at the changes of contact and laid on each other by the
foot that stands. A blend's outcome and durations are the weighted ones of its steps, so the foot stays planted by
construction. So is its cost: squared accelerations of an average are lower than its parents', for no reason that a
body would know of.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from choreograph.base.arrays import Bytes, Complexes, Flags, Floats, Floats32, Ints, Ints32
from choreograph.base.floor import FloorTransform
from choreograph.motion.body_points import POINTS, POSED
from choreograph.verbs.plan.steps import Step, StepTrack

SAMPLES_HZ = 20.0
"""Samples of a step at which constraints are tested, per second."""
VELOCITY_S = 0.1
"""Seconds by which velocities are made comparable with positions."""
OBJECTIVES = ("effort", "time", "length", "torque")
"""What can be made least: columns of the costs."""
IDLE_EFFORT = 2.0
"""Effort of a second in which nothing moves, m²/s³: to stand about is not free."""
WEIGHTS = (0.25, 0.5, 0.75)
MOST_PARTNERS = 5
"""Steps that a step is blended with."""
_FARTHEST_M = 0.3
"""Steps that are farther apart, root-mean-square over points and samples, are not blended."""
_SLOWEST = 2.0
"""Neither are steps of which one lasts so many times as long."""
MOST_NOVEL_M = 0.022
"""Blends with a pose that is farther from all of their steps' poses, root-mean-square over points, are left out."""
_NEW_M, _NEW_RAD = 0.08, np.radians(8)
"""A partner leads this much elsewhere than the step and its other partners."""


@dataclass(frozen=True, eq=False)
class PrimitiveTable:
    """N steps as arrays. Places are seen from the frame of the event that a step begins with."""

    track: Ints
    clip: Ints
    """Number of the clip in the graph, (N,)."""
    sort: Ints
    """Number of the sort, (N,)."""
    kinds: Ints
    """Kind of the first and the last event, (N, 2)."""
    begin: Floats
    """Floor frame of the first event in the clip, yaw, x, z, (N, 3)."""
    outcome: Floats
    """Frame of the last event as seen from the first, yaw, x, z, (N, 3)."""
    seconds: Floats
    """(N,)."""
    costs: Floats
    """By objective, (N, 4)."""
    start_pose: Floats
    """Positions and velocities of the posed points at the first event, in its frame, (N, D): so scaled that distances
    are root-mean-square metres per point."""
    stop_pose: Floats
    """Likewise at the last event, in the last event's frame."""
    phase_first: Ints
    """Where each step's phases begin, (N + 1,)."""
    phase_frame: Floats
    """Frames, at the clip's own rate, at which phases begin: a row more than phases for each step, the step's end."""
    sample_first: Ints
    """Where each step's samples begin, (N + 1,)."""
    samples: Floats32
    """Points of the body at each sample, (S, POINTS, 3)."""
    facing: Floats32
    """(S,), radians."""
    planted: Bytes
    """Feet that stand, 1 for the left, 2 for the right, (S,)."""
    fps: Floats
    """Own rate of each step's clip, (N,)."""

    def __len__(self) -> int:
        """Number of steps."""
        return len(self.sort)


def tabulate(tracks: list[StepTrack], steps: list[Step]) -> PrimitiveTable:
    """The steps as arrays; steps of one sort have samples at corresponding moments."""
    sorts = {sort: number for number, sort in enumerate(sorted({step.sort for step in steps}))}
    counts = _samples_of_sorts(tracks, steps)
    rows: dict[str, list[object]] = {name: [] for name in ("outcome", "costs", "start", "stop", "seconds", "frames")}
    samples, facings, planted = [], [], []
    for step in steps:
        track = tracks[step.track]
        back = FloorTransform(*step.start.place).inverse()
        outcome = (back @ FloorTransform(*step.stop.place)).as_rows()
        at = _sample_frames(step.breaks, counts[step.sort])
        low = np.minimum(at.astype(int), len(track.points) - 1)
        high, part = np.minimum(low + 1, len(track.points) - 1), at - low
        cloud = (1 - part[:, None, None]) * track.points[low] + part[:, None, None] * track.points[high]
        samples.append(back.apply(cloud).astype(np.float32))
        facings.append((np.unwrap(track.facing[low]) + back.yaw).astype(np.float32))
        states = [state for state, count in zip(step.states, counts[step.sort], strict=True) for _ in range(count)]
        planted.append(np.array([*states, track.planted[step.stop.frame] @ [1, 2]], np.uint8))
        a, b = step.start.frame, step.stop.frame
        seconds = (b - a) / track.fps
        way = np.diff(cloud[:, 0][:, [0, 2]], axis=0)
        effort = float(np.trapezoid(track.effort[a : b + 1]) / track.fps) + IDLE_EFFORT * seconds
        torque = float(np.trapezoid(track.torque[a : b + 1]) / track.fps)
        rows["outcome"].append(outcome)
        rows["seconds"].append(seconds)
        rows["costs"].append((effort, seconds, float(np.hypot(*way.T).sum()) + 0.01 * seconds, torque))
        rows["start"].append(pose_of(track, a, step.start.place))
        rows["stop"].append(pose_of(track, b, step.stop.place))
        rows["frames"].append(np.array(step.breaks, float) * track.stride)
    return PrimitiveTable(
        track=np.array([step.track for step in steps], np.int64),
        clip=np.array([tracks[step.track].clip for step in steps], np.int64),
        sort=np.array([sorts[step.sort] for step in steps], np.int64),
        kinds=np.array([(step.start.kind, step.stop.kind) for step in steps], np.int64).reshape(-1, 2),
        begin=np.array([step.start.place for step in steps], float).reshape(-1, 3),
        outcome=np.array(rows["outcome"], float).reshape(-1, 3),
        seconds=np.array(rows["seconds"], float),
        costs=np.array(rows["costs"], float).reshape(-1, len(OBJECTIVES)),
        start_pose=_poses(rows["start"]),
        stop_pose=_poses(rows["stop"]),
        phase_first=_firsts([len(step.breaks) for step in steps]),
        phase_frame=np.concatenate([np.zeros(0), *rows["frames"]]),  # type: ignore[arg-type]
        sample_first=_firsts([len(one) for one in samples]),
        samples=np.concatenate([np.zeros((0, POINTS, 3), np.float32), *samples]),
        facing=np.concatenate([np.zeros(0, np.float32), *facings]),
        planted=np.concatenate([np.zeros(0, np.uint8), *planted]),
        fps=np.array([tracks[step.track].fps * tracks[step.track].stride for step in steps], float),
    )


def _poses(rows: list[object]) -> Floats:
    return np.array(rows, float).reshape(len(rows), -1 if rows else 0)


def _firsts(lengths: list[int]) -> Ints:
    return np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]).astype(np.int64)


def pose_of(track: StepTrack, frame: int, place: Floats) -> Floats:
    """Positions and velocities of the posed points in a frame on the floor, (D,), metres root-mean-square per point."""
    back = FloorTransform(*place).inverse()
    position = back.apply(track.points[frame, :POSED])
    velocity = FloorTransform(back.yaw).apply(track.velocity[frame])
    return np.concatenate([position.ravel(), VELOCITY_S * velocity.ravel()]) / np.sqrt(POSED)


def _samples_of_sorts(tracks: list[StepTrack], steps: list[Step]) -> dict[tuple[int, ...], list[int]]:
    """Samples in each phase of each sort of steps."""
    lengths: dict[tuple[int, ...], list[Floats]] = {}
    for step in steps:
        lengths.setdefault(step.sort, []).append(np.diff(step.breaks) / tracks[step.track].fps)
    return {
        sort: np.maximum(1, np.ceil(np.mean(each, axis=0) * SAMPLES_HZ)).astype(int).tolist()
        for sort, each in lengths.items()
    }


def _sample_frames(breaks: tuple[int, ...], counts: list[int]) -> Floats:
    """Frames of the samples, and at last that of the step's end."""
    parts = [a + (b - a) * np.arange(n) / n for a, b, n in zip(breaks, breaks[1:], counts, strict=False)]
    return np.concatenate([*parts, [float(breaks[-1])]])


@dataclass(frozen=True, eq=False)
class Primitives:
    """P steps and blends of steps."""

    steps: Ints32
    """Up to three steps of one sort, (P, 3); -1 for none."""
    weights: Floats
    """How much each counts, (P, 3); they add up to 1."""

    def __len__(self) -> int:
        """Number of primitives."""
        return len(self.steps)

    @property
    def raw(self) -> Flags:
        """Which are steps as they were recorded, (P,)."""
        return np.asarray(self.steps[:, 1] < 0)

    def take(self, rows: Ints | Flags) -> Primitives:
        """Some of them."""
        return Primitives(self.steps[rows], self.weights[rows])

    def mix(self, values: Floats) -> Floats:
        """Values of steps (N, …) as values of primitives (P, …): the weighted ones."""
        out = self.weights[:, 0].reshape(-1, *(1,) * (values.ndim - 1)) * values[self.steps[:, 0]]
        for k in (1, 2):
            rows = np.flatnonzero(self.steps[:, k] >= 0)
            out[rows] += self.weights[rows, k].reshape(-1, *(1,) * (values.ndim - 1)) * values[self.steps[rows, k]]
        return np.asarray(out)

    def outcomes(self, table: PrimitiveTable) -> Floats:
        """Where they lead, yaw, x, z, (P, 3); turns are averaged on the short way round."""
        out = self.mix(table.outcome)
        first = table.outcome[self.steps[:, 0], 0]
        turn = np.zeros(len(self))
        for k in (1, 2):
            other = table.outcome[self.steps[:, k], 0]
            turn += np.where(self.steps[:, k] >= 0, self.weights[:, k] * np.angle(np.exp(1j * (other - first))), 0.0)
        out[:, 0] = np.angle(np.exp(1j * (first + turn)))
        return out


def find_primitives(table: PrimitiveTable) -> Primitives:
    """The steps themselves, in order, and behind them blends of two and of three."""
    steps = [np.stack([np.arange(len(table)), *np.full((2, len(table)), -1)], axis=1)]
    weights = [np.tile([1.0, 0.0, 0.0], (len(table), 1))]
    for sort in range(int(table.sort.max()) + 1 if len(table) else 0):
        members = np.flatnonzero(table.sort == sort)
        pairs, triples = _partners(table, members)
        for w in WEIGHTS:
            steps.append(np.array([(a, b, -1) for a, b in pairs], np.int64).reshape(-1, 3))
            weights.append(np.tile([w, 1 - w, 0.0], (len(pairs), 1)))
        steps.append(np.array(triples, np.int64).reshape(-1, 3))
        weights.append(np.full((len(triples), 3), 1 / 3))
    primitives = Primitives(np.concatenate(steps).astype(np.int32), np.concatenate(weights))
    return primitives.take(np.asarray(novelty(primitives, table) <= MOST_NOVEL_M))


def novelty(primitives: Primitives, table: PrimitiveTable) -> Floats:
    """How far from all poses of their steps the farthest pose of primitives is, (P,), metres root-mean-square per
    point, poses laid on each other along the floor as well as can be; 0 for recorded steps."""
    high, flat = _laid(table.samples[:, :POSED].astype(float))
    size = (high**2).sum(axis=1) + (np.abs(flat) ** 2).sum(axis=1)
    out = np.zeros(len(primitives))
    for p in np.flatnonzero(~primitives.raw):
        steps = primitives.steps[p]
        rows = [np.arange(table.sample_first[s], table.sample_first[s + 1]) for s in steps if s >= 0]
        mixed = sum(w * table.samples[r, :POSED] for w, r in zip(primitives.weights[p], rows, strict=False))
        y, z = _laid(np.asarray(mixed, float))
        own = (y**2).sum(axis=1) + (np.abs(z) ** 2).sum(axis=1)
        every = np.concatenate(rows)
        both = y @ high[every].T + np.abs(z @ flat[every].conj().T)
        away = (own[:, None] + size[every] - 2 * both).min(axis=1)
        out[p] = np.sqrt(max(float(away.max()), 0.0) / POSED)
    return out


def _laid(points: Floats) -> tuple[Floats, Complexes]:
    """Heights, and places on the floor about their mean as complex numbers, (..., P)."""
    flat = points[..., 0] + 1j * points[..., 2]
    return points[..., 1], flat - flat.mean(axis=-1, keepdims=True)


def _partners(table: PrimitiveTable, members: Ints) -> tuple[list[tuple[int, int]], list[tuple[int, int, int]]]:
    """Pairs and triples of steps of one sort to blend: alike in pose all along, but leading elsewhere."""
    if len(members) < 2:
        return [], []
    count = int(table.sample_first[members[0] + 1] - table.sample_first[members[0]])
    rows = table.sample_first[members][:, None] + np.arange(count)
    clouds = table.samples[rows].reshape(len(members), -1).astype(np.float64)
    squares = (clouds**2).sum(axis=1)
    apart = np.sqrt(np.maximum(squares[:, None] + squares - 2 * clouds @ clouds.T, 0.0) / (count * POINTS))
    seconds, outcome = table.seconds[members], table.outcome[members]
    slower = np.maximum(seconds[:, None] / seconds, seconds / seconds[:, None])
    turn = np.abs(np.angle(np.exp(1j * (outcome[:, None, 0] - outcome[None, :, 0]))))
    moved = np.hypot(*(outcome[:, None, 1:] - outcome[None, :, 1:]).transpose(2, 0, 1))
    new = (moved > _NEW_M) | (turn > _NEW_RAD)
    fits = (apart < _FARTHEST_M) & (slower < _SLOWEST) & new & (turn < np.pi / 2)
    pairs: set[tuple[int, int]] = set()
    triples: set[tuple[int, int, int]] = set()
    for a in range(len(members)):
        near = np.flatnonzero(fits[a])
        chosen: list[int] = []
        for b in near[np.argsort(apart[a, near], kind="stable")]:
            if all(new[b, c] for c in chosen):
                chosen.append(int(b))
                if len(chosen) == MOST_PARTNERS:
                    break
        pairs |= {(min(a, b), max(a, b)) for b in chosen}
        trio = next(((b, c) for n, b in enumerate(chosen) for c in chosen[n + 1 :] if fits[b, c]), None)
        if trio is not None:
            triples.add(tuple(sorted((a, *trio))))  # type: ignore[arg-type]
    own = members.tolist()
    return [(own[a], own[b]) for a, b in sorted(pairs)], [(own[a], own[b], own[c]) for a, b, c in sorted(triples)]
