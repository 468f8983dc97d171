"""What tests share: real recordings where there are any, and small bodies made by hand."""

from __future__ import annotations

import os
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import hypothesis
import numpy as np
import pytest

from choreograph.base import quat
from choreograph.contract.fields import leads_to_field
from choreograph.contract.result import Result
from choreograph.finishing.hand_contacts import grips
from choreograph.motion.clip import Clip
from choreograph.motion.skeleton import Skeleton

# On a busy machine anything may be slow.
hypothesis.settings.register_profile("busy", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow])
hypothesis.settings.load_profile("busy")

HUMAN = {
    # joint: (parent, offset in metres); a body of 1.7 m, arms out, facing +z, left at +x
    "Hips": (None, (0.0, 0.95, 0.0)),
    "Spine": ("Hips", (0.0, 0.12, 0.0)),
    "Chest": ("Spine", (0.0, 0.2, 0.0)),
    "Neck": ("Chest", (0.0, 0.22, 0.0)),
    "Head": ("Neck", (0.0, 0.1, 0.0)),
    "LeftShoulder": ("Chest", (0.05, 0.18, 0.0)),
    "LeftArm": ("LeftShoulder", (0.13, 0.0, 0.0)),
    "LeftForeArm": ("LeftArm", (0.28, 0.0, 0.0)),
    "LeftHand": ("LeftForeArm", (0.25, 0.0, 0.0)),
    "RightShoulder": ("Chest", (-0.05, 0.18, 0.0)),
    "RightArm": ("RightShoulder", (-0.13, 0.0, 0.0)),
    "RightForeArm": ("RightArm", (-0.28, 0.0, 0.0)),
    "RightHand": ("RightForeArm", (-0.25, 0.0, 0.0)),
    "LeftUpLeg": ("Hips", (0.1, -0.05, 0.0)),
    "LeftLeg": ("LeftUpLeg", (0.0, -0.42, 0.0)),
    "LeftFoot": ("LeftLeg", (0.0, -0.4, 0.0)),
    "LeftToeBase": ("LeftFoot", (0.0, -0.06, 0.14)),
    "RightUpLeg": ("Hips", (-0.1, -0.05, 0.0)),
    "RightLeg": ("RightUpLeg", (0.0, -0.42, 0.0)),
    "RightFoot": ("RightLeg", (0.0, -0.4, 0.0)),
    "RightToeBase": ("RightFoot", (0.0, -0.06, 0.14)),
}
TIPS = {"Head": (0.0, 0.15, 0.0), "LeftToeBase": (0.0, 0.0, 0.06), "RightToeBase": (0.0, 0.0, 0.06)}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests that read real recordings."""
    for item in items:
        if "recordings" in getattr(item, "fixturenames", ()):
            item.add_marker("recordings")


@pytest.fixture(scope="session")
def recordings() -> Path:
    """The folder of real recordings; the test is skipped where there is none."""
    folder = os.environ.get("CHOREOGRAPH_DATA")
    if not folder:
        pytest.skip("needs real recordings: set CHOREOGRAPH_DATA to their folder")
    return Path(folder)


@pytest.fixture(scope="session", autouse=True)
def problems_lead_to_fields() -> Iterator[None]:
    """Every problem of every result made in a test is about a field of the request, and names a metric that exists."""
    make = Result.__init__

    def checked(self: Result, *args: Any, **given: Any) -> None:
        make(self, *args, **given)
        for answer in self.answers:
            for problem in (*self.notes, *answer.problems):
                assert leads_to_field(self.request, problem.where), f"{problem.where} is no field of {self.request!r}"
                assert all(leads_to_field(self.request, one.field) for one in problem.advice), problem
                assert problem.metric in ("", *answer.metrics), f"{problem.metric} is no metric of {self.verb}"

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Result, "__init__", checked)
        yield


@pytest.fixture(scope="session", autouse=True)
def tests_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A cache that only the tests use, also for the programs that they start."""
    folder = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CHOREOGRAPH_CACHE", str(folder))
        patch.delenv("CHOREOGRAPH_CACHE_GB", raising=False)
        yield folder


