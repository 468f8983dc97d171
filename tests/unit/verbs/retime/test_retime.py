from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.conftest import make_human, make_restless
from tests.unit.sine_walker import walk

from choreograph.base.errors import Cancelled, RequestError
from choreograph.base.progress import Recorder
from choreograph.contract.problem import ProblemKind
from choreograph.formats import read_clip
from choreograph.motion.clip import Clip
from choreograph.verbs.retime.baselines import linear_warp, spline_warp
from choreograph.verbs.retime.keys import length_keys
from choreograph.verbs.retime.measure import fit_gravity, gravity_kept, timing_distance
from choreograph.verbs.retime.references import ReferencePart
from choreograph.verbs.retime.render import render_warp
from choreograph.verbs.retime.request import RetimeAdvanced, RetimeRequest
from choreograph.verbs.retime.retime import retime_clip, retime_prepared
from choreograph.verbs.retime.search import RetimeSearch
from choreograph.verbs.retime.warp import Retimer


def ends(clip: Clip, rate: float) -> list[tuple[int, float]]:
    return [(0, 0.0), (len(clip) - 1, (len(clip) - 1) / clip.fps / rate)]


def test_a_jump_that_is_over_too_soon_says_so_in_numbers_that_json_has(jump: Clip) -> None:
    result = RetimeSearch(jump, RetimeRequest(duration_s=0.07 * jump.seconds)).run()
    assert any("too short to see" in problem.text and problem.got is None for problem in result.problems)
    json.dumps(result.as_json(), allow_nan=False)


@pytest.mark.parametrize("direction", ["steps", "durations"])
def test_a_motion_at_its_own_length_is_itself(jump: Clip, direction: str) -> None:
    result = retime_clip(jump, ends(jump, 1.0), request=RetimeRequest(advanced={"direction": direction}))
    assert len(result.clip) == len(jump)
    assert result.source_frames == pytest.approx(np.arange(len(jump)), abs=1.0)
    if direction == "steps":
        assert result.source_frames == pytest.approx(np.arange(len(jump)), abs=1e-3)
        assert result.clip.root_pos == pytest.approx(jump.root_pos, abs=1e-6)
    assert not result.problems


@pytest.mark.parametrize("rate", [1.5, 2.0, 0.67])
def test_a_jump_keeps_its_gravity(jump: Clip, rate: float) -> None:
    result = retime_clip(jump, ends(jump, rate))
    (pair,) = result.metrics.gravity
    assert pair[0] == pytest.approx(-9.81, rel=0.02)
    assert pair[1] == pytest.approx(pair[0], rel=0.03)
    assert not result.problems
    straight = linear_warp(result.keys, jump.fps)
    ((before, after),) = gravity_kept(jump, render_warp(jump, straight).clip, straight)
    assert after / before == pytest.approx(rate**2, rel=0.1)


def test_a_jump_without_time_around_it_says_so(jump: Clip) -> None:
    result = retime_clip(jump, ends(jump, 1.5), request=RetimeRequest(advanced={"largest_rate": 1.6}))
    (problem,) = result.problems
    assert problem.kind == ProblemKind.GRAVITY_CHANGED and problem.unit == "m/s²"
    assert (problem.asked, problem.got) == pytest.approx(result.metrics.gravity[0], abs=1e-4)
    assert "largest_rate" in problem.text
    (problem,) = retime_clip(jump, ends(jump, 1.5), request=RetimeRequest(spline_share=1.0)).problems
    assert problem.kind == ProblemKind.GRAVITY_CHANGED and "give it less" in problem.text


@pytest.mark.parametrize("direction", ["steps", "durations"])
@pytest.mark.parametrize("blend", [0.0, 0.5, 1.0])
def test_key_times_are_met_and_time_never_goes_back(jump: Clip, direction: str, blend: float) -> None:
    keys = [(0, 0.0), (77, 0.413), (150, 1.3571), (len(jump) - 1, 2.0111)]
    result = retime_clip(jump, keys, request=RetimeRequest(spline_share=blend, advanced={"direction": direction}))
    frames, seconds = np.array(keys, float).T
    assert result.warp.frames_at(seconds) == pytest.approx(frames, abs=1e-3)
    assert (np.diff(result.warp.frames_at(np.linspace(0, 2.0111, 3000))) >= 0).all()
    assert (np.diff(result.source_frames) >= 0).all()
    assert ProblemKind.KEY_TIME_MISSED not in {problem.kind for problem in result.problems}
    if blend == 1.0:
        times = np.linspace(0, 2.0111, 200)
        assert result.warp.frames_at(times) == pytest.approx(
            spline_warp(result.keys, jump.fps).frames_at(times), abs=1.5
        )


