"""The sequence of a control: which recorded segments it is made of, when, and where on the floor."""

from __future__ import annotations

import copy
import time
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from choreograph.base.arrays import Flags, Floats, Ints
from choreograph.base.errors import RequestError
from choreograph.base.progress import Progress, silent
from choreograph.features.points import TRACK, TRACK_HALF_M, set_apart
from choreograph.motion.contacts import runs
from choreograph.verbs.perform.confidence import Confidence, find_confidence
from choreograph.verbs.perform.control import Control
from choreograph.verbs.perform.examples import SegmentDatabase
from choreograph.verbs.perform.placing import Piece, place, refine_bounds
from choreograph.verbs.perform.request import SegmentConstraint
from choreograph.verbs.perform.segment_fits import Cells, Laid, Signal, build_cells, charge_moving, forbid, lay, split
from choreograph.verbs.perform.settings import MatchSettings, usual_settings
from choreograph.verbs.perform.trajectory import LONGEST_GAP_S

if TYPE_CHECKING:
    from choreograph.finishing.hand_contacts import Partner
    from choreograph.finishing.settings import FinishSettings
    from choreograph.motion.montage import Montage


_CHUNK = 128
"""Starts that cells are laid over at once."""


@dataclass(frozen=True, eq=False)
class SegmentSequence:
    """A control as a sequence of segments."""

    database: SegmentDatabase
    control: Control
    settings: MatchSettings
    pieces: tuple[Piece, ...]
    cost: float
    """With refined times and places, m²·s."""
    coarse_cost: float
    """Of the best sequence at the search's rate, m²·s."""
    seconds: float
    """CPU time the search took."""

    @cached_property
    def confidence(self) -> tuple[Confidence, ...]:
        """How sure each piece is; found when it is first asked for, which takes a few times as long as the search."""
        return find_confidence(self)

    def coarse_signal(self, cells: Cells) -> Signal:
        """The control as the search saw it."""
        points, known = self.control.sampled(cells.rate_hz * self.settings.fine)
        return thinned(points, known, self.settings.fine, cells.longest)

    def as_montage(self, settings: FinishSettings | None = None) -> Montage:
        """The pieces as layers, as long as the control.

        Args:
            settings: The output's rate, the examples' if it is not given, and how long pieces are blended.
        """
        from choreograph.finishing.settings import FinishSettings
        from choreograph.verbs.perform.to_montage import montage_of_pieces

        settings = settings or FinishSettings()
        rate = settings.rate_hz or self.database.fps
        times = np.arange(int(np.floor(self.control.seconds * rate + 1e-6)) + 1) / rate
        return montage_of_pieces(self.database, self.pieces, times, rate, settings.blend_s)

    def partner(self) -> Partner | None:
        """The body that leads, whose hands can be held as they are in the examples; None if a trajectory leads."""
        from choreograph.finishing.hand_contacts import Partner
        from choreograph.verbs.perform.to_montage import ExampleHandContacts

        leader = self.control.leader
        return None if leader is None else Partner(leader, ExampleHandContacts(self.database))

    def rows(self) -> list[dict[str, Any]]:
        """The transcription, and for each piece where it lies and what it costs."""
        rows = self.transcription()
        for row, piece in zip(rows, self.pieces, strict=True):
            row["placement"] = asdict(piece.placement)
            row["cost_m2_s"] = piece.cost_m2_s
        return rows

    def transcription(self) -> list[dict[str, Any]]:
        """The pieces as rows: when, which recording and which part of it, how well it fits, and how sure it is."""
        rows = []
        for piece, sure in zip(self.pieces, self.confidence, strict=True):
            rival = None if sure.rival < 0 else sure
            clip = self.database.examples[int(self.database.example[piece.segment])].target
            rows.append(
                {
                    "start_s": round(max(piece.start_s, 0.0), 4),
                    "stop_s": round(min(piece.stop_s, self.control.seconds), 4),
                    "recording": clip.name,
                    "recording_start_s": round(float(self.database.start[piece.segment] / clip.fps), 4),
                    "recording_stop_s": round(float(self.database.stop[piece.segment] / clip.fps), 4),
                    "segment": piece.segment,
                    "labels": list(clip.labels_at(int(self.database.start[piece.segment]))),
                    "residual_m": round(piece.residual_m, 4),
                    "gap_m": round(piece.gap_m, 4),
                    "sure": round(sure.share, 4),
                    "doubt_m": round(sure.doubt_m, 4),
                    "margin_m2_s": None if rival is None else round(rival.margin_m2_s, 6),
                    "rival": None if rival is None else self.database.name(rival.rival),
                    "rival_off_m": None if rival is None else round(rival.rival_off_m, 4),
                }
            )
        return rows


