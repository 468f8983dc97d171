"""A clip as rows of numbers, and back: exponential maps about the mean pose, height, and how the root travels.

Where on the floor a motion happens is not in the rows: they have the root's velocity as the body sees it, and its yaw
rate. The places themselves are kept beside them, as x, z and yaw for each frame.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from choreograph.base import quat
from choreograph.base.arrays import Floats, Indices, Ints
from choreograph.base.errors import RequestError
from choreograph.motion.clip import Clip
from choreograph.motion.resample import sample_times
from choreograph.motion.skeleton import Skeleton

TRAVEL = 4
"""Columns behind the rotations: height, velocity to the left and ahead, yaw rate."""
_MOVES_RAD = 1e-3
"""Spread of a joint's rotation from which on it is a column of its own."""
_OWN_M = 0.11
"""What a turn of any joint counts beside how far it moves others: hands and heads shall turn as recorded too."""
_VELOCITY_S, _YAW_RATE_S = 0.25, 0.5
"""Seconds over which a velocity counts as much as the way that it makes, and a yaw rate as the turn."""

BEYOND_RAD, BEYOND_SHARE = 0.05, 0.1
"""By how much joints may turn farther than in the recordings: radians, and a share of how far they turn there."""


class EncodedMotion(NamedTuple):
    """A motion as numbers."""

    rows: Floats
    """(F, k): rotation vectors about the mean pose, height in metres, velocity to the left and ahead in m/s, yaw rate
    in rad/s."""
    place: Floats
    """(F, 3): x, z in metres and yaw in radians, continuous."""


@dataclass(frozen=True, eq=False)
class Encoding:
    """How clips of one skeleton become rows."""

    skeleton: Skeleton
    rate_hz: float
    mean_rot: Floats
    """Mean rotation of each joint in its parent's frame, without the root's yaw, (J, 4)."""
    columns: Ints
    """First column of each joint's rotation vector, (J,); -1 for joints that never turn."""
    scale: Floats
    """What each column is multiplied by, (k,), so that all count by how far they move the body."""

    @property
    def width(self) -> int:
        """Number of columns, k."""
        return len(self.scale)

    def encode(self, clip: Clip) -> EncodedMotion:
        """A clip's rows and places, at the encoding's rate."""
        clip = clip.resampled(self.rate_hz)
        root, tilt, yaw = split_root(clip)
        rot = np.concatenate([tilt[:, None], clip.local_rot[:, 1:]], axis=1)
        vectors = quat.as_rotvec(quat.multiply(quat.inverse(self.mean_rot), rot))
        rows = np.zeros((len(clip), self.width))
        for joint in np.flatnonzero(self.columns >= 0):
            at = self.columns[joint]
            rows[:, at : at + 3] = vectors[:, joint]
        place = np.stack([root[:, 0], root[:, 2], yaw], axis=1)
        rows[:, -4], rows[:, -3:] = root[:, 1], velocities(place, clip.fps)
        return EncodedMotion(rows, place)

    def decode(self, track: EncodedMotion, name: str = "motion", rate_hz: float | None = None) -> Clip:
        """The clip of rows and places. Velocities are not needed: places say where it is.

        Args:
            track: Rows and places.
            name: Of the clip.
            rate_hz: Rate of the rows, if it is not the encoding's.
        """
        rows, place = track
        rot = np.array(np.broadcast_to(self.mean_rot, (len(rows), *self.mean_rot.shape)))
        for joint in np.flatnonzero(self.columns >= 0):
            at = self.columns[joint]
            rot[:, joint] = quat.multiply(self.mean_rot[joint], quat.from_rotvec(rows[:, at : at + 3]))
        rot[:, 0] = quat.multiply(quat.from_yaw(place[:, 2]), rot[:, 0])
        root = np.stack([place[:, 0], rows[:, -4], place[:, 1]], axis=1)
        return Clip(self.skeleton, rate_hz or self.rate_hz, root, quat.make_continuous(rot), name)


