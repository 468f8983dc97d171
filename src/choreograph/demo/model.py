"""The fitted model: what the body does at a gait phase, speed and turning rate, and in a jump.

A pose is a row of `CHANNELS` numbers: the hips' offset (metres) from a point that glides along the floor, seen from
the direction of travel (x left, y up, z ahead), then a rotation vector (radians) for every joint about the mean pose,
the hips' one against the direction of travel. Rows can be added, scaled and blended; `as_rotations` makes a pose of
them. The coefficients in `model.npz` were fitted by `tools/fit_demo_model.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from choreograph.base import quat
from choreograph.base.arrays import Floats
from choreograph.demo.body import demo_skeleton

HARMONICS = 6
"""Order of the Fourier series over gait phase: enough for the quick roll of the foot."""
LOW_HARMONICS = 1
"""Order at which left and right may differ."""
JOINTS = 22  # of the demo's skeleton
CHANNELS = 3 + 3 * JOINTS  # of a pose row: the hips' offset, a rotation vector for each joint
JUMP_PIECES = 22
"""Polynomial pieces of a jump's splines."""

# Speeds (metres a second) that the recordings cover; the middle and half-width that speeds are scaled by.
RANGES = {"walk": (0.7, 1.8), "run": (2.0, 4.1)}
TURN_LIMIT = 2.0
"""Turning rate in radians a second up to which the recordings bend; beyond it the pose stays as it is there."""


def _terms(gait: str, speed: Floats, turn: Floats, accel: Floats) -> Floats:
    """Polynomial terms in speed, turning rate and acceleration, (F, 7)."""
    low, high = RANGES[gait]
    pace = (speed - (low + high) / 2) / ((high - low) / 2)
    return np.stack([np.ones_like(pace), pace, pace**2, turn, turn * pace, turn**2, accel], axis=1)


def _fourier(phase: Floats, order: int) -> Floats:
    """1, cos, sin, cos 2, sin 2 … of the phase, (F, 2 order + 1)."""
    angles = phase[:, None] * np.arange(1, order + 1)
    waves = np.stack([np.cos(angles), np.sin(angles)], axis=2).reshape(len(phase), -1)
    return np.concatenate([np.ones((len(phase), 1)), waves], axis=1)


def design(gait: str, phase: Floats, speed: Floats, turn: Floats, accel: Floats) -> Floats:
    """Every product of a polynomial term and a Fourier wave, (F, terms * waves): the columns the fit is made on."""
    terms = _terms(gait, speed, turn, accel)
    waves = _fourier(phase, HARMONICS)
    return np.asarray((terms[:, :, None] * waves[:, None, :]).reshape(len(phase), -1))


def jump_knots() -> Floats:
    """Knots of a jump's cubic splines over normalised time."""
    inner = np.linspace(0, 1, JUMP_PIECES + 1)[1:-1]
    return np.concatenate([np.zeros(4), inner, np.ones(4)])


def mirror_channels(channels: Floats) -> Floats:
    """Rows (F, CHANNELS) with left and right exchanged."""
    pairs = demo_skeleton().mirror_pairs
    out = np.array(channels, float)
    out[:, 0] = -channels[:, 0]
    vectors = channels[:, 3:].reshape(-1, JOINTS, 3)[:, pairs] * np.array([1.0, -1.0, -1.0])
    out[:, 3:] = vectors.reshape(len(channels), -1)
    return out


def mirror_pose(rotations: Floats) -> Floats:
    """Rotations (J, 4) of one pose with left and right exchanged."""
    return np.asarray(rotations[demo_skeleton().mirror_pairs] * np.array([1.0, 1.0, -1.0, -1.0]))


