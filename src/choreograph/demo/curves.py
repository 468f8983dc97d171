"""Smooth curves through a few given values: the glue of the demo motion."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from choreograph.base.arrays import Floats

Keys = Sequence[tuple[float, float]]
"""(second, value) pairs in order of time; between them the value glides, outside them it stays."""
JET_STEP_S = 2e-3
"""Seconds between the times that a jet is taken from."""


def glide(keys: Keys, times: Floats) -> Floats:
    """Values at times: from key to key along a quintic smoothstep, which starts and ends at rest."""
    at, values = np.array(keys, float).T
    k = np.clip(np.searchsorted(at, times, side="right") - 1, 0, len(at) - 1)
    following = np.minimum(k + 1, len(at) - 1)
    span = np.where(following > k, at[following] - at[k], 1.0)
    u = np.clip((times - at[k]) / span, 0.0, 1.0)
    return np.asarray(values[k] + (values[following] - values[k]) * smoothstep(u))


def smoothstep(u: ArrayLike) -> Floats:
    """0 to 1 with no slope and no bend at either end (Perlin's quintic); the argument is clipped."""
    u = np.clip(u, 0.0, 1.0)
    return np.asarray(u**3 * (u * (6 * u - 15) + 10))


def bump(u: Floats) -> Floats:
    """0 outside [0, 1], 1 in its middle, smooth to the second derivative."""
    return np.asarray(64 * np.clip(u * (1 - u), 0.0, None) ** 3)


def integral(values: Floats, times: Floats) -> Floats:
    """Running integral by the trapezoid rule, zero at time zero."""
    steps = 0.5 * (values[1:] + values[:-1]) * np.diff(times)
    total = np.concatenate([[0.0], np.cumsum(steps)])
    return np.asarray(total - np.interp(0.0, times, total))


def quintic(start: Floats, stop: Floats, t0: float, t1: float, times: Floats) -> Floats:
    """The quintic through value, first and second derivative at both ends, (F, ...).

    Args:
        start: Value, slope and bend at t0, (3, ...).
        stop: The same at t1.
        t0: Seconds.
        t1: Seconds, later than t0.
        times: Where to evaluate, (F,).
    """
    span = t1 - t0
    u = ((times - t0) / span).reshape(-1, *([1] * (np.ndim(start) - 1)))
    a0, a1, a2 = start[0], start[1] * span, start[2] * span**2 / 2
    b0, b1, b2 = stop[0], stop[1] * span, stop[2] * span**2
    gap, slope, bend = b0 - a0 - a1 - a2, b1 - a1 - 2 * a2, b2 - 2 * a2
    c3 = 10 * gap - 4 * slope + bend / 2
    c4 = -15 * gap + 7 * slope - bend
    c5 = 6 * gap - 3 * slope + bend / 2
    return np.asarray(a0 + u * (a1 + u * (a2 + u * (c3 + u * (c4 + u * c5)))))


def jet_times(at: float, side: float) -> Floats:
    """The four times, beginning with `at` and going to one side of it (+1 after, -1 before), that `jet` wants."""
    return np.asarray(at + side * JET_STEP_S * np.arange(4), float)


def jet(samples: Floats, side: float) -> Floats:
    """Value, slope and bend, (3, ...), of a curve from its samples (4, ...) at `jet_times`."""
    y, h = samples, JET_STEP_S
    slope = side * (-11 * y[0] + 18 * y[1] - 9 * y[2] + 2 * y[3]) / (6 * h)
    bend = (2 * y[0] - 5 * y[1] + 4 * y[2] - y[3]) / h**2
    return np.stack([y[0], slope, bend])
