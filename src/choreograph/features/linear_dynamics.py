"""Linear dynamics of states, as motion and faces have them, and what is solved with them in one go.

x_t = A_1 x_{t-1} + … + A_m x_{t-m} + B u_t     dynamics of order m
u_t ~ Σ_k π_k N(φ_k, Λ_k)                the control's prior, a mixture of normal distributions
x_{1…m} ~ N(μ, Σ)                        the prior on where motions begin
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from choreograph.base.arrays import Floats, Ints


@dataclass(frozen=True, eq=False)
class LinearDynamics:
    """How a behaviour's poses follow each other."""

    name: str
    """Of the behaviour."""
    step: Floats
    """A_1 … A_m, (m, d, d)."""
    control: Floats
    """B, (d, q)."""
    noise: Floats
    """Variance of what neither dynamics nor control explains, for each coordinate, (d,)."""
    weights: Floats
    """π, (K,)."""
    means: Floats
    """φ, (K, q)."""
    covariances: Floats
    """Λ, (K, q, q)."""
    start_mean: Floats
    """Mean of the first m states, one after another, (m d,)."""
    start_covariance: Floats
    """(m d, m d)."""
    frames: int
    """How many frames it was learned from."""

    @property
    def order(self) -> int:
        """m."""
        return len(self.step)

    @property
    def controls(self) -> int:
        """dim(u)."""
        return self.control.shape[1]

    def residuals(self, states: Floats) -> Floats:
        """x_t - Σ A_i x_{t-i} of states (F, d), as (F - m, d)."""
        m = self.order
        out = states[m:].copy()
        for i in range(m):
            out -= states[m - 1 - i : len(states) - 1 - i] @ self.step[i].T
        return out

    def innovations(self, spread: float = 1.0) -> tuple[Floats, Floats]:
        """Means (K, d) and covariances (K, d, d) of the residuals: what is left when the control is eliminated.

        Args:
            spread: Factor on the variance of what the control does not explain: 1 / α.
        """
        means = self.means @ self.control.T
        covariances = self.control @ self.covariances @ self.control.T + spread * np.diag(self.noise)
        return means, covariances

    def merged(self) -> LinearDynamics:
        """The same with one component, of the mixture's mean and covariance."""
        mean = self.weights @ self.means
        away = self.means - mean
        spread = np.einsum("k,kij->ij", self.weights, self.covariances + away[:, :, None] * away[:, None, :])
        return replace(self, weights=np.ones(1), means=mean[None], covariances=spread[None])

    def log_likelihood(self, states: Floats) -> Floats:
        """ln p of each frame's residual under the mixture, (F - m,)."""
        means, covariances = self.innovations()
        return log_mixture(self.residuals(states), self.weights, means, covariances)[0]


def log_mixture(residuals: Floats, weights: Floats, means: Floats, covariances: Floats) -> tuple[Floats, Floats]:
    """ln p of residuals (F, d) under a mixture, (F,), and how much each component is responsible, (F, K)."""
    parts = np.empty((len(residuals), len(weights)))
    for k, (weight, mean, covariance) in enumerate(zip(weights, means, covariances, strict=True)):
        factor = np.linalg.cholesky(covariance)
        white = np.linalg.solve(factor, (residuals - mean).T)
        norm = np.log(np.diag(factor)).sum() + 0.5 * len(mean) * np.log(2 * np.pi)
        parts[:, k] = np.log(max(weight, 1e-300)) - norm - 0.5 * (white**2).sum(axis=0)
    most = parts.max(axis=1, keepdims=True)
    total = most[:, 0] + np.log(np.exp(parts - most).sum(axis=1))
    return total, np.exp(parts - total[:, None])


def windows_of(states: Floats, order: int) -> Floats:
    """Every m states in a row, one behind another, (F - m + 1, m d)."""
    return np.concatenate([states[i : len(states) - order + 1 + i] for i in range(order)], axis=1)


def solve_linear(own: LinearDynamics, frames: int, at: Ints, values: Floats, slopes: Floats) -> Floats:
    """The most likely states (F, d) under dynamics with one component.

    Args:
        own: The dynamics.
        frames: F, more than the order.
        at: The frame that each row is about, (R,).
        values: What each row asks for, over what is tolerated, (R,).
        slopes: How it follows from the frame's state, likewise, (R, d).
    """
    from scipy.linalg import solveh_banded

    from choreograph.features import _compiled_bands

    m, d = own.order, len(own.noise)
    bands, slope = np.zeros(((m + 1) * d, frames * d)), np.zeros(frames * d)
    means, covariances = own.innovations()
    form = np.concatenate([*(-own.step[i] for i in reversed(range(m))), np.eye(d)], axis=1)
    weighed = np.linalg.solve(covariances[0], form)
    steps = np.ones((frames - m, 1))
    _compiled_bands.add_blocks(bands, slope, (form.T @ weighed)[None], (-weighed.T @ means[0])[None], steps, 0, d, d)
    start = np.linalg.inv(own.start_covariance)
    _compiled_bands.add_blocks(bands, slope, start[None], (-start @ own.start_mean)[None], np.ones((1, 1)), 0, d, d)
    _compiled_bands.add_rows(bands, slope, at, -values, slopes, d)
    return np.asarray(solveh_banded(bands, -slope, lower=True, check_finite=False).reshape(frames, d))


def eased(values: Floats, at: Ints, count: int, fades: float | Floats) -> Floats:
    """Values (N, k) at frames, at all frames (count, k): eased from one to the next, or to zero within `fades` frames.

    Without a limit (`inf`), the first value holds before its frame and the last one behind.
    """
    out = np.zeros((count, values.shape[1]))
    every = np.arange(count)
    for n, (frame, fade) in enumerate(zip(at, np.broadcast_to(fades, len(at)), strict=True)):
        before = frame - at[n - 1] if n else fade
        behind = at[n + 1] - frame if n + 1 < len(at) else fade
        length = np.where(every < frame, min(before, fade), min(behind, fade))
        share = np.clip(np.abs(every - frame) / np.maximum(length, 1e-9), 0.0, 1.0)
        left = (1 - share) ** 2 * (1 + 2 * share)
        rows = np.flatnonzero(left)
        out[rows] += left[rows, None] * values[n]
    return out
