"""Faces completed: what a request asks of landmarks, the most likely answer, and what it misses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from choreograph.base.arrays import Floats
from choreograph.base.errors import RequestError
from choreograph.base.progress import Progress, silent
from choreograph.contract.problem import Problem, ProblemKind
from choreograph.contract.result import Answer, Metric, Motion, Result
from choreograph.contract.search import OneStepSearch, Search
from choreograph.contract.verb import FACES, File
from choreograph.formats.face import read_shapes
from choreograph.formats.head_glb import read_head
from choreograph.goals.model import ShapeGoal
from choreograph.goals.tolerance import TOLERANCE
from choreograph.motion.face import Face, FaceShapes, points_as_clip, shape_key
from choreograph.verbs.face.model import (
    FaceModel,
    LandmarkTargets,
    complete_landmarks,
    learn_face,
    learn_points,
    points_error,
)
from choreograph.verbs.face.request import FaceRequest
from choreograph.verbs.face.sources import RecordedFaces, Recording

_EXACT = 10.0
"""How much firmer landmarks are that are wanted exactly."""
_METRES = 1e-3  # in a millimetre


@dataclass(frozen=True, eq=False)
class FaceResult(Result):
    """A completed or converted face; its clip is that of its landmarks or markers."""

    landmarks: Floats | None = None
    """The most likely ones, before weights were solved, (F, L, 3), millimetres."""
    shapes: FaceShapes | None = None
    """Landmarks, and how shapes move them; None for markers."""
    model: FaceModel | None = None
    """What was learned; None where a face was converted."""

    @property
    def face(self) -> Face:
        """The weights.

        Raises:
            RequestError: If markers were completed without shapes.
        """
        face = self.best.motions[0].face
        if face is None:
            raise RequestError("markers were completed without shapes, so there are no weights; name some (shapes)")
        return face

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Any:
        return {"text/plain": repr(self)}  # the notebook's stage shows bodies


@dataclass(frozen=True, eq=False)
class _Completed:
    """Landmarks that were found, and what shows of them."""

    landmarks: Floats
    final: Floats
    """Those that the weights lead to, (F, L, 3)."""
    face: Face | None
    rate_hz: float
    targets: LandmarkTargets | None = None


class FaceSearch(OneStepSearch[_Completed]):
    """The most likely face of one request."""

    def __init__(
        self,
        recordings: Sequence[Recording],
        request: FaceRequest,
        *,
        shapes: FaceShapes | None = None,
        model: FaceModel | None = None,
    ) -> None:
        """Prepare it.

        Args:
            recordings: To learn from, and to take poses from by name: weights, or tracks of the same markers.
            request: What is wanted.
            shapes: Landmarks, and how shapes move them; else the request's, else a simple head's.
            model: What was learned before, if anything.
        """
        super().__init__(request)
        self.request: FaceRequest = request
        self._recordings, self._shapes = recordings, shapes
        self._known = None if model is None else (self._key(), model)

    def reuse(self, earlier: Search) -> None:
        """Take over the model that an earlier search has learned."""
        if isinstance(earlier, FaceSearch) and earlier._recordings is self._recordings:
            self._known = earlier._known

    def make(self, progress: Progress) -> _Completed:
        """The most likely landmarks, and the weights that lead nearest to them."""
        request = self.request
        shapes = self._shapes or (None if request.shapes is None else read_shapes(request.shapes))
        self._recorded = recorded = RecordedFaces.of(self._recordings, shapes, convert=not request.goals)
        if request.duration_s is None:
            first = recorded.recordings[0]
            assert isinstance(first, Face)
            landmarks = recorded.tracks[first.name]
            return _Completed(landmarks, landmarks, first, first.fps)
        progress("learning", 0, 2)
        model = self._learn()
        progress("completing", 1, 2)
        frames = round(request.duration_s * model.rate_hz) + 1
        targets = find_targets(request, recorded, model, frames)
        whole = complete_landmarks(model, frames, targets, exact=request.exact)
        if recorded.shapes is None:
            return _Completed(whole, whole, None, model.rate_hz, targets)
        names = recorded.names
        column = recorded.shapes.order(names)
        weights = np.zeros((frames, len(names)))
        weights[:, column[column >= 0]] = recorded.shapes.solve_weights(whole)[:, column >= 0]
        face = Face(names, weights, model.rate_hz, "completed")
        return _Completed(whole, recorded.shapes.landmarks(face), face, model.rate_hz, targets)

    def _key(self) -> Any:
        return self.request.shapes, self.request.advanced

    def _learn(self) -> FaceModel:
        """The model of all recordings, learned once."""
        if self._known is None or self._known[0] != self._key():
            recorded, how = self._recorded, self.request.advanced
            if recorded.shapes is None:
                model = learn_points(recorded.resampled(), recorded.rate_hz, order=how.order, controls=how.controls)
            else:
                faces = [one for one in recorded.recordings if isinstance(one, Face)]
                model = learn_face(faces, recorded.shapes, order=how.order, controls=how.controls)
            self._known = self._key(), model
        return self._known[1]

    def best(self) -> FaceResult:
        """The completed face."""
        own, recorded, request = self.made, self._recorded, self.request
        model = None if own.targets is None else self._learn()
        markers = recorded.names if recorded.shapes is None else ()
        name = "completed" if own.face is None else own.face.name
        clip = points_as_clip(own.final * _METRES, own.rate_hz, name, markers)
        misses = [] if own.targets is None else list(measure(request, own.targets, own.final, own.rate_hz))
        metrics = {"seconds": Metric(clip.seconds, "s", "Duration")}
        if misses:
            metrics["goal_error_max"] = Metric(max(miss.got or 0.0 for miss in misses), "mm", "Goal error, max")
        if model is not None:
            metrics["model_error"] = Metric(points_error(model, recorded.resampled()), "mm", "Model error, one step")
        if model is not None and own.face is not None:
            apart = float(np.linalg.norm(own.final - own.landmarks, axis=-1).mean())
            metrics["weights_error"] = Metric(apart, "mm", "Landmark error of the weights")
        limit = TOLERANCE["landmark"].limit()
        answer = Answer(
            (Motion(clip, face=own.face),),
            f"{clip.seconds:.2f} s of {len(recorded.names)} {'shapes' if own.face is not None else 'markers'}",
            metrics,
            tuple(miss for miss in misses if miss.got is not None and miss.got > limit),
            details={} if model is None else {"learned_from": [one.name for one in recorded.recordings]},
        )
        return FaceResult(
            "face", request, (answer,), notes=self._lost_shapes(own.face), seconds=self.seconds,
            landmarks=own.landmarks, shapes=recorded.shapes, model=model,
        )  # fmt: skip

    def _lost_shapes(self, face: Face | None) -> tuple[Problem, ...]:
        """Shapes that the face shows and the head that it is written on does not have."""
        if face is None or self._recorded.shapes is None:
            return ()
        head = self.request.head
        known = {shape_key(name) for name in (read_head(head).shapes if head else self._recorded.shapes).names}
        moved = (face.weights > 0).sum(axis=0).tolist()
        lost = [name for name, moves in zip(face.names, moved, strict=True) if moves and shape_key(name) not in known]
        text = f"The head has no {', '.join(lost)}; .glb files leave that out."
        return (Problem(ProblemKind.INPUT_REPAIRED, text, "head"),) if lost else ()


def find_targets(request: FaceRequest, recorded: RecordedFaces, model: FaceModel, frames: int) -> LandmarkTargets:
    """What a request asks of landmarks, as arrays.

    Raises:
        RequestError: If a recording, a shape or a landmark is not there.
    """
    rate, size = model.rate_hz, model.landmarks
    at, rows = [], []
    for where, goal in request.expressions:
        assert goal.at_s is not None
        at.append(min(round(goal.at_s * rate), frames - 1))
        if isinstance(goal, ShapeGoal):
            rows.append(recorded.expression(goal.shapes, f"{where}.shapes"))
        else:
            assert goal.pose.clip is not None
            rows.append(recorded.frame(goal.pose.clip, goal.pose.frame, f"{where}.pose"))
    places, points, firm = [], [], []
    for where, point in request.landmarks:
        if point.landmark >= size:
            text = f"{where}.landmark is {point.landmark}; there are 0 to {size - 1}"
            raise RequestError(text, where=f"{where}.landmark")
        first, last = (min(round(time * rate), frames - 1) for time in point.span)
        line = np.array(point.points_mm or (point.position_mm,), float)
        spread = np.linspace(0, len(line) - 1, last - first + 1)
        low = np.minimum(spread.astype(int), len(line) - 1)
        high = np.minimum(low + 1, len(line) - 1)
        points += list(line[low] + (spread - low)[:, None] * (line[high] - line[low]))
        places += [(frame, point.landmark) for frame in range(first, last + 1)]
        exact = request.exact if point.exact is None else point.exact and request.exact
        firm += [float(np.sqrt(point.weight)) * (_EXACT if exact else 1.0)] * (last - first + 1)
    return LandmarkTargets(
        np.array(at, np.int64),
        np.array(rows).reshape(-1, size, 3),
        np.array(places, np.int64).reshape(-1, 2),
        np.array(points, float).reshape(-1, 3),
        np.array([np.sqrt(goal.weight) for _, goal in request.expressions], float),
        np.array(firm, float),
    )


def measure(request: FaceRequest, targets: LandmarkTargets, final: Floats, rate_hz: float) -> Iterator[Problem]:
    """How far the finished face is from each goal."""

    def problem(where: str, what: str, off: float, frame: int) -> Problem:
        limit = TOLERANCE["landmark"].limit()
        facts: dict[str, Any] = {"asked": 0.0, "got": off, "tolerance": limit, "unit": "mm", "at_s": frame / rate_hz}
        return Problem.of(ProblemKind.FACE_MISSED, where, what=what, metric="goal_error_max", **facts)

    for (where, _), frame, wanted in zip(request.expressions, targets.frames, targets.faces, strict=True):
        off = float(np.linalg.norm(final[frame] - wanted, axis=1).mean())
        yield problem(where, "The face", off, int(frame))
    row = 0
    for where, point in request.landmarks:
        first, last = (min(round(time * rate_hz), len(final) - 1) for time in point.span)
        wanted = targets.points[row : row + last - first + 1]
        row += len(wanted)
        apart = np.linalg.norm(np.nan_to_num(final[first : last + 1, point.landmark] - wanted), axis=1)
        yield problem(where, f"Landmark {point.landmark}", float(apart.max()), first + int(apart.argmax()))


def face(
    recordings: Recording | File | Sequence[Recording | File],
    request: FaceRequest | None = None,
    *,
    shapes: FaceShapes | None = None,
    model: FaceModel | None = None,
    progress: Progress | None = None,
    **fields: Any,
) -> FaceResult:
    """The most likely face through a few expressions and tracked landmarks; without goals, the first one as it is.

    >>> import numpy as np
    >>> import choreograph as cg
    >>> talk = cg.Face(("JawOpen",), 0.5 + 0.4 * np.sin(np.linspace(0, 20, 200))[:, None], 30.0)
    >>> goals = [cg.ShapeGoal(0.0, {}), cg.ShapeGoal(1.0, {"JawOpen": 0.8})]
    >>> made = face(talk, duration_s=1.0, goals=goals).face
    >>> [round(float(w), 1) for w in made.weights[[0, -1], 0]]
    [0.0, 0.8]

    Args:
        recordings: To learn from, and to take poses from by name: faces, clips of markers as `read_markers` gives them,
            or names of their files.
        request: What is wanted.
        shapes: Landmarks, and how shapes move them; else the request's, else a simple head's. Markers without shapes
            are completed as they are.
        model: What was learned before, if anything.
        progress: Hears how far the work has come.
        **fields: Of the request.

    Raises:
        RequestError: If a recording, a shape or a landmark is not there.
    """
    given = recordings if isinstance(recordings, list | tuple | File) else [recordings]
    search = FaceSearch(FACES.read(given), (request or FaceRequest()).with_(**fields), shapes=shapes, model=model)
    search.step(progress=progress or silent)
    return search.best()
