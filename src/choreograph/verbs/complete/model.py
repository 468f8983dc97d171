"""The statistical dynamic model: a pose space, linear dynamics with a control input, and priors on both.

    y_t = C x_t + D                          the pose space: principal components of scaled rows
    x_t = A_1 x_{t-1} + … + A_m x_{t-m} + B u_t     dynamics of order m
    u_t ~ Σ_k π_k N(φ_k, Λ_k)                the control's prior, a mixture of normal distributions
    x_{1…m} ~ N(μ, Σ)                        the prior on where motions begin

A model can have several dynamics in one pose space, one for each behaviour.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from choreograph.base.arrays import Floats
from choreograph.base.errors import RequestError
from choreograph.base.progress import Progress, silent
from choreograph.distance.blas import one_thread_each
from choreograph.features.linear_dynamics import LinearDynamics, windows_of
from choreograph.features.pose_space import PoseSpace
from choreograph.motion.clip import Clip
from choreograph.motion.unify_skeletons import on_one_body
from choreograph.verbs.complete.encode import Encoding, find_encoding, row_limits
from choreograph.verbs.complete.nearest_recording import RecordedStates
from choreograph.verbs.complete.settings import LearnSettings
from choreograph.verbs.complete.speed_limits import find_fastest


@dataclass(frozen=True, eq=False)
class MotionModel:
    """What was learned of a body's motion."""

    encoding: Encoding
    space: PoseSpace
    """Of scaled rows."""
    dynamics: tuple[LinearDynamics, ...]
    """One for each behaviour; all of one order."""
    names: tuple[str, ...] = ()
    """Of the clips it was learned from."""
    left_out: Floats | None = None
    """Variance of each scaled column that the pose space does not hold, (k,)."""
    standing: Floats | None = None
    """Height of each joint where it stands on the floor, (J,), metres; NaN for joints that never do."""
    recorded_hz: float = 30.0
    """The highest rate among the clips."""
    held_out: float = math.nan
    """How far off held-out motion is that is completed over a second, over a cubic spline's error; NaN where there was
    too little to hold out. Above 1 a spline leads."""
    limits: Floats | None = None
    """Least and greatest value of each column, (2, k), in the rows' own units: how far joints turn."""
    examples: RecordedStates | None = None
    """The recordings themselves, of which the nearest may lead; none where behaviours are told apart."""
    fastest: Floats | None = None
    """The fastest that anybody was there, over each of the spans of `pace`, (spans, ways)."""

    @property
    def order(self) -> int:
        """m."""
        return self.dynamics[0].order

    @property
    def dimensions(self) -> int:
        """d."""
        return self.space.dimensions

    def lifted(self, states: Floats) -> Floats:
        """Rows (F, k) in their own units of states (F, d)."""
        return self.space.lift(states) / self.encoding.scale

    def states(self, rows: Floats) -> Floats:
        """States (F, d) of rows (F, k)."""
        return self.space.project(rows * self.encoding.scale)

    @property
    def axes(self) -> Floats:
        """Rows per unit of each coordinate, (d, k), in the rows' own units."""
        return np.ascontiguousarray(self.space.axes / self.encoding.scale)

    @property
    def mean(self) -> Floats:
        """The rows' mean, (k,)."""
        return self.space.mean / self.encoding.scale

    def simulate(self, seconds: float, rng: np.random.Generator, *, behaviour: int = 0, calm: float = 1.0) -> Clip:
        """A motion that the model makes by itself, for looking at what it knows.

        Args:
            seconds: How long.
            rng: Draws the first states and the control.
            behaviour: Which dynamics.
            calm: The greatest spectral radius of the dynamics: below 1 they forget where they began.
        """
        from choreograph.verbs.complete.encode import EncodedMotion

        own, frames = self.dynamics[behaviour], max(self.order + 1, round(seconds * self.encoding.rate_hz) + 1)
        step, m, d = clamped(own.step, calm * 0.999), own.order, self.dimensions
        states = np.zeros((frames, d))
        first = rng.multivariate_normal(own.start_mean, own.start_covariance, method="eigh")
        states[:m] = first.reshape(m, d)
        picks = rng.choice(len(own.weights), frames, p=own.weights)
        for t in range(m, frames):
            control = rng.multivariate_normal(own.means[picks[t]], own.covariances[picks[t]], method="eigh")
            states[t] = own.control @ control + sum(step[i] @ states[t - 1 - i] for i in range(m))
        rows = self.lifted(states)
        return self.encoding.decode(EncodedMotion(rows, travel(rows, self.encoding.rate_hz)), "simulated")


