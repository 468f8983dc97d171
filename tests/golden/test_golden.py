"""The same request on the same graph with the same seed gives the motion that it gave before."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest

spec = importlib.util.spec_from_file_location("golden_cases", Path(__file__).parent / "cases.py")
assert spec is not None and spec.loader is not None
cases = importlib.util.module_from_spec(spec)
spec.loader.exec_module(cases)

WITHIN_M = 0.001
"""How far joints may be off: processors round differently, and a search may then end a hair elsewhere."""


def compare(name: str, clips: list) -> None:
    with np.load(cases.ANSWERS) as kept:
        wanted = [kept[key] for key in kept.files if key.partition(".")[0] == name]
    assert len(clips) == len(wanted)
    for number, (clip, joints) in enumerate(zip(clips, wanted, strict=True)):
        found = cases.joints(clip)
        assert found.shape == joints.shape, f"{name}.{number} has another length than before"
        apart = np.linalg.norm(found - joints, axis=-1)
        worst = np.unravel_index(apart.argmax(), apart.shape)
        joint = clip.skeleton.names[worst[1]]
        assert apart.max() <= WITHIN_M, f"{name}.{number}: {joint} is {apart.max():.4f} m off in frame {worst[0]}"


@pytest.mark.parametrize("name", cases.MADE)
def test_demo_motion(name: str) -> None:
    compare(name, cases.MADE[name]())


@pytest.mark.recordings
@pytest.mark.parametrize("name", cases.RECORDED)
def test_recordings(name: str, recordings: Path) -> None:
    compare(name, cases.RECORDED[name](recordings))
