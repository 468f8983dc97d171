"""What a model knows of the time between keyframes: held-out motion, completed by it and by a spline."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from choreograph.base.arrays import Floats
from choreograph.base.progress import Progress, silent
from choreograph.features.pose_space import fit_pose_space
from choreograph.verbs.complete.encode import EncodedMotion, Encoding, row_limits
from choreograph.verbs.complete.model import MotionModel, fit_dynamics
from choreograph.verbs.complete.nearest_recording import RecordedStates
from choreograph.verbs.complete.selection import folds_of

APART_S = 1.0
"""Seconds from keyframe to keyframe; less where clips are too short."""
NO_MORE = 0.9
"""Share of a spline's error from which on a model knows hardly more than a spline does."""
_LEAST_FRAMES = 6
"""From keyframe to keyframe."""
_MOST_WINDOWS, _LEAST_WINDOWS = 4, 3
"""At most in each of the folds, at least in all."""


def held_out_share(
    encoding: Encoding, tracks: Sequence[EncodedMotion], sizes: tuple[int, int, int], heard: Progress = silent
) -> float:
    """How far completed motion is from what was recorded, over a cubic spline's error: below 1 it is nearer.

    Windows of clips that were not learned from are completed from three keyframes each, as requests are.

    Args:
        encoding: Of the tracks.
        tracks: The clips.
        sizes: d, m and dim(u).
        heard: Hears how far the work has come.

    Returns:
        The share; NaN where there is too little to hold out.
    """
    dimensions, order, controls = sizes
    whole = [np.concatenate(track, axis=1) for track in tracks]
    folds = folds_of(whole)
    lengths = sorted(len(part) for _, held in folds for part in held)
    key = min(round(APART_S * encoding.rate_hz), (lengths[len(lengths) // 2] - 1) // 2) if lengths else 0
    if key < max(_LEAST_FRAMES, order):
        return math.nan
    errors: list[tuple[float, float]] = []
    for rest, held in folds:
        if max(len(part) for part in rest) < order + 2:
            continue
        model = _learned(encoding, [part[:, :-3] for part in rest], dimensions, order, controls)
        windows = [part[n : n + 2 * key + 1] for part in held for n in range(0, len(part) - 2 * key, 2 * key + 1)]
        every = max(1, math.ceil(len(windows) / _MOST_WINDOWS))
        for true in windows[::every]:
            heard("trying on motion left out", len(errors), len(folds) * _MOST_WINDOWS)
            errors.append(_completed(model, EncodedMotion(true[:, :-3], true[:, -3:]), key))
    if len(errors) < _LEAST_WINDOWS:
        return math.nan
    own, plain = np.sum(errors, axis=0)
    return float(own / max(plain, 1e-12))


def _learned(encoding: Encoding, rows: list[Floats], dimensions: int, order: int, controls: int) -> MotionModel:
    scaled = [own * encoding.scale for own in rows]
    every = np.concatenate(scaled)
    space = fit_pose_space(every, dimensions)
    states = [space.project(own) for own in scaled]
    own = fit_dynamics(states, order, min(controls, space.dimensions))
    left, limits = (every - space.lift(space.project(every))).var(axis=0), row_limits(np.concatenate(rows))
    return MotionModel(encoding, space, (own,), left_out=left, limits=limits, examples=RecordedStates.of(states))


def _completed(model: MotionModel, true: EncodedMotion, key: int) -> tuple[float, float]:
    """How far joints are off on average, metres: of the completed motion, and of a spline."""
    from choreograph.verbs.complete import start
    from choreograph.verbs.complete.completion import follow_nearest
    from choreograph.verbs.complete.estimate import Estimate
    from choreograph.verbs.complete.exact import between_keys
    from choreograph.verbs.complete.residual_terms import PoseTerm, Terms
    from choreograph.verbs.complete.solver import MapSolver

    at, frames = np.array([0, key, 2 * key]), len(true.rows)
    terms = Terms([], [PoseTerm(int(n), true.rows[n], 1.0, true.place[n]) for n in at])
    solver = MapSolver(model, frames, terms)
    likely = solver.solve(start.straight(model, frames, terms))
    wanted = model.encoding.decode(true).global_positions()

    def off(own: Estimate) -> float:
        rows = model.lifted(own.states)
        track = EncodedMotion(rows + between_keys(true.rows[at] - rows[at], at, frames, own.splined), own.place)
        return float(np.linalg.norm(model.encoding.decode(track).global_positions() - wanted, axis=-1).mean())

    return off(follow_nearest(solver, likely)), off(start.splined(model, frames, terms))
