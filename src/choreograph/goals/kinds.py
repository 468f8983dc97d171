"""Kinds of targets: how far a motion is from each, in which unit, and what is said about it. A row adds a kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from choreograph.base import quat
from choreograph.base.arrays import Flags, Floats, Ints
from choreograph.contract.problem import ProblemKind
from choreograph.goals.target import Target
from choreograph.motion.clip import Clip
from choreograph.motion.labels import matches_label


@dataclass(frozen=True, eq=False)
class MeasuredMotion:
    """A finished motion as goals see it; what several of them need is computed once."""

    clip: Clip

    @cached_property
    def positions(self) -> Floats:
        """Of joints, (F, J, 3), metres."""
        return self.clip.global_positions()

    @cached_property
    def facing(self) -> Floats:
        """The torso's yaw, (F,), radians."""
        return self.clip.facing()

    @cached_property
    def rotations(self) -> Floats:
        """Of joints against the world, (F, J, 4)."""
        return self.clip.global_rotations()

    def labelled(self, label: str) -> Flags:
        """Which frames have a label, (F,)."""
        mask = np.zeros(len(self.clip), bool)
        for one in self.clip.labels:
            if matches_label(label, one.text):
                mask[one.start : one.stop] = True
        return mask

    def travel(self, at: Ints) -> tuple[Floats, float]:
        """Steps of the hips over the floor between frames, (N - 1, 2), metres, and how long they last, seconds."""
        hips = self.positions[at, self.clip.skeleton.hips]
        return np.diff(hips[:, [0, 2]], axis=0), max(len(at) - 1, 1) / self.clip.fps


class Residual(NamedTuple):
    """How far a motion is from a target, frame by frame or as a whole."""

    off: Floats
    """(N,) or (1,), in the unit of the kind, never negative."""
    asked: Floats | None = None
    """What was wanted and what came of it, where each is one number, (N,)."""
    got: Floats | None = None


class Kind(NamedTuple):
    """What all targets of a kind share."""

    unit: str
    problem: ProblemKind
    residual: Callable[[MeasuredMotion, Target, Ints], Residual]
    size: Callable[[Target], float] = lambda target: 0.0
    """Of the value asked for, of which a tolerance may be a share."""


def _wanted(motion: MeasuredMotion, target: Target, at: Ints) -> Floats:
    return target.at(at / motion.clip.fps)


def _length(off: Floats) -> Floats:
    """Lengths of differences; what does not matter is NaN."""
    return np.asarray(np.linalg.norm(np.nan_to_num(off), axis=1))


def _position(motion: MeasuredMotion, target: Target, at: Ints) -> Residual:
    return Residual(_length(motion.positions[at, target.joints[0]] - _wanted(motion, target, at)))


def _offset(motion: MeasuredMotion, target: Target, at: Ints) -> Residual:
    one, other = (motion.positions[at, joint] for joint in target.joints)
    return Residual(_length(one - other - _wanted(motion, target, at)))


def _velocity(motion: MeasuredMotion, target: Target, at: Ints) -> Residual:
    now = np.gradient(motion.positions[:, target.joints[0]], 1 / motion.clip.fps, axis=0)[at]
    return Residual(_length(now - _wanted(motion, target, at)))


def _distance(motion: MeasuredMotion, target: Target, at: Ints) -> Residual:
    one, other = (motion.positions[at, joint] for joint in target.joints)
    wanted, got = _wanted(motion, target, at)[:, 0], np.linalg.norm(one - other, axis=1)
    return Residual(np.abs(got - wanted), wanted, got)


def _view(motion: MeasuredMotion, target: Target, at: Ints) -> Residual:
    assert target.camera is not None
    seen = (motion.positions[at, target.joints[0]] - target.camera[3]) @ target.camera[:3].T
    off = seen[:, :2] / np.maximum(seen[:, 2:], 0.05) - _wanted(motion, target, at)
    return Residual(np.asarray(np.linalg.norm(off, axis=1) / 2))


