"""Footprints of a solution as a request says them, and whose feet say where the contact points are."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import choreograph as cg
from choreograph.demo import demo_clip
from choreograph.formats import read_clip
from choreograph.verbs.physics.display import footprints_of
from choreograph.verbs.physics.prepare import check_examples, make_setting, sketch_of

JUMP = demo_clip("jump_high", 60.0)


@pytest.mark.parametrize("name", ["jump_high", "walk", "run"])
def test_footprints_come_back_as_the_same_contacts(name: str) -> None:
    request = cg.PhysicsRequest(end_s=2.0)
    setting = make_setting(demo_clip(name, 60.0), request)
    once = sketch_of(setting, request)
    again = sketch_of(setting, request.with_(goals=footprints_of(once)))
    assert np.array_equal(once.flags, again.flags)
    for before, after in zip(once.footprints, again.footprints, strict=True):
        assert np.abs(before - after).max() < 0.02  # shaped as in another stance of the same foot


def test_examples_that_float_do_not_move_the_points_of_the_feet() -> None:
    """As another person's do, put onto a shorter skeleton."""
    floating = JUMP.with_frames(JUMP.root_pos + np.array([0.0, 0.08, 0.0]), JUMP.local_rot).with_name("floats")
    alone = make_setting(JUMP, cg.PhysicsRequest(), [JUMP])
    beside = make_setting(JUMP, cg.PhysicsRequest(), [JUMP, floating, floating, floating])
    assert np.allclose(alone.points.offsets, beside.points.offsets)
    assert np.array_equal(alone.flags, beside.flags)


def test_a_motion_that_nothing_carries_is_refused() -> None:
    up = 1.0 + 2.0 * np.arange(len(JUMP))[:, None] / JUMP.fps * np.array([0.0, 1.0, 0.0])
    flying = JUMP.with_frames(JUMP.root_pos + up, JUMP.local_rot)
    with pytest.raises(cg.RequestError, match="no foot stands"):
        cg.physics(flying, cg.PhysicsRequest(floor_m=0.0))


def test_a_run_solves_on_its_own_footprints_and_on_stones(recordings: Path) -> None:
    run = read_clip(recordings / "cmu/16/16_45.amc")
    others = [read_clip(recordings / f"cmu/16/16_{k}.amc") for k in (46, 35, 36)]
    request = cg.PhysicsRequest(start_s=0.05, end_s=1.058)
    plain = cg.physics(run, request, examples=others)
    prints = [dict(one) for one in plain.best.details["footprints"]]
    places = sorted(
        {(one["position"][2], one["foot"]): one["position"] for one in prints}.values(), key=lambda at: at[2]
    )
    heights = dict(zip((at[2] for at in places), (0.05, 0.1, 0.15), strict=True))
    for one in prints:
        one["position"] = [one["position"][0], heights[one["position"][2]], one["position"][2]]
    stones = cg.physics(run, request.with_(goals=prints), examples=others)
    assert stones.status in ("complete", "feasible")
    foot, frame = run.skeleton.need("right_foot"), round(0.82 * run.fps)
    high, low = (one.clip.global_positions()[frame, foot, 1] for one in (stones, plain))
    assert high - low == pytest.approx(0.15, abs=0.03)


@pytest.mark.slow
def test_examples_that_never_stand_on_both_feet_are_named() -> None:
    """A jump in the space of runs, which the paper shows as failing."""
    result = cg.physics(JUMP, cg.PhysicsRequest(work_limit=3), examples=[demo_clip("run", 60.0)])
    assert any("Both feet" in problem.text for problem in result.problems)
    fine = make_setting(JUMP, cg.PhysicsRequest(), [JUMP])
    assert not [one for one in check_examples(fine, sketch_of(fine, cg.PhysicsRequest())) if "Both feet" in one.text]
