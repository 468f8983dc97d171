"""Floor transforms: a turn about the vertical and a shift along the floor, the only alignment between clips."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from choreograph.base import quat
from choreograph.base.arrays import Floats


@dataclass(frozen=True)
class FloorTransform:
    """Turn by `yaw` about +y, then move by (`x`, `z`) along the floor; fields may be arrays of one shape.

    A point (x, z) goes to (x cos yaw + z sin yaw, -x sin yaw + z cos yaw) plus the shift; heights stay. Written
    with c = x + iz that is c * exp(-i yaw) + shift.
    """

    yaw: Any = 0.0
    """Radians about +y."""
    x: Any = 0.0
    """Metres."""
    z: Any = 0.0
    """Metres."""

    def __matmul__(self, other: FloorTransform) -> FloorTransform:
        """The transform that does `other` first, then this one."""
        x, z = self._move(other.x, other.z)
        yaw = np.asarray(self.yaw, float) + other.yaw
        # Wrapped, so that ten thousand turns in one direction keep their precision.
        return FloorTransform(_plain(np.angle(np.exp(1j * yaw))), x, z)

    def inverse(self) -> FloorTransform:
        """The transform that undoes this one."""
        back = FloorTransform(-np.asarray(self.yaw, float))
        x, z = back._move(self.x, self.z)
        return FloorTransform(_plain(back.yaw), _plain(-x), _plain(-z))

    def part(self, share: ArrayLike) -> FloorTransform:
        """The transform done in part: none of it at 0, all of it at 1; about the same place as the whole.

        >>> FloorTransform(0.0, 2.0, 0.0).part(0.5)
        FloorTransform(yaw=0.0, x=1.0, z=0.0)
        """
        yaw, share = np.asarray(self.yaw, float), np.asarray(share, float)
        whole = 1 - np.exp(-1j * yaw)
        still = np.abs(yaw) < 1e-9
        turned = np.where(still, share, (1 - np.exp(-1j * share * yaw)) / np.where(still, 1.0, whole))
        moved = (np.asarray(self.x, float) + 1j * np.asarray(self.z, float)) * turned
        return FloorTransform(_plain(share * yaw), _plain(moved.real), _plain(moved.imag))

    def as_rows(self) -> Floats:
        """A batch of N transforms as yaw, x, z, (N, 3)."""
        return np.stack(np.broadcast_arrays(*(np.asarray(value, float) for value in (self.yaw, self.x, self.z))), -1)

    def apply(self, points: ArrayLike) -> Floats:
        """Points (..., 3) carried along; a batch of transforms meets the points' leading axes."""
        points = np.asarray(points, float)
        x, z = self._move(points[..., 0], points[..., 2])
        out = np.empty((*np.shape(x), 3))
        out[..., 0], out[..., 1], out[..., 2] = x, points[..., 1], z
        return out

    def turn(self, rotations: ArrayLike) -> Floats:
        """Global rotations (..., 4) carried along."""
        return quat.multiply(quat.from_yaw(self.yaw), rotations)

    def _move(self, x: Any, z: Any) -> tuple[Any, Any]:
        cos, sin = np.cos(self.yaw), np.sin(self.yaw)
        return _plain(x * cos + z * sin + self.x), _plain(-x * sin + z * cos + self.z)


def _plain(value: Any) -> Any:
    """A NumPy scalar as a Python float, an array as it is."""
    return float(value) if np.ndim(value) == 0 else value


def compose(first: Floats, then: Floats) -> Floats:
    """Moves over the floor (…, 3), each a yaw, x and z, made one after the other."""
    cos, sin = np.cos(first[..., 0]), np.sin(first[..., 0])
    x = then[..., 1] * cos + then[..., 2] * sin + first[..., 1]
    z = -then[..., 1] * sin + then[..., 2] * cos + first[..., 2]
    return np.stack(np.broadcast_arrays(first[..., 0] + then[..., 0], x, z), axis=-1)
