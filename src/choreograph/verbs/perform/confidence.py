"""How sure a sequence is: what the best other one would cost, piece by piece.

The program run forwards says what the best sequence up to each cell costs, run backwards what the best one after it
does. Their sum is the cost of the best sequence through that cell (a min-marginal), so the best sequence with another
segment at some moment is known exactly, for every moment, from two passes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from choreograph.base.arrays import Complexes, Floats
from choreograph.motion.resample import sample_positions
from choreograph.verbs.perform.control import Control
from choreograph.verbs.perform.examples import SegmentDatabase
from choreograph.verbs.perform.placing import Piece
from choreograph.verbs.perform.program import SegmentProgram, thinned
from choreograph.verbs.perform.segment_fits import Cells, Signal, build_cells
from choreograph.verbs.perform.settings import MatchSettings

CHUNK = 128
"""Starts that cells are laid over at once."""
_COMPARED = 8
"""Moments at which an answer is compared with its rival's."""
_NOTHING = 1e-7
"""m²·s: costs below this are rounding."""


@dataclass(frozen=True)
class Confidence:
    """How sure a piece is."""

    share: float
    """0 to 1: how much more dearly the control is explained without this segment, m / (m + c) with m the margin and c
    what the piece itself costs. 0 where another segment does as well, near 1 where nothing else comes near."""
    margin_m2_s: float
    """What the best sequence with another segment at the piece's middle costs more; infinite if there is none."""
    rival: int
    """That other segment; -1 if there is none."""
    rival_off_m: float
    """How far the rival's answer is from this one's, root-mean-square over hands and feet while both last: a doubt that
    matters, or none. NaN if there is no rival."""

    @property
    def doubt_m(self) -> float:
        """How far off the answer may be because it is not sure: the rival's distance, the less the surer; metres."""
        return 0.0 if self.rival < 0 else (1 - self.share) * self.rival_off_m


class Marginals(NamedTuple):
    """The cost of the best sequence through each cell, by its start, (L, N), and how it lies there."""

    cost: Floats
    turn: Complexes
    shift: Complexes


def find_marginals(cells: Cells, signal: Signal, settings: MatchSettings) -> Marginals:
    """The least cost of a sequence that uses a cell from a step on, for all cells and steps.

    Args:
        cells: Segments at all their lengths.
        signal: The input.
        settings: What is asked for; a beam is passed over.
    """
    from choreograph.verbs.perform._compiled import retreat

    search = SegmentProgram(cells, replace(settings, beam_m2_s=None))
    total = np.full((signal.last, len(cells)), np.inf)
    fits = []
    for start in range(0, signal.last, CHUNK):
        fits.append(search.advance(signal, start, min(start + CHUNK, signal.last), reached=total[start:]))
    points, ring = cells.head[0].shape[1], len(search.scores)
    ahead, heads = np.full((ring, len(cells)), np.inf), np.zeros((ring, len(cells), 3 * points))
    order = np.zeros((ring, len(cells)), np.int64)
    for start in range(CHUNK * ((signal.last - 1) // CHUNK), -1, -CHUNK):
        laid = fits[start // CHUNK]
        rest = np.empty_like(laid.cost)
        retreat(
            start, *laid, cells.duration, *cells.head, *cells.tail, signal.begin, signal.last, search.scale, ahead,
            heads, order, rest,
        )  # fmt: skip
        total[start : start + CHUNK] += rest
    return Marginals(total, np.concatenate([k.turn for k in fits]), np.concatenate([k.shift for k in fits]))


def find_confidence(
    database: SegmentDatabase, control: Control, settings: MatchSettings, pieces: Sequence[Piece]
) -> tuple[Confidence, ...]:
    """How sure each piece of a control's sequence is, exactly, at the search's rate."""
    cells = build_cells(database, settings.rate_hz, settings.stretch_s)
    points, known = control.sampled(cells.rate_hz * settings.fine)
    signal = thinned(points, known, settings.fine, cells.longest)
    marginals = find_marginals(cells, signal, settings)
    starts = np.arange(signal.last)[:, None]
    out = []
    for piece in pieces:
        begin, stop = max(piece.start_s, 0.0), min(piece.stop_s, control.seconds)
        at = signal.begin + (begin + stop) / 2 * cells.rate_hz
        there = np.where((starts <= at) & (starts + cells.duration > at), marginals.cost, np.inf)
        own = cells.segment == piece.segment
        mine, other = (_least(np.where(which, there, np.inf)) for which in (own, ~own))
        if not (there[mine] < np.inf and there[other] < np.inf):
            out.append(Confidence(1.0, np.inf, -1, np.nan))
            continue
        margin = max(float(there[other] - there[mine]), 0.0)
        starts_of = [k[0] for k in (mine, other)]
        stops_of = [k[0] + cells.duration[k[1]] for k in (mine, other)]
        steps = np.linspace(max(*starts_of, signal.begin), min(*stops_of, signal.last), _COMPARED)
        ours, theirs = (_answer(database, cells, marginals, cell, steps) for cell in (mine, other))
        off = float(np.sqrt(((ours - theirs) ** 2).sum(axis=2).mean()))
        share = margin / (margin + piece.cost_m2_s + _NOTHING)
        out.append(Confidence(share, margin, int(cells.segment[other[1]]), off))
    return tuple(out)


def _least(costs: Floats) -> tuple[int, int]:
    u, n = np.unravel_index(costs.argmin(), costs.shape)
    return int(u), int(n)


def _answer(
    database: SegmentDatabase, cells: Cells, marginals: Marginals, cell: tuple[int, int], steps: Floats
) -> Floats:
    """The target points of a cell where it lies, at some steps, (n, P, 3)."""
    u, n = cell
    segment = int(cells.segment[n])
    frames = database.start[segment] + (steps - u) / cells.duration[n] * (database.stop - database.start)[segment]
    points = sample_positions(database.target_points[database.example[segment]], frames)
    flat = marginals.turn[cell] * (points[..., 0] + 1j * points[..., 2]) + marginals.shift[cell]
    return np.stack([flat.real, points[..., 1], flat.imag], axis=-1)
