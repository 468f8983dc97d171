"""The cycle of a motion: where its ends are most alike, and the same with its ends joined."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from choreograph.base import quat
from choreograph.base.arrays import Floats, Indices
from choreograph.base.errors import RequestError
from choreograph.motion.clip import Clip

_RATE_HZ = 30.0
"""Frames per second at which moments are compared first; the ends are then placed at the clip's own rate."""
_AHEAD_S = 0.1
"""What joints do in this time counts as much as where they are."""
GAP_M = 0.05
"""Distance of the ends' poses from which on a loop is said not to be one by itself."""
STILL_M = 0.025
"""Mean distance of joints from their middle below which a cycle is said to be none. Cycles of walks and runs of several
people have 3.2 cm and more; moments in which somebody stands or sits 2.1 cm and less, most of them half of one."""
_CLEARLY = 1.25
"""Moving by this much more, root-mean-square, is moving also on average."""
_TURN_M = 0.3
"""Metres that a radian of turning counts for where the cycle is to go straight."""


@dataclass(frozen=True)
class Cycle:
    """Two moments of a clip that bound a cycle."""

    start: int
    stop: int
    """Frames; the pose at `stop` is the one at `start` again."""
    gap_m: float
    """Mean distance of joints between the two, with what they do in a tenth of a second, metres."""
    moves_m: float = 0.0
    """Mean distance of joints, as seen from the body, from their middle between the two, metres."""


