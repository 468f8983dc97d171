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
    "Character Creator": (
        "CC_Base_Hip CC_Base_Head CC_Base_L_Thigh CC_Base_L_Calf CC_Base_L_Foot CC_Base_L_ToeBase CC_Base_L_Clavicle "
        "CC_Base_L_Upperarm CC_Base_L_Forearm CC_Base_L_Hand",
        ("_L_", "_R_"),
    ),
    "Genesis 8": (
        "hip head lThighBend lShin lFoot lToe lCollar lShldrBend lForearmBend lHand",
        ("l", "r"),
    ),
    "Genesis 9": (
        "hip head l_thigh l_shin l_foot l_toes l_shoulder l_upperarm l_forearm l_hand",
        ("l_", "r_"),
    ),
    "Xsens MVN": (
        "Pelvis Head LeftUpperLeg LeftLowerLeg LeftFoot LeftToe LeftShoulder LeftUpperArm LeftForeArm LeftHand",
        ("Left", "Right"),
    ),
    "Rokoko": (
        "Hips Head LeftThigh LeftShin LeftFoot LeftToe LeftShoulder LeftArm LeftForeArm LeftHand",
        ("Left", "Right"),
    ),
    "Perception Neuron": (
        "Robot_Hips Robot_Head Robot_LeftUpLeg Robot_LeftLeg Robot_LeftFoot - Robot_LeftShoulder Robot_LeftArm "
        "Robot_LeftForeArm Robot_LeftHand",
        ("Left", "Right"),
    ),
    "OptiTrack": (
        "Hip Head LThigh LShin LFoot LToe LShoulder LUArm LFArm LHand",
        ("L", "R"),
    ),
    "Kinect": (
        "SpineBase Head HipLeft KneeLeft AnkleLeft FootLeft - ShoulderLeft ElbowLeft WristLeft",
        ("Left", "Right"),
    ),
    "OpenPose": (
        "MidHip Head LHip LKnee LAnkle LBigToe - LShoulder LElbow LWrist",
        ("L", "R"),
    ),
    "Advanced Skeleton": (
        "Root_M Head_M Hip_L Knee_L Ankle_L Toes_L Scapula_L Shoulder_L Elbow_L Wrist_L",
        ("_L", "_R"),
    ),
    "MakeHuman": (
        "root head upperleg01.L lowerleg01.L foot.L toe1-1.L clavicle.L upperarm01.L lowerarm01.L wrist.L",
        (".L", ".R"),
    ),
    "Rigify, deforming": (
        "DEF-spine DEF-head DEF-thigh.L DEF-shin.L DEF-foot.L DEF-toe.L DEF-shoulder.L DEF-upper_arm.L DEF-forearm.L "
        "DEF-hand.L",
        (".L", ".R"),
    ),
    "Source engine": (
        "ValveBiped.Bip01_Pelvis ValveBiped.Bip01_Head1 ValveBiped.Bip01_L_Thigh ValveBiped.Bip01_L_Calf "
        "ValveBiped.Bip01_L_Foot ValveBiped.Bip01_L_Toe0 ValveBiped.Bip01_L_Clavicle ValveBiped.Bip01_L_UpperArm "
        "ValveBiped.Bip01_L_Forearm ValveBiped.Bip01_L_Hand",
        ("_L_", "_R_"),
    ),
    "Unity": (
        "Hips Head LeftUpperLeg LeftLowerLeg LeftFoot LeftToes LeftShoulder LeftUpperArm LeftLowerArm LeftHand",
        ("Left", "Right"),
    ),
    "OpenSim": (
        "pelvis head femur_l tibia_l talus_l toes_l scapula_l humerus_l ulna_l hand_l",
        ("_l", "_r"),
    ),
    "MikuMikuDance": ("下半身 頭 左足 左ひざ 左足首 左つま先 左肩 左腕 左ひじ 左手首", ("左", "右")),
}
LEFT_PARTS = ("upper_leg", "lower_leg", "foot", "toe", "clavicle", "upper_arm", "forearm", "hand")


@pytest.mark.parametrize("family", FAMILIES)
def test_families_of_names(family: str) -> None:
    text, (left, right) = FAMILIES[family]
    middle, lefts = text.split()[:2], text.split()[2:]
    parts = [part for part, name in zip(LEFT_PARTS, lefts, strict=True) if name != "-"]
    lefts = [name for name in lefts if name != "-"]
    rights = [name.replace(left, right, 1) for name in lefts]
    names = [*middle, *lefts, *rights]
    parents = np.array([-1, *(0 for _ in names[1:])])
    wanted = ["hips", "head", *(f"{side}_{part}" for side in ("left", "right") for part in parts)]
    assert list(recognise_roles(names, parents)) == wanted


def test_names_with_spaces_and_several_prefixes() -> None:
    names = ["Bip01", "Bip01 Pelvis", "Bip01 L Toe0", "Bip01 R Finger0", "A:B:LeftFoot", "Character1_RightArm"]
    roles = recognise_roles(names, np.array([-1, 0, 1, 1, 1, 1]))
    assert roles == ("other", "hips", "left_toe", "right_fingers", "left_foot", "right_upper_arm")


def test_helpers_of_families_are_no_parts() -> None:
    """Twist bones and second halves of limbs do not take a part from its first joint."""
    names = [
        "hip",
        "lThighBend",
        "lThighTwist",
        "lShin",
        "lShldrBend",
        "lShldrTwist",
        "upperleg02.L",
        "CC_Base_L_KneeShareBone",
    ]
    roles = recognise_roles(names, np.array([-1, 0, 1, 2, 0, 4, 3, 3]))
    assert roles[1] == "left_upper_leg" and roles[4] == "left_upper_arm"
    assert roles[2] == roles[5] == roles[7] == "other"
    made = ["root", "clavicle.L", "shoulder01.L", "upperarm01.L", "upperarm02.L"]
    assert recognise_roles(made, np.array([-1, 0, 1, 2, 3]))[2:4] == ("left_clavicle", "left_upper_arm")
    kinect = ["SpineBase", "SpineMid", "SpineShoulder", "Neck", "Head", "WristLeft", "HandLeft", "HandTipLeft"]
    assert recognise_roles(kinect, np.array([-1, 0, 1, 2, 3, 2, 5, 6]))[5:] == (
        "left_hand", "left_fingers", "left_fingers",
    )  # fmt: skip


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
