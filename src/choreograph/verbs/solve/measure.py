"""How near to what was asked a finished motion is, measured on the motion itself, at its own rate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from choreograph.base import quat
from choreograph.base.arrays import Complexes, Floats
from choreograph.finishing.body import TorsoTarget
from choreograph.motion.clip import Clip
from choreograph.motion.labels import matches_label
from choreograph.verbs.solve.constraints import LabelTarget, TorsoObstacle
from choreograph.verbs.solve.layout import floor_distance

Place = tuple[float, float, float]


@dataclass(frozen=True, eq=False)
class Track:
    """A motion as what constraints are about: where joints and torso are in each frame."""

    clip: Clip
    joints: Floats
    """(F, J, 3), metres."""
    facing: Floats
    """The torso's yaw, (F,), radians."""

    @classmethod
    def of(cls, clip: Clip) -> Track:
        """The track of a clip."""
        return cls(clip, clip.global_positions(), clip.facing())

    @property
    def torso(self) -> Complexes:
        """Where the torso is on the floor, x + iz, (F,)."""
        hips = self.joints[:, self.clip.skeleton.hips]
        return np.asarray(hips[:, 0] + 1j * hips[:, 2])

    @property
    def way(self) -> float:
        """How far the torso goes, metres."""
        return float(np.abs(np.diff(self.torso)).sum())

    def frame(self, at_s: float) -> int:
        """The frame nearest to a time."""
        return min(round(at_s * self.clip.fps), len(self.clip) - 1)

    def place(self, frame: int) -> Place:
        """Where the torso is in a frame, on the floor."""
        at = self.torso[frame]
        return round(float(at.real), 3), 0.0, round(float(at.imag), 3)

    def seen_from_torso(self, frames: Any) -> Floats:
        """Joints as they are to the torso's place on the floor and its facing, (N, J, 3)."""
        points, turn = self.joints[frames], np.exp(1j * self.facing[frames])[:, None]
        floor = (points[..., 0] + 1j * points[..., 2] - self.torso[frames][:, None]) * turn
        return np.stack([floor.real, points[..., 1], floor.imag], axis=-1)


def body_gap(track: Track, target: TorsoTarget) -> tuple[float, float]:
    """How far the torso is from where it should be, metres, and how far turned, radians; 0 where any facing does."""
    frame = track.frame(target.at_s)
    metres = float(abs(track.torso[frame] - complex(*target.position)))
    if target.facing is None:
        return metres, 0.0
    return metres, float(np.angle(np.exp(1j * (track.facing[frame] - target.facing))))


def joint_at(track: Track, name: str, at_s: float) -> Floats:
    """Where a joint, by its name or role, is at a time, (3,), metres."""
    return np.asarray(track.joints[track.frame(at_s), _joint(track, name)])


def joint_velocity(track: Track, name: str, at_s: float, over_s: float) -> Floats:
    """How a joint moves at a time, taken over so long before and behind it, (3,), metres per second."""
    frame, half = track.frame(at_s), max(1, round(over_s * track.clip.fps))
    first, last = max(frame - half, 0), min(frame + half, len(track.clip) - 1)
    gone = track.joints[last, _joint(track, name)] - track.joints[first, _joint(track, name)]
    return np.asarray(gone * track.clip.fps / max(last - first, 1))


def pose_gaps(track: Track, recorded: Clip, at_s: float, frame: int, lasts_s: float = 0.0) -> Floats:
    """How far joints are from where a recording has them, as seen from the torso, (N, J), metres.

    Args:
        track: The motion.
        recorded: The recording.
        at_s: When the recording's frame should be shown.
        frame: Which, at the recording's rate.
        lasts_s: How long it should go on from there.
    """
    first, last = track.frame(at_s), track.frame(at_s + lasts_s)
    shown = np.arange(first, last + 1)
    own = frame + np.round((shown - first) * (recorded.fps / track.clip.fps)).astype(int)
    own = np.minimum(own, len(recorded) - 1)
    other = Track.of(recorded[int(own[0]) : int(own[-1]) + 1])
    gaps = track.seen_from_torso(shown) - other.seen_from_torso(own - own[0])
    return np.asarray(np.linalg.norm(gaps, axis=-1))


def pose_turns(track: Track, recorded: Clip, at_s: float, frame: int) -> Floats:
    """How far joints but the root are turned from where a recording has them, (J - 1,), radians."""
    now = track.clip.local_rot[track.frame(at_s), 1:]
    turned = quat.multiply(quat.inverse(recorded.local_rot[frame, 1:]), now)
    return np.asarray(np.linalg.norm(quat.as_rotvec(turned), axis=-1))


def seconds_without(track: Track, target: LabelTarget) -> float:
    """How long the motion has not the label that it should have, seconds."""
    mask = np.zeros(len(track.clip), bool)
    for label in track.clip.labels:
        if matches_label(target.label, label.text):
            mask[label.start : label.stop] = True
    first, last = track.frame(target.start_s), track.frame(target.stop_s)
    return float((~mask[first : last + 1]).mean() * (target.stop_s - target.start_s))


def least_clearance(track: Track, obstacle: TorsoObstacle) -> tuple[float, int]:
    """How near to an obstacle the torso comes, metres, negative inside, and in which frame."""
    gaps = floor_distance(track.torso, obstacle)
    frame = int(np.argmin(gaps))
    return float(gaps[frame]), frame


def _joint(track: Track, name: str) -> int:
    names = track.clip.skeleton.names
    return names.index(name) if name in names else track.clip.skeleton.need(name)
