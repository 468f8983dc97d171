"""Faces: the same model and optimum without a root. Landmarks are learned and completed, weights solved behind.

Everything that is asked of landmarks is linear in the states, so one banded solve finds the optimum.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from choreograph.errors import RequestError
from choreograph.features.pose_space import PoseSpace, fit_pose_space
from choreograph.motion.face import Face, FaceShapes, named_weights
from choreograph.synthesis.complete.encode import Array
from choreograph.synthesis.complete.exact import eased
from choreograph.synthesis.complete.face_goals import FaceRequest
from choreograph.synthesis.complete.linear import solve_linear
from choreograph.synthesis.complete.model import Dynamics, fit_dynamics

_RIDGE = 1e-3
KEY_MM, POINT_MM = 0.05, 0.2
"""What is tolerated of a key and of a tracked landmark at a weight of 1."""


@dataclass(frozen=True, eq=False)
class FaceModel:
    """What was learned of a face's landmarks."""

    shapes: FaceShapes
    space: PoseSpace
    """Of landmarks, (3 L,) columns, millimetres."""
    dynamics: Dynamics
    rate_hz: float

    @property
    def dimensions(self) -> int:
        """d."""
        return self.space.dimensions


def learn_face(
    faces: Sequence[Face], shapes: FaceShapes, *, order: int = 2, controls: int | None = None, variance: float = 0.9999
) -> FaceModel:
    """A statistical model of how the landmarks of faces move.

    >>> import numpy as np
    >>> from choreograph.motion.head import simple_head
    >>> t = np.linspace(0, 20, 200)[:, None]
    >>> face = Face(("JawOpen", "MouthSmileLeft"), 0.5 + 0.4 * np.sin(t * (1.0, 1.7)), 30.0)
    >>> learn_face([face], simple_head()).dimensions
    2

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
    rows = [shapes.landmarks(face.resampled(rate)).reshape(-1, 3 * len(shapes)) for face in faces]
    longest = max(len(own) for own in rows)
    if longest < order + 2:
        raise RequestError(
            f"the longest face has {longest} frames; a model of order {order} needs {order + 2} at least"
        )
    space = fit_pose_space(np.concatenate(rows), variance)
    states = [space.project(own) for own in rows]
    own = fit_dynamics(states, order, controls or space.dimensions, ridge=_RIDGE)
    return FaceModel(shapes, space, own, rate)


def face_error(model: FaceModel, faces: Sequence[Face]) -> float:
    """How far a step of the model is from recorded landmarks on average, millimetres per landmark.

    >>> import numpy as np
    >>> from choreograph.motion.head import simple_head
    >>> face = Face(("JawOpen",), 0.5 + 0.4 * np.sin(np.linspace(0, 20, 200))[:, None], 30.0)
    >>> face_error(learn_face([face], simple_head()), [face]) < 0.05
    True
    """
    own, found = model.dynamics, []
    solve = np.linalg.pinv(own.control)
    for face in faces:
        true = model.shapes.landmarks(face.resampled(model.rate_hz))
        states = model.space.project(true.reshape(len(true), -1))
        rest = own.residuals(states)
        made = model.space.lift(states[own.order :] - rest + rest @ solve.T @ own.control.T)
        found.append(np.linalg.norm(made.reshape(-1, *true.shape[1:]) - true[own.order :], axis=-1).ravel())
    return float(np.concatenate(found).mean())


@dataclass(frozen=True, eq=False)
class FaceKeys:
    """What is asked of landmarks, as arrays."""

    frames: NDArray[np.int64]
    """Of whole faces, (N,)."""
    faces: Array
    """(N, L, 3), millimetres."""
    at: NDArray[np.int64]
    """Frame and landmark of single points, (P, 2)."""
    points: Array
    """(P, 3), millimetres; NaN for what does not matter."""


def complete_landmarks(model: FaceModel, frames: int, asked: FaceKeys, *, exact: bool = True) -> Array:
    """The most likely landmarks (F, L, 3), millimetres, that do what is asked.

    Args:
        model: What is likely.
        frames: F, at the model's rate.
        asked: Keys and points.
        exact: Whether keys are met exactly, with what the model lacks eased from key to key.
    """
    own, count = model.dynamics, len(model.shapes)
    if frames <= own.order:
        raise RequestError(f"{frames} frames are too few for a model of order {own.order}", where="length_s")
    states = solve_linear(own, frames, *_rows(model, asked))
    made = model.space.lift(states).reshape(frames, count, 3)
    if exact and len(asked.frames):
        order = np.argsort(asked.frames)
        keys = np.asarray(asked.frames, np.int64)[order]
        missing = (asked.faces[order] - made[keys]).reshape(len(keys), -1)
        made = made + eased(missing, keys, frames, np.inf).reshape(made.shape)
    return np.asarray(made)


def _rows(model: FaceModel, asked: FaceKeys) -> tuple[NDArray[np.int64], Array, Array]:
    """Frames, values and slopes of what is asked: linear in the states."""
    axes, mean, d = model.space.axes, model.space.mean, model.dimensions
    parts = []
    for frame, face in zip(asked.frames, asked.faces, strict=True):
        values = (face.ravel() - mean) @ axes.T / KEY_MM
        parts.append((np.full(d, int(frame)), values, np.eye(d) / KEY_MM))
    for (frame, landmark), point in zip(asked.at, asked.points, strict=True):
        columns = 3 * int(landmark) + np.flatnonzero(np.isfinite(point))
        values = (point[np.isfinite(point)] - mean[columns]) / POINT_MM
        parts.append((np.full(len(columns), int(frame)), values, axes[:, columns].T / POINT_MM))
    if not parts:
        return np.zeros(0, np.int64), np.zeros(0), np.zeros((0, d))
    at, values, slopes = (np.concatenate(part) for part in zip(*parts, strict=True))
    return at, values, np.ascontiguousarray(slopes)


def splined(frames: int, at: Sequence[int], faces: Array) -> Array:
    """Landmarks (F, L, 3) through keys by cubic splines: what a completion is to better."""
    from scipy.interpolate import CubicSpline

    return np.asarray(CubicSpline(np.asarray(at), faces)(np.arange(frames)))


@dataclass(frozen=True, eq=False)
class FaceResult:
    """A completed face."""

    face: Face
    """Weights that bring landmarks nearest to where they are likeliest."""
    landmarks: Array
    """(F, L, 3), millimetres, before weights were solved."""
    off_mm: float
    """How far the face's own landmarks are from these on average."""
    model: FaceModel


