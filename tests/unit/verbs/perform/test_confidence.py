from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from choreograph.base.errors import RequestError
from choreograph.goals.model import SegmentGoal
from choreograph.verbs.perform.confidence import find_marginals
from choreograph.verbs.perform.control import Control
from choreograph.verbs.perform.examples import Example, SegmentDatabase, build_segments
from choreograph.verbs.perform.program import SegmentProgram, make_signal
from choreograph.verbs.perform.segment_fits import build_cells
from choreograph.verbs.perform.sequence import find_segments
from choreograph.verbs.perform.settings import MatchSettings


@pytest.mark.parametrize("seed", range(3))
def test_marginals_are_the_costs_of_the_best_sequences_through_each_cell(
    base: SegmentDatabase, make_example: Callable[..., Example], seed: int
):
    """Against solving anew with every other cell that covers the same moment forbidden."""
    rng = np.random.default_rng(seed)
    small = base.subset(rng.choice(len(base), 6, replace=False))
    settings = MatchSettings(continuity_s=0.3, stretch_s=0.2)
    cells = build_cells(small, settings.rate_hz, settings.stretch_s)
    points = Control(make_example(40 + seed, frames=100).control, 30.0).sampled(7.5)[0]
    signal = make_signal(points, np.ones(len(points), bool), cells.longest)
    found = find_marginals(cells, signal, settings).cost
    search = SegmentProgram(cells, settings)
    search.advance(signal, 0, signal.last)
    assert found.min() == pytest.approx(search.best(signal)[0], rel=1e-9)
    starts = np.arange(signal.last)[:, None]
    for time in (0.4, 1.3, 2.6):
        at = signal.begin + time * cells.rate_hz
        covers = (starts <= at) & (starts + cells.duration > at)
        for segment in range(len(small)):
            wished = SegmentProgram(cells, replace(settings, goals=(SegmentGoal(at_s=time, segments=(segment,)),)))
            wished.advance(signal, 0, signal.last)
            try:
                cost = wished.best(signal)[0]
            except RequestError:
                cost = np.inf
            there = np.where(covers & (cells.segment == segment), found, np.inf).min()
            assert there == pytest.approx(cost, rel=1e-9)


def test_a_copy_of_a_recording_leaves_doubt_that_does_not_matter(make_example: Callable[..., Example]):
    one, two = make_example(1), make_example(2)
    times = [[0.2, 0.8, 1.5, 2.1, 2.7, 3.4]] * 3
    alone = build_segments([one, two], cut_at=times[:2])
    twice = build_segments([one, two, one], cut_at=times)
    control = Control(one.control[6:103], 30.0)
    sure, unsure = (find_segments(base, control).confidence for base in (alone, twice))
    assert all(s.share > 0.99 and s.rival_off_m > 0.05 for s in sure)
    assert all(s.share < 0.01 and s.margin_m2_s < 1e-9 and s.rival_off_m < 1e-6 for s in unsure)


def test_a_transcription_says_how_sure_it_is(base: SegmentDatabase, make_example: Callable[..., Example]):
    found = find_segments(base, Control(make_example(44).control, base.fps))
    rows = found.transcription()
    assert len(rows) == len(found.pieces)
    for row, sure in zip(rows, found.confidence, strict=True):
        assert 0 <= row["sure"] <= 1 and row["margin_m2_s"] == pytest.approx(sure.margin_m2_s, abs=1e-6)
        assert "@" in row["rival"] and row["rival_off_m"] > 0
    lone = find_segments(base.subset([3]), Control(make_example(44).control, base.fps))
    assert {(row["sure"], row["rival"]) for row in lone.transcription()} == {(1.0, None)}
