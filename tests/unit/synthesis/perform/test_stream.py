from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
import pytest

from choreograph.errors import RequestError
from choreograph.synthesis.perform.examples import Example, SegmentBase
from choreograph.synthesis.perform.request import Control, PerformSettings
from choreograph.synthesis.perform.search import interpret
from choreograph.synthesis.perform.stream import PerformStream


@pytest.mark.parametrize("batch", [1, 11, 400])
def test_a_stream_settles_pieces_in_order_within_its_lag(
    base: SegmentBase, make_example: Callable[..., Example], batch: int
):
    points = make_example(21, frames=300).control
    stream = PerformStream(base, base.fps, lag_s=2.5)
    pieces = []
    for start in range(0, len(points), batch):
        fresh = stream.push(points[start : start + batch])
        now = (min(start + batch, len(points)) - 1) / base.fps
        assert all(p.stop_s <= now - 2.5 + 0.14 for p in fresh)
        pieces += fresh
    early = len(pieces)
    pieces += stream.finish()
    assert early > 5 or batch == 400
    assert all(a.stop_s == pytest.approx(b.start_s) for a, b in itertools.pairwise(pieces))
    whole = interpret(base, Control(points, base.fps), PerformSettings(refine_hz=7.5))
    assert pieces[-1].stop_s >= whole.control.seconds - 0.14
    # Deciding early can only cost.
    assert stream.cost >= whole.coarse_cost * 0.95


def test_with_all_the_time_in_the_world_a_stream_is_exact(base: SegmentBase, make_example: Callable[..., Example]):
    points = make_example(22, frames=241).control  # 60 steps of 7.5 Hz
    stream = PerformStream(base, base.fps, lag_s=60)
    for start in range(0, len(points), 10):
        assert stream.push(points[start : start + 10]) == []
    pieces = stream.finish()
    whole = interpret(base, Control(points, base.fps), PerformSettings(refine_hz=7.5))
    assert stream.cost == pytest.approx(whole.coarse_cost, rel=1e-9)
    assert [p.segment for p in pieces] == [p.segment for p in whole.pieces]


def test_bad_streams_get_a_sentence(base: SegmentBase):
    with pytest.raises(RequestError, match="too short"):
        PerformStream(base, 30.0, lag_s=0.5)
    stream = PerformStream(base, 30.0)
    with pytest.raises(RequestError, match="come as"):
        stream.push(np.zeros((3, 2, 3)))
    with pytest.raises(RequestError, match="two control frames"):
        stream.finish()