def test_keys_closer_than_a_step_and_very_short_motions() -> None:
    clip = make_restless(make_human(), frames=60)
    keys = [(0, 0.0), (20, 0.4), (21, 0.41), (22, 0.43), (59, 1.0)]
    result = retime_clip(clip, keys)
    frames, seconds = np.array(keys, float).T
    assert result.warp.frames_at(seconds) == pytest.approx(frames, abs=0.05)
    for length in (0.05, 0.1, 0.3):
        short = retime_clip(clip[:5], length_keys(clip[:5], length))
        assert len(short.clip) == round(length * clip.fps) and np.isfinite(short.clip.local_rot).all()


def hidden_warp(clip: Clip, depth: float = np.log(2) / 2) -> tuple[Clip, np.ndarray]:
    """The clip with a rate that goes up and down by a factor of two in all, and the frames it shows."""
    t = np.linspace(0, 1, len(clip))
    rate = np.exp(depth * np.sin(2 * np.pi * t + 0.7))
    shown = np.concatenate([[0.0], np.cumsum((rate[1:] + rate[:-1]) / 2)])
    shown *= (len(clip) - 1) / shown[-1]
    from choreograph.motion import resample

    return (
        replace(
            clip,
            root_pos=resample.sample_positions(clip.root_pos, shown),
            local_rot=resample.sample_rotations(clip.local_rot, shown),
            labels=(),
        ),
        shown,
    )


@pytest.mark.parametrize("direction", ["steps", "durations"])
def test_a_hidden_warp_is_undone_by_another_walk(direction: str) -> None:
    one = walk("one", 4.0, fps=120.0)
    other = walk("other", 3.0, fps=120.0, phase=1.3, heading=1.0)
    warped, shown = hidden_warp(one)
    keys = ends(warped, 1.0)
    guided = Retimer(warped, [other], RetimeRequest(advanced={"direction": direction})).solve(keys).warp
    times = np.arange(len(one)) / one.fps

    def error(frames: np.ndarray) -> float:
        return float(np.abs(np.interp(frames, np.arange(len(one)), shown) - times * one.fps).mean())

    assert error(guided.frames_at(times)) < 0.4 * error(times * one.fps)


def test_a_slow_walk_takes_a_brisk_ones_timing() -> None:
    slow = walk("slow", 5.0, fps=60.0, stride_hz=0.8, speed=1.0)
    brisk = walk("brisk", 3.0, fps=60.0, stride_hz=1.2, speed=1.5, phase=2.0)
    warped, _ = hidden_warp(slow)
    result = retime_clip(warped, ends(warped, 1.5), [brisk])
    straight = render_warp(warped, linear_warp(result.keys, warped.fps)).clip
    guided, linear = timing_distance(result.clip, brisk), timing_distance(straight, brisk)
    assert guided.speed < linear.speed and guided.acceleration < linear.acceleration


def test_parts_of_the_motion_itself_and_several_references_guide() -> None:
    one = walk("one", 4.0, fps=60.0)
    warped, _ = hidden_warp(one)
    part = ReferencePart(one, 60, 180)
    several = retime_clip(warped, ends(warped, 1.0), [part, walk("other", 2.0, fps=30.0)])
    assert len(several.clip) == len(one)


def test_references_of_other_sizes_are_taken_onto_the_skeleton() -> None:
    one = walk("one", 3.0, fps=60.0)
    tall = walk("tall", 3.0, fps=60.0, scale=1.3)
    result = Retimer(one, [tall])
    assert result.references[0].skeleton.matches(one.skeleton)
    result.solve(ends(one, 1.2))


def test_bad_references_are_named(jump: Clip) -> None:
    with pytest.raises(RequestError, match=r"other joints.*LeftArm.*only in the first") as refused:
        retime_clip(jump, ends(jump, 1.2), [walk("walker", 2.0)])
    assert refused.value.where == "references[0]"
    with pytest.raises(RequestError, match="'jump' never moves, so it has no timing"):
        retime_clip(jump, ends(jump, 1.2), [jump, jump[:30]])
    with pytest.raises(RequestError, match=r"has 4 frames, 0\.03 s; it needs 5"):
        retime_clip(jump, ends(jump, 1.2), [jump[100:104]])


def test_too_much_is_refused_with_what_can_be_had(jump: Clip) -> None:
    recorded = (len(jump) - 1) / jump.fps
    with pytest.raises(RequestError, match=f"at most 2 times is allowed, so {recorded / 2:.2f} s is the least") as fast:
        retime_clip(jump, ends(jump, 3.0), request=RetimeRequest(advanced={"largest_rate": 2.0}))
    assert fast.value.where == "keys[1]"
    least = float(str(fast.value).split("so ")[1].split(" s")[0])
    retime_clip(jump, [(0, 0.0), (len(jump) - 1, least + 0.05)], request=RetimeRequest(advanced={"largest_rate": 2.0}))
    with pytest.raises(RequestError, match="at most 16 times is allowed"):
        retime_clip(jump, ends(jump, 40.0))
    with pytest.raises(RequestError, match="is the most they can have"):
        retime_clip(jump, ends(jump, 0.02))
    with pytest.raises(RequestError, match="frames 10 to 200 take"):
        retime_clip(
            jump,
            [(0, 0.0), (10, 0.1), (200, 0.4), (len(jump) - 1, 1.5)],
            request=RetimeRequest(advanced={"largest_rate": 4}),
        )


