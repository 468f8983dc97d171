"""The most likely motion: Levenberg–Marquardt on block-banded normal equations, the control eliminated.

Unknown are the states x_t and the root's x, z and yaw at each frame. That places follow from velocities is a stiff
residual, so the band stays m + 1 frames wide and places can be asked for anywhere. Without u the dynamics' residual is
normal with covariance B Λ Bᵀ + σ²; of a mixture's components each counts by its responsibility, found anew in each
iteration.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from choreograph.base.arrays import Floats, Ints
from choreograph.features.linear_dynamics import log_mixture
from choreograph.verbs.complete.estimate import DAMPING, Estimate
from choreograph.verbs.complete.model import MotionModel
from choreograph.verbs.complete.nearest_recording import NEAR, beside
from choreograph.verbs.complete.residual_terms import BodyTables, PoseTerm, Terms, evaluate
from choreograph.verbs.complete.speed_limits import find_carried

ROOT_M = 5e-4
"""How far a step of the root may be from what velocities say, metres: stiff."""
POSE_M, PLACE_M = 2e-3, 2e-3
"""What is tolerated of a whole pose, by how far its columns move the body, and of its place, at a weight of 1."""
LIMIT_M = 0.01
"""What is tolerated of joints that turn too far, by how far that moves the body."""
JOIN_S = 0.4
"""Seconds over which one behaviour's dynamics give way to the next one's."""
USUAL = 5.0
"""Standard deviations within which poses are usual: dynamics alone, learned from few clips, let goals lead far out."""
FARTHEST = 4.0
"""Standard deviations beyond which a pose's coordinate is not asked of the model; what is missing is added behind."""
_MOST_DAMPING = 1e8  # of a step; more moves nothing, and the search ends
_LOOSE = 1e-3
"""Relative decrease of the objective at which poses and places alone are near enough to their optimum."""


@dataclass(frozen=True)
class SolverSettings:
    """How firmly dynamics and constraints count, and when to stop."""

    dynamics: float = 1.0
    """α: weight of the dynamics, as a factor on one over the variance of what the control does not explain."""
    constraints: float = 1.0
    """β: factor on the weights of all constraints."""
    iterations: int = 60
    tolerance: float = 1e-7
    """Relative decrease of the objective below which it is at rest."""
    spline_frames: int = 0
    """Frames between the knots of cubic B-splines that the unknowns are, for long motions; 0 has an unknown for each
    frame."""
    guided: bool = True
    """Whether the nearest recorded motion leads where the model has recordings."""


