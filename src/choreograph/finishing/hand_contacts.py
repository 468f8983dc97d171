"""Hands that are held: found in recordings, carried over, and brought together by the arms of the one who follows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from choreograph.base import quat
from choreograph.base.arrays import Flags, Floats, seal
from choreograph.base.filters import held_gaussian
from choreograph.finishing.foot_contacts import fill_gaps
from choreograph.motion import ik
from choreograph.motion.clip import Clip
from choreograph.motion.contacts import runs
from choreograph.motion.montage import Origins
from choreograph.motion.skeleton import Skeleton

HANDS = ("left", "right")
_REACH = 0.97
"""Share of the arm's length up to which a hand is reached for; an arm that is straighter already stays so."""
_NEARLY_M = 0.01  # metres by which a hand that cannot be reached otherwise may be farther than it is now
_GRIP_M = 0.08
"""A hand's breadth: a hand that is farther from its grip, on its way from one to the next, holds nothing."""


@dataclass(frozen=True)
class HandSettings:
    """When two hands count as holding each other, and how gently they are brought together."""

    near_m: float = 0.2
    """Fingers' joints of hands that hold each other are nearer than this: between salsa dancers they are 12 to 16 cm
    apart, and hardly ever between 20 and 40."""
    least_s: float = 0.25
    """Shorter meetings are chance."""
    ease_s: float = 0.25
    """Seconds over which an arm goes to a hand and comes back from it."""


@dataclass(frozen=True, eq=False)
class HandContacts:
    """Which of the follower's hands hold which of the leader's, and how."""

    held: Flags
    """(F, 2, 2): follower's left and right hand, leader's left and right hand."""
    offset: Floats
    """From the leader's grip to the follower's as recorded, (F, 2, 2, 3), in the frame of the leader's hand, metres."""


@dataclass(frozen=True, eq=False)
class Partner:
    """The one whose hands are to be held."""

    clip: Clip
    """From the same moment on as the motion; at any rate."""
    contacts: Callable[[int], HandContacts]
    """The hand contacts in each clip of the montage, by its number, in that clip's own frames."""


def find_hand_contacts(leader: Clip, follower: Clip, settings: HandSettings | None = None) -> HandContacts:
    """Hand contacts of two who moved together; a hand holds one hand at a time, the nearer one.

    Args:
        leader: Whose hands are held.
        follower: Who holds them, in the same frames.
        settings: How near and how long.
    """
    settings = settings or HandSettings()
    theirs, mine = grips(leader.skeleton), grips(follower.skeleton)
    lead, follow = leader.global_positions()[:, theirs], follower.global_positions()[:, mine]
    apart = follow[:, :, None] - lead[:, None]
    distance = np.linalg.norm(apart, axis=-1)
    near = distance < settings.near_m
    for axis in (1, 2):
        near &= distance <= distance.min(axis=axis, keepdims=True)
    shortest = max(1, round(settings.least_s * leader.fps))
    held = np.zeros_like(near)
    for a in range(2):
        for b in range(2):
            for start, stop in runs(near[:, a, b]):
                held[start:stop, a, b] = stop - start >= shortest
    turn = quat.inverse(leader.global_rotations()[:, theirs])
    return HandContacts(held, quat.rotate(turn[:, None], apart))


def read_hand_contacts(origins: Origins, contacts: Callable[[int], HandContacts]) -> HandContacts:
    """The hand contacts of the recordings in the frames that a motion shows.

    Args:
        origins: Which recording and which frame of it each frame shows.
        contacts: The hand contacts of a recording, by its number.
    """
    frames = len(origins)
    held, offset = np.zeros((frames, 2, 2), bool), np.zeros((frames, 2, 2, 3))
    for number in np.unique(origins.source_clip):
        recorded = contacts(int(number))
        rows = np.flatnonzero(origins.source_clip == number)
        at = np.clip(np.rint(origins.source_frame[rows]).astype(int), 0, len(recorded.held) - 1)
        held[rows], offset[rows] = recorded.held[at], recorded.offset[at]
    return HandContacts(held, offset)


