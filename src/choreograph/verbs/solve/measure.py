"""How near to its goals a finished motion is, measured on the motion itself, at its own rate."""

from __future__ import annotations

from typing import Any

import numpy as np

from choreograph.base import quat
from choreograph.base.arrays import Complexes, Floats
from choreograph.finishing.body import RootTarget
from choreograph.goals.kinds import MeasuredMotion
from choreograph.goals.model import LabelGoal
from choreograph.motion.clip import Clip
from choreograph.scene.model import Obstacle


class TorsoTrack(MeasuredMotion):
    """A motion as goals see it, with its torso on the floor."""

    @property
    def torso(self) -> Complexes:
        """Where the torso is on the floor, x + iz, (F,)."""
        hips = self.positions[:, self.clip.skeleton.hips]
        return np.asarray(hips[:, 0] + 1j * hips[:, 2])

    @property
    def way(self) -> float:
        """How far the torso goes, metres."""
        return float(np.abs(np.diff(self.torso)).sum())

    def frame(self, at_s: float | None) -> int:
        """The frame nearest to a time."""
        return min(round((at_s or 0.0) * self.clip.fps), len(self.clip) - 1)

    def place(self, frame: int) -> tuple[float, float, float]:
        """Where the torso is in a frame, on the floor."""
        at = self.torso[frame]
        return round(float(at.real), 3), 0.0, round(float(at.imag), 3)

    def seen_from_torso(self, frames: Any) -> Floats:
        """Joints as they are to the torso's place on the floor and its facing, (N, J, 3)."""
        points, turn = self.positions[frames], np.exp(1j * self.facing[frames])[:, None]
        floor = (points[..., 0] + 1j * points[..., 2] - self.torso[frames][:, None]) * turn
        return np.stack([floor.real, points[..., 1], floor.imag], axis=-1)


def body_gap(track: TorsoTrack, target: RootTarget) -> tuple[float, float]:
    """How far the torso is from where it should be, metres, and how far turned, radians; 0 where any facing does."""
    frame = track.frame(target.at_s)
    metres = float(abs(track.torso[frame] - complex(*target.position)))
    if target.facing is None:
        return metres, 0.0
    return metres, float(np.angle(np.exp(1j * (track.facing[frame] - target.facing))))


def joint_at(track: TorsoTrack, joint: int, at_s: float | None) -> Floats:
    """Where a joint is at a time, (3,), metres."""
    return np.asarray(track.positions[track.frame(at_s), joint])


def joint_velocity(track: TorsoTrack, joint: int, at_s: float | None, over_s: float) -> Floats:
    """How a joint moves at a time, taken over so long before and after it, (3,), metres per second."""
    frame, half = track.frame(at_s), max(1, round(over_s * track.clip.fps))
    first, last = max(frame - half, 0), min(frame + half, len(track.clip) - 1)
    gone = track.positions[last, joint] - track.positions[first, joint]
    return np.asarray(gone * track.clip.fps / max(last - first, 1))


def pose_gaps(track: TorsoTrack, recorded: Clip, frame: int, span: tuple[float, float]) -> Floats:
    """How far joints are from where a recording has them, as seen from the torso, (N, J), metres.

    Args:
        track: The motion.
        recorded: The recording.
        frame: Which of its frames should be shown first, at its rate.
        span: From when to when it should be shown.
    """
    first, last = (track.frame(at_s) for at_s in span)
    frames = np.arange(first, last + 1)
    own = frame + np.round((frames - first) * (recorded.fps / track.clip.fps)).astype(int)
    own = np.minimum(own, len(recorded) - 1)
    other = TorsoTrack(recorded[int(own[0]) : int(own[-1]) + 1])
    gaps = track.seen_from_torso(frames) - other.seen_from_torso(own - own[0])
    return np.asarray(np.linalg.norm(gaps, axis=-1))


def pose_turns(track: TorsoTrack, recorded: Clip, at_s: float, frame: int) -> Floats:
    """How far joints but the root are turned from where a recording has them, (J - 1,), radians."""
    now = track.clip.local_rot[track.frame(at_s), 1:]
    turned = quat.multiply(quat.inverse(recorded.local_rot[frame, 1:]), now)
    return np.asarray(np.linalg.norm(quat.as_rotvec(turned), axis=-1))


def seconds_without(track: TorsoTrack, goal: LabelGoal) -> float:
    """How long the motion has not the label that it should have, seconds."""
    start, end = goal.span
    labelled = track.labelled(goal.label)[track.frame(start) : track.frame(end) + 1]
    return float((~labelled).mean() * (end - start))


def least_clearance(track: TorsoTrack, obstacle: Obstacle) -> tuple[float, int]:
    """How near to an obstacle the torso comes, metres, negative inside, and in which frame."""
    torso = track.torso
    gaps = obstacle.distance(np.stack([torso.real, torso.imag], axis=1))
    frame = int(np.argmin(gaps))
    return float(gaps[frame]), frame
