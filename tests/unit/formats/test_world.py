"""Units and up-axes: whatever a file's world, the clip's is metres and y up."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from choreograph.base import quat
from choreograph.demo import demo_clip
from choreograph.formats.bvh import read_bvh, write_bvh
from choreograph.formats.world import (
    CMU_INCHES,
    UP_AXES,
    FileUnit,
    judge_unit,
    parse_unit,
    to_y_up,
    turn_to_front,
    unit_name,
)
from choreograph.motion.clip import Clip
from choreograph.motion.kinematics import to_local
from choreograph.motion.skeleton import Skeleton

UNITS = {"m": 1.0, "cm": 0.01, "mm": 0.001, "in": 0.0254, "cmu": CMU_INCHES, "ft": 0.3048}


def turned(clip: Clip, axis: str, *, rest_too: bool) -> Clip:
    """The clip as a file whose world has `axis` up would hold it: the opposite of what a reader does."""
    back = quat.inverse(to_y_up(axis))
    rot = np.array(clip.local_rot)
    skeleton = clip.skeleton
    if rest_too:
        rot = quat.multiply(quat.multiply(back, rot), quat.inverse(back))
        skeleton = Skeleton(
            skeleton.names, skeleton.parents, quat.rotate(back, skeleton.offsets),
            skeleton.tip_parents, quat.rotate(back, skeleton.tip_offsets),
        )  # fmt: skip
    else:
        rot[:, 0] = quat.multiply(back, rot[:, 0])
    return Clip(skeleton, clip.fps, quat.rotate(back, clip.root_pos), rot, name=clip.name)


def laid_down(clip: Clip) -> Clip:
    """The person on the back, hips 12 cm above the floor, away from the origin."""
    lying = np.array(clip.local_rot)
    lying[:, 0] = quat.multiply(quat.from_rotvec([-np.pi / 2, 0, 0]), lying[:, 0])
    root = np.array(clip.root_pos) * [1, 0, 1] + np.array([3.0, 0.12, 2.0])
    return clip.with_frames(root, lying)


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("tall", [1.1, 1.4, 1.72, 2.05])
def test_units_by_height_from_child_to_giant(
    human_clip: Callable[..., Clip], tmp_path: Path, unit: str, tall: float
) -> None:
    clip = human_clip(scale=tall / 1.72)
    write_bvh(tmp_path / "a.bvh", clip, metres_per_unit=UNITS[unit])
    source = read_bvh(tmp_path / "a.bvh").source
    assert source is not None
    if tall == 1.1 and unit in ("cmu", "in"):
        pytest.xfail("as tall as a giant in the next larger unit; a child needs --unit here")
    assert source.metres_per_unit == pytest.approx(UNITS[unit])


def test_bodies_that_are_no_people(walker: Clip) -> None:
    giant = judge_unit(walker.skeleton.scaled(300))
    assert giant == FileUnit(0.01, "assumed: no usual unit makes a body of 481.7 units a person", sure=False)
    headless = walker.skeleton.with_roles({"head": []})
    assert not judge_unit(headless).sure and "no legs and head" in judge_unit(headless).reason
    one_leg = walker.skeleton.with_roles({"left_foot": []})
    assert judge_unit(one_leg).metres == 1.0


@pytest.mark.parametrize("axis", UP_AXES)
@pytest.mark.parametrize("rest_too", [True, False], ids=["rest pose too", "rest pose y-up"])
def test_every_up_axis_is_found(human: Clip, tmp_path: Path, axis: str, rest_too: bool) -> None:
    write_bvh(tmp_path / "a.bvh", turned(human, axis, rest_too=rest_too))
    clip = read_bvh(tmp_path / "a.bvh")
    assert clip.source is not None
    assert clip.source.up_axis == axis
    assert bool(clip.source.notes) == (not rest_too and axis != "y")
    assert clip.skeleton.height == pytest.approx(human.skeleton.height, abs=1e-6)
    heights, wanted = clip.global_positions()[..., 1], human.global_positions()[..., 1]
    assert np.allclose(heights, wanted, atol=1e-5)
    # The rest pose stands facing +z: left at +x, toes ahead.
    rest = clip.skeleton.rest_positions()
    assert rest[clip.skeleton.index("LeftUpLeg"), 0] > 0.05
    assert rest[clip.skeleton.index("LeftToeBase"), 2] > 0.05
    # And the motion is the same up to a turn about the vertical: distances over the floor agree.
    gone, wanted_gone = (np.linalg.norm((c.root_pos - c.root_pos[0])[:, [0, 2]], axis=1) for c in (clip, human))
    assert np.allclose(gone, wanted_gone, atol=1e-5)


@pytest.mark.parametrize("axis", ["y", "z"])
def test_somebody_lying_on_the_floor_stays_there(human_clip: Callable[..., Clip], tmp_path: Path, axis: str) -> None:
    lying = laid_down(human_clip(size=0.04))
    assert lying.global_positions()[..., 1].max() < 0.4
    write_bvh(tmp_path / "a.bvh", turned(lying, axis, rest_too=True))
    clip = read_bvh(tmp_path / "a.bvh")
    assert clip.source is not None and clip.source.up_axis == axis
    assert "lies" in clip.source.up_reason
    assert np.allclose(clip.global_positions()[..., 1], lying.global_positions()[..., 1], atol=1e-5)


def test_hips_kept_at_the_origin_do_not_lie(human: Clip, tmp_path: Path) -> None:
    in_place = human.with_frames(np.zeros_like(human.root_pos), human.local_rot)
    write_bvh(tmp_path / "a.bvh", turned(in_place, "z", rest_too=False))
    source = read_bvh(tmp_path / "a.bvh").source
    assert source is not None and source.up_axis == "z"


@pytest.mark.parametrize("rest_too", [True, False])
@pytest.mark.parametrize("axis", ["y", "z", "-x"])
def test_a_given_axis_is_obeyed(human: Clip, tmp_path: Path, axis: str, rest_too: bool) -> None:
    """Also against the evidence: somebody lying whose floor is not at zero."""
    lying = laid_down(human).raised(5)
    write_bvh(tmp_path / "a.bvh", turned(lying, axis, rest_too=rest_too))
    clip = read_bvh(tmp_path / "a.bvh", up_axis=axis)
    assert clip.source is not None and (clip.source.up_axis, clip.source.up_reason) == (axis, "given")
    assert np.allclose(clip.global_positions()[..., 1], lying.global_positions()[..., 1], atol=1e-5)
    assert clip.skeleton.height == pytest.approx(human.skeleton.height, abs=1e-6)


def test_a_senseless_rest_pose_does_not_matter(human: Clip, tmp_path: Path) -> None:
    """Some programs lay every bone along one axis and put the pose into the rotations."""
    bones = np.linalg.norm(human.skeleton.offsets, axis=1)
    flat = Skeleton(human.skeleton.names, human.skeleton.parents, bones[:, None] * [[1.0, 0, 0]])
    # Rotations that bring each bone back to where it is in a z-up world.
    world = quat.multiply(quat.inverse(to_y_up("z")), human.global_rotations())
    turn = quat.between_vectors([1.0, 0, 0], np.where(bones[:, None] > 0, human.skeleton.offsets, [1.0, 0, 0]))
    children = {int(p): j for j, p in reversed(list(enumerate(human.skeleton.parents)))}
    aimed = np.stack([
        quat.multiply(world[:, j], turn[children[j]]) if j in children else world[:, j] for j in range(len(flat))
    ], axis=1)  # fmt: skip
    clip = Clip(flat, 60, quat.rotate(quat.inverse(to_y_up("z")), human.root_pos), to_local(aimed, flat.parents))
    write_bvh(tmp_path / "a.bvh", clip)
    read = read_bvh(tmp_path / "a.bvh")
    assert read.source is not None and read.source.up_axis == "z"
    assert np.allclose(read.global_positions()[..., 1], clip.global_positions()[..., 2], atol=1e-5)


def test_units_by_name() -> None:
    assert parse_unit("cm") == 0.01 and parse_unit("0.5") == 0.5 and parse_unit(2) == 2
    assert [unit_name(x) for x in (1.0, 0.01, CMU_INCHES, 0.3048, 0.1)] == ["m", "cm", "cmu", "ft", "0.1 m"]


@pytest.mark.parametrize("yaw", [np.pi / 2, np.pi, -np.pi / 2])
def test_a_rest_pose_that_looks_elsewhere_is_turned_to_the_front(yaw: float) -> None:
    walk = demo_clip("walk", 30.0)
    turn = quat.from_yaw(yaw)
    rot = quat.multiply(quat.multiply(turn, walk.local_rot), quat.inverse(turn))
    rot[:, 0] = quat.multiply(walk.local_rot[:, 0], quat.inverse(turn))
    body = replace(walk.skeleton, offsets=quat.rotate(turn, walk.skeleton.offsets), axes=None)
    found = Clip(*_as_clip(turn_to_front(body, np.array(walk.root_pos), rot, None), walk.fps))
    np.testing.assert_allclose(found.global_positions(), walk.global_positions(), atol=1e-9)
    np.testing.assert_allclose(np.angle(np.exp(1j * (found.facing() - walk.facing()))), 0.0, atol=1e-9)


def _as_clip(parts: tuple, fps: float) -> tuple:
    skeleton, root, rot, _ = parts
    return skeleton, fps, root, rot
