"""Joint roles: which body part a joint is, recognised from the names that motion capture programs give."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from choreograph.base.arrays import Ints32

_LIMBS = (
    *("hip", "upper_leg", "lower_leg", "foot", "toe"),
    *("clavicle", "upper_arm", "forearm", "hand", "fingers"),
)
ROLES: tuple[str, ...] = (
    *("hips", "spine", "neck", "head"),
    *(f"{side}_{limb}" for side in ("left", "right") for limb in _LIMBS),
    "other",
)
"""Every role a joint can have; "other" is none of the rest. Several joints may share one."""

FOOT_ROLES = ("left_foot", "left_toe", "right_foot", "right_toe")
"""The joints whose plants are detected: ankle and ball of each foot, in the order of a clip's contact columns."""

# Stems (name without side, digits and separators) and the part they mean, over the conventions of CMU's ASF files,
# cgspeed/MotionBuilder, Mixamo, LAFAN1, 3ds Max Biped, Vicon, Bandai-Namco, Unreal, Unity, Rigify, SMPL, Daz, Character
# Creator, Xsens, Rokoko, Perception Neuron, OptiTrack, Kinect, OpenPose, Advanced Skeleton, MakeHuman, Source, OpenSim
# and MikuMikuDance.
_CENTRE = {
    "hips": ("hips", "hip", "pelvis", "cog", "spinebase", "midhip", "hipcenter"),
    "spine": ("spine", "lowerback", "upperback", "thorax", "chest", "upperchest", "torso", "abdomen", "waist",
              "ribcage", "lowerspine", "upperspine", "midspine", "spinemid", "spineshoulder", "shouldercenter",
              "abdomenlower", "abdomenupper", "chestlower", "chestupper", "ab"),
    "neck": ("neck", "lowerneck", "upperneck", "necklower", "neckupper", "necktwist"),
    "head": ("head", "skull"),
}  # fmt: skip
_SIDED = {
    "hip": ("hipjoint", "buttock"),
    "upper_leg": ("upleg", "upperleg", "femur", "thigh", "hip", "upperthigh"),
    "lower_leg": ("leg", "lowerleg", "lowleg", "tibia", "calf", "shin", "knee"),
    "foot": ("foot", "ankle", "talus"),
    "toe": ("toe", "toes", "toebase", "ball", "forefoot", "bigtoe"),
    "clavicle": ("clavicle", "collar", "collarbone", "shoulder", "scapula"),
    "upper_arm": ("arm", "upperarm", "uparm", "humerus", "shldr", "uarm"),
    "forearm": ("forearm", "lowerarm", "lowarm", "radius", "elbow", "farm", "ulna"),
    "hand": ("hand", "wrist"),
    "fingers": ("fingers", "finger", "fingerbase", "thumb", "index", "middle", "ring", "pinky", "little",
                "handthumb", "handindex", "handmiddle", "handring", "handpinky", "handend", "palm", "metacarpal",
                "inhandindex", "inhandmiddle", "inhandring", "inhandpinky", "handtip", "mid"),
}  # fmt: skip
_CENTRE_PART = {stem: part for part, stems in _CENTRE.items() for stem in stems}
_SIDED_PART = {stem: part for part, stems in _SIDED.items() for stem in stems}
_GLUED = re.compile(r"(l|r)(" + "|".join(sorted(_SIDED_PART, key=len, reverse=True)) + r")\d*$")
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_PREFIX = re.compile(
    r"^(j[_ ]bip([_ ]c)?|bip\d*|mixamorig\d*|character\d*|joint|def|b|bn)[\s_:.-]+", flags=re.IGNORECASE
)
_COLLARS = {"collar", "collarbone", "clavicle", "scapula"}
_JAPANESE = {
    "頭": "head", "首": "neck", "上半身": "spine", "下半身": "hips", "足": "upperleg", "ひざ": "knee", "足首": "ankle",
    "つま先": "toe", "肩": "shoulder", "腕": "arm", "ひじ": "elbow", "手首": "wrist", "親指": "thumb", "人指": "index",
    "中指": "middle", "薬指": "ring", "小指": "pinky",
}  # fmt: skip
"""Names of MikuMikuDance."""
_FIRST = re.compile(r"^([A-Za-z0-9]+)[_:.\-\s]+(?=.)")
_SHARED = 0.6
"""Share of the names that begin alike where that beginning says nothing about joints."""
_SIDES = {"left": "left", "right": "right", "l": "left", "r": "right"}