@dataclass(frozen=True, eq=False)
class Gait:
    """One gait, walk or run: poses over phase, cadence and contact phases, by speed."""

    name: str
    series: Floats
    """Fourier coefficients of every polynomial term, (terms, waves, CHANNELS)."""
    skew: Floats
    """What is not symmetric in this person, (low waves, CHANNELS)."""
    cadence: Floats
    """Strides per second as a polynomial in speed, constant first."""
    contacts: Floats
    """Phase in cycles of the left heel's strike, foot flat, heel off, toe off: constant and slope by speed, (4, 2)."""

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Floats], name: str) -> Gait:
        """The gait of this name among fitted arrays."""
        return cls(name, *(np.asarray(arrays[f"{name}_{part}"], float) for part in _GAIT_PARTS))

    def channels(self, phase: Floats, speed: ArrayLike, turn: ArrayLike, accel: ArrayLike) -> Floats:
        """Pose rows (F, CHANNELS) at phases (F,) radians, speeds m/s, turning rates rad/s and accelerations m/s²."""
        speed = np.clip(speed, *RANGES[self.name]) + 0 * phase
        turn = _soft_limit(np.asarray(turn, float), TURN_LIMIT) + 0 * phase
        accel = _soft_limit(np.asarray(accel, float), 1.5) + 0 * phase
        rows = design(self.name, phase, speed, turn, accel) @ self.series.reshape(-1, CHANNELS)
        return np.asarray(rows + _fourier(phase, LOW_HARMONICS) @ self.skew)

    def strides_per_second(self, speed: ArrayLike) -> Floats:
        """Cadence at a speed, held at the ends of the recorded range."""
        return np.asarray(np.polynomial.polynomial.polyval(np.clip(speed, *RANGES[self.name]), self.cadence))

    def contact_phases(self, speed: ArrayLike) -> Floats:
        """Heel strike, foot flat, heel off, toe off of the left foot in cycles, (F, 4); the right's are half later."""
        pace = np.clip(speed, *RANGES[self.name])
        return np.asarray(self.contacts[:, 0] + pace[..., None] * self.contacts[:, 1])


_GAIT_PARTS = ("series", "skew", "cadence", "contacts")


def _soft_limit(values: Floats, limit: float) -> Floats:
    """Values that flatten out towards ±limit, smoothly."""
    return np.asarray(limit * np.tanh(values / limit))


@dataclass(frozen=True, eq=False)
class Jump:
    """One kind of jump: poses over normalised time."""

    coefficients: Floats
    """B-spline coefficients, (pieces + 3, CHANNELS)."""
    times: Floats
    """Seconds of start, deepest crouch, take-off, landing, deepest bend, end; (6,)."""

    def channels(self, share: Floats) -> Floats:
        """Pose rows (F, CHANNELS) at shares (F,) of the jump's duration."""
        from scipy.interpolate import BSpline

        return np.asarray(BSpline(jump_knots(), self.coefficients, 3)(np.clip(share, 0.0, 1.0)))


@dataclass(frozen=True, eq=False)
class Model:
    """Everything that was fitted."""

    mean_pose: Floats
    """Rotations that the rotation vectors are about, (J, 4)."""
    stand: Floats
    """Pose row of standing, (CHANNELS,)."""
    walk: Gait
    run: Gait
    jumps: Mapping[str, Jump]

    def as_rotations(self, channels: Floats) -> Floats:
        """Local rotations (F, J, 4) of pose rows; the hips' against the direction of travel."""
        vectors = channels[:, 3:].reshape(-1, JOINTS, 3)
        return quat.multiply(self.mean_pose, quat.from_rotvec(vectors))


@cache
def load_model() -> Model:
    """The model that ships with the package."""
    with np.load(Path(__file__).parent / "model.npz") as file:
        arrays = {name: np.asarray(file[name], float) for name in file.files}
    kinds = ("place", "high", "forward")
    return Model(
        mean_pose=quat.normalise(arrays["mean_pose"]),
        stand=arrays["stand"],
        walk=Gait.from_arrays(arrays, "walk"),
        run=Gait.from_arrays(arrays, "run"),
        jumps={kind: Jump(arrays[f"jump_{kind}"], arrays[f"jump_{kind}_times"]) for kind in kinds},
    )
