"""The demo clips, made once."""

from __future__ import annotations

import pytest

from choreograph.demo import demo_clips
from choreograph.motion.clip import Clip


@pytest.fixture(scope="session")
def clips() -> dict[str, Clip]:
    """Every demo clip at 60 frames a second, by name."""
    return {clip.name: clip for clip in demo_clips(60)}
