"""Which joint of one body stands for which joint of another, and how their rest poses lie to each other.

Bodies are matched by roles, not names: hips, the chain from hips to chest and on to the head however many joints it
has, clavicles, arms, legs, fingers by kind. A joint of the target may stand between two of the source, as the third
joint of a spine of five does on a spine of two. Joints without a counterpart (twist and helper bones, crowns, props)
move with their parent.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from choreograph.base import quat
from choreograph.base.arrays import Floats, Indices, seal
from choreograph.base.errors import RoleError
from choreograph.motion.roles import split_side
from choreograph.motion.skeleton import Skeleton

SIDES = ("left", "right")
LEG_ROLES = tuple(f"{side}_{part}" for side in SIDES for part in ("upper_leg", "lower_leg", "foot"))
"""Without these, nobody walks."""
_FINGER = re.compile(r"thumb|index|middle|ring|pinky|little")
_NEXT = {"clavicle": "upper_arm", "upper_arm": "forearm", "forearm": "hand", "upper_leg": "lower_leg",
         "lower_leg": "foot"}  # fmt: skip
"""The part to which a limb's bone leads."""


@dataclass(frozen=True, eq=False)
class RoleMap:
    """How a target body takes its pose from a source body."""

    source: Skeleton
    target: Skeleton
    low: Indices
    """For each joint of the target a joint of the source, (J,); -1 where it moves with its parent."""
    high: Indices
    """A second one, beyond the first on the same chain, (J,)."""
    share: Floats
    """How far from the first towards the second the joint stands, 0 to 1, (J,)."""
    align: Floats
    """Rotation of each joint of the target that lays its rest bone along the source's, (J, 4)."""

    def as_names(self) -> dict[str, str | list[str]]:
        """The map by names, for people and files: target joint to source joint, or to two it stands between."""
        named: dict[str, str | list[str]] = {}
        for j, name in enumerate(self.target.names):
            if self.low[j] < 0:
                continue
            ends = [self.source.names[self.low[j]], self.source.names[self.high[j]]]
            named[name] = ends[0] if ends[0] == ends[1] or self.share[j] == 0 else ends
        return named


def pelvis(skeleton: Skeleton) -> int:
    """The joint that both legs hang from; the hips are it, or hang from it."""
    ways = []
    for side in SIDES:
        joint, way = skeleton.need(f"{side}_upper_leg"), []
        while joint >= 0:
            way.append(joint)
            joint = int(skeleton.parents[joint])
        ways.append(way)
    return next(joint for joint in ways[0] if joint in ways[1])


def chain_between(skeleton: Skeleton, top: int, bottom: int) -> list[int]:
    """Joints from `top` (left out) down to `bottom`, in that order; empty where one is not above the other."""
    chain, joint = [], bottom
    while joint >= 0 and joint != top:
        chain.append(joint)
        joint = int(skeleton.parents[joint])
    return chain[::-1] if joint == top else []


def map_roles(source: Skeleton, target: Skeleton, given: Mapping[str, str] | None = None) -> RoleMap:
    """The map from one body to another.

    Args:
        source: Whose motion it is.
        target: Who is to move.
        given: Joints of the target, by name, with the joint of the source that each takes its rotation from; "" for
            none. They overrule the roles.

    Raises:
        RoleError: If one of the bodies has no legs, or a given name is not there.
    """
    roles = _found_map(source, target)
    roles = replace(roles, **{name: getattr(roles, name).copy() for name in ("low", "high", "share", "align")})
    for name, other in (given or {}).items():
        joint = target.index(name)
        roles.low[joint] = roles.high[joint] = source.index(other) if other else -1
        roles.share[joint] = 0.0
    return roles


@lru_cache(maxsize=16)
def _found_map(source: Skeleton, target: Skeleton) -> RoleMap:
    """The map by roles alone; kept, as many clips are of the same two bodies."""
    need_legs(source, target)
    count = len(target)
    low, high, share = np.full(count, -1, np.intp), np.full(count, -1, np.intp), np.zeros(count)
    roles = RoleMap(source, target, low, high, share, np.tile(quat.IDENTITY, (count, 1)))
    _map_trunk(roles)
    for side in SIDES:
        _map_limbs(roles, side)
        _map_fingers(roles, side)
    if source.same_joints(target):
        for alike in np.flatnonzero(low < 0):
            low[alike] = high[alike] = alike
            if target.parents[alike] >= 0:
                roles.align[alike] = roles.align[target.parents[alike]]
    return roles


