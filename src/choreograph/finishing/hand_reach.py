"""Hands that touch something in a recording touch it on another body: the other hand, the own body, the floor.

Bones that point where the recorded ones do leave hands of longer or shorter arms short of what they touched. Where a
hand met the other one, came to rest on the body or stood on the floor, its arm is solved for the same place there:
offsets are scaled by the part that is touched, so that hands on wide hips are as far apart as these are. Elsewhere
arms stay as they are, and reach in proportion to their length.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from choreograph.base.arrays import Flags, Floats
from choreograph.base.quantiles import quantile
from choreograph.finishing.foot_contacts import fill_gaps
from choreograph.motion import ik, kinematics
from choreograph.motion.clip import Clip
from choreograph.motion.contacts import runs
from choreograph.motion.foot_geometry import leg_length
from choreograph.motion.role_map import LEG_ROLES, SIDES
from choreograph.motion.skeleton import Skeleton

_MEET = (0.2, 0.32)
"""Distance between hands, in lengths of thigh and shin, up to which they meet, and from which on they do not: wrists of
clapping hands are 10 to 15 cm apart."""
_NEAR = {"trunk": 0.27, "head": 0.3, "left_thigh": 0.14, "right_thigh": 0.14}
"""Distance of a hand from the middle of a part, likewise, within which it may rest on it."""
_FLOOR = 0.12
"""Height of a wrist above the floor, likewise, at which its hand may stand there."""
_BENT = 0.88
"""Share of its length that an arm reaches at most when its hand rests on the body: one that hangs is straighter."""
_STILL_M_S = 0.12
"""Speed against what it rests on below which a hand rests."""
_REST_S = 0.3
"""Shorter rests are chance."""
_EASE_S = 0.2
"""Seconds over which an arm goes to what it touches and comes back from it."""
_SOFT_SHARE = 0.99  # share of the arm's length from which it straightens ever more slowly
_PARTS = {
    "trunk": ("hips", "neck"),
    "head": ("neck", "head"),
    "left_thigh": ("left_upper_leg", "left_lower_leg"),
    "right_thigh": ("right_upper_leg", "right_lower_leg"),
}
"""What hands rest on, as the roles of the joints at its ends."""


@dataclass(frozen=True, eq=False)
class HandTouches:
    """Where hands touch, on the recording and on the body."""

    meet: Floats
    """How much the hands meet, (F,), 0 to 1."""
    rests: Flags
    """Whether the left and the right hand rest on the own body or on the floor, (F, 2)."""
    wanted: Floats
    """Where they would be then, (F, 2, 3), metres; where they are elsewhere."""
    gap: Floats
    """From the right hand to the left where they meet, as it would be, (F, 3), metres."""

    def any(self) -> bool:
        """Whether there is anything to be held."""
        return bool(self.meet.any() or self.rests.any())

    def misses(self, clip: Clip) -> Floats:
        """How far hands are from what they touch, one number for each frame and hand that does, metres."""
        hands = clip.global_positions()[:, hand_joints(clip.skeleton)]
        full = self.meet > 0.99
        apart = np.linalg.norm(hands[:, 0] - hands[:, 1] - self.gap, axis=1)[full]
        return np.concatenate([apart, np.linalg.norm(hands - self.wanted, axis=2)[self.rests]])


def hand_joints(skeleton: Skeleton) -> list[int]:
    """The left and the right wrist."""
    return [skeleton.need(f"{side}_hand") for side in SIDES]


def find_touches(source: Clip, motion: Clip) -> HandTouches | None:
    """What hands touch in a recording, and where that is on the body it was put on; None where one lacks arms.

    Args:
        source: The recording.
        motion: The same motion on another body, in the same frames.
    """
    roles = (*LEG_ROLES, *(f"{side}_{part}" for side in SIDES for part in ("upper_arm", "forearm", "hand")))
    if any(body.find(role) is None for body in (source.skeleton, motion.skeleton) for role in roles):
        return None
    size = leg_length(source.skeleton)
    scale = leg_length(motion.skeleton) / size
    theirs, mine = (clip.global_positions()[:, hand_joints(clip.skeleton)] for clip in (source, motion))
    apart = theirs[:, 0] - theirs[:, 1]
    meet = np.clip((_MEET[1] * size - np.linalg.norm(apart, axis=1)) / ((_MEET[1] - _MEET[0]) * size), 0.0, 1.0)
    wanted, rests = np.array(mine), np.zeros(mine.shape[:2], bool)
    bent = [_reach(source, side) < _BENT for side in SIDES]
    may_rest = [hand for hand in range(2) if np.count_nonzero(bent[hand]) >= _REST_S * source.fps]
    for part, ends in _PARTS.items():
        theirs_at = _segment(source, ends) if may_rest else None
        if theirs_at is None:
            continue
        for hand in may_rest:
            offset, share = _from_segment(theirs[:, hand], *theirs_at)
            near = bent[hand] & ~rests[:, hand] & (np.sum(offset * offset, axis=1) < (_NEAR[part] * size) ** 2)
            resting = _resting(near, offset, source.fps)
            mine_at = _segment(motion, ends) if resting.any() else None
            if mine_at is None:
                continue
            ratio = _length(mine_at) / _length(theirs_at) if part != "head" else scale
            start, end = mine_at
            place = start + share[:, None] * (end - start) + ratio * offset
            wanted[resting, hand] = place[resting]
            rests[:, hand] |= resting
    floor = _floor(source), _floor(motion)
    for hand in range(2):
        low = (theirs[:, hand, 1] - floor[0] < _FLOOR * size) & ~rests[:, hand]
        standing = _resting(low, theirs[:, hand], source.fps)
        if not standing.any():
            continue
        place = mine[:, hand] * (1.0, 0.0, 1.0)
        place[:, 1] = floor[1] + scale * (theirs[:, hand, 1] - floor[0])
        for first, last in runs(standing):
            place[first:last, [0, 2]] = place[first:last, [0, 2]].mean(axis=0)
        wanted[standing, hand] = place[standing]
        rests[:, hand] |= standing
    arms = _arm_length(motion.skeleton) / _arm_length(source.skeleton)
    return HandTouches(meet * meet * (3 - 2 * meet), rests, wanted, np.asarray(arms * apart))


def keep_touches(clip: Clip, touches: HandTouches) -> Clip:
    """The motion with hands brought to what they touch, by the arms alone; hands stay turned as they are.

    >>> from choreograph.demo import demo_clip
    >>> walk = demo_clip("walk", 30.0)
    >>> found = find_touches(walk, walk)
    >>> keep_touches(walk, found) is walk  # nobody touches anything
    True
    """
    if not touches.any():
        return clip
    pos, rot = clip.global_positions(), clip.global_rotations()
    hands = pos[:, hand_joints(clip.skeleton)]
    change = np.zeros_like(hands)
    for hand in range(2):
        known = touches.rests[:, hand]
        wanted = np.where(known[:, None], touches.wanted[:, hand] - hands[:, hand], 0.0)
        change[:, hand] = fill_gaps(wanted, known, clip.fps, _EASE_S)
    led = hands + change
    # Hands that meet go half of the way each, unless one of them rests on something.
    missing = touches.meet[:, None] * (touches.gap - (led[:, 0] - led[:, 1]))
    held = touches.rests.astype(float)
    share = np.clip(0.5 + 0.5 * (held[:, 1] - held[:, 0]), 0.0, 1.0)[:, None]
    change[:, 0] += share * missing
    change[:, 1] -= (1 - share) * missing
    local = np.array(clip.local_rot)
    for hand, side in enumerate(SIDES):
        if np.abs(change[:, hand]).max() < 1e-5:
            continue
        arm = _arm(clip.skeleton, side)
        joints = pos[:, arm[0]], pos[:, arm[1]], pos[:, arm[2]]
        axes = ik.hinge_axes(*joints, rot[:, arm[0]])
        turns = ik.solve_limb(*joints, axes, hands[:, hand] + change[:, hand], _SOFT_SHARE)
        ik.write_limb(local, rot, clip.skeleton.parents, arm, turns, rot[:, arm[2]])
    clip_out = clip.with_poses(np.array(clip.root_pos), kinematics.unit_and_continuous(local))
    return clip_out.with_contacts(clip.contacts)


# ------------------------------------------------------------------------------------------------------------ parts


def _arm(skeleton: Skeleton, side: str) -> tuple[int, int, int]:
    shoulder, elbow, wrist = (skeleton.need(f"{side}_{part}") for part in ("upper_arm", "forearm", "hand"))
    return shoulder, elbow, wrist


def _reach(clip: Clip, side: str) -> Floats:
    """How far the wrist is from the shoulder, (F,), as a share of the arm's length."""
    shoulder, elbow, wrist = (clip.global_positions()[:, joint] for joint in _arm(clip.skeleton, side))
    length = np.linalg.norm(elbow - shoulder, axis=1) + np.linalg.norm(wrist - elbow, axis=1)
    return np.asarray(np.linalg.norm(wrist - shoulder, axis=1) / np.maximum(length, 1e-9))