def find_cycle(
    clip: Clip, seconds: tuple[float, float], at: tuple[float | None, float | None], *, straight: bool
) -> Cycle:
    """The two moments that are most alike, with motion between them if any two that are alike have some.

    Args:
        clip: The motion.
        seconds: Shortest and longest cycle.
        at: Where it begins and ends, seconds, where that is known.
        straight: Whether turning between the two counts.

    Raises:
        RequestError: If the motion is too short, or a moment lies outside.
    """
    begin, end = (None if second is None else round(second * clip.fps) for second in at)
    for frame, name in ((begin, "start_s"), (end, "end_s")):
        if frame is not None and frame > len(clip) - 1:
            raise RequestError(f"{frame / clip.fps:g} s is behind the motion's end at {clip.seconds:.2f} s", where=name)
    low, high = round(seconds[0] * clip.fps), round(seconds[1] * clip.fps)
    if len(clip) < 2 or (len(clip) <= low and (begin is None or end is None)):
        raise RequestError(
            f"the motion lasts {clip.seconds:.2f} s, less than the shortest cycle of {seconds[0]:g} s", where="min_s"
        )
    rows, facing = _features(clip)
    if begin is not None and end is not None:
        return _between(rows, begin, end)
    step = max(1, int(clip.fps // _RATE_HZ))
    starts = np.arange(0, len(clip), step) if begin is None else np.array([begin])
    best = moving = (np.inf, 0, low)
    sums = _running_sums(rows)
    for lag in range(max(low, 2), min(high, len(clip) - 1) + 1, step):
        rows_at = starts[starts + lag < len(clip)] if end is None else np.array([end - lag] if end >= lag else [], int)
        if begin is not None and end is None:
            rows_at = np.array([begin] if begin + lag < len(clip) else [], int)
        if len(rows_at):
            costs = _costs(rows, facing, rows_at, rows_at + lag, straight)
            k = int(costs.argmin())
            best = min(best, (float(costs[k]), int(rows_at[k]), lag))
            costs = np.where(_spreads(sums, rows_at, lag) < _CLEARLY * STILL_M, np.inf, costs)
            k = int(costs.argmin())
            moving = min(moving, (float(costs[k]), int(rows_at[k]), lag))
    if not np.isfinite(best[0]):
        raise RequestError("there is no cycle of that length between those moments", where="max_s")
    # Whoever stands for a while is most like themselves; a cycle of what they do besides is what is looked for.
    best = moving if moving[0] < GAP_M else best
    start, stop = _refined(rows, facing, best, (step, low, high), (begin, end), straight)
    return _between(rows, start, stop)


def _between(rows: Floats, start: int, stop: int) -> Cycle:
    """The cycle between two moments."""
    gap = float(_gaps(rows, np.array([start]), np.array([stop]))[0])
    poses = rows[start : stop + 1].reshape(stop + 1 - start, -1, 3)
    poses = poses[:, : poses.shape[1] // 2]
    return Cycle(start, stop, gap, float(np.linalg.norm(poses - poses.mean(axis=0), axis=2).mean()))


def _running_sums(rows: Floats) -> tuple[Floats, Floats]:
    """Sums of joints' places, (F + 1, 3 J), and of their squares, (F + 1, J), over the frames before each."""
    places = rows[:, : rows.shape[1] // 2]
    squares = np.square(places).reshape(len(rows), -1, 3).sum(axis=2)
    before = np.zeros((len(rows) + 1, places.shape[1])), np.zeros((len(rows) + 1, squares.shape[1]))
    np.cumsum(places, axis=0, out=before[0][1:])
    np.cumsum(squares, axis=0, out=before[1][1:])
    return before


def _spreads(sums: tuple[Floats, Floats], starts: Indices, lag: int) -> Floats:
    """How far joints are from their middle in the frames from each start to `lag` after it: root-mean-square, metres,
    the mean of all joints."""
    middle, square = ((one[starts + lag + 1] - one[starts]) / (lag + 1) for one in sums)
    spread = square - np.square(middle).reshape(len(starts), -1, 3).sum(axis=2)
    return np.asarray(np.sqrt(np.maximum(spread, 0)).mean(axis=1))


def _refined(
    rows: Floats,
    facing: Floats,
    best: tuple[float, int, int],
    lengths: tuple[int, int, int],
    at: tuple[int | None, int | None],
    straight: bool,
) -> tuple[int, int]:
    """The best pair at the clip's own rate, near one that was found at a lower rate; `lengths` are the step between
    those that were tried, the shortest and the longest."""
    _, start, lag = best
    step, low, high = lengths
    near = np.arange(-step, step + 1)
    starts, stops = (grid.ravel() for grid in np.meshgrid(start + near, start + lag + near))
    keep = (starts >= 0) & (stops < len(rows)) & (stops - starts >= max(low, 2)) & (stops - starts <= high)
    for fixed, moments in zip(at, (starts, stops), strict=True):
        keep &= (moments == fixed) if fixed is not None else True
    if not keep.any():
        return start, start + lag
    starts, stops = starts[keep], stops[keep]
    k = int(_costs(rows, facing, starts, stops, straight).argmin())
    return int(starts[k]), int(stops[k])


def _features(clip: Clip) -> tuple[Floats, Floats]:
    """Joints as seen from the body with what they do in a tenth of a second, (F, 6 J), and where it faces, (F,)."""
    at = clip.global_positions()
    facing = np.unwrap(clip.facing())
    own = at - np.stack([clip.root_pos[:, 0], np.zeros(len(clip)), clip.root_pos[:, 2]], axis=1)[:, None]
    back = quat.from_yaw(-facing)[:, None]
    own = quat.rotate(back, own)
    ahead = quat.rotate(back, np.gradient(at, axis=0) * clip.fps * _AHEAD_S)
    return np.concatenate([own, ahead], axis=1).reshape(len(clip), -1), facing


def _gaps(rows: Floats, starts: Indices, stops: Indices) -> Floats:
    away = (rows[starts] - rows[stops]).reshape(len(starts), -1, 3)
    return np.asarray(np.linalg.norm(away, axis=2).mean(axis=1))


def _costs(rows: Floats, facing: Floats, starts: Indices, stops: Indices, straight: bool) -> Floats:
    turned = np.abs(facing[stops] - facing[starts]) if straight else 0.0
    return np.asarray(_gaps(rows, starts, stops) + _TURN_M * turned)


def join_ends(clip: Clip, *, straight: bool, in_place: bool) -> Clip:
    """The clip with a last pose that is its first one again; what differed is taken up evenly over its length.

    Args:
        clip: A cycle, its first and last frame alike.
        straight: Whether the turn from first to last is taken out.
        in_place: Whether the way from first to last is taken out.
    """
    count = len(clip) - 1
    share = np.arange(count + 1) / count
    facing = np.unwrap(clip.facing())
    turn = float(facing[-1] - facing[0])
    # Poses: half of the gap at each end, so that both meet in the middle.
    local = np.array(clip.local_rot)
    heading = quat.from_yaw(facing)
    local[:, 0] = quat.multiply(quat.inverse(heading), local[:, 0])
    gap = quat.as_rotvec(quat.multiply(quat.inverse(local[-1]), local[0]))
    local = quat.multiply(local, quat.from_rotvec(gap[None] * (share - 0.5)[:, None, None]))
    facing = facing - turn * share if straight else facing
    local[:, 0] = quat.multiply(quat.from_yaw(facing), local[:, 0])
    # Places: the way turns with the body, steps keep their length.
    steps = np.diff(clip.root_pos[:, [0, 2]], axis=0) @ np.array([1, 1j])
    if straight:
        steps = steps * np.exp(1j * turn * (share[1:] + share[:-1]) / 2)
    way = np.concatenate([[0], np.cumsum(steps)]) + complex(clip.root_pos[0, 0], clip.root_pos[0, 2])
    if in_place:
        way = way - (way[-1] - way[0]) * share
    height = clip.root_pos[:, 1] + (clip.root_pos[0, 1] - clip.root_pos[-1, 1]) * (share - 0.5)
    root = np.stack([way.real, height, way.imag], axis=1)
    return clip.with_poses(root, quat.make_continuous(local))


def repeat(clip: Clip, times: int) -> Clip:
    """A joined cycle so many times over, each from where the one before ended; the last frame is the first again."""
    from choreograph.base.floor import FloorTransform

    count = len(clip) - 1
    yaw = float(clip.facing()[-1] - clip.facing()[0])
    turned = (clip.root_pos[0, [0, 2]] @ np.array([1, 1j])) * np.exp(-1j * yaw)
    on = complex(*clip.root_pos[-1, [0, 2]]) - turned
    once = FloorTransform(yaw, float(on.real), float(on.imag))
    move = FloorTransform(0.0, 0.0, 0.0)
    roots, turns = [], []
    for _ in range(times):
        moved = clip.moved(move)
        roots.append(moved.root_pos[:count])
        turns.append(moved.local_rot[:count])
        move = move @ once
    last = clip.moved(move)
    root, rot = np.concatenate([*roots, last.root_pos[:1]]), np.concatenate([*turns, last.local_rot[:1]])
    return Clip(clip.skeleton, clip.fps, root, quat.make_continuous(rot), clip.name, source=clip.source)
