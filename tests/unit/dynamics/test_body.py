"""Bodies: masses, stature, and the same mechanics in MuJoCo and Pinocchio."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from choreograph.base import quat
from choreograph.base.errors import RequestError, RoleError
from choreograph.demo import demo_clip
from choreograph.dynamics.body import SEGMENTS, make_body, stature
from choreograph.dynamics.dofs import make_dofs
from choreograph.dynamics.export import as_mjcf, as_urdf, write_body
from choreograph.formats import read_clip
from choreograph.motion.clip import Clip
from choreograph.motion.skeleton import Skeleton


@pytest.fixture(scope="module")
def walk() -> Clip:
    return demo_clip("walk", 30.0)


def test_the_table_makes_one_whole() -> None:
    once = ("head", "upper_trunk", "middle_trunk", "pelvis")
    assert sum(row.mass * (1 if name in once else 2) for name, row in SEGMENTS.items()) == pytest.approx(1.0)


def test_mass_and_height_are_as_given(walk: Clip) -> None:
    body = make_body(walk.skeleton, mass_kg=61.0, height_m=1.6)
    assert body.mass == pytest.approx(61.0) and body.height == 1.6
    assert (np.linalg.eigvalsh(body.inertias) >= 0).all()


def test_left_and_right_weigh_the_same(walk: Clip) -> None:
    body = make_body(walk.skeleton)
    assert np.allclose(body.masses, body.masses[walk.skeleton.mirror_pairs])


def test_stature_is_near_that_of_the_rest_pose(walk: Clip) -> None:
    assert stature(walk.skeleton) == pytest.approx(walk.skeleton.height, rel=0.05)


@pytest.mark.parametrize("given", [{"mass_kg": 0.0}, {"mass_kg": -3.0}, {"height_m": 0.0}, {"mass_kg": float("nan")}])
def test_measures_must_be_above_zero(walk: Clip, given: dict[str, float]) -> None:
    with pytest.raises(RequestError, match="above 0"):
        make_body(walk.skeleton, **given)


def test_single_masses(walk: Clip) -> None:
    plain = make_body(walk.skeleton, mass_kg=70.0)
    heavy = plain.with_masses({"LeftLeg": 10.0})
    joint = walk.skeleton.index("LeftLeg")
    assert heavy.masses[joint] == 10.0 and heavy.mass > plain.mass
    assert np.allclose(heavy.inertias[joint], plain.inertias[joint] * 10.0 / plain.masses[joint])
    with pytest.raises(RequestError, match="above 0"):
        plain.with_masses({"LeftLeg": 0.0})


def test_a_body_without_legs_is_refused() -> None:
    stick = Skeleton(("a", "b"), np.array([-1, 0]), np.array([[0.0, 0, 0], [0, 1, 0]]))
    with pytest.raises(RoleError, match="with_roles"):
        make_body(stick)


def test_coordinates_come_back_as_the_motion(walk: Clip) -> None:
    dofs = make_dofs(make_body(walk.skeleton), [walk], fingers=True)
    again = dofs.clip(dofs.angles(walk), walk.fps, "again")
    assert quat.angle_between(walk.local_rot, again.local_rot).max() < 1e-9
    assert np.allclose(again.root_pos, walk.root_pos)


def test_recorded_coordinates_come_back_and_have_no_leaps(recordings: Path) -> None:
    clip = read_clip(recordings / "cmu/75/75_09.amc")  # a turn of 360 degrees
    dofs = make_dofs(make_body(clip.skeleton), [clip], fingers=True)
    q = dofs.angles(clip)
    assert quat.angle_between(clip.local_rot, dofs.clip(q, clip.fps, "again").local_rot).max() < 1e-9
    assert np.abs(np.diff(q[:, :6], axis=0)).max() < 0.5 and np.ptp(q[:, 3]) > np.radians(300)
    assert (q >= dofs.lower - 1e-9).all() and (q <= dofs.upper + 1e-9).all()


def test_mujoco_has_the_same_body(walk: Clip) -> None:
    mujoco = pytest.importorskip("mujoco")
    body = make_body(walk.skeleton)
    dofs = make_dofs(body, [walk])
    q = dofs.angles(walk)
    model = mujoco.MjModel.from_xml_string(as_mjcf(dofs))
    data = mujoco.MjData(model)
    for name, value in zip(dofs.names, q[7], strict=True):
        data.joint(name).qpos[0] = value
    mujoco.mj_forward(model, data)
    same = dofs.clip(q, walk.fps, "same")
    pos, rot = same.global_positions()[7], same.global_rotations()[7]
    centre = body.masses @ (pos + quat.rotate(rot, body.centres)) / body.mass
    assert model.body_mass.sum() == pytest.approx(body.mass, abs=1e-3)
    assert np.allclose(data.subtree_com[0], centre, atol=1e-6)


def test_pinocchio_has_the_same_body(walk: Clip, tmp_path: Path) -> None:
    pin = pytest.importorskip("pinocchio")
    dofs = make_dofs(make_body(walk.skeleton), [walk])
    write_body(tmp_path / "body.urdf", dofs)
    assert (tmp_path / "body.urdf").read_text("utf-8") == as_urdf(dofs)
    model = pin.buildModelFromXML(as_urdf(dofs))
    assert model.nv == len(dofs)
    assert pin.computeTotalMass(model) == pytest.approx(dofs.body.mass, abs=1e-3)
    with pytest.raises(RequestError, match="urdf"):
        write_body(tmp_path / "body.txt", dofs)