def need_legs(source: Skeleton, target: Skeleton) -> None:
    """Raise a RoleError that says what is missing where one of the bodies has no legs."""
    for body, whose, how in (
        (source, "the motion", "(with_roles)"),
        (target, "the character", "(roles), or in a .roles.json beside its file"),
    ):
        missing = [role for role in LEG_ROLES if body.find(role) is None]
        if missing:
            what = "no legs found in" if len(missing) == len(LEG_ROLES) else "not all of the legs were found in"
            raise RoleError(
                f"{what} {whose}: {', '.join(m.replace('_', ' ') for m in missing)} missing; if they are there, say "
                f"which joints they are {how}, out of: {', '.join(body.names[:40])}"
            )


def _set(roles: RoleMap, joint: int, source: int, other: int | None = None, share: float = 0.0) -> None:
    roles.low[joint], roles.high[joint], roles.share[joint] = source, source if other is None else other, share


def _chest(skeleton: Skeleton, hips: int) -> int:
    """The last joint of the trunk: what the neck, else the arms hang from."""
    for role in ("neck", "head", "left_clavicle", "left_upper_arm"):
        joint = skeleton.find(role)
        if joint is not None and skeleton.parents[joint] >= 0:
            return int(skeleton.parents[joint])
    spine = [j for j, role in enumerate(skeleton.roles) if role == "spine"]
    return spine[-1] if spine else hips


def _map_trunk(roles: RoleMap) -> None:
    source, target = roles.source, roles.target
    hips = pelvis(source), pelvis(target)
    _set(roles, hips[1], hips[0])
    named = target.find("hips")
    if named is not None and named != hips[1]:
        for joint in (*chain_between(target, hips[1], named), *chain_between(target, named, hips[1])):
            _set(roles, joint, hips[0])
        _set(roles, named, hips[0])
    chests = _chest(source, hips[0]), _chest(target, hips[1])
    _map_chain(roles, [hips[0], *chain_between(source, hips[0], chests[0])], chain_between(target, hips[1], chests[1]))
    heads = source.find("head"), target.find("head")
    if heads[0] is None or heads[1] is None:
        return
    up = [chests[0], *chain_between(source, chests[0], heads[0])]
    _map_chain(roles, up, chain_between(target, chests[1], heads[1]))


def _map_chain(roles: RoleMap, source: list[int], target: list[int]) -> None:
    """Joints of a chain by how far along it they are: the last to the last, the others between."""
    for k, joint in enumerate(target, 1):
        if roles.target.roles[joint] == "hips":
            continue
        at = k / len(target) * (len(source) - 1)
        below = min(int(at + 1e-9), len(source) - 1)
        _set(roles, joint, source[below], source[min(below + 1, len(source) - 1)], max(at - below, 0.0))


def _map_limbs(roles: RoleMap, side: str) -> None:
    source, target = roles.source, roles.target
    for part in ("clavicle", "upper_arm", "forearm", "hand", "upper_leg", "lower_leg", "foot", "toe"):
        there, here = source.find(f"{side}_{part}"), target.find(f"{side}_{part}")
        if there is None or here is None:
            continue
        _set(roles, here, there)
        if part in _NEXT:
            ends = source.find(f"{side}_{_NEXT[part]}"), target.find(f"{side}_{_NEXT[part]}")
            if ends[0] is not None and ends[1] is not None:
                roles.align[here] = quat.between_vectors(_bone(target, here, ends[1]), _bone(source, there, ends[0]))
        elif part == "hand":
            roles.align[here] = _align_hands(roles, side, here, there)
        else:
            roles.align[here] = _align_feet(roles, side)


def _bone(skeleton: Skeleton, start: int, end: int) -> Floats:
    rest = skeleton.rest_positions()
    bone = np.asarray(rest[end] - rest[start])
    return bone if np.linalg.norm(bone) > 1e-9 else np.array([0.0, -1.0, 0.0])


