"""Subjects given by the name of their file, to every verb's function."""

from __future__ import annotations

from pathlib import Path

import pytest

import choreograph as cg
from choreograph.base.errors import FormatError, GraphFileError, RequestError
from choreograph.contract.verb import CLIP, GRAPH
from choreograph.demo import demo_clip
from choreograph.verbs import find_verb, rooms

FUNCTIONS = {"dynamics": "inverse_dynamics"}
"""Where a verb's function is called otherwise than the verb."""


@pytest.mark.parametrize("name", rooms())
@pytest.mark.parametrize("kind", [str, Path])
def test_a_file_that_is_not_there_is_said_by_every_verb(name: str, kind: type, tmp_path: Path) -> None:
    suffix = {CLIP: ".bvh", GRAPH: ".mog"}.get(find_verb(name).subject, "")
    function = getattr(cg, FUNCTIONS.get(name, name))
    with pytest.raises((FormatError, GraphFileError), match="nowhere"):
        function(kind(tmp_path / f"nowhere{suffix}"), "asked")


def test_a_file_of_the_wrong_kind_is_said(tmp_path: Path) -> None:
    cg.write_clip(tmp_path / "walk.bvh", demo_clip("walk", 30.0)[:30])
    with pytest.raises(GraphFileError, match=r"walk\.bvh"):
        cg.follow(tmp_path / "walk.bvh", "line")
    (tmp_path / "people.mog").write_bytes(b"")
    with pytest.raises(FormatError, match="is a motion graph, no motion"):
        cg.loop(tmp_path / "people.mog")


@pytest.mark.parametrize("kind", [str, Path])
def test_a_motions_file_gives_what_the_motion_does(kind: type, tmp_path: Path) -> None:
    walk, run = demo_clip("walk", 30.0)[:60], demo_clip("run", 30.0)[:60]
    for clip in (walk, run):
        cg.write_clip(tmp_path / f"{clip.name}.npz", clip, overwrite=True)
    file, other = kind(tmp_path / "walk.npz"), kind(tmp_path / "run.npz")

    def same(one: cg.Result, two: cg.Result) -> None:
        assert (one.clip.local_rot == two.clip.local_rot).all() and (one.clip.root_pos == two.clip.root_pos).all()

    same(cg.retime(file, cg.RetimeRequest(duration_s=1.5)), cg.retime(walk, cg.RetimeRequest(duration_s=1.5)))
    guided = cg.RetimeRequest(duration_s=1.5)
    same(cg.retime(file, guided, references=[other]), cg.retime(walk, guided, references=[run]))
    same(cg.layer(file, upper=other), cg.layer(walk, upper=run))
    same(cg.retarget(file, other), cg.retarget(walk, str(tmp_path / "run.npz")))


def test_a_graphs_file_gives_what_the_graph_does(tmp_path: Path) -> None:
    graph = cg.build_graph([demo_clip("walk", 30.0), demo_clip("walk_veer_left", 30.0)])
    cg.save_graph(graph, tmp_path / "walks.mog")
    (tmp_path / "way.csv").write_text("0,0\n0,2\n")
    asked = cg.FollowRequest(str(tmp_path / "way.csv"))
    named, opened = cg.follow(tmp_path / "walks.mog", tmp_path / "way.csv"), cg.follow(graph, asked)
    assert (named.clip.local_rot == opened.clip.local_rot).all()
    assert set(GRAPH.read({"a": str(tmp_path / "walks.mog"), "b": graph})) == {"a", "b"}


def test_a_folder_gives_its_recordings(tmp_path: Path) -> None:
    (tmp_path / "walks").mkdir()
    walk = demo_clip("walk", 30.0)
    cg.write_clip(tmp_path / "walks" / "one.npz", walk)
    keys = [
        cg.PoseGoal(0.0, cg.PoseSource("one", 10), as_recorded=True),
        cg.PoseGoal(1.0, cg.PoseSource("one", 40), as_recorded=True),
    ]
    assert len(cg.complete(tmp_path / "walks", cg.CompleteRequest(1.0, keys)).clip) == 31
    (tmp_path / "empty").mkdir()
    with pytest.raises(RequestError, match="holds no motion files"):
        cg.complete(tmp_path / "empty", cg.CompleteRequest(1.0, keys))


def test_results_and_frames_are_told_in_a_line() -> None:
    graph = cg.build_graph([demo_clip("walk", 30.0)])
    result = cg.follow(graph, "line:length=1")
    assert repr(result).startswith("Result(follow, 1 answers, complete, 0 problems; the best: Answer('1.0 m', Clip(")
    with cg.MotionStream(graph, "line:length=1") as stream:
        assert repr(next(stream)).startswith("Frame(0, 'walk' at ")
