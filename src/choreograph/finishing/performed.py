"""From an sequence to motion: its pieces stretched, placed and blended, feet kept still and hands held."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from choreograph.errors import RequestError
from choreograph.finishing.footskate import CleanSettings, clean_feet
from choreograph.finishing.hand_contacts import (
    ExampleHandContacts,
    HandContacts,
    HandSettings,
    hold_hands,
    read_hand_contacts,
)
from choreograph.maths import quat
from choreograph.maths.floor import FloorTransform
from choreograph.motion.arrays import seal
from choreograph.motion.clip import Clip
from choreograph.motion.contacts import runs
from choreograph.motion.display import ShowsItself
from choreograph.motion.resample import sample_positions, sample_rotations
from choreograph.progress import Progress
from choreograph.synthesis.perform.examples import SegmentDatabase
from choreograph.synthesis.perform.placing import Piece
from choreograph.synthesis.perform.program import SegmentSequence

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

_FLIP_RAD_S = 30.0
"""Faster than any joint of a body turns; a pitcher's arm comes near it in the shoulder, no dancer does."""
_FLIP_S = 0.1
"""Seconds before and after a flip over which it is spread."""


@dataclass(frozen=True)
class PerformedSettings:
    """What is done to an sequence until it is motion to be shown."""

    blend_s: float = 0.3
    """Seconds over which one piece gives way to the next; never longer than half of the shorter one."""
    clean: bool = True
    """Whether feet are kept where they stand."""
    feet: CleanSettings = field(default_factory=CleanSettings)
    """How they are, if they are."""
    hold: bool = True
    """Whether hands that were held in the examples are brought together, where the control is a body."""
    hands: HandSettings = field(default_factory=HandSettings)

    def __post_init__(self) -> None:
        if not (np.isfinite(self.blend_s) and 0 <= self.blend_s <= 10):
            raise RequestError(f"blend_s is {self.blend_s}; it must be between 0 and 10")


@dataclass(frozen=True, eq=False)
class Performed(ShowsItself):
    """A finished performance."""

    clip: Clip
    raw: Clip
    """The motion before feet and hands were seen to."""
    holds: HandContacts | None
    """Which hands are held when; None where the control has no hands."""
    sequence: SegmentSequence


class _Side(NamedTuple):
    """Which recording each output frame shows, where in it, and where on the floor."""

    example: Ints
    frame: Array
    placement: FloorTransform


def finish_performance(
    found: SegmentSequence,
    settings: PerformedSettings | None = None,
    *,
    name: str = "performed",
    progress: Progress | None = None,
) -> Performed:
    """The motion that an sequence calls for, at the examples' rate, as long as the control.

    Args:
        found: Which segments, when and where.
        settings: How pieces are blended, feet cleaned and hands held.
        name: Of the motion.
        progress: Hears how far the work has come.
    """
    settings = settings or PerformedSettings()
    count = int(np.floor(found.control.seconds * found.base.fps + 1e-6)) + 1
    times = np.arange(count) / found.base.fps
    raw, clip, holds = make_motion(
        found.base, found.pieces, times, found.control.leader, settings, name=name, progress=progress
    )
    return Performed(clip, raw, holds, found)


def make_motion(
    base: SegmentDatabase,
    pieces: Sequence[Piece],
    times: Array,
    leader: Clip | None,
    settings: PerformedSettings,
    *,
    find: Callable[[int], HandContacts] | None = None,
    name: str = "performed",
    progress: Progress | None = None,
) -> tuple[Clip, Clip, HandContacts | None]:
    """The motion that pieces show, before feet and hands were seen to and after, and the hands that are held.

    Args:
        base: What the segments are of.
        pieces: Which ones, when and where, one after another.
        times: Of the frames, (F,), seconds, at the examples' rate.
        leader: The body whose hands can be held, in the same frames or from the same moment on; None if there is none.
        settings: How pieces are blended, feet cleaned and hands held.
        find: The holds of an example, by its number; looked for anew if None.
        name: Of the motion.
        progress: Hears how far the work has come.
    """
    now, then, share = _sides(base, pieces, times, settings.blend_s)
    raw = _blend(base, now, then, share, name)
    clip = clean_feet(raw, settings.feet, progress=progress) if settings.clean else raw
    holds = None
    if settings.hold and leader is not None:
        holds = read_hand_contacts(base, now.example, now.frame, find or ExampleHandContacts(base, settings.hands))
        clip, holds = hold_hands(clip, leader, holds, settings.hands)
    return raw, clip, holds


def shown_at(base: SegmentDatabase, pieces: Sequence[Piece], times: Array) -> tuple[Ints, Array]:
    """Which example is shown at each time, (F,), and the frame of it, (F,)."""
    now, _, _ = _sides(base, pieces, times, 0.0)
    return now.example, now.frame


