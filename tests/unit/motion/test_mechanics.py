"""What a stage draws of a motion's mechanics."""

from __future__ import annotations

import json

import numpy as np
import pytest

import choreograph as cg
from choreograph.demo import demo_clip
from choreograph.motion.mechanics import gather_limbs


def test_the_centre_of_pressure_lies_between_points_by_their_forces() -> None:
    points = np.array([[[0.0, 0.0, 0.0], [0.0, 0.0, 0.2], [1.0, 1.0, 1.0]]])
    forces = np.array([[[0.0, 0.3, 0.0], [0.0, 0.1, 0.0], [0.0, 0.0, 0.0]]])
    limbs, centres, sums = gather_limbs(["left_heel", "left_toe", "right_hand"], points, forces)
    assert limbs == ("left_foot", "right_hand")
    assert centres[0, 0] == pytest.approx([0, 0, 0.05]) and sums[0, 0] == pytest.approx([0, 0.4, 0])
    assert np.isnan(centres[0, 1]).all() and not sums[0, 1].any()


def test_inverse_dynamics_says_what_it_measured() -> None:
    result = cg.inverse_dynamics(demo_clip("jump_high", 120.0))
    shown, found = result.best.mechanics, result.dynamics
    assert shown is not None and found is not None
    assert shown.forces.sum(axis=1) * found.weight == pytest.approx(found.ground_force)
    assert shown.torques[:, 5] == pytest.approx(np.linalg.norm(found.torques[:, 5], axis=-1))
    assert shown.torques[:, 0].max() == 0.0, "those at the root are no torque of a joint"
    plain = shown.thinned(60.0).as_json()
    assert len(plain["com"]) == (len(result.clip) + 1) // 2 and plain["rate"] == 60.0
    assert "NaN" not in json.dumps(plain) and any(None in sample for sample in plain["centres"])


@pytest.mark.slow
def test_a_solution_gives_the_solvers_own_forces() -> None:
    clip = demo_clip("jump_high", 60.0)
    search = cg.PhysicsSearch(clip, cg.PhysicsRequest(farther_m=0.1))
    seen = []
    search.watch = lambda make: seen.append(make())
    result = search.run()
    shown, checked = result.best.mechanics, result.verification  # type: ignore[attr-defined]
    assert shown is not None
    assert len(shown.com) == len(result.clip)
    assert shown.forces[:, :, 1].sum(axis=1).max() == pytest.approx(checked.peak_force, rel=0.05)
    assert (shown.shares <= 1.02).all() and shown.shares.max() > 0.2
    # Motions on the way come nearer to the answer.
    gaps = [float(np.abs(one.root_pos - result.clip.root_pos).max()) for one in seen if len(one) == len(result.clip)]
    assert len(gaps) > 5 and gaps[-1] < 0.02 and gaps[-1] <= gaps[0]
