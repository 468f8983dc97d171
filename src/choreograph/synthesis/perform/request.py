"""What can be asked of a performance: the control, and how it is interpreted."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from choreograph.errors import RequestError
from choreograph.motion.clip import Clip
from choreograph.motion.resample import sample_positions, sample_times
from choreograph.synthesis.perform.examples import SegmentDatabase
from choreograph.synthesis.perform.points import BODY_TRACK_HALF_M, TRACK, TRACK_HALF_M, find_points
from choreograph.synthesis.perform.trajectory import Trajectory

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

TOO_FAST = 1.5
"""How many times faster than any example a trajectory may be before it is refused."""


@dataclass(frozen=True)
class SegmentConstraint:
    """That at some time one of some segments is played."""

    time_s: float
    segments: tuple[int, ...]


@dataclass(frozen=True)
class PerformSettings:
    """How a control is interpreted."""

    rate_hz: float = 7.5
    """Steps per second of the search over all segments."""
    refine_hz: float = 30.0
    """Steps per second to which the found segments' times are then made exact; about a multiple of `rate_hz`."""
    stretch_s: float = 0.15
    """Seconds by which a segment may be played shorter or longer."""
    continuity_s: float = 0.15
    """Price of a squared metre between the end of one target and the start of the next (k), against squared metres
    between controls, each lasting a second."""
    beam_m2_s: float | None = None
    """Sequences that are so much worse than the best one of their length are given up; None is exact."""
    constraints: tuple[SegmentConstraint, ...] = field(default=())
    """Segments that have to be played at given times."""

    def __post_init__(self) -> None:
        for name, low, high in (
            ("rate_hz", 1, 240),
            ("refine_hz", 1, 240),
            ("stretch_s", 0, 10),
            ("continuity_s", 0, 1e6),
        ):
            value = getattr(self, name)
            if not (np.isfinite(value) and low <= value <= high):
                raise RequestError(f"{name} is {value}; it must be between {low:g} and {high:g}")
        if self.beam_m2_s is not None and not self.beam_m2_s > 0:
            raise RequestError(f"the beam is positive, or None for an exact answer, not {self.beam_m2_s}")

    @property
    def fine(self) -> int:
        """Steps of refinement in one step of the search."""
        return max(1, round(self.refine_hz / self.rate_hz))


def usual_settings(base: SegmentDatabase) -> PerformSettings:
    """The settings that suit a base: those for dancers, or those for walkers led by a track (Hsu 2004, section 6).

    A track says nothing about which foot comes next, so there fitting together counts for more.
    """
    if base.control_roles == TRACK:
        return PerformSettings(rate_hz=10.0, stretch_s=0.2, continuity_s=0.8)
    return PerformSettings()


@dataclass(frozen=True, eq=False)
class Control:
    """What is to be answered."""

    points: Array
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

    def sampled(self, rate_hz: float) -> tuple[Array, Flags]:
        """Points at another rate, (N, P, 3), zero where nothing is known, and where something is, (N,)."""
        return self.at(sample_times(len(self.points), self.fps, rate_hz))

    def at(self, frames: Array) -> tuple[Array, Flags]:
        """The same at given places between frames, (N,)."""
        known = np.asarray(np.isfinite(self.points).all(axis=(1, 2)))
        points = sample_positions(np.where(known[:, None, None], self.points, 0.0), frames)
        sure = sample_positions(known.astype(float), frames) > 1 - 1e-9
        return np.where(sure[:, None, None], points, 0.0), sure


def control_from_clip(clip: Clip, base: SegmentDatabase) -> Control:
    """A body as the control, by the points that the base was built with.

    Raises:
        RequestError: If the body lacks a joint with one of the roles.
    """
    missing = [role for role in base.control_roles if role != "track" and clip.skeleton.find(role) is None]
    if missing:
        raise RequestError(
            f"{clip.name!r} has no joint known to be the {', '.join(missing)}, which the examples are led by; "
            f"name it with --role {missing[0]}=JOINT. Joints are: {', '.join(clip.skeleton.names)}"
        )
    points = find_points(clip, base.control_roles)
    if base.control_roles == TRACK:
        return Control(points, clip.fps, clip.name, track_half_m=BODY_TRACK_HALF_M)
    return Control(points, clip.fps, clip.name, clip)


def control_from_trajectory(trajectory: Trajectory, base: SegmentDatabase) -> Control:
    """A performed way over the floor as the control.

    Raises:
        RequestError: If the examples are not led by tracks, or the trajectory is much too fast for them.
    """
    if base.control_roles != TRACK:
        raise RequestError("a trajectory can lead examples whose control is a track; these are led by a body")
    fastest = float(trajectory.smoothed(0.15).speeds.max())
    if fastest > TOO_FAST * base.fastest:
        raise RequestError(
            f"{trajectory.name!r} goes at up to {fastest:.1f} m/s, but the examples at {base.fastest:.1f} m/s at most; "
            "perform it more slowly, or stretch its times"
        )
    return Control(trajectory.points(), trajectory.fps, trajectory.name)
