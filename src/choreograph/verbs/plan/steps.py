"""Steps: what happens in a clip from one landing of a foot to the next, and between moments of standing.

A step is told by its events. At each there is a frame on the floor, that of the foot which just landed, or of both feet
where they stand; what a step does is where its last frame lies as seen from its first.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from choreograph.base.arrays import Flags, Floats
from choreograph.dynamics.torques import TorqueModel
from choreograph.motion import body_points as points
from choreograph.motion.bend import low_pass
from choreograph.motion.body_points import PointBody
from choreograph.motion.clip import Clip
from choreograph.motion.contacts import detect_contacts, runs

LEFT, RIGHT, STAND = 0, 1, 2
"""Kinds of events: the left foot lands, the right one does, both stand."""
RATE_HZ = 60.0
"""Rate at which clips are looked at, about: every second frame of 120 Hz."""
_STAND_S, _STAND_M_S = 0.3, 0.25
"""Feet that stand for so long under hips slower than this make a stand."""
_SETTLED_S = 0.15
"""How far inside a stand its events lie."""
_BOTH_S = 0.1
"""Landings nearer to each other than this are one, of both feet; the later one counts."""
_GAP_S, _SHORT_S = 0.1, 0.06
"""Shorter gaps between contacts of a foot, and shorter contacts, are noise."""
_PHASE_S = 0.04
"""Shorter phases of contact are counted to the one before."""
LONGEST_S = 8.0
"""Longer stretches between events are no steps."""
_CALM_S = 0.025
"""Width of the low-pass before accelerations are taken."""
_STILL_M_S = 0.1
"""Speed at which a foot says half as much about where it stands as one at rest."""


@dataclass(frozen=True, eq=False)
class Event:
    """A moment in a clip at which a step can end and another begin."""

    frame: int
    """At the rate that the track is looked at."""
    kind: int
    place: Floats
    """Frame on the floor as yaw, x, z."""


@dataclass(frozen=True, eq=False)
class StepTrack:
    """A clip as plans look at it, every `stride`th frame."""

    clip: int
    """Its number in the graph."""
    stride: int
    fps: float
    points: Floats
    """(F, POINTS, 3), metres."""
    velocity: Floats
    """(F, POSED, 3), metres per second."""
    effort: Floats
    """Mean square acceleration of the posed points, (F,), m²/s⁴."""
    torque: Floats
    """Sum of the squares of the joints' torques, (F,), N²·m²; 0 where they are not known."""
    facing: Floats
    """(F,), radians."""
    planted: Flags
    """Whether the left and the right foot stand, (F, 2)."""
    events: tuple[Event, ...]


def read_track(clip: Clip, number: int, body: PointBody, mechanics: TorqueModel | None = None) -> StepTrack:
    """What plans need to know of a clip.

    Args:
        clip: With feet that are known.
        number: Of the clip in its graph.
        body: The skeleton's.
        mechanics: What its torques are found with, if they are wanted.
    """
    stride = max(1, round(clip.fps / RATE_HZ))
    fps = clip.fps / stride
    every = body.points(clip, stride)
    contacts = (detect_contacts(clip) if clip.contacts is None else clip.contacts)[::stride]
    planted = _planted(clip, contacts, fps)
    posed = every[:, : points.POSED]
    flat = low_pass(posed.reshape(len(posed), -1), _CALM_S * fps).reshape(posed.shape)
    if len(flat) < 3:
        velocity, accel = np.zeros_like(flat), np.zeros_like(flat)
    else:
        velocity = np.asarray(np.gradient(flat, 1 / fps, axis=0))
        accel = np.asarray(np.gradient(velocity, 1 / fps, axis=0))
    facing = clip.facing()[::stride]
    effort = np.asarray((accel**2).sum(axis=2).mean(axis=1))
    events = _events(every, velocity, planted, facing, fps)
    torque = np.zeros(len(effort)) if mechanics is None else mechanics.squares(clip)[::stride]
    return StepTrack(number, stride, fps, every, velocity, effort, torque, facing, planted, tuple(events))


def _planted(clip: Clip, contacts: Flags, fps: float) -> Flags:
    """Whether each foot stands, heel or toe, without what is too short to be true, (F, 2)."""
    skeleton = clip.skeleton
    out = np.zeros((len(contacts), 2), bool)
    for side, name in enumerate(("left", "right")):
        joints = [skeleton.find(f"{name}_foot"), skeleton.find(f"{name}_toe")]
        columns = [skeleton.feet.index(joint) for joint in joints if joint is not None]
        out[:, side] = contacts[:, columns].any(axis=1)
        for start, stop in runs(~out[:, side]):
            if start > 0 and stop < len(out) and stop - start < _GAP_S * fps:
                out[start:stop, side] = True
        for start, stop in runs(out[:, side]):
            if start > 0 and stop < len(out) and stop - start < _SHORT_S * fps:
                out[start:stop, side] = False
    return out


