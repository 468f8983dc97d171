"""Compiled choice of a step that keeps to a line; a module of kernels as `tasks.CompiledTask` calls them."""

from __future__ import annotations

import math

import numpy as np

from choreograph.base.arrays import Floats, Ints
from choreograph.base.compiling import njit
from choreograph.verbs.steer._compiled import keep_best, turned_back, wrap
from choreograph.verbs.steer._compiled_spline import JIT, spline, value2
from choreograph.verbs.steer.costs import Ahead, StepTable
from choreograph.verbs.steer.policy import Worth

DEVIATION, DIRECTION, SLOPE = range(3)
"""Where the task's numbers have the weights of deviation and of direction, and what a metre beyond the bounds costs."""


@njit(inline="always", **JIT)
def _off_line(offset: float, angle: float, numbers: Floats) -> float:
    """What a second costs at an offset and an angle to the line."""
    return numbers[DEVIATION] * (math.sqrt(offset * offset + 0.0025) - 0.05) + numbers[DIRECTION] * abs(angle)


@njit(inline="always", **JIT)
def _stand_at(offset: float, angle: float, curvature: float, numbers: Floats, at: Floats) -> None:
    """What all steps from a state on share, into `at` (6,): offset, angle, curvature, cosine and sine of the angle, and
    what a second there costs."""
    at[0], at[1], at[2], at[3], at[4] = offset, angle, curvature, math.cos(angle), math.sin(angle)
    at[5] = _off_line(offset, angle, numbers)


@njit(inline="always", **JIT)
def _step_on(at: Floats, yaw: float, x: float, z: float, next_: Floats) -> None:
    """Offset and angle to a line of constant curvature after a move, into `next_` (2,)."""
    left, ahead = at[0] + x * at[3] + z * at[4], -x * at[4] + z * at[3]
    angle = at[1] + yaw
    if abs(at[2]) >= 1e-4:
        # Seen from the line's centre, which is a radius to the left of it.
        radius = 1 / at[2]
        side = 1.0 if radius > 0 else -1.0
        across = radius - left
        left = side * (abs(radius) - math.sqrt(across * across + ahead * ahead))
        angle -= side * math.atan2(ahead, side * across)
    next_[0], next_[1] = left, wrap(angle)


@njit(inline="always", **JIT)
def _lay_on(at: Floats, laid: Floats, cos: float, sin: float, move: Floats, next_: Floats) -> None:
    """The same after a step that is laid by yaw, x and z, with the cosine and sine of the yaw, and then leads so."""
    x, z = move[1] * cos + move[2] * sin + laid[1], -move[1] * sin + move[2] * cos + laid[2]
    _step_on(at, laid[0] + move[0], x, z, next_)


@njit(inline="always", **JIT)
def _ended(
    end: int, seconds: float, discount: float, next_: Floats, own: Ahead, table: Floats, numbers: Floats
) -> float:
    """What is known of a step that ends at a cut, an offset and an angle, but for its spline: half of its time there,
    and what follows."""
    beyond = numbers[SLOPE] * max(abs(next_[0]) - table[0, 1], 0.0)
    later = beyond + turned_back(end, next_[1], own.turning)
    return 0.5 * seconds * _off_line(next_[0], next_[1], numbers) + discount * later


