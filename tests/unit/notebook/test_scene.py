from __future__ import annotations

import json
import struct
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from choreograph.base import quat
from choreograph.base.errors import RequestError
from choreograph.build.graph import build_graph
from choreograph.demo import demo_clip
from choreograph.finishing.finish import Finished
from choreograph.finishing.settings import FinishSettings
from choreograph.motion.clip import Clip
from choreograph.motion.packed import row_bytes
from choreograph.notebook.scene import MAX_BYTES, bound, pack, set_scene
from choreograph.scene.path import Path
from choreograph.verbs.follow.search import follow


def size(clips: list[Clip]) -> int:
    return sum(len(clip) * row_bytes(len(clip.skeleton)) for clip in clips)


def test_facts_are_the_studio_s(human: Clip) -> None:
    facts = pytest.importorskip("choreograph.studio.facts", reason="needs the studio extra")
    figures, meshes = pack(set_scene([human.with_labels(["dance"])]))
    motion = facts.Motion.model_validate(json.loads(json.dumps(figures[0]["motion"])))
    assert motion.joints == list(human.skeleton.names) and motion.parents[0] == -1
    assert motion.skeleton in meshes
    assert motion.frames == len(human) and motion.fps == human.fps
    assert len(motion.contacts) == len(motion.feet) == len(human.skeleton.feet)
    assert motion.labels[0].text == "dance"


def test_figures_have_the_motion_s_bones_and_bodies_share_them(human: Clip) -> None:
    figures, meshes = pack(set_scene([human, human[:10]]))
    (glb,) = meshes.values()
    length, kind = struct.unpack_from("<I4s", glb, 12)
    assert kind == b"JSON"
    document = json.loads(glb[20 : 20 + length])
    bones = [document["nodes"][joint]["name"] for joint in document["skins"][0]["joints"]]
    assert bones == figures[0]["motion"]["joints"]


def test_other_bodies_get_figures_of_their_own(human_clip: Callable[..., Clip]) -> None:
    _, meshes = pack(set_scene([human_clip(), human_clip(scale=1.1)]))
    assert len(meshes) == 2


def test_short_motions_are_as_they_are(human: Clip) -> None:
    clips, notes = bound([human])
    assert clips == [human] and notes == ()


def test_long_motions_lose_frames_first(human_clip: Callable[..., Clip]) -> None:
    clip = human_clip(frames=1200, fps=120.0)
    clips, notes = bound([clip], limit=size([clip]) // 3)
    assert clips[0].fps == 30 and clips[0].seconds == pytest.approx(10, abs=0.05)
    assert len(notes) == 1 and "30 frames a second" in notes[0]


def test_then_their_end_and_say_so(human_clip: Callable[..., Clip]) -> None:
    pair = [human_clip(frames=1200, fps=120.0), human_clip(frames=600, fps=60.0, seed=1)]
    limit = size(pair) // 20
    clips, notes = bound(pair, limit=limit)
    assert 0.9 * limit < size(clips) <= limit
    assert clips[0].seconds == pytest.approx(clips[1].seconds)
    assert "30 frames" in notes[0] and "of 10 seconds" in notes[1]
    np.testing.assert_allclose(clips[0].root_pos[0], pair[0].root_pos[0])


def test_slow_motions_that_are_too_long_are_cut_only(human_clip: Callable[..., Clip]) -> None:
    clip = human_clip(frames=300, fps=25.0)
    clips, notes = bound([clip], limit=size([clip]) // 2)
    assert clips[0].fps == 25 and len(clips[0]) == 150
    assert len(notes) == 1


def test_an_hour_fits(walker: Clip) -> None:
    hour = walker.with_frames(np.zeros((432_000, 3)), np.tile(quat.IDENTITY, (432_000, 4, 1)))
    assert size(bound([hour])[0]) <= MAX_BYTES


def test_a_followed_path_brings_its_motion_and_its_path() -> None:
    graph = build_graph([demo_clip(name, fps=30) for name in ("walk", "walk_turn_90_left")])
    found = follow(graph, Path(np.array([[0.0, 0.0], [0.0, 2.0]])))
    scene = set_scene([found], path=[[1.0, 0.0], [1.0, 2.0]])
    assert scene.clips[0].seconds == pytest.approx(found.clip.seconds)
    assert [path[0].tolist() for path in scene.paths] == [[0, 0], [1, 0]]


def test_finished_motions_show_what_was_finished(human: Clip) -> None:
    made: Any = Finished(human, human[:3], None, FinishSettings())  # type: ignore[arg-type]
    assert len(set_scene([made]).clips[0]) == len(human)


def test_performances_show_the_leader_too(human: Clip, human_clip: Callable[..., Clip]) -> None:
    leader = human_clip(seed=5).with_name("leader")
    made: Any = Finished(human, human, None, FinishSettings(), partner=leader)  # type: ignore[arg-type]
    assert [clip.name for clip in set_scene([made]).clips] == ["leader", "restless"]


def test_what_is_no_motion_is_refused(human: Clip) -> None:
    with pytest.raises(RequestError, match="nothing to show"):
        set_scene([])
    with pytest.raises(RequestError, match="Skeleton is no motion"):
        set_scene([human.skeleton])  # type: ignore[list-item]