@lru_cache(maxsize=64)
def foot_bone(skeleton: Skeleton, side: str) -> Floats | None:
    """From the ankle to the ball of the foot, or its tip, in the rest pose, (3,); None where nothing tells."""
    ankle = skeleton.find(f"{side}_foot")
    if ankle is None:
        return None
    toe = skeleton.find(f"{side}_toe")
    if toe is not None:
        return seal(_bone(skeleton, ankle, toe))
    tips = np.flatnonzero(skeleton.tip_parents == ankle)
    return seal(np.array(skeleton.tip_offsets[tips[0]])) if len(tips) else None


def _align_feet(roles: RoleMap, side: str) -> Floats:
    """Feet by heading alone: both stand flat at rest, however high the ankle is above the ball."""
    headings = []
    for skeleton in (roles.target, roles.source):
        bone = foot_bone(skeleton, side)
        if bone is None:
            return np.array(quat.IDENTITY)
        headings.append(float(np.arctan2(bone[0], bone[2])) if np.hypot(bone[0], bone[2]) > 1e-3 else 0.0)
    return quat.from_yaw(headings[1] - headings[0])


def _finger_joints(skeleton: Skeleton, side: str) -> dict[tuple[str, int], int]:
    """Joints of fingers by kind and place along the finger."""
    fingers: dict[tuple[str, int], int] = {}
    counts: dict[str, int] = {}
    for joint, role in enumerate(skeleton.roles):
        if role != f"{side}_fingers":
            continue
        kind = _FINGER.search(split_side(skeleton.names[joint])[1])
        if kind is not None:
            name = "pinky" if kind[0] == "little" else kind[0]
            counts[name] = counts.get(name, 0) + 1
            fingers[name, counts[name]] = joint
    return fingers


def _hand_frame(skeleton: Skeleton, side: str, hand: int) -> tuple[Floats, Floats | None] | None:
    """Where the fingers point and where the thumb is, in the rest pose."""
    fingers = _finger_joints(skeleton, side)
    long = [joint for (kind, k), joint in fingers.items() if kind != "thumb" and k == 1]
    if not long:
        any_joint = skeleton.find(f"{side}_fingers")
        return None if any_joint is None else (_bone(skeleton, hand, any_joint), None)
    ahead = np.mean([_bone(skeleton, hand, joint) for joint in long], axis=0)
    thumb = fingers.get(("thumb", 1))
    return ahead, None if thumb is None else _bone(skeleton, hand, thumb)


def _align_hands(roles: RoleMap, side: str, here: int, there: int) -> Floats:
    """Hands by fingers and thumb where both have them, else as the forearms lie."""
    forearm = roles.target.find(f"{side}_forearm")
    as_forearm = roles.align[forearm] if forearm is not None else np.array(quat.IDENTITY)
    own, other = _hand_frame(roles.target, side, here), _hand_frame(roles.source, side, there)
    if own is None or other is None:
        return np.asarray(as_forearm)
    (ahead, thumb), (other_ahead, other_thumb) = own, other
    if thumb is None or other_thumb is None:
        # The roll of the hand is the forearm's; only its direction is set right.
        turned = quat.rotate(as_forearm, ahead)
        return quat.multiply(quat.between_vectors(turned, other_ahead), as_forearm)
    return quat.from_matrix(_frame(other_ahead, other_thumb) @ _frame(ahead, thumb).T)


def _frame(first: Floats, second: Floats) -> Floats:
    """Axes whose first lies along one vector and whose second is nearest to another, as columns."""
    x = first / np.linalg.norm(first)
    y = second - x * float(second @ x)
    size = float(np.linalg.norm(y))
    y = y / size if size > 1e-9 else np.cross(x, [0.0, 1.0, 0.3])
    y = y / np.linalg.norm(y)
    return np.stack([x, y, np.cross(x, y)], axis=1)


def _map_fingers(roles: RoleMap, side: str) -> None:
    hand = roles.target.find(f"{side}_hand")
    there, here = _finger_joints(roles.source, side), _finger_joints(roles.target, side)
    for key, joint in here.items():
        if key not in there or hand is None:
            continue
        _set(roles, joint, there[key])
        on = (key[0], key[1] + 1)
        roles.align[joint] = roles.align[hand]
        if on in here and on in there:
            bone = quat.rotate(roles.align[hand], _bone(roles.target, joint, here[on]))
            turn = quat.between_vectors(bone, _bone(roles.source, there[key], there[on]))
            roles.align[joint] = quat.multiply(turn, roles.align[hand])
