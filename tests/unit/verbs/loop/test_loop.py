"""Loops: ends that meet, feet that stand across the seam, and what is said of motion that does not repeat."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import choreograph as cg
from choreograph.base import quat
from choreograph.base.errors import RequestError
from choreograph.demo import demo_clip
from choreograph.motion.clip import Clip
from choreograph.verbs.loop.cycle import find_cycle, join_ends, repeat


def _pose_gap(clip: cg.Clip, a: int, b: int) -> float:
    """Largest angle between joints' rotations, the root's without its heading, degrees."""
    rot = np.array(clip.local_rot[[a, b]])
    heading = clip.facing()[[a, b]]
    rot[:, 0] = quat.multiply(quat.from_yaw(-heading), rot[:, 0])
    return float(np.degrees(quat.angle_between(rot[0], rot[1])).max())


def test_a_walk_repeats() -> None:
    walk = demo_clip("walk", 60.0)
    result = cg.loop(walk, min_s=0.8, max_s=1.6)
    clip = result.best.clips[0]
    assert 0.8 <= result.metrics["seconds"].value <= 1.6 and not result.problems
    assert _pose_gap(clip, 0, -1) < 1e-4 and abs(clip.root_pos[0, 1] - clip.root_pos[-1, 1]) < 1e-9
    assert result.metrics["way"].value > 0.5
    assert result.metrics["foot_slide"].value < 0.03


def test_cycles_go_on_from_each_other_without_a_jump() -> None:
    one = cg.loop(demo_clip("walk", 60.0), min_s=0.8).best.clips[0]
    three = cg.loop(demo_clip("walk", 60.0), min_s=0.8, cycles=3).best.clips[0]
    assert len(three) == 3 * (len(one) - 1) + 1
    steps = np.linalg.norm(np.diff(three.global_positions(), axis=0), axis=2).max(axis=1)
    seam = len(one) - 1
    assert steps[seam - 1 : seam + 1].max() <= 1.2 * np.median(steps) + 0.02


def test_in_place_stays_and_straight_goes_straight() -> None:
    still = cg.loop(demo_clip("walk", 30.0), min_s=0.8, in_place=True).best.clips[0]
    np.testing.assert_allclose(still.root_pos[0], still.root_pos[-1], atol=1e-9)
    veer = demo_clip("walk_veer_left", 30.0)
    clip = cg.loop(veer, min_s=0.8, cycles=4).best.clips[0]
    assert abs(float(np.angle(np.exp(1j * (clip.facing()[-1] - clip.facing()[0]))))) < 1e-6
    round_again = cg.loop(veer, min_s=0.8, cycles=4, straight=False).best.clips[0]
    assert abs(float(np.angle(np.exp(1j * (round_again.facing()[-1] - round_again.facing()[0]))))) > 0.05


def test_the_best_pair_is_the_best_of_all_pairs() -> None:
    clip = demo_clip("walk", 30.0)[:50]
    found = find_cycle(clip, (0.6, 1.2), (None, None), straight=False)
    from choreograph.verbs.loop.cycle import _features, _gaps

    rows, _ = _features(clip)
    gaps = {
        (a, b): float(_gaps(rows, np.array([a]), np.array([b]))[0])
        for a in range(len(clip))
        for b in range(a + 18, min(a + 37, len(clip)))
    }
    assert found.gap_m <= min(gaps.values()) + 1e-12


def test_joining_moves_nothing_by_more_than_half_the_gap() -> None:
    clip = demo_clip("walk", 30.0)
    cycle = find_cycle(clip, (0.8, 1.6), (None, None), straight=True)
    part = clip[cycle.start : cycle.stop + 1]
    joined = join_ends(part, straight=False, in_place=False)
    turned = np.degrees(quat.angle_between(part.local_rot[:, 1:], joined.local_rot[:, 1:])).max()
    ends = np.degrees(quat.angle_between(part.local_rot[0, 1:], part.local_rot[-1, 1:])).max()
    assert turned <= 0.5 * ends + 1e-6
    assert len(repeat(joined, 2)) == 2 * (len(joined) - 1) + 1


def test_motion_that_does_not_repeat_is_said_to() -> None:
    jump = demo_clip("jump_high", 30.0)
    result = cg.loop(jump, start_s=0.0, end_s=0.5 * jump.seconds)
    (problem,) = (problem for problem in result.problems if problem.kind == "no_loop")
    assert problem.text.startswith("The given cycle does not repeat; ends differ by")


def test_a_moment_of_standing_is_said_to_be_no_cycle() -> None:
    stand = demo_clip("stand", 30.0)
    result = cg.loop(stand)
    (problem,) = result.problems
    assert problem.kind == "no_loop" and problem.where == "min_s"
    assert result.metrics["moves"].value < 0.025
    assert not cg.loop(stand, start_s=0.0, end_s=1.0).problems, "who says where it is wants it so"
    for name in ("walk", "walk_slow", "jog", "run", "walk_veer_left"):
        made = cg.loop(demo_clip(name, 30.0))
        assert not any(problem.where == "min_s" for problem in made.problems), name


def test_who_stands_before_walking_loops_as_a_walk() -> None:
    walk = demo_clip("walk", 30.0)
    waits = np.concatenate([np.zeros(60, int), np.arange(len(walk))])
    clip = Clip(walk.skeleton, 30.0, walk.root_pos[waits], walk.local_rot[waits], "waits")
    result = cg.loop(clip)
    assert not any(problem.where == "min_s" for problem in result.problems)
    assert result.metrics["start"].value >= 1.5 and result.metrics["way"].value > 0.5
    with_it = find_cycle(clip, (0.5, 3.0), (0.0, None), straight=True)
    assert with_it.start == 0, "who says where it begins is heard"


@pytest.mark.parametrize("limits", [(0.5, 3.0), (0.9, 1.0), (0.37, 0.45)])
def test_no_cycle_is_shorter_or_longer_than_asked(limits: tuple[float, float]) -> None:
    for name in ("walk", "stand"):
        clip = demo_clip(name, 120.0)
        cycle = find_cycle(clip, limits, (None, None), straight=True)
        assert round(limits[0] * 120) <= cycle.stop - cycle.start <= round(limits[1] * 120)


def test_bad_input() -> None:
    clip = demo_clip("walk", 30.0)
    with pytest.raises(RequestError, match="less than the shortest"):
        cg.LoopRequest(min_s=2.0, max_s=1.0)
    with pytest.raises(RequestError, match="less than the shortest cycle"):
        cg.loop(clip[:10])
    with pytest.raises(RequestError, match=r"lasts 0.03 s, less than the shortest cycle"):
        cg.loop(clip[:1])
    with pytest.raises(RequestError, match="behind the motion's end"):
        cg.loop(clip, start_s=99.0)


def test_recorded_walks_and_runs(recordings: Path) -> None:
    for trial in ("16_47", "16_45"):
        clip = cg.read_clip(recordings / "cmu" / "16" / f"{trial}.amc").resampled(60.0)
        result = cg.loop(clip)
        made = result.best.clips[0]
        assert result.metrics["gap"].value < 0.06 and _pose_gap(made, 0, -1) < 1e-4
        assert not any(problem.where == "min_s" for problem in result.problems)


def test_people_who_stand_in_between_loop_as_they_go(recordings: Path) -> None:
    for trial in ("54/54_22", "107/107_01", "108/108_01"):
        clip = cg.read_clip(recordings / "cmu_more" / f"{trial}.amc")
        cycle = find_cycle(clip, (0.5, 3.0), (None, None), straight=True)
        assert cycle.moves_m >= 0.025 and cycle.gap_m < 0.05, trial


def test_sitting_is_no_cycle(recordings: Path) -> None:
    result = cg.loop(cg.read_clip(recordings / "cmu_more" / "113" / "113_15.amc").resampled(60.0))
    assert any(problem.where == "min_s" for problem in result.problems)
    assert result.metrics["seconds"].value >= 0.5 - 1e-9
