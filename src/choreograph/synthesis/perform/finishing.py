"""A sequence of segments as finished motion, with the whole control at hand or as if live."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from choreograph.finishing.hand_contacts import ExampleHandContacts, HandContacts, grips, read_hand_contacts
from choreograph.finishing.performed import PerformedSettings, finish_performance, shown_at
from choreograph.finishing.settings import FinishSettings
from choreograph.motion.clip import Clip
from choreograph.motion.contacts import runs
from choreograph.progress import Progress, silent
from choreograph.synthesis.perform.program import SegmentSequence

Flags = NDArray[np.bool_]

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


def finish_sequence(sequence: SegmentSequence, finish: FinishSettings, *, progress: Progress = silent) -> Performance:
    """The motion that a sequence shows."""
    settings = PerformedSettings(clean=finish.clean, hold=finish.clean)
    motion = finish_performance(sequence, settings, name="performed", progress=progress)
    if motion.holds is None:
        return Performance(sequence, motion.clip, motion.raw)
    wanted = _recorded_holds(sequence, motion.clip, settings)
    return Performance(sequence, motion.clip, motion.raw, motion.holds.held, np.asarray(wanted.held.any(axis=2)))


def perform_live(
    whole: SegmentSequence, finish: FinishSettings, lag_s: float, *, progress: Progress = silent
) -> Performance:
    """The same control given bit by bit, and settled a fixed time after each moment.

    Args:
        whole: What was found with all of the control at hand.
        finish: How segments become motion.
        lag_s: Seconds from a moment of the control to its frames.
        progress: Hears how much of the control was given.

    Raises:
        RequestError: If the lag is too short for every segment.
    """
    from choreograph.finishing.perform_stream import PerformStream

    began = time.process_time()
    control = whole.control
    settings = PerformedSettings(clean=finish.clean, hold=finish.clean)
    stream = PerformStream(whole.base, control.fps, whole.settings, settings, lag_s=lag_s)
    given, frames, step = control.leader or control.points, [], max(1, round(_BIT_S * control.fps))
    for start in range(0, len(given), step):
        progress("performing", start, len(given))
        frames += stream.push(given[start : start + step])
    frames += stream.finish()
    progress("performing", len(given), len(given))
    sequence = replace(
        whole, base=stream.base, pieces=tuple(stream.pieces), cost=stream.cost, coarse_cost=stream.coarse_cost,
        seconds=time.process_time() - began,
    )  # fmt: skip
    return Performance(sequence, stream.as_clip(frames, "performed"))


def _recorded_holds(sequence: SegmentSequence, clip: Clip, settings: PerformedSettings) -> HandContacts:
    """The hands that are held in the frames that a motion shows."""
    times = np.arange(len(clip)) / clip.fps
    example, frame = shown_at(sequence.base, sequence.pieces, times)
    return read_hand_contacts(sequence.base, example, frame, ExampleHandContacts(sequence.base, settings.hands))
