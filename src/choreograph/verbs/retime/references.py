"""What guides a retiming: motions whose timing is liked, parts of them, the motion's own timing, or a suggestion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from choreograph.base.arrays import Floats
from choreograph.base.errors import RequestError, SkeletonMismatch
from choreograph.base.progress import Progress, silent
from choreograph.motion.clip import Clip
from choreograph.motion.retarget import retarget
from choreograph.motion.skeleton import Skeleton
from choreograph.verbs.retime.features import find_poses, sample_track
from choreograph.verbs.retime.keys import FEWEST_FRAMES

_STILL_M_S = 0.02
"""Mean speed of the joints below which nothing moves: the tremble of a person who stands is more."""
_SPEED_M = 0.2
"""Metres of pose that a speed wrong by a factor of e counts as, in a suggestion."""


@dataclass(frozen=True)
class ReferencePart:
    """The frames [start, stop) of a motion, whose timing is liked."""

    clip: Clip
    start: int
    stop: int

    def cut(self) -> Clip:
        """These frames as a clip."""
        return self.clip[self.start : self.stop]


Reference = Clip | ReferencePart


def prepare_references(clip: Clip, references: Sequence[Reference], least_s: float) -> list[Clip]:
    """The clips that guide a retiming, on the motion's skeleton; the motion itself ("as recorded") where none is given.

    Args:
        clip: The motion to retime.
        references: Whole motions or parts of them; those of other bodies, or rigs, are retargeted.
        least_s: Seconds that a reference needs at least.

    Raises:
        RequestError: If a reference lacks limbs that the motion has, is too short, or never moves.
    """
    if not references:
        return [clip]
    clips = []
    for n, reference in enumerate(references):
        where = f"references[{n}]"
        one = reference.cut() if isinstance(reference, ReferencePart) else reference
        if len(one) < FEWEST_FRAMES or (len(one) - 1) / one.fps < least_s:
            raise RequestError(
                f"the reference {one.name!r} has {len(one)} frames, {one.seconds:.2f} s; it needs {FEWEST_FRAMES} and "
                f"{least_s:.2f} s at least",
                where=where,
            )
        one = _on_skeleton(one, clip.skeleton, where)
        if mean_speed(one) < _STILL_M_S:
            raise RequestError(
                f"the reference {one.name!r} never moves, so it has no timing; its joints go "
                f"{100 * mean_speed(one):.1f} cm/s on average. Give a motion, or none to keep the recorded timing",
                where=where,
            )
        clips.append(one)
    return clips


def _on_skeleton(clip: Clip, skeleton: Skeleton, where: str) -> Clip:
    if clip.skeleton.matches(skeleton):
        return clip
    # Limbs that the reference has not would stand still, and so tell a timing that nobody had.
    if not clip.skeleton.same_joints(skeleton) and not _limbs(skeleton) <= _limbs(clip.skeleton):
        try:
            skeleton.check_matches(clip.skeleton, f"the motion and the reference {clip.name!r}")
        except SkeletonMismatch as error:
            raise RequestError(f"{error}; a reference needs the motion's limbs", where=where) from None
    return retarget(clip, skeleton)


def _limbs(skeleton: Skeleton) -> set[str]:
    """Which of arms, legs and head a body has."""
    parts = ("upper_arm", "forearm", "upper_leg", "lower_leg", "foot")
    return {role for role in skeleton.roles if role.partition("_")[2] in parts or role == "head"}


def mean_speed(clip: Clip) -> float:
    """Mean speed of all joints, m/s."""
    if len(clip) < 2:
        return 0.0
    return float(np.linalg.norm(np.diff(clip.global_positions(), axis=0), axis=2).mean() * clip.fps)


# ------------------------------------------------------------------ suggestions


@dataclass(frozen=True)
class Suggestion:
    """A motion that may guide a retiming."""

    index: int
    """Which of the clips it is."""
    name: str
    distance_m: float
    """How far its poses, their mean and spread, are from the motion's, metres per joint, with speeds counted in."""
    speed_m_s: float
    """Mean speed of its joints."""


def suggest_references(
    clip: Clip, seconds: float, clips: Sequence[Clip], *, count: int = 3, progress: Progress | None = None
) -> list[Suggestion]:
    """The clips most like the motion that move as fast as it is to move, best first.

    Compared are the mean and the spread of each joint in the floor frame, and the mean speed, which is wanted in the
    proportion of the lengths. Clips with other joints, the motion itself and motionless ones are left out.

    Args:
        clip: The motion to retime.
        seconds: Its length afterwards.
        clips: What to choose from: a folder's clips, or `graph.clips`.
        count: How many are wanted.
        progress: Hears how many clips are done.
    """
    if not (np.isfinite(seconds) and seconds > 0):
        raise RequestError(f"the length is {seconds} s; it must be a positive number", where="duration_s")
    report, scores = progress or silent, []
    wanted, mean, spread = mean_speed(clip) * clip.seconds / seconds, *_pose_statistics(clip)
    for index, other in enumerate(clips):
        report("comparing references", index, len(clips))
        if other is clip or not other.skeleton.same_joints(clip.skeleton) or len(other) < FEWEST_FRAMES:
            continue
        if len(other) == len(clip) and np.array_equal(other.local_rot, clip.local_rot):
            continue
        speed = mean_speed(other)
        if speed < _STILL_M_S:
            continue
        other_mean, other_spread = _pose_statistics(other)
        scale = clip.skeleton.height / max(other.skeleton.height, 1e-6)
        poses = np.concatenate([other_mean * scale - mean, other_spread * scale - spread])
        apart = float(np.sqrt((poses**2).sum() / len(clip.skeleton)))
        pace = abs(np.log(speed * scale / max(wanted, 1e-6)))
        scores.append(Suggestion(index, other.name, apart + _SPEED_M * float(pace), speed))
    report("comparing references", len(clips), len(clips))
    return sorted(scores, key=lambda one: (one.distance_m, one.index))[:count]


def _pose_statistics(clip: Clip) -> tuple[Floats, Floats]:
    """Mean and standard deviation of the joints' places in the floor frame, (3 J,) each, metres."""
    poses = find_poses(sample_track(clip, clip.fps), np.arange(0, len(clip), max(1, round(clip.fps / 30))))
    return poses.mean(axis=0), poses.std(axis=0)
