"""Faces completed: what a request asks of landmarks or markers, the most likely answer, and what it misses."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from choreograph.base.arrays import Floats
from choreograph.base.errors import RequestError
from choreograph.contract.problem import Problem, ProblemKind
from choreograph.motion.clip import Clip
from choreograph.motion.face import Face, FaceShapes, named_weights, points_as_clip
from choreograph.verbs.complete.face import FaceKeys, FaceModel, complete_landmarks, learn_face, learn_points
from choreograph.verbs.complete.face_goals import FaceRequest

MISSED_MM = 1.0
"""From where on a key or a point counts as missed."""
_EXACT = 10.0
"""How much firmer points are that are asked exactly."""


@dataclass(frozen=True, eq=False)
class FaceResult:
    """A completed face."""

    face: Face
    """Weights that bring landmarks nearest to where they are likeliest."""
    landmarks: Floats
    """(F, L, 3), millimetres, before weights were solved."""
    off_mm: float
    """How far the face's own landmarks are from these on average."""
    model: FaceModel
    problems: tuple[Problem, ...] = ()
    """Keys and points that the finished face misses."""


@dataclass(frozen=True, eq=False)
class MarkerResult:
    """Completed marker tracks."""

    clip: Clip
    model: FaceModel
    problems: tuple[Problem, ...] = ()
    """Keys and points that are missed."""


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
    rate = own.rate_hz
    frames = round(request.length_s * rate) + 1
    named = {face.name: face for face in faces}
    rows = []
    for n, key in enumerate(request.keys):
        if key.clip is not None:
            source = named.get(key.clip)
            frame = _frame(n, key.clip, key.frame, None if source is None else len(source), named)
            assert source is not None
            one = source[frame : frame + 1]
        else:
            one = Face(shapes.names, named_weights(shapes.names, key.weights)[None], rate)
        rows.append(shapes.landmarks(one)[0])
    asked = _asked(request, rows, own, frames)
    made = complete_landmarks(own, frames, asked, exact=request.exact)
    names = faces[0].names if faces else shapes.names
    at = shapes.order(names)
    weights = np.zeros((frames, len(names)))
    weights[:, at[at >= 0]] = shapes.solve_weights(made)[:, at >= 0]
    face = Face(names, weights, rate, "completed")
    got = shapes.landmarks(face)
    off = float(np.linalg.norm(got - made, axis=-1).mean())
    return FaceResult(face, made, off, own, _problems(request, asked, got, rate))


def complete_markers(clips: Sequence[Clip], request: FaceRequest, *, model: FaceModel | None = None) -> MarkerResult:
    """The most likely way of markers through keys and a few tracked ones, without any shapes.

    >>> import numpy as np
    >>> from choreograph.motion.face import points_as_clip
    >>> t = np.linspace(0, 20, 200)
    >>> way = np.stack([np.stack([0 * t, k + 0.01 * np.sin(t + k), 0 * t], axis=1) for k in range(3)], axis=1)
    >>> clip = points_as_clip(way, 30.0, "lips")
    >>> keys = [{"at_s": 0.0, "clip": "lips", "frame": 5}, {"at_s": 1.0, "clip": "lips", "frame": 35}]
    >>> len(complete_markers([clip], FaceRequest(1.0, keys)).clip)
    31

    Args:
        clips: Marker tracks as `read_markers` gives them, of the same markers.
        request: Keys are frames of clips; points are markers by number, millimetres.
        model: What was learned before, if anything.

    Raises:
        RequestError: If a key or marker is not there, or clips have different markers.
    """
    if not clips:
        raise RequestError("there are no marker tracks to learn from")
    names = clips[0].skeleton.names[1:]
    for clip in clips[1:]:
        if clip.skeleton.names[1:] != names:
            raise RequestError(f"{clip.name} has other markers than {clips[0].name}; give tracks of the same markers")
    rate = clips[0].fps
    tracks = {clip.name: marker_points(clip.resampled(rate)) for clip in clips}
    own = model or learn_points(list(tracks.values()), rate, order=request.order, controls=request.controls)
    rows = []
    for n, key in enumerate(request.keys):
        if key.clip is None:
            raise RequestError(
                f"keys[{n}].weights: markers have no shapes; give a clip and a frame", where=f"keys[{n}]"
            )
        source = tracks.get(key.clip)
        rows.append(tracks[key.clip][_frame(n, key.clip, key.frame, None if source is None else len(source), tracks)])
    frames = round(request.length_s * rate) + 1
    asked = _asked(request, rows, own, frames)
    made = complete_landmarks(own, frames, asked, exact=request.exact)
    clip = points_as_clip(made * 1e-3, rate, "completed", names)
    return MarkerResult(clip, own, _problems(request, asked, made, rate))


