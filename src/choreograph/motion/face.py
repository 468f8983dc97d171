"""Face: weights of blend shapes over time, and the landmarks that they move. A motion without a root."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from choreograph.base.arrays import Floats, Ints, frozen
from choreograph.base.errors import RequestError
from choreograph.motion.clip import Clip, Note
from choreograph.motion.skeleton import Skeleton

_METRES_PER_MM = 1e-3  # landmarks are in millimetres, clips in metres
_SWEEPS = 40  # over all shapes until their weights settle, at most
_RIDGE_MM = 0.05
"""Millimetres of landmarks that a whole weight counts as: of weights that do alike, the smallest is taken."""


def shape_key(name: str) -> str:
    """A shape's name as all programs mean it: "JawOpen", "jawOpen" and "jaw_open" are one, and "_L" is "Left".

    >>> shape_key("jawOpen") == shape_key("Jaw_Open"), shape_key("browDown_L") == shape_key("BrowDownLeft")
    (True, True)
    """
    for end, side in (("_L", "left"), ("_R", "right")):
        name = name.removesuffix(end) + side if name.endswith(end) else name
    return name.replace("_", "").replace(" ", "").lower()


@dataclass(frozen=True, eq=False)
class Face:
    """Weights of blend shapes at a fixed rate."""

    names: tuple[str, ...]
    """Of the shapes, as ARKit names them."""
    weights: Floats
    """(F, S), from 0 to 1."""
    fps: float
    name: str = "face"
    others: tuple[str, ...] = ()
    """Further columns, such as HeadYaw."""
    other_values: Floats | None = None
    """(F, len(others)), radians."""
    notes: tuple[Note, ...] = field(default=(), repr=False)
    """What was odd in the file."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", tuple(self.names))
        object.__setattr__(self, "weights", frozen(self.weights))
        frames = len(self.weights)
        values = np.zeros((frames, len(self.others))) if self.other_values is None else self.other_values
        object.__setattr__(self, "other_values", frozen(values))
        if self.weights.shape != (frames, len(self.names)) or frames < 1:
            raise ValueError(f"weights {self.weights.shape} do not fit {len(self.names)} shapes")
        if not (np.isfinite(self.weights).all() and np.isfinite(self.fps) and self.fps > 0):
            raise ValueError("weights and rate must be finite numbers")

    def __len__(self) -> int:
        """Number of frames."""
        return len(self.weights)

    @property
    def seconds(self) -> float:
        """Length in seconds."""
        return len(self) / self.fps

    def __getitem__(self, frames: slice) -> Face:
        """Frames [start, stop) as a face."""
        start, stop, step = frames.indices(len(self))
        if step != 1 or stop <= start:
            raise RequestError(f"frames [{start}, {stop}) of {self.name!r} are empty; it has {len(self)} frames")
        assert self.other_values is not None
        return replace(self, weights=self.weights[start:stop], other_values=self.other_values[start:stop])

    def resampled(self, fps: float) -> Face:
        """The face at another rate, between frames linearly."""
        if np.isclose(fps, self.fps):
            return self
        from choreograph.motion.resample import sample_positions, sample_times

        times = sample_times(len(self), self.fps, fps)
        assert self.other_values is not None
        others = sample_positions(self.other_values, times)
        return replace(self, fps=fps, weights=sample_positions(self.weights, times), other_values=others)

    def ordered(self, names: Sequence[str]) -> Floats:
        """Weights of these shapes, (F, len(names)); 0 for those it does not have."""
        known = {shape_key(name): n for n, name in enumerate(self.names)}
        at = np.array([known.get(shape_key(name), -1) for name in names], np.int64)
        return np.ascontiguousarray(np.where(at >= 0, self.weights[:, at], 0.0))

    def column(self, shape: str) -> int:
        """The number of a shape.

        Raises:
            RequestError: If there is none; the message lists those there are.
        """
        keys = [shape_key(name) for name in self.names]
        if shape_key(shape) not in keys:
            raise RequestError(f"there is no shape {shape!r}; there are {', '.join(self.names)}")
        return keys.index(shape_key(shape))


