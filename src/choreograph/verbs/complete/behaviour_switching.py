"""One model after another: which behaviour holds when, as asked by label or as is most likely."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from choreograph.base.arrays import Floats, Ints
from choreograph.base.errors import RequestError
from choreograph.goals.model import LabelGoal
from choreograph.motion.clip import Clip
from choreograph.motion.labels import matches_label, say_labels
from choreograph.verbs.complete import start
from choreograph.verbs.complete.model import MotionModel
from choreograph.verbs.complete.residual_terms import Terms
from choreograph.verbs.complete.settings import LearnSettings
from choreograph.verbs.complete.solver import MapSolver, SolverSettings

_SWITCH = 30.0
"""What a change of behaviour costs, in ln p: less, and they change to and fro."""
_ROUNDS = 4  # of solving and changing behaviours, for each start


def labelled_states(
    clips: Sequence[Clip], states: Sequence[Floats], settings: LearnSettings
) -> list[tuple[str, list[Floats]]]:
    """The states of each behaviour: stretches with the labels that are to be told apart, or all as one."""
    if not settings.behaviours:
        return [("", list(states))]
    groups = []
    for name in settings.behaviours:
        parts = []
        for clip, own in zip(clips, states, strict=True):
            ratio = settings.rate_hz / clip.fps
            for label in clip.labels:
                if matches_label(name, label.text):
                    parts.append(own[round(label.start * ratio) : max(round(label.stop * ratio), 1)])
            if matches_label(name, clip.name) and not any(matches_label(name, la.text) for la in clip.labels):
                parts.append(own)
        parts = [part for part in parts if len(part) > (settings.order or 3) + 1]
        if not parts:
            known = say_labels([label.text for clip in clips for label in clip.labels])
            raise RequestError(f"no clip is labelled {name!r}; there are: {known}", where="behaviours")
        groups.append((name, parts))
    return groups


def labelled_behaviours(model: MotionModel, goals: Sequence[LabelGoal], frames: int) -> Ints:
    """Which dynamics hold at each frame, (F,): as labels ask, and between them the nearest one's."""
    names, rate = [own.name for own in model.dynamics], model.encoding.rate_hz
    out, apart = np.zeros(frames, np.int64), np.full(frames, np.inf)
    times = np.arange(frames) / rate
    for goal in goals:
        start, end = goal.span
        away = np.maximum(np.maximum(start - times, times - end), 0.0)
        nearer = away < apart
        out[nearer], apart[nearer] = names.index(goal.label), away[nearer]
    return out


def find_behaviours(model: MotionModel, frames: int, terms: Terms, settings: SolverSettings) -> Ints:
    """The most likely sequence of behaviours: each is tried throughout, then they change where others explain more."""
    best, chosen = np.inf, np.zeros(frames, np.int64)
    begin = start.straight(model, frames, terms)
    for number in range(len(model.dynamics)):
        current = np.full(frames, number, np.int64)
        now = begin
        for turn in range(_ROUNDS):
            solver = MapSolver(model, frames, terms, settings, behaviours=current)
            now = solver.solve(now, warm=turn > 0)
            value = solver.objective(now) + _SWITCH * np.count_nonzero(np.diff(current))
            if value < best - 1e-9:
                best, chosen = value, current
            changed = _likeliest(model, now.states, frames)
            if np.array_equal(changed, current):
                break
            current, now.objective, now.converged = changed, [], False
    return chosen


def _likeliest(model: MotionModel, states: Floats, frames: int) -> Ints:
    """The sequence of dynamics under which states are most likely, by dynamic programming, (F,)."""
    m = model.order
    scores = np.stack([-own.log_likelihood(states) for own in model.dynamics], axis=1)
    cost, back = scores[0].copy(), np.zeros(scores.shape, np.int64)
    for t in range(1, len(scores)):
        cheapest = int(cost.argmin())
        switch = cost[cheapest] + _SWITCH
        stays = cost <= switch
        back[t] = np.where(stays, np.arange(len(cost)), cheapest)
        cost = np.where(stays, cost, switch) + scores[t]
    out = np.zeros(frames, np.int64)
    out[-1] = int(cost.argmin())
    for t in range(len(scores) - 1, 0, -1):
        out[m + t - 1] = back[t, out[m + t]]
    out[:m] = out[m]
    return out
