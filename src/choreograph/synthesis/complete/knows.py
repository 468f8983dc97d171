"""What a model knows of the time between keyframes: held-out motion, completed by it and by a spline."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from choreograph.features.pose_space import PoseSpace, fit_pose_space
from choreograph.synthesis.complete.encode import Array
from choreograph.synthesis.complete.guide import NEAR, Examples, beside, find_guide
from choreograph.synthesis.complete.linear import solve_linear
from choreograph.synthesis.complete.model import Dynamics, fit_dynamics
from choreograph.synthesis.complete.selection import folds_of

APART_S = 1.0
"""Seconds from keyframe to keyframe."""
NO_MORE = 0.9
"""Share of a spline's error from which on a model knows hardly more than a spline does."""
_KEY = 2e-3
_MOST_WINDOWS = 8
_LEAST_WINDOWS = 3


def held_out_share(rows: Sequence[Array], rate_hz: float, dimensions: int, order: int, controls: int) -> float:
    """How far completed motion is from what was recorded, over a cubic spline's error: below 1 it is nearer.

    Windows of clips that were not learned from are completed from keyframes a second apart, in the rows' scaled units.

    Args:
        rows: Of each clip, scaled, (F, k).
        rate_hz: Frames per second.
        dimensions: d.
        order: m.
        controls: dim(u).

    Returns:
        The share; NaN where there is too little to hold out.
    """
    from scipy.interpolate import CubicSpline

    key = max(2, round(APART_S * rate_hz))
    frames, keys = 2 * key + 1, np.array([0, key, 2 * key])
    own_off: list[float] = []
    plain_off: list[float] = []
    for rest, held in folds_of(rows):
        if max(len(part) for part in rest) < order + 2:
            continue
        space = fit_pose_space(np.concatenate(rest), dimensions)
        d = space.dimensions
        known = [space.project(part) for part in rest]
        own, examples = fit_dynamics(known, order, min(controls, d)), Examples.of(known)
        firm = np.tile(np.eye(d) / _KEY, (len(keys), 1))
        windows = [part[first : first + frames] for part in held for first in range(0, len(part) - frames + 1, frames)]
        every = max(1, math.ceil(len(windows) / _MOST_WINDOWS))
        for true in windows[::every]:
            states = space.project(true)
            made = solve_linear(own, frames, np.repeat(keys, d), (states[keys] / _KEY).ravel(), firm)
            plain = CubicSpline(keys, true[keys])(np.arange(frames))
            made = _guided(own, examples, space, made, keys)
            for off, what in ((own_off, space.lift(made)), (plain_off, plain)):
                off.append(float(np.sqrt(((what - true)[:, :-3] ** 2).sum(axis=1)).mean()))
    return float(np.sum(own_off) / max(np.sum(plain_off), 1e-12)) if len(own_off) >= _LEAST_WINDOWS else math.nan


def _guided(own: Dynamics, examples: Examples, space: PoseSpace, states: Array, keys: NDArray[np.int64]) -> Array:
    """Completed states (F, d) near the recorded motion that is nearest to them; they have the keyframes' poses."""
    frames, d = states.shape
    keyed = np.isin(np.arange(frames), keys)
    guide = find_guide(examples, space, states, keyed)
    loose = 1 / (NEAR * np.sqrt(space.variances))
    firm = np.where(keyed[:, None], 1 / _KEY, loose)
    values = np.where(keyed[:, None], states - guide, 0.0) * firm
    slopes = (firm[:, :, None] * np.eye(d)).reshape(-1, d)
    return guide + solve_linear(beside(own), frames, np.repeat(np.arange(frames), d), values.ravel(), slopes)
