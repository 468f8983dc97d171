"""Hands that are held: found in the examples, carried over, and brought together by the arms of the one who follows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from choreograph.finishing.foot_contacts import fill_gaps
from choreograph.maths import quat
from choreograph.motion import ik
from choreograph.motion.arrays import seal
from choreograph.motion.clip import Clip
from choreograph.motion.contacts import runs
from choreograph.motion.skeleton import Skeleton
from choreograph.synthesis.perform.examples import SegmentDatabase

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

HANDS = ("left", "right")
_REACH = 0.97
"""Share of the arm's length up to which a hand is reached for; an arm that is straighter already stays so."""
_NEARLY_M = 0.01
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
    offset: Array
    """From the leader's grip to the follower's as recorded, (F, 2, 2, 3), in the frame of the leader's hand, metres."""


def find_holds(leader: Clip, follower: Clip, settings: HandSettings | None = None) -> HandContacts:
    """HandContacts between two who moved together; a hand holds one hand at a time, the nearer one."""
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


def read_hand_contacts(
    base: SegmentDatabase, example: NDArray[np.int64], frame: Array, find: Callable[[int], HandContacts]
) -> HandContacts:
    """The holds of the recordings in the frames that a motion was made of.

    Args:
        base: The recordings.
        example: Which of them each frame shows, (F,).
        frame: Where in it, (F,).
        find: The holds of an example.
    """
    held = np.zeros((len(frame), 2, 2), bool)
    offset = np.zeros((len(frame), 2, 2, 3))
    for number in np.unique(example):
        found = find(int(number))
        rows = np.flatnonzero(example == number)
        at = np.clip(np.rint(frame[rows]).astype(int), 0, len(found.held) - 1)
        held[rows], offset[rows] = found.held[at], found.offset[at]
    return HandContacts(held, offset)


class ExampleHandContacts:
    """The holds of each example, looked for when they are first asked for."""

    def __init__(self, base: SegmentDatabase, settings: HandSettings) -> None:
        self._base, self._settings = base, settings
        self._found: dict[int, HandContacts] = {}

    def __call__(self, number: int) -> HandContacts:
        """The holds in an example."""
        if number not in self._found:
            example = self._base.examples[number]
            count = len(example.target)
            self._found[number] = (
                HandContacts(np.zeros((count, 2, 2), bool), np.zeros((count, 2, 2, 3)))
                if example.leader is None
                else find_holds(example.leader, example.target, self._settings)
            )
        return self._found[number]


def hold_hands(
    clip: Clip, leader: Clip, holds: HandContacts, settings: HandSettings | None = None
) -> tuple[Clip, HandContacts]:
    """The motion with held hands brought to the leader's, by the arms alone, and the holds that could be kept.

    A hand that is out of the arm's reach is let go.

    Args:
        clip: The follower.
        leader: The one who leads, from the same moment on.
        holds: Which hands are held when.
        settings: How gently.
    """
    settings = settings or HandSettings()
    if not np.isclose(leader.fps, clip.fps, rtol=1e-6):
        leader = leader.resampled(clip.fps)
    every = np.arange(len(clip))
    goals = grip_goals(leader, holds)
    pos, rot = clip.global_positions(), clip.global_rotations()
    local, kept = np.array(clip.local_rot), np.array(holds.held)
    shortest = max(1, round(settings.least_s * clip.fps))
    for a, (side, grip) in enumerate(zip(HANDS, grips(clip.skeleton), strict=True)):
        shoulder, elbow, wrist = _arm(clip.skeleton, side)
        which = holds.held[:, a].argmax(axis=1)
        change = goals[every, a, which] - pos[:, grip]
        length = np.linalg.norm(pos[:, [shoulder, wrist]] - pos[:, [elbow]], axis=-1).sum(axis=1)
        reach = np.linalg.norm(pos[:, wrist] + change - pos[:, shoulder], axis=1)
        now = np.linalg.norm(pos[:, wrist] - pos[:, shoulder], axis=1)
        held = holds.held[:, a].any(axis=1) & (reach < np.maximum(_REACH * length, now + _NEARLY_M))
        for start, stop in runs(held):
            held[start:stop] = stop - start >= shortest
        kept[~held, a] = False
        if held.any():
            # What a hold asks for changes at once where pieces change; the arm must not.
            soft = _soften(np.where(held[:, None], change, 0.0), held, clip.fps)
            kept[np.linalg.norm(soft - change, axis=1) > _GRIP_M, a] = False
            change = fill_gaps(soft, held, clip.fps, settings.ease_s)
            _reach(clip.skeleton, (shoulder, elbow, wrist), pos, rot, pos[:, wrist] + change, local)
    return replace(clip, local_rot=seal(quat.make_continuous(local))), HandContacts(kept, holds.offset)


def grip_goals(leader: Clip, holds: HandContacts) -> Array:
    """Where the follower's grips would be with the leader's hands in them, (F, 2, 2, 3), metres."""
    frames = np.minimum(np.arange(len(holds.held)), len(leader) - 1)
    theirs = grips(leader.skeleton)
    lead, turn = leader.global_positions()[frames][:, theirs], leader.global_rotations()[frames][:, theirs]
    return np.asarray(lead[:, None] + quat.rotate(turn[:, None], holds.offset))


def grips(skeleton: Skeleton) -> list[int]:
    """The joints by which the left and the right hand are held: the fingers' first, else the hand."""
    found = [skeleton.find(f"{side}_fingers") for side in HANDS]
    return [skeleton.need(f"{side}_hand") if j is None else j for side, j in zip(HANDS, found, strict=True)]


def _arm(skeleton: Skeleton, side: str) -> tuple[int, int, int]:
    shoulder, elbow, wrist = (skeleton.need(f"{side}_{part}") for part in ("upper_arm", "forearm", "hand"))
    return shoulder, elbow, wrist


def _soften(values: Array, known: Flags, fps: float) -> Array:
    """Values smoothed a little (0.07 s) within each stretch in which they are known."""
    from scipy.ndimage import gaussian_filter1d

    out = np.array(values)
    for start, stop in runs(known):
        out[start:stop] = gaussian_filter1d(values[start:stop], 0.07 * fps, axis=0, mode="nearest")
    return out


def _reach(skeleton: Skeleton, arm: tuple[int, int, int], pos: Array, rot: Array, target: Array, local: Array) -> None:
    """Turn upper arm and forearm so that the wrist comes to its target; `local` is changed."""
    shoulder, elbow, wrist = arm
    axis = ik.hinge_axes(pos[:, shoulder], pos[:, elbow], pos[:, wrist], rot[:, shoulder])
    swing, bend = ik.solve_limb(pos[:, shoulder], pos[:, elbow], pos[:, wrist], axis, target)
    upper = quat.multiply(swing, rot[:, shoulder])
    fore = quat.multiply(swing, quat.multiply(bend, rot[:, elbow]))
    between = quat.multiply(swing, rot[:, skeleton.parents[elbow]])
    local[:, shoulder] = quat.multiply(quat.inverse(rot[:, skeleton.parents[shoulder]]), upper)
    local[:, elbow] = quat.multiply(quat.inverse(between), fore)
    # The hand keeps the way it is turned, so that palms stay as recorded.
    carried = quat.multiply(swing, quat.multiply(bend, rot[:, skeleton.parents[wrist]]))
    local[:, wrist] = quat.multiply(quat.inverse(carried), rot[:, wrist])
