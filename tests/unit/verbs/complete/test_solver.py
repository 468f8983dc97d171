"""The kernels against plain twins, the optimum from any start, splines, warm starts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from choreograph.demo import demo_clip
from choreograph.verbs.complete import residual_terms as kinds
from choreograph.verbs.complete import start
from choreograph.verbs.complete.encode import EncodedMotion
from choreograph.verbs.complete.estimate import Estimate
from choreograph.verbs.complete.model import MotionModel, learn
from choreograph.verbs.complete.residual_terms import BodyTables, PlaceTerm, PoseTerm, Term, Terms
from choreograph.verbs.complete.settings import LearnSettings
from choreograph.verbs.complete.solver import MapSolver, SolverSettings

CAMERA = np.array([[1.5, 0.0, 0.0], [0.0, 1.5, 0.0], [0.0, 0.0, 1.0], [0.2, 1.0, -5.0]])


@pytest.fixture(scope="module")
def model() -> MotionModel:
    clips = [demo_clip(name, 30.0) for name in ("walk", "walk_veer_left")]
    return learn(clips, LearnSettings(order=2, controls=8, dimensions=8, components=1))


def asked(model: MotionModel, frames: int = 40) -> Terms:
    """Three keyframes of a walk, and terms of every kind."""
    track = model.encoding.encode(demo_clip("walk", 30.0))
    hand = model.encoding.skeleton.need("left_hand")
    head = model.encoding.skeleton.need("head")
    knee = model.encoding.skeleton.need("left_lower_leg")
    thigh, foot = model.encoding.skeleton.need("left_upper_leg"), model.encoding.skeleton.need("left_foot")
    poses = [PoseTerm(f, track.rows[f], 1.0, track.place[f]) for f in (0, frames // 2, frames - 1)]
    points = [
        Term(kinds.POSITION, 7, (hand,), (0.4, 1.2, np.nan), 50.0),
        Term(kinds.OFFSET, 9, (hand, head), (0.3, -0.4, 0.1), 20.0),
        Term(kinds.MOVE, frames - 2, (foot,), (0.0, 0.0, 0.0), 10.0),
        Term(kinds.DISTANCE, 30, (hand, head), (0.5,), 30.0),
        Term(kinds.ORIENTATION, 12, (head,), (np.cos(0.2), 0.0, np.sin(0.2), 0.0), 10.0),
        Term(kinds.BEND, frames - 1, (knee, thigh, foot), (0.6,), 10.0),
        Term(kinds.PROJECTION, 15, (hand,), (0.1, 0.05), 20.0, CAMERA),
    ]
    return Terms(points, poses, [PlaceTerm(5, np.array([0.0, np.nan, 0.1]), 3.0)])


def test_points_are_where_the_clip_has_them(model: MotionModel) -> None:
    from choreograph.verbs.complete import _compiled

    clip = demo_clip("walk_veer_left", 30.0)
    track = model.encoding.encode(clip)
    frames = np.repeat(np.arange(0, 60, 7), len(clip.skeleton))
    joints = np.tile(np.arange(len(clip.skeleton)), len(np.arange(0, 60, 7)))
    pos, rot, _, _ = _compiled.points(
        track.rows, track.place, frames, joints, *BodyTables.of(model.encoding), model.axes, False
    )
    # The plain twin: the decoded clip's forward kinematics.
    plain = model.encoding.decode(track)
    np.testing.assert_allclose(pos, plain.global_positions()[frames, joints], atol=1e-12)
    dots = np.abs(np.sum(rot * plain.global_rotations()[frames, joints], axis=1))
    np.testing.assert_allclose(dots, 1.0, atol=1e-12)


def test_slopes_are_those_of_the_objective(model: MotionModel) -> None:
    terms, rng = asked(model), np.random.default_rng(3)
    solver = MapSolver(model, 40, terms)
    now = start.random(model, 40, terms, rng)
    _, gradient, value = solver.normal_equations(now)
    assert value == pytest.approx(solver.objective(now))
    for _ in range(3):
        step = 1e-6 * rng.normal(size=len(gradient))
        change = solver.objective(solver.moved(now, step)) - solver.objective(solver.moved(now, -step))
        assert change / 2 == pytest.approx(gradient @ step, rel=1e-5)


def test_bands_are_the_normal_equations(model: MotionModel) -> None:
    """For a linear problem the bands are the second derivatives themselves."""
    terms = Terms(poses=asked(model, 12).poses[:1])
    solver = MapSolver(model, 12, terms)
    now = start.straight(model, 12, terms)
    bands, gradient, _ = solver.normal_equations(now)
    size, d = solver.size, model.dimensions
    at = 3 * size + 1
    step = np.zeros(12 * size)
    step[at] = 1e-4
    _, there, _ = solver.normal_equations(solver.moved(now, step))
    column = (there - gradient) / 1e-4
    for row in range(at, min(at + len(bands), 12 * size)):
        if row % size < d:
            assert column[row] == pytest.approx(bands[row - at, at], rel=1e-4, abs=1e-2)


@pytest.mark.parametrize("components", [1, 2])
def test_the_same_optimum_from_random_and_straight_starts(components: int) -> None:
    clips = [demo_clip(name, 30.0) for name in ("walk", "walk_veer_left")]
    model = learn(clips, LearnSettings(order=2, controls=6, dimensions=6, components=components))
    terms = asked(model)
    terms.points[:] = terms.points[:1]
    solver = MapSolver(model, 40, terms, SolverSettings(iterations=200, tolerance=1e-13))
    begins = [start.straight(model, 40, terms)]
    begins += [start.random(model, 40, terms, np.random.default_rng(seed)) for seed in (0, 1)]
    found = [solver.solve(begin) for begin in begins]
    for one in found[1:]:
        assert one.objective[-1] == pytest.approx(found[0].objective[-1], rel=1e-8)
        assert np.abs(one.states - found[0].states).max() < 1e-4


def test_the_objective_never_rises(model: MotionModel) -> None:
    terms = asked(model)
    found = MapSolver(model, 40, terms).solve(start.random(model, 40, terms, np.random.default_rng(5)))
    assert found.converged and (np.diff(found.objective[1:]) <= 1e-9 * abs(found.objective[-1])).all()


def test_tracks_unlike_what_was_learned_have_one_optimum_too(recordings: Path) -> None:
    from choreograph.formats import read_clip
    from choreograph.verbs.complete.compile_goals import Target, find_terms

    folder = recordings / "cmu_more" / "08"
    if not folder.is_dir():
        pytest.skip("needs cmu_more/08")
    *others, stride = (read_clip(folder / f"08_{name}.amc").resampled(30.0) for name in ("01", "02", "05", "07"))
    model = learn(others)
    pos, skeleton = stride.global_positions(), stride.skeleton
    ends = (len(stride) - 1) / 30.0
    targets = [
        Target("joints", "position", 0.0, ends, (joint,), pos[:, joint], True)
        for role in ("left_hand", "right_hand", "left_foot", "right_foot")
        if (joint := skeleton.find(role)) is not None
    ]
    for at in (0, len(stride) // 2, len(stride) - 1):
        place = np.array([[*pos[at, skeleton.hips][[0, 2]], stride.facing()[at]]])
        pose = stride[at : at + 1]
        targets.append(Target("poses", "pose", at / 30, at / 30, (skeleton.hips,), place, True, pose=pose))
    terms = find_terms(targets, model, len(stride), np.full(len(skeleton), np.nan))
    solver = MapSolver(model, len(stride), terms)
    straight = solver.solve(start.straight(model, len(stride), terms))
    random = solver.solve(start.random(model, len(stride), terms, np.random.default_rng(0)))
    assert straight.converged and random.converged
    assert straight.objective[-1] == pytest.approx(random.objective[-1], rel=1e-5)
    assert np.abs(straight.states).max() < 8 * np.sqrt(model.space.variances.max()), "it stays a body"


def test_splines_come_close_with_fewer_unknowns(model: MotionModel) -> None:
    terms = asked(model)
    terms.points.clear()
    begin = start.straight(model, 40, terms)
    every = MapSolver(model, 40, terms).solve(begin)
    splined = MapSolver(model, 40, terms, SolverSettings(spline_frames=3)).solve(begin)
    # They are fewer unknowns, so they can do no better.
    assert splined.objective[-1] >= every.objective[-1] - 1e-6
    a, b = (model.encoding.decode(EncodedMotion(model.lifted(e.states), e.place)) for e in (every, splined))
    assert np.abs(a.global_positions() - b.global_positions()).mean() < 0.05


def test_places_follow_from_velocities(model: MotionModel) -> None:
    from choreograph.verbs.complete.model import travel

    terms = asked(model)
    found = MapSolver(model, 40, terms).solve(start.straight(model, 40, terms))
    led = travel(model.lifted(found.states), 30.0, found.place[0])
    assert np.abs(led - found.place)[:, :2].max() < 0.01


def test_a_warm_start_is_as_good_after_few_iterations(model: MotionModel) -> None:
    terms = asked(model)
    settled = MapSolver(model, 40, terms).solve(start.straight(model, 40, terms))
    term = terms.points[0]
    moved = Terms([term._replace(target=(0.41, 1.22, np.nan)), *terms.points[1:]], terms.poses, terms.places)
    solver = MapSolver(model, 40, moved)
    warm = solver.iterate(Estimate(settled.states, settled.place))
    best = solver.solve(start.straight(model, 40, moved))
    assert warm.objective[-1] - best.objective[-1] < 0.05 * (warm.objective[0] - best.objective[-1]) + 0.05
