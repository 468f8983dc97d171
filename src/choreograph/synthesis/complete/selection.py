"""Which order, control and mixture suit a motion: by the likelihood of what was not learned from."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from choreograph.synthesis.complete.encode import Array
from choreograph.synthesis.complete.settings import LearnSettings

_ORDERS = (2, 3)
_COMPONENTS = (1, 2, 4)
_FOLDS = 3
_GAIN = 0.02
"""Share of a coordinate's log-likelihood that a larger model must gain to be taken."""


def choose(states: Sequence[Array], settings: LearnSettings) -> tuple[int, int, int]:
    """Order, size of the control and number of components: those given, and the others by cross-validation.

    Args:
        states: Of each clip, (F, d).
        settings: What is given.
    """
    d = states[0].shape[1]
    order, controls, components = settings.order, settings.controls, settings.components
    folds = _folds(states)
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


def _simplest(scores: dict[int, float], d: int) -> int:
    """The smallest size whose score is within reach of the best."""
    best = max(scores.values())
    return min(size for size, score in scores.items() if score >= best - _GAIN * d)


def _folds(states: Sequence[Array]) -> list[tuple[list[Array], list[Array]]]:
    """What is learned from and what is held out: clips, or parts of a single one."""
    parts = list(states) if len(states) >= _FOLDS else [p for own in states for p in np.array_split(own, _FOLDS)]
    out = []
    for n in range(_FOLDS):
        held = [part for k, part in enumerate(parts) if k % _FOLDS == n]
        rest = [part for k, part in enumerate(parts) if k % _FOLDS != n]
        if held and rest:
            out.append((rest, held))
    return out


def _score(folds: list[tuple[list[Array], list[Array]]], order: int, controls: int, components: int) -> float:
    """Mean log-likelihood per held-out frame."""
    from choreograph.synthesis.complete.model import fit_dynamics

    total, frames = 0.0, 0
    for rest, held in folds:
        if max(len(part) for part in rest) < order + 2:
            continue
        own = fit_dynamics(rest, order, controls, components)
        for part in held:
            if len(part) > order:
                scores = own.log_likelihood(part)
                total, frames = total + float(scores.sum()), frames + len(scores)
    return total / frames if frames else -np.inf