def hold_hands(
    clip: Clip, leader: Clip, contacts: HandContacts, settings: HandSettings | None = None
) -> tuple[Clip, HandContacts]:
    """The motion with held hands brought to the leader's, by the arms alone, and the contacts that could be kept.

    A hand that is out of the arm's reach is let go.

    Args:
        clip: The follower.
        leader: The one who leads, from the same moment on.
        contacts: Which hands are held when.
        settings: How gently.
    """
    settings = settings or HandSettings()
    if not np.isclose(leader.fps, clip.fps, rtol=1e-6):
        leader = leader.resampled(clip.fps)
    every = np.arange(len(clip))
    goals = grip_goals(leader, contacts)
    pos, rot = clip.global_positions(), clip.global_rotations()
    local, still = np.array(clip.local_rot), np.array(contacts.held)
    shortest = max(1, round(settings.least_s * clip.fps))
    for a, (side, grip) in enumerate(zip(HANDS, grips(clip.skeleton), strict=True)):
        shoulder, elbow, wrist = _arm(clip.skeleton, side)
        which = contacts.held[:, a].argmax(axis=1)
        change = goals[every, a, which] - pos[:, grip]
        length = np.linalg.norm(pos[:, [shoulder, wrist]] - pos[:, [elbow]], axis=-1).sum(axis=1)
        reach = np.linalg.norm(pos[:, wrist] + change - pos[:, shoulder], axis=1)
        now = np.linalg.norm(pos[:, wrist] - pos[:, shoulder], axis=1)
        held = contacts.held[:, a].any(axis=1) & (reach < np.maximum(_REACH * length, now + _NEARLY_M))
        for start, stop in runs(held):
            held[start:stop] = stop - start >= shortest
        still[~held, a] = False
        if held.any():
            # What a grip asks for changes at once where pieces change; the arm must not.
            soft = _soften(np.where(held[:, None], change, 0.0), held, clip.fps)
            still[np.linalg.norm(soft - change, axis=1) > _GRIP_M, a] = False
            change = fill_gaps(soft, held, clip.fps, settings.ease_s)
            _reach(clip.skeleton, (shoulder, elbow, wrist), pos, rot, pos[:, wrist] + change, local)
    return replace(clip, local_rot=seal(quat.make_continuous(local))), HandContacts(still, contacts.offset)


def grip_goals(leader: Clip, contacts: HandContacts) -> Floats:
    """Where the follower's grips would be with the leader's hands in them, (F, 2, 2, 3), metres."""
    frames = np.minimum(np.arange(len(contacts.held)), len(leader) - 1)
    theirs = grips(leader.skeleton)
    lead, turn = leader.global_positions()[frames][:, theirs], leader.global_rotations()[frames][:, theirs]
    return np.asarray(lead[:, None] + quat.rotate(turn[:, None], contacts.offset))


def grips(skeleton: Skeleton) -> list[int]:
    """The joints by which the left and the right hand are held: the fingers' first, else the hand."""
    joints = [skeleton.find(f"{side}_fingers") for side in HANDS]
    return [skeleton.need(f"{side}_hand") if j is None else j for side, j in zip(HANDS, joints, strict=True)]


def _arm(skeleton: Skeleton, side: str) -> tuple[int, int, int]:
    shoulder, elbow, wrist = (skeleton.need(f"{side}_{part}") for part in ("upper_arm", "forearm", "hand"))
    return shoulder, elbow, wrist


def _soften(values: Floats, known: Flags, fps: float) -> Floats:
    """Values smoothed a little (0.07 s) within each stretch in which they are known."""
    out = np.array(values)
    for start, stop in runs(known):
        out[start:stop] = held_gaussian(values[start:stop], 0.07 * fps)
    return out


def _reach(
    skeleton: Skeleton, arm: tuple[int, int, int], pos: Floats, rot: Floats, target: Floats, local: Floats
) -> None:
    """Turn upper arm and forearm so that the wrist comes to its target; `local` is changed."""
    shoulder, elbow, wrist = arm
    joints = pos[:, shoulder], pos[:, elbow], pos[:, wrist]
    turns = ik.solve_limb(*joints, ik.hinge_axes(*joints, rot[:, shoulder]), target)
    # The hand keeps the way it is turned, so that palms stay as recorded.
    ik.write_limb(local, rot, skeleton.parents, arm, turns, rot[:, wrist])
