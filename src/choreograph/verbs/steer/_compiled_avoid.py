"""Compiled choice of a step that keeps clear of what moves; a module of kernels as `tasks.CompiledTask` calls them."""

from __future__ import annotations

import math

import numpy as np

from choreograph.base.arrays import Floats, Ints
from choreograph.base.compiling import njit
from choreograph.verbs.steer._compiled import compose, keep_best
from choreograph.verbs.steer._compiled_spline import JIT, value4
from choreograph.verbs.steer.costs import Ahead, StepTable
from choreograph.verbs.steer.policy import Worth

WEIGHT, RADIUS, MARGIN, TURNING, PARTS, PACE = range(6)
"""Where the task's numbers have the weight of an obstacle, its radius, the margin about it, the weight of turning, at
how many moments of a step distances are taken, and how fast a character that goes on walks."""


@njit(inline="always", **JIT)
def _too_near(distance: float, radius: float, margin: float) -> float:
    """How much nearer than a margin about an obstacle one is, squared: 1 at its rim, little more within it."""
    short = min(1 - (distance - radius) / margin, 1.3)
    return short * short if short > 0 else 0.0


@njit(inline="always", **JIT)
def _see(state: Floats, pace: float, seen: Floats) -> None:
    """Place and velocity of the obstacle of a state, into `seen` (4,); `Avoid.seen`."""
    cos, sin = math.cos(state[2]), math.sin(state[2])
    seen[0], seen[1] = state[1] * sin + state[0] * cos, state[1] * cos - state[0] * sin
    seen[2], seen[3] = -state[3] * sin, pace - state[3] * cos


@njit(inline="always", **JIT)
def _meet(seen: Floats, pace: float, state: Floats) -> None:
    """The state of an obstacle that is seen so, into `state` (4,); `Avoid.met`."""
    x, z, u, v = seen[0], seen[1], -seen[2], pace - seen[3]
    speed = math.sqrt(u * u + v * v)
    cos, sin = (v / speed, u / speed) if speed > 0 else (1.0, 0.0)
    state[0], state[1], state[2], state[3] = x * cos - z * sin, x * sin + z * cos, math.atan2(u, v), speed


@njit(inline="always", **JIT)
def _pass_by(seen: Floats, move: Floats, seconds: float, numbers: Floats, next_: Floats) -> float:
    """What one step costs against an obstacle at a place and velocity; where it is seen then goes into `next_` (4,)."""
    parts = int(numbers[PARTS])
    near, x, z = 0.0, 0.0, 0.0
    for k in range(1, parts + 1):
        s = k / parts
        x = seen[0] + s * (seen[2] * seconds - move[1])
        z = seen[1] + s * (seen[3] * seconds - move[2])
        near += _too_near(math.sqrt(x * x + z * z), numbers[RADIUS], numbers[MARGIN])
    cos, sin = math.cos(move[0]), math.sin(move[0])
    next_[0], next_[1] = x * cos - z * sin, x * sin + z * cos
    next_[2], next_[3] = seen[2] * cos - seen[3] * sin, seen[2] * sin + seen[3] * cos
    return numbers[WEIGHT] * seconds * near / parts + numbers[TURNING] * abs(move[0])


@njit(inline="always", **JIT)
def _score(
    t: int, b: int, cut: int, seen: Floats, steps: StepTable, worth: Worth, numbers: Floats, room: Floats, at: Ints
) -> float:
    """What a step costs against an obstacle at a place and velocity, with the value of where it leads; the last two,
    (8, 4) and (4, 4), are room to work in."""
    table, move, next_ = worth.table, room[4], room[5]
    compose(steps.align[cut, steps.start[t]], steps.moves[t, b], move)
    cost = _pass_by(seen, move, steps.seconds[t], numbers, room[6])
    _meet(room[6], numbers[PACE], next_)
    if table[0, 0] <= next_[0] <= table[0, 1] and table[1, 0] <= next_[1] <= table[1, 1]:
        cost += steps.discount[t] * value4(next_, table, worth.splines[worth.kind[steps.stop[t]]], room, at)
    return cost


@njit(**JIT)
def scores(cut: int, state: Floats, steps: StepTable, own: Ahead, worth: Worth, numbers: Floats, out: Floats) -> None:
    """Add what steps cost against an obstacle, and the value of where they lead, to `out` (S, B)."""
    room, at = np.empty((8, 4)), np.empty((4, 4), np.int64)
    _see(state, numbers[PACE], room[7])
    for t in range(steps.ranges[steps.foot[cut]], steps.ranges[steps.foot[cut] + 1]):
        for b in range(steps.moves.shape[1]):
            out[t, b] += _score(t, b, cut, room[7], steps, worth, numbers, room, at)


@njit(**JIT)
def best(
    cut: int, state: Floats, steps: StepTable, own: Ahead, worth: Worth, numbers: Floats, most: int, deep: int
) -> tuple[int, int, float]:
    """The best step where nothing but an obstacle counts, its bend and its score: of all unbent ones, and of the best
    of these bent.

    Args:
        cut: The cut that the character is at.
        state: Of the task.
        steps: What steps are, and cost by themselves.
        own: What is known of what follows.
        worth: What ends are worth.
        numbers: Of the task.
        most: Steps that are tried bent.
        deep: No step is weighed by its next.
    """
    room, at = np.empty((8, 4)), np.empty((4, 4), np.int64)
    _see(state, numbers[PACE], room[7])
    low, high = steps.ranges[steps.foot[cut]], steps.ranges[steps.foot[cut] + 1]
    tried = min(most, high - low)
    if tried == 0:
        return -1, 0, np.inf
    found, which = np.full(tried, np.inf), np.full(tried, -1)
    for t in range(low, high):
        known = steps.price[cut, steps.start[t]] + own.goal[t] + steps.discount[t] * own.cuts[steps.stop[t]]
        keep_best(known + steps.bend[0] + _score(t, 0, cut, room[7], steps, worth, numbers, room, at), t, found, which)
    best_score, best_step, best_bend = found[0], which[0], 0
    for t in which:
        if t < 0:
            break
        known = steps.price[cut, steps.start[t]] + own.goal[t] + steps.discount[t] * own.cuts[steps.stop[t]]
        for b in range(1, len(steps.bend)):
            score = known + steps.bend[b] + _score(t, b, cut, room[7], steps, worth, numbers, room, at)
            if score < best_score:
                best_score, best_step, best_bend = score, t, b
    return best_step, best_bend, best_score


@njit(**JIT)
def choices(
    cuts: Ints, states: Floats, steps: StepTable, own: Ahead, worth: Worth, numbers: Floats, most: int,
    found: Ints, spent: Floats, after: Floats,
) -> None:  # fmt: skip
    """The best step of each of M samples (see `best`), what it costs and the state it leads to; the last three are
    written, (M,), (M,) and (M, 4)."""
    move, seen, then = np.empty(3), np.empty(4), np.empty(4)
    for n in range(len(cuts)):
        cut = cuts[n]
        t, b, _ = best(cut, states[n], steps, own, worth, numbers, most, 1)
        compose(steps.align[cut, steps.start[t]], steps.moves[t, b], move)
        found[n] = t
        spent[n] = steps.price[cut, steps.start[t]] + own.goal[t] + steps.bend[b]
        _see(states[n], numbers[PACE], seen)
        spent[n] += _pass_by(seen, move, steps.seconds[t], numbers, then)
        _meet(then, numbers[PACE], after[n])