def travel(rows: Floats, rate_hz: float, start: Floats | None = None) -> Floats:
    """Places (F, 3) that rows' velocities and yaw rates lead through, from a start (x, z, yaw)."""
    begin = np.zeros(3) if start is None else start
    yaw = begin[2] + np.concatenate([[0.0], np.cumsum(rows[:-1, -1])]) / rate_hz
    side, ahead = rows[:-1, -3] / rate_hz, rows[:-1, -2] / rate_hz
    cos, sin = np.cos(yaw[:-1]), np.sin(yaw[:-1])
    x = begin[0] + np.concatenate([[0.0], np.cumsum(side * cos + ahead * sin)])
    z = begin[1] + np.concatenate([[0.0], np.cumsum(-side * sin + ahead * cos)])
    return np.stack([x, z, yaw], axis=1)


def clamped(step: Floats, radius: float) -> Floats:
    """LinearDynamics (m, d, d) whose spectral radius is at most this: all modes that exceed it decay faster."""
    m, d, _ = step.shape
    companion = np.zeros((m * d, m * d))
    companion[:d] = np.concatenate(list(step), axis=1)
    companion[d:, :-d] = np.eye((m - 1) * d)
    largest = float(np.abs(np.linalg.eigvals(companion)).max())
    share = min(1.0, radius / max(largest, 1e-12))
    return step * (share ** np.arange(1, m + 1))[:, None, None]


def fit_dynamics(
    sequences: Sequence[Floats], order: int, controls: int, components: int = 1, *, name: str = "", ridge: float = 0.03
) -> LinearDynamics:
    """The dynamics that explain sequences of states with the least control.

    Args:
        sequences: States, (F, d) each; no step leads from one to the next.
        order: m.
        controls: dim(u).
        components: K of the control's mixture.
        name: Of the behaviour.
        ridge: How strongly the dynamics are drawn towards going on as before, as a share of the states' variance.
    """
    d = sequences[0].shape[1]
    used = [states for states in sequences if len(states) > order]
    past = np.concatenate(
        [np.concatenate([s[order - 1 - i : len(s) - 1 - i] for i in range(order)], axis=1) for s in used]
    )
    now = np.concatenate([s[order:] for s in used])
    # Going on as before: x_{t-1}, or with two of them at the same velocity.
    usual = np.zeros((order * d, d))
    usual[:d] = np.eye(d) * (2.0 if order > 1 else 1.0)
    if order > 1:
        usual[d : 2 * d] = -np.eye(d)
    gram = past.T @ past
    gram += np.eye(order * d) * (ridge * np.trace(gram) / (order * d) * 0.01 + 1e-12)
    linear = usual + np.linalg.solve(gram, past.T @ (now - past @ usual))
    step = np.ascontiguousarray(linear.T.reshape(d, order, d).transpose(1, 0, 2))
    rest = now - past @ linear
    left, singular, right = np.linalg.svd(rest, full_matrices=False)
    q = min(controls, len(singular))
    u = left[:, :q] * np.sqrt(len(rest))
    control = (right[:q] * singular[:q, None]).T / np.sqrt(len(rest))
    noise = (rest - u @ control.T).var(axis=0)
    floor = 1e-4 * float(rest.var(axis=0).mean()) + 1e-14
    weights, means, covariances = _fit_mixture(u, components)
    starts = np.concatenate([windows_of(s, order) for s in sequences if len(s) >= order])
    mean = starts.mean(axis=0)
    spread = np.cov(starts.T, bias=True).reshape(order * d, order * d)
    spread += np.eye(order * d) * (1e-4 * np.trace(spread) / (order * d) + floor)
    return LinearDynamics(name, step, control, noise + floor, weights, means, covariances, mean, spread, len(now))


def _fit_mixture(u: Floats, components: int) -> tuple[Floats, Floats, Floats]:
    q = u.shape[1]
    if components == 1:
        mean = u.mean(axis=0)
        return np.ones(1), mean[None], (np.cov(u.T, bias=True).reshape(q, q) + 1e-9 * np.eye(q))[None]
    from sklearn.mixture import GaussianMixture  # type: ignore[import-untyped]

    fitted = GaussianMixture(components, reg_covar=1e-3, random_state=0, n_init=2).fit(u)
    return fitted.weights_, fitted.means_, fitted.covariances_


