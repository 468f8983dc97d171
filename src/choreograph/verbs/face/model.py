"""Faces: the same model and optimum without a root. Landmarks are learned and completed, weights solved behind.

Everything that is asked of landmarks is linear in the states, so one banded solve finds the optimum.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from choreograph.base.arrays import Floats, Ints
from choreograph.base.errors import RequestError
from choreograph.features.linear_dynamics import LinearDynamics, eased, solve_linear, windows_of
from choreograph.features.pose_space import PoseSpace, fit_pose_space
from choreograph.motion.face import Face, FaceShapes

UNSEEN = 1.0
"""How much shapes that each move by themselves count beside what recordings show: a face has more expressions."""
_LEAST_MM = 0.05
"""What an expression that no recording shows must move landmarks by, so that the space of faces holds it."""
KEY_MM, POINT_MM = 0.05, 0.2
"""What is tolerated of a key and of a tracked landmark at a weight of 1."""


@dataclass(frozen=True, eq=False)
class FaceModel:
    """What was learned of a face's landmarks."""

    shapes: FaceShapes | None
    """How shapes move them; None for markers without shapes."""
    space: PoseSpace
    """Of landmarks, (3 L,) columns, millimetres."""
    dynamics: LinearDynamics
    rate_hz: float

    @property
    def dimensions(self) -> int:
        """d."""
        return self.space.dimensions

    @property
    def landmarks(self) -> int:
        """How many landmarks there are."""
        return len(self.space.mean) // 3


def learn_face(
    faces: Sequence[Face], shapes: FaceShapes, *, order: int = 2, controls: int | None = None, variance: float = 0.9999
) -> FaceModel:
    """A statistical model of how the landmarks of faces move.

    >>> import numpy as np
    >>> from choreograph.motion.head import simple_head
    >>> t = np.linspace(0, 20, 200)[:, None]
    >>> face = Face(("JawOpen", "MouthSmileLeft"), 0.5 + 0.4 * np.sin(t * (1.0, 1.7)), 30.0)
    >>> learn_face([face], simple_head()).dimensions
    39

    Args:
        faces: Recordings; the first one's rate is the model's.
        shapes: Landmarks, and how shapes move them.
        order: m.
        controls: dim(u); as many as the pose space has dimensions if None.
        variance: Share of the landmarks' variance that the pose space holds.

    Raises:
        RequestError: If there are too few frames; the message says how many are needed.
    """
    if not faces:
        raise RequestError("there are no faces to learn from")
    rate = faces[0].fps
    rows = [shapes.landmarks(face.resampled(rate)) for face in faces]
    model = learn_points(rows, rate, order=order, controls=controls, variance=variance)
    # How far shapes were moved on average says how far any of them may be.
    far = np.sqrt(np.concatenate([face.ordered(faces[0].names) for face in faces]).var(axis=0).mean())
    alone = shapes.moves.reshape(len(shapes.names), -1) * far
    space = _with_expressions(model.space, alone)
    states = [space.project(own.reshape(len(own), -1)) for own in rows]
    seen = alone @ space.axes.T
    own = fit_shared_dynamics(states, order, controls or space.dimensions, UNSEEN * seen.T @ seen)
    return FaceModel(shapes, space, own, rate)


def learn_points(
    tracks: Sequence[Floats],
    rate_hz: float,
    *,
    order: int = 2,
    controls: int | None = None,
    variance: float = 0.9999,
) -> FaceModel:
    """A statistical model of how points move: landmarks or markers.

    Args:
        tracks: Where they are, (F, L, 3) each, millimetres.
        rate_hz: Frames per second.
        order: m.
        controls: dim(u); as many as the pose space has dimensions if None.
        variance: Share of the variance that the pose space holds.

    Raises:
        RequestError: If there are too few frames; the message says how many are needed.
    """
    rows = [track.reshape(len(track), -1) for track in tracks]
    longest = max(len(own) for own in rows)
    if longest < order + 2:
        raise RequestError(
            f"the longest face has {longest} frames; a model of order {order} needs {order + 2} at least"
        )
    space = fit_pose_space(np.concatenate(rows), variance)
    states = [space.project(own) for own in rows]
    d = space.dimensions
    return FaceModel(None, space, fit_shared_dynamics(states, order, controls or d, np.zeros((d, d))), rate_hz)


def _with_expressions(space: PoseSpace, moves: Floats) -> PoseSpace:
    """A space that also holds what moves (S, 3 L) do, as far as it does not."""
    _, far, axes = np.linalg.svd(moves - moves @ space.axes.T @ space.axes, full_matrices=False)
    new = far > _LEAST_MM
    wider, spread = np.concatenate([space.axes, axes[new]]), np.concatenate([space.variances, far[new] ** 2])
    return PoseSpace(space.mean, wider, spread, space.total_variance + float((far[new] ** 2).sum()))


