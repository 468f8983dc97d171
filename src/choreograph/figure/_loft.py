"""Lofts: closed skins drawn over a row of elliptical sections, the one shape the mannequin is made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from choreograph.base.arrays import Floats, Floats32, Indices, Ints32

_LEAST = 1e-5
"""Smaller weights are none."""


@dataclass(frozen=True, eq=False)
class Section:
    """One cross-section of a loft."""

    centre: Floats
    """Middle of the section, (3,), metres."""
    across: Floats
    """Half of its width as a vector, (3,), metres."""
    deep: Floats
    """Half of its depth as a vector, (3,), metres; the loft runs along across x deep."""
    weights: Mapping[int, float]
    """The joints it follows, and how much."""
    colour: Floats
    """Linear RGB, (3,)."""
    square: float = 2.0
    """Exponent of its outline |x|^n + |y|^n = 1: 2 is an ellipse, more is boxier."""
    flanks: tuple[int, int] | None = None
    """Joints that its two ends across follow: the one that `across` points to, and the other."""
    flank_share: float = 0.0
    """How much the very ends follow them."""

    def facing(self, along: Floats) -> Section:
        """The same section with its outline running so that a loft along this direction has its outside out."""
        if float(np.cross(self.across, self.deep) @ along) >= 0:
            return self
        return replace(self, across=-self.across, flanks=self.flanks and self.flanks[::-1])

    def weights_at(self, across: float) -> dict[int, float]:
        """The joints that a point of the outline follows; `across` is from -1 to 1."""
        weights = dict(self.weights)
        if self.flanks is not None:
            reach = max(0.0, (abs(across) - 0.3) / 0.7)
            share = self.flank_share * reach * reach * (3 - 2 * reach)
            weights = {joint: weight * (1 - share) for joint, weight in weights.items()}
            joint = self.flanks[0 if across > 0 else 1]
            weights[joint] = weights.get(joint, 0.0) + share
        return weights


@dataclass(frozen=True, eq=False)
class LoftSurface:
    """Vertices and triangles with colours and skin weights; see `SkinnedMesh` for the fields."""

    vertices: Floats32
    normals: Floats32
    triangles: Ints32
    joint_indices: NDArray[np.uint16]
    joint_weights: Floats32
    colours: Floats32


def loft(sections: Sequence[Section], sides: int) -> LoftSurface:
    """A closed skin over two or more sections; the first and last are closed by a point in their middle."""
    angles = 2 * np.pi * np.arange(sides) / sides
    rings = []
    for s in sections:
        x, y = np.cos(angles), np.sin(angles)
        if s.square != 2.0:
            reach = (np.abs(x) ** s.square + np.abs(y) ** s.square) ** (-1 / s.square)
            x, y = x * reach, y * reach
        rings.append(s.centre + x[:, None] * s.across + y[:, None] * s.deep)
    count = len(sections)
    vertices = np.concatenate([*rings, sections[0].centre[None], sections[-1].centre[None]])
    a = (np.arange(count - 1)[:, None] * sides + np.arange(sides)).ravel()
    b = (np.arange(count - 1)[:, None] * sides + (np.arange(sides) + 1) % sides).ravel()
    walls = np.concatenate([np.stack([a, b, b + sides], 1), np.stack([a, b + sides, a + sides], 1)])
    near = np.arange(sides)
    far = near + (count - 1) * sides
    lids = [
        np.stack([np.full(sides, count * sides), np.roll(near, -1), near], 1),
        np.stack([np.full(sides, count * sides + 1), far, np.roll(far, -1)], 1),
    ]
    triangles = np.concatenate([walls, *lids])
    of = np.concatenate([np.repeat(np.arange(count), sides), [0, count - 1]])
    across = np.concatenate([np.tile(np.cos(angles), count), [0.0, 0.0]])
    indices, weights = _skin_weights([sections[k].weights_at(float(x)) for k, x in zip(of, across, strict=True)])
    return LoftSurface(
        vertices=vertices.astype(np.float32),
        normals=_normals(vertices, triangles).astype(np.float32),
        triangles=triangles.astype(np.int32),
        joint_indices=indices,
        joint_weights=weights,
        colours=np.array([s.colour for s in sections], np.float32)[of],
    )


def _skin_weights(followed: Sequence[Mapping[int, float]]) -> tuple[NDArray[np.uint16], Floats32]:
    """The four joints that each vertex follows most, and their shares, which sum to 1."""
    indices = np.zeros((len(followed), 4), np.uint16)
    weights = np.zeros((len(followed), 4))
    for row, joints in enumerate(followed):
        best = sorted(((w, -j) for j, w in joints.items() if w > _LEAST), reverse=True)[:4]
        indices[row, : len(best)] = [-j for w, j in best]
        weights[row, : len(best)] = [w for w, j in best]
    return indices, (weights / weights.sum(axis=1, keepdims=True)).astype(np.float32)


def _normals(vertices: Floats, triangles: Indices) -> Floats:
    """Vertex normals: the mean of the faces around, weighted by area."""
    corners = vertices[triangles]
    faces = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals = np.zeros_like(vertices)
    for k in range(3):
        np.add.at(normals, triangles[:, k], faces)
    lengths = np.linalg.norm(normals, axis=1, keepdims=True)
    return np.where(lengths > 0, normals / np.where(lengths > 0, lengths, 1), [0.0, 1.0, 0.0])


def join(parts: Sequence[LoftSurface]) -> LoftSurface:
    """Several surfaces as one."""
    starts = np.cumsum([0, *(len(p.vertices) for p in parts)])
    return LoftSurface(
        vertices=_stack([p.vertices for p in parts], (0, 3), np.float32),
        normals=_stack([p.normals for p in parts], (0, 3), np.float32),
        triangles=_stack([p.triangles + np.int32(s) for p, s in zip(parts, starts, strict=False)], (0, 3), np.int32),
        joint_indices=_stack([p.joint_indices for p in parts], (0, 4), np.uint16),
        joint_weights=_stack([p.joint_weights for p in parts], (0, 4), np.float32),
        colours=_stack([p.colours for p in parts], (0, 3), np.float32),
    )


def _stack(arrays: list[NDArray], empty: tuple[int, ...], dtype: type) -> NDArray:  # type: ignore[type-arg]
    return np.concatenate([np.zeros(empty, dtype), *arrays]).astype(dtype)
