from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
import pytest
from tests.unit.verbs.perform.plain_program import align_plain, solve_plain

from choreograph.base.errors import RequestError
from choreograph.goals.model import SegmentGoal
from choreograph.motion.clip import Clip
from choreograph.verbs.perform._compiled import align, refine
from choreograph.verbs.perform.control import Control, control_from_clip
from choreograph.verbs.perform.examples import Example, SegmentDatabase
from choreograph.verbs.perform.program import SegmentProgram, make_signal
from choreograph.verbs.perform.segment_fits import build_cells, lay, split
from choreograph.verbs.perform.sequence import find_segments
from choreograph.verbs.perform.settings import MatchSettings


def random_input(rng: np.random.Generator, frames: int, points: int = 4) -> np.ndarray:
    return np.cumsum(rng.normal(0, 0.1, (frames, 1, 3)), axis=0) + rng.normal(0, 0.4, (1, points, 3))


def solve(base: SegmentDatabase, points: np.ndarray, settings: MatchSettings, known: np.ndarray | None = None):
    cells = build_cells(base, settings.rate_hz, settings.stretch_s)
    signal = make_signal(points, np.ones(len(points), bool) if known is None else known, cells.longest)
    search = SegmentProgram(cells, settings)
    for start in range(0, signal.last, 7):  # in uneven stretches, as a stream does
        search.advance(signal, start, min(start + 7, signal.last))
    return cells, signal, search


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("frames", [3, 12, 33])
def test_the_compiled_program_finds_what_the_literal_one_finds(base: SegmentDatabase, seed: int, frames: int):
    rng = np.random.default_rng(seed)
    small = base.subset(rng.choice(len(base), 6, replace=False))
    settings = MatchSettings(continuity_s=float(rng.choice([0.0, 0.15, 3.0])), stretch_s=0.2)
    points = random_input(rng, frames)
    known = rng.random(frames) > 0.1
    known[:2] = True
    cells, signal, search = solve(small, points, settings, known)
    cost, sequence = search.best(signal)
    wanted, literal = solve_plain(cells, signal, settings.continuity_s)
    assert cost == pytest.approx(wanted, rel=1e-9, abs=1e-9)
    assert sequence == literal


def test_a_sequence_has_no_holes_and_covers_the_input(base: SegmentDatabase, rng: np.random.Generator):
    cells, signal, search = solve(base, random_input(rng, 60), MatchSettings())
    _, sequence = search.best(signal)
    starts = [u for _, u in sequence]
    stops = [u + cells.duration[n] for n, u in sequence]
    assert starts[1:] == stops[:-1]
    assert starts[0] <= signal.begin and stops[-1] >= signal.last


def test_a_wide_beam_loses_nothing_and_a_narrow_one_is_no_better(base: SegmentDatabase, rng: np.random.Generator):
    points = random_input(rng, 60)

    def cost(beam: float | None) -> float:
        _, signal, search = solve(base, points, MatchSettings(beam_m2_s=beam))
        return search.best(signal)[0]

    assert cost(1e6) == cost(None)
    assert cost(1e-6) >= cost(None)


def test_alignments_agree_between_matrix_products_and_loops(base: SegmentDatabase, rng: np.random.Generator):
    cells = build_cells(base, 7.5, 0.15)
    points = random_input(rng, 30) + np.array([20.0, 0.0, -30.0])
    signal = make_signal(points, np.ones(30, bool), cells.longest)
    starts = np.array([signal.begin - 1, signal.begin, signal.begin + 9])
    laid = lay(cells, signal, starts)
    for n in rng.choice(len(cells), 12):
        d, s = int(cells.duration[n]), int(cells.segment[n])
        a, _ = base.sampled(s, d + 1)
        for i, u in enumerate(starts):
            weight = signal.weight[u : u + d + 1].copy()
            weight[[0, -1]] *= 0.5
            x = np.pad(points, ((cells.longest,) * 2, (0, 0), (0, 0)))[u : u + d + 1]
            squares, yaw, shift = align_plain(x.reshape(-1, 3), a.reshape(-1, 3), np.repeat(weight, 4))
            assert laid.cost[i, n] == pytest.approx(squares / (4 * 7.5), rel=1e-7, abs=1e-9)
            assert laid.turn[i, n] == pytest.approx(np.exp(-1j * yaw), abs=1e-7)
            assert laid.shift[i, n] == pytest.approx(complex(*shift), abs=1e-6)
            flat, height = split(a)
            again, rho, x_mean, a_mean, _, _ = align(
                signal.flat, signal.height, signal.weight, int(u), d, flat, height, 0.0, float(d)
            )
            max_cut_cost = x_mean - rho * a_mean
            assert (again, rho, max_cut_cost) == pytest.approx(
                (squares, np.exp(-1j * yaw), complex(*shift)), rel=1e-6, abs=1e-6
            )


