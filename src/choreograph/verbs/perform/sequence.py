"""The sequence of a control: which recorded segments it is made of, when, and where on the floor."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from choreograph.base.errors import RequestError
from choreograph.base.progress import Progress, silent
from choreograph.features.points import TRACK, TRACK_HALF_M, set_apart
from choreograph.finishing.hand_contacts import Partner
from choreograph.finishing.settings import FinishSettings
from choreograph.motion.contacts import runs
from choreograph.motion.montage import Montage
from choreograph.verbs.perform.confidence import CHUNK, Confidence, find_confidence
from choreograph.verbs.perform.control import Control
from choreograph.verbs.perform.examples import SegmentDatabase
from choreograph.verbs.perform.placing import Piece, place, refine_bounds
from choreograph.verbs.perform.program import SegmentProgram, make_signal, thinned
from choreograph.verbs.perform.segment_fits import Cells, build_cells
from choreograph.verbs.perform.settings import MatchSettings, usual_settings
from choreograph.verbs.perform.to_montage import ExampleHandContacts, montage_of_pieces
from choreograph.verbs.perform.trajectory import LONGEST_GAP_S


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
        return find_confidence(self.database, self.control, self.settings, self.pieces)

    def as_montage(self, settings: FinishSettings | None = None) -> Montage:
        """The pieces as layers, as long as the control.

        Args:
            settings: The output's rate, the examples' if it is not given, and how long pieces are blended.
        """
        settings = settings or FinishSettings()
        rate = settings.rate_hz or self.database.fps
        times = np.arange(int(np.floor(self.control.seconds * rate + 1e-6)) + 1) / rate
        return montage_of_pieces(self.database, self.pieces, times, rate, settings.blend_s)

    def partner(self) -> Partner | None:
        """The body that leads, whose hands can be held as they are in the examples; None if a trajectory leads."""
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
            goals cannot all be had.
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
    for start in range(0, coarse.last, CHUNK):
        (progress or silent)("interpreting", start, coarse.last)
        search.advance(coarse, start, min(start + CHUNK, coarse.last))
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