def complete_face(
    faces: Sequence[Face], shapes: FaceShapes, request: FaceRequest, *, model: FaceModel | None = None
) -> FaceResult:
    """The most likely face through keys and a few tracked landmarks.

    >>> import numpy as np
    >>> from choreograph.motion.head import simple_head
    >>> face = Face(("JawOpen",), 0.5 + 0.4 * np.sin(np.linspace(0, 20, 200))[:, None], 30.0)
    >>> request = FaceRequest(1.0, [{"at_s": 0.0}, {"at_s": 1.0, "weights": {"JawOpen": 0.8}}])
    >>> made = complete_face([face], simple_head(), request).face
    >>> [round(float(w), 1) for w in made.weights[[0, -1], 0]]
    [0.0, 0.8]

    Args:
        faces: Recordings to learn from, and to take keys from by name.
        shapes: Landmarks, and how shapes move them.
        request: Keys and points.
        model: What was learned before, if anything.

    Raises:
        RequestError: If a key, shape or landmark is not there.
    """
    own = model or learn_face(faces, shapes, order=request.order, controls=request.controls)
    frames = round(request.length_s * own.rate_hz) + 1
    asked = _asked(faces, own, request, frames)
    made = complete_landmarks(own, frames, asked, exact=request.exact)
    names = faces[0].names if faces else shapes.names
    at = shapes.order(names)
    weights = np.zeros((frames, len(names)))
    weights[:, at[at >= 0]] = shapes.solve_weights(made)[:, at >= 0]
    face = Face(names, weights, own.rate_hz, "completed")
    off = float(np.linalg.norm(shapes.landmarks(face) - made, axis=-1).mean())
    return FaceResult(face, made, off, own)


def _asked(faces: Sequence[Face], model: FaceModel, request: FaceRequest, frames: int) -> FaceKeys:
    shapes, rate = model.shapes, model.rate_hz
    named = {face.name: face for face in faces}
    at, rows, where, points = [], [], [], []
    for n, key in enumerate(request.keys):
        if key.clip is not None:
            if key.clip not in named:
                known = ", ".join(named) or "none"
                raise RequestError(f"keys[{n}].clip is {key.clip!r}; there are {known}", where=f"keys[{n}].clip")
            source = named[key.clip]
            if key.frame >= len(source):
                raise RequestError(
                    f"keys[{n}].frame is {key.frame}; {key.clip!r} has frames 0 to {len(source) - 1}",
                    where=f"keys[{n}].frame",
                )
            one = source[key.frame : key.frame + 1]
        else:
            one = Face(shapes.names, named_weights(shapes.names, key.weights)[None], rate)
        at.append(round(key.at_s * rate))
        rows.append(shapes.landmarks(one)[0])
    for n, goal in enumerate(request.points):
        if goal.landmark >= len(shapes):
            raise RequestError(
                f"points[{n}].landmark is {goal.landmark}; there are 0 to {len(shapes) - 1}",
                where=f"points[{n}].landmark",
            )
        first, last = (round(time * rate) for time in goal.span)
        wanted = np.array([[np.nan if v is None else v for v in point] for point in goal.way()], float)
        spread = np.linspace(0, len(wanted) - 1, last - first + 1)
        for frame, place in zip(range(first, last + 1), spread, strict=True):
            low = min(int(place), len(wanted) - 1)
            high = min(low + 1, len(wanted) - 1)
            where.append((frame, goal.landmark))
            points.append(wanted[low] + (place - low) * (wanted[high] - wanted[low]))
    size = len(shapes)
    return FaceKeys(
        np.array(at, np.int64), np.array(rows).reshape(-1, size, 3),
        np.array(where, np.int64).reshape(-1, 2), np.array(points, float).reshape(-1, 3),
    )  # fmt: skip