@pytest.fixture
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache: the folder that its entries will be in."""
    monkeypatch.setenv("CHOREOGRAPH_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "prepared"


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(16)


def make_human(scale: float = 1.0) -> Skeleton:
    """A standing person of 21 joints."""
    names = list(HUMAN)
    return Skeleton(
        tuple(names),
        np.array([-1 if parent is None else names.index(parent) for parent, _ in HUMAN.values()]),
        np.array([offset for _, offset in HUMAN.values()]) * scale,
        np.array([names.index(name) for name in TIPS]),
        np.array(list(TIPS.values())) * scale,
    )


def make_walker(frames: int = 24, fps: float = 30.0) -> Clip:
    """Four joints (hips, two legs, a head) that walk along +z and sway: small enough to read."""
    skeleton = Skeleton(
        ("Hips", "Head", "LeftFoot", "RightFoot"),
        np.array([-1, 0, 0, 0]),
        np.array([[0, 0.9, 0], [0, 0.7, 0], [0.1, -0.9, 0], [-0.1, -0.9, 0]]),
    )
    t = np.arange(frames) / fps
    swing = 0.5 * np.sin(2 * np.pi * t)
    turns = np.zeros((frames, 4, 3))
    turns[:, 0, 1], turns[:, 2, 0], turns[:, 3, 0] = 0.2 * swing, swing, -swing
    root = np.stack([0.02 * swing, np.full(frames, 0.9), 1.2 * t], axis=1)
    return Clip(skeleton, fps, root, quat.from_rotvec(turns), name="walker")


def make_restless(skeleton: Skeleton, frames: int = 40, fps: float = 60.0, seed: int = 0, size: float = 0.3) -> Clip:
    """The skeleton with every joint turning smoothly at random, walking somewhere."""
    rng = np.random.default_rng(seed)
    t = np.arange(frames)[:, None, None] / fps
    rate, phase, height = (rng.uniform(low, high, (len(skeleton), 3)) for low, high in ((1, 6), (0, 6), (-size, size)))
    root = skeleton.offsets[0] + np.cumsum(rng.normal(0, 0.01, (frames, 3)), axis=0) * [1, 0.1, 1]
    rotations = quat.make_continuous(quat.from_rotvec(height * np.sin(rate * t + phase)))
    return Clip(skeleton, fps, root, rotations, name="restless")


@pytest.fixture
def walker() -> Clip:
    """A tiny four-joint walker."""
    return make_walker()


@pytest.fixture
def human() -> Clip:
    """A 21-joint person who moves all over."""
    return make_restless(make_human())


@pytest.fixture
def human_clip() -> Callable[..., Clip]:
    """Build a person's clip: frames, fps, seed, size."""

    def build(*, scale: float = 1.0, **how: float) -> Clip:
        return make_restless(make_human(scale), **how)  # type: ignore[arg-type]

    return build


@pytest.fixture
def peak_memory() -> Callable[[Callable[[], object]], int]:
    """Bytes that Python and NumPy held at most while a function ran."""

    def measure(work: Callable[[], object]) -> int:
        tracemalloc.start()
        try:
            work()
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    return measure


@pytest.fixture
def couple(human_clip: Callable[..., Clip]) -> tuple[Clip, Clip]:
    """Two side by side with bent elbows; the leader's right hand and the follower's left meet in the clip's middle."""
    clip = human_clip(frames=150, fps=30.0, seed=3, size=0.1)
    rot = np.array(clip.local_rot)
    for side, bend in (("left", -0.8), ("right", 0.8)):
        elbow = clip.skeleton.need(f"{side}_forearm")
        rot[:, elbow] = quat.multiply(rot[:, elbow], quat.from_yaw(bend))
    leader = clip.with_frames(clip.root_pos, quat.make_continuous(rot))
    left, right = grips(clip.skeleton)
    pos = leader.global_positions()
    t = np.arange(150)
    # Half a metre apart at the ends, a hand's breadth between frames 50 and 100, smoothly between.
    apart = 0.1 + 0.4 * np.clip((np.abs(t - 74.5) - 25) / 25, 0, 1) ** 2
    away = pos[:, right] - pos[:, left] - np.stack([apart, 0 * apart, 0 * apart], axis=1)
    return leader, leader.with_frames(leader.root_pos + away, leader.local_rot).with_name("follower")
