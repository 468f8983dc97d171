"""The nearest recorded motion: found, at its own pace, and led by only where that is likelier."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import choreograph as cg
from choreograph.demo import demo_clip
from choreograph.features.pose_space import PoseSpace
from choreograph.goals.target import find_targets
from choreograph.motion.clip import Clip
from choreograph.verbs.complete import start
from choreograph.verbs.complete.compile_goals import find_terms
from choreograph.verbs.complete.completion import follow_nearest
from choreograph.verbs.complete.encode import EncodedMotion
from choreograph.verbs.complete.model import MotionModel, learn
from choreograph.verbs.complete.nearest_recording import RecordedStates, find_guide
from choreograph.verbs.complete.request import CompleteRequest
from choreograph.verbs.complete.residual_terms import POSITION, Term
from choreograph.verbs.complete.solver import MapSolver
from choreograph.verbs.complete.sources import Recordings
from choreograph.verbs.complete.store import open_model, save_model


@pytest.fixture(scope="module")
def clips() -> list[Clip]:
    return [demo_clip(name, 30.0) for name in ("walk", "walk_veer_left", "walk_veer_right", "jump")]


@pytest.fixture(scope="module")
def model(clips: list[Clip]) -> MotionModel:
    return learn(clips)


def _space(d: int) -> PoseSpace:
    return PoseSpace(np.zeros(d), np.eye(d), np.ones(d), float(d))


def _recorded(rng: np.random.Generator, d: int = 6) -> np.ndarray:
    from scipy.ndimage import gaussian_filter1d

    smooth = gaussian_filter1d(rng.normal(size=(200, d)), 6.0, axis=0)
    return np.asarray(smooth / smooth.std(axis=0))


def test_a_recorded_stretch_is_found_where_it_is() -> None:
    rng = np.random.default_rng(0)
    examples = RecordedStates.of([_recorded(rng), _recorded(rng), _recorded(rng)])
    part = examples.states[230:290]
    np.testing.assert_allclose(find_guide(examples, _space(6), part, np.ones(60, bool)), part, atol=1e-9)


def test_a_recorded_stretch_is_found_at_another_pace_and_velocities_follow_it() -> None:
    rng = np.random.default_rng(1)
    examples = RecordedStates.of([_recorded(rng), _recorded(rng)])
    slow = np.array([np.interp(np.arange(50, 90, 0.67), np.arange(400), column) for column in examples.states.T]).T
    slow[:, -3:] *= 0.67
    keyed = np.zeros(len(slow), bool)
    keyed[::5] = True
    found = find_guide(examples, _space(6), slow, keyed)
    assert np.abs(found[:, :3] - slow[:, :3]).mean() < 0.1
    assert np.abs(found[:, 3:] - slow[:, 3:]).mean() < 0.2


def test_no_recording_leads_on_into_the_next_but_by_a_leap() -> None:
    rng = np.random.default_rng(2)
    one, other = _recorded(rng)[:40], _recorded(rng)[:40]
    across = np.concatenate([one[-20:], other[:20]])
    found = find_guide(RecordedStates.of([one, other]), _space(6), across, np.ones(40, bool))
    middle = np.abs(np.diff(found, axis=0)).max(axis=1)
    np.testing.assert_allclose(found[[0, -1]], across[[0, -1]], atol=1e-9)
    assert middle[19] < 0.5 * np.abs(other[0] - one[-1]).max(), "both give way over some frames"


def test_of_many_recordings_the_nearest_are_compared() -> None:
    rng = np.random.default_rng(3)
    examples = RecordedStates.of([_recorded(rng) for _ in range(5)])
    kept = examples.nearest(examples.states[610:615], 250)
    assert len(kept.states) == 250 and kept.lengths.tolist() == [200, 50]
    np.testing.assert_array_equal(kept.states[:200], examples.states[600:800])


def _asked(clips: list[Clip], *goals: object, **request: object) -> CompleteRequest:
    keys = [cg.PoseGoal(at, cg.PoseSource("jump", round(30 * at)), as_recorded=True) for at in (0.0, 1.0, 2.0)]
    return CompleteRequest(2.0, [*keys, *goals], **request)  # type: ignore[arg-type]


@pytest.mark.slow
def test_completed_motion_is_nearer_to_recorded_poses(clips: list[Clip]) -> None:
    def novelty(request: CompleteRequest) -> float:
        made = cg.complete(clips, request).clip.resampled(30.0)
        encoding = learn(clips).encoding
        rows, known = (np.concatenate([encoding.encode(c).rows[:, :-3] for c in part]) for part in ([made], clips))
        return float(np.mean([np.linalg.norm((known - row) * encoding.scale[:-3], axis=1).min() for row in rows]))

    free = {"advanced": {"guided": False}}
    assert novelty(_asked(clips)) < 0.7 * novelty(_asked(clips, **free))


@pytest.mark.slow
def test_through_poses_unlike_all_recordings_a_spline_leads(clips: list[Clip], model: MotionModel) -> None:
    request = _asked(clips)
    skeleton = model.encoding.skeleton
    targets = find_targets(request.goals, skeleton, Recordings(clips).find)
    solver = MapSolver(model, 61, find_terms(targets, model, 61, np.full(len(skeleton), np.nan)))
    likely = solver.solve(start.straight(model, 61, solver.terms))
    led = follow_nearest(solver, likely)
    assert solver.guide is not None and led.objective[-1] < likely.objective[-1]
    solver.guide = None
    strange = likely.copy()
    strange.states = strange.states + 40 * np.sqrt(model.space.variances) * np.sign(np.sin(np.arange(61)))[:, None]
    solver.terms = type(solver.terms)(
        [], [pose._replace(row=model.lifted(strange.states[pose.frame][None])[0]) for pose in solver.terms.poses], []
    )
    alone = solver.solve(likely.copy())
    assert follow_nearest(solver, alone).splined and solver.splined
    # Where joints are asked for too, a spline knows nothing of them.
    solver.guide, solver.splined = None, False
    hand = Term(POSITION, 20, (skeleton.need("right_hand"),), (0.0, 1.4, 0.5), 10.0)
    solver.terms = type(solver.terms)([hand], solver.terms.poses, [])
    alone = solver.solve(likely.copy())
    assert follow_nearest(solver, alone) is alone and solver.guide is None


def test_a_model_asked_for_another_behaviour_says_so() -> None:
    jumps = [demo_clip(name, 30.0) for name in ("jump", "jump_forward", "jump_high")]
    walk = demo_clip("walk", 30.0)
    poses = [
        cg.PoseGoal(n / 30, cg.PoseSource(root=walk.root_pos[n], rotations=walk.local_rot[n]), as_recorded=True)
        for n in (0, 30, 60)
    ]
    result = cg.complete(jumps, CompleteRequest(2.0, poses))
    assert result.best.details["led_by"] == "spline"
    assert any("differ from the training clips" in problem.text for problem in result.problems)


def test_where_recordings_know_less_a_spline_leads_and_that_is_said(clips: list[Clip], model: MotionModel) -> None:
    from scipy.interpolate import CubicSpline

    request = _asked(clips, finish={"clean": False, "rate_hz": 30.0})
    recorded = cg.complete(clips, request)
    assert recorded.best.details["led_by"] == "recordings" and "spline" not in recorded.best.name
    poses = [clips[3][goal.pose.frame : goal.pose.frame + 1] for goal in request.goals]
    own = [
        cg.PoseGoal(key.at_s, cg.PoseSource(root=pose.root_pos[0], rotations=pose.local_rot[0]), as_recorded=True)
        for key, pose in zip(request.goals, poses, strict=True)
    ]
    splined = cg.complete(replace(model, held_out=1.2), request.with_(goals=own))
    assert splined.best.details["led_by"] == "spline" and "spline" in splined.best.name
    unsure = cg.complete(replace(model, held_out=0.95), request.with_(goals=own))
    assert unsure.best.details["led_by"] == "recordings"
    close = [*own, own[1].with_(at_s=1 + 1 / 30)]
    uneven = cg.complete(replace(model, held_out=1.2), request.with_(goals=close, exact=False))
    assert uneven.best.details["led_by"] == "model", "a spline leaps out of a gap behind poses close together"
    encoding = model.encoding
    true = encoding.encode(clips[3][:61])
    at = np.array([0, 30, 60])
    both = np.concatenate(true, axis=1)
    rows = CubicSpline(at, both[at])(np.arange(61))
    plain = encoding.decode(EncodedMotion(rows[:, :-3], rows[:, -3:])).global_positions()
    found = splined.clip.global_positions()
    assert np.linalg.norm(found - plain, axis=-1).max() < 0.02
    assert np.linalg.norm(recorded.clip.global_positions() - plain, axis=-1).max() > 0.1


def test_recordings_that_are_as_near_count_alike() -> None:
    rng = np.random.default_rng(4)
    one = _recorded(rng)[:60]
    ends = np.zeros(60, bool)
    ends[[0, -1]] = True
    bump = np.sin(np.linspace(0, np.pi, 60))[:, None] ** 2 * np.array([3.0, 0, 0, 0, 0, 0])
    examples = RecordedStates.of([one + bump, one - bump])
    found = find_guide(examples, _space(6), one, ends)
    assert np.abs(found - one).max() < 0.3, "neither way is known to be the one"


def test_recordings_come_back_from_files(model: MotionModel, tmp_path: Path) -> None:
    save_model(tmp_path / "a.model", model)
    back = open_model(tmp_path / "a.model")
    assert model.examples is not None and back.examples is not None
    np.testing.assert_array_equal(back.examples.states, model.examples.states)
    np.testing.assert_array_equal(back.examples.lengths, model.examples.lengths)


def test_goals_that_tell_it_all_need_no_guide(clips: list[Clip]) -> None:
    pos = clips[3].global_positions()
    tracks = [
        cg.JointGoal(start_s=0.0, end_s=2.0, joint=name, points=pos[:61, clips[3].skeleton.need(name)].tolist())
        for name in ("left_hand", "right_hand", "left_foot", "right_foot")
    ]
    for count, led in ((1, False), (4, True)):
        made = cg.complete(clips, _asked(clips, *tracks[:count])).completion
        assert made is not None and (made.guide is None) == led


def test_recordings_lead_motion_on_splines_too() -> None:
    walks = [demo_clip(name, 30.0) for name in ("walk", "walk_veer_left", "walk_veer_right")]
    keys = [
        cg.PoseGoal(0.0, cg.PoseSource("walk", 10), as_recorded=True),
        cg.PoseGoal(2.0, cg.PoseSource("walk", 70), as_recorded=True),
    ]
    request = cg.CompleteRequest(2.0, keys, finish=cg.FinishSettings(rate_hz=30.0))
    made = cg.complete(walks, request.with_(advanced=cg.CompleteAdvanced(knots_s=0.3)))
    assert made.best.details["led_by"] == "recordings" and made.problems == ()
    off = np.linalg.norm(made.clip.global_positions() - cg.complete(walks, request).clip.global_positions(), axis=-1)
    assert off.mean() < 0.02


def test_a_model_that_knows_less_than_a_spline_says_so_of_gaps_as_long_as_a_step(model: MotionModel) -> None:
    knows_less = replace(model, held_out=1.2)
    walk = demo_clip("walk", 30.0)

    def told(*frames: int) -> list[str]:
        poses = [
            cg.PoseGoal(n / 30, cg.PoseSource(root=walk.root_pos[n], rotations=walk.local_rot[n]), as_recorded=True)
            for n in frames
        ]
        result = cg.complete(knows_less, CompleteRequest(frames[-1] / 30, poses))
        assert result.best.details["led_by"] == "spline"
        return [problem.text for problem in result.problems if problem.kind == "examples_weak"]

    assert told(0, 10, 20, 30) == []
    assert "fills 1.0 s" in told(0, 10, 40)[0]