class MapSolver:
    """One model, one length, one set of terms: iterate from any start.

    It can be warm-started: `solver.terms` may be exchanged between iterations, as while something is dragged.
    """

    def __init__(
        self,
        model: MotionModel,
        frames: int,
        terms: Terms,
        settings: SolverSettings | None = None,
        *,
        behaviours: Ints | None = None,
    ) -> None:
        """Prepare what does not change between iterations.

        Args:
            model: What is likely.
            frames: F.
            terms: What is asked.
            settings: Weights, and when to stop.
            behaviours: Which of the model's dynamics holds at each frame, (F,); the first throughout if None.
        """
        self.model, self.frames = model, frames
        self.terms = terms
        self.settings = settings or SolverSettings()
        self.axes, self.body = model.axes, BodyTables.of(model.encoding)
        self.size = model.dimensions + 3
        self._rate = model.encoding.rate_hz
        self.offset: Floats | None = None
        """Rows (F, k) that are added to those of the states: what key poses have and the pose space lacks."""
        self._guide = np.zeros((frames, self.size))
        self._follows = False
        self.splined = False
        """Whether the guide is a spline through the key poses themselves, likely or not."""
        self._prepare_pose()
        self.set_behaviours(np.zeros(frames, np.int64) if behaviours is None else behaviours)

    @property
    def terms(self) -> Terms:
        """What is asked."""
        return self._terms

    @terms.setter
    def terms(self, terms: Terms) -> None:
        self._terms, self._carried = terms, find_carried(self.model, self.frames, terms)

    def _prepare_pose(self) -> None:
        """Whole poses count in all columns but velocities, each by what the space leaves out: R x = Qᵀ W (y - D)."""
        model = self.model
        left = np.zeros(model.encoding.width) if model.left_out is None else model.left_out
        self._pose_weight = 1 / np.sqrt(POSE_M**2 + left[:-3])
        self._pose_q, self._pose_r = np.linalg.qr((model.space.axes[:, :-3] * self._pose_weight).T)

    @property
    def guide(self) -> Floats | None:
        """The recorded motion (F, d) that the most likely one is near, if there is one."""
        return self._guide[:, : self.model.dimensions] if self._follows else None

    @guide.setter
    def guide(self, states: Floats | None) -> None:
        self._follows = states is not None
        self._guide[:, : self.model.dimensions] = 0.0 if states is None else states
        self.set_behaviours(self.behaviours)

    def set_behaviours(self, behaviours: Ints) -> None:
        """Change which dynamics hold when."""
        self.behaviours = behaviours
        self._holds = held_shares(behaviours, len(self.model.dynamics), JOIN_S * self._rate)
        model, m = self.model, self.model.order
        self._dynamics = [beside(own) if self._follows else own for own in model.dynamics]
        blocks, slopes, self._parts = [], [], []
        for own in self._dynamics:
            means, covariances = own.innovations(1 / max(self.settings.dynamics, 1e-12))
            self._parts.append((own.weights, means, covariances))
            # The residual x_t - Σ A_i x_{t-i} of states in order of time.
            form = np.concatenate([*(-own.step[i] for i in reversed(range(m))), np.eye(model.dimensions)], axis=1)
            for mean, covariance in zip(means, covariances, strict=True):
                weighed = np.linalg.solve(covariance, form)
                blocks.append(form.T @ weighed)
                slopes.append(-weighed.T @ mean)
        self._blocks, self._slopes = np.ascontiguousarray(blocks), np.ascontiguousarray(slopes)
        self._usual = 1 / ((NEAR if self._follows else USUAL) ** 2 * model.space.variances)
        first = self._dynamics[behaviours[0]]
        self._start_block = np.linalg.inv(first.start_covariance)[None]
        self._start_slope = (-self._start_block[0] @ first.start_mean)[None]
        self._fixed: tuple[Floats, Floats] | None = None

    # ------------------------------------------------------------------ the objective

    def shares(self, states: Floats) -> tuple[Floats, float]:
        """How much each component of each dynamics counts at each step, (F - m, S), and -ln p of the steps."""
        m = self.model.order
        offsets = np.cumsum([0, *(len(part[0]) for part in self._parts)])
        shares, total = np.zeros((self.frames - m, offsets[-1])), 0.0
        for number, part in enumerate(self._parts):
            at = np.flatnonzero(self._holds[m:, number])
            if len(at):
                rest = self._dynamics[number].residuals(states - self._guide[:, : states.shape[1]])[at]
                much = self._holds[m + at, number]
                scores, own = log_mixture(rest, *part)
                shares[at, offsets[number] : offsets[number + 1]] = much[:, None] * own
                total -= float(much @ scores)
        return shares, total

    @property
    def _bands(self) -> int:
        return (self.model.order + 1) * self.size if self.frames > self.model.order else 2 * self.size

    def normal_equations(self, now: Estimate) -> tuple[Floats, Floats, float]:
        """Lower bands (b, N), gradient (N,) and objective at an estimate."""
        from choreograph.features import _compiled_bands

        d, n = self.model.dimensions, self.size
        shares, value = self.shares(now.states)
        if self._fixed is None or len(self._blocks) > 1:
            bands = np.zeros((max(self._bands, 2 * n), self.frames * n))
            slope = np.zeros(self.frames * n)
            _compiled_bands.add_blocks(bands, slope, self._blocks, self._slopes, shares, 0, n, d)
            _compiled_bands.add_blocks(bands, slope, self._start_block, self._start_slope, np.ones((1, 1)), 0, n, d)
            usual = np.diag(self._usual)[None]
            _compiled_bands.add_blocks(bands, slope, usual, np.zeros((1, d)), np.ones((self.frames, 1)), 0, n, d)
            self._fixed = bands, slope
        bands, slope = self._fixed[0].copy(order="C"), self._fixed[1]
        gradient = slope + _multiply(bands, self._join(now) - self._guide.ravel())
        value += self._start_value(now.states) + self._add_terms(bands, gradient, now)
        return bands, gradient, value

    def _start_value(self, states: Floats) -> float:
        """-ln p of the first states, and of all states being such as motion has."""
        states = states - self._guide[:, : states.shape[1]]
        away = states[: self.model.order].ravel() - self._dynamics[self.behaviours[0]].start_mean
        return 0.5 * float(away @ self._start_block[0] @ away) + 0.5 * float((states**2 @ self._usual).sum())

    def objective(self, now: Estimate) -> float:
        """-ln p of a motion, without what does not depend on it."""
        value = self.shares(now.states)[1] + self._start_value(now.states)
        return value + self._add_terms(None, None, now)

    def _add_terms(self, bands: Floats | None, gradient: Floats | None, now: Estimate) -> float:
        """Half the sum of the constraints' squared residuals, which are added to the equations where there are any."""
        from choreograph.features import _compiled_bands
        from choreograph.verbs.complete import _compiled

        n, beta = self.size, np.sqrt(self.settings.constraints)
        rows = self.model.lifted(now.states)
        value = 0.0
        values, slopes = _compiled.root_rows(rows, now.place, self.axes, self._rate, 1 / ROOT_M)
        if self._carried is not None and not self.splined:
            values -= self._carried.ravel() / ROOT_M
        steps = np.repeat(np.arange(self.frames - 1), 3)
        rows_now = rows if self.offset is None else rows + self.offset
        terms = evaluate(self.terms.compiled, rows_now, now.place, self.body, self.axes, self._rate)
        parts = [(steps, values, slopes), (terms.frames, beta * terms.values, beta * terms.slopes)]
        if self.model.limits is not None:
            parts.append(self._limit_rows(rows))
        for pose in self.terms.poses:
            parts.append(self._pose_rows(pose, now, beta))
        for place in self.terms.places:
            parts.append(self._place_rows(place.frame, place.place, beta * place.firmness, now.place))
        for frames, residuals, derivatives in parts:
            value += 0.5 * float(residuals @ residuals)
            if bands is not None and len(frames):
                last = frames[-1] == self.frames - 1 or (frames == self.frames - 1).any()
                if last and derivatives.shape[1] > n:
                    _add_last(bands, gradient, frames, residuals, derivatives, n, self.frames)
                else:
                    _compiled_bands.add_rows(bands, gradient, frames, residuals, derivatives, n)
        return value

    def _limit_rows(self, rows: Floats) -> tuple[Ints, Floats, Floats]:
        """Joints that turn farther than they do in the recordings and the poses that are asked for are drawn back."""
        assert self.model.limits is not None
        low, high = self.model.limits[:, :-3]
        if self.terms.poses:
            poses = np.array([pose.row[:-3] for pose in self.terms.poses])
            low, high = np.minimum(low, poses.min(axis=0)), np.maximum(high, poses.max(axis=0))
        over = np.maximum(rows[:, :-3] - high, 0.0) + np.minimum(rows[:, :-3] - low, 0.0)
        frames, columns = np.nonzero(over)
        firm = self.model.encoding.scale[columns] / LIMIT_M
        slopes = np.zeros((len(frames), self.size))
        slopes[:, : self.model.dimensions] = firm[:, None] * self.axes[:, columns].T
        return frames, firm * over[frames, columns], slopes

    def _pose_rows(self, pose: PoseTerm, now: Estimate, beta: float) -> tuple[Ints, Floats, Floats]:
        d, n = self.model.dimensions, self.size
        weight = beta * pose.firmness
        wanted = self._guide[pose.frame, :d] if self.splined else self.likely_state(pose.row)
        values = weight * (self._pose_r @ (now.states[pose.frame] - wanted))
        slopes = np.zeros((d, n))
        slopes[:, :d] = weight * self._pose_r
        frames = np.full(d, pose.frame)
        where = self._place_rows(pose.frame, pose.place, weight / PLACE_M, now.place)
        return (
            np.concatenate([frames, where[0]]),
            np.concatenate([values, where[1]]),
            np.concatenate([slopes, where[2]]),
        )

    def likely_state(self, row: Floats) -> Floats:
        """The state (d,) of a pose (k,), whatever its velocity; never farther out than motion like the model's goes."""
        spread = self.model.space.variances
        away = (row * self.model.encoding.scale - self.model.space.mean)[:-3]
        gram = self._pose_r.T @ self._pose_r + np.diag(1 / spread)
        state = np.linalg.solve(gram, self._pose_r.T @ (self._pose_q.T @ (away * self._pose_weight)))
        limit = FARTHEST * np.sqrt(spread)
        return np.asarray(np.clip(state, -limit, limit))

    def _place_rows(self, frame: int, place: Floats, firmness: float, now: Floats) -> tuple[Ints, Floats, Floats]:
        wanted = np.flatnonzero(np.isfinite(place))
        away = now[frame] - place
        away[2] = np.angle(np.exp(1j * away[2])) if np.isfinite(away[2]) else np.nan
        slopes = np.zeros((len(wanted), self.size))
        slopes[np.arange(len(wanted)), self.model.dimensions + wanted] = firmness
        return np.full(len(wanted), frame), firmness * away[wanted], slopes

    # ------------------------------------------------------------------ iterations

    def _join(self, now: Estimate) -> Floats:
        return np.concatenate([now.states, now.place], axis=1).ravel()

    def moved(self, now: Estimate, step: Floats) -> Estimate:
        """An estimate with a step (N,) added."""
        both = step.reshape(self.frames, self.size)
        d = self.model.dimensions
        return replace(now, states=now.states + both[:, :d], place=now.place + both[:, d:], converged=False)

    def iterate(self, now: Estimate) -> Estimate:
        """The estimate after one step of Levenberg–Marquardt; the same one where no step lowers the objective."""
        from scipy.linalg import LinAlgError

        bands, gradient, value = self.normal_equations(now)
        if not now.objective:
            now.objective.append(value)
        diagonal = bands[0].copy()
        while now.damping <= _MOST_DAMPING:
            bands[0] = diagonal * (1 + now.damping) + 1e-12
            try:
                step = self._solve(bands, gradient)
            except LinAlgError:
                now.damping *= 10
                continue
            tried = self.moved(now, step)
            reached = self.objective(tried)
            if reached <= value:
                tried.objective = [*now.objective, reached]
                tried.damping = max(now.damping / 10, 1e-12)
                expected = abs(value) + 1.0
                tried.converged = value - reached < self.settings.tolerance * expected
                return tried
            if value - reached > -1e-9 * (abs(value) + 1.0):
                now.converged = True
                return now
            now.damping *= 10
        now.converged, now.damping = True, DAMPING
        return now

    def _solve(self, bands: Floats, gradient: Floats) -> Floats:
        from scipy.linalg import solveh_banded

        if self.settings.spline_frames:
            from choreograph.verbs.complete.spline import solve_on_splines

            return solve_on_splines(bands, gradient, self.frames, self.size, self.settings.spline_frames)
        return np.asarray(solveh_banded(bands, -gradient, lower=True, overwrite_ab=False, check_finite=False))

    def solve(self, start: Estimate, progress: Callable[[int], None] | None = None, *, warm: bool = False) -> Estimate:
        """Iterate until the objective is at rest.

        What is asked of joints is far from linear, and a mixture has several optima. So that the optimum does not
        depend on the start, poses and places come first, under normal distributions of the same spread: that problem
        has one optimum, from where joints and mixtures lead to the next one.

        Args:
            start: Where to begin.
            progress: Hears how many iterations were done.
            warm: Whether the start is the optimum of nearly the same problem, to be gone on from as it is.
        """
        now = start.copy()
        if not warm and (self.terms.points or self._mixed):
            value = self.objective(now)
            now = self._begin(now)
            now.objective = [value, self.objective(now)]
        for count in range(self.settings.iterations):
            if progress is not None:
                progress(count)
            now = self.iterate(now)
            if now.converged:
                break
        return now

    @property
    def _mixed(self) -> bool:
        return any(len(own.weights) > 1 for own in self._dynamics)

    def _begin(self, now: Estimate) -> Estimate:
        """The optimum of poses and places alone, and then, of a mixture, of all terms under one distribution."""
        merged = replace(self.model, dynamics=tuple(own.merged() for own in self.model.dynamics))
        settings = replace(self.settings, tolerance=max(self.settings.tolerance, _LOOSE))
        plain = MapSolver(
            merged if self._mixed else self.model, self.frames, self.terms, settings, behaviours=self.behaviours
        )
        plain.offset, plain.guide, plain.splined = self.offset, self.guide, self.splined
        if self.terms.points:
            plain.terms = Terms([], self.terms.poses, self.terms.places)
            now = plain.solve(now, warm=True)
        if self._mixed:
            plain.terms, plain.settings = self.terms, self.settings
            now = plain.solve(now.anew(), warm=True)
        return now.anew()