def _arm_length(skeleton: Skeleton) -> float:
    rest = skeleton.rest_positions()
    arms = [_arm(skeleton, side) for side in SIDES]
    bones = [np.linalg.norm(rest[b] - rest[a]) + np.linalg.norm(rest[c] - rest[b]) for a, b, c in arms]
    return max(float(np.mean(bones)), 1e-9)


def _segment(clip: Clip, ends: tuple[str, str]) -> tuple[Floats, Floats] | None:
    """Places of a part's two ends, (F, 3) each: hips between the hip joints, the neck between the shoulders."""
    at = clip.global_positions()
    places = []
    for role in ends:
        pairs = {"hips": "upper_leg", "neck": "upper_arm"}
        if role in pairs:
            joints = [clip.skeleton.find(f"{side}_{pairs[role]}") for side in SIDES]
        else:
            joints = [clip.skeleton.find(role)]
        if any(joint is None for joint in joints):
            return None
        places.append(at[:, [j for j in joints if j is not None]].mean(axis=1))
    return places[0], places[1]


def _length(segment: tuple[Floats, Floats]) -> float:
    return max(float(np.median(np.linalg.norm(segment[1] - segment[0], axis=1))), 1e-9)


def _from_segment(points: Floats, start: Floats, end: Floats) -> tuple[Floats, Floats]:
    """From the nearest place on a segment to each point, (F, 3), and how far along the segment that is, (F,)."""
    along = end - start
    share = np.sum((points - start) * along, axis=1) / np.maximum(np.sum(along * along, axis=1), 1e-12)
    share = np.clip(share, 0.0, 1.0)
    return points - (start + share[:, None] * along), share


def _resting(near: Flags, paths: Floats, fps: float) -> Flags:
    """When a hand that is near something rests on it: it hardly moves against it, for long enough."""
    out = np.zeros_like(near)
    if np.count_nonzero(near) < _REST_S * fps:
        return out
    slow = kinematics.speeds(paths, fps) < _STILL_M_S
    for start, stop in runs(near & slow):
        out[start:stop] = stop - start >= _REST_S * fps
    return out


def _floor(clip: Clip) -> float:
    """Height of the floor: the lowest foot joint where it stands, less what is below it."""
    feet = clip.global_positions()[:, clip.skeleton.feet, 1]
    return quantile(feet.min(axis=1), 0.05)
