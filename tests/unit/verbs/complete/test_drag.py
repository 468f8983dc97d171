"""Poses that are pulled, goals that are dragged, and what a model knows and lets joints do."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import choreograph as cg
from choreograph.base import quat
from choreograph.base.errors import RequestError
from choreograph.demo import demo_clip
from choreograph.motion.clip import Clip
from choreograph.verbs.complete.encode import EncodedMotion
from choreograph.verbs.complete.estimate import Estimate
from choreograph.verbs.complete.floor_limits import clearance, stand_levels
from choreograph.verbs.complete.interactive import Pull, pulled_pose
from choreograph.verbs.complete.residual_terms import PoseTerm, Terms
from choreograph.verbs.complete.search import CompleteSearch
from choreograph.verbs.complete.solver import MapSolver

WALK = "walk"


@pytest.fixture(scope="module")
def walks() -> list[Clip]:
    return [demo_clip(name, 30.0) for name in (WALK, "walk_veer_left", "walk_veer_right")]


@pytest.fixture(scope="module")
def model(walks: list[Clip]) -> cg.MotionModel:
    return cg.learn(walks, cg.LearnSettings(order=2, components=1))


REQUEST = cg.CompleteRequest(
    2.0, [cg.PoseGoal(float(n), cg.PoseSource(WALK, 10 + 30 * n), as_recorded=True) for n in (0, 2)]
)


def own_pose(clip: Clip, frame: int, at_s: float) -> cg.PoseGoal:
    source = cg.PoseSource(root=clip.root_pos[frame], rotations=clip.local_rot[frame])
    return cg.PoseGoal(at_s, source, as_recorded=True)


def test_a_pulled_hand_takes_the_body_along_and_feet_stay(walks: list[Clip], model: cg.MotionModel) -> None:
    walk = walks[0]
    hand, feet = walk.skeleton.need("right_hand"), list(walk.skeleton.feet)
    pose = walk[40:41]
    before = pose.global_positions()[0]
    goal = before[hand] + np.array([-0.1, 0.45, 0.2])
    made = pulled_pose(model, pose, "right_hand", tuple(goal))
    after = made.global_positions()[0]
    np.testing.assert_allclose(after[hand], goal, atol=1e-4)
    assert model.standing is not None
    stood = [foot for foot in feet if abs(before[foot, 1] - model.standing[foot]) < 0.04]
    assert stood
    np.testing.assert_allclose(after[stood], before[stood], atol=1e-3)
    turned = quat.angle_between(made.local_rot[0], pose.local_rot[0])
    spine = [j for j, role in enumerate(walk.skeleton.roles) if role == "spine"]
    assert turned[spine].max() > 0.01, "not the arm alone"


def test_a_pulled_foot_leaves_the_other_one_standing(walks: list[Clip], model: cg.MotionModel) -> None:
    walk = walks[0]
    left, right = walk.skeleton.need("left_foot"), walk.skeleton.need("right_foot")
    frame = int(np.abs(walk.global_positions()[:, left, 1] - walk.global_positions()[:, right, 1]).argmin())
    before = walk.global_positions()[frame]
    made = pulled_pose(model, walk[frame : frame + 1], "left_foot", tuple(before[left] + np.array([0.0, 0.15, 0.1])))
    after = made.global_positions()[0]
    np.testing.assert_allclose(after[left] - before[left], [0.0, 0.15, 0.1], atol=1e-3)
    np.testing.assert_allclose(after[right], before[right], atol=1e-3)


def lifted(walk: Clip, at_s: float, up_m: float) -> tuple[float, float, float]:
    x, y, z = walk.global_positions()[round(at_s * walk.fps), walk.skeleton.need("right_hand")]
    return float(x), float(y) + up_m, float(z)


def moved_m(made: Clip, walk: Clip, role: str, frame: int) -> float:
    joint = walk.skeleton.need(role)
    return float(np.linalg.norm((made.global_positions() - walk.global_positions())[frame, joint]))


def test_a_hand_that_is_dragged_up_lifts_no_leg(walks: list[Clip], model: cg.MotionModel) -> None:
    walk = walks[0][:61]
    drag = cg.Dragging.of_clip(model, walk, keys=(0, 60))
    for up_m in np.linspace(0.0, 0.6, 13):
        made = drag.pull("right_hand", 1.0, lifted(walk, 1.0, float(up_m)))
    assert made.global_positions()[30, walk.skeleton.need("right_hand")] == pytest.approx(
        lifted(walk, 1.0, 0.6), abs=2e-3
    )
    assert all(
        moved_m(made, walk, role, frame) < 0.15 for role in ("left_foot", "right_foot") for frame in (15, 30, 45)
    )
    lowest = walk.global_positions()[:, list(walk.skeleton.feet), 1].min(axis=1)
    assert made.global_positions()[:, list(walk.skeleton.feet), 1].min(axis=1) == pytest.approx(lowest, abs=0.05)


def test_a_hand_that_is_asked_for_high_lifts_no_leg(walks: list[Clip]) -> None:
    walk = walks[0][10:71]
    plain = cg.complete(walks, REQUEST.with_(finish=cg.FinishSettings(rate_hz=30.0))).clip
    goal = cg.JointGoal(at_s=1.0, joint="right_hand", position=lifted(walk, 1.0, 0.6))
    made = cg.complete(walks, REQUEST.with_(goals=(*REQUEST.goals, goal), finish=cg.FinishSettings(rate_hz=30.0)))
    assert made.problems == ()
    assert all(moved_m(made.clip, plain, role, 30) < 0.15 for role in ("left_foot", "right_foot"))
    # It takes its time: nothing leaps on the way up and down.
    hand = made.clip.global_positions()[:, walk.skeleton.need("right_hand")]
    assert np.linalg.norm(np.diff(hand, axis=0), axis=1).max() * 30 < 4.0


def test_nobody_flies_to_what_is_out_of_reach(walks: list[Clip]) -> None:
    goal = cg.JointGoal(at_s=1.0, joint="right_hand", position=(0.0, 4.0, 1.5))
    made = cg.complete(walks, REQUEST.with_(goals=(*REQUEST.goals, goal)))
    assert made.problems and made.clip.root_pos[:, 1].max() < max(walk.root_pos[:, 1].max() for walk in walks) + 0.15


def test_the_motion_goes_through_the_pulled_pose(walks: list[Clip]) -> None:
    search = CompleteSearch(walks, REQUEST)
    search.step()
    clip = search.best().clip
    hand = clip.skeleton.need("right_hand")
    asked = REQUEST.with_(goals=(*REQUEST.goals, own_pose(clip, 30, 1.0)))
    begin = clip.global_positions()[30, hand]
    drag = None
    for step in range(1, 6):
        goal = begin + step * np.array([0.0, 0.05, 0.02])
        search.change(asked)
        drag, made = search.dragged(drag, Pull(2, "right_hand", tuple(goal)))
        assert np.linalg.norm(made.global_positions()[30, hand] - goal) < 0.01
    assert len(made) == 61
    np.testing.assert_allclose(made.local_rot[0, 1:], walks[0].local_rot[10, 1:], atol=1e-6)
    own = asked.with_(goals=(*REQUEST.goals, own_pose(made, 30, 1.0)))
    search.change(own)
    search.step()
    result = search.best()
    assert not result.problems
    np.testing.assert_allclose(result.clip.local_rot[30, 1:], made.local_rot[30, 1:], atol=1e-6)


def test_a_dragged_goal_goes_on_from_where_it_was(walks: list[Clip]) -> None:
    search = CompleteSearch(walks, REQUEST)
    search.step()
    hand = walks[0].skeleton.need("right_hand")
    begin = search.best().clip.global_positions()[30, hand]
    drag = None
    for step in range(5):
        goal = tuple((begin + step * np.array([0.0, 0.03, 0.0])).tolist())
        search.change(REQUEST.with_(goals=(*REQUEST.goals, cg.JointGoal(1.0, "right_hand", goal))))
        before, (drag, made) = drag, search.dragged(drag)
        assert before is None or drag is before, "nothing begins anew"
        assert np.linalg.norm(made.global_positions()[30, hand] - goal) < 0.01
    longer = REQUEST.with_(duration_s=2.5)
    search.change(longer)
    again, made = search.dragged(drag)
    assert again is not drag and len(made) == 76


def test_poses_of_their_own_are_checked_against_the_body(walks: list[Clip]) -> None:
    pose = own_pose(walks[0], 5, 0.0)
    short = pose.with_(pose=pose.pose.with_(rotations=pose.pose.rotations[:5]))
    with pytest.raises(RequestError, match=r"goals\[0\]\.pose\.rotations has 5; the skeleton has \d+ joints"):
        cg.complete(walks, cg.CompleteRequest(1.0, [short]))


def test_joints_are_drawn_back_to_what_was_recorded(model: cg.MotionModel, walks: list[Clip]) -> None:
    assert model.limits is not None
    knee = model.encoding.columns[walks[0].skeleton.need("left_lower_leg")]
    rows = model.encoding.encode(walks[0]).rows[10:50]
    solver = MapSolver(model, 40, Terms())
    assert len(solver._limit_rows(rows)[0]) == 0, "recorded poses are within"
    wrong = rows.copy()
    low, high = model.limits[:, knee]
    wrong[7, knee] = high + 0.2
    frames, values, slopes = solver._limit_rows(wrong)
    assert frames.tolist() == [7] and values[0] > 0 and slopes.shape == (1, solver.size)
    # A pose that is asked for counts as recorded.
    asked = MapSolver(model, 40, Terms(poses=[PoseTerm(7, wrong[7], 1.0, np.full(3, np.nan))]))
    assert len(asked._limit_rows(wrong)[0]) == 0
    # Slopes are those of the values.
    states = model.states(wrong)
    solver.model = replace(model, limits=np.stack([low + 0 * model.limits[0] - 9, high + 0 * model.limits[1] + 9]))
    far = Estimate(states * 30, np.zeros((40, 3)))
    frames, values, slopes = solver._limit_rows(model.lifted(far.states))
    assert len(frames)
    nudged = far.states.copy()
    nudged[frames[0], 0] += 1e-6
    again = solver._limit_rows(model.lifted(nudged))[1]
    assert (again[0] - values[0]) / 1e-6 == pytest.approx(slopes[0, 0], rel=1e-3, abs=1e-6)
    assert isinstance(model.encoding.decode(EncodedMotion(rows, np.zeros((40, 3)))), Clip)


def wandering(clip: Clip, rng: np.random.Generator) -> Clip:
    """Poses that nobody knows: every joint turns anyhow, smoothly."""
    from scipy.ndimage import gaussian_filter1d

    turns = gaussian_filter1d(rng.normal(size=(200, len(clip.skeleton), 3)), 8.0, axis=0)
    rot = quat.from_rotvec(0.3 * turns / turns.std())
    return Clip(clip.skeleton, clip.fps, np.repeat(clip.root_pos[:1], 200, axis=0), quat.make_continuous(rot), "any")


@pytest.mark.slow
def test_what_a_model_knows_is_measured_on_held_out_motion(walks: list[Clip], model: cg.MotionModel) -> None:
    assert model.held_out < 0.6, "a walk between keyframes a second apart is known"
    rng = np.random.default_rng(0)
    noise = [wandering(walks[0], rng) for _ in range(3)]
    assert cg.learn(noise).held_out > 0.8, "of a random walk nothing is"
    assert np.isnan(cg.learn([walks[0][:30]]).held_out), "too little to hold out"
    result = cg.complete(walks, REQUEST)
    assert result.best.details["model"]["held_out"] == pytest.approx(result.metrics["held_out"].value, abs=1e-3)


def test_between_motions_of_other_bodies(walks: list[Clip], tmp_path: Path) -> None:
    walk = walks[0]
    tall = replace(walk, skeleton=walk.skeleton.scaled(1.2), root_pos=1.2 * walk.root_pos)
    cg.write_clip(tmp_path / "tall.npz", tall[45:80])
    cg.write_clip(tmp_path / "own.npz", walk[:30])
    motions = (str(tmp_path / "own.npz"), str(tmp_path / "tall.npz"))
    between = cg.Between(motions, 16 / 30, as_recorded=False)
    request = cg.CompleteRequest(between=between, nearest=2)
    result = cg.complete(walks, request)
    assert result.clip.skeleton.matches(walk.skeleton) and len(result.clip) == 17 and not result.problems
    both = cg.complete(walks, request.with_(between=between.with_(joined=True)))
    pos = both.clip.global_positions()
    assert np.linalg.norm(np.diff(pos, axis=0), axis=2).max() < 0.25, "nobody leaps"


def test_a_hand_that_is_dragged_up_leaves_feet_on_the_floor(walks: list[Clip], model: cg.MotionModel) -> None:
    walk, levels = walks[0][:60], stand_levels(model)
    drag = cg.Dragging.of_clip(model, walk, (0, 59))
    before = clearance(walk, levels).max()
    for n in range(1, 11):
        made = drag.pull("right_hand", 1.0, lifted(walk, 1.0, 0.09 * n))
        assert not drag.missed
    hand = made.global_positions()[30, walk.skeleton.need("right_hand")]
    np.testing.assert_allclose(hand, lifted(walk, 1.0, 0.9), atol=2e-3)
    assert clearance(made, levels).max() < before + 0.03
    made = drag.pull("right_hand", 1.0, lifted(walk, 1.0, 2.5))
    off = np.linalg.norm(made.global_positions()[30, walk.skeleton.need("right_hand")] - lifted(walk, 1.0, 2.5))
    assert drag.missed == {(30, walk.skeleton.need("right_hand")): pytest.approx(off)}
    assert clearance(made, levels).max() < before + 0.05


def test_a_coordinate_that_does_not_matter_is_none(walks: list[Clip], model: cg.MotionModel) -> None:
    walk = walks[0][:60]
    drag = cg.Dragging.of_clip(model, walk, (0, 59))
    made = drag.pull("right_hand", 1.0, (None, 1.3, None))
    assert made.global_positions()[30, walk.skeleton.need("right_hand"), 1] == pytest.approx(1.3, abs=2e-3)
    assert drag.held == {(30, walk.skeleton.need("right_hand")): (None, 1.3, None)}


@pytest.mark.parametrize(
    "position", [(0.0, 1.0), (0.0, 1.0, 0.0, 0.0), (float("nan"), 1.0, 0.0), ("a", 1.0, 0.0), (None, None, None), 3.0]
)
def test_places_that_are_none_are_refused(position: object, walks: list[Clip], model: cg.MotionModel) -> None:
    drag = cg.Dragging.of_clip(model, walks[0][:60], (0,))
    with pytest.raises(RequestError, match="three finite numbers"):
        drag.pull("right_hand", 1.0, position)  # type: ignore[arg-type]
    with pytest.raises(RequestError, match="three finite numbers"):
        pulled_pose(model, walks[0][:1], "right_hand", position)  # type: ignore[arg-type]


def test_keys_count_at_the_models_rate(model: cg.MotionModel) -> None:
    walk = demo_clip(WALK, 120.0)[:241]
    with pytest.raises(
        RequestError, match=r"key 240 .* at the model's rate, 30 a second, at which it has frames 0 to 60"
    ):
        cg.Dragging.of_clip(model, walk, (0, 240))