def mirror_role(role: str) -> str:
    """The role on the other side of the body."""
    if role.startswith("left_"):
        return "right_" + role[5:]
    return "left_" + role[6:] if role.startswith("right_") else role


@lru_cache(maxsize=4096)
def split_side(name: str) -> tuple[str, str]:
    """The side a joint's name tells ("left", "right" or "") and the rest of the name in lower case, digits kept."""
    if name[:1] in "左右" and name:
        return "left" if name[0] == "左" else "right", _translate(name[1:])
    plain = _PREFIX.sub("", name.rsplit(":", 1)[-1])
    glued = _GLUED.fullmatch(plain.lower())
    if glued:
        return _SIDES[glued[1]], plain.lower()[1:]
    side, rest = "", []
    for word in _WORDS.findall(plain):
        low = word.lower()
        # "LThumb" splits as "LT" + "humb" under a plain camel-case rule; the regex keeps "L" + "Thumb" apart.
        if not side and low in _SIDES:
            side = _SIDES[low]
        else:
            rest.append(low)
    if not rest:
        return side, _translate(plain)
    if not side and len(rest) > 1 and (rest[-1] == "m" or rest[0] == "c"):
        del rest[-1 if rest[-1] == "m" else 0]  # the middle, as Advanced Skeleton and VRoid say it
    return side, "".join(rest)


def _translate(name: str) -> str:
    plain = name.rstrip("0123456789０１２３４５６７８９")
    return _JAPANESE.get(plain, "") + name[len(plain) :] if plain in _JAPANESE else ""


def _without_beginning(names: Sequence[str]) -> Sequence[str]:
    """Names without what most of them begin with: CC_Base_, Robot_, the name of a character."""
    for _ in range(3):
        begins = [match[1] if (match := _FIRST.match(name)) else "" for name in names]
        usual = max(set(begins), key=begins.count, default="")
        if not usual or usual.lower() in _SIDES or begins.count(usual) < max(4, _SHARED * len(names)):
            break
        names = [_FIRST.sub("", name) if one == usual else name for name, one in zip(names, begins, strict=True)]
    return names


def recognise_roles(names: Sequence[str], parents: Ints32) -> tuple[str, ...]:
    """The role of each joint, as far as its name tells; "other" where it does not."""
    sides, stems = zip(*(split_side(n) for n in _without_beginning(names)), strict=True)
    bare = [re.sub(r"\d+", "", s).removesuffix("bend") for s in stems]
    known = set(bare)
    roles = []
    for side, stem in zip(sides, bare, strict=True):
        part = _SIDED_PART.get(stem) if side else None
        # Where there is a collar, "shoulder" is the upper arm; where there is an ankle, "foot" is the toe.
        if stem == "shoulder" and side and not known & set(_SIDED["upper_arm"]):
            part = "upper_arm" if known & (_COLLARS | {"elbow"}) else part
        if stem == "hand" and side and "handtip" in known:
            part = "fingers"
        if stem == "foot" and "ankle" in known:
            part = "toe"
        # Where there are toes, Vicon's "forefoot" is a helper right below the ankle.
        if stem == "forefoot" and known & {"toe", "toes", "toebase", "ball"}:
            part = None
        roles.append(f"{side}_{part}" if part else _CENTRE_PART.get(stem, "other") if not side else "other")
    for side in ("left", "right"):
        # Some rigs have a palm between forearm and fingers, and nothing called a hand.
        palms = [j for j, stem in enumerate(bare) if stem == "palm" and sides[j] == side]
        if palms and f"{side}_hand" not in roles:
            roles[palms[0]] = f"{side}_hand"
    if "hips" not in roles:
        carrier = _first_branching(parents)
        above = int(parents[carrier])
        if roles[carrier] == "other" or (roles[carrier] == "spine" and (above < 0 or roles[above] != "spine")):
            roles[carrier] = "hips"
    return tuple(roles)


def _first_branching(parents: Ints32) -> int:
    """The first joint with several children: the body's hub, when no name tells; the root where nothing branches."""
    counts = np.bincount(np.asarray(parents)[1:], minlength=len(parents))
    several = np.flatnonzero(counts > 1)
    return int(several[0]) if len(several) else 0
