"""Goals measured on the finished motion: how far each target is off, where most, and the problems that come of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from choreograph.contract.problem import Problem
from choreograph.goals.kinds import KINDS, MeasuredMotion
from choreograph.goals.target import Target
from choreograph.goals.tolerance import TOLERANCE
from choreograph.motion.clip import Clip


class Measured(NamedTuple):
    """A target as the motion does it, met or missed, where it is missed most."""

    target: Target
    off: float
    """By how much it is missed, in `unit`: metres, degrees, metres per second, heights of the picture …"""
    limit: float
    """The largest miss that does not count."""
    unit: str
    at_s: float
    place: tuple[float, float, float]
    """Where on the stage it shows, metres."""
    asked: float | None = None
    """Where the target is one number: what was wanted, and what came of it."""
    got: float | None = None

    @property
    def missed(self) -> bool:
        """Whether it is off by more than is tolerated."""
        return self.off > self.limit

    def problem(self, names: Sequence[str], more: str = "") -> Problem:
        """The target as a problem, with the sentence of its kind.

        Args:
            names: Of the body's joints.
            more: Another sentence: causes and remedies that were checked.
        """
        target = self.target
        words: dict[str, Any] = {"what": _thing(target, names)}
        if target.kind == "facing":
            words["off"] = self.off
        elif target.kind == "pose":
            words |= {"what": "The pose", "of": target.name or "the pose asked for"}
        elif target.kind == "label":
            words |= {"label": target.name, "share": 1.0 - self.off, "need": 1.0 - self.limit}
        wanted = 0.0 if self.asked is None else self.asked
        got = self.off if self.got is None else self.got
        return Problem.of(
            KINDS[target.kind].problem, target.where, more=more, asked=wanted, got=got, unit=self.unit,
            tolerance=self.limit, at_s=self.at_s, place=self.place, **words,
        )  # fmt: skip


def measure(clip: Clip, targets: Sequence[Target]) -> list[Measured]:
    """Return how far a motion is from each target, where it is farthest; one for each, met or missed.

    Args:
        clip: The finished motion, at any rate.
        targets: What was wanted; of kinds that `KINDS` has.
    """
    motion = MeasuredMotion(clip)
    return [_measured(motion, target) for target in targets]


def find_problems(measured: Sequence[Measured], names: Sequence[str]) -> list[Problem]:
    """Return the problems of what is missed; of the many targets of one goal the worst stands for all.

    Args:
        measured: What `measure` gave.
        names: Of the body's joints.
    """
    return [one.problem(names) for one in worst(measured)]


def worst(measured: Sequence[Measured]) -> list[Measured]:
    """Return the targets that are missed; of several of one goal's field the one that is missed most."""
    missed = [one for one in measured if one.missed]
    most = {(one.target.where, one.target.kind): one for one in sorted(missed, key=lambda one: one.off)}
    return [one for one in missed if one is most[one.target.where, one.target.kind]]


def pose_places(targets: Sequence[Target]) -> list[Target]:
    """Return where poses are wanted on the floor, as targets of their own: `measure` compares joints of a pose."""
    return [
        replace(target, kind="place", pose=None, tolerance=None, values=np.array([[x, np.nan, z]]))
        for target in targets
        if target.kind == "pose"
        for x, z, _ in target.values[:1].tolist()
        if np.isfinite([x, z]).any()
    ]


def _measured(motion: MeasuredMotion, target: Target) -> Measured:
    kind, clip = KINDS[target.kind], motion.clip
    at = target.frames(clip.fps, len(clip))
    residual = kind.residual(motion, target, at)
    number = int(residual.off.argmax())
    frame = int(at[number]) if len(residual.off) == len(at) else int(at[0])
    limit = TOLERANCE[target.kind].limit(kind.size(target)) if target.tolerance is None else target.tolerance
    joint = target.joints[0] if target.joints else clip.skeleton.hips
    x, y, z = (round(float(value), 3) for value in motion.positions[frame, joint])
    wanted, got = (None if one is None else float(one[number]) for one in (residual.asked, residual.got))
    return Measured(target, float(residual.off[number]), limit, kind.unit, frame / clip.fps, (x, y, z), wanted, got)


def _thing(target: Target, names: Sequence[str]) -> str:
    """What is measured, as a sentence's subject."""
    if target.kind == "place":
        return "the torso"
    if target.kind == "distance":
        return f"{names[target.joints[0]]} and {names[target.joints[1]]}"
    return names[target.joints[0]] if target.joints else "the body"
