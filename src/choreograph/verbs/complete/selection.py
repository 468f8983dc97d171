"""Which order, control and mixture suit a motion: by the likelihood of what was not learned from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from choreograph.base.arrays import Floats
from choreograph.features.pose_space import PoseSpace, fit_pose_space
from choreograph.verbs.complete.settings import LearnSettings

if TYPE_CHECKING:
    from choreograph.features.linear_dynamics import LinearDynamics

_ORDERS = (2, 3)
_COMPONENTS = (1, 2, 4)
_FOLDS = 3  # of the recordings, each held out once
_SHARES = (0.95, 0.98, 0.99, 0.995, 0.998, 0.999, 0.9995)
"""Shares of the variance whose pose spaces are tried."""
_NEARLY = 0.02
"""By what share more a smaller pose space may miss held-out motion."""
_KEY = 2e-3  # radians or metres that a key pose may be missed by
_HEAVY = 5.0
"""Degrees of freedom of Student's distribution, under which a step that no body makes, as where a marker was taken for
another, does not decide between models."""
_GAIN = 0.02
"""Share of a coordinate's log-likelihood that a larger model must gain to be taken."""


def choose(states: Sequence[Floats], settings: LearnSettings) -> tuple[int, int, int]:
    """Order, size of the control and number of components: those given, and the others by cross-validation.

    Args:
        states: Of each clip, (F, d).
        settings: What is given.
    """
    d = states[0].shape[1]
    order, controls, components = settings.order, settings.controls, settings.components
    folds = folds_of(states)
    if order is None:
        scores = {m: _score(folds, m, controls or d, 1) for m in _ORDERS}
        order = _simplest(scores, d)
    if controls is None:
        sizes = sorted({d, *(q for q in (4, 8, 16) if q < d)})
        scores = {q: _score(folds, order, q, 1) for q in sizes}
        controls = _simplest(scores, d)
    if not components:
        frames = sum(len(own) for own in states)
        counts = [k for k in _COMPONENTS if k == 1 or frames > 40 * k * min(controls, d)]
        scores = {k: _score(folds, order, controls, k) for k in counts} if len(counts) > 1 else {1: 0.0}
        components = _simplest(scores, d)
    return order, min(controls, d), components


def choose_space(rows: Sequence[Floats], settings: LearnSettings) -> PoseSpace:
    """The pose space of scaled rows (F, k): as large as given, as `variance` needs, or by cross-validation.

    Windows of clips that were not learned from are completed from keyframes a second apart; the size is the smallest
    that comes nearly as close as the best.

    Args:
        rows: Of each clip.
        settings: What is given; 0 dimensions asks for cross-validation.
    """
    every = np.concatenate(rows)
    if settings.dimensions != 0:
        return fit_pose_space(every, settings.dimensions or settings.variance)
    whole = fit_pose_space(every, _SHARES[-1])
    held = 1 - np.cumsum(whole.variances) / whole.total_variance
    sizes = sorted({min(int((held > 1 - share).sum()) + 1, whole.dimensions) for share in _SHARES})
    order = settings.order or _ORDERS[0]
    scores = {size: -_completed_off(folds_of(rows), size, order, settings) for size in sizes}
    best = max(scores.values())
    if not np.isfinite(best):
        return fit_pose_space(every, settings.variance)
    return fit_pose_space(every, min(size for size, score in scores.items() if score >= best * (1 + _NEARLY)))


def _completed_off(
    folds: list[tuple[list[Floats], list[Floats]]], size: int, order: int, settings: LearnSettings
) -> float:
    """How far held-out windows, completed from keyframes, are from what they were; in the rows' scaled units."""
    from choreograph.features.linear_dynamics import solve_linear
    from choreograph.verbs.complete.model import fit_dynamics

    key = max(2, round(settings.rate_hz))
    frames, keys = 2 * key + 1, np.array([0, key, 2 * key])
    errors = []
    for rest, held in folds:
        if max(len(part) for part in rest) < order + 2:
            continue
        space = fit_pose_space(np.concatenate(rest), size)
        d = space.dimensions
        own = fit_dynamics([space.project(part) for part in rest], order, min(settings.controls or d, d))
        firm = np.tile(np.eye(d) / _KEY, (len(keys), 1))
        for part in held:
            for first in range(0, len(part) - frames + 1, frames):
                true = part[first : first + frames]
                states = space.project(true)
                solved = solve_linear(own, frames, np.repeat(keys, d), (states[keys] / _KEY).ravel(), firm)
                errors.append(float(np.sqrt(((space.lift(solved) - true)[:, :-3] ** 2).sum(axis=1)).mean()))
    return float(np.mean(errors)) if errors else np.inf


def _simplest(scores: dict[int, float], d: int) -> int:
    """The smallest size whose score is within reach of the best."""
    best = max(scores.values())
    return min(size for size, score in scores.items() if score >= best - _GAIN * d)


def folds_of(states: Sequence[Floats]) -> list[tuple[list[Floats], list[Floats]]]:
    """What is learned from and what is held out: clips, or parts of a single one."""
    parts = list(states) if len(states) >= _FOLDS else [p for own in states for p in np.array_split(own, _FOLDS)]
    out = []
    for n in range(_FOLDS):
        held = [part for k, part in enumerate(parts) if k % _FOLDS == n]
        rest = [part for k, part in enumerate(parts) if k % _FOLDS != n]
        if held and rest:
            out.append((rest, held))
    return out


def _heavy_likelihood(own: LinearDynamics, states: Floats) -> Floats:
    """ln p of each frame's residual under Student's distribution, but for what is the same for all models, (F - m,)."""
    means, covariances = own.innovations()
    rest, parts = own.residuals(states), []
    d = rest.shape[1]
    for weight, mean, covariance in zip(own.weights, means, covariances, strict=True):
        factor = np.linalg.cholesky(covariance)
        away = (np.linalg.solve(factor, (rest - mean).T) ** 2).sum(axis=0)
        tail = 0.5 * (_HEAVY + d) * np.log1p(away / _HEAVY)
        parts.append(np.log(max(weight, 1e-300)) - np.log(np.diag(factor)).sum() - tail)
    return np.asarray(np.logaddexp.reduce(parts, axis=0))


def _score(folds: list[tuple[list[Floats], list[Floats]]], order: int, controls: int, components: int) -> float:
    """Mean log-likelihood per held-out frame."""
    from choreograph.verbs.complete.model import fit_dynamics

    total, frames = 0.0, 0
    for rest, held in folds:
        if max(len(part) for part in rest) < order + 2:
            continue
        own = fit_dynamics(rest, order, controls, components)
        for part in held:
            if len(part) > order:
                scores = _heavy_likelihood(own, part)
                total, frames = total + float(scores.sum()), frames + len(scores)
    return total / frames if frames else -np.inf
