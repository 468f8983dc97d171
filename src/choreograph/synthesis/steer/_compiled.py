"""Compiled kernels of steering: splines, and what every next step would cost. Each has a plain twin in the tests."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

_JIT: dict[str, Any] = {"cache": True, "nogil": True, "fastmath": {"contract", "nsz", "arcp"}, "error_model": "numpy"}


@njit(inline="always", **_JIT)
def _spline(value: float, row: Array, weights: Array) -> int:
    """The four cubic B-splines at a value, into `weights` (4,); the number of the first of them."""
    low, high, count, periodic, warp = row[0], row[1], int(row[2]), row[3] > 0, row[4]
    if periodic:
        t = (value - low) / (high - low)
        if warp > 0:
            t -= warp / (2 * math.pi) * math.sin(2 * math.pi * t)
        t = (t - math.floor(t)) * count
        first = min(int(t), count - 1)
    else:
        v = min(max(value, low), high)
        if warp > 0:
            # asinh by its logarithm: half the time, and no less exact within bounds.
            x = (v - 0.5 * (low + high)) / warp
            far = math.log(abs(x) + math.sqrt(x * x + 1))
            t = 0.5 + row[5] * (far if x >= 0 else -far)
        else:
            t = (v - low) / (high - low)
        t *= count - 3
        first = min(int(t), count - 4)
    s = t - first
    r = 1 - s
    weights[0] = r * r * r / 6
    weights[1] = (3 * s * s * s - 6 * s * s + 4) / 6
    weights[2] = (3 * r * r * r - 6 * r * r + 4) / 6
    weights[3] = s * s * s / 6
    return first


@njit(**_JIT)
def basis_at(state: Array, table: Array) -> tuple[Indices, Array]:
    """Which basis functions are not zero at states (N, D), and their values, both (N, 4^D).

    Args:
        state: (N, D).
        table: What describes each dimension, (D, 6), see `Basis.table`.
    """
    count, dims = state.shape
    terms = 4**dims
    index, value = np.zeros((count, terms), np.int64), np.ones((count, terms))
    weights = np.empty(4)
    for n in range(count):
        for d in range(dims):
            size = int(table[d, 2])
            first = _spline(state[n, d], table[d], weights)
            stride = 4 ** (dims - 1 - d)
            for k in range(terms):
                at = (k // stride) % 4
                place = first + at
                if place >= size:
                    place -= size
                index[n, k] = index[n, k] * size + place
                value[n, k] *= weights[at]
    return index, value


@njit(inline="always", **_JIT)
def _value2(a: float, b: float, table: Array, coefficients: Array, wa: Array, wb: Array) -> float:
    """A function of two dimensions; beyond the bounds of the first it goes on as steeply as the task says elsewhere."""
    size_a, size_b = int(table[0, 2]), int(table[1, 2])
    first_a, first_b = _spline(a, table[0], wa), _spline(b, table[1], wb)
    total = 0.0
    for i in range(4):
        row = first_a + i
        if row >= size_a:
            row -= size_a
        part = 0.0
        base = row * size_b
        for k in range(4):
            column = first_b + k
            if column >= size_b:
                column -= size_b
            part += wb[k] * coefficients[base + column]
        total += wa[i] * part
    return total


@njit(inline="always", **_JIT)
def _value4(s: Array, table: Array, coefficients: Array, w: Array, at: Indices) -> float:
    """A function of four dimensions; `w` (4, 4) and `at` (4, 4) are room to work in."""
    for d in range(4):
        first, size = _spline(s[d], table[d], w[d]), int(table[d, 2])
        for k in range(4):
            at[d, k] = first + k if first + k < size else first + k - size
    n1, n2, n3 = int(table[1, 2]), int(table[2, 2]), int(table[3, 2])
    total = 0.0
    for i in range(4):
        for j in range(4):
            base = (at[0, i] * n1 + at[1, j]) * n2
            two = 0.0
            for k in range(4):
                row = (base + at[2, k]) * n3
                one = 0.0
                for m in range(4):
                    one += w[3, m] * coefficients[row + at[3, m]]
                two += w[2, k] * one
            total += w[0, i] * w[1, j] * two
    return total


@njit(inline="always", **_JIT)
def _compose(a: Array, b: Array, out: Array) -> None:
    """The floor transform that does b first, then a; each as yaw, x, z."""
    cos, sin = math.cos(a[0]), math.sin(a[0])
    out[0] = a[0] + b[0]
    x = b[1] * cos + b[2] * sin + a[1]
    out[2] = -b[1] * sin + b[2] * cos + a[2]
    out[1] = x


@njit(inline="always", **_JIT)
def _wrap(angle: float) -> float:
    return angle - 2 * math.pi * math.floor(angle / (2 * math.pi) + 0.5)


@njit(inline="always", **_JIT)
def _along(offset: float, angle: float, curvature: float, x: float, z: float, yaw: float, out: Array) -> None:
    """Offset and angle to a line of constant curvature after a move, into `out` (2,).

    Args:
        offset: To the left of the line, metres.
        angle: Of the heading against the line's, radians.
        curvature: Of the line, 1/m, to the left.
        x: Of the move, to the left, metres.
        z: Ahead, metres.
        yaw: By how much the heading turns.
        out: Offset and angle.
    """
    cos, sin = math.cos(angle), math.sin(angle)
    left = offset + x * cos + z * sin
    ahead = -x * sin + z * cos
    if abs(curvature) < 1e-4:
        out[0], out[1] = left, _wrap(angle + yaw)
        return
    radius = 1 / curvature
    side = 1.0 if radius > 0 else -1.0
    # Seen from the line's centre, which is `radius` to the left of it.
    across, along = radius - left, ahead
    out[0] = side * (abs(radius) - math.hypot(across, along))
    out[1] = _wrap(angle + yaw - side * math.atan2(along, side * across))


@njit(inline="always", **_JIT)
def _off_line(offset: float, angle: float, weights: Array) -> float:
    """What a second costs at an offset and an angle to the line: weights of deviation and of direction."""
    return weights[0] * (math.sqrt(offset * offset + 0.0025) - 0.05) + weights[1] * abs(angle)


@njit(inline="always", **_JIT)
def _turned_back(cut: int, angle: float, turning: Array) -> float:
    """What coming back to the line's direction costs more at a cut; between the angles of the table as a straight line.

    `turning` is (N, A), at angles evenly from -π on; with a single one, turning counts nothing.
    """
    count = turning.shape[1]
    at = (angle + math.pi) * (count / (2 * math.pi))
    whole = math.floor(at)
    share = at - whole
    first = int(whole) % count
    second = first + 1 if first + 1 < count else 0
    return (1 - share) * turning[cut, first] + share * turning[cut, second]


@njit(**_JIT)
def base_scores(
    cut: int, low: int, high: int, start: Indices, stop: Indices, price: Array, goal: Array, discount: Array,
    ahead: Array, bend: Array, out: Array,
) -> None:  # fmt: skip
    """What steps cost whatever the task is: blend, gait and speed, bend, and what follows in these; into `out` (S, B).

    Args:
        cut: The cut that the character is at.
        low: First step that fits.
        high: The one behind the last.
        start: Cut at which each step begins, (S,).
        stop: Cut at which it ends, (S,).
        price: Of the blend from cut to cut, (N, N).
        goal: What each step costs against the wanted gait and speed, (S,).
        discount: Of what follows each step, (S,).
        ahead: What follows from each cut on, (N,).
        bend: Cost of each bend, (B,).
        out: Scores; only rows [low, high) are written.
    """
    for t in range(low, high):
        cost = price[cut, start[t]] + goal[t] + discount[t] * ahead[stop[t]]
        for b in range(len(bend)):
            out[t, b] = cost + bend[b]


@njit(**_JIT)
def navigate_scores(
    cut: int, low: int, high: int, state: Array, start: Indices, stop: Indices, align: Array, moves: Array,
    seconds: Array, discount: Array, turning: Array, weights: Array, table: Array, splines: Array, kind: Indices,
    slope: float, out: Array,
) -> None:  # fmt: skip
    """Add what steps cost against a line, and the value of where they lead, to `out` (S, B).

    Args:
        cut: The cut that the character is at.
        low: First step that fits.
        high: The one behind the last.
        state: Offset, angle and curvature.
        start: Cut at which each step begins, (S,).
        stop: Cut at which it ends, (S,).
        align: How cuts are laid on each other, (N, N, 3).
        moves: Where steps lead, for each bend, (S, B, 3).
        seconds: Of each step, (S,).
        discount: Of what follows each step, (S,).
        turning: What coming back to the line's direction costs from each cut on, (N, A).
        weights: Of deviation and of direction.
        table: Dimensions offset and angle, (2, 6).
        splines: Of the value function with the curvature held, (K, size).
        kind: Which spline each cut has, (N,).
        slope: How much each metre beyond the bounds counts.
        out: Scores.
    """
    whole, next_, wa, wb = np.empty(3), np.empty(2), np.empty(4), np.empty(4)
    here = _off_line(state[0], state[1], weights)
    for t in range(low, high):
        for b in range(moves.shape[1]):
            _compose(align[cut, start[t]], moves[t, b], whole)
            _along(state[0], state[1], state[2], whole[1], whole[2], whole[0], next_)
            cost = 0.5 * seconds[t] * (here + _off_line(next_[0], next_[1], weights))
            value = _value2(next_[0], next_[1], table, splines[kind[stop[t]]], wa, wb)
            beyond = max(abs(next_[0]) - table[0, 1], 0.0)
            value += slope * beyond + _turned_back(stop[t], next_[1], turning)
            out[t, b] += cost + discount[t] * value


@njit(inline="always", **_JIT)
def _stand_at(offset: float, angle: float, curvature: float, weights: Array, at: Array) -> None:
    """What all steps from a state on share, into `at` (6,): offset, angle, curvature, cosine and sine of the angle, and
    what a second there costs."""
    at[0], at[1], at[2], at[3], at[4] = offset, angle, curvature, math.cos(angle), math.sin(angle)
    at[5] = _off_line(offset, angle, weights)


@njit(inline="always", **_JIT)
def _step_on(at: Array, yaw: float, x: float, z: float, next_: Array) -> None:
    """Offset and angle to a line of constant curvature after a move, into `next_` (2,), as `_along` does."""
    left, ahead = at[0] + x * at[3] + z * at[4], -x * at[4] + z * at[3]
    angle = at[1] + yaw
    if abs(at[2]) >= 1e-4:
        radius = 1 / at[2]
        side = 1.0 if radius > 0 else -1.0
        across = radius - left
        left = side * (abs(radius) - math.sqrt(across * across + ahead * ahead))
        angle -= side * math.atan2(ahead, side * across)
    next_[0], next_[1] = left, _wrap(angle)


@njit(inline="always", **_JIT)
def _lay_on(at: Array, laid: Array, cos: float, sin: float, move: Array, next_: Array) -> None:
    """The same after a step that is laid by yaw, x and z, with the cosine and sine of the yaw, and then leads so."""
    x, z = move[1] * cos + move[2] * sin + laid[1], -move[1] * sin + move[2] * cos + laid[2]
    _step_on(at, laid[0] + move[0], x, z, next_)


@njit(inline="always", **_JIT)
def _least_about(
    offset: float, reach: float, row: Array, lows: Array, rooms: Array, weights: Array
) -> None:  # fmt: skip
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
    first, last = _spline(offset - reach, row, weights), _spline(offset + reach, row, weights) + 4
    for n in range(len(lows)):
        least = lows[n, first]
        for k in range(first + 1, last):
            least = min(least, lows[n, k])
        rooms[n] = least


@njit(**_JIT)
def navigate_best(
    cut: int, ranges: Indices, foot: Indices, state: Array, start: Indices, stop: Indices, align: Array, moves: Array,
    seconds: Array, discount: Array, price: Array, goal: Array, ahead: Array, turning: Array, bend: Array,
    weights: Array, table: Array, splines: Array, kind: Indices, slope: float, reach: float, most: int, near: Indices,
    near_moves: Array, deep: int,
) -> tuple[int, int, float]:  # fmt: skip
    """The best step against a line, its bend and its score.

    All steps are scored unbent, as `base_scores` and `navigate_scores` do together, and only the best of them bent: a
    bend makes no bad step the best one. The best of these are weighed again, by their best next step. What costs more
    than the best ones already without its spline is passed over.

    Args:
        cut: The cut that the character is at.
        ranges: First step of each foot, (4,).
        foot: Of each cut, (N,).
        state: Offset, angle and curvature.
        start: Cut at which each step begins, (S,).
        stop: Cut at which it ends, (S,).
        align: How cuts are laid on each other, (N, N, 3).
        moves: Where steps lead, for each bend, (S, B, 3).
        seconds: Of each step, (S,).
        discount: Of what follows each step, (S,).
        price: Of the blend from cut to cut, (N, N).
        goal: What each step costs against the wanted gait and speed, (S,).
        ahead: What follows from each cut on, (N,).
        turning: What coming back to the line's direction costs more from each cut on, (N, A).
        bend: Cost of each bend, (B,); the first is none.
        weights: Of deviation and of direction.
        table: Dimensions offset, angle and curvature, (3, 6).
        splines: Coefficients of the value function, (K, size).
        kind: Which spline each cut has, (N,).
        slope: How much each metre beyond the bounds of the offset counts.
        reach: How far any step leads, at most.
        most: Steps that are tried bent.
        near: Steps that each cut is nearest to, (N, M), -1 behind the last: those that are looked at as next steps.
        near_moves: Where they lead from that cut, unbent, (N, M, 3).
        deep: Steps that are weighed by their best next step.
    """
    next_, then, wa, wb = np.empty(2), np.empty(2), np.empty(4), np.empty(4)
    rows, columns, depth = int(table[0, 2]), int(table[1, 2]), int(table[2, 2])
    first = _spline(state[2], table[2], wa)
    flat, lows = np.empty((len(splines), rows * columns)), np.full((len(splines), rows), np.inf)
    for n in range(len(splines)):
        for k in range(rows * columns):
            at = k * depth + first
            flat[n, k] = (
                wa[0] * splines[n, at] + wa[1] * splines[n, at + 1] + wa[2] * splines[n, at + 2]
                + wa[3] * splines[n, at + 3]
            )  # fmt: skip
            lows[n, k // columns] = min(lows[n, k // columns], flat[n, k])
    low, high = ranges[foot[cut]], ranges[foot[cut] + 1]
    here, there, least = np.empty(6), np.empty(6), np.empty(len(splines))
    _stand_at(state[0], state[1], state[2], weights, here)
    _least_about(state[0], reach, table[0], lows, least, wa)
    tried = min(most, high - low)
    scores, steps, bends = np.full(tried, np.inf), np.full(tried, -1), np.zeros(tried, np.int64)
    for t in range(low, high):  # the best unbent ones, best first
        end = stop[t]
        known = price[cut, start[t]] + goal[t] + 0.5 * seconds[t] * here[5] + discount[t] * ahead[end]
        if known + discount[t] * least[kind[end]] >= scores[tried - 1]:
            continue
        laid = align[cut, start[t]]
        _lay_on(here, laid, math.cos(laid[0]), math.sin(laid[0]), moves[t, 0], next_)
        known += 0.5 * seconds[t] * _off_line(next_[0], next_[1], weights)
        known += discount[t] * (slope * max(abs(next_[0]) - table[0, 1], 0.0) + _turned_back(end, next_[1], turning))
        if known + discount[t] * least[kind[end]] >= scores[tried - 1]:
            continue
        score = known + bend[0] + discount[t] * _value2(next_[0], next_[1], table, flat[kind[end]], wa, wb)
        k = tried - 1
        if score < scores[k]:
            while k > 0 and scores[k - 1] > score:
                scores[k], steps[k] = scores[k - 1], steps[k - 1]
                k -= 1
            scores[k], steps[k] = score, t
    for k in range(tried):
        t = steps[k]
        if t < 0:
            break
        end = stop[t]
        known = price[cut, start[t]] + goal[t] + 0.5 * seconds[t] * here[5] + discount[t] * ahead[end]
        laid = align[cut, start[t]]
        cos, sin = math.cos(laid[0]), math.sin(laid[0])
        for b in range(1, len(bend)):
            _lay_on(here, laid, cos, sin, moves[t, b], next_)
            score = known + bend[b] + 0.5 * seconds[t] * _off_line(next_[0], next_[1], weights)
            score += discount[t] * (
                slope * max(abs(next_[0]) - table[0, 1], 0.0) + _turned_back(end, next_[1], turning)
            )
            if score + discount[t] * least[kind[end]] >= scores[k]:
                continue
            score += discount[t] * _value2(next_[0], next_[1], table, flat[kind[end]], wa, wb)
            if score < scores[k]:
                scores[k], bends[k] = score, b
    if tried == 0:
        return -1, 0, np.inf
    if deep < 2:
        k = int(scores.argmin())
        return steps[k], bends[k], scores[k]
    best, best_step, best_bend = np.inf, -1, 0
    for _ in range(min(deep, tried)):
        k = int(scores.argmin())
        t, b = steps[k], bends[k]
        if t < 0 or scores[k] == np.inf:
            break
        scores[k] = np.inf
        end = stop[t]
        laid = align[cut, start[t]]
        _lay_on(here, laid, math.cos(laid[0]), math.sin(laid[0]), moves[t, b], next_)
        _stand_at(next_[0], next_[1], state[2], weights, there)
        _least_about(next_[0], reach, table[0], lows, least, wa)
        cost = price[cut, start[t]] + goal[t] + bend[b] + 0.5 * seconds[t] * (here[5] + there[5])
        # The next step has to cost less than this to make this one the best.
        limit = (best - cost) / discount[t]
        for m in range(near.shape[1]):
            n = near[end, m]
            if n < 0:
                break
            last = stop[n]
            known = price[end, start[n]] + goal[n] + bend[0] + 0.5 * seconds[n] * there[5] + discount[n] * ahead[last]
            if known + discount[n] * least[kind[last]] >= limit:
                continue
            _step_on(there, near_moves[end, m, 0], near_moves[end, m, 1], near_moves[end, m, 2], then)
            known += 0.5 * seconds[n] * _off_line(then[0], then[1], weights)
            known += discount[n] * (slope * max(abs(then[0]) - table[0, 1], 0.0) + _turned_back(last, then[1], turning))
            if known + discount[n] * least[kind[last]] >= limit:
                continue
            later = known + discount[n] * _value2(then[0], then[1], table, flat[kind[last]], wa, wb)
            if later < limit:
                limit = later
                best, best_step, best_bend = cost + discount[t] * later, t, b
    return best_step, best_bend, best


@njit(**_JIT)
def navigate_choices(
    cuts: Indices, states: Array, ranges: Indices, foot: Indices, start: Indices, stop: Indices, align: Array,
    moves: Array, seconds: Array, discount: Array, price: Array, goal: Array, ahead: Array, turning: Array,
    bend: Array, weights: Array, table: Array, splines: Array, kind: Indices, slope: float, reach: float, most: int,
    near: Indices, near_moves: Array, steps: Indices, spent: Array, after: Array,
) -> None:  # fmt: skip
    """The best step of each of many samples (see `navigate_best`), what it costs and the state it leads to.

    Args:
        cuts: (M,).
        states: (M, 3).
        steps: The steps, (M,); written.
        spent: What each costs by itself, (M,); written.
        after: (M, 3); written.
        others: As in `navigate_best`.
    """
    here, there = np.empty(6), np.empty(2)
    for n in range(len(cuts)):
        cut = cuts[n]
        t, b, _ = navigate_best(
            cut, ranges, foot, states[n], start, stop, align, moves, seconds, discount, price, goal, ahead, turning,
            bend, weights, table, splines, kind, slope, reach, most, near, near_moves, 1,
        )  # fmt: skip
        _stand_at(states[n, 0], states[n, 1], states[n, 2], weights, here)
        laid = align[cut, start[t]]
        _lay_on(here, laid, math.cos(laid[0]), math.sin(laid[0]), moves[t, b], there)
        steps[n], after[n, 0], after[n, 1], after[n, 2] = t, there[0], there[1], states[n, 2]
        spent[n] = price[cut, start[t]] + goal[t] + bend[b]
        spent[n] += 0.5 * seconds[t] * (here[5] + _off_line(there[0], there[1], weights))


@njit(inline="always", **_JIT)
def _too_near(distance: float, radius: float, margin: float) -> float:
    """How much nearer than a margin about an obstacle one is, squared: 1 at its rim, little more within it."""
    short = min(1 - (distance - radius) / margin, 1.3)
    return short * short if short > 0 else 0.0


@njit(inline="always", **_JIT)
def _avoid_one(
    state: Array, whole: Array, seconds: float, discount: float, numbers: Array, table: Array, coefficients: Array,
    next_: Array, w: Array, at: Indices,
) -> float:  # fmt: skip
    """What one step costs against an obstacle, with the value of where it leads; the last three are room to work in."""
    weight, radius, margin, turning, parts = numbers[0], numbers[1], numbers[2], numbers[3], int(numbers[4])
    near, x, z = 0.0, 0.0, 0.0
    for k in range(1, parts + 1):
        s = k / parts
        x = state[0] + s * (state[2] * seconds - whole[1])
        z = state[1] + s * (state[3] * seconds - whole[2])
        near += _too_near(math.sqrt(x * x + z * z), radius, margin)
    cost = weight * seconds * near / parts + turning * abs(whole[0])
    cos, sin = math.cos(whole[0]), math.sin(whole[0])
    next_[0], next_[1] = x * cos - z * sin, x * sin + z * cos
    next_[2], next_[3] = state[2] * cos - state[3] * sin, state[2] * sin + state[3] * cos
    if table[0, 0] <= next_[0] <= table[0, 1] and table[1, 0] <= next_[1] <= table[1, 1]:
        cost += discount * _value4(next_, table, coefficients, w, at)
    return cost


@njit(**_JIT)
def avoid_scores(
    cut: int, low: int, high: int, state: Array, start: Indices, stop: Indices, align: Array, moves: Array,
    seconds: Array, discount: Array, numbers: Array, table: Array, splines: Array, kind: Indices, out: Array,
) -> None:  # fmt: skip
    """Add what steps cost against an obstacle, and the value of where they lead, to `out` (S, B).

    Args:
        cut: The cut that the character is at.
        low: First step that fits.
        high: The one behind the last.
        state: Place of the obstacle to the left and ahead, and its velocity, likewise.
        start: Cut at which each step begins, (S,).
        stop: Cut at which it ends, (S,).
        align: How cuts are laid on each other, (N, N, 3).
        moves: Where steps lead, for each bend, (S, B, 3).
        seconds: Of each step, (S,).
        discount: Of what follows each step, (S,).
        numbers: Weight, radius, margin, weight of turning, and at how many moments of a step distances are taken.
        table: The four dimensions, (4, 6).
        splines: Coefficients of the value function, (K, size).
        kind: Which spline each cut has, (N,).
        out: Scores.
    """
    whole, next_, w, at = np.empty(3), np.empty(4), np.empty((4, 4)), np.empty((4, 4), np.int64)
    for t in range(low, high):
        for b in range(moves.shape[1]):
            _compose(align[cut, start[t]], moves[t, b], whole)
            own = splines[kind[stop[t]]]
            out[t, b] += _avoid_one(state, whole, seconds[t], discount[t], numbers, table, own, next_, w, at)


@njit(**_JIT)
def avoid_best(
    cut: int, low: int, high: int, state: Array, start: Indices, stop: Indices, align: Array, moves: Array,
    seconds: Array, discount: Array, price: Array, goal: Array, ahead: Array, bend: Array, numbers: Array,
    table: Array, splines: Array, kind: Indices, most: int, room: Array,
) -> tuple[int, int, float]:  # fmt: skip
    """The best step where nothing but an obstacle counts, its bend and its score; see `navigate_best`."""
    whole, next_, w, at = np.empty(3), np.empty(4), np.empty((4, 4)), np.empty((4, 4), np.int64)
    best, best_step, best_bend = np.inf, -1, 0
    for t in range(low, high):
        _compose(align[cut, start[t]], moves[t, 0], whole)
        room[t] = price[cut, start[t]] + goal[t] + bend[0] + discount[t] * ahead[stop[t]]
        own = splines[kind[stop[t]]]
        room[t] += _avoid_one(state, whole, seconds[t], discount[t], numbers, table, own, next_, w, at)
        if room[t] < best:
            best, best_step = room[t], t
    for _ in range(min(most, high - low)):
        least, t = np.inf, -1
        for k in range(low, high):
            if room[k] < least:
                least, t = room[k], k
        if t < 0:
            break
        room[t] = np.inf
        for b in range(1, len(bend)):
            _compose(align[cut, start[t]], moves[t, b], whole)
            score = price[cut, start[t]] + goal[t] + bend[b] + discount[t] * ahead[stop[t]]
            own = splines[kind[stop[t]]]
            score += _avoid_one(state, whole, seconds[t], discount[t], numbers, table, own, next_, w, at)
            if score < best:
                best, best_step, best_bend = score, t, b
    return best_step, best_bend, best


@njit(**_JIT)
def avoid_choices(
    cuts: Indices, states: Array, ranges: Indices, foot: Indices, start: Indices, stop: Indices, align: Array,
    moves: Array, seconds: Array, discount: Array, price: Array, goal: Array, ahead: Array, bend: Array,
    numbers: Array, table: Array, splines: Array, kind: Indices, most: int, steps: Indices, spent: Array, after: Array,
) -> None:  # fmt: skip
    """The best step of each of many samples (see `avoid_best`), what it costs and the state it leads to; see
    `navigate_choices`."""
    whole, w, at, room = np.empty(3), np.empty((4, 4)), np.empty((4, 4), np.int64), np.empty(len(start))
    for n in range(len(cuts)):
        cut = cuts[n]
        t, b, _ = avoid_best(
            cut, ranges[foot[cut]], ranges[foot[cut] + 1], states[n], start, stop, align, moves, seconds, discount,
            price, goal, ahead, bend, numbers, table, splines, kind, most, room,
        )  # fmt: skip
        _compose(align[cut, start[t]], moves[t, b], whole)
        cost = _avoid_one(states[n], whole, seconds[t], 0.0, numbers, table, splines[0], after[n], w, at)
        steps[n], spent[n] = t, cost + price[cut, start[t]] + goal[t] + bend[b]


@njit(**_JIT)
def clip_values(
    ranges: Indices, foot: Indices, start: Indices, stop: Indices, price: Array, goal: Array, discount: Array,
    rounds: int,
) -> Array:  # fmt: skip
    """The least that gait, speed and blends will cost from each cut on, (N,), by value iteration.

    Args:
        ranges: First step of each foot, (4,).
        foot: Of each cut, (N,).
        start: Cut at which each step begins, (S,).
        stop: Cut at which it ends, (S,).
        price: Of the blend from cut to cut, (N, N).
        goal: Cost of each step, (S,).
        discount: Of what follows each step, (S,).
        rounds: At most.
    """
    values = np.zeros(len(foot))
    for _ in range(rounds):
        new = np.empty(len(foot))
        change = 0.0
        for n in range(len(foot)):
            best = np.inf
            for t in range(ranges[foot[n]], ranges[foot[n] + 1]):
                cost = price[n, start[t]] + goal[t] + discount[t] * values[stop[t]]
                best = min(best, cost)
            new[n] = best if best < np.inf else 0.0
            change = max(change, abs(new[n] - values[n]))
        values = new
        if change < 1e-4:
            break
    return values


@njit(**_JIT)
def turning_values(
    ranges: Indices, foot: Indices, start: Indices, stop: Indices, yaw: Array, turns: Array, seconds: Array,
    price: Array, goal: Array, discount: Array, bend: Array, ahead: Array, weight: float, values: Array, rounds: int,
    tolerance: float,
) -> Array:  # fmt: skip
    """What coming to a wanted direction will cost from each cut and angle on, blends and gaits included, (N, A).

    Value iteration over cuts and angles, evenly from -π on; between two rounds the steps that were best are
    weighed again a few times with the new values.

    Args:
        ranges: First step of each foot, (4,).
        foot: Of each cut, (N,).
        start: Cut at which each step begins, (S,).
        stop: Cut at which it ends, (S,).
        yaw: How cuts are turned when they are laid on each other, (N, N).
        turns: By how much each step turns, for each bend, (S, B).
        seconds: Of each step, (S,).
        price: Of the blend from cut to cut, (N, N).
        goal: Cost of each step, (S,).
        discount: Of what follows each step, (S,).
        bend: Cost of each bend, (B,).
        ahead: What follows from each cut on where directions do not count, (N,): no value is below it.
        weight: Cost of a second 1 rad off.
        values: To begin with, (N, A).
        rounds: At most.
        tolerance: A round that changes no value by more is the last.
    """
    count, angles = values.shape
    steps = len(start)
    width = 2 * math.pi / angles
    values = values.copy()
    after = np.empty((steps, 2 * angles + 2))
    best = np.empty((count, angles), np.int64)
    for _ in range(rounds):
        change = 0.0
        for again in range(4):
            for t in range(steps):
                end = stop[t]
                for i in range(angles):
                    least = np.inf
                    for b in range(turns.shape[1]):
                        angle = _wrap((i * width - math.pi) + turns[t, b])
                        cost = bend[b] + 0.5 * seconds[t] * weight * abs(angle)
                        cost += discount[t] * _turned_back(end, angle, values)
                        least = min(least, cost)
                    after[t, i] = goal[t] + least
                for i in range(angles, 2 * angles + 2):
                    after[t, i] = after[t, i % angles]
            for n in range(count):
                low, high = ranges[foot[n]], ranges[foot[n] + 1]
                if low == high:
                    continue
                new = np.full(angles, np.inf)
                if again == 0:
                    for t in range(low, high):
                        at = _wrap(yaw[n, start[t]]) / width
                        first = math.floor(at)
                        share = at - first
                        first %= angles
                        half = 0.5 * seconds[t] * weight
                        cost = price[n, start[t]]
                        for i in range(angles):
                            one = cost + half * abs(i * width - math.pi)
                            one += (1 - share) * after[t, first + i] + share * after[t, first + i + 1]
                            if one < new[i]:
                                new[i] = one
                                best[n, i] = t
                else:
                    for i in range(angles):
                        t = best[n, i]
                        at = _wrap(yaw[n, start[t]]) / width
                        first = math.floor(at)
                        share = at - first
                        first %= angles
                        new[i] = price[n, start[t]] + 0.5 * seconds[t] * weight * abs(i * width - math.pi)
                        new[i] += (1 - share) * after[t, first + i] + share * after[t, first + i + 1]
                for i in range(angles):
                    one = max(new[i], ahead[n])
                    if again == 0:
                        change = max(change, abs(one - values[n, i]))
                    values[n, i] = one
        if change < tolerance:
            break
    return values