@dataclass(frozen=True, eq=False)
class FaceShapes:
    """Landmarks of a face, and how shapes move them."""

    names: tuple[str, ...]
    neutral: Floats
    """(L, 3), millimetres, y up, the face looks along +z."""
    moves: Floats
    """(S, L, 3), millimetres at a weight of 1."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", tuple(self.names))
        object.__setattr__(self, "neutral", frozen(self.neutral))
        object.__setattr__(self, "moves", frozen(self.moves))
        if self.moves.shape != (len(self.names), *self.neutral.shape) or self.neutral.ndim != 2:
            raise ValueError(f"shapes {self.moves.shape} do not fit landmarks {self.neutral.shape}")

    def __len__(self) -> int:
        """Number of landmarks."""
        return len(self.neutral)

    def order(self, names: Sequence[str]) -> Ints:
        """For each of these shapes the column among `names`; -1 where it is not there."""
        known = {shape_key(name): n for n, name in enumerate(names)}
        return np.array([known.get(shape_key(name), -1) for name in self.names], np.int64)

    def landmarks(self, face: Face) -> Floats:
        """Where the landmarks are in each frame, (F, L, 3), millimetres."""
        at = self.order(face.names)
        used = at >= 0
        return np.asarray(self.neutral + np.einsum("fs,slc->flc", face.weights[:, at[used]], self.moves[used]))

    def solve_weights(self, landmarks: Floats, start: Floats | None = None) -> Floats:
        """The weights from 0 to 1 that bring landmarks nearest to these, (F, S).

        Coordinate descent on the bounded least-squares problem, all frames at once; of shapes that do the same, the
        weights stay small.

        Args:
            landmarks: (F, L, 3), millimetres; NaN for what is not known.
            start: Where to begin, (F, S).
        """
        frames = len(landmarks)
        known = np.isfinite(landmarks).reshape(frames, -1).all(axis=0)
        basis = self.moves.reshape(len(self.names), -1)[:, known]
        wanted = (landmarks - self.neutral).reshape(frames, -1)[:, known]
        gram = basis @ basis.T + np.eye(len(basis)) * _RIDGE_MM**2
        slope = wanted @ basis.T
        weights = np.zeros((frames, len(basis))) if start is None else np.clip(start, 0.0, 1.0)
        rest = slope - weights @ gram
        for _ in range(_SWEEPS):
            worst = 0.0
            for s in range(len(basis)):
                step = np.clip(weights[:, s] + rest[:, s] / gram[s, s], 0.0, 1.0) - weights[:, s]
                weights[:, s] += step
                rest -= step[:, None] * gram[s]
                worst = max(worst, float(np.abs(step).max()))
            if worst < 1e-6:
                break
        return weights

    def as_clip(self, face: Face) -> Clip:
        """The landmarks as a clip of points below one root, metres: for whatever reads or shows clips."""
        return points_as_clip(self.landmarks(face) * _METRES_PER_MM, face.fps, face.name)


def points_as_clip(points: Floats, fps: float, name: str, names: Iterable[str] = ()) -> Clip:
    """Points (F, P, 3) in metres as a clip: a root at their mean, and a joint for each.

    Args:
        points: Where they are.
        fps: Frames per second.
        name: Of the clip.
        names: Of the points; numbered if none.
    """
    frames, count = points.shape[:2]
    centre = points[0].mean(axis=0)
    own = tuple(names) or tuple(f"landmark_{n:02d}" for n in range(count))
    offsets = np.concatenate([centre[None], points[0] - centre])
    root_name = "face"
    while root_name in own:
        root_name += "_root"
    skeleton = Skeleton((root_name, *own), [-1] + [0] * count, offsets, roles=("other",) * (count + 1))  # type: ignore[arg-type]
    root = np.repeat(centre[None], frames, axis=0)
    rot = np.zeros((frames, count + 1, 4))
    rot[..., 0] = 1.0
    local = np.concatenate([root[:, None], points - centre], axis=1)
    return Clip(skeleton, fps, root, rot, name, local_pos=local)


def is_points(clip: Clip) -> bool:
    """Whether a clip is of points, as `points_as_clip` makes them."""
    parents = clip.skeleton.parents
    return clip.local_pos is not None and len(parents) > 1 and not parents[1:].any() and not clip.skeleton.feet


def marker_points(clip: Clip) -> Floats:
    """Where the points of such a clip are, (F, P, 3), millimetres."""
    return np.asarray(clip.global_positions()[:, 1:] * 1e3)


def named_weights(names: Sequence[str], values: Mapping[str, float]) -> Floats:
    """Weights (S,) of shapes by name; those that are not named are 0.

    Raises:
        RequestError: If a shape is not there; the message lists those there are.
    """
    known = {shape_key(name): n for n, name in enumerate(names)}
    out = np.zeros(len(names))
    for name, value in values.items():
        if shape_key(name) not in known:
            raise RequestError(f"there is no shape {name!r}; there are {', '.join(names)}")
        out[known[shape_key(name)]] = value
    return out