def velocities(place: Floats, rate_hz: float) -> Floats:
    """To the left, ahead and about the vertical, (F, 3), of places (F, 3), each until the next; the last goes on."""
    out = np.zeros_like(place)
    if len(place) > 1:
        x, z, turned = (np.diff(place, axis=0) * rate_hz).T
        cos, sin = np.cos(place[:-1, 2]), np.sin(place[:-1, 2])
        out[:-1] = np.stack([x * cos - z * sin, x * sin + z * cos, turned], axis=1)
        out[-1] = out[-2]
    return out


def split_root(clip: Clip) -> tuple[Floats, Floats, Floats]:
    """Root positions (F, 3), rotations without yaw (F, 4), and yaw (F,), continuous."""
    yaw = np.unwrap(clip.facing())
    return clip.root_pos, quat.multiply(quat.from_yaw(-yaw), clip.local_rot[:, 0]), yaw


def find_encoding(clips: Sequence[Clip], rate_hz: float) -> Encoding:
    """The encoding about the mean pose of clips.

    Args:
        clips: Of one skeleton.
        rate_hz: Frames per second of the rows.

    Raises:
        SkeletonMismatch: If the clips are of different skeletons.
        RequestError: If there are none.
    """
    if not clips:
        raise RequestError("there are no clips to learn from")
    skeleton = clips[0].skeleton
    for clip in clips[1:]:
        skeleton.check_matches(clip.skeleton, f"{clips[0].name!r} and {clip.name!r}")
    step = [clip._rows_at(_picked(clip, rate_hz), ()) for clip in clips]
    rot = np.concatenate(
        [np.concatenate([split_root(clip)[1][:, None], clip.local_rot[:, 1:]], axis=1) for clip in step]
    )
    mean = _mean_rotation(rot)
    vectors = quat.as_rotvec(quat.multiply(quat.inverse(mean), rot))
    moves = vectors.std(axis=0).max(axis=-1) > _MOVES_RAD
    moves[0] = True
    columns = np.full(len(skeleton), -1, np.int64)
    columns[moves] = 3 * np.arange(moves.sum())
    return Encoding(skeleton, float(rate_hz), mean, columns, _scales(skeleton, mean, columns))


def row_limits(rows: Floats) -> Floats:
    """How far joints turn and how high the root is in rows (F, k), and a little farther, (2, k)."""
    low, high = rows.min(axis=0), rows.max(axis=0)
    room = BEYOND_RAD + BEYOND_SHARE * (high - low)
    return np.stack([low - room, high + room])


def _picked(clip: Clip, rate_hz: float) -> Indices:
    return np.rint(sample_times(len(clip), clip.fps, min(rate_hz, clip.fps))).astype(np.intp)


def _mean_rotation(rot: Floats) -> Floats:
    """Mean of rotations over the first axis, (J, 4): the direction of most of their outer products' sum."""
    products = np.einsum("fja,fjb->jab", rot, rot)
    mean = np.linalg.eigh(products)[1][..., -1]
    return np.asarray(mean * np.where(mean[:, :1] < 0, -1.0, 1.0))


def _scales(skeleton: Skeleton, mean: Floats, columns: Ints) -> Floats:
    """How far the body's joints go, as root of the mean square, per unit of each column."""
    from choreograph.motion.kinematics import forward

    pos = forward(np.zeros((1, 3)), mean[None], skeleton.offsets[None], skeleton.parents)[0][0]
    joints = len(skeleton)
    below = np.eye(joints, dtype=bool)
    for j in range(joints - 1, 0, -1):
        below[skeleton.parents[j]] |= below[j]
    scale = np.ones(int(columns.max()) + 3 + TRAVEL)
    for turning in np.flatnonzero(columns >= 0):
        j = int(turning)
        reach = np.linalg.norm(pos[below[j]] - pos[j], axis=1)
        # Two thirds of the lever on average over axes; a joint at a chain's end still turns the bone that it carries.
        lever = np.sqrt((2 / 3) * (reach**2).sum() / joints)
        scale[columns[j] : columns[j] + 3] = max(lever, 0.0)
    scale[:-TRAVEL] = np.hypot(scale[:-TRAVEL], _OWN_M)
    scale[-4], scale[-3:-1], scale[-1] = 1.0, _VELOCITY_S, _YAW_RATE_S * scale[columns[0]]
    return scale
