from __future__ import annotations

import numpy as np
import pytest

from choreograph.motion.roles import ROLES, mirror_role, recognise_roles, split_side

# For each family of names: hips, head, then upper leg, lower leg, foot, toe, clavicle, upper arm, forearm, hand of the
# left side ("-" where there is none), and what turns a left name into a right one.
FAMILIES = {
    "CMU": ("root head lfemur ltibia lfoot ltoes lclavicle lhumerus lradius lwrist", ("l", "r")),
    "cgspeed": (
        "Hips Head LeftUpLeg LeftLeg LeftFoot LeftToeBase LeftShoulder LeftArm LeftForeArm LeftHand",
        ("Left", "Right"),
    ),
    "Mixamo": (
        "mixamorig:Hips mixamorig:Head mixamorig:LeftUpLeg mixamorig:LeftLeg mixamorig:LeftFoot mixamorig:LeftToeBase "
        "mixamorig:LeftShoulder mixamorig:LeftArm mixamorig:LeftForeArm mixamorig:LeftHand",
        ("Left", "Right"),
    ),
    "LAFAN1": (
        "Hips Head LeftUpLeg LeftLeg LeftFoot LeftToe LeftShoulder LeftArm LeftForeArm LeftHand",
        ("Left", "Right"),
    ),
    "Biped": (
        "Bip01_Pelvis Bip01_Head Bip01_L_Thigh Bip01_L_Calf Bip01_L_Foot Bip01_L_Toe0 Bip01_L_Clavicle "
        "Bip01_L_UpperArm Bip01_L_Forearm Bip01_L_Hand",
        ("_L_", "_R_"),
    ),
    "Vicon": (
        "Hips Head LeftUpLeg LeftLeg LeftFoot LeftToeBase LeftShoulder LeftArm LeftForeArm LeftHand",
        ("Left", "Right"),
    ),
    "Bandai": (
        "Hips Head UpperLeg_L LowerLeg_L Foot_L Toes_L Shoulder_L UpperArm_L LowerArm_L Hand_L",
        ("_L", "_R"),
    ),
    "Unreal": (
        "pelvis head thigh_l calf_l foot_l ball_l clavicle_l upperarm_l lowerarm_l hand_l",
        ("_l", "_r"),
    ),
    "SMPL": (
        "Pelvis Head L_Hip L_Knee L_Ankle L_Foot L_Collar L_Shoulder L_Elbow L_Wrist",
        ("L_", "R_"),
    ),
    "SMPL-X": (
        "pelvis head left_hip left_knee left_ankle left_foot left_collar left_shoulder left_elbow left_wrist",
        ("left", "right"),
    ),
    "Rigify": (
        "hips head thigh.L shin.L foot.L toe.L shoulder.L upper_arm.L forearm.L hand.L",
        (".L", ".R"),
    ),
    "Daz": ("hip head lThigh lShin lFoot lToe lCollar lShldr lForeArm lHand", ("l", "r")),
    "VRM": (
        "J_Bip_C_Hips J_Bip_C_Head J_Bip_L_UpperLeg J_Bip_L_LowerLeg J_Bip_L_Foot J_Bip_L_ToeBase J_Bip_L_Shoulder "
        "J_Bip_L_UpperArm J_Bip_L_LowerArm J_Bip_L_Hand",
        ("_L_", "_R_"),
    ),
}
LEFT_PARTS = ("upper_leg", "lower_leg", "foot", "toe", "clavicle", "upper_arm", "forearm", "hand")


@pytest.mark.parametrize("family", FAMILIES)
def test_families_of_names(family: str) -> None:
    text, (left, right) = FAMILIES[family]
    middle, lefts = text.split()[:2], text.split()[2:]
    rights = [name.replace(left, right, 1) for name in lefts]
    names = [*middle, *lefts, *rights]
    parents = np.array([-1, *(0 for _ in names[1:])])
    wanted = ["hips", "head", *(f"{side}_{part}" for side in ("left", "right") for part in LEFT_PARTS)]
    assert list(recognise_roles(names, parents)) == wanted


def test_names_with_spaces_and_several_prefixes() -> None:
    names = ["Bip01", "Bip01 Pelvis", "Bip01 L Toe0", "Bip01 R Finger0", "A:B:LeftFoot", "Character1_RightArm"]
    roles = recognise_roles(names, np.array([-1, 0, 1, 1, 1, 1]))
    assert roles == ("other", "hips", "left_toe", "right_fingers", "left_foot", "right_upper_arm")


@pytest.mark.parametrize(
    "name", ["ik_foot_l", "calf_twist_01_l", "HeadTop_End", "leftEye", "jaw", "Site", "rail", "lab", "", "Ω", "12"]
)
def test_what_is_no_body_part_has_no_role(name: str) -> None:
    assert recognise_roles(["Hips", name], np.array([-1, 0]))[1] == "other"


def test_hub_is_hips_where_no_name_tells() -> None:
    assert recognise_roles(["a", "b", "c", "d"], np.array([-1, 0, 1, 1])) == ("other", "hips", "other", "other")
    assert recognise_roles(["a"], np.array([-1])) == ("hips",)


def test_sides_and_mirrors() -> None:
    assert split_side("LeftHandIndex1") == ("left", "handindex1")
    assert split_side("RThumb") == ("right", "thumb")
    assert split_side("rail")[0] == "" and split_side("Lower")[0] == ""
    assert all(mirror_role(mirror_role(role)) == role for role in ROLES)
    assert mirror_role("left_toe") == "right_toe" and mirror_role("head") == "head"
