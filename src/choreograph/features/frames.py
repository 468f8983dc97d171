"""How well one frame can follow another: the metric of Arikan & Forsyth (2002, appendix A), as points in space.

All frames of some clips stand in one table, clip after clip, at one rate. Their cost of following each other, equation
5, is a squared Euclidean distance between rows of features; `Scaling` tells how those came from metres.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from choreograph.base.arrays import Complexes, Flags, Floats, Floats32, Ints, Ints32, seal
from choreograph.base.progress import Progress, silent
from choreograph.features.weights import joint_weights
from choreograph.motion.clip import Clip


@dataclass(frozen=True, eq=False)
class Scaling:
    """How columns became features, so that it can be done to other motion, and undone: (column - offset) * scale."""

    offset: Floats
    """Mean of each column over all frames, (K, 3): joints, then the torso's velocity and its rate of turning; metres
    and seconds."""
    scale: Floats
    """Factor of each column, (K,); 0 for one that does not count."""

    def apply(self, columns: Floats) -> Floats:
        """Columns (F, K, 3) as features, (F, D)."""
        used = self.scale > 0
        return np.asarray(((columns - self.offset)[:, used] * self.scale[used, None]).reshape(len(columns), -1))

    def undo(self, features: Floats) -> Floats:
        """Features (F, D) as columns, (F, K, 3); those that do not count are at their mean."""
        used = self.scale > 0
        out = np.repeat(self.offset[None], len(features), axis=0)
        out[:, used] += features.reshape(len(features), -1, 3) / self.scale[used, None]
        return out


@dataclass(frozen=True, eq=False)
class FrameTable:
    """Every frame of some clips at one rate, in G rows: each clip's frames, then one row of padding.

    The padding row makes the end of a clip, as of a range [start, stop), a row of that clip.
    """

    base: Ints
    """Row of each clip's first frame, and the number of rows, (C + 1,)."""
    clip_of: Ints32
    """The clip that each row belongs to, (G,)."""
    real: Flags
    """Whether a row is a frame, not padding, (G,)."""
    place: Complexes
    """Where the torso stands on the floor as recorded, x + iz, metres, (G,)."""
    turn: Complexes
    """The torso's facing as exp(-i yaw), (G,)."""
    joints: Floats32
    """Joint positions in the torso's floor frame, (G, J, 3), metres."""
    features: Floats32
    """Rows whose squared distance is the cost of following, (G, D); padding is infinitely far from all."""
    rate_hz: float
    scalings: tuple[Scaling, Scaling] | None = None
    """Of the columns and of their rates of change, which stand one after the other in `features`."""

    def __len__(self) -> int:
        """Number of rows."""
        return len(self.clip_of)

    def frames(self, clip: int) -> int:
        """Frames of a clip."""
        return int(self.base[clip + 1] - self.base[clip]) - 1

    def cost_to(self, row: int) -> Floats32:
        """Cost of following between one row and every other, (G,)."""
        return np.asarray(((self.features - self.features[row]) ** 2).sum(axis=1), np.float32)


def build_frame_table(
    clips: Sequence[Clip], rate_hz: float, weights: str | Mapping[str, float], progress: Progress | None = None
) -> FrameTable:
    """All frames of some clips, and their features.

    Args:
        clips: Of one skeleton; one or more.
        rate_hz: At which they are looked at.
        weights: Joint weights (M and T), by role or a preset's name.
        progress: Hears how many clips are done.
    """
    report = progress or silent
    weight = joint_weights(clips[0].skeleton.roles, weights)
    parts = []
    for done, clip in enumerate(clips):
        report("reading clips", done, len(clips))
        parts.append(_clip_part(clip.resampled(rate_hz)))
    lengths = np.array([len(part.place) for part in parts])
    base = np.concatenate([[0], np.cumsum(lengths + 1)])
    # Columns of equation 2: the joints, the torso's velocity, its rate of turning; the latter two weigh as one joint.
    weight = np.concatenate([weight, [1.0, 1.0]])
    scalings = _scaling([part.columns for part in parts], weight), _scaling([part.rates for part in parts], weight)
    features = [
        np.concatenate([scalings[0].apply(part.columns), scalings[1].apply(part.rates)], axis=1) for part in parts
    ]
    return FrameTable(
        base=seal(base),
        clip_of=seal(np.repeat(np.arange(len(parts), dtype=np.int32), lengths + 1)),
        real=seal(_padded([np.ones(n, bool) for n in lengths], False)),
        place=seal(_padded([part.place for part in parts], 0.0)),
        turn=seal(_padded([part.turn for part in parts], 1.0)),
        joints=seal(_padded([part.joints for part in parts], 0.0).astype(np.float32)),
        features=seal(_padded(features, 1e6).astype(np.float32)),
        rate_hz=rate_hz,
        scalings=scalings,
    )


@dataclass(frozen=True, eq=False)
class _Part:
    place: Complexes
    turn: Complexes
    joints: Floats
    columns: Floats
    """Equation 2's columns, (F, J + 2, 3)."""
    rates: Floats
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


def _rate(values: Floats, fps: float) -> Floats:
    return np.asarray(np.gradient(values, axis=0) * fps) if len(values) > 1 else np.zeros_like(values)


def _scaling(parts: list[Floats], weight: Floats) -> Scaling:
    """How columns (F, K, 3) become features: over their greatest change in one frame (O and L), by their weight."""
    changes = [(np.diff(part, axis=0) ** 2).sum(axis=2).max(axis=0) for part in parts if len(part) > 1]
    greatest = np.max(changes, axis=0) if changes else np.ones(len(weight))
    used = (weight > 0) & (greatest > 1e-12)
    scale = np.zeros(len(weight))
    scale[used] = np.sqrt(weight[used] / greatest[used])
    # Centred, so that products of features in single precision keep the small differences.
    return Scaling(np.concatenate(parts).mean(axis=0), scale)


def _padded(parts: list[Any], value: float) -> NDArray[Any]:
    end = np.full((1, *parts[0].shape[1:]), value, parts[0].dtype)
    return np.concatenate([row for part in parts for row in (part, end)])
