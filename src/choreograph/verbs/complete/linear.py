"""The most likely states where all that is asked is linear in them: one banded solve, no iterations."""

from __future__ import annotations

import numpy as np

from choreograph.base.arrays import Floats, Ints
from choreograph.verbs.complete.model import Dynamics


def solve_linear(own: Dynamics, frames: int, at: Ints, values: Floats, slopes: Floats) -> Floats:
    """The most likely states (F, d) under dynamics with one component.

    Args:
        own: The dynamics.
        frames: F, more than the order.
        at: The frame that each row is about, (R,).
        values: What each row asks for, over what is tolerated, (R,).
        slopes: How it follows from the frame's state, likewise, (R, d).
    """
    from scipy.linalg import solveh_banded

    from choreograph.verbs.complete import _compiled

    m, d = own.order, len(own.noise)
    bands, slope = np.zeros(((m + 1) * d, frames * d)), np.zeros(frames * d)
    means, covariances = own.innovations()
    form = np.concatenate([*(-own.step[i] for i in reversed(range(m))), np.eye(d)], axis=1)
    weighed = np.linalg.solve(covariances[0], form)
    steps = np.ones((frames - m, 1))
    _compiled.add_blocks(bands, slope, (form.T @ weighed)[None], (-weighed.T @ means[0])[None], steps, 0, d, d)
    start = np.linalg.inv(own.start_covariance)
    _compiled.add_blocks(bands, slope, start[None], (-start @ own.start_mean)[None], np.ones((1, 1)), 0, d, d)
    _compiled.add_rows(bands, slope, at, -values, slopes, d)
    return np.asarray(solveh_banded(bands, -slope, lower=True, check_finite=False).reshape(frames, d))
