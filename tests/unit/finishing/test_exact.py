from __future__ import annotations

import numpy as np
import pytest

from choreograph.base.floor import FloorTransform
from choreograph.build.graph import build_graph
from choreograph.demo import demo_clip
from choreograph.finishing.body import RootTarget
from choreograph.finishing.exact import keep_poses, room_around
from choreograph.finishing.finish import finish
from choreograph.finishing.settings import FinishSettings
from choreograph.graph.model import MotionGraph
from choreograph.graph.settings import GraphSettings
from choreograph.motion.clip import Clip
from choreograph.verbs.solve.splice import HardFrames, Splice


@pytest.fixture(scope="module")
def graph() -> MotionGraph:
    clips = [demo_clip(name, 60.0) for name in ("walk", "walk_turn_90_left")]
    return build_graph(clips, GraphSettings(threshold_m=0.001))


def on_its_own(clip: Clip, frame: int) -> np.ndarray:
    """The joints of a pose as seen from its torso's place on the floor."""
    points = clip.global_positions()[frame]
    x, _, z = points[clip.skeleton.hips]
    seen: np.ndarray = FloorTransform(clip.facing()[frame], x, z).inverse().apply(points)
    return seen


@pytest.mark.parametrize(
    ("exact", "room"),
    [
        ([], (0.2, 0.2)),
        ([0.5, 1.5], (0.2, 0.2)),
        ([0.9], (0.1, 0.3)),  # what one side lacks the other gets
        ([1.05], (0.35, 0.05)),
        ([1.0], (0.4, 0.0)),  # the first frame behind the cut
        ([0.9, 1.15], (0.1, 0.15)),
    ],
)
def test_how_far_a_cut_is_spread(exact: list[float], room: tuple[float, float]) -> None:
    assert room_around(1.0, np.array(exact), 0.2) == pytest.approx(room)


@pytest.mark.parametrize("exact", [[24], [25], [26], [10, 40], [20, 24, 25, 45]])
@pytest.mark.parametrize("clean", [True, False])
def test_exact_frames_are_as_recorded_however_near_a_cut(graph: MotionGraph, exact: list[int], clean: bool) -> None:
    """Two walks cut into each other at frame 25 of 30 a second, badly, and turned by a metre and a half."""
    lying = FloorTransform(np.array([0.0, 0.3]), np.array([0.0, 0.5]), np.array([0.0, 0.2]))
    own = [2.0 * (frame + (5 if frame < 25 else 20 - 25)) for frame in exact]
    hard = HardFrames(np.array(exact) / 30, np.array(own), np.zeros(len(exact)))
    splice = Splice(graph, np.array([0, 1]), np.array([5, 20]), np.array([30, 45]), lying, hard)
    body = (RootTarget(0.0, (1.0, 1.0), 0.5), RootTarget(1.5, (1.5, 2.0), 0.0))
    motion = finish(splice, FinishSettings(clean=clean, root_correction_m_s=None), body=body)
    for frame in exact:
        shown, number, start = 2 * frame, int(frame >= 25), (5 if frame < 25 else 20 - 25)
        gap = on_its_own(motion.clip, shown) - on_its_own(graph.clips[number], 2 * (frame + start))
        assert np.abs(gap).max() < 1e-6
    hips = motion.clip.global_positions()[:, motion.clip.skeleton.hips]
    for target in body:
        assert np.allclose(hips[round(60 * target.at_s), [0, 2]], target.position, atol=1e-9)
    # What is changed for them fades: no joint leaps, unless both sides of the cut are to be exact.
    speed = np.abs(np.diff(motion.clip.global_positions(), axis=0)).max() * 60
    assert speed < 15 or {24, 25} <= set(exact)


def test_nothing_to_keep_changes_nothing(graph: MotionGraph) -> None:
    clip = graph.clips[0]
    assert keep_poses(clip, clip, np.zeros(0, np.int64), 0.2) is clip
    kept = keep_poses(clip, clip, np.array([30]), 0.2)
    assert np.allclose(kept.global_positions(), clip.global_positions(), atol=1e-9)