def _contact(motion: MeasuredMotion, target: Target, at: Ints) -> Residual:
    stands = motion.positions[at][:, list(target.joints)]
    return Residual(np.linalg.norm((stands - stands.mean(axis=0))[..., [0, 2]], axis=2).max(axis=1))


def _facing(motion: MeasuredMotion, target: Target, at: Ints) -> Residual:
    wanted, got = _wanted(motion, target, at)[:, 0], motion.facing[at]
    off = np.abs(np.angle(np.exp(1j * (got - wanted))))
    return Residual(np.degrees(off), np.degrees(wanted), np.degrees(got))


def _turn(motion: MeasuredMotion, target: Target, at: Ints) -> Residual:
    now = motion.rotations[at, target.joints[0]]
    return Residual(np.degrees(quat.angle_between(now, _wanted(motion, target, at))))


def _angle(motion: MeasuredMotion, target: Target, at: Ints) -> Residual:
    joint, above, below = (motion.positions[at, one] for one in target.joints)
    u, v = joint - above, below - joint
    got = np.arctan2(np.linalg.norm(np.cross(u, v), axis=1), np.sum(u * v, axis=1))
    wanted = _wanted(motion, target, at)[:, 0]
    return Residual(np.degrees(np.abs(got - wanted)), np.degrees(wanted), np.degrees(got))


def _pose(motion: MeasuredMotion, target: Target, at: Ints) -> Residual:
    assert target.pose is not None
    turned = quat.angle_between(motion.clip.local_rot[at[0], 1:], target.pose.local_rot[0, 1:])
    return Residual(np.array([float(np.degrees(turned).mean())]))


def _label(motion: MeasuredMotion, target: Target, at: Ints) -> Residual:
    got = np.array([float(motion.labelled(target.name)[at].mean())])
    return Residual(1.0 - got, np.ones(1), got)


def _speed(motion: MeasuredMotion, target: Target, at: Ints) -> Residual:
    steps, lasts_s = motion.travel(at)
    got = np.array([float(np.linalg.norm(steps, axis=1).sum()) / lasts_s])
    return Residual(np.abs(got - target.values[0]), target.values[0], got)


def _turn_rate(motion: MeasuredMotion, target: Target, at: Ints) -> Residual:
    turned = np.unwrap(motion.facing[at])
    got = np.array([float(np.degrees(turned[-1] - turned[0])) * motion.clip.fps / max(len(at) - 1, 1)])
    return Residual(np.abs(got - target.values[0]), target.values[0], got)


def _size(target: Target) -> float:
    return float(np.linalg.norm(np.nan_to_num(target.values[0])))


_P = ProblemKind
KINDS: Mapping[str, Kind] = MappingProxyType(
    {
        "place": Kind("m", _P.POSITION_MISSED, _position),
        "position": Kind("m", _P.JOINT_MISSED, _position),
        "offset": Kind("m", _P.OFFSET_MISSED, _offset),
        "distance": Kind("m", _P.DISTANCE_MISSED, _distance),
        "velocity": Kind("m/s", _P.VELOCITY_MISSED, _velocity, _size),
        "view": Kind("of the picture's height", _P.VIEW_MISSED, _view),
        "contact": Kind("m", _P.CONTACT_MISSED, _contact),
        "facing": Kind("°", _P.FACING_MISSED, _facing),
        "turn": Kind("°", _P.TURN_MISSED, _turn),
        "angle": Kind("°", _P.ANGLE_MISSED, _angle),
        "pose": Kind("°", _P.POSE_MISSED, _pose),
        "label": Kind("", _P.LABEL_MISSED, _label),
        "speed": Kind("m/s", _P.SPEED_MISSED, _speed, _size),
        "turn_rate": Kind("°/s", _P.TURN_RATE_MISSED, _turn_rate, _size),
    }
)
"""By a target's kind. Tolerances stand in `choreograph.goals.tolerance`."""
