"""Parts of graphs: what is chosen, and that it is what a build of these clips alone would give."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest

import choreograph as cg
from choreograph.base.errors import RequestError
from choreograph.build.graph import build_graph
from choreograph.demo import demo_clip
from choreograph.graph.model import MotionGraph
from choreograph.graph.subgraph import make_part, spread_clips

NAMES = ("walk", "walk_turn_90_left", "walk_veer_left", "walk_veer_right", "jog", "jump_forward")


@pytest.fixture(scope="module")
def graph() -> MotionGraph:
    from choreograph.demo import demo_names

    names = [name for name in NAMES if name in demo_names()]
    return build_graph([demo_clip(name, 30.0) for name in names])


@pytest.fixture(scope="module")
def opened(graph: MotionGraph, tmp_path_factory: pytest.TempPathFactory) -> MotionGraph:
    path = tmp_path_factory.mktemp("part") / "all.mog"
    cg.save_graph(graph, path)
    return cg.open_graph(path)


def same_tables(one: MotionGraph, other: MotionGraph) -> bool:
    return all(
        np.array_equal(column, getattr(getattr(other, part), name))
        for part in ("minima", "nodes", "edges")
        for name, column in getattr(one, part).columns().items()
    )


def test_a_part_is_what_a_build_of_its_clips_gives(graph: MotionGraph, opened: MotionGraph) -> None:
    part = opened.only("walk not turn")
    names = [info.name for info in part.infos]
    assert names == [info.name for info in graph.infos if "walk" in info.name and "turn" not in info.name]
    built = build_graph([demo_clip(name, 30.0) for name in names], graph.settings.with_(threshold_m=graph.threshold_m))
    assert len(part.nodes) and same_tables(part, built)
    for mine, theirs in zip(part.clips, built.clips, strict=True):
        assert np.array_equal(mine.local_rot, theirs.local_rot)


def test_nothing_is_read_for_a_part_until_it_is_used(opened: MotionGraph) -> None:
    again = cg.open_graph(opened.path or Path())
    part = again.only("walk")
    assert not again.clips._kept and not again._tables._kept  # type: ignore[attr-defined]
    assert len(part.nodes) and not again.clips._kept  # type: ignore[attr-defined]


def test_parts_are_kept_and_told_apart(opened: MotionGraph) -> None:
    assert opened.only("walk") is opened.only("walk")
    prints = {opened.only(query).fingerprint for query in ("walk", "jog or walk", "walk not turn")}
    assert len(prints | {opened.fingerprint}) == 4
    assert make_part(opened, range(len(opened.infos))) is opened


def test_a_query_without_an_answer_says_what_there_is(graph: MotionGraph) -> None:
    with pytest.raises(
        RequestError, match=r"none of the \d clips matches \(nothing has 'cartwheel'\); labels are: .*walk"
    ):
        graph.only("cartwheel")


def test_a_spread_is_joined_and_within_its_bounds(graph: MotionGraph) -> None:
    most = int(graph.clip_frames.sum()) // 2
    chosen = spread_clips(graph, most)
    assert chosen == spread_clips(graph, most)
    assert 0 < sum(graph.infos[n].frames for n in chosen) <= most
    assert len(make_part(graph, chosen).nodes)
    last = len(graph.infos) - 1
    assert last in spread_clips(graph, most, [last])


def test_mirrored_copies_go_with_their_originals_or_alone(tmp_path: Path) -> None:
    whole = build_graph([demo_clip("walk", 30.0), demo_clip("walk_veer_left", 30.0)], cg.GraphSettings(mirror=True))
    copies = [n for n, info in enumerate(whole.infos) if info.mirror_of is not None]
    alone = make_part(whole, copies)
    assert all(info.mirror_of is None for info in alone.infos)
    assert np.array_equal(alone.clips[0].root_pos, whole.clips[copies[0]].root_pos)
    cg.save_graph(alone, tmp_path / "copies.mog")
    assert np.allclose(cg.open_graph(tmp_path / "copies.mog").clips[0].root_pos, alone.clips[0].root_pos)


def test_clips_in_memory_are_bounded_in_bytes(opened: MotionGraph, monkeypatch: pytest.MonkeyPatch) -> None:
    from choreograph.graph import lazy

    again = cg.open_graph(opened.path or Path())
    frame = len(again.skeleton) * 11 * 8
    monkeypatch.setattr(lazy, "_BYTES_KEPT", frame * (again.infos[1].own_frames + again.infos[2].own_frames))
    kept = again.clips._kept  # type: ignore[attr-defined]
    for number in (0, 1, 2):
        assert np.array_equal(again.clips[number].root_pos, opened.clips[number].root_pos)
    assert list(kept) == [1, 2]
    assert sum(len(clip) * frame for clip in kept.values()) <= lazy._BYTES_KEPT
    monkeypatch.setattr(lazy, "_BYTES_KEPT", 1)
    assert len(again.clips[0]) and list(kept) == [0]


def test_another_process_opens_the_file_instead_of_being_sent_its_arrays(
    graph: MotionGraph, opened: MotionGraph
) -> None:
    for one in (opened, opened.only("walk not left"), graph, graph.only("walk not left")):
        sent = pickle.dumps(one)
        there = pickle.loads(sent)
        assert there.fingerprint == one.fingerprint and [i.name for i in there.infos] == [i.name for i in one.infos]
        assert (there.edges.target_clip == one.edges.target_clip).all() and len(there.clips[0]) == len(one.clips[0])
        assert (len(sent) < 1000) == (one.path is not None)
