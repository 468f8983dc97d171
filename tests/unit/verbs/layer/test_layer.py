"""One motion's joints over another's."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from choreograph.base import quat
from choreograph.base.errors import RequestError, RoleError
from choreograph.demo import demo_clip
from choreograph.formats import write_clip
from choreograph.motion.clip import Clip
from choreograph.verbs.layer.mask import joint_weights
from choreograph.verbs.layer.request import LayerRequest
from choreograph.verbs.layer.search import layer


@pytest.fixture(scope="module")
def walk() -> Clip:
    return demo_clip("walk_turn_90_left", 30.0)


@pytest.fixture(scope="module")
def run() -> Clip:
    return demo_clip("run", 30.0)


def _joints(clip: Clip, *roles: str) -> list[int]:
    return [joint for role in roles if (joint := clip.skeleton.find(role)) is not None]


def test_legs_hips_and_way_stay_to_the_bit_of_a_float(walk: Clip, run: Clip) -> None:
    made = layer(walk, upper=run).best.clips[0]
    below = _joints(walk, "hips", "left_upper_leg", "left_foot", "right_foot", "right_toe")
    assert np.abs(made.global_positions()[:, below] - walk.global_positions()[:, below]).max() < 1e-12
    assert (made.root_pos == walk.root_pos).all()
    assert made.labels == walk.labels and made.contacts is walk.contacts


def test_in_the_middle_the_arms_are_the_others(walk: Clip, run: Clip) -> None:
    result = layer(walk, upper=run, mask="arms", feather=0)
    made = result.best.clips[0]
    middle = len(run) // 2
    for role in ("left_forearm", "right_hand"):
        joint = walk.skeleton.need(role)
        assert quat.angle_between(made.local_rot[middle, joint], run.local_rot[middle, joint]) < 1e-6
    spine = _joints(walk, "spine", "head")
    assert np.abs(made.local_rot[:, spine] - walk.local_rot[:, spine]).max() < 1e-12
    assert not result.problems


def test_the_chest_keeps_to_where_the_body_faces(walk: Clip, run: Clip) -> None:
    made = layer(walk, upper=run, feather=0, fade_s=0.0).best.clips[0]
    head, frame = walk.skeleton.need("head"), len(run) // 2
    up = quat.rotate(made.global_rotations()[frame, head], (0.0, 1.0, 0.0))
    wanted = quat.rotate(run.global_rotations()[frame, head], (0.0, 1.0, 0.0))
    # As upright as it was recorded, whatever the hips do below it.
    assert abs(up[1] - wanted[1]) < 1e-6


def test_weights_lie_between_the_two(walk: Clip, run: Clip) -> None:
    joint, frame = walk.skeleton.need("left_forearm"), len(run) // 2
    whole = quat.angle_between(walk.local_rot[frame, joint], run.local_rot[frame, joint])
    half = layer(walk, upper=run, mask="arms", share=0.5).best.clips[0].local_rot[frame, joint]
    assert quat.angle_between(walk.local_rot[frame, joint], half) == pytest.approx(whole / 2, rel=1e-6)
    made = layer(walk, upper=run, joint_shares={"left_forearm": 0.25}).best.clips[0].local_rot[frame, joint]
    assert quat.angle_between(walk.local_rot[frame, joint], made) == pytest.approx(whole / 4, rel=1e-6)


@pytest.mark.parametrize("fields", [{}, {"repeat": True, "share": 0.5}, {"at_s": 1.0, "fade_s": 0.5}])
def test_nothing_jumps(walk: Clip, run: Clip, fields: dict[str, object]) -> None:
    made = layer(walk, upper=run[:50], **fields).best.clips[0]

    def fastest(clip: Clip) -> float:
        return float(quat.angle_between(clip.local_rot[1:], clip.local_rot[:-1]).max())

    assert fastest(made) < 1.5 * max(fastest(walk), fastest(run))


def test_it_repeats_to_the_end(walk: Clip, run: Clip) -> None:
    once, again = layer(walk, upper=run[:40]), layer(walk, upper=run[:40], repeat=True)
    assert once.metrics["over"].value == pytest.approx(40 / 30)
    assert again.metrics["over"].value == pytest.approx(walk.seconds)


def test_the_mask_rises_over_the_spine_and_leaves_legs(walk: Clip) -> None:
    weights = joint_weights(walk.skeleton, "upper", {}, 2)
    assert weights[_joints(walk, "hips", "left_upper_leg", "right_toe")].max() == 0
    assert weights[_joints(walk, "head", "left_hand", "right_upper_arm")].min() == 1
    spine = [weights[j] for j, role in enumerate(walk.skeleton.roles) if role == "spine"]
    assert spine == sorted(spine) and spine[0] == pytest.approx(1 / 3)


def test_another_body_is_retargeted(walk: Clip, run: Clip) -> None:
    from dataclasses import replace

    longer = replace(run.skeleton, offsets=run.skeleton.offsets * 1.2)
    other = replace(run, skeleton=longer, root_pos=run.root_pos * 1.2)
    made = layer(walk, upper=other, mask="arms").best.clips[0]
    assert made.skeleton is walk.skeleton


def test_a_motion_too_short_for_its_fades_says_so(walk: Clip, run: Clip) -> None:
    result = layer(walk, upper=run[:10], fade_s=1.0)
    assert result.problems[0].kind == "fade_short"


def test_what_cannot_be_is_refused(walk: Clip, run: Clip, tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="which motion"):
        layer(walk)
    with pytest.raises(RequestError, match="nothing of the other motion falls into this one"):
        layer(walk, upper=run, at_s=100.0)
    with pytest.raises(RequestError, match="nothing of the other motion falls into this one"):
        layer(walk, upper=run, start_s=100.0)
    with pytest.raises(RoleError, match="no joint is called 'wing'"):
        layer(walk, upper=run, joint_shares={"wing": 1.0})
    with pytest.raises(RequestError, match="nothing would change"):
        layer(walk, upper=run, share=0.0)


def test_files_are_read(walk: Clip, run: Clip, tmp_path: Path) -> None:
    write_clip(tmp_path / "run.npz", run)
    result = layer(walk, LayerRequest(str(tmp_path / "run.npz"), mask="head"))
    assert result.best.name.startswith("walk_turn_90_left with")