def find_segments(
    database: SegmentDatabase,
    control: Control,
    settings: MatchSettings | None = None,
    *,
    cells: Cells | None = None,
    progress: Progress | None = None,
) -> SegmentSequence:
    """The sequence of segments that explains a control best while its targets fit together.

    Args:
        database: Recorded segments.
        control: What is to be answered.
        settings: How; what suits the database if None.
        cells: The database's cells at the settings' rate, if they are at hand (with the control's width of track).
        progress: Hears how many steps are done.

    Raises:
        RequestError: If the control cannot be answered: it is too short, has other points than the examples, or the
            constraints cannot all be had.
    """
    settings = settings or usual_settings(database)
    if control.points.shape[1] != database.controls[0].shape[1]:
        raise RequestError(
            f"{control.name!r} has {control.points.shape[1]} points and the examples' controls have "
            f"{database.controls[0].shape[1]}: they are {', '.join(database.control_roles)}"
        )
    database, control = matched(database, control)
    began = time.process_time()
    cells = cells or build_cells(database, settings.rate_hz, settings.stretch_s)
    fine_hz = cells.rate_hz * settings.fine
    points, known = control.sampled(fine_hz)
    if len(points) < 2 or not known.any():
        raise RequestError(f"{control.name!r} has {len(points)} frames with {int(known.sum())} known; two are needed")
    for start, stop in runs(~known):
        if (stop - start + 1) / fine_hz > LONGEST_GAP_S:
            raise RequestError(
                f"nothing is known of {control.name!r} for {(stop - start + 1) / fine_hz:.2f} s from "
                f"{max(start - 1, 0) / fine_hz:.2f} s on; gaps of up to {LONGEST_GAP_S:g} s are bridged"
            )
    fine = make_signal(points, known, cells.longest * settings.fine + settings.fine)
    coarse = thinned(points, known, settings.fine, cells.longest)
    search = SegmentProgram(cells, settings)
    for start in range(0, coarse.last, _CHUNK):
        (progress or silent)("interpreting", start, coarse.last)
        search.advance(coarse, start, min(start + _CHUNK, coarse.last))
    coarse_cost, sequence = search.best(coarse)
    (progress or silent)("interpreting", coarse.last, coarse.last)
    shift = fine.begin - coarse.begin * settings.fine
    segments = cells.segment[[n for n, _ in sequence]]
    starts = [u for _, u in sequence]
    bounds = np.array([*starts, starts[-1] + int(cells.duration[sequence[-1][0]])]) * settings.fine + shift
    _, bounds = refine_bounds(database, segments, fine, bounds, settings, fine_hz)
    cost, pieces = place(database, segments, fine, bounds, fine_hz, settings.continuity_s)
    return SegmentSequence(database, control, settings, pieces, cost, coarse_cost, time.process_time() - began)


def matched(database: SegmentDatabase, control: Control) -> tuple[SegmentDatabase, Control]:
    """Both with the points of their tracks as far apart as the control asks for."""
    if database.control_roles != TRACK or control.track_half_m == TRACK_HALF_M:
        return database, control
    points = set_apart(control.points, control.track_half_m)
    return database.with_track_half(control.track_half_m), replace(control, points=points)


def make_signal(points: Floats, known: Flags, pad: int) -> Signal:
    """An input with `pad` steps of nothing before and after it."""
    flat, height = split(np.pad(points, ((pad, pad), (0, 0), (0, 0))))
    return Signal(flat, height, np.pad(known.astype(float), pad), pad, pad + len(points) - 1)


