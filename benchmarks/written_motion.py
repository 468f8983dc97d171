"""A motion as it was written: a small reader of BVH files and what can be measured on them.

Nothing of the package is used here, so that what it says about its own motion can be held against something else.
Metres, seconds, radians; y is up; places on the floor are complex numbers, x + iz.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from choreograph.base.arrays import Complexes, Flags, Floats


@dataclass
class Written:
    """The frames of a BVH file."""

    names: list[str]
    fps: float
    joints: Floats
    """(F, J, 3)."""
    turns: Floats
    """How joints are turned in the world, (F, J, 3, 3)."""
    local: Floats
    """How each is turned against its parent, (F, J, 3, 3)."""
    hips: int

    @property
    def torso(self) -> Complexes:
        """Where the hips are on the floor."""
        return self.joints[:, self.hips, 0] + 1j * self.joints[:, self.hips, 2]

    @property
    def root(self) -> Complexes:
        """Where the root is on the floor."""
        return self.joints[:, 0, 0] + 1j * self.joints[:, 0, 2]

    @property
    def facing(self) -> Floats:
        """Where the hips face, without leaps."""
        ahead = self.turns[:, self.hips, :, 2]
        return np.unwrap(np.arctan2(ahead[:, 0], ahead[:, 2]))

    @property
    def seconds(self) -> float:
        """From the first frame to the last."""
        return (len(self.joints) - 1) / self.fps

    def joint(self, name: str) -> int:
        """The number of a joint."""
        return self.names.index(name)

    def at(self, values: NDArray, at_s: float) -> NDArray:
        """Values of frames (F, ...) at a moment, between two frames in proportion."""
        place = min(max(at_s * self.fps, 0.0), len(values) - 1)
        low = min(int(place), len(values) - 2)
        return values[low] + (place - low) * (values[low + 1] - values[low])

    def seen_from_torso(self, frame: int) -> Floats:
        """Joints as seen from the hips' place on the floor and their facing, (J, 3)."""
        flat = self.joints[frame, :, 0] + 1j * self.joints[frame, :, 2] - self.torso[frame]
        flat = flat * np.exp(1j * self.facing[frame])
        return np.stack([flat.real, self.joints[frame, :, 1], flat.imag], axis=1)


def read_written(path: Path, hips: str) -> Written:
    """The motion of a BVH file in metres."""
    head, motion = path.read_text().split("MOTION", 1)
    words = head.split()
    names: list[str] = []
    parents: list[int] = []
    offsets: list[list[float]] = []
    channels: list[list[str]] = []
    stack: list[int] = []
    k = 0
    while k < len(words):
        word = words[k]
        if word in ("ROOT", "JOINT", "End"):
            names.append(words[k + 1] if word != "End" else f"{names[stack[-1]]} end")
            parents.append(stack[-1] if stack else -1)
            offsets.append([0.0] * 3)
            channels.append([])
        elif word == "{":
            stack.append(len(names) - 1)
        elif word == "}":
            stack.pop()
        elif word == "OFFSET":
            offsets[stack[-1]] = [float(v) for v in words[k + 1 : k + 4]]
        elif word == "CHANNELS":
            channels[stack[-1]] = words[k + 2 : k + 2 + int(words[k + 1])]
        k += 1
    lines = motion.split("\n")
    step = next(float(line.split(":")[1]) for line in lines if line.startswith("Frame Time"))
    begin = next(n for n, line in enumerate(lines) if line.startswith("Frame Time")) + 1
    values = np.array([[float(v) for v in line.split()] for line in lines[begin:] if line.strip()])
    count, column = len(values), 0
    joints = np.zeros((count, len(names), 3))
    world, local = (np.tile(np.eye(3), (count, len(names), 1, 1)) for _ in range(2))
    for j, parent in enumerate(parents):
        offset, order, angles = np.tile(offsets[j], (count, 1)), "", []
        if any(name.endswith("position") for name in channels[j]):
            offset = np.zeros((count, 3))
        for name in channels[j]:
            if name.endswith("position"):
                offset[:, "XYZ".index(name[0])] = values[:, column]
            else:
                order += name[0]
                angles.append(values[:, column])
            column += 1
        if order:
            local[:, j] = Rotation.from_euler(order, np.array(angles).T, degrees=True).as_matrix()
        if parent < 0:
            joints[:, j], world[:, j] = offset, local[:, j]
        else:
            joints[:, j] = joints[:, parent] + np.einsum("fij,fj->fi", world[:, parent], offset)
            world[:, j] = world[:, parent] @ local[:, j]
    return Written(names, 1 / step, joints, world, local, names.index(hips))


# ------------------------------------------------------------------ along a path


@dataclass
class Along:
    """Where a root is along a path, frame by frame."""

    way: Floats
    """How far it has come, metres; never falls."""
    off: Floats
    """How far it is from there."""
    length: float

    @property
    def reached(self) -> float:
        """Share of the path that was walked."""
        return float(self.way[-1] / self.length)


def resample(points: Sequence[tuple[float, float]], step: float) -> tuple[Complexes, Floats]:
    """A line as places every `step` metres, and how far along they are."""
    line = np.array([complex(*point) for point in points])
    length = np.concatenate([[0.0], np.cumsum(np.abs(np.diff(line)))])
    along = np.append(np.arange(0.0, length[-1], step), length[-1])
    return np.interp(along, length, line.real) + 1j * np.interp(along, length, line.imag), along


def find_along(root: Complexes, points: Sequence[tuple[float, float]], step: float = 0.01) -> Along:
    """The progress of a root along a path: the nearest place of the next metre, never back."""
    places, along = resample(points, step)
    at, ahead = 0, round(1.0 / step)
    way, off = np.empty(len(root)), np.empty(len(root))
    for n, here in enumerate(root):
        gaps = np.abs(places[at : at + ahead + 1] - here)
        at += int(gaps.argmin())
        way[n], off[n] = along[at], abs(places[at] - here)
    return Along(way, off, float(along[-1]))


def still_seconds(root: Complexes, fps: float, near: Flags) -> float:
    """How long a root stands in some frames: within half a second it moves less than 15 cm."""
    half = max(1, round(0.25 * fps))
    padded = np.concatenate([np.repeat(root[0], half), root, np.repeat(root[-1], half)])
    moved = np.abs(padded[2 * half :] - padded[: -2 * half])
    return float((near & (moved < 0.15)).sum() / fps)


def distance_to_outline(point: Complexes, corners: Complexes) -> Floats:
    """Distance of places from a polygon; negative inside."""
    gap = np.full(point.shape, np.inf)
    turns = np.zeros(point.shape)
    for a, b in zip(corners, np.roll(corners, -1), strict=True):
        share = np.clip(((point - a) * np.conj(b - a)).real / max(abs(b - a) ** 2, 1e-12), 0, 1)
        gap = np.minimum(gap, np.abs(point - a - share * (b - a)))
        turns += np.angle((b - point) / (a - point))
    return np.where(np.abs(turns) > np.pi, -gap, gap)


def turned_apart(one: Floats, other: Floats) -> float:
    """The greatest angle between two sets of rotations (J, 3, 3), radians."""
    return float(Rotation.from_matrix(np.swapaxes(one, -1, -2) @ other).magnitude().max())
