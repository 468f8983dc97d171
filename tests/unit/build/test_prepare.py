from __future__ import annotations

from dataclasses import replace

import pytest

from choreograph.base.errors import RequestError
from choreograph.build.graph import add_clips, build_graph
from choreograph.build.prepare import digest
from choreograph.demo import demo_clip
from choreograph.graph.clips import graph_frames, graph_positions
from choreograph.motion.clip import Clip, Source


@pytest.mark.parametrize("fps", [24.0, 25.0, 29.97, 30.0, 59.94, 60.0, 100.0, 120.0])
@pytest.mark.parametrize("rate", [20.0, 24.0, 30.0, 60.0, 120.0])
def test_frames_at_the_graphs_rate_are_counted_as_resampling_makes_them(walker, fps, rate):
    for seconds in (0.1, 0.5, 1.03):
        clip = walker.walk("a", seconds, fps=fps)
        assert graph_frames(len(clip), fps, rate) == len(clip.resampled(rate))


def test_positions_are_the_resampled_clips(walker):
    clip = walker.walk("a", 1.0, fps=100.0)
    assert (graph_positions(clip, 30.0) == clip.resampled(30.0).global_positions()).all()


def test_a_digest_tells_motions_apart_and_not_names(walker):
    clip = walker.walk("a", 1.0)
    assert digest(clip) == digest(clip.with_name("b").with_labels(["run"]))
    others = [walker.walk("a", 1.0, phase=1e-9), walker.walk("a", 1.0, scale=1.001), walker.walk("a", 1.0)[:-1]]
    assert len({digest(clip), *map(digest, others)}) == 4


def test_many_clips_that_are_left_out_are_one_note(walker, walks):
    short = [walker.walk(f"short {n}", 0.1) for n in range(30)]
    few = build_graph([*walks, *short[:3]])
    assert sum("was left out: it lasts" in note.message for note in few.notes) == 3
    many = [note.message for note in build_graph([*walks, *short]).notes if note.kind == "too-short"]
    assert many == ["30 clips were left out, such as 'short 0': it lasts 0.10 s, less than a window"]


def test_why_no_clip_is_left_is_said(walker):
    short = [walker.walk(f"short {n}", 0.1) for n in range(3)]
    with pytest.raises(
        RequestError, match=r"no clip to build a graph of \(3 clips were left out, such as 'short 0': it l"
    ):
        build_graph(short)
    with pytest.raises(RequestError, match=r"no clip to build a graph of \('short 0' was left out: it lasts 0.10 s"):
        build_graph(short[:1])


def read_from(clip: Clip, take: str = "") -> Clip:
    return replace(clip, source=Source("walk.glb", "glb", "ab" * 32, take=take))


def test_what_a_graph_has_is_passed_over_and_what_was_made_of_it_is_not(walker):
    walk = read_from(demo_clip("walk_turn_90_left", 30.0)).with_name("walk")
    half = len(walk) // 2
    first = add_clips(build_graph([walk]), [walk[:half].with_name("first"), walk])
    assert [note.message for note in first.notes if note.kind == "already-there"] == [
        "'walk' was passed over: the graph has this file already"
    ]
    both = add_clips(first, [walk[half : 2 * half].with_name("second"), walk.mirrored().with_name("mirrored")])
    assert [info.name for info in both.infos] == ["walk", "first", "second", "mirrored"]
    # On another body nothing can be compared but the length.
    own = walker.walk("own body", 2.0)
    carried = build_graph([own, walk], onto=own.skeleton)
    grown = add_clips(carried, [walk[:half].with_name("first"), walk])
    assert [info.name for info in grown.infos] == ["own body", "walk", "first"]


def test_a_take_that_has_no_name_in_the_graph_is_known_again():
    walk, turn = (demo_clip(name, 30.0) for name in ("walk", "walk_turn_90_left"))
    earlier = build_graph([read_from(walk)])
    grown = add_clips(earlier, [read_from(walk, "walk"), read_from(turn, "turn")])
    assert [info.name for info in grown.infos] == ["walk", "walk_turn_90_left"]
