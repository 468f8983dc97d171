"""Motion handed out in batches, of which each is worked out anew from a little before where the last one ended.

A batch that turns out otherwise than was expected begins where the last one ended, and what there is to make up for is
faded out. Feet wait with that until they swing: while one stands, it stays where it was shown to stand.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from choreograph.base import quat
from choreograph.base.arrays import Flags, Floats, seal
from choreograph.finishing.footskate import Leg, find_legs, low_pass
from choreograph.motion import ik
from choreograph.motion.clip import Clip
from choreograph.motion.contacts import runs

_FADE_S = 0.3
"""Seconds over which a correction of what is to come is faded in."""
_SWING_S = 0.15
"""A foot that leaves the floor for less has no time to be led elsewhere."""
_TURN_RAD = 0.35
"""A standing foot is kept turned away from how its leg comes to be by no more than this: ankles turn no farther."""
_ROOT_S = 0.1
"""Width (standard deviation) of the low-pass through which the root follows its feet."""
_ALONG = np.array([1.0, 0.0, 1.0])


class Inertialisation:
    """Lets each batch begin where the last one promised that it would, so that no joint jumps and no foot slides."""

    def __init__(self, *, feet: bool) -> None:
        """Begin a motion.

        Args:
            feet: Whether standing feet are kept where they are, which they have to be known for.
        """
        self._feet = feet
        self._promised: tuple[int, Clip] | None = None

    def expect(self, number: int, clip: Clip) -> None:
        """Let the next batch begin like this, which was to be shown from frame `number` on."""
        self._promised = (number, clip[: fade_frames(clip.fps)])

    def take(self, number: int, clip: Clip, count: int) -> Clip:
        """The batch as it is to be shown: what is to be made up for at its start is faded out.

        Args:
            number: Of the clip's first frame, the next to be shown.
            clip: What is to be shown and what is expected after it.
            count: Frames to show.
        """
        if self._promised is not None and self._promised[0] == number:
            clip = inertialise(self._promised[1], clip, feet=self._feet)
        # What comes after the last frame, as it looks now: the next batch must begin like that.
        rest = slice(count, count + fade_frames(clip.fps))
        self._promised = (number + count, clip[rest]) if count < len(clip) else None
        return clip[:count]


def fade_frames(fps: float) -> int:
    """How many frames of what was expected count."""
    return round(_FADE_S * fps) + 1


def inertialise(before: Clip, clip: Clip, *, feet: bool) -> Clip:
    """One motion led over into another, which begins in the same frame.

    Args:
        before: What it begins like.
        clip: What it goes over to, within a third of a second; its plants say when feet stand.
        feet: Whether feet that stand stay, until they swing, at the place where they are in the first frame of
            `before`, heading as they do there.
    """
    at = np.minimum(np.arange(len(clip)), len(before) - 1)
    fade = _fade(np.arange(len(clip)) / max(1.0, min(_FADE_S * clip.fps, len(before))))
    turn = quat.as_rotvec(quat.multiply(before.local_rot[at], quat.inverse(clip.local_rot)))
    rot = quat.make_continuous(quat.multiply(quat.from_rotvec(fade[:, None, None] * turn), clip.local_rot))
    shift = np.zeros_like(clip.root_pos)
    wanted = []
    if feet and clip.contacts is not None:
        wanted = [(leg, _lead_foot(leg, before, clip, fade)) for leg in find_legs(clip.skeleton)]
        # The root goes with its feet, or legs would be drawn out.
        shift = np.mean([foot.shift for _, foot in wanted], axis=0) * _ALONG
        shift = low_pass(shift, _ROOT_S * clip.fps)
    root = clip.root_pos + shift + fade[:, None] * (before.root_pos[at] - clip.root_pos - shift)
    faded = clip.with_frames(seal(root), seal(rot))
    local = np.array(rot)
    for leg, foot in wanted:
        _reach(leg, faded, foot, local)
    return clip.with_frames(faded.root_pos, seal(quat.make_continuous(local)))


def _fade(t: Floats) -> Floats:
    """From 1 to 0 as t goes from 0 to 1, at rest at both ends."""
    t = np.clip(t, 0.0, 1.0)
    return np.asarray(1 - t * t * (3 - 2 * t))


class _Foot(NamedTuple):
    """What is wanted of a foot."""

    target: Floats
    """Where the ankle is to be, (F, 3), metres."""
    rot: Floats
    """How it is turned in the world, (F, 4)."""
    shift: Floats
    """How far what it stands on is moved, (F, 3)."""


def _lead_foot(leg: Leg, before: Clip, clip: Clip, fade: Floats) -> _Foot:
    assert clip.contacts is not None
    columns = [leg.heel_column] + ([] if leg.toe is None else [leg.toe_column])
    leaves, late = _when_it_swings(np.asarray(clip.contacts[:, columns].any(axis=1)), clip.fps)
    # What stands must stay, so the foot is turned about that; its height and tilt need not wait.
    pivot = leg.toe if leg.toe is not None and clip.contacts[0, leg.toe_column] else leg.ankle
    ankle, path, rot = clip.global_positions()[:, leg.ankle], clip.global_positions()[:, pivot], clip.global_rotations()
    at = np.arange(len(clip))
    # A foot that swings is led over from one way to the other; one that stands is moved as a whole.
    now = at if leaves == 0 else np.zeros_like(at)
    then = np.minimum(now, len(before) - 1)
    off = before.global_positions()[then, pivot] - path[now]
    turn = quat.multiply(before.global_rotations()[then, leg.ankle], quat.inverse(rot[now, leg.ankle]))
    yaw = np.clip(quat.yaw_of(turn), -_TURN_RAD, _TURN_RAD)
    tilt = quat.as_rotvec(quat.multiply(quat.from_yaw(-yaw), turn))
    turned = quat.multiply(quat.from_yaw(late * yaw), quat.from_rotvec(fade[:, None] * tilt))
    went = path[np.minimum(at, leaves)] - path[0]
    shift = late[:, None] * (off + quat.rotate(quat.from_yaw(yaw), went) - went)
    shift[:, 1] = fade * off[:, 1]
    target = path + shift + quat.rotate(turned, ankle - path)
    return _Foot(target, quat.multiply(turned, rot[:, leg.ankle]), shift)


def _when_it_swings(stands: Flags, fps: float) -> tuple[int, Floats]:
    """The frame in which a foot next leaves the floor for long enough, and a fade that begins there, (F,)."""
    at = np.arange(len(stands))
    for start, stop in runs(~stands):
        if stop == len(stands) or stop - start >= _SWING_S * fps:
            length = _FADE_S * fps if stop == len(stands) else min(_FADE_S * fps, stop - start)
            return start, _fade((at - start) / max(1.0, length))
    return len(stands), np.ones(len(stands))


def _reach(leg: Leg, clip: Clip, foot: _Foot, local: Floats) -> None:
    """Turn the leg so that its foot is where and as it is wanted; `local` is changed."""
    pos, rot, parents = clip.global_positions(), clip.global_rotations(), clip.skeleton.parents
    joints = pos[:, leg.hip], pos[:, leg.knee], pos[:, leg.ankle]
    turns = ik.solve_limb(*joints, ik.hinge_axes(*joints, rot[:, leg.hip]), foot.target)
    ik.write_limb(local, rot, parents, (leg.hip, leg.knee, leg.ankle), turns, foot.rot)