def _events(every: Floats, velocity: Floats, planted: Flags, facing: Floats, fps: float) -> list[Event]:
    events: list[Event] = []
    for side in (LEFT, RIGHT):
        for start, stop in runs(planted[:, side]):
            if start > 0:
                place = foot_frame(every, velocity, facing, side, start, stop)
                events.append(Event(start, side, place))
    events.sort(key=lambda event: event.frame)
    later = [event.frame for event in events[1:]] + [10**9]
    landings = [event for event, then in zip(events, later, strict=False) if then - event.frame >= _BOTH_S * fps]
    return sorted([*landings, *_stands(every, velocity, planted, facing, fps)], key=lambda event: event.frame)


def _stands(every: Floats, velocity: Floats, planted: Flags, facing: Floats, fps: float) -> list[Event]:
    speed = np.linalg.norm(velocity[:, points.HIPS, :][:, [0, 2]], axis=1)
    still = planted.all(axis=1) & (speed < _STAND_M_S)
    stands = []
    for start, stop in runs(still):
        if stop - start < _STAND_S * fps:
            continue
        inside = round(_SETTLED_S * fps)
        moments = {start + inside, stop - 1 - inside} if stop - start > 1.2 * fps else {(start + stop) // 2}
        for moment in sorted(moments):
            frames = []
            for side in (LEFT, RIGHT):
                low, high = next((a, b) for a, b in runs(planted[:, side]) if a <= moment < b)
                frames.append(foot_frame(every, velocity, facing, side, max(low, start), min(high, stop)))
            heading = np.angle(np.exp(1j * frames[0][0]) + np.exp(1j * frames[1][0]))
            stands.append(Event(int(moment), STAND, np.array([heading, *(frames[0] + frames[1])[1:] / 2])))
    return stands


def foot_frame(every: Floats, velocity: Floats, facing: Floats, side: int, start: int, stop: int) -> Floats:
    """Where a foot stands during frames [start, stop): yaw, x, z of its middle; slow moments count most."""
    spots = []
    for point in (points.ankle(side), points.ball(side)):
        trust = 1 / (np.sum(velocity[start:stop, point] ** 2, axis=1) + _STILL_M_S**2) ** 2
        spots.append(trust @ every[start:stop, point][:, [0, 2]] / trust.sum())
    ahead = spots[1] - spots[0]
    yaw = np.arctan2(ahead[0], ahead[1]) if np.hypot(*ahead) > 0.02 else facing[start]
    return np.array([yaw, *(spots[0] + spots[1]) / 2])


@dataclass(frozen=True)
class Step:
    """From one event of a clip to the next."""

    track: int
    """Number of its track."""
    start: Event
    stop: Event
    breaks: tuple[int, ...]
    """Frames at which contacts change, the first and last of the step included."""
    states: tuple[int, ...]
    """Which feet stand in each phase between: 1 for the left, 2 for the right, 3 for both."""

    @property
    def sort(self) -> tuple[int, ...]:
        """Steps of one sort can be blended: the same events, the same feet on the floor in the same order."""
        return (self.start.kind, self.stop.kind, *self.states)


def find_steps(tracks: list[StepTrack]) -> list[Step]:
    """The steps of all tracks, in order."""
    steps = []
    for number, track in enumerate(tracks):
        for start, stop in zip(track.events, track.events[1:], strict=False):
            if 2 <= stop.frame - start.frame <= LONGEST_S * track.fps:
                steps.append(make_step(track, number, start, stop))
    return steps


def make_step(track: StepTrack, number: int, start: Event, stop: Event) -> Step:
    """The step between two events of a track, cut into phases of contact."""
    states = track.planted[start.frame : stop.frame] @ np.array([1, 2])
    edges = np.flatnonzero(np.diff(states)) + 1
    breaks, modes = [start.frame], [int(states[0])]
    for edge, following in pairwise([*edges.tolist(), len(states)]):
        if following - edge < _PHASE_S * track.fps or int(states[edge]) == modes[-1]:
            continue
        if start.frame + edge - breaks[-1] < _PHASE_S * track.fps:
            modes[-1] = int(states[edge])
            continue
        breaks.append(start.frame + int(edge))
        modes.append(int(states[edge]))
    return Step(number, start, stop, (*breaks, stop.frame), tuple(modes))
