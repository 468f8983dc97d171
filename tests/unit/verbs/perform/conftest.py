"""Small pairs who move together: a leader who wanders, and a follower who answers in a fixed way."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from choreograph.base import quat
from choreograph.motion.clip import Clip
from choreograph.motion.skeleton import Skeleton
from choreograph.verbs.perform.examples import Example, SegmentDatabase, build_segments, pair_up

FPS = 30.0


def make_leader(skeleton: Skeleton, seed: int, frames: int) -> Clip:
    """A person who goes somewhere along a smooth curve and swings all limbs."""
    rng = np.random.default_rng(seed)
    t = np.arange(frames) / FPS
    yaw = 0.8 * np.sin(rng.uniform(0.5, 1.5) * t + rng.uniform(0, 6)) + rng.uniform(0, 6)
    speed = 0.8 + 0.4 * np.sin(rng.uniform(0.5, 2) * t)
    root = np.stack(
        [np.cumsum(speed * np.sin(yaw)) / FPS, np.full(frames, 0.95), np.cumsum(speed * np.cos(yaw)) / FPS], axis=1
    )
    turns = np.zeros((frames, len(skeleton), 3))
    rate, phase, size = rng.uniform(1, 5, (len(skeleton), 3)), rng.uniform(0, 6, (len(skeleton), 3)), 0.3
    turns[:] = size * np.sin(rate * t[:, None, None] + phase)
    rot = quat.from_rotvec(turns)
    rot[:, 0] = quat.from_yaw(yaw)
    return Clip(skeleton, FPS, root, quat.make_continuous(rot), name=f"leader_{seed}")


def make_follower(leader: Clip) -> Clip:
    """Someone half a metre in front of the leader who looks back at them and mirrors their limbs."""
    ahead = quat.rotate(leader.local_rot[:, 0], (0.0, 0.0, 0.6))
    rot = np.array(leader.local_rot)
    rot[:, 0] = quat.multiply(rot[:, 0], quat.from_yaw(np.pi))
    root = leader.root_pos + ahead
    return leader.with_frames(root, quat.make_continuous(rot)).with_name(leader.name.replace("leader", "follower"))


@pytest.fixture
def make_example(human_clip: Callable[..., Clip]) -> Callable[..., Example]:
    """A pair who moved together: seed, frames."""

    def make(seed: int, frames: int = 180) -> Example:
        leader = make_leader(human_clip().skeleton, seed, frames)
        return pair_up(leader, make_follower(leader))

    return make


@pytest.fixture
def base(make_example: Callable[..., Example]) -> SegmentDatabase:
    """Four pairs of six seconds, cut about every 0.6 s."""
    rng = np.random.default_rng(5)
    examples = [make_example(seed) for seed in range(4)]
    times = [np.cumsum(rng.uniform(0.5, 0.7, 8)).tolist() for _ in examples]
    return build_segments(examples, cut_at=times)
