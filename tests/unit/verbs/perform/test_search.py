"""Performing as a search: what leads, who answers, what comes back, and what is said of it."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import choreograph as cg
from choreograph.base.errors import RequestError
from choreograph.demo import demo_clips
from choreograph.formats import read_clip, write_clip
from choreograph.goals.model import SegmentGoal
from choreograph.motion.clip import Clip
from choreograph.verbs.perform.examples import Example, SegmentDatabase
from choreograph.verbs.perform.problems import hand_problems, segment_problems
from choreograph.verbs.perform.request import CutRequest, PerformAdvanced, PerformRequest
from choreograph.verbs.perform.search import PerformSearch, perform
from choreograph.verbs.perform.sources import find_database, find_examples

Samples = tuple[tuple[float, float, float], ...]


def bend(seconds: float, speed: float = 1.25, rate: float = 30.0, radius: float = 4.0) -> Samples:
    """A bent way at an even speed."""
    times = np.arange(round(seconds * rate) + 1) / rate
    angle = speed * times / radius
    rows = np.stack([times, radius * (1 - np.cos(angle)), radius * np.sin(angle)], axis=1)
    return tuple((float(t), float(x), float(z)) for t, x, z in rows)


@pytest.fixture(scope="module")
def walks() -> list[Clip]:
    return [clip for clip in demo_clips(30.0) if clip.name.startswith("walk")]


@pytest.fixture(scope="module")
def database(walks: list[Clip]) -> SegmentDatabase:
    return find_database(walks, CutRequest())


@pytest.fixture
def dancers(make_example: Callable[..., Example]) -> list[Clip]:
    """Three who lead and three who follow, named as recordings of two subjects are."""
    found = []
    for seed in range(3):
        example = make_example(seed)
        assert example.leader is not None
        found += [example.leader.with_name(f"60_{seed}"), example.target.with_name(f"61_{seed}")]
    return found


CUT = {"cut_at": "beats"}


@pytest.mark.slow
def test_a_way_is_walked_and_measured_on_the_finished_motion(walks: list[Clip]) -> None:
    result = perform(walks, PerformRequest(samples=bend(8.0)))
    clip, metrics = result.clip, result.metrics
    goal = np.array(bend(8.0))
    times = np.arange(len(clip)) / clip.fps
    there = np.stack([np.interp(times, goal[:, 0], goal[:, k]) for k in (1, 2)], axis=1)
    off = np.linalg.norm(clip.root_pos[:, ::2] - there, axis=1)
    assert metrics["way_mean"].value == pytest.approx(off.mean(), abs=0.01)
    assert metrics["way_worst"].value == pytest.approx(off.max(), abs=0.03)
    assert metrics["way_end"].value < 0.15 and metrics["seconds"].value == pytest.approx(8.0, abs=0.05)
    assert not result.problems and result.status == "complete" and result.best.proved
    # The sources are the transcription's rows, and cover the motion.
    [motion] = result.best.motions
    pieces = result.best.details["pieces"]
    assert [run.clip for run in motion.sources] == [row["recording"] for row in pieces]
    assert motion.sources[0].start == 0 and motion.sources[-1].stop == len(clip)
    assert metrics["pieces"].value == len(pieces) and {"segment", "placement", "sure"} <= set(pieces[0])
    assert result.as_json()["answers"][0]["pieces"] == pieces
    assert pickle.loads(pickle.dumps(result.best.details)) == dict(result.best.details)


@pytest.mark.slow
def test_a_way_at_hand_and_its_samples_are_one(walks: list[Clip], database: SegmentDatabase) -> None:
    rows = np.array(bend(4.0))
    way = cg.Trajectory(rows[:, 1:], 30.0)
    a, b = perform(database, way).clip, perform(walks, PerformRequest(samples=bend(4.0), smooth_s=0.0)).clip
    assert a.root_pos == pytest.approx(b.root_pos, abs=1e-9)


def test_what_cannot_lead_is_refused(database: SegmentDatabase, walks: list[Clip]) -> None:
    for asked, why in (
        ({}, "nothing leads yet"),
        ({"samples": bend(4.0)[:1]}, "press on the floor"),
        ({"samples": bend(3.0, speed=9.0)}, "but the examples at"),
        ({"leader": "nobody"}, "neither a clip of the examples nor a motion file"),
        ({"samples": bend(4.0), "only": "clip:nobody"}, "only 'clip:nobody': none of"),
        ({"samples": bend(4.0), "cut_at": "labels"}, "cut into segments already"),
        ({"samples": bend(4.0), "goals": (SegmentGoal(at_s=1.0, segments=(9999,)),)}, r"goals\[0\].segments names"),
    ):
        with pytest.raises(RequestError, match=why):
            perform(database, PerformRequest(**asked))
    with pytest.raises(RequestError, match="one of them can lead"):
        perform(database, PerformRequest(samples=bend(4.0)), leader=walks[0])


def test_gaps_and_haste_are_told_beside_the_answer(database: SegmentDatabase) -> None:
    fast = bend(5.0, speed=1.25 * database.fastest)
    samples = tuple(row for row in fast if not 2.0 < row[0] < 2.3)
    result = perform(database, PerformRequest(samples=samples))
    bridged, haste, *_ = result.problems
    assert bridged.kind == "input_repaired" and bridged.got == 0.3 and bridged.where == "samples"
    assert haste.kind == "too_fast" and haste.place is not None
    assert haste.nearest == pytest.approx(database.fastest, abs=1e-3) and haste.unit == "m/s"
    assert haste.asked is not None and haste.got is not None and haste.asked > 1.1 * haste.nearest
    missed = [p for p in result.problems if p.kind == "path_missed"]
    worst = result.metrics["way_worst"].value
    assert bool(missed) == (worst > 0.2 or result.metrics["way_mean"].value > 0.05)


def test_a_way_that_nobody_can_walk_is_missed(walks: list[Clip]) -> None:
    """On the spot, to and fro within half a metre."""
    times = np.arange(0, 6, 1 / 30)
    rows = tuple((float(t), 0.45 * float(np.sin(4.0 * t)), 0.0) for t in times)
    result = perform(walks, PerformRequest(samples=rows))
    [missed] = [p for p in result.problems if p.kind == "path_missed"]
    assert missed.where == "samples" and missed.got is not None and missed.got > 0.05 and missed.unit == "m"


def test_one_segment_is_little_and_that_is_said(database: SegmentDatabase) -> None:
    result = perform(database.subset([3]), PerformRequest(samples=bend(4.0)))
    assert result.notes[-1].kind == "examples_weak"
    assert {row["segment"] for row in result.best.details["pieces"]} == {0}


@pytest.mark.slow
def test_a_segment_that_has_to_be_played_is_looked_for_in_the_final_times(database: SegmentDatabase) -> None:
    free = PerformSearch(database, PerformRequest(samples=bend(6.0)))
    free.run()
    playing = next(p.segment for p in free.sequence.pieces if p.start_s <= 3.0 < p.stop_s)
    other = next(s for s in range(len(database)) if s != playing)
    for at in np.arange(2.0, 4.0, 0.13):
        request = PerformRequest(samples=bend(6.0), goals=(SegmentGoal(at_s=float(at), segments=(other,)),))
        search = PerformSearch(database, request)
        result = search.run()
        frame = 1 / result.clip.fps
        plays = [p.segment for p in search.sequence.pieces if p.start_s - frame <= at <= p.stop_s + frame]
        said = [p for p in result.problems if p.where == "goals[0]"]
        assert (other in plays) == (not said)
        for problem in said:
            assert problem.asked == other and problem.got in plays and problem.kind == "segment_missed"


@pytest.mark.slow
def test_a_segment_can_be_asked_for_during_an_interval(database: SegmentDatabase) -> None:
    free = PerformSearch(database, PerformRequest(samples=bend(6.0)))
    free.run()
    played = [piece.segment for piece in free.sequence.pieces if piece.stop_s > 2.0 and piece.start_s < 3.5]
    goal = SegmentGoal(start_s=2.0, end_s=3.5, segments=played)
    assert not PerformSearch(database, PerformRequest(samples=bend(6.0), goals=[goal])).run().problems
    one = goal.with_(segments=played[:1])
    clip = free.best().clip
    [missed] = segment_problems([one], free.sequence, clip)
    assert missed.where == "goals[0]" and missed.got in played[1:] and missed.at_s is not None and missed.at_s > 2.0


@pytest.mark.slow
def test_quality_says_how_finely_it_is_searched(database: SegmentDatabase) -> None:
    rates = []
    for quality in ("draft", "normal", "best"):
        search = PerformSearch(database, PerformRequest(samples=bend(8.0), quality=quality))
        search.run()
        rates.append(search.sequence.settings.rate_hz)
    assert rates == [5.0, 10.0, 15.0]


def test_pairs_and_segments_are_chosen_by_those_who_answer(dancers: list[Clip], database: SegmentDatabase) -> None:
    pairs = [cg.pair_up(*dancers[k : k + 2]) for k in (0, 2, 4)]
    result = perform(pairs, PerformRequest(only="name:61_0 or name:61_2", **CUT), leader=dancers[2].mirrored())
    assert {run.clip for run in result.best.motions[0].sources} <= {"61_0", "61_2"}
    result = perform(database, PerformRequest(samples=bend(4.0), only="name:walk"))
    assert {run.clip for run in result.best.motions[0].sources} == {"walk"}


def test_a_search_is_one_step_that_can_be_asked_anew(walks: list[Clip], monkeypatch: pytest.MonkeyPatch) -> None:
    from choreograph.verbs.perform import search as module

    built = []
    monkeypatch.setattr(module, "find_database", lambda *a, **k: built.append(1) or find_database(*a, **k))
    search = PerformSearch(walks, PerformRequest(samples=bend(4.0)))
    with pytest.raises(RequestError, match="nothing was performed yet"):
        search.best()
    assert not search.step() and search.done
    first = search.best().clip
    search.change(PerformRequest(samples=bend(5.0), advanced=PerformAdvanced(stretch_s=0.3)))
    assert not search.done and search.run().clip.seconds > first.seconds and len(built) == 1
    search.change(PerformRequest(samples=bend(5.0), only="name:walk"))
    assert {run.clip for run in search.run().best.motions[0].sources} == {"walk"} and len(built) == 2
    search.change(PerformRequest(samples=bend(4.0)))
    assert np.array_equal(search.run().clip.root_pos, first.root_pos)


@pytest.mark.slow
def test_deciding_early_is_said_with_its_price(database: SegmentDatabase) -> None:
    whole = perform(database, PerformRequest(samples=bend(8.0)))
    early = perform(database, PerformRequest(samples=bend(8.0), lag_s=1.5))
    assert early.metrics["lag_cost"].value >= 1 - 1e-9 and "lag_cost" not in whole.metrics
    assert early.best.cost is not None and early.best.bound == whole.best.cost
    assert len(early.clip) == len(whole.clip)
    with pytest.raises(RequestError, match=r"too short.*are enough"):
        perform(database, PerformRequest(samples=bend(8.0), lag_s=0.1))


# ---------------------------------------------------------------- bodies


def test_a_leader_is_followed_and_its_own_example_left_out(dancers: list[Clip]) -> None:
    result = perform(dancers, PerformRequest("60_1", **CUT))
    follower, leader = result.best.motions
    assert leader.leads and leader.name == "60_1" and not follower.leads and result.best.name == "follows 60_1"
    assert result.best.clips == [follower.clip] and result.provenance == {"left_out": "61_1"}
    assert "61_1" not in {run.clip for run in follower.sources}
    assert result.metrics["partner_apart"].value > 0.01 and result.metrics["partner_root"].value > 0.001
    own = perform(dancers, PerformRequest("60_1", leave_out_own=False, **CUT))
    assert {run.clip for run in own.best.motions[0].sources} == {"61_1"}
    assert own.metrics["partner_root"].value < result.metrics["partner_root"].value
    assert "left_out" not in own.provenance


def test_the_only_example_answers_itself_and_that_is_said(dancers: list[Clip]) -> None:
    result = perform(dancers[:2], PerformRequest("60_0", **CUT))
    assert result.notes[0].kind == "examples_weak" and "'60_0'" in result.notes[0].text


def test_a_part_of_a_recording_is_its_own_too(dancers: list[Clip], tmp_path: Path) -> None:
    part = dancers[2][40:160].with_name("somebody")
    write_clip(tmp_path / "part.npz", part)
    for result in (
        perform(dancers, PerformRequest(**CUT), leader=part),
        perform(dancers, PerformRequest(str(tmp_path / "part.npz"), **CUT)),
    ):
        assert result.provenance == {"left_out": "61_1"}
    stranger = dancers[2].mirrored().with_name("60_1")
    assert not perform(dancers, PerformRequest(**CUT), leader=stranger).provenance


def test_pairs_can_be_named_and_answers_read(dancers: list[Clip], tmp_path: Path) -> None:
    leaders, followers = dancers[::2], [clip.with_name(f"x{clip.name}") for clip in dancers[1::2]]
    (tmp_path / "followers").mkdir()
    for clip in followers:
        write_clip(tmp_path / "followers" / f"{clip.name}.npz", clip)
    answers = str(tmp_path / "followers")
    _, guessed = find_examples(dancers, CutRequest(), led_by_body=True)
    _, read = find_examples(leaders, CutRequest(answers=answers))
    _, named = find_examples(dancers, CutRequest(pairs=(("60_2", "61_2"), ("60_0", "61_0"))))
    _, both = find_examples(leaders, CutRequest(answers=answers, pairs=(("60_1", "x61_1"),)))
    _, some = find_examples(leaders, CutRequest(answers=answers, only="name:60_1 or name:60_2"))
    assert [e.target.name for e in guessed] == ["61_0", "61_1", "61_2"]
    assert [e.target.name for e in read] == ["x61_0", "x61_1", "x61_2"]
    assert [e.target.name for e in named] == ["61_2", "61_0"] and [e.target.name for e in both] == ["x61_1"]
    assert [e.target.name for e in some] == ["x61_1", "x61_2"]
    _, tracks = find_examples(dancers, CutRequest(lead_joints=("track",)), led_by_body=True)
    assert all(e.leader is None for e in tracks) and len(tracks) == 6
    with pytest.raises(RequestError, match="no two clips are recordings of a pair"):
        find_examples(leaders, CutRequest(lead_joints="left_foot,right_foot"), led_by_body=True)
    with pytest.raises(RequestError, match=r"pairs\[0\]\[1\] is 'nobody'"):
        find_examples(dancers, CutRequest(pairs=(("60_2", "nobody"),)))
    short = [clip[:150] if clip.name == "61_0" else clip for clip in dancers]
    with pytest.raises(RequestError, match=r"180 frames and '61_0' 150.*cut them .cut_to_shorter."):
        find_examples(short, CutRequest(pairs=(("60_0", "61_0"),)))
    assert len(find_examples(short, CutRequest(pairs=(("60_0", "61_0"),), cut_to_shorter=True))[1][0].control) == 150


def test_a_walker_leads_walks_by_the_track_of_the_hips(walks: list[Clip]) -> None:
    result = perform(walks, PerformRequest("walk_veer_left"))
    assert len(result.best.motions) == 1 and result.best.details["fit"]["control_roles"] == ["track"]
    assert result.provenance == {"left_out": "walk_veer_left"}
    same = next(clip for clip in walks if clip.name == "walk_veer_left")
    count = min(len(same), len(result.clip))
    assert np.linalg.norm(result.clip.root_pos[:count, ::2] - same.root_pos[:count, ::2], axis=1).mean() < 0.25


def test_graphs_give_their_clips(walks: list[Clip], tmp_path: Path) -> None:
    graph = cg.build_graph(walks[:4], workers=1)
    asked = PerformRequest(samples=bend(4.0))
    from_clips, from_graph = perform(list(graph.clips), asked).clip, perform(graph, asked).clip
    assert np.array_equal(from_clips.root_pos, from_graph.root_pos)
    cg.save_graph(graph, tmp_path / "walks.mog")
    kept = perform(cg.open_graph(tmp_path / "walks.mog"), asked).clip
    assert kept.root_pos == pytest.approx(from_graph.root_pos, abs=1e-6)
    assert {run.clip for run in perform(graph, asked.with_(only="name:walk")).best.motions[0].sources} == {"walk"}


def test_hands_that_cannot_be_held_are_said(human_clip: Callable[..., Clip]) -> None:
    clip = human_clip(frames=100, fps=50.0)
    wanted, held = np.zeros((100, 2), bool), np.zeros((100, 2), bool)
    wanted[10:60, 0] = held[10:60, 0] = True
    assert not list(hand_problems(wanted, held, clip))
    held[20:45, 0] = False
    [problem] = hand_problems(wanted, held, clip)
    assert (problem.asked, problem.got, problem.unit) == (1.0, 0.5, "s") and problem.at_s == 0.64
    assert problem.place == pytest.approx((clip.root_pos[32, 0], 0.0, clip.root_pos[32, 2]), abs=1e-3)


def test_a_salsa_leader_is_followed_with_hands_held(recordings: Path) -> None:
    clips = [
        read_clip(recordings / "cmu" / subject / f"{subject}_{n}.amc").with_name(f"{subject}_{n}").resampled(30.0)
        for n in ("01", "02", "03")
        for subject in ("60", "61")
    ]
    result = perform(clips, PerformRequest("60_02"))
    follower, leader = result.best.motions
    assert "61_02" not in {run.clip for run in follower.sources}
    assert 0.05 < result.metrics["partner_apart"].value < 0.6 and result.metrics["partner_root"].value < 0.4
    holds = result.best.details["holds"]
    assert holds and all(hold["start"] < hold["stop"] <= len(follower.clip) for hold in holds)
    shared = min(len(follower.clip), len(leader.clip))
    apart = np.linalg.norm((follower.clip.root_pos[:shared] - leader.clip.root_pos[:shared])[:, ::2], axis=1)
    assert np.median(apart) < 1.5, "they dance together"
    [hands] = [p for p in result.problems if p.kind == "hands_apart"]
    assert hands.asked is not None and hands.got is not None and hands.got < hands.asked
