"""Joint roles: which body part a joint is, recognised from the names that motion capture programs give."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

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
# cgspeed/MotionBuilder, Mixamo, LAFAN1, 3ds Max Biped, Vicon, Bandai-Namco, Unreal, Rigify and SMPL.
_CENTRE = {
    "hips": ("hips", "hip", "pelvis", "cog"),
    "spine": ("spine", "lowerback", "upperback", "thorax", "chest", "upperchest", "torso", "abdomen", "waist",
              "ribcage", "lowerspine", "upperspine", "midspine"),
    "neck": ("neck", "lowerneck", "upperneck"),
    "head": ("head", "skull"),
}  # fmt: skip
_SIDED = {
    "hip": ("hipjoint", "buttock"),
    "upper_leg": ("upleg", "upperleg", "femur", "thigh", "hip", "upperthigh"),
    "lower_leg": ("leg", "lowerleg", "lowleg", "tibia", "calf", "shin", "knee"),
    "foot": ("foot", "ankle"),
    "toe": ("toe", "toes", "toebase", "ball", "forefoot"),
    "clavicle": ("clavicle", "collar", "collarbone", "shoulder"),
    "upper_arm": ("arm", "upperarm", "uparm", "humerus", "shldr"),
    "forearm": ("forearm", "lowerarm", "lowarm", "radius", "elbow"),
    "hand": ("hand", "wrist"),
    "fingers": ("fingers", "finger", "fingerbase", "thumb", "index", "middle", "ring", "pinky", "little",
                "handthumb", "handindex", "handmiddle", "handring", "handpinky", "handend", "palm", "metacarpal",
                "inhandindex", "inhandmiddle", "inhandring", "inhandpinky"),
}  # fmt: skip
_CENTRE_PART = {stem: part for part, stems in _CENTRE.items() for stem in stems}
_SIDED_PART = {stem: part for part, stems in _SIDED.items() for stem in stems}
_GLUED = re.compile(r"(l|r)(" + "|".join(sorted(_SIDED_PART, key=len, reverse=True)) + r")\d*$")
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_PREFIX = re.compile(
    r"^(j[_ ]bip([_ ]c)?|bip\d*|mixamorig\d*|character\d*|joint|def|b|bn)[\s_:.-]+", flags=re.IGNORECASE
)
_SIDES = {"left": "left", "right": "right", "l": "left", "r": "right"}


def mirror_role(role: str) -> str:
    """The role on the other side of the body."""
    if role.startswith("left_"):
        return "right_" + role[5:]
    return "left_" + role[6:] if role.startswith("right_") else role


@lru_cache(maxsize=4096)
def split_side(name: str) -> tuple[str, str]:
    """The side a joint's name tells ("left", "right" or "") and the rest of the name in lower case, digits kept."""
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
    return side, "".join(rest)


def recognise_roles(names: Sequence[str], parents: NDArray[np.int32]) -> tuple[str, ...]:
    """The role of each joint, as far as its name tells; "other" where it does not."""
    sides, stems = zip(*(split_side(n) for n in names), strict=True)
    bare = [re.sub(r"\d+", "", s) for s in stems]
    known = set(bare)
    roles = []
    for side, stem in zip(sides, bare, strict=True):
        part = _SIDED_PART.get(stem) if side else None
        # Where there is a collar, "shoulder" is the upper arm; where there is an ankle, "foot" is the toe.
        if stem == "shoulder" and known & {"collar", "collarbone", "clavicle"}:
            part = "upper_arm"
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
        if roles[carrier] == "other":
            roles[carrier] = "hips"
    return tuple(roles)


def _first_branching(parents: NDArray[np.int32]) -> int:
    """The first joint with several children: the body's hub, when no name tells; the root where nothing branches."""
    counts = np.bincount(np.asarray(parents)[1:], minlength=len(parents))
    several = np.flatnonzero(counts > 1)
    return int(several[0]) if len(several) else 0
