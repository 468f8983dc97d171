"""Which clips are nearest to what is asked: how well a clip, moved anywhere on the floor, could do each goal."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import numpy as np

from choreograph.base import quat
from choreograph.base.arrays import Floats
from choreograph.goals.target import Target
from choreograph.motion.clip import Clip

_SAMPLED_HZ = 15.0  # poses per second of a recording that are looked at
_RAD_M = 0.3
"""Metres that a radian counts as."""
_LEAST_S = 0.05  # between two goals; nearer ones are at the same time


def goal_distance(clip: Clip, targets: Sequence[Target]) -> float:
    """How far a clip is from doing what is asked, metres: the mean over goals of what its best moment lacks.

    Poses, and joints that are asked for at one time, count by their places as the body sees them; single joints by
    their height; distances, bends and offsets as they are; places at two times by how far the clip travels and turns in
    as long.

    Args:
        clip: A recording.
        targets: What is asked, of the clip's skeleton.
    """
    every = max(1, round(clip.fps / _SAMPLED_HZ))
    pos = clip.global_positions()
    own = _body_frame(clip, pos)[::every]
    scores = [_pose_score(own, target) for target in targets if target.kind == "pose"]
    scores += [_moment_score(pos[::every], moment) for moment in _moments(targets)]
    for target in targets:
        if target.kind in ("distance", "angle", "offset"):
            scores.append(_relation_score(pos[::every], target))
    scores += _travel_scores(clip, pos, targets)
    return float(np.mean(scores)) if scores else 0.0


def _body_frame(clip: Clip, pos: Floats) -> Floats:
    """Joint positions as the body sees them, (F, J, 3), metres."""
    centre = pos[:, [clip.skeleton.hips]] * (1.0, 0.0, 1.0)
    return quat.rotate(quat.from_yaw(-clip.facing())[:, None], pos - centre)


def _pose_score(own: Floats, target: Target) -> float:
    assert target.pose is not None
    wanted = _body_frame(target.pose, target.pose.global_positions())[0]
    return float(np.sqrt(((own - wanted) ** 2).sum(axis=2).mean(axis=1)).min())


def _moments(targets: Sequence[Target]) -> Iterator[dict[int, Floats]]:
    """Joints that are asked for at one time, with where: at each single time, and in the middle of each interval."""
    moments: dict[int, dict[int, Floats]] = {}
    for target in targets:
        if target.kind in ("position", "place"):
            at = (target.start_s + target.end_s) / 2
            moments.setdefault(round(at / _LEAST_S), {})[target.joints[0]] = target.at(np.array([at]))[0]
    yield from moments.values()


def _moment_score(pos: Floats, moment: dict[int, Floats]) -> float:
    """Heights, and how far joints are from each other over the floor."""
    parts = []
    for joint, where in moment.items():
        if np.isfinite(where[1]):
            parts.append(np.abs(pos[:, joint, 1] - where[1]))
    known = [joint for joint, where in moment.items() if np.isfinite(where[[0, 2]]).all()]
    for n, one in enumerate(known):
        for other in known[n + 1 :]:
            apart = np.linalg.norm((moment[one] - moment[other])[[0, 2]])
            parts.append(np.abs(np.linalg.norm((pos[:, one] - pos[:, other])[:, [0, 2]], axis=1) - apart))
    return float(np.sqrt(np.mean(np.square(parts), axis=0)).min()) if parts else 0.0


def _relation_score(pos: Floats, target: Target) -> float:
    wanted = target.values[0]
    if target.kind == "angle":
        joint, above, below = target.joints
        u, v = pos[:, joint] - pos[:, above], pos[:, below] - pos[:, joint]
        bend = np.arctan2(np.linalg.norm(np.cross(u, v), axis=1), np.sum(u * v, axis=1))
        return float(_RAD_M * np.abs(bend - wanted[0]).min())
    apart = pos[:, target.joints[0]] - pos[:, target.joints[1]]
    if target.kind == "distance":
        return float(np.abs(np.linalg.norm(apart, axis=1) - wanted[0]).min())
    parts = [np.abs(apart[:, 1] - wanted[1])] if np.isfinite(wanted[1]) else []
    if np.isfinite(wanted[[0, 2]]).all():
        parts.append(np.abs(np.linalg.norm(apart[:, [0, 2]], axis=1) - np.hypot(wanted[0], wanted[2])))
    return float(np.sqrt(np.mean(np.square(parts), axis=0)).min()) if parts else 0.0


def _travel_scores(clip: Clip, pos: Floats, targets: Sequence[Target]) -> list[float]:
    """How far the clip at its best moment is from travelling and turning as places one after another ask."""
    places = _places(targets, clip.skeleton.hips)
    hips, facing = pos[:, clip.skeleton.hips][:, [0, 2]], np.unwrap(clip.facing())
    scores = []
    for (begin, one), (end, other) in itertools.pairwise(places):
        step = min(round((end - begin) * clip.fps), len(clip) - 1)
        if step < 1 or end - begin < _LEAST_S:
            continue
        share = step / clip.fps / (end - begin)  # of a clip that is shorter, as much as it lasts
        away: Floats = np.zeros(len(clip) - step)
        if np.isfinite([one[:2], other[:2]]).all():
            way = share * np.linalg.norm(other[:2] - one[:2])
            away = np.abs(np.linalg.norm(hips[step:] - hips[:-step], axis=1) - way)
        if np.isfinite([one[2], other[2]]).all():
            turn = share * float(np.angle(np.exp(1j * (other[2] - one[2]))))
            away = np.hypot(away, _RAD_M * (facing[step:] - facing[:-step] - turn))
        scores.append(float(away.min()))
    return scores


def _places(targets: Sequence[Target], hips: int) -> list[tuple[float, Floats]]:
    """Times and x, z and yaw of the body, NaN for what is not said, in order of time."""
    places: dict[float, Floats] = {}

    def say(at: float, values: Sequence[float]) -> None:
        now = places.setdefault(round(at, 3), np.full(3, np.nan))
        known = np.isfinite(values)
        now[known] = np.asarray(values, float)[known]

    for target in targets:
        ends = sorted({target.start_s, target.end_s})
        if target.kind == "pose":
            say(target.start_s, target.values[0])
        elif target.kind == "facing":
            for at in ends:
                say(at, (np.nan, np.nan, target.values[0, 0]))
        elif target.kind == "place" or (target.kind == "position" and target.joints[0] == hips):
            for at, where in zip(ends, target.at(np.array(ends)), strict=True):
                say(at, (where[0], where[2], np.nan))
    if not any(np.isfinite(place[:2]).all() for place in places.values()):
        # Without the body's places, a joint's own way says how fast it goes.
        for target in targets:
            if target.kind == "position":
                ends = sorted({target.start_s, target.end_s})
                for at, where in zip(ends, target.at(np.array(ends)), strict=True):
                    say(at, (where[0], where[2], np.nan))
    placed = [(at, place) for at, place in sorted(places.items()) if np.isfinite(place).any()]
    return placed
