"""A sequence of segments as finished motion, with the whole control at hand or as if live."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np

from choreograph.base.arrays import Flags
from choreograph.base.progress import Progress, silent
from choreograph.features.points import TRACK
from choreograph.finishing.finish import finish
from choreograph.finishing.hand_contacts import grips, read_hand_contacts
from choreograph.finishing.settings import FinishSettings
from choreograph.motion.clip import Clip
from choreograph.motion.contacts import runs
from choreograph.verbs.perform.bend_to_trajectory import lead_along
from choreograph.verbs.perform.live import PerformStream
from choreograph.verbs.perform.request import PerformRequest
from choreograph.verbs.perform.sequence import SegmentSequence

_BIT_S = 0.1
"""Seconds of the control that are given at once where it is performed as if live; the answer does not depend on it."""


@dataclass(frozen=True, eq=False)
class Performance:
    """A sequence as motion."""

    sequence: SegmentSequence
    clip: Clip
    raw: Clip | None = None
    """Before feet and hands were seen to."""
    held: Flags | None = None
    """Which of the performer's hands hold which of the leader's, (F, 2, 2); None where no hands are held."""
    wanted: Flags | None = None
    """Which of the performer's hands are held in the recordings that are shown, (F, 2)."""

    def holds(self) -> list[dict[str, int]]:
        """Which joint holds which of the leader's, in which frames, as plain values."""
        leader = self.sequence.control.leader
        if self.held is None or leader is None:
            return []
        mine, theirs = grips(self.clip.skeleton), grips(leader.skeleton)
        return [
            {"start": start, "stop": stop, "joint": mine[a], "other": theirs[b]}
            for a in range(2)
            for b in range(2)
            for start, stop in runs(self.held[:, a, b])
        ]


def finish_sequence(sequence: SegmentSequence, settings: FinishSettings, *, progress: Progress = silent) -> Performance:
    """The motion that a sequence shows."""
    partner, control = sequence.partner(), sequence.control
    course = lead_along(control.points, control.fps) if sequence.database.control_roles == TRACK else None
    motion = finish(sequence, settings, name="performed", partner=partner, course=course, progress=progress)
    if motion.hand_contacts is None or partner is None:
        return Performance(sequence, motion.clip, motion.raw)
    wanted = read_hand_contacts(motion.origins, partner.contacts).held.any(axis=2)
    return Performance(sequence, motion.clip, motion.raw, motion.hand_contacts.held, np.asarray(wanted))


def perform_live(whole: SegmentSequence, request: PerformRequest, *, progress: Progress = silent) -> Performance:
    """The same control given bit by bit, and settled a fixed time after each moment.

    Args:
        whole: What was found with all of the control at hand.
        request: What was asked: how late it is settled, how segments become motion.
        progress: Hears how much of the control was given.

    Raises:
        RequestError: If the lag is too short for every segment.
    """
    began = time.process_time()
    control = whole.control
    stream = PerformStream(whole.database, control.fps, request)
    given, frames, step = control.leader or control.points, [], max(1, round(_BIT_S * control.fps))
    for start in range(0, len(given), step):
        progress("performing", start, len(given))
        frames += stream.push(given[start : start + step])
    frames += stream.finish()
    progress("performing", len(given), len(given))
    sequence = replace(
        whole, database=stream.database, pieces=tuple(stream.pieces), cost=stream.cost,
        coarse_cost=stream.coarse_cost, seconds=time.process_time() - began,
    )  # fmt: skip
    return Performance(sequence, stream.as_clip(frames, "performed"))
