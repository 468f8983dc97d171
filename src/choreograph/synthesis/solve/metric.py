"""How well one frame can follow another: the metric of Arikan & Forsyth (2002, appendix A), as points in space.

All frames of a graph's clips stand in one table, clip after clip, at the graph's rate. Their cost of following each
other, equation 5, is a squared Euclidean distance between rows of features.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from choreograph.features.weights import joint_weights
from choreograph.graph.model import MotionGraph
from choreograph.motion.arrays import seal
from choreograph.motion.clip import Clip
from choreograph.progress import Progress, silent

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class FrameTable:
    """Every frame of a graph's clips at the graph's rate, in G rows: each clip's frames, then one row of padding.

    The padding row makes the end of a clip, as of a range [start, stop), a row of that clip.
    """

    base: NDArray[np.int64]
    """Row of each clip's first frame, and the number of rows, (C + 1,)."""
    clip_of: NDArray[np.int32]
    """The clip that each row belongs to, (G,)."""
    real: NDArray[np.bool_]
    """Whether a row is a frame, not padding, (G,)."""
    place: NDArray[np.complex128]
    """Where the torso stands on the floor as recorded, x + iz, metres, (G,)."""
    turn: NDArray[np.complex128]
    """The torso's facing as exp(-i yaw), (G,)."""
    joints: NDArray[np.float32]
    """Joint positions in the torso's floor frame, (G, J, 3), metres."""
    features: NDArray[np.float32]
    """Rows whose squared distance is the cost of following, (G, D); padding is infinitely far from all."""
    rate_hz: float

    def __len__(self) -> int:
        """Number of rows."""
        return len(self.clip_of)

    def frames(self, clip: int) -> int:
        """Frames of a clip."""
        return int(self.base[clip + 1] - self.base[clip]) - 1

    def cost_to(self, row: int) -> NDArray[np.float32]:
        """Cost of following between one row and every other, (G,)."""
        return np.asarray(((self.features - self.features[row]) ** 2).sum(axis=1), np.float32)


def build_frame_table(
    graph: MotionGraph, weights: str | Mapping[str, float] | None = None, progress: Progress | None = None
) -> FrameTable:
    """All frames of a graph's clips, and their features.

    Args:
        graph: Whose clips.
        weights: Joint weights (M and T), by role or a preset's name; the graph's own if None.
        progress: Hears how many clips are done.
    """
    told = progress or silent
    weight = joint_weights(graph.skeleton.roles, graph.settings.weights if weights is None else weights)
    parts = []
    for done, clip in enumerate(graph.clips):
        told("reading clips", done, len(graph.infos))
        parts.append(_clip_part(clip.resampled(graph.rate_hz)))
    lengths = np.array([len(part.place) for part in parts])
    base = np.concatenate([[0], np.cumsum(lengths + 1)])
    # Columns of equation 2: the joints, the torso's velocity, its rate of turning; the latter two weigh as one joint.
    weight = np.concatenate([weight, [1.0, 1.0]])
    scaled = _normalised([part.columns for part in parts], weight), _normalised([p.rates for p in parts], weight)
    features = [np.concatenate(both, axis=1) for both in zip(*scaled, strict=True)]
    return FrameTable(
        base=seal(base),
        clip_of=seal(np.repeat(np.arange(len(parts), dtype=np.int32), lengths + 1)),
        real=seal(_padded([np.ones(n, bool) for n in lengths], False)),
        place=seal(_padded([part.place for part in parts], 0.0)),
        turn=seal(_padded([part.turn for part in parts], 1.0)),
        joints=seal(_padded([part.joints for part in parts], 0.0).astype(np.float32)),
        features=seal(_padded(features, 1e6).astype(np.float32)),
        rate_hz=graph.rate_hz,
    )


@dataclass(frozen=True, eq=False)
class _Part:
    place: NDArray[np.complex128]
    turn: NDArray[np.complex128]
    joints: Array
    columns: Array
    """Equation 2's columns, (F, J + 2, 3)."""
    rates: Array
    """Their derivatives, per second."""


def _clip_part(clip: Clip) -> _Part:
    positions = clip.global_positions()
    hips = positions[:, clip.skeleton.hips]
    place, turn = hips[:, 0] + 1j * hips[:, 2], np.exp(-1j * clip.facing())
    floor = (positions[..., 0] + 1j * positions[..., 2] - place[:, None]) * turn.conj()[:, None]
    joints = np.stack([floor.real, positions[..., 1], floor.imag], axis=-1)
    velocity = np.zeros((len(clip), 3))
    if len(clip) > 1:
        along = np.gradient(place) * clip.fps * turn.conj()
        velocity[:, 0], velocity[:, 1], velocity[:, 2] = along.real, np.gradient(hips[:, 1]) * clip.fps, along.imag
    spin = np.zeros((len(clip), 3))
    spin[:, 1] = _rate(-np.unwrap(np.angle(turn)), clip.fps)
    columns = np.concatenate([joints, velocity[:, None], spin[:, None]], axis=1)
    return _Part(place, turn, joints, columns, _rate(columns, clip.fps))


def _rate(values: Array, fps: float) -> Array:
    return np.asarray(np.gradient(values, axis=0) * fps) if len(values) > 1 else np.zeros_like(values)


def _normalised(parts: list[Array], weight: Array) -> list[Array]:
    """Columns (F, K, 3) as rows of features: over their greatest change in one frame (O and L), by their weight."""
    changes = [(np.diff(part, axis=0) ** 2).sum(axis=2).max(axis=0) for part in parts if len(part) > 1]
    greatest = np.max(changes, axis=0) if changes else np.ones(len(weight))
    kept = (weight > 0) & (greatest > 1e-12)
    scale = np.sqrt(weight[kept] / greatest[kept])
    # Centred, so that products of features in single precision keep the small differences.
    middle = np.concatenate(parts).mean(axis=0)
    return [((part - middle)[:, kept] * scale[:, None]).reshape(len(part), -1) for part in parts]


def _padded(parts: list[Any], value: float) -> NDArray[Any]:
    end = np.full((1, *parts[0].shape[1:]), value, parts[0].dtype)
    return np.concatenate([row for part in parts for row in (part, end)])
