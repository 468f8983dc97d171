"""Streamed motion is the motion that would have been made at once, handed out as it is found."""

from __future__ import annotations

import numpy as np
import pytest

from choreograph.build.graph import build_graph
from choreograph.demo import demo_clip
from choreograph.errors import RequestError
from choreograph.finishing.finish import finish
from choreograph.finishing.settings import FinishSettings
from choreograph.graph.model import MotionGraph
from choreograph.maths import quat
from choreograph.synthesis.follow.follower import PathFollower
from choreograph.synthesis.follow.request import FollowRequest, FollowSettings
from choreograph.synthesis.follow.stream import MotionStream
from choreograph.synthesis.path import Path
from choreograph.synthesis.path_shapes import named_path

REQUEST = FollowRequest(search=FollowSettings(method="beam", beam_width=40, starts=10))


@pytest.fixture(scope="module")
def graph() -> MotionGraph:
    names = ("walk", "walk_veer_left", "walk_veer_right", "walk_turn_90_left", "walk_turn_90_right")
    return build_graph([demo_clip(name) for name in names])


def test_a_stream_is_the_whole_motion_in_pieces(graph: MotionGraph) -> None:
    path = named_path("circle", radius=3)
    frames = list(MotionStream(graph, path, REQUEST))
    follower = PathFollower(graph, path, REQUEST)
    while follower.step():
        pass
    whole = finish(follower.walk())
    assert [f.number for f in frames] == list(range(len(whole.clip)))
    root, rot = np.array([f.root_pos for f in frames]), np.array([f.local_rot for f in frames])
    # Feet are cleaned from a window of a few seconds, so the last digits may differ.
    assert np.abs(root - whole.clip.root_pos).max() < 0.005
    assert np.degrees(quat.angle_between(rot, whole.clip.local_rot)).max() < 2.0
    names = [graph.infos[c].name for c in whole.origins.source_clip]
    assert [f.clip for f in frames] == names
    assert np.array_equal([f.contacts for f in frames], whole.clip.contacts)


def test_frames_come_before_the_walk_is_found(graph: MotionGraph) -> None:
    path = named_path("line", length=15)
    stream = MotionStream(graph, path, REQUEST)
    next(iter(stream))
    assert stream.follower.status == "searching"
    assert stream.follower.reached < 0.6 * path.length


def test_an_edit_ahead_takes_effect_without_a_jump(graph: MotionGraph) -> None:
    straight = Path(np.array([[0.0, 0.0], [0.0, 12.0]]))
    bent = Path(np.array([[0.0, 0.0], [0.0, 6.0], [6.0, 6.0]])).rounded(1.5)
    stream = MotionStream(graph, straight, REQUEST)
    roots = []
    for frame in stream:
        roots.append(frame.root_pos)
        if frame.number == 30:
            stream.change_path(bent)
    way = np.array(roots)
    assert np.linalg.norm(way[-1, [0, 2]] - bent.points[-1]) < 0.5
    speed = np.linalg.norm(np.diff(way, axis=0), axis=1) * stream.rate_hz
    assert speed.max() < 3.0


def test_a_stream_that_arrived_can_be_sent_on(graph: MotionGraph) -> None:
    first = Path(np.array([[0.0, 0.0], [0.0, 4.0]]))
    stream = MotionStream(graph, first, REQUEST)
    frames = []
    for frame in stream:
        frames.append(frame)
        if stream.follower.status == "complete" and stream.follower.path is first:
            stream.change_path(Path(np.array([[0.0, 0.0], [0.0, 9.0]])))
    assert [f.number for f in frames] == list(range(len(frames)))
    assert abs(frames[-1].root_pos[2] - 9.0) < 0.5


def test_a_rate_that_does_not_fit_the_graph_is_refused(graph: MotionGraph) -> None:
    with pytest.raises(RequestError, match="multiple of the graph's"):
        MotionStream(graph, named_path("line"), REQUEST, FinishSettings(rate_hz=50))
