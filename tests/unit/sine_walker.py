"""A small walker made of sines: strides of any length, speed and heading, so that clips match where strides do."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from choreograph.base import quat
from choreograph.motion.clip import Clip
from choreograph.motion.skeleton import Skeleton

NAMES = (
    *("Hips", "Spine", "Head"),
    *("LeftUpLeg", "LeftLeg", "LeftFoot", "LeftToeBase"),
    *("RightUpLeg", "RightLeg", "RightFoot", "RightToeBase"),
)
PARENTS = (-1, 0, 1, 0, 3, 4, 5, 0, 7, 8, 9)
OFFSETS = np.array(
    [
        *([0, 0.93, 0], [0, 0.25, 0], [0, 0.35, 0]),
        *([0.1, -0.05, 0], [0, -0.42, 0], [0, -0.40, 0], [0, -0.05, 0.12]),
        *([-0.1, -0.05, 0], [0, -0.42, 0], [0, -0.40, 0], [0, -0.05, 0.12]),
    ]
)


def walker_skeleton(scale: float = 1.0) -> Skeleton:
    return Skeleton(NAMES, PARENTS, OFFSETS * scale)


def walk(
    name: str,
    seconds: float = 3.0,
    *,
    fps: float = 30.0,
    phase: float = 0.0,
    stride_hz: float = 1.0,
    swing: float = 0.5,
    speed: float = 1.3,
    heading: float = 0.0,
    turn: float = 0.0,
    label: str = "walk",
    scale: float = 1.0,
) -> Clip:
    time = np.arange(round(seconds * fps)) / fps
    yaw = heading + turn * time
    velocity = speed * scale * np.stack([np.sin(yaw), np.zeros_like(yaw), np.cos(yaw)], axis=1)
    root = np.cumsum(velocity, axis=0) / fps
    cycle = 2 * np.pi * (stride_hz * time) + phase
    root[:, 1] = scale * (0.93 + 0.02 * np.cos(2 * cycle))
    rot = np.zeros((len(time), len(NAMES), 4))
    rot[..., 0] = 1
    rot[:, 0] = quat.from_yaw(yaw)

    def bend(joint: str, angle: np.ndarray) -> None:
        half = angle / 2
        rot[:, NAMES.index(joint)] = np.stack([np.cos(half), np.sin(half), 0 * half, 0 * half], axis=1)

    for side, shift in (("Left", 0.0), ("Right", np.pi)):
        bend(f"{side}UpLeg", -swing * np.sin(cycle + shift))
        bend(f"{side}Leg", swing * (1 + np.cos(cycle + shift)) / 2)
    bend("Spine", 0.05 * np.sin(cycle))
    return Clip(walker_skeleton(scale), fps, root, rot, name).with_labels([label])


@pytest.fixture
def walker() -> SimpleNamespace:
    """The functions and figures of this file, for tests to call."""
    return SimpleNamespace(walk=walk, skeleton=walker_skeleton, names=NAMES, parents=PARENTS, offsets=OFFSETS)


@pytest.fixture
def walks() -> list[Clip]:
    return [
        walk("straight", 4.0),
        walk("left", 4.0, phase=1.0, turn=0.5),
        walk("right", 3.0, phase=2.5, turn=-0.6, heading=1.0),
        walk("march", 3.0, swing=1.4, stride_hz=1.6, speed=0.2, label="march"),
    ]
