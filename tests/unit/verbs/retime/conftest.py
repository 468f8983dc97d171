"""A jumper made by hand: stands, crouches, flies as bodies fall, lands, stands."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from tests.conftest import make_human

from choreograph.base import quat
from choreograph.motion.clip import Clip, Label, Source
from choreograph.motion.skeleton import Skeleton

G = 9.81


def make_jump(
    fps: float = 120.0, stand_s: float = 0.6, take_off: float = 2.2, skeleton: Skeleton | None = None
) -> Clip:
    """A jump: 0.5 s of crouching, a flight under gravity, 0.5 s of landing, and standing at both ends."""
    skeleton = skeleton or make_human()
    flight_s = 2 * take_off / G
    marks = np.cumsum([0.0, stand_s, 0.5, flight_s, 0.5, stand_s])
    t = np.arange(round(marks[-1] * fps) + 1) / fps
    lift, bend = np.zeros(len(t)), np.zeros(len(t))
    for k, time in enumerate(t):
        if marks[1] <= time < marks[2]:  # down and up: at rest first, then with the speed of take-off
            s = (time - marks[1]) / 0.5
            lift[k] = take_off * 0.5 * (s**3 - s**2) - 0.35 * 16 * (s * (1 - s)) ** 2
        elif marks[2] <= time < marks[3]:
            s = time - marks[2]
            lift[k] = take_off * s - G * s**2 / 2
        elif marks[3] <= time < marks[4]:
            s = 1 - (time - marks[3]) / 0.5
            lift[k] = take_off * 0.5 * (s**3 - s**2) - 0.35 * 16 * (s * (1 - s)) ** 2
    down = np.minimum(lift, 0.0)
    legs = skeleton.leg_length
    bend = np.arccos(np.clip((legs + down) / legs, -1, 1))
    root = np.stack([0.4 * np.clip((t - marks[2]) / flight_s, 0, 1), skeleton.offsets[0, 1] + lift, 0 * t], axis=1)
    turns = np.zeros((len(t), len(skeleton), 3))
    for side in ("left", "right"):
        thigh, shin, foot = (skeleton.need(f"{side}_{part}") for part in ("upper_leg", "lower_leg", "foot"))
        turns[:, thigh, 0], turns[:, shin, 0], turns[:, foot, 0] = -bend, 2 * bend, -bend
        turns[:, skeleton.need(f"{side}_upper_arm"), 2] = np.sin(
            np.clip((t - marks[1]) / (marks[4] - marks[1]), 0, 1) * 6
        )
    source = Source("jump.bvh", "bvh")
    labels = (Label("stand", 0, round(marks[1] * fps)), Label("jump", round(marks[1] * fps), len(t)))
    return Clip(skeleton, fps, root, quat.from_rotvec(turns), "jump", labels=labels, source=source)


@pytest.fixture(scope="session")
def jump() -> Clip:
    return make_jump()


@pytest.fixture
def jumps() -> Callable[..., Clip]:
    return make_jump