@pytest.mark.parametrize(
    ("name", "value"),
    [("uniform_s", 1.2), ("program_hz", np.nan), ("neighbours", 0), ("smoothing", "much"), ("direction", "back")],
)
def test_bad_settings_are_named(name: str, value: object) -> None:
    with pytest.raises(RequestError, match=name) as refused:
        RetimeAdvanced(**{name: value})  # type: ignore[arg-type]
    assert refused.value.where == name
    with pytest.raises(RequestError, match="it must be less than largest_rate"):
        RetimeRequest(advanced={"smallest_rate": 2.0, "largest_rate": 1.5})


def test_a_prepared_motion_answers_as_a_fresh_one(jump: Clip) -> None:
    retimer = Retimer(jump)
    for rate in (1.5, 1.2, 0.9, 1.5):
        kept = retime_prepared(retimer, ends(jump, rate))
        assert np.array_equal(kept.source_frames, retime_clip(jump, ends(jump, rate)).source_frames)


def test_progress_is_told_and_can_stop(jump: Clip) -> None:
    told = Recorder()
    retime_clip(jump, ends(jump, 1.5), progress=told)
    assert {stage for stage, _, _ in told.calls} >= {"warping", "making frames"}
    with pytest.raises(Cancelled):
        retime_clip(jump, ends(jump, 1.5), progress=Recorder(cancel_after=2))


def test_any_program_rate_grid_and_body() -> None:
    clip = make_restless(make_human(), frames=70, fps=25.0)
    for settings in (
        RetimeRequest(advanced={"program_hz": 15}),
        RetimeRequest(advanced={"samples_per_step": 3, "neighbours": 2}),
        RetimeRequest(advanced={"smallest_rate": 0.0}),
        RetimeRequest(advanced={"still_rate": 2.0, "band_s": 0.5}),
        RetimeRequest(advanced={"weights": {"pace": 1.0, "change": 0.0}}),
    ):
        result = retime_clip(clip, ends(clip, 1.3), request=settings)
        assert np.isfinite(result.clip.root_pos).all()


@pytest.mark.parametrize("trial", ["16_01", "16_05"])
@pytest.mark.parametrize("rate", [1.5, 2.0])
def test_recorded_jumps_keep_their_gravity(recordings: Path, trial: str, rate: float) -> None:
    clip = read_clip(recordings / "cmu" / "16" / f"{trial}.amc")
    result = retime_clip(clip, ends(clip, rate))
    for before, after in result.metrics.gravity:
        assert after == pytest.approx(before, rel=0.03)
    assert result.metrics.slide_m <= result.metrics.slide_before_m
    flight = result.metrics.gravity
    assert len(flight) == 1 and fit_gravity(clip, 0, 20) > flight[0][0]


def test_a_recorded_walk_with_a_hidden_warp_comes_out_even(recordings: Path) -> None:
    names = ("16_47", "16_58", "16_15")
    clips = [read_clip(recordings / "cmu" / "16" / f"{name}.amc") for name in names]
    warped, shown = hidden_warp(clips[0])
    guided = Retimer(warped, clips[1:]).solve(ends(warped, 1.0)).warp
    times = np.arange(len(warped)) / warped.fps
    errors = [
        np.abs(np.interp(frames, np.arange(len(warped)), shown) / 120 - times).mean()
        for frames in (guided.frames_at(times), times * 120)
    ]
    assert errors[0] < 0.5 * errors[1]


def test_running_jumps_keep_their_gravity_too_and_a_run_does_not_limp(recordings: Path) -> None:
    leap = read_clip(recordings / "cmu_more" / "127" / "127_28.amc")
    for before, after in retime_clip(leap, ends(leap, 1.5)).metrics.gravity:
        assert after == pytest.approx(before, rel=0.05)
    run = read_clip(recordings / "cmu" / "16" / "16_35.amc")
    rates = retime_clip(run, ends(run, 1.5)).warp.rates_at(np.linspace(0.1, 0.8, 100))
    assert rates.min() > 1.1 and rates.max() < 2.0


def test_many_jumps_of_other_heights(jumps: Callable[..., Clip]) -> None:
    for take_off in (1.6, 3.0):
        clip = jumps(fps=60.0, take_off=take_off)
        ((before, after),) = retime_clip(clip, ends(clip, 1.4)).metrics.gravity
        assert after == pytest.approx(before, rel=0.05)


def test_references_of_other_rigs_are_retargeted(jump: Clip) -> None:
    renamed = replace(jump.skeleton, names=tuple(f"rig:{name}" for name in jump.skeleton.names))
    rigged = replace(jump, skeleton=renamed, name="rigged")
    by_rig = retime_clip(jump, ends(jump, 1.2), [rigged]).clip
    by_own = retime_clip(jump, ends(jump, 1.2), [jump]).clip
    assert np.abs(by_rig.global_positions() - by_own.global_positions()).max() < 0.02