def fit_shared_dynamics(sequences: Sequence[Floats], order: int, controls: int, unseen: Floats) -> LinearDynamics:
    """LinearDynamics in which every coordinate follows from its own past, all in the same way.

    A face has some fifty coordinates and a recording a few thousand frames: a matrix of its own for each frame of the
    past learns what this recording happened to do, and goes astray in another.

    Args:
        sequences: States, (F, d) each; no step leads from one to the next.
        order: m.
        controls: dim(u).
        unseen: Covariance of states that recordings do not show but faces have, (d, d).
    """
    d = sequences[0].shape[1]
    used = [states for states in sequences if len(states) > order]
    past = [np.concatenate([s[order - 1 - i : len(s) - 1 - i] for s in used]) for i in range(order)]
    now = np.concatenate([s[order:] for s in used])
    ways, *_ = np.linalg.lstsq(np.stack([own.ravel() for own in past], axis=1), now.ravel(), rcond=None)
    rest = now - np.einsum("i,ifd->fd", ways, past)
    spread = rest.T @ rest / len(rest)
    every = np.concatenate(sequences)
    steps = spread + unseen * (np.trace(spread) / max(float(every.var(axis=0).sum()), 1e-12))
    floor = 1e-4 * np.trace(spread) / d + 1e-14
    variances, axes = np.linalg.eigh(steps)
    control = axes[:, ::-1][:, :controls] * np.sqrt(np.maximum(variances[::-1][:controls], 0.0))
    q = control.shape[1]
    noise = np.maximum(np.diag(steps - control @ control.T), 0.0) + floor
    starts = np.concatenate([windows_of(s, order) for s in sequences if len(s) >= order])
    begin = np.cov(starts.T, bias=True).reshape(order * d, order * d) + np.tile(unseen, (order, order))
    begin += np.kron(np.eye(order), steps) + np.eye(order * d) * floor
    return LinearDynamics(
        "",
        np.ascontiguousarray(ways[:, None, None] * np.eye(d)),
        control,
        noise,
        np.ones(1),
        np.zeros((1, q)),
        np.eye(q)[None],
        starts.mean(axis=0),
        begin,
        len(now),
    )


def face_error(model: FaceModel, faces: Sequence[Face]) -> float:
    """How far a step of the model is from recorded landmarks on average, millimetres per landmark.

    >>> import numpy as np
    >>> from choreograph.motion.head import simple_head
    >>> face = Face(("JawOpen",), 0.5 + 0.4 * np.sin(np.linspace(0, 20, 200))[:, None], 30.0)
    >>> face_error(learn_face([face], simple_head()), [face]) < 0.05
    True
    """
    assert model.shapes is not None
    return points_error(model, [model.shapes.landmarks(face.resampled(model.rate_hz)) for face in faces])


def points_error(model: FaceModel, tracks: Sequence[Floats]) -> float:
    """How far a step of the model is from tracks (F, L, 3), millimetres, on average."""
    own, errors = model.dynamics, []
    solve = np.linalg.pinv(own.control)
    for true in tracks:
        states = model.space.project(true.reshape(len(true), -1))
        rest = own.residuals(states)
        predicted = model.space.lift(states[own.order :] - rest + rest @ solve.T @ own.control.T)
        errors.append(np.linalg.norm(predicted.reshape(-1, *true.shape[1:]) - true[own.order :], axis=-1).ravel())
    return float(np.concatenate(errors).mean())


@dataclass(frozen=True, eq=False)
class LandmarkTargets:
    """What is wanted of landmarks, as arrays."""

    frames: Ints
    """Of whole faces, (N,)."""
    faces: Floats
    """(N, L, 3), millimetres."""
    at: Ints
    """Frame and landmark of single points, (P, 2)."""
    points: Floats
    """(P, 3), millimetres; NaN for what does not matter."""
    face_firm: Floats | None = None
    """How firmly each face counts, (N,); 1 for all if None."""
    point_firm: Floats | None = None
    """How firmly each point does, (P,)."""


def complete_landmarks(model: FaceModel, frames: int, targets: LandmarkTargets, *, exact: bool = True) -> Floats:
    """The most likely landmarks (F, L, 3), millimetres, that do what is asked.

    Args:
        model: What is likely.
        frames: F, at the model's rate.
        targets: Keys and points.
        exact: Whether keys are met exactly, with what the model lacks eased from key to key.
    """
    own, count = model.dynamics, model.landmarks
    if frames <= own.order:
        raise RequestError(f"{frames} frames are too few for a model of order {own.order}", where="duration_s")
    # Between keys a face goes back to what is between them, not to the recordings' mean expression.
    base = np.tile(model.space.mean, (frames, 1))
    if len(targets.frames):
        order = np.argsort(targets.frames)
        keys, faces = np.asarray(targets.frames, np.int64)[order], targets.faces[order].reshape(len(order), -1)
        base = eased(faces, keys, frames, np.inf)
        own = replace(own, start_mean=np.zeros_like(own.start_mean))
    states = solve_linear(own, frames, *_rows(model, targets, base))
    faces_out = base + states @ model.space.axes
    if exact and len(targets.frames):
        faces_out += eased(faces - faces_out[keys], keys, frames, np.inf)
    return np.asarray(faces_out.reshape(frames, count, 3))


def _rows(model: FaceModel, targets: LandmarkTargets, base: Floats) -> tuple[Ints, Floats, Floats]:
    """Frames, values and slopes of what is asked beside a face at each frame (F, 3 L): linear in the states."""
    axes, d = model.space.axes, model.dimensions
    parts = []
    firm = (np.ones(len(targets.frames)) if targets.face_firm is None else targets.face_firm) / KEY_MM
    for frame, face, much in zip(targets.frames, targets.faces, firm, strict=True):
        parts.append((np.full(d, int(frame)), (face.ravel() - base[frame]) @ axes.T * much, np.eye(d) * much))
    firm = (np.ones(len(targets.at)) if targets.point_firm is None else targets.point_firm) / POINT_MM
    for (frame, landmark), point, much in zip(targets.at, targets.points, firm, strict=True):
        columns = 3 * int(landmark) + np.flatnonzero(np.isfinite(point))
        values = (point[np.isfinite(point)] - base[frame, columns]) * much
        parts.append((np.full(len(columns), int(frame)), values, axes[:, columns].T * much))
    if not parts:
        return np.zeros(0, np.int64), np.zeros(0), np.zeros((0, d))
    at, values, slopes = (np.concatenate(part) for part in zip(*parts, strict=True))
    return at, values, np.ascontiguousarray(slopes)
