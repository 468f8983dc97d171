"""Streamed motion is the motion that would have been made at once, handed out as it is found."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path as FilePath

import numpy as np
import pytest

from choreograph.base import quat
from choreograph.base.errors import RequestError
from choreograph.build.graph import build_graph
from choreograph.demo import demo_clip
from choreograph.finishing.finish import finish
from choreograph.finishing.settings import FinishSettings
from choreograph.graph.model import MotionGraph
from choreograph.graph.store import save_graph
from choreograph.scene.path import Path
from choreograph.scene.path_shapes import named_path
from choreograph.verbs.follow.follower import PathFollower
from choreograph.verbs.follow.request import FollowAdvanced, FollowRequest
from choreograph.verbs.follow.stream import AHEAD_S, KEEP_S, MotionStream
from choreograph.verbs.streaming import Frame

REQUEST = FollowRequest(advanced=FollowAdvanced(method="beam", beam_width=40, starts=10))


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


def test_a_stream_takes_what_names_a_path(graph: MotionGraph) -> None:
    with (
        MotionStream(graph, "line:length=4", REQUEST) as named,
        MotionStream(graph, named_path("line", length=4)) as at_hand,
    ):
        assert next(named).number == next(at_hand).number == 0
        with pytest.raises(RequestError, match="not list"):
            named.change_path([(0, 0)])  # type: ignore[arg-type]
    for wrong in ("line:length=0", "nowhere", 5):
        with pytest.raises(RequestError):
            MotionStream(graph, wrong)  # type: ignore[arg-type]


def test_a_stream_does_what_its_request_asks(graph: MotionGraph, tmp_path: FilePath) -> None:
    save_graph(graph, tmp_path / "people.mog")
    asked = REQUEST.with_(only="veer*", label="veer left", finish={"rate_hz": 30.0})
    with MotionStream(tmp_path / "people.mog", "circle:radius=3", asked) as stream:
        shown = [next(stream).clip for _ in range(60)]
        assert stream.rate_hz == 30.0
        stream.change_path("line:length=9")
        shown += [next(stream).clip for _ in range(60)]
    assert shown.count("walk_veer_left") > 90 and set(shown) <= {"walk_veer_left", "walk_veer_right"}
    with pytest.raises(RequestError, match="no clip of the graph is labelled 'swim'"):
        MotionStream(graph, "line", FollowRequest(label="swim"))
    with pytest.raises(RequestError, match=r"only 'swim': none of the \d clips matches"):
        MotionStream(graph, "line", FollowRequest(only="swim"))


def test_frames_come_before_the_walk_is_found(graph: MotionGraph) -> None:
    with MotionStream(graph, named_path("line", length=100), REQUEST) as stream:
        next(stream)
        wait_for(lambda: stream.frames_ahead >= AHEAD_S * stream.rate_hz - 1)
        # The buffer is bounded: the whole walk would be more than a minute.
        assert stream.frames_ahead < (AHEAD_S + 6.0) * stream.rate_hz


def wait_for(met: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not met():
        assert time.monotonic() < deadline
        time.sleep(0.01)


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


def edited(graph: MotionGraph, pause_s: Callable[[int], float]) -> list[Frame]:
    """A walk whose path is changed twice, by somebody who waits before taking frames."""
    paths = [named_path("line", length=6), named_path("s"), Path(np.array([[0.0, 0.0], [0.0, 3.0], [-5.0, 3.0]]))]
    frames = []
    with MotionStream(graph, paths[0], REQUEST) as stream:
        for frame in stream:
            time.sleep(pause_s(frame.number))
            frames.append(frame)
            if frame.number in (100, 260):
                stream.change_path(paths[1 + frame.number // 200])
            if frame.number == 261:
                stream.change_path(paths[1])
    return frames


def test_frames_depend_on_the_calls_and_not_on_how_fast_the_thread_is(graph: MotionGraph) -> None:
    eager, patient = edited(graph, lambda _: 0.0), edited(graph, lambda n: 0.5 if n in (0, 100, 110, 260) else 0.0)
    assert [f.number for f in eager] == list(range(len(eager)))
    assert len(eager) == len(patient)
    for name in ("root_pos", "local_rot"):
        assert np.array_equal([getattr(f, name) for f in eager], [getattr(f, name) for f in patient])
    steps = np.diff([f.root_pos for f in eager], axis=0)
    assert np.linalg.norm(steps, axis=1).max() * 60 < 4.0


def test_what_is_shown_soon_stays_when_the_path_changes(graph: MotionGraph) -> None:
    path, other = named_path("line", length=10), Path(np.array([[0.0, 0.0], [4.0, 0.0], [4.0, 4.0]]))
    plain = list(MotionStream(graph, path, REQUEST))
    stream = MotionStream(graph, path, REQUEST)
    frames = [next(stream) for _ in range(50)]
    stream.change_path(other)
    frames += list(stream)
    kept = 50 + round(KEEP_S * stream.rate_hz)
    assert all(np.array_equal(a.root_pos, b.root_pos) for a, b in zip(frames[:kept], plain[:kept], strict=True))
    assert np.linalg.norm(frames[-1].root_pos[[0, 2]] - other.points[-1]) < 0.5


def test_a_stream_that_arrived_can_be_sent_on(graph: MotionGraph) -> None:
    stream = MotionStream(graph, Path(np.array([[0.0, 0.0], [0.0, 4.0]])), REQUEST)
    frames = list(stream)
    assert next(stream, None) is None
    stream.change_path(Path(np.array([[0.0, 0.0], [0.0, 9.0]])))
    frames += list(stream)
    assert [f.number for f in frames] == list(range(len(frames)))
    assert abs(frames[-1].root_pos[2] - 9.0) < 0.5
    steps = np.linalg.norm(np.diff([f.root_pos for f in frames], axis=0), axis=1)
    assert steps.max() * stream.rate_hz < 4.0


def threads() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name == "choreograph stream"]


def test_no_thread_is_left_behind(graph: MotionGraph) -> None:
    path = named_path("line", length=60)
    stream = MotionStream(graph, path, REQUEST)
    next(stream)
    assert threads()
    stream.close()
    assert not threads()
    assert next(stream, None) is None
    stream.close()  # twice does no harm
    stream = MotionStream(graph, path, REQUEST)
    next(stream)
    del stream  # nobody has it any more
    wait_for(lambda: not threads())
    list(MotionStream(graph, named_path("line", length=3), REQUEST))
    wait_for(lambda: not threads())


def test_an_error_of_the_thread_is_raised_where_frames_are_taken(
    graph: MotionGraph, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = []

    def step(self: PathFollower) -> int:
        steps.append(self)
        if len(steps) > 4:
            raise RequestError("the fifth step fails")
        return plain(self)

    plain = PathFollower.step
    monkeypatch.setattr(PathFollower, "step", step)
    stream = MotionStream(graph, named_path("line", length=20), REQUEST)
    frames = []
    with pytest.raises(RequestError, match="the fifth step fails"):
        frames.extend(iter(stream.__next__, None))
    wait_for(lambda: not threads())
    with pytest.raises(RequestError, match="the fifth step fails"):
        next(stream)
    stream.close()


def test_a_rate_that_does_not_fit_the_graph_is_refused(graph: MotionGraph) -> None:
    with pytest.raises(RequestError, match="multiple of the graph's"):
        MotionStream(graph, named_path("line"), REQUEST, FinishSettings(rate_hz=50))
