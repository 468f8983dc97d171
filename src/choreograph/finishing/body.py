"""Bringing the torso to where it should be at given times, and how far it is brought at most."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from choreograph.base import quat
from choreograph.base.arrays import Complexes, Floats, Ints
from choreograph.base.floor import FloorTransform
from choreograph.motion.clip import Clip

_TURN_RAD_M = math.radians(90)
"""How fast a torso may be turned to a target for each metre a second that it may be moved."""

_GLIDE_OVER_S = 0.5
"""How long a body must go faster or slower than its steps to be seen to glide; what is shorter is sway."""


class TorsoTarget(Protocol):
    """Anything that says where the torso is to be when, such as a request's body constraint."""

    @property
    def at_s(self) -> float:
        """When, seconds."""

    @property
    def position(self) -> tuple[float, float]:
        """x and z, metres."""

    @property
    def facing(self) -> float | None:
        """Yaw, radians; None for any."""


@dataclass(frozen=True)
class RootTarget:
    """Where the torso is to be on the floor at a time, and where it faces."""

    at_s: float
    position: tuple[float, float]
    """x and z, metres."""
    facing: float | None = None
    """Yaw, radians: 0 looks along +z, pi/2 along +x; None for any."""

    @classmethod
    def of(cls, target: TorsoTarget) -> RootTarget:
        """What any kind of target says about the torso."""
        return cls(target.at_s, target.position, target.facing)


def limit_root_correction(clip: Clip, body: Sequence[RootTarget], most_m_s: float | None) -> tuple[RootTarget, ...]:
    """The targets, those that a motion misses by far moved to where it can be brought no faster than this.

    Args:
        clip: The motion.
        body: Where its torso is to be when, in order of time.
        most_m_s: The fastest that the torso is moved, metres a second; None for any speed.
    """
    if len(body) < 2 or most_m_s is None:
        return tuple(body)
    at, gap, turn = _missing(clip, body)
    place = _held_back(gap, most_m_s * np.diff(at) / clip.fps)
    known = [n for n, target in enumerate(body) if target.facing is not None]
    yaw = turn.copy()
    yaw[known] = _held_back(turn[known].astype(complex), _TURN_RAD_M * most_m_s * np.diff(at[known]) / clip.fps).real
    return tuple(
        replace(
            target,
            position=(target.position[0] - (gap - place)[n].real, target.position[1] - (gap - place)[n].imag),
            facing=None if target.facing is None else target.facing - float(turn[n] - yaw[n]),
        )
        if abs(gap[n] - place[n]) > 1e-9 or abs(turn[n] - yaw[n]) > 1e-9
        else target
        for n, target in enumerate(body)
    )


def _held_back(values: Complexes, steps: Floats) -> Complexes:
    """Values that follow the given ones from the first on, no farther from one to the next than by these steps."""
    out = values.copy()
    for n, most in enumerate(steps, start=1):
        step = values[n] - out[n - 1]
        out[n] = out[n - 1] + step * min(1.0, most / max(abs(step), 1e-12))
    return out


def _missing(clip: Clip, body: Sequence[RootTarget]) -> tuple[Ints, Complexes, Floats]:
    """The frames nearest to targets, and what the torso lacks there in place, x + iz, and in facing.

    Where no facing is wanted, it lacks what lies between its neighbours' that have one.
    """
    at = np.array([min(round(target.at_s * clip.fps), len(clip) - 1) for target in body])
    hips, facing = clip.global_positions()[at, clip.skeleton.hips], clip.facing()[at]
    gap = np.array([complex(*target.position) for target in body]) - (hips[:, 0] + 1j * hips[:, 2])
    known = np.array([target.facing is not None for target in body])
    wanted = np.array([target.facing or 0.0 for target in body])
    turn = np.angle(np.exp(1j * (wanted - facing)))
    return at, gap, np.interp(at, at[known], turn[known]) if known.any() else np.zeros(len(body))


def correction_speed(clip: Clip, body: Sequence[RootTarget]) -> float:
    """The fastest that the torso is brought along the floor where targets are met by `meet_body`, metres a second."""
    if len(body) < 2:
        return 0.0
    at, gap, _ = _missing(clip, body)
    return float((np.abs(np.diff(gap)) / np.maximum(np.diff(at), 1)).max() * clip.fps)


def glide_speed(clip: Clip, raw: Clip, cuts_s: Floats) -> float:
    """The fastest that a finished motion goes faster or slower along the floor than its steps, metres a second.

    What is spread towards targets, smoothed and cleaned adds up, so it is measured on what came of it all: over half a
    second, between cuts, where the steps themselves jump.

    Args:
        clip: The finished motion.
        raw: The same frames as assembled and bent.
        cuts_s: When it cuts from one piece to another, (K,), seconds.
    """
    over, smoothed = round(_GLIDE_OVER_S * clip.fps), round(_GLIDE_OVER_S / 2 * clip.fps)
    went, steps = (
        np.linalg.norm((each[over:] - each[:-over])[:, [0, 2]], axis=1) for each in (clip.root_pos, raw.root_pos)
    )
    glide = np.abs(went - steps) / _GLIDE_OVER_S
    first = np.arange(len(glide))[:, None]
    cuts = np.round(cuts_s * clip.fps)
    clear = ((first + over < cuts - smoothed) | (first > cuts + smoothed)).all(axis=1)
    return float(glide[clear].max(initial=0.0))


def meet_body(clip: Clip, body: Sequence[RootTarget]) -> Clip:
    """The motion with the torso exactly where targets want it, at the frames nearest to their times.

    What is missing at a target is spread evenly over the frames since the one before it; behind the last it stays.
    """
    if not body:
        return clip
    at, gap, turn = _missing(clip, body)
    hips = clip.global_positions()[:, clip.skeleton.hips]
    every = np.arange(len(clip))
    dx, dz, yaw = (np.interp(every, at, column) for column in (gap.real, gap.imag, turn))
    # Turned about the torso, so that turning moves the torso nowhere.
    away = FloorTransform(yaw).apply(clip.root_pos - hips)
    root = hips + away + np.stack([dx, np.zeros(len(clip)), dz], axis=1)
    rot = np.array(clip.local_rot)
    rot[:, 0] = FloorTransform(yaw).turn(rot[:, 0])
    return clip.with_poses(root, quat.make_continuous(rot))