def part_of(base: SegmentDatabase, example: int) -> tuple[np.ndarray, int]:
    """The control of an example where it was cut into segments, and the frame at which that begins."""
    own = np.flatnonzero(base.example == example)
    first, last = base.start[own[0]], base.stop[own[-1]]
    return np.array(base.examples[example].control[first : last + 1]), int(first)


def test_a_recording_explains_itself(base: SegmentDatabase):
    points, first = part_of(base, 1)
    found = find_segments(base, Control(points, base.fps))
    assert [p.segment for p in found.pieces] == np.flatnonzero(base.example == 1).tolist()
    for piece in found.pieces:
        assert piece.start_s == pytest.approx((base.start[piece.segment] - first) / base.fps, abs=1e-6)
        assert piece.residual_m < 1e-6 and piece.gap_m < 1e-6
        assert np.hypot(piece.placement.x, piece.placement.z) < 1e-6


def test_moving_the_control_moves_the_answer(base: SegmentDatabase, make_example: Callable[..., Example]):
    control = make_example(9).control
    angle = 1.1
    moved = np.array(control)
    moved[..., 0] = control[..., 0] * np.cos(angle) + control[..., 2] * np.sin(angle) + 4
    moved[..., 2] = -control[..., 0] * np.sin(angle) + control[..., 2] * np.cos(angle) - 7
    here, there = (find_segments(base, Control(points, base.fps)) for points in (control, moved))
    assert [p.segment for p in here.pieces] == [p.segment for p in there.pieces]
    assert here.cost == pytest.approx(there.cost, rel=1e-6)
    for a, b in zip(here.pieces, there.pieces, strict=True):
        assert np.exp(1j * (b.placement.yaw - a.placement.yaw)) == pytest.approx(np.exp(1j * angle), abs=1e-6)


def test_refinement_never_costs_and_stays_near(base: SegmentDatabase, make_example: Callable[..., Example]):
    control = Control(make_example(11, frames=181).control, base.fps)
    rough = find_segments(base, control, MatchSettings(rate_hz=7.5, refine_hz=7.5))
    found = find_segments(base, control, MatchSettings(rate_hz=7.5, refine_hz=30))
    assert [p.segment for p in rough.pieces] == [p.segment for p in found.pieces]
    assert all(abs(a.start_s - b.start_s) <= 0.28 for a, b in zip(rough.pieces, found.pieces, strict=True))