def _sides(base: SegmentDatabase, pieces: Sequence[Piece], times: Array, blend_s: float) -> tuple[_Side, _Side, Array]:
    """For each frame the piece it is in, the neighbour that it is blended with, and that one's share."""
    starts, stops = (np.array([getattr(p, name) for p in pieces]) for name in ("start_s", "stop_s"))
    inside = np.clip(np.searchsorted(starts, times, side="right") - 1, 0, len(pieces) - 1)
    # Half of each boundary's blend, so short that no frame is in two blends.
    half = np.minimum(blend_s, np.minimum((stops - starts)[1:], (stops - starts)[:-1]) / 2) / 2
    half = np.maximum(np.concatenate([[0.0], half, [0.0]]), 1e-9)
    late = times - starts[inside]
    early = stops[inside] - times
    since, until = late < half[inside], early < half[inside + 1]
    other = np.clip(np.where(since, inside - 1, np.where(until, inside + 1, inside)), 0, len(pieces) - 1)
    way = np.where(since, 0.5 - 0.5 * late / half[inside], np.where(until, 0.5 - 0.5 * early / half[inside + 1], 0.0))
    way = np.where(other == inside, 0.0, np.clip(way, 0.0, 0.5))
    share = way**3 * (10 - 15 * way + 6 * way**2)

    def side(which: Ints) -> _Side:
        segment = np.array([p.segment for p in pieces])[which]
        pace = (base.stop - base.start)[segment] / (stops - starts)[which]
        frame = base.start[segment] + (times - starts[which]) * pace
        spots = np.array([(p.placement.yaw, p.placement.x, p.placement.z) for p in pieces])[which]
        return _Side(base.example[segment], frame, FloorTransform(*spots.T))

    return side(inside), side(other), share


def _blend(base: SegmentDatabase, now: _Side, then: _Side, share: Array, name: str) -> Clip:
    skeleton = base.examples[0].target.skeleton
    here_pos, here_rot = _read(base, now)
    there_pos, there_rot = _read(base, then)
    pos = here_pos + share[:, None] * (there_pos - here_pos)
    mixed = quat.slerp(here_rot, there_rot, np.broadcast_to(share[:, None], here_rot.shape[:2]))
    contacts = np.zeros((len(share), len(skeleton.feet)), bool)
    for number in np.unique(now.example):
        rows = np.flatnonzero(now.example == number)
        clip = base.examples[number].target
        assert clip.contacts is not None, "examples have their plants"
        contacts[rows] = clip.contacts[np.clip(np.rint(now.frame[rows]).astype(int), 0, len(clip) - 1)]
    rot = seal(repair_flips(quat.make_continuous(mixed), base.fps))
    return Clip(skeleton, base.fps, seal(pos), rot, name=name, contacts=contacts)


def repair_flips(local_rot: Array, fps: float) -> Array:
    """Rotations (F, J, 4) in which joints that turn faster than anyone can do so over a fifth of a second instead.

    Recorded hands and thumbs now and then flip by half a turn from one frame to the next.
    """
    out = np.array(local_rot)
    turn = np.linalg.norm(quat.as_rotvec(quat.multiply(quat.inverse(out[:-1]), out[1:])), axis=-1) * fps
    margin = max(1, round(_FLIP_S * fps))
    for joint in np.flatnonzero((turn > _FLIP_RAD_S).any(axis=0)):
        near = np.zeros(len(out), bool)
        for k in np.flatnonzero(turn[:, joint] > _FLIP_RAD_S):
            near[max(0, k + 1 - margin) : k + 1 + margin] = True
        for start, stop in runs(near):
            first, last = max(start - 1, 0), min(stop, len(out) - 1)
            way = np.linspace(0, 1, last - first + 1)
            before, after = (np.tile(out[end, joint], (len(way), 1)) for end in (first, last))
            out[first : last + 1, joint] = quat.slerp(before, after, way * way * (3 - 2 * way))
    return quat.make_continuous(out)


def _read(base: SegmentDatabase, side: _Side) -> tuple[Array, Array]:
    """Root positions and rotations of one side, placed."""
    examples = base.examples
    pos = np.zeros((len(side.frame), 3))
    rot = np.zeros((len(side.frame), len(examples[0].target.skeleton), 4))
    for number in np.unique(side.example):
        rows = np.flatnonzero(side.example == number)
        clip = examples[number].target
        at = np.clip(side.frame[rows], 0, len(clip) - 1)
        pos[rows], rot[rows] = sample_positions(clip.root_pos, at), sample_rotations(clip.local_rot, at)
    rot[:, 0] = side.placement.turn(rot[:, 0])
    return side.placement.apply(pos), rot