def reconstruction_error(model: MotionModel, clips: Sequence[Clip], *, behaviour: int = 0) -> float:
    """How far a step of the model is from the clips' poses on average, degrees per joint.

    Each pose is predicted from those before it and the control that fits it best, and compared with the recorded one.

    >>> from choreograph.demo import demo_clip
    >>> walk = demo_clip("walk", 30.0)
    >>> reconstruction_error(learn([walk], LearnSettings(order=3, controls=4)), [walk]) < 1.0
    True

    Args:
        model: What was learned.
        clips: Recordings of its skeleton.
        behaviour: Which dynamics.
    """
    from choreograph.base import quat

    own = model.dynamics[behaviour]
    angles = []
    solve = np.linalg.pinv(own.control)
    joints = np.flatnonzero(model.encoding.columns >= 0)
    at = model.encoding.columns[joints]
    for clip in clips:
        rows = model.encoding.encode(clip).rows
        states = model.states(rows)
        rest = own.residuals(states)
        predicted = states[own.order :] - rest + rest @ solve.T @ own.control.T
        guess = model.lifted(predicted)
        true = rows[own.order :]
        for column in at:
            a, b = (quat.from_rotvec(values[:, column : column + 3]) for values in (guess, true))
            angles.append(np.degrees(quat.angle_between(a, b)))
    return float(np.mean(np.concatenate(angles)))


def learn(
    clips: Sequence[Clip], settings: LearnSettings | None = None, *, progress: Progress | None = None
) -> MotionModel:
    """A statistical model of the motion in clips.

    >>> from choreograph.demo import demo_clip
    >>> model = learn([demo_clip("walk", 30.0), demo_clip("walk_veer_left", 30.0)], LearnSettings(order=2))
    >>> model.order
    2

    Args:
        clips: Recordings; those of other bodies are retargeted to the one of most clips.
        settings: Rate, size of the pose space, order, size of the control, number of components.
        progress: Hears how far the work has come.

    Raises:
        RequestError: If there are too few frames; the message says how many are needed.
    """
    with one_thread_each():
        return _learn(clips, settings or LearnSettings(), progress or silent)


def _learn(clips: Sequence[Clip], settings: LearnSettings, progress: Progress) -> MotionModel:
    progress("learning", 0, 3)
    clips, left_out = on_one_body(clips)
    if left_out and not clips:
        raise RequestError(str(left_out[0]))
    encoding = find_encoding(clips, settings.rate_hz)
    tracks = [encoding.encode(clip) for clip in clips]
    rows = [track.rows * encoding.scale for track in tracks]
    order = settings.order or 3
    needed = order + 2
    most = max(len(own) for own in rows)
    if most < needed:
        raise RequestError(
            f"the longest clip has {most} frames at {settings.rate_hz:g} Hz; a model of order {order} needs {needed} "
            "in a row at least, and some hundred to know much. Give longer clips, or a lower order",
            where="order",
        )
    every = np.concatenate(rows)
    from choreograph.verbs.complete.behaviour_switching import labelled_states
    from choreograph.verbs.complete.held_out_error import held_out_share
    from choreograph.verbs.complete.selection import choose, choose_space

    space = choose_space(rows, settings)
    progress("learning", 1, 3)
    states = [space.project(own) for own in rows]
    order, controls, components = choose(states, settings)
    groups = labelled_states(clips, states, settings)
    progress("learning", 2, 3)
    dynamics = tuple(fit_dynamics(own, order, controls, components, name=name) for name, own in groups)
    left = (every - space.lift(space.project(every))).var(axis=0)
    share = held_out_share(encoding, tracks, (space.dimensions, order, controls), progress)
    progress("learning", 3, 3)
    return MotionModel(
        encoding,
        space,
        dynamics,
        tuple(clip.name for clip in clips),
        left,
        _standing_heights(clips),
        max(clip.fps for clip in clips),
        share,
        row_limits(every / encoding.scale),
        RecordedStates.of(groups[0][1]) if len(groups) == 1 else None,
        find_fastest(tracks, encoding.rate_hz),
    )


def _standing_heights(clips: Sequence[Clip]) -> Floats:
    from choreograph.motion.contacts import find_foot_contacts

    skeleton = clips[0].skeleton
    heights = np.full(len(skeleton), np.nan)
    if skeleton.feet:
        measured = [find_foot_contacts(clip).standing_heights for clip in clips]
        heights[list(skeleton.feet)] = np.median(measured, axis=0)
    return heights