def test_refine_tries_every_boundary(base: SegmentDatabase, rng: np.random.Generator):
    """Against trying all boundaries of three pieces by hand."""
    segments = rng.choice(len(base), 3)
    points = random_input(rng, 40)
    signal = make_signal(points, np.ones(40, bool), 30)
    bounds = np.array([signal.begin - 1, signal.begin + 14, signal.begin + 27, signal.last + 2])
    flat, height = split(base.examples[0].control)
    heads, tails = (split(rng.normal(0, 1, (3, 4, 3))) for _ in range(2))
    row, frames = np.array([0, 20, 50]), np.array([18, 16, 20])
    low, high = np.array([12, 11, 12]), np.array([17, 14, 16])

    def cost_of(at: tuple[int, ...]) -> float:
        total, ends = 0.0, None
        for i in range(3):
            u, d = at[i], at[i + 1] - at[i]
            if not low[i] <= d <= high[i]:
                return np.inf
            squares, rho, x_mean, a_mean, _, _ = align(
                signal.flat, signal.height, signal.weight, u, d, flat, height, float(row[i]), float(frames[i])
            )
            max_cut_cost = x_mean - rho * a_mean
            total += squares / (30 * 4)
            if ends is not None:
                gap = np.abs(rho * heads[0][i] + max_cut_cost - ends) ** 2 + (heads[1][i] - tails[1][i - 1]) ** 2
                total += 0.3 * gap.mean()
            ends = rho * tails[0][i] + max_cut_cost
        return total

    options = [
        tuple(int(b) for b in bounds + np.array(move) - 2)
        for move in np.ndindex(5, 5, 5, 5)
        if bounds[0] + move[0] - 2 <= signal.begin and bounds[3] + move[3] - 2 >= signal.last
    ]
    best = min(options, key=cost_of)
    first, last = bounds - 2, bounds + 2
    last[0], first[-1] = signal.begin, signal.last
    cost, found = refine(
        signal.flat, signal.height, signal.weight, bounds, first, last, 2, low, high, flat, height, row, frames,
        *heads, *tails, 0.3, 1 / 30,
    )  # fmt: skip
    assert len(segments) == 3
    assert cost == pytest.approx(cost_of(best), rel=1e-9)
    assert tuple(found) == best


def test_a_wish_is_granted(base: SegmentDatabase, make_example: Callable[..., Example]):
    control = Control(make_example(12).control, base.fps)
    free = find_segments(base, control)
    at = next(p for p in free.pieces if p.start_s <= 3.0 < p.stop_s)
    other = next(s for s in range(len(base)) if s != at.segment)
    bound = find_segments(base, control, MatchSettings(goals=(SegmentGoal(at_s=3.0, segments=(other,)),)))
    playing = [p.segment for p in bound.pieces if p.start_s + 0.14 <= 3.0 < p.stop_s - 0.14]
    assert playing in ([other], []) and other in [p.segment for p in bound.pieces]
    assert bound.coarse_cost > free.coarse_cost


def test_one_segment_is_enough(base: SegmentDatabase):
    found = find_segments(base.subset([3]), Control(base.examples[0].control[:25], base.fps))
    assert {p.segment for p in found.pieces} == {0}


def test_gaps_in_the_control_are_bridged(base: SegmentDatabase):
    points, _ = part_of(base, 2)
    points[50:56] = np.nan
    found = find_segments(base, Control(points, base.fps))
    assert all(np.isfinite(p.residual_m) for p in found.pieces)
    assert all(base.example[p.segment] == 2 for p in found.pieces)


def test_wrong_controls_get_a_sentence(base: SegmentDatabase, walker: Clip):
    with pytest.raises(RequestError, match="3 points and the examples' controls have 4"):
        find_segments(base, Control(np.zeros((20, 3, 3)), 30.0))
    with pytest.raises(RequestError, match="two are needed"):
        find_segments(base, Control(np.zeros((1, 4, 3)), 30.0))
    holed = np.array(base.examples[0].control)
    holed[30:60] = np.nan
    with pytest.raises(RequestError, match=r"nothing is known of 'holed' for 1\.\d+ s from 0.97 s on"):
        find_segments(base, Control(holed, 30.0, "holed"))
    with pytest.raises(RequestError, match="left_hand"):
        control_from_clip(walker, base)
    with pytest.raises(RequestError, match="goals"):
        find_segments(
            base,
            Control(base.examples[0].control, 30.0),
            MatchSettings(goals=(SegmentGoal(at_s=1.0, segments=(3,)), SegmentGoal(at_s=1.01, segments=(4,)))),
        )


def test_the_transcription_tells_recordings_and_times(base: SegmentDatabase):
    points, first = part_of(base, 0)
    found = find_segments(base, Control(points, base.fps))
    rows = found.transcription()
    assert rows[0]["start_s"] == 0 and rows[-1]["stop_s"] == pytest.approx(found.control.seconds, abs=1e-4)
    assert all(a["stop_s"] == b["start_s"] for a, b in itertools.pairwise(rows))
    assert {row["recording"] for row in rows} == {"follower_0"}
    assert rows[0]["recording_start_s"] == pytest.approx(first / base.fps, abs=1e-4)
