"""Stillness, pace, suggestions, measures and pictures."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.unit.sine_walker import walk

from choreograph.base.errors import RequestError
from choreograph.base.floor import FloorTransform
from choreograph.contract.problem import ProblemKind
from choreograph.motion.clip import Clip
from choreograph.pictures.plots import write_plot
from choreograph.verbs.retime.baselines import linear_warp
from choreograph.verbs.retime.features import (
    FeatureTrack,
    duration_costs,
    reference_features,
    sample_track,
    step_costs,
    turn_into_floor_frame,
)
from choreograph.verbs.retime.measure import (
    distribution_distance,
    find_flights,
    joint_speeds,
    timing_distance,
    warp_error,
)
from choreograph.verbs.retime.pace import find_pace, share_out
from choreograph.verbs.retime.plot import plot_speeds, plot_warp
from choreograph.verbs.retime.references import suggest_references
from choreograph.verbs.retime.request import RetimeRequest
from choreograph.verbs.retime.retime import retime_clip
from choreograph.verbs.retime.still import find_still, limit_steps
from choreograph.verbs.retime.warp import Retimer

# ------------------------------------------------------------------ features


def direct_costs(
    track: FeatureTrack, known: list[FeatureTrack], steps: np.ndarray, output_s: float, neighbours: int
) -> np.ndarray:
    """The same costs from the definition, in double precision, without a basis."""

    def feature(source: FeatureTrack, i: int, j: int, k: int, seconds: float) -> tuple[np.ndarray, np.ndarray]:
        x, y, z = (turn_into_floor_frame(source.points[n][None], source.facing[j : j + 1])[0] for n in (i, j, k))
        return ((z - x) / (2 * seconds)).ravel(), ((z - 2 * y + x) / seconds**2).ravel()

    step = round(output_s * track.rate_hz)
    moments = [
        feature(source, j - step, j, j + step, output_s) for source in known for j in range(step, len(source) - step)
    ]
    v, a = (np.array([moment[k] for moment in moments]) for k in range(2))
    scales = [np.sqrt((x**2).sum(axis=1).mean()) for x in (v, a)]
    table = np.concatenate([v / scales[0], a / scales[1]], axis=1)
    out = np.full((len(track), len(steps), len(steps)), np.nan)
    for j, b, c in np.ndindex(out.shape):
        if j - steps[c] >= 0 and j + steps[b] < len(track):
            parts = feature(track, j - steps[c], j, j + steps[b], output_s)
            row = np.concatenate([parts[0] / scales[0], parts[1] / scales[1]])
            out[j, b, c] = np.sort(np.linalg.norm(table - row, axis=1))[:neighbours].mean()
    return out


def test_costs_are_mean_distances_to_the_nearest_references() -> None:
    one, two = (sample_track(walk(name, 0.5, fps=120.0, phase=p), 120.0) for name, p in (("a", 0.0), ("b", 1.0)))
    steps = np.arange(2, 8)
    known = reference_features([two, one], 4, share=1 - 1e-12)
    fast = step_costs(one, known, steps, 4 / 120, neighbours=3)
    slow = direct_costs(one, [two, one], steps, 4 / 120, 3)
    there = np.isfinite(slow)
    assert there.sum() > 1000
    assert fast[there] == pytest.approx(slow[there], abs=2e-3)
    # Even durations of a step are the same as even steps.
    frames = np.arange(0, len(one), 4)
    even = duration_costs(one, known, 4, np.array([2, 4, 6]) / 120, neighbours=3)
    inner = slice(1, -1)
    assert even[inner, 1, 1] == pytest.approx(slow[frames, 2, 2][inner], abs=2e-3)


def test_costs_do_not_depend_on_where_a_motion_goes() -> None:
    clip = walk("a", 1.0, fps=60.0)
    moved = clip.moved(FloorTransform(2.0, 3.0, -1.0))
    known = reference_features([sample_track(clip, 120.0)], 4)
    steps = np.arange(2, 8)
    one, two = (step_costs(sample_track(x, 120.0), known, steps, 1 / 30) for x in (clip, moved))
    assert one == pytest.approx(two, abs=5e-3)


def test_tracks_are_sampled_smoothly() -> None:
    clip = walk("a", 2.0, fps=30.0)
    fine, true = sample_track(clip, 240.0), walk("a", 2.0, fps=240.0)
    count = len(fine)
    assert fine.points == pytest.approx(
        true.global_positions()[:count] + (fine.points[0] - true.global_positions()[0]), abs=0.05
    )
    assert sample_track(clip, 30.0).points is clip.global_positions()


# ------------------------------------------------------------------ stillness


def test_standing_is_found_and_keeps_a_rate_of_its_own(jump: Clip) -> None:
    found = find_still(sample_track(jump, 120.0), 0.1, 0.3)
    assert len(found) == 2
    (a, b), (c, d) = found
    assert a == 0 and abs(b - 72) < 15 and abs(c - (len(jump) - 73)) < 15 and d == len(jump)
    for rate in (1.0, 2.0):
        keys = [(0, 0.0), (len(jump) - 1, (len(jump) - 1) / 120 / 1.3)]
        guided = Retimer(jump, [], RetimeRequest(advanced={"still_rate": rate})).solve(keys)
        middle = guided.warp.seconds_at((guided.still[0][0] + guided.still[0][1]) / 2)
        assert guided.warp.rates_at(middle) == pytest.approx(rate, abs=0.15)


def test_a_rate_of_stillness_that_cannot_be_had_is_a_problem(jump: Clip) -> None:
    keys = [(0, 0.0), (len(jump) - 1, (len(jump) - 1) / 120 / 1.3)]
    result = retime_clip(jump, keys, request=RetimeRequest(advanced={"still_rate": 0.5}))
    problem, other = (p for p in result.problems if p.kind == ProblemKind.RATE_MISSED)
    assert result.still == () and other.text.startswith("Frames")
    assert problem.asked == 0.5 and problem.got > 0.6 and "Frames 0 to" in problem.text


def test_with_a_reference_standing_goes_at_the_mean_rate(jump: Clip) -> None:
    keys = [(0, 0.0), (len(jump) - 1, (len(jump) - 1) / 120 / 1.5)]
    guided = Retimer(jump, [jump]).solve(keys)
    assert len(guided.still) == 2
    for start, stop in guided.still:
        assert guided.warp.rates_at(guided.warp.seconds_at((start + stop) / 2)) == pytest.approx(1.5, abs=0.15)
    free = Retimer(jump, [jump], RetimeRequest(advanced={"still_rate": 0.0})).solve(keys)
    assert free.still == ()


def test_a_key_time_frees_the_stretch_it_lies_in(jump: Clip) -> None:
    keys = [(0, 0.0), (30, 0.1), (len(jump) - 1, 2.0)]
    assert len(Retimer(jump, [jump]).solve(keys).still) == 1


def test_steps_are_tied_to_neighbours_of_the_wanted_one() -> None:
    fewest, most = limit_steps(10, np.arange(1, 9), [(2, 5)], np.full(10, 5.4))
    assert fewest.tolist() == [0, 0, 4, 4, 4, 0, 0, 0, 0, 0] and most.tolist() == [7, 7, 5, 5, 5, 7, 7, 7, 7, 7]


# ------------------------------------------------------------------ pace


def test_pace_is_what_the_reference_does_in_similar_poses() -> None:
    slow, fast = (walk("w", 4.0, fps=120.0, stride_hz=hz, speed=1.3 * hz) for hz in (0.8, 1.2))
    pace = find_pace(sample_track(slow, 120.0), [sample_track(fast, 120.0)], 4, 2)
    assert np.exp(pace) == pytest.approx(1.5, rel=0.15)
    rates = share_out(pace, [(0, len(slow) - 1, 2.0)], 120.0)
    assert (1 / rates).sum() / 120 == pytest.approx(2.0, rel=0.01)


# ------------------------------------------------------------------ suggestions


def test_the_nearest_at_the_wanted_speed_are_suggested() -> None:
    clip = walk("mine", 4.0)
    others = [
        walk("slow", stride_hz=0.7, speed=0.9),
        walk("brisk", stride_hz=1.5, speed=1.95),
        walk("march", swing=1.4, stride_hz=1.6, speed=0.2),
        clip,
    ]
    faster, slower = (suggest_references(clip, seconds, others, count=2) for seconds in (2.7, 5.7))
    assert faster[0].name == "brisk" and slower[0].name == "slow"
    assert all(s.name != "mine" for s in faster + slower) and len(faster) == 2
    with pytest.raises(RequestError, match="positive"):
        suggest_references(clip, 0.0, others)


# ------------------------------------------------------------------ measures


def test_measures_measure(jump: Clip) -> None:
    (flight,) = find_flights(jump)
    assert flight.gravity == pytest.approx(-9.81, rel=0.02)
    speed, acceleration = joint_speeds(jump)
    assert speed.shape == acceleration.shape and speed.shape[1] == len(jump.skeleton)
    same = timing_distance(jump, jump)
    assert same.speed == 0 and same.acceleration == 0
    assert distribution_distance(speed * 1.5, speed) == pytest.approx(0.5, rel=0.01)
    keys = ((0, 0.0), (len(jump) - 1, 1.0))
    warp = linear_warp(keys, 120.0)  # type: ignore[arg-type]
    times = np.linspace(0, 1, 50)
    assert warp_error(warp, warp.frames_at(times) + 6, times) == pytest.approx(0.05)


def test_pictures_are_drawn(jump: Clip, tmp_path: Path) -> None:
    result = retime_clip(jump, [(0, 0.0), (150, 1.1), (len(jump) - 1, 1.9)])
    for theme in ("light", "dark"):
        figure = plot_warp(result, jump, theme=theme)
        assert [text.get_text() for text in figure.axes[0].get_legend().get_texts()] == [
            *("linear", "spline", "guided", "key times"),
        ]
        write_plot(tmp_path / f"{theme}.png", figure)
    figure = plot_speeds({"input": jump, "result": result.clip, "references": [jump, result.clip]})
    assert len(figure.axes) == 2 and len(figure.axes[0].lines) == 3
    write_plot(tmp_path / "speeds.svg", figure)