@njit(inline="always", **JIT)
def _hold_curvature(curvature: float, worth: Worth, flat: Floats, lows: Floats, weights: Floats) -> None:
    """Splines of offset and angle with the curvature held, into `flat` (K, size); and the least coefficient of each at
    each knot of the offset, into `lows` (K, knots)."""
    rows, columns, depth = int(worth.table[0, 2]), int(worth.table[1, 2]), int(worth.table[2, 2])
    first = spline(curvature, worth.table[2], weights)
    for n in range(len(worth.splines)):
        own = worth.splines[n]
        for k in range(rows * columns):
            at = k * depth + first
            flat[n, k] = (
                weights[0] * own[at] + weights[1] * own[at + 1] + weights[2] * own[at + 2] + weights[3] * own[at + 3]
            )
            lows[n, k // columns] = min(lows[n, k // columns], flat[n, k])


@njit(inline="always", **JIT)
def _least_about(offset: float, reach: float, row: Floats, lows: Floats, rooms: Floats, weights: Floats) -> None:
    """A bound for each spline where one step may lead from an offset, into `rooms` (K,): a spline is nowhere below the
    least of the coefficients that count there.

    Args:
        offset: Of where the step begins.
        reach: How far a step leads at most.
        row: The dimension offset.
        lows: The least coefficient of each spline at each knot of the offset, (K, knots).
        rooms: The bounds.
        weights: Room to work in, (4,).
    """
    first, last = spline(offset - reach, row, weights), spline(offset + reach, row, weights) + 4
    for n in range(len(lows)):
        least = lows[n, first]
        for k in range(first + 1, last):
            least = min(least, lows[n, k])
        rooms[n] = least


@njit(**JIT)
def scores(cut: int, state: Floats, steps: StepTable, own: Ahead, worth: Worth, numbers: Floats, out: Floats) -> None:
    """Add what steps cost against a line, and the value of where they lead, to `out` (S, B)."""
    table, kinds = worth.table, len(worth.splines)
    next_, wa, wb, here = np.empty(2), np.empty(4), np.empty(4), np.empty(6)
    flat = np.empty((kinds, int(table[0, 2] * table[1, 2])))
    _hold_curvature(state[2], worth, flat, np.empty((kinds, int(table[0, 2]))), wa)
    _stand_at(state[0], state[1], state[2], numbers, here)
    for t in range(steps.ranges[steps.foot[cut]], steps.ranges[steps.foot[cut] + 1]):
        laid, end = steps.align[cut, steps.start[t]], steps.stop[t]
        cos, sin = math.cos(laid[0]), math.sin(laid[0])
        for b in range(steps.moves.shape[1]):
            _lay_on(here, laid, cos, sin, steps.moves[t, b], next_)
            out[t, b] += 0.5 * steps.seconds[t] * here[5]
            out[t, b] += _ended(end, steps.seconds[t], steps.discount[t], next_, own, table, numbers)
            out[t, b] += steps.discount[t] * value2(next_[0], next_[1], table, flat[worth.kind[end]], wa, wb)


@njit(**JIT)
def best(
    cut: int, state: Floats, steps: StepTable, own: Ahead, worth: Worth, numbers: Floats, most: int, deep: int
) -> tuple[int, int, float]:
    """The best step against a line, its bend and its score.

    All steps are scored unbent, as `base_scores` and `scores` do together, and only the best of them bent: a bend makes
    no bad step the best one. The best of these are weighed again, by their best next step. What costs more than the
    best ones already without its spline is passed over.

    Args:
        cut: The cut that the character is at.
        state: Offset, angle and curvature.
        steps: What steps are, and cost by themselves.
        own: What is known of what follows.
        worth: What ends are worth.
        numbers: Of the task.
        most: Steps that are tried bent.
        deep: Steps that are weighed by their best next step.
    """
    table, kind, kinds = worth.table, worth.kind, len(worth.splines)
    start, stop, seconds, discount, bend = steps.start, steps.stop, steps.seconds, steps.discount, steps.bend
    next_, then, wa, wb = np.empty(2), np.empty(2), np.empty(4), np.empty(4)
    flat, lows = np.empty((kinds, int(table[0, 2] * table[1, 2]))), np.full((kinds, int(table[0, 2])), np.inf)
    _hold_curvature(state[2], worth, flat, lows, wa)
    low, high = steps.ranges[steps.foot[cut]], steps.ranges[steps.foot[cut] + 1]
    here, there, least = np.empty(6), np.empty(6), np.empty(kinds)
    _stand_at(state[0], state[1], state[2], numbers, here)
    _least_about(state[0], steps.reach, table[0], lows, least, wa)
    tried = min(most, high - low)
    if tried == 0:
        return -1, 0, np.inf
    found, which, bends = np.full(tried, np.inf), np.full(tried, -1), np.zeros(tried, np.int64)
    for t in range(low, high):  # the best unbent ones, best first
        end = stop[t]
        known = steps.price[cut, start[t]] + own.goal[t] + 0.5 * seconds[t] * here[5] + discount[t] * own.cuts[end]
        if known + discount[t] * least[kind[end]] >= found[tried - 1]:
            continue
        laid = steps.align[cut, start[t]]
        _lay_on(here, laid, math.cos(laid[0]), math.sin(laid[0]), steps.moves[t, 0], next_)
        known += _ended(end, seconds[t], discount[t], next_, own, table, numbers)
        if known + discount[t] * least[kind[end]] >= found[tried - 1]:
            continue
        known += bend[0] + discount[t] * value2(next_[0], next_[1], table, flat[kind[end]], wa, wb)
        keep_best(known, t, found, which)
    for k in range(tried):
        t = which[k]
        if t < 0:
            break
        end, laid = stop[t], steps.align[cut, start[t]]
        known = steps.price[cut, start[t]] + own.goal[t] + 0.5 * seconds[t] * here[5] + discount[t] * own.cuts[end]
        cos, sin = math.cos(laid[0]), math.sin(laid[0])
        for b in range(1, len(bend)):
            _lay_on(here, laid, cos, sin, steps.moves[t, b], next_)
            score = known + bend[b] + _ended(end, seconds[t], discount[t], next_, own, table, numbers)
            if score + discount[t] * least[kind[end]] >= found[k]:
                continue
            score += discount[t] * value2(next_[0], next_[1], table, flat[kind[end]], wa, wb)
            if score < found[k]:
                found[k], bends[k] = score, b
    if deep < 2:
        k = int(found.argmin())
        return which[k], bends[k], found[k]
    best_score, best_step, best_bend = np.inf, -1, 0
    for _ in range(min(deep, tried)):
        k = int(found.argmin())
        t, b = which[k], bends[k]
        if t < 0 or found[k] == np.inf:
            break
        found[k] = np.inf
        end, laid = stop[t], steps.align[cut, start[t]]
        _lay_on(here, laid, math.cos(laid[0]), math.sin(laid[0]), steps.moves[t, b], next_)
        _stand_at(next_[0], next_[1], state[2], numbers, there)
        _least_about(next_[0], steps.reach, table[0], lows, least, wa)
        cost = steps.price[cut, start[t]] + own.goal[t] + bend[b] + 0.5 * seconds[t] * (here[5] + there[5])
        # The next step has to cost less than this to make this one the best.
        limit = (best_score - cost) / discount[t]
        for m in range(steps.near.shape[1]):
            n = steps.near[end, m]
            if n < 0:
                break
            last, move = stop[n], steps.near_moves[end, m]
            known = steps.price[end, start[n]] + own.goal[n] + bend[0] + 0.5 * seconds[n] * there[5]
            known += discount[n] * own.cuts[last]
            if known + discount[n] * least[kind[last]] >= limit:
                continue
            _step_on(there, move[0], move[1], move[2], then)
            known += _ended(last, seconds[n], discount[n], then, own, table, numbers)
            if known + discount[n] * least[kind[last]] >= limit:
                continue
            later = known + discount[n] * value2(then[0], then[1], table, flat[kind[last]], wa, wb)
            if later < limit:
                limit = later
                best_score, best_step, best_bend = cost + discount[t] * later, t, b
    return best_step, best_bend, best_score


@njit(**JIT)
def choices(
    cuts: Ints, states: Floats, steps: StepTable, own: Ahead, worth: Worth, numbers: Floats, most: int,
    found: Ints, spent: Floats, after: Floats,
) -> None:  # fmt: skip
    """The best step of each of M samples (see `best`), what it costs and the state it leads to; the last three are
    written, (M,), (M,) and (M, 3)."""
    here, there = np.empty(6), np.empty(2)
    for n in range(len(cuts)):
        cut = cuts[n]
        t, b, _ = best(cut, states[n], steps, own, worth, numbers, most, 1)
        _stand_at(states[n, 0], states[n, 1], states[n, 2], numbers, here)
        laid = steps.align[cut, steps.start[t]]
        _lay_on(here, laid, math.cos(laid[0]), math.sin(laid[0]), steps.moves[t, b], there)
        found[n], after[n, 0], after[n, 1], after[n, 2] = t, there[0], there[1], states[n, 2]
        spent[n] = steps.price[cut, steps.start[t]] + own.goal[t] + steps.bend[b]
        spent[n] += 0.5 * steps.seconds[t] * (here[5] + _off_line(there[0], there[1], numbers))
