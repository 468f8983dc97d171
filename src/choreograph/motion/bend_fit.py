"""Bending to places: how much a motion turns and stretches, step by step, so that it is at given places at given times.

What is sought is a turn and a stretch for every quarter of a second, each as a share of what people do at that speed.
The least of them, in the sense of squares, is found by Gauss-Newton steps; what would go beyond its limit stays there.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from choreograph.base.arrays import Complexes, Flags, Floats, Ints
from choreograph.motion.facts import LATERAL_M_S2

STRETCH = 0.1
"""Share by which steps may be longer or shorter than recorded."""
TURN_RAD_S = 1.2
"""Fastest turn that is added to any motion; in proportion less below the speed of a slow step: who stands has feet that
do not turn with him."""
_STEP_M_S = 0.5  # speed of a slow step
_KNOT_S = 0.25
"""Between two knots turn and stretch change evenly."""
_MOST_KNOTS, _MOST_FRAMES = 400, 6000  # of a motion: knots, and frames among which they are fitted
_CLOSE_M, _NEAR_M = 0.003, 0.01
"""Below the first a fit is good enough; below the second targets are met: finishing brings the rest."""
_PARTS = (1.0, 0.75, 0.5, 0.25, 0.1)
"""Parts of the way to a target that are tried where all of it cannot be had."""
_MOST_TRIED = 60
"""Targets up to which each is tried by itself where not all can be met."""
_ROUNDS = 12  # of solving what is linear about the last answer, at most
_EXACT = 1e-6
"""Weight of the least squares against the targets."""
_NEWTON_STEPS, _HALVINGS = 60, 30  # of one fit, and halvings of one step


class Bends(NamedTuple):
    """How each frame is carried."""

    turn: Floats
    """Yaw, (F,), radians."""
    places: Complexes
    """Where the way is then, x + iz, (F,), metres."""


class BendTargets(NamedTuple):
    """T moments at which the torso is to be somewhere; the first is where the motion already is."""

    frame: Ints
    """(T,), ascending."""
    place: Complexes
    """x + iz, (T,), metres."""
    turn: Floats
    """By how much it is to be turned then, (T,), radians; NaN for any."""
    stiff: Flags
    """Frames that are to be neither turned nor stretched against those around them, (F,)."""


def lateral_limit(speed: Floats) -> Floats:
    """Lateral acceleration that people bear at a speed, m/s²."""
    walk, run = LATERAL_M_S2
    return np.asarray(walk + (run - walk) * np.clip((speed - 1.5) / 1.5, 0.0, 1.0))


def turn_limit(speed: Floats) -> Floats:
    """How fast a motion of some speed may be turned, radians a second."""
    fastest = TURN_RAD_S * np.minimum(1.0, speed / _STEP_M_S)
    return np.asarray(np.minimum(lateral_limit(speed) / np.maximum(speed, 1e-3), fastest))


def fit_bends(way: Complexes, torso: Complexes, speed: Floats, targets: BendTargets, fps: float) -> Bends:
    """The bends that bring a motion to its targets, each within its limit.

    A target that cannot be reached is approached by as much of the way as can be had without missing those before it.

    Args:
        way: Of the root without sway, x + iz, (F,), metres.
        torso: Where the torso is, (F,): it keeps its place beside the way.
        speed: Of the way, (F,), m/s.
        targets: Where the torso is to be.
        fps: Frames per second.
    """
    first, last = int(targets.frame[0]), int(targets.frame[-1])
    if last - first < 2:
        return Bends(np.zeros(len(way)), way)
    every = max(1, (last - first) // _MOST_FRAMES)
    rows = np.unique(np.append(np.arange(first, last + 1, every), targets.frame))
    count = int(np.clip(round((last - first) / fps / _KNOT_S), 1, _MOST_KNOTS)) + 1
    hats = _hats((rows - first) / (last - first) * (count - 1), count)
    lasts_s = np.diff(rows, append=rows[-1]) / fps
    most_turn, most_stretch = turn_limit(speed) * ~targets.stiff, STRETCH * ~targets.stiff
    model = _Model(
        hats * (most_turn[rows] * lasts_s)[:, None],
        hats * most_stretch[rows, None],
        np.diff(way[rows], append=way[rows[-1]]),
        way[rows],
        torso[rows],
    )
    share = _approach(model, np.searchsorted(rows, targets.frame), targets)
    known = np.linspace(first, last, count)
    inside = np.arange(first, last + 1)
    turned, longer = (np.interp(inside, known, one) for one in (share[:count], share[count:]))
    turn, places = np.zeros(len(way)), np.array(way)
    turn[inside] = _summed(turned * most_turn[inside] / fps)
    steps = np.diff(way[inside], append=way[last]) * (1 + most_stretch[inside] * longer) * np.exp(-1j * turn[inside])
    places[inside] = way[first] + _summed(steps)
    # Behind the last target all goes on as it was, turned.
    turn[last:] = turn[last]
    places[last:] = places[last] + (way[last:] - way[last]) * np.exp(-1j * turn[last])
    return Bends(turn, places)


def _approach(model: _Model, at: Ints, targets: BendTargets) -> Floats:
    """Shares of the limits with which all targets are met, or those behind which one is out of reach come near."""
    share = _fit(model, at, targets)
    if _misses(model, share, at, targets) < _NEAR_M or len(at) > _MOST_TRIED:
        return share
    share, place, turn = np.zeros_like(share), np.array(targets.place), np.array(targets.turn)
    for k in range(1, len(at)):
        upto = slice(0, k + 1)
        here, faces = model.at(share, at[k])
        wanted, yaw = place[k], turn[k]
        for part in _PARTS:
            place[k], turn[k] = here + part * (wanted - here), faces + part * (yaw - faces)
            tried = BendTargets(targets.frame[upto], place[upto], turn[upto], targets.stiff)
            trial = _fit(model, at[upto], tried)
            if _misses(model, trial, at[upto], tried) < _NEAR_M:
                share = trial
                break
        else:
            place[k], turn[k] = here, np.nan
    return share


def _fit(model: _Model, at: Ints, targets: BendTargets) -> Floats:
    """The least shares of the limits that lead nearest to targets, (2 K,)."""
    share = np.zeros(2 * model.turns.shape[1])
    best, least = share, np.inf
    for number in range(_ROUNDS):
        missing, slope = model.linearise(share, at, targets)
        off = float(np.abs(missing).max())
        if off < least:
            best, least = share, off
        if number and off < _CLOSE_M:
            break
        # The least change counts ever more, against the least bend: so the rounds come to an end.
        share = _least(slope, missing + slope @ share, (1 - 0.5**number) * share)
    return best


def _misses(model: _Model, share: Floats, at: Ints, targets: BendTargets) -> float:
    """How far the worst target is missed, metres; 10° count as 10 cm."""
    missing, _ = model.linearise(share, at, targets)
    gaps = np.hypot(*missing[: 2 * len(at)].reshape(2, -1))
    return float(np.concatenate([gaps, np.abs(missing[2 * len(at) :]) / np.radians(100)]).max())


class _Model(NamedTuple):
    """N frames of a motion between its first and last target, and what K knots do to them."""

    turns: Floats
    """Radians that each knot adds from each frame to the next at its limit, (N, K)."""
    stretches: Floats
    """Share of its length by which each knot makes each step longer at its limit, (N, K)."""
    steps: Complexes
    """From each frame to the next, (N,), metres."""
    way: Complexes
    torso: Complexes

    def lay(self, share: Floats) -> tuple[Floats, Complexes]:
        """Turn and place of each frame for shares of the limits, (2 K,): turns first."""
        count = self.turns.shape[1]
        turn = _summed(self.turns @ share[:count])
        along = self.steps * (1 + self.stretches @ share[count:]) * np.exp(-1j * turn)
        return turn, self.way[0] + _summed(along)

    def at(self, share: Floats, row: int) -> tuple[complex, float]:
        """Where the torso is in one row, and how far turned."""
        turn, places = self.lay(share)
        beside = (self.torso - self.way)[row] * np.exp(-1j * turn[row])
        return complex(places[row] + beside), float(turn[row])

    def linearise(self, share: Floats, at: Ints, targets: BendTargets) -> tuple[Floats, Floats]:
        """What is missing at the targets, (R,), and how it changes with the shares, (R, 2 K)."""
        count = self.turns.shape[1]
        turn, places = self.lay(share)
        turned = np.exp(-1j * turn)
        beside = (self.torso - self.way)[at] * turned[at]
        by_turn = _summed(self.turns)
        longer = (1 + self.stretches @ share[count:]) * self.steps * turned
        place_by_turn = _summed(-1j * by_turn * longer[:, None])[at] - 1j * by_turn[at] * beside[:, None]
        place_by_stretch = _summed(self.stretches * (self.steps * turned)[:, None])[at]
        slope = np.concatenate([place_by_turn, place_by_stretch], axis=1)
        gap = targets.place - places[at] - beside
        faces = np.flatnonzero(np.isfinite(targets.turn))
        yaw = np.concatenate([by_turn[at[faces]], np.zeros((len(faces), count))], axis=1)
        missing = np.concatenate([gap.real, gap.imag, (targets.turn - turn[at])[faces]])
        return missing, np.concatenate([slope.real, slope.imag, yaw])


def _summed(values: NDArray[Any]) -> NDArray[Any]:
    """Sums of all rows before each, so that the first is zero."""
    out = np.zeros_like(values)
    np.cumsum(values[:-1], axis=0, out=out[1:])
    return out


def _hats(place: Floats, count: int) -> Floats:
    """Even changes from knot to knot, (N, K), at places between 0 and K - 1: each row sums to one."""
    return np.asarray(np.clip(1 - np.abs(place[:, None] - np.arange(count)), 0.0, None))


def _least(slope: Floats, wanted: Floats, start: Floats) -> Floats:
    """Shares from -1 to 1, least from the given ones, with slope @ shares = wanted; nearest to it if limits forbid.

    Shares are what is left of start + slope.T @ m within the limits, for multipliers m, one for each row, at which a
    convex function is least: Newton steps, each halved until it leads down.
    """
    size = max(float(np.abs(slope).max()), 1e-9)
    slope, wanted = slope / size, wanted / size
    multipliers = np.zeros(len(wanted))

    def height(m: Floats) -> float:
        pull = np.abs(start + slope.T @ m)
        return float(np.where(pull < 1, 0.5 * pull * pull, pull - 0.5).sum() - wanted @ m + 0.5 * _EXACT * (m @ m))

    now = height(multipliers)
    for _ in range(_NEWTON_STEPS):
        pull = start + slope.T @ multipliers
        free = np.abs(pull) < 1
        down = wanted - slope @ np.clip(pull, -1.0, 1.0) - _EXACT * multipliers
        if np.abs(down).max() < 1e-6:
            break
        square = slope[:, free] @ slope[:, free].T + max(_EXACT, 1e-6 * free.sum()) * np.eye(len(wanted))
        step = np.linalg.solve(square, down)
        for _ in range(_HALVINGS):
            later = height(multipliers + step)
            if later < now:
                break
            step = step / 2
        else:
            break
        multipliers, now = multipliers + step, later
    return np.clip(start + slope.T @ multipliers, -1.0, 1.0)
