from __future__ import annotations

from collections.abc import Callable

import numpy as np

from choreograph.finishing.foot_contacts import foot_slide
from choreograph.finishing.pipeline import FinishSettings, finish
from choreograph.graph.model import MotionGraph
from choreograph.synthesis.walk import Walk


def test_a_finished_walk_has_clean_feet_and_knows_its_frames(
    graph: MotionGraph, walk_through: Callable[..., Walk]
) -> None:
    walk = walk_through(graph, 8)
    made = finish(walk, name="stroll")
    assert made.clip.name == "stroll"
    assert len(made.origins) == len(made.clip) == len(made.raw)
    assert foot_slide(made.clip) < foot_slide(made.raw)
    assert made.settings == FinishSettings()


def test_raw_is_what_was_assembled(graph: MotionGraph, walk_through: Callable[..., Walk]) -> None:
    made = finish(walk_through(graph, 3), FinishSettings(clean=False, rate_hz=60))
    assert made.clip is made.raw
    assert made.clip.fps == 60


def test_the_same_walk_gives_the_same_motion(graph: MotionGraph, walk_through: Callable[..., Walk]) -> None:
    walk = walk_through(graph, 3)
    np.testing.assert_array_equal(finish(walk).clip.local_rot, finish(walk).clip.local_rot)