def held_shares(behaviours: Ints, count: int, frames: float) -> Floats:
    """How much each of `count` dynamics holds at each frame, (F, count): over where they change, both do in part."""
    from scipy.ndimage import uniform_filter1d

    hard = (behaviours[:, None] == np.arange(count)).astype(float)
    width = round(frames)
    return hard if width < 2 or (behaviours == behaviours[0]).all() else uniform_filter1d(hard, width, axis=0)


def _multiply(bands: Floats, vector: Floats) -> Floats:
    """A symmetric matrix, given by its lower bands, times a vector."""
    out = bands[0] * vector
    for k in range(1, len(bands)):
        out[k:] += bands[k, :-k] * vector[:-k]
        out[:-k] += bands[k, :-k] * vector[k:]
    return out


def _add_last(
    bands: Floats, gradient: Floats | None, frames: Ints, values: Floats, slopes: Floats, n: int, count: int
) -> None:
    """Rows of which some are about the last frame, behind which there is none."""
    from choreograph.features import _compiled_bands

    last = frames == count - 1
    _compiled_bands.add_rows(bands, gradient, frames[~last], values[~last], slopes[~last], n)
    _compiled_bands.add_rows(bands, gradient, frames[last], values[last], np.ascontiguousarray(slopes[last, :n]), n)