def marker_points(clip: Clip) -> Floats:
    """Where the markers of a clip are, (F, L, 3), millimetres."""
    return np.asarray(clip.global_positions()[:, 1:] * 1e3)


def _frame(n: int, name: str, frame: int, count: int | None, known: Iterable[str]) -> int:
    if count is None:
        names = ", ".join(known) or "none"
        raise RequestError(f"keys[{n}].clip is {name!r}; there are {names}", where=f"keys[{n}].clip")
    if frame >= count:
        where = f"keys[{n}].frame"
        raise RequestError(f"{where} is {frame}; {name!r} has frames 0 to {count - 1}", where=where)
    return frame


def _asked(request: FaceRequest, rows: Sequence[Floats], model: FaceModel, frames: int) -> FaceKeys:
    rate, size = model.rate_hz, model.landmarks
    at = [min(round(key.at_s * rate), frames - 1) for key in request.keys]
    where, points, firm = [], [], []
    for n, goal in enumerate(request.points):
        if goal.landmark >= size:
            raise RequestError(
                f"points[{n}].landmark is {goal.landmark}; there are 0 to {size - 1}", where=f"points[{n}].landmark"
            )
        first, last = (min(round(time * rate), frames - 1) for time in goal.span)
        wanted = np.array([[np.nan if v is None else v for v in point] for point in goal.way()], float)
        spread = np.linspace(0, len(wanted) - 1, last - first + 1)
        much = float(np.sqrt(goal.weight)) * (_EXACT if goal.exact and request.exact else 1.0)
        for frame, place in zip(range(first, last + 1), spread, strict=True):
            low = min(int(place), len(wanted) - 1)
            high = min(low + 1, len(wanted) - 1)
            where.append((frame, goal.landmark))
            points.append(wanted[low] + (place - low) * (wanted[high] - wanted[low]))
            firm.append(much)
    return FaceKeys(
        np.array(at, np.int64),
        np.array(rows).reshape(-1, size, 3),
        np.array(where, np.int64).reshape(-1, 2),
        np.array(points, float).reshape(-1, 3),
        np.array([np.sqrt(key.weight) for key in request.keys], float),
        np.array(firm, float),
    )


def _problems(request: FaceRequest, asked: FaceKeys, got: Floats, rate: float) -> tuple[Problem, ...]:
    """What the finished face misses: each key and point with by how much."""
    found = []
    for n, (frame, face) in enumerate(zip(asked.frames, asked.faces, strict=True)):
        off = float(np.linalg.norm(got[frame] - face, axis=1).mean())
        if off > MISSED_MM:
            text = f"keys[{n}]: at {frame / rate:.2f} s the face is {off:.1f} mm off"
            found.append(Problem(ProblemKind.FACE_MISSED, text, f"keys[{n}]", 0.0, round(off, 3), unit="mm"))
    row = 0
    for n, goal in enumerate(request.points):
        first, last = (min(round(time * rate), len(got) - 1) for time in goal.span)
        count = last - first + 1
        missing = got[first : last + 1, goal.landmark] - asked.points[row : row + count]
        row += count
        off = np.linalg.norm(np.nan_to_num(missing), axis=1)
        worst = int(off.argmax())
        if off[worst] > MISSED_MM:
            text = (
                f"points[{n}]: at {(first + worst) / rate:.2f} s landmark {goal.landmark} is {off[worst]:.1f} mm off; "
                "faces like the recorded ones do not go there, or another goal holds it"
            )
            found.append(
                Problem(ProblemKind.FACE_MISSED, text, f"points[{n}]", 0.0, round(float(off[worst]), 3), unit="mm")
            )
    return tuple(found)
