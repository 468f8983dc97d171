"""What leads: the points of a body or of a way over the floor, frame by frame."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from choreograph.base.arrays import Flags, Floats
from choreograph.base.errors import RequestError
from choreograph.features.points import BODY_TRACK_HALF_M, TRACK, TRACK_HALF_M, find_points
from choreograph.motion.clip import Clip
from choreograph.motion.resample import sample_positions, sample_times
from choreograph.verbs.perform.examples import SegmentDatabase
from choreograph.verbs.perform.trajectory import Trajectory

TOO_FAST = 1.5
"""How many times faster than any example a trajectory may be before it is refused."""
PEAK_S = 0.15
"""Seconds over which speeds are smoothed before they are held against the examples'."""
_SAME_M = 0.002
"""Points nearer than this are the same in two files: formats round."""


@dataclass(frozen=True, eq=False)
class Control:
    """What is to be answered."""

    points: Floats
    """(F, P, 3), metres; rows that are not finite are gaps."""
    fps: float
    name: str = "control"
    leader: Clip | None = None
    """The body whose points those are, if it is one."""
    track_half_m: float = TRACK_HALF_M
    """How far from their middle the points of a track are set, in the control and in the examples."""

    @property
    def seconds(self) -> float:
        """From the first frame to the last."""
        return (len(self.points) - 1) / self.fps

    def sampled(self, rate_hz: float) -> tuple[Floats, Flags]:
        """Points at another rate, (N, P, 3), zero where nothing is known, and where something is, (N,)."""
        return self.at(sample_times(len(self.points), self.fps, rate_hz))

    def at(self, frames: Floats) -> tuple[Floats, Flags]:
        """The same at given places between frames, (N,)."""
        known = np.asarray(np.isfinite(self.points).all(axis=(1, 2)))
        points = sample_positions(np.where(known[:, None, None], self.points, 0.0), frames)
        sure = sample_positions(known.astype(float), frames) > 1 - 1e-9
        return np.where(sure[:, None, None], points, 0.0), sure


def control_from_clip(clip: Clip, database: SegmentDatabase) -> Control:
    """A body as the control, by the points that the database was built with.

    Raises:
        RequestError: If the body lacks a joint with one of the roles.
    """
    check_roles(clip, database)
    points = find_points(clip, database.control_roles)
    if database.control_roles == TRACK:
        return Control(points, clip.fps, clip.name, track_half_m=BODY_TRACK_HALF_M)
    return Control(points, clip.fps, clip.name, clip)


def check_roles(clip: Clip, database: SegmentDatabase) -> None:
    """Raise a RequestError if a leader lacks a joint with one of the control's roles."""
    missing = [role for role in database.control_roles if role != "track" and clip.skeleton.find(role) is None]
    if missing:
        raise RequestError(
            f"{clip.name!r} has no joint known to be the {', '.join(missing)}, which the examples are led by; "
            f"say which it is (with_roles), out of: {', '.join(clip.skeleton.names)}",
            where="leader",
        )


def control_from_trajectory(trajectory: Trajectory, database: SegmentDatabase, where: str = "trajectory") -> Control:
    """A performed way over the floor as the control.

    Args:
        trajectory: The way.
        database: The examples that shall answer it.
        where: Its place in the request, for errors.

    Raises:
        RequestError: If the examples are not led by tracks, or the trajectory is much too fast for them.
    """
    if database.control_roles != TRACK:
        raise RequestError("a trajectory can lead examples whose control is a track; these are led by a body")
    fastest = float(trajectory.smoothed(PEAK_S).speeds.max())
    if fastest > TOO_FAST * database.fastest:
        raise RequestError(
            f"{trajectory.name!r} goes at up to {fastest:.1f} m/s, but the examples at {database.fastest:.1f} m/s at "
            "most; perform it more slowly, or stretch its times",
            where=where,
        )
    return Control(trajectory.points(), trajectory.fps, trajectory.name)


def find_own(database: SegmentDatabase, control: Control) -> int | None:
    """The example whose control is the one given, or has it as a part; None if there is none.

    Somebody who leads and was recorded with an answer is no stranger to the examples: that answer is known.
    """
    points = control.points
    for number, known in enumerate(database.controls):
        shared = min(len(points), len(known))
        if known.shape[1:] != points.shape[1:] or not np.isclose(control.fps, database.fps, rtol=1e-6):
            continue
        for begin in np.flatnonzero(np.abs(known - points[0]).max(axis=(1, 2)) < _SAME_M):
            count = min(len(points), len(known) - int(begin))
            if 2 * count < shared:
                break
            if np.abs(known[begin : begin + count] - points[:count]).max() < _SAME_M:
                return number
    return None
