"""How far a finished motion is from what was asked, goal by goal, and what to say about it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from choreograph.base import quat
from choreograph.base.arrays import Floats, Ints
from choreograph.contract.problem import Problem, ProblemKind
from choreograph.motion.clip import Clip
from choreograph.verbs.complete.compile_goals import Target

MISSED_M, MISSED_RAD, MISSED_SHARE = 0.05, math.radians(5.0), 0.1
"""From where on a goal counts as missed."""
_SLIP_M = 0.05


class Miss(NamedTuple):
    """By how much a goal is missed where it is missed most."""

    target: int
    amount: float
    """In its unit: metres, radians, metres per second, or heights of the picture."""
    unit: str
    missed: bool
    at_s: float
    asked: float | None
    got: float | None
    place: tuple[float, float, float]


def measure(clip: Clip, targets: Sequence[Target]) -> list[Miss]:
    """How far a motion is from each target, where it is farthest."""
    return [_measure_one(number, clip, target) for number, target in enumerate(targets)]


def _measure_one(number: int, clip: Clip, target: Target) -> Miss:
    at = target.frames(clip.fps, len(clip))
    pos = clip.global_positions()
    asked = got = None
    unit, limit = "m", MISSED_M
    values = target.at(at / clip.fps) if target.kind not in ("pose", "contact") else target.values
    joint = target.joints[0] if target.joints else clip.skeleton.hips
    if target.kind in ("position", "place"):
        off = np.linalg.norm(np.nan_to_num(pos[at, joint] - values), axis=1)
    elif target.kind == "offset":
        off = np.linalg.norm(np.nan_to_num(pos[at, joint] - pos[at, target.joints[1]] - values), axis=1)
    elif target.kind == "velocity":
        speed = np.gradient(pos[:, joint], 1 / clip.fps, axis=0)[at]
        off, unit = np.linalg.norm(np.nan_to_num(speed - values), axis=1), "m/s"
        limit = max(0.1, MISSED_SHARE * float(np.linalg.norm(np.nan_to_num(values[0]))))
    elif target.kind == "distance":
        apart = np.linalg.norm(pos[at, joint] - pos[at, target.joints[1]], axis=1)
        off = np.abs(apart - values[:, 0])
        asked, got = float(values[off.argmax(), 0]), float(apart[off.argmax()])
    elif target.kind == "view":
        off, unit, limit = _seen_off(pos[at, joint], target, values), "of the picture's height", 0.05
    elif target.kind == "contact":
        stands = pos[at][:, list(target.joints)]
        off, limit = np.linalg.norm((stands - stands.mean(axis=0))[..., [0, 2]], axis=2).max(axis=1), _SLIP_M
    else:
        off, asked, got = _turned_off(clip, target, at, values)
        unit, limit = "°", math.degrees(MISSED_RAD)
    worst = int(off.argmax())
    frame = int(at[worst]) if len(off) == len(at) else int(at[0])
    x, y, z = (round(float(v), 3) for v in pos[frame, joint])
    amount = float(off[worst])
    return Miss(number, amount, unit, amount > limit, frame / clip.fps, asked, got, (x, y, z))


def _seen_off(points: Floats, target: Target, values: Floats) -> Floats:
    assert target.camera is not None
    seen = (points - target.camera[3]) @ target.camera[:3].T
    return np.asarray(np.linalg.norm(seen[:, :2] / np.maximum(seen[:, 2:], 0.05) - values, axis=1) / 2)


def _turned_off(clip: Clip, target: Target, at: Ints, values: Floats) -> tuple[Floats, float | None, float | None]:
    """Degrees that facings, turns, angles and poses are off, and where that is one number, what was asked and got."""
    if target.kind == "facing":
        now = clip.facing()[at]
        off = np.abs(np.angle(np.exp(1j * (now - values[:, 0]))))
        return np.degrees(off), float(np.degrees(values[0, 0])), float(np.degrees(now[0]))
    if target.kind == "turn":
        return np.degrees(quat.angle_between(clip.global_rotations()[at, target.joints[0]], values)), None, None
    if target.kind == "angle":
        pos = clip.global_positions()[at]
        joint, above, below = target.joints
        u, v = pos[:, joint] - pos[:, above], pos[:, below] - pos[:, joint]
        bend = np.arctan2(np.linalg.norm(np.cross(u, v), axis=1), np.sum(u * v, axis=1))
        off = np.abs(bend - values[:, 0])
        worst = int(off.argmax())
        return np.degrees(off), float(np.degrees(values[worst, 0])), float(np.degrees(bend[worst]))
    assert target.pose is not None
    own, wanted = clip.local_rot[at[0]], target.pose.local_rot[0]
    angles = np.degrees(quat.angle_between(own[1:], wanted[1:]))
    return np.array([float(angles.mean())]), None, None


def pose_off_m(clip: Clip, target: Target) -> float:
    """How far the torso is from where a key pose was asked for, metres; 0 where it was not."""
    place = target.values[0]
    frame = int(target.frames(clip.fps, len(clip))[0])
    hips = clip.global_positions()[frame, target.joints[0]]
    return float(np.linalg.norm(np.nan_to_num(np.array([hips[0], hips[2]]) - place[:2])))


_KINDS = {"position": ProblemKind.JOINT_MISSED, "place": ProblemKind.POSITION_MISSED}
"""Kinds of problems that are not called as the target is."""


def say(miss: Miss, target: Target, clip: Clip, fights: Sequence[str]) -> Problem:
    """A missed goal as a sentence."""
    what = {
        "position": f"the {_named(clip, target)} is",
        "place": "the torso is",
        "pose": "the pose is",
        "facing": "the body faces",
        "velocity": f"the {_named(clip, target)} moves",
        "contact": f"the {_named(clip, target)} slips",
        "view": f"the {_named(clip, target)} is seen",
    }.get(target.kind, f"the {_named(clip, target)} is")
    amount = f"{100 * miss.amount:.0f} cm" if miss.unit == "m" else f"{miss.amount:.3g} {miss.unit}"
    off = "" if target.kind == "contact" else " off"
    text = f"{target.where}: at {miss.at_s:.2f} s {what} {amount}{off}"
    if fights:
        text += f"; it fights with {', '.join(fights)}: drop or move one of them, or give one more weight"
    asked = None if miss.asked is None else round(miss.asked, 3)
    got = round(miss.amount, 4) if miss.got is None else round(miss.got, 3)
    if miss.got is None and asked is None:
        asked = 0.0
    kind = _KINDS.get(target.kind) or ProblemKind(f"{target.kind}_missed")
    return Problem(kind, text, target.where, asked, got, unit=miss.unit, place=miss.place)


def _named(clip: Clip, target: Target) -> str:
    return clip.skeleton.names[target.joints[0]] if target.joints else "body"