def thinned(points: Floats, known: Flags, fine: int, pad: int) -> Signal:
    """Every so many steps of an input, with `pad` steps of nothing before and after it."""
    every = np.minimum(np.arange(-(-(len(points) - 1) // fine) + 1) * fine, len(points) - 1)
    signal = make_signal(points[every], known[every], pad)
    if (len(points) - 1) % fine:
        signal.weight[signal.last] = 0.0  # a step that the input does not reach
    return signal


class SegmentProgram:
    """The dynamic program in progress: it can be fed a stretch at a time."""

    def __init__(self, cells: Cells, settings: MatchSettings) -> None:
        self.cells = cells
        self.settings = settings
        ring, points = cells.longest + 1, cells.head[0].shape[1]
        self.scale = float(np.sqrt(settings.continuity_s / points))
        self.scores = np.full((ring, len(cells)), np.inf)
        """Best cost of each cell by its end, a ring over steps."""
        self.tails = np.zeros((ring, len(cells), 3 * points))
        self.back = np.full((0, len(cells)), -1, np.int32)
        """The cell before each cell, by its end."""
        self.done = 0
        """Steps from which cells were started."""

    def advance(self, signal: Signal, start: int, stop: int, reached: Floats | None = None) -> Laid:
        """Start all cells from the steps [start, stop), and say how they lie there.

        Args:
            signal: The input.
            start: First step.
            stop: The step after the last one.
            reached: Where to put the best cost of each cell by its start, from `start` on, (U, N).
        """
        from choreograph.verbs.perform._compiled import advance

        cells = self.cells
        starts = np.arange(start, stop)
        laid = lay(cells, signal, starts)
        charge_moving(cells, signal, starts, laid)
        forbid(cells, signal, starts, laid)
        for constraint in self.settings.constraints:
            self._grant(constraint, signal, starts, laid.cost)
        need = stop + cells.longest
        if need > len(self.back):
            grown = np.full((max(need, 2 * len(self.back)), len(cells)), -1, np.int32)
            grown[: len(self.back)] = self.back
            self.back = grown
        beam = np.inf if self.settings.beam_m2_s is None else float(self.settings.beam_m2_s)
        advance(
            start, *laid, cells.duration, *cells.head, *cells.tail, signal.begin, signal.last, self.scale, beam,
            self.scores, self.tails, self.back, np.zeros((0, 0)) if reached is None else reached,
        )  # fmt: skip
        self.done = stop
        return laid

    def _grant(self, constraint: SegmentConstraint, signal: Signal, starts: Ints, cost: Floats) -> None:
        at = signal.begin + constraint.time_s * self.cells.rate_hz
        covers = (starts[:, None] <= at) & (starts[:, None] + self.cells.duration > at)
        cost[covers & ~np.isin(self.cells.segment, constraint.segments)] = np.inf

    def copy(self) -> SegmentProgram:
        """One that can go on by itself; the cells before each cell are shared, and where both go on they agree."""
        other = copy.copy(self)
        other.scores, other.tails = self.scores.copy(), self.tails.copy()
        return other

    def forget(self, steps: int) -> None:
        """Count steps from a later one on: later by a multiple of the ring's length."""
        assert steps % len(self.scores) == 0
        self.back = self.back[steps:].copy()
        self.done -= steps

    def best(self, signal: Signal, since: int = -1) -> tuple[float, list[tuple[int, int]]]:
        """Cost of the best sequence to the input's end, and its cells with the steps they begin at.

        Args:
            signal: The input.
            since: Cells that end by this step are left out.

        Raises:
            RequestError: If there is none.
        """
        ends = np.arange(signal.last, signal.last + self.cells.longest + 1)
        scores = self.scores[ends % len(self.scores)]
        at = int(scores.argmin())
        stop, n = int(ends[at // len(self.cells)]), at % len(self.cells)
        if not scores.flat[at] < np.inf:
            why = "with these constraints" if self.settings.constraints else "with segments of these lengths"
            raise RequestError(
                f"no sequence of segments lasts {(signal.last - signal.begin) / self.cells.rate_hz:.2f} s {why}; "
                "allow more stretch (stretch_s), or use more segments"
            )
        return float(scores.flat[at]), self.trace(stop, n, since)

    def trace(self, stop: int, n: int, since: int = -1) -> list[tuple[int, int]]:
        """The sequence that ends with a cell at a step."""
        found = []
        while n >= 0 and stop > since:
            start = stop - int(self.cells.duration[n])
            found.append((n, start))
            stop, n = start, int(self.back[stop, n])
        return found[::-1]
