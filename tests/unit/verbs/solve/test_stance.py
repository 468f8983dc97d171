"""Feet that stand on both sides of a cut stay where they are."""

from __future__ import annotations

import numpy as np
import pytest

from choreograph.features.frames import FrameTable
from choreograph.goals.model import PlaceGoal
from choreograph.graph.model import MotionGraph
from choreograph.verbs.solve.cut_foot_alignment import LOOSE, cut_shift, find_stance
from choreograph.verbs.solve.hierarchy import Hierarchy
from choreograph.verbs.solve.request import SolveRequest
from choreograph.verbs.solve.solver import PathSolver


def one_clip(feet: list[list[complex]], torso: list[complex]) -> FrameTable:
    """A clip at 10 Hz of a body that is only a torso and its feet, on the floor; `feet` (F, frames) in the world."""
    place = np.array([*torso, 0])
    own = np.array(feet).T - place[:-1, None]
    joints = np.zeros((len(place), 1 + len(feet), 3), np.float32)
    joints[:-1, 1:, 0], joints[:-1, 1:, 2] = own.real, own.imag
    real = np.arange(len(place)) < len(torso)
    none = np.zeros((len(place), 0), np.float32)
    base, clip_of = np.array([0, len(place)]), np.zeros(len(place), np.int32)
    return FrameTable(base, clip_of, real, place, np.ones(len(place), complex), joints, none, 10.0)


def test_a_foot_at_rest_is_firm_and_a_moving_one_is_not() -> None:
    # One foot stands, the other goes 0.03 m in each tenth of a second, then rests for the clip's last two frames.
    steps = [0.0, 0.03, 0.06, 0.09, 0.09]
    stance = find_stance(one_clip([[0.1] * 5, steps], [0.0, 0.01, 0.02, 0.03, 0.04]), (1, 2))
    assert stance[:5, 0, 0] == pytest.approx(1.0)
    assert stance[:5, 1, 0] == pytest.approx([0.5, 0.5, 0.5, 1 / 1.25, 1.0])
    assert stance[2, 0, 1] == pytest.approx(0.1 - 0.02)
    assert not stance[5].any()


def test_the_torso_goes_as_far_as_brings_standing_feet_together() -> None:
    # Torsos upon each other, the standing foot is 6 cm farther ahead in the first frame than in the last.
    table = one_clip([[0.1j] * 6, [0.0, 0.4, 0.8, 1.2, 1.6, 2.0]], [0, 0.01j, 0.02j, 0.03j, 0.04j, 0.06j])
    moved = cut_shift(find_stance(table, (1, 2)), np.array([0]), np.array([5]))
    assert moved == pytest.approx([0.06j / (1 + LOOSE)], abs=2e-3)
    assert cut_shift(find_stance(table, (2,)), np.array([0]), np.array([5]))[0] == pytest.approx(0, abs=0.02)
    assert cut_shift(find_stance(table, ()), np.array([0]), np.array([5])).tolist() == [0]


def test_paths_keep_standing_feet_where_they_are(walks: MotionGraph, cuts: Hierarchy) -> None:
    body = (PlaceGoal(0.0, (0.0, 0.0), 0.0), PlaceGoal(4.0, (1.0, 3.0), 1.0))
    solver = PathSolver(walks, SolveRequest(4.0, body), hierarchy=cuts).run(evaluations=50_000)
    feet, frames = list(walks.skeleton.feet), cuts.frames
    firm = solver.kernel.stance[..., 0]
    stay, torsos = [], []
    for path in solver.minima:
        lying, _, _ = solver._lay(path.starts, path.stops)
        turns, shifts = np.exp(-1j * lying.yaw), lying.x + 1j * lying.z
        for k, (stop, start) in enumerate(zip(path.stops[:-1], path.starts[1:], strict=True)):
            rows, pieces = np.array([stop, start]), [k, k + 1]
            torso, facing = turns[pieces] * frames.place[rows] + shifts[pieces], turns[pieces] * frames.turn[rows]
            assert facing[0] == pytest.approx(facing[1])
            own = frames.joints[rows][:, feet] @ np.array([1, 0, 1j])
            left, entered = torso[:, None] + facing[:, None] * own
            stands = firm[stop] * firm[start] > 0.5
            stay += np.abs(left - entered)[stands].tolist()
            torsos += np.abs(own[0] - own[1])[stands].tolist()
    assert len(stay) > 20
    assert np.median(stay) < 0.3 * np.median(torsos)
