from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from choreograph.base.errors import RoleError, SkeletonMismatch
from choreograph.motion.clip import Clip
from choreograph.motion.skeleton import JointAxes, Skeleton


def test_arrays_cannot_be_changed(human: Clip) -> None:
    skeleton = human.skeleton
    for values in (skeleton.offsets, skeleton.parents, skeleton.tip_offsets, skeleton.mirror_pairs):
        with pytest.raises(ValueError, match="read-only"):
            values[0] = 0
    mine = np.zeros((1, 3))
    made = Skeleton(("a",), np.array([-1]), mine)
    mine[:] = 7
    assert (made.offsets == 0).all()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"names": ()}, "at least one joint"),
        ({"names": ("a", "a", "c")}, "unique; repeated: a"),
        ({"parents": np.array([-1, 0])}, "do not fit"),
        ({"parents": np.array([-1, 2, 0])}, "after its parent"),
        ({"parents": np.array([0, 0, 0])}, "root comes first"),
        ({"parents": np.array([-1, -1, 0])}, "after its parent"),
        ({"offsets": np.full((3, 3), np.nan)}, "finite"),
        ({"offsets": np.zeros((3, 2))}, "do not fit"),
        ({"tip_parents": np.array([3]), "tip_offsets": np.zeros((1, 3))}, "joint of the skeleton"),
        ({"tip_parents": np.array([0])}, "needs an offset"),
        ({"axes": JointAxes(np.zeros((2, 4)), ("", ""))}, "another number of joints"),
    ],
)
def test_nonsense_is_refused(change: dict[str, object], words: str) -> None:
    good = {"names": ("a", "b", "c"), "parents": np.array([-1, 0, 1]), "offsets": np.zeros((3, 3))}
    Skeleton(**good)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=words):
        Skeleton(**{**good, **change})  # type: ignore[arg-type]


def test_roles_can_be_set_and_are_taken_from_others(human: Clip) -> None:
    changed = human.skeleton.with_roles({"left_foot": "LeftToeBase", "hips": "Spine", "right_hand": [0, "Head"]})
    assert changed.roles[changed.index("LeftFoot")] == "other"
    assert changed.find("left_foot") == changed.index("LeftToeBase")
    assert [changed.roles[0], changed.roles[changed.index("Head")]] == ["right_hand"] * 2
    with pytest.raises(RoleError, match=r"unknown role 'paw'.*left_foot"):
        human.skeleton.with_roles({"paw": "Head"})
    with pytest.raises(RoleError, match="no joint is called 'Paw'; there are: Hips"):
        human.skeleton.with_roles({"head": "Paw"})
    with pytest.raises(RoleError, match="unknown role"):
        replace(human.skeleton, roles=("paw",) * len(human.skeleton))


def test_missing_role_says_what_to_do() -> None:
    snake = Skeleton(("a", "b"), np.array([-1, 0]), np.zeros((2, 3)))
    assert snake.find("left_foot") is None and snake.feet == () and snake.hips == 0
    with pytest.raises(RoleError, match=r"left foot; say which is, as left_foot .with_roles., out of: a, b"):
        snake.need("left_foot")
    with pytest.raises(RoleError):
        _ = snake.leg_length


def test_measures(human: Clip) -> None:
    skeleton = human.skeleton
    assert skeleton.leg_length == pytest.approx(0.82)
    assert skeleton.height == pytest.approx(0.05 + 0.82 + 0.06 + 0.12 + 0.2 + 0.22 + 0.1 + 0.15)
    assert skeleton.scaled(2).height == pytest.approx(2 * skeleton.height)
    assert [skeleton.names[j] for j in skeleton.feet] == ["LeftFoot", "LeftToeBase", "RightFoot", "RightToeBase"]
    assert repr(skeleton) == "Skeleton(21 joints, root 'Hips', about 1.72 m tall)"


def test_mirror_pairs_are_twins(human: Clip) -> None:
    names, pairs = human.skeleton.names, human.skeleton.mirror_pairs
    for j, name in enumerate(names):
        twin = name.replace("Left", "?").replace("Right", "Left").replace("?", "Right")
        assert names[pairs[j]] == twin


def test_roles_pair_what_names_do_not() -> None:
    odd = Skeleton(("hub", "L_Ankle", "R_Paw"), np.array([-1, 0, 0]), np.zeros((3, 3)))
    assert list(odd.mirror_pairs) == [0, 1, 2]
    assert list(odd.with_roles({"left_foot": "L_Ankle", "right_foot": "R_Paw"}).mirror_pairs) == [0, 2, 1]


def test_mismatch_says_where(human: Clip) -> None:
    skeleton = human.skeleton
    moved = np.array(skeleton.offsets)
    moved[0] += 1  # where the root rests is not a bone
    skeleton.check_matches(replace(skeleton, offsets=moved))
    moved[4] += [0, 0.05, 0]
    with pytest.raises(SkeletonMismatch, match=r"1 joints differ, most 'Head' by 5.0 cm"):
        skeleton.check_matches(replace(skeleton, offsets=moved))
    renamed = replace(skeleton, names=(*skeleton.names[:-1], "Tail"))
    with pytest.raises(SkeletonMismatch, match="RightToeBase only in the first, Tail only in the second"):
        skeleton.check_matches(renamed, "a and b")
    turned = replace(skeleton, parents=np.where(skeleton.parents == 2, 1, skeleton.parents))
    with pytest.raises(SkeletonMismatch, match="under other parents"):
        skeleton.check_matches(turned)
