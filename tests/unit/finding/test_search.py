"""Finding places: by words, by example, by speed, turn and feet."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import choreograph as cg
from choreograph.base.errors import RequestError
from choreograph.base.progress import Recorder
from choreograph.demo import demo_clip
from choreograph.distance.window import Window, align_plainly, windowed_clip
from choreograph.finding import features as seen
from choreograph.finding.request import FindRequest, parse_range
from choreograph.finding.search import example_distances, turns_within
from choreograph.formats.trials import Trial, write_trials
from choreograph.motion.clip import Clip, Label

NAMES = ("walk", "run", "stand", "walk_turn_90_left", "walk_turn_90_right", "jump")


@pytest.fixture(scope="module")
def clips() -> list[Clip]:
    return [demo_clip(name, 30.0) for name in NAMES]


def test_distances_are_those_of_the_definition(clips: list[Clip], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("choreograph.finding.search._BLOCK", 37)
    features = seen.join_features([seen.clip_features(clip[:40]) for clip in clips])
    example = features.points[5:14].astype(float)
    found = example_distances(features, example)
    weights = seen.point_weights()
    for at in range(len(found)):
        if features.clip[at] != features.clip[at + 8]:
            assert np.isinf(found[at])
            continue
        plain, *_ = align_plainly(example, features.points[at : at + 9].astype(float), weights, np.full(9, 1 / 9))
        assert found[at] == pytest.approx(plain, abs=2e-6)


def test_running_products_agree_with_the_kernel_for_pairs() -> None:
    from choreograph.distance.example import distances_from
    from choreograph.distance.window import align_windows

    rng = np.random.default_rng(1)
    for length, taper in ((1, "uniform"), (7, "triangle"), (12, "uniform")):
        window, weights = Window(length, taper), rng.random(5)
        many = windowed_clip(rng.normal(size=(40, 5, 3)) + 30, weights, window)
        one = windowed_clip(rng.normal(size=(length, 5, 3)) - 20, weights, window)
        pairs = align_windows(many, np.arange(many.count), one, np.zeros(many.count, int)).distance
        np.testing.assert_allclose(distances_from(many, one), pairs, atol=1e-6)
    short = windowed_clip(rng.normal(size=(3, 5, 3)), weights, window)
    assert not len(distances_from(short, one))


def test_finds_an_example_wherever_it_goes_and_whoever_moves(clips: list[Clip]) -> None:
    turn = next(clip for clip in clips if clip.name == "walk_turn_90_left")
    part = turn[30:60].moved(cg.FloorTransform(1.0, 20.0, -7.0))
    found = cg.find(clips, like=part, count=3)
    assert found.places[0].clip == turn.name
    assert found.places[0].start_s == pytest.approx(1.0, abs=0.05)
    assert found.places[0].distance_m == pytest.approx(0.0, abs=2e-3)
    tall = Clip(part.skeleton.scaled(1.3), part.fps, part.root_pos * 1.3, part.local_rot)
    again = cg.find(clips, like=tall, count=1).places[0]
    assert (again.clip, again.start_s) == (found.places[0].clip, found.places[0].start_s)
    assert again.distance_m == pytest.approx(0.0, abs=3e-3)
    nearest = [place.distance_m or 0.0 for place in found.places]
    assert nearest == sorted(nearest)


def test_finds_a_pose(clips: list[Clip]) -> None:
    found = cg.find(clips, like=clips[1], start_s=0.5, count=1).places[0]
    assert found.clip == clips[1].name
    assert found.start_s == pytest.approx(0.5, abs=0.02)


def test_places_do_not_lie_over_one_another(clips: list[Clip]) -> None:
    places = cg.find(clips, like=clips[0], start_s=0.5, end_s=1.0, count=500).places
    for clip in clips:
        own = sorted((p.start_s, p.stop_s) for p in places if p.clip == clip.name)
        assert all(a[1] <= b[0] + 1e-6 for a, b in pairwise(own))


def test_speed_turn_and_feet_hold_in_every_frame_found(clips: list[Clip]) -> None:
    features = seen.join_features([seen.clip_features(clip) for clip in clips])
    turned = np.degrees(turns_within(features, 1.0))
    found = cg.find(clips, speed="0.5..2", turn="30..", side="left", contact="any", count=100)
    assert found.places
    for place in found.places:
        first = features.first[place.number]
        rows = slice(first + round(place.start_s * 30), first + round(place.stop_s * 30))
        assert ((features.speed[rows] >= 0.5) & (features.speed[rows] <= 2)).all()
        assert (turned[rows] >= 30).all()
        assert (features.feet[rows] > 0).all()
        assert place.seconds >= 0.25 - 1e-6
    assert {place.clip for place in found.places} == {"walk_turn_90_left"}
    lengths = [place.seconds for place in found.places]
    assert lengths == sorted(lengths, reverse=True)


def test_the_mirror_image_turns_to_the_other_side(clips: list[Clip]) -> None:
    mirrored = [clip.mirrored() for clip in clips]
    one = cg.find(clips, turn="30..", side="left", count=99).places
    other = cg.find(mirrored, turn="30..", side="right", count=99).places
    assert [(p.number, p.start_s) for p in one] == [(p.number, p.start_s) for p in other]


def test_flight_is_found_in_runs_not_in_walks(clips: list[Clip]) -> None:
    names = {place.clip for place in cg.find(clips, contact="none", shortest_s=0.06, count=999).places}
    assert "run" in names
    assert "walk" not in names


def test_words_choose_frames_for_the_rest(clips: list[Clip]) -> None:
    walk = clips[0].with_labels([Label("slow start", 10, 40)])
    found = cg.find([walk, *clips[1:]], only="label:slow")
    assert [(p.start_s, p.stop_s) for p in found.places] == [(round(10 / 30, 4), round(40 / 30, 4))]
    both = cg.find([walk, *clips[1:]], only="label:slow", speed="0..")
    assert [(p.start_s, p.stop_s) for p in both.places] == [(round(10 / 30, 4), round(40 / 30, 4))]
    assert cg.find([walk], only="label:slow", like=walk[:15], count=9).places[0].start_s >= 10 / 30 - 1e-6


def test_says_why_nothing_was_found(clips: list[Clip]) -> None:
    assert "wlak" in cg.find(clips, only="wlak").hint
    assert cg.find(clips, only="wlak").total == 0
    assert "widen" in cg.find(clips, speed="50..").hint


def test_a_graph_keeps_what_it_was_searched_by(clips: list[Clip], tmp_path: Path) -> None:
    cg.save_graph(cg.build_graph(clips), tmp_path / "some.mog")
    first, second = Recorder(), Recorder()
    found = cg.find(tmp_path / "some.mog", like=clips[1][10:30], progress=first)
    again = cg.find(str(tmp_path / "some.mog"), like=clips[1][10:30], progress=second)
    assert found.places == again.places
    assert found.places[0].clip == "run"
    assert any(stage == "looking at clips" for stage, *_ in first.calls)
    assert not any(stage == "looking at clips" for stage, *_ in second.calls)
    part = found.clip(0)
    assert len(part) == 20
    np.testing.assert_allclose(part.root_pos, clips[1][10:30].root_pos, atol=1e-9)


def test_folders_are_searched_and_broken_files_passed_over(clips: list[Clip], tmp_path: Path) -> None:
    for clip in clips[:3]:
        cg.write_clip(tmp_path / f"{clip.name}.bvh", clip)
    (tmp_path / "broken.bvh").write_text("HIERARCHY nonsense")
    found = cg.find(str(tmp_path), speed="2..")
    assert {place.clip for place in found.places} == {"run"}
    assert len(found.skipped) == 1
    assert found.clips == 3


def test_words_of_a_table_of_trials_need_no_reading(tmp_path: Path) -> None:
    for name in ("16_01", "16_02"):
        (tmp_path / f"{name}.amc").write_text("this cannot be read")
    rows = {"16_01": Trial("16_01", 120, 120.0, "walk"), "16_02": Trial("16_02", 60, 60.0, "jump, forward")}
    write_trials(tmp_path, rows)
    found = cg.find(str(tmp_path), only="forward jump")
    assert [(p.clip, p.start_s, p.stop_s, p.labels) for p in found.places] == [("16_02", 0.0, 1.0, ("jump, forward",))]


def test_a_line_of_a_table_that_makes_no_sense_costs_one_file(tmp_path: Path) -> None:
    for name in ("16_01", "16_02"):
        (tmp_path / f"{name}.amc").write_text("this cannot be read")
    write_trials(tmp_path, {"16_02": Trial("16_02", 60, 60.0, "jump, forward")})
    with (tmp_path / "trials.tsv").open("a") as table:
        table.write("16_01\tmany\t120\twalk\n")
    found = cg.find(str(tmp_path), only="forward")
    assert [place.clip for place in found.places] == ["16_02"]
    assert len(found.skipped) == 1 and "'many' frames" in found.skipped[0]


def test_a_rate_that_was_assumed_is_said_where_speeds_depend_on_it(clips: list[Clip], tmp_path: Path) -> None:
    for clip in clips[:2]:
        cg.write_clip(tmp_path / f"{clip.name}.amc", clip)
    (tmp_path / "trials.tsv").unlink(missing_ok=True)
    found = cg.find(str(tmp_path), speed="0..")
    assert len(found.notes) == 1, "once for all files that are alike"
    assert found.notes[0].endswith("120 a second are assumed; say it in a trials.tsv beside the files")
    assert found.as_json()["notes"] == list(found.notes)
    write_trials(tmp_path, {clip.name: Trial(clip.name, len(clip), clip.fps) for clip in clips[:2]})
    assert not cg.find(str(tmp_path), speed="0..").notes


@pytest.mark.parametrize(
    "fields",
    [
        {"speed": "fast"},
        {"speed": "2..1"},
        {"speed": ".."},
        {"turn": "1.2.3..4"},
        {"side": "left"},
        {"start_s": 1.0},
        {"only": "(walk"},
        {"contact": "hand"},
        {"count": 0},
    ],
)
def test_refuses_what_cannot_be(clips: list[Clip], fields: dict[str, object]) -> None:
    with pytest.raises(RequestError):
        cg.find(clips[:1], **fields)


def test_examples_lie_within_their_clip(clips: list[Clip]) -> None:
    for fields in ({"start_s": 1e4}, {"start_s": 0.0, "end_s": 1e4}, {"start_s": 2.0, "end_s": 1.0}):
        with pytest.raises(RequestError):
            cg.find(clips, like=clips[0], **fields)  # type: ignore[arg-type]
    with pytest.raises(RequestError):
        cg.find([], only="walk")


def test_ranges() -> None:
    assert parse_range("1.5..2.25") == (1.5, 2.25)
    assert parse_range(None) is None
    assert FindRequest(turn="90..").turn_range == (pytest.approx(np.pi / 2), np.inf)


def test_finding_can_be_stopped(clips: list[Clip]) -> None:
    with pytest.raises(cg.Cancelled):
        cg.find(clips, speed="1..", progress=Recorder(cancel_after=2))


def test_who_slides_over_the_floor_is_not_in_the_air() -> None:
    stand = demo_clip("stand", 30.0)
    way = stand.root_pos + np.linspace(0, 2.0 * stand.seconds, len(stand))[:, None] * (1.0, 0.0, 0.0)
    sliding = replace(stand, root_pos=way, contacts=None, name="sliding")
    assert not cg.find([sliding], contact="any").places
    assert not cg.find([sliding], contact="none").places


def test_who_is_held_up_by_something_else_than_feet_is_not_in_the_air() -> None:
    stand, jump = demo_clip("stand", 30.0)[:60], demo_clip("jump", 30.0)
    lifted = np.clip(np.arange(60) / 30 - 0.5, 0, 0.2)[:, None] * (0.0, 1.0, 0.0)
    feet = np.repeat((lifted[:, 1] < 0.02)[:, None], len(stand.skeleton.feet), axis=1)
    sits = replace(stand, root_pos=stand.root_pos + lifted, contacts=feet, name="sits")
    assert [place.clip for place in cg.find([sits, jump], contact="none").places] == ["jump"]
