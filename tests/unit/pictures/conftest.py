from __future__ import annotations

import numpy as np
import pytest

from choreograph.base import quat
from choreograph.motion.clip import Clip
from choreograph.motion.skeleton import Skeleton

BODY = (
    ("Hips", -1, (0.0, 0.92, 0.0)),
    ("Spine", 0, (0.0, 0.15, 0.0)),
    ("Neck", 1, (0.0, 0.35, 0.0)),
    ("Head", 2, (0.0, 0.1, 0.0)),
    ("LeftUpLeg", 0, (0.1, 0.0, 0.0)),
    ("LeftLeg", 4, (0.0, -0.42, 0.0)),
    ("LeftFoot", 5, (0.0, -0.42, 0.0)),
    ("LeftToeBase", 6, (0.0, -0.06, 0.14)),
    ("RightUpLeg", 0, (-0.1, 0.0, 0.0)),
    ("RightLeg", 8, (0.0, -0.42, 0.0)),
    ("RightFoot", 9, (0.0, -0.42, 0.0)),
    ("RightToeBase", 10, (0.0, -0.06, 0.14)),
)


def make_clip(seconds: float = 2.0, speed: float = 1.2, *, fps: float = 30.0, name: str = "walker") -> Clip:
    """A stiff walker along +z that swings its legs and plants its feet in turn."""
    names, parents, offsets = zip(*BODY, strict=True)
    skeleton = Skeleton(
        names, np.array(parents), np.array(offsets), np.array([3, 7, 11]),
        np.array([[0, 0.2, 0], [0, 0, 0.06], [0, 0, 0.06]]),
    )  # fmt: skip
    frames = round(seconds * fps)
    times = np.arange(frames) / fps
    root = np.stack([np.zeros(frames), np.full(frames, 0.92), speed * times], axis=1)
    rot = np.tile(quat.IDENTITY, (frames, len(skeleton), 1))
    for joint, sign in ((4, 1), (8, -1)):
        rot[:, joint] = quat.from_axis_angle((1.0, 0.0, 0.0), sign * 0.5 * np.sin(2 * np.pi * times))
    step = (times % 1.0) < 0.5
    contacts = np.stack([step, step, ~step, ~step], axis=1)
    return Clip(skeleton, fps, root, rot, name=name, contacts=contacts)


@pytest.fixture(scope="session")
def walker() -> Clip:
    return make_clip()


@pytest.fixture(scope="session")
def stander() -> Clip:
    return make_clip(1.0, 0.0, name="stander")
