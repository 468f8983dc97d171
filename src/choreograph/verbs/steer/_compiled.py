"""Compiled kernels of what steps cost whatever the task is, and of what follows from each cut on.

Kernels of tasks are in modules of their own. Each kernel has a plain twin in the tests.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from choreograph.base.arrays import Floats, Ints
from choreograph.base.compiling import njit
from choreograph.verbs.steer._compiled_spline import JIT

if TYPE_CHECKING:
    from choreograph.verbs.steer.costs import Ahead, StepTable


@njit(inline="always", **JIT)
def compose(a: Floats, b: Floats, out: Floats) -> None:
    """The floor transform that does b first, then a; each as yaw, x, z."""
    cos, sin = math.cos(a[0]), math.sin(a[0])
    out[0] = a[0] + b[0]
    x = b[1] * cos + b[2] * sin + a[1]
    out[2] = -b[1] * sin + b[2] * cos + a[2]
    out[1] = x


@njit(inline="always", **JIT)
def wrap(angle: float) -> float:
    return angle - 2 * math.pi * math.floor(angle / (2 * math.pi) + 0.5)


@njit(inline="always", **JIT)
def turned_back(cut: int, angle: float, turning: Floats) -> float:
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


@njit(inline="always", **JIT)
def keep_best(score: float, step: int, scores: Floats, steps: Ints) -> None:
    """Put a step among the best ones, best first, if it is one of them."""
    k = len(scores) - 1
    if score >= scores[k]:
        return
    while k > 0 and scores[k - 1] > score:
        scores[k], steps[k] = scores[k - 1], steps[k - 1]
        k -= 1
    scores[k], steps[k] = score, step


@njit(**JIT)
def base_scores(cut: int, steps: StepTable, own: Ahead, out: Floats) -> None:
    """What steps cost whatever the task is: blend, gait and speed, bend, and what follows in these; into `out` (S, B).

    Args:
        cut: The cut that the character is at.
        steps: What steps are, and cost by themselves.
        own: What is known of what follows.
        out: Scores; only those of steps that fit are written.
    """
    for t in range(steps.ranges[steps.foot[cut]], steps.ranges[steps.foot[cut] + 1]):
        cost = steps.price[cut, steps.start[t]] + own.goal[t] + steps.discount[t] * own.cuts[steps.stop[t]]
        for b in range(len(steps.bend)):
            out[t, b] = cost + steps.bend[b]


@njit(**JIT)
def clip_values(steps: StepTable, goal: Floats, rounds: int) -> Floats:
    """The least that gait, speed and blends will cost from each cut on, (N,), by value iteration.

    Args:
        steps: What steps are, and cost by themselves.
        goal: Cost of each step against the wanted gait and speed, (S,).
        rounds: At most.
    """
    values = np.zeros(len(steps.foot))
    for _ in range(rounds):
        new = np.empty(len(values))
        change = 0.0
        for n in range(len(values)):
            best = np.inf
            for t in range(steps.ranges[steps.foot[n]], steps.ranges[steps.foot[n] + 1]):
                cost = steps.price[n, steps.start[t]] + goal[t] + steps.discount[t] * values[steps.stop[t]]
                best = min(best, cost)
            new[n] = best if best < np.inf else 0.0
            change = max(change, abs(new[n] - values[n]))
        values = new
        if change < 1e-4:
            break
    return values


@njit(**JIT)
def turning_values(
    steps: StepTable, goal: Floats, ahead: Floats, weight: float, values: Floats, rounds: int, tolerance: float
) -> Floats:
    """What coming to a wanted direction will cost from each cut and angle on, blends and gaits included, (N, A).

    Value iteration over cuts and angles, evenly from -π on; between two rounds the steps that were best are
    weighed again a few times with the new values.

    Args:
        steps: What steps are, and cost by themselves.
        goal: Cost of each step against the wanted gait and speed, (S,).
        ahead: What follows from each cut on where directions do not count, (N,): no value is below it.
        weight: Cost of a second 1 rad off.
        values: To begin with, (N, A).
        rounds: At most.
        tolerance: A round that changes no value by more is the last.
    """
    start, stop, seconds, discount, bend = steps.start, steps.stop, steps.seconds, steps.discount, steps.bend
    count, angles = values.shape
    width = 2 * math.pi / angles
    values = values.copy()
    after = np.empty((len(start), 2 * angles + 2))
    best = np.empty((count, angles), np.int64)
    for _ in range(rounds):
        change = 0.0
        for again in range(4):
            for t in range(len(start)):
                for i in range(angles):
                    least = np.inf
                    for b in range(len(bend)):
                        angle = wrap((i * width - math.pi) + steps.moves[t, b, 0])
                        cost = bend[b] + 0.5 * seconds[t] * weight * abs(angle)
                        cost += discount[t] * turned_back(stop[t], angle, values)
                        least = min(least, cost)
                    after[t, i] = goal[t] + least
                for i in range(angles, 2 * angles + 2):
                    after[t, i] = after[t, i % angles]
            for n in range(count):
                low, high = steps.ranges[steps.foot[n]], steps.ranges[steps.foot[n] + 1]
                if low == high:
                    continue
                new = np.full(angles, np.inf)
                if again == 0:
                    for t in range(low, high):
                        at = wrap(steps.align[n, start[t], 0]) / width
                        first = math.floor(at)
                        share = at - first
                        first %= angles
                        half = 0.5 * seconds[t] * weight
                        cost = steps.price[n, start[t]]
                        for i in range(angles):
                            one = cost + half * abs(i * width - math.pi)
                            one += (1 - share) * after[t, first + i] + share * after[t, first + i + 1]
                            if one < new[i]:
                                new[i] = one
                                best[n, i] = t
                else:
                    for i in range(angles):
                        t = best[n, i]
                        at = wrap(steps.align[n, start[t], 0]) / width
                        first = math.floor(at)
                        share = at - first
                        first %= angles
                        new[i] = steps.price[n, start[t]] + 0.5 * seconds[t] * weight * abs(i * width - math.pi)
                        new[i] += (1 - share) * after[t, first + i] + share * after[t, first + i + 1]
                for i in range(angles):
                    one = max(new[i], ahead[n])
                    if again == 0:
                        change = max(change, abs(one - values[n, i]))
                    values[n, i] = one
        if change < tolerance:
            break
    return values
