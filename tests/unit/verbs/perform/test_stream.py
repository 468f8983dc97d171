from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
import pytest

from choreograph.base.errors import RequestError
from choreograph.verbs.perform.control import Control
from choreograph.verbs.perform.examples import Example, SegmentDatabase
from choreograph.verbs.perform.sequence import find_segments
from choreograph.verbs.perform.stream import PieceStream


def run(stream: PieceStream, points: np.ndarray, batch: int):
    pieces = []
    for start in range(0, len(points), batch):
        pieces += stream.push(points[start : start + batch])
    return [*pieces, *stream.finish()]


def test_pieces_are_settled_in_order_and_within_the_lag(base: SegmentDatabase, make_example: Callable[..., Example]):
    points = make_example(21, frames=301).control
    stream = PieceStream(base, base.fps, lag_s=1.5)
    pieces, until = [], 0.0
    for start in range(len(points)):
        fresh = stream.push(points[start : start + 1])
        assert all(p.start_s <= start / base.fps - 1.5 + 0.14 for p in fresh)
        pieces += fresh
        until = pieces[-1].stop_s if pieces else 0.0
        # What is played a lag ago is settled, but for one step of the search.
        assert until >= start / base.fps - 1.5 - 0.14
        ahead = stream.ahead()
        if ahead:
            assert ahead[0].start_s == pytest.approx(until, abs=1e-9) or not pieces
            assert ahead[-1].stop_s >= stream.seen_s - 0.14
    pieces += stream.finish()
    assert all(a.stop_s == pytest.approx(b.start_s, abs=1e-9) for a, b in itertools.pairwise(pieces))
    assert pieces[0].start_s <= 0 and pieces[-1].stop_s >= 10.0 - 1e-6
    assert stream.cost == pytest.approx(sum(p.cost_m2_s for p in pieces))
    stretched = [(p.stop_s - p.start_s) - base.seconds[p.segment] for p in pieces]
    assert np.abs(stretched).max() < stream.settings.stretch_s + 0.14


@pytest.mark.parametrize("frames", [241, 250])  # whole steps of 7.5 Hz, and not
def test_with_all_the_time_in_the_world_a_stream_is_exact(
    base: SegmentDatabase, make_example: Callable[..., Example], frames: int
):
    points = make_example(22, frames=frames).control
    stream = PieceStream(base, base.fps, lag_s=60)
    pieces = run(stream, points, 10)
    whole = find_segments(base, Control(points, base.fps))
    assert stream.coarse_cost == pytest.approx(whole.coarse_cost, rel=1e-9)
    assert stream.cost == pytest.approx(whole.cost, rel=1e-9)
    assert [(p.segment, p.start_s) for p in pieces] == [(p.segment, p.start_s) for p in whole.pieces]


def test_deciding_early_can_only_cost_and_a_longer_lag_costs_less(
    base: SegmentDatabase, make_example: Callable[..., Example]
):
    points = np.concatenate([make_example(seed, frames=300).control for seed in (23, 24, 25)])
    best = find_segments(base, Control(points, base.fps)).coarse_cost
    costs = []
    for lag in (0.95, 2.0, 4.0):
        stream = PieceStream(base, base.fps, lag_s=lag)
        run(stream, points, 8)
        costs.append(stream.coarse_cost)
    assert min(costs) >= best * (1 - 1e-9)
    assert costs[0] > costs[1] and costs[2] < 1.05 * best


@pytest.mark.parametrize("fps", [30.0, 24.0, 100.0])
def test_the_answer_does_not_depend_on_how_the_control_is_pushed(
    base: SegmentDatabase, make_example: Callable[..., Example], fps: float
):
    points = Control(make_example(26, frames=300).control, 30.0).sampled(fps)[0]
    points[50:53] = np.nan
    one, many = (run(PieceStream(base, fps, lag_s=1.6), points, batch) for batch in (1, 97))
    assert one == many
    assert len(one) > 10


def test_work_and_memory_do_not_grow(base: SegmentDatabase, make_example: Callable[..., Example]):
    points = np.tile(make_example(27, frames=300).control, (8, 1, 1))
    stream = PieceStream(base, base.fps, lag_s=1.5)
    sizes = []
    for start in range(0, len(points), 30):
        stream.push(points[start : start + 30])
        sizes.append(stream._weight.nbytes + stream._search.back.nbytes + stream._frames.nbytes)
    assert max(sizes[20:]) <= max(sizes[:20])


def test_segments_too_long_for_the_lag_are_not_used(base: SegmentDatabase, make_example: Callable[..., Example]):
    stream = PieceStream(base, base.fps, lag_s=0.7)
    assert 0 < len(stream.database) < len(base)
    assert stream.database.seconds.max() < base.seconds.max()
    assert len(run(stream, make_example(28).control, 9)) > 5


def test_bad_streams_get_a_sentence(base: SegmentDatabase):
    with pytest.raises(RequestError, match=r"too short.*0\.\d\d s are enough for all"):
        PieceStream(base, 30.0, lag_s=0.3)
    with pytest.raises(RequestError, match="too short"):
        PieceStream(base, 30.0, lag_s=float("nan"))
    with pytest.raises(RequestError, match="frames per second"):
        PieceStream(base, 0.0)
    stream = PieceStream(base, 30.0)
    with pytest.raises(RequestError, match="come as"):
        stream.push(np.zeros((3, 2, 3)))
    with pytest.raises(RequestError, match="two control frames"):
        stream.finish()
    with pytest.raises(RequestError, match="nothing is known"):
        stream.push(np.full((30, 4, 3), np.nan))
