"""Which parts of clips are read to be compared with a few new ones."""

import numpy as np

from choreograph.build.incremental import _pieces


def test_pieces_hold_their_spans_and_a_window_more(rng):
    counts = rng.integers(5, 40, 6)
    clip = rng.integers(0, 6, 50)
    first = rng.integers(0, counts[clip] - 2)
    stop = rng.integers(first + 1, counts[clip] + 1)
    spans = np.stack([rng.integers(0, 3, 50), clip, first, stop], axis=1)
    pieces, own = _pieces(spans, counts)
    held = np.zeros((6, 40), bool)
    for _, number, begin, end in spans:
        held[number, max(begin - 1, 0) : min(end + 1, counts[number])] = True
    made = np.zeros((6, 40), int)
    for number, begin, end in pieces:
        made[number, begin:end] += 1
    assert np.array_equal(made, held)
    assert np.array_equal(pieces[own, 0], clip)
    assert (pieces[own, 1] <= np.maximum(first - 1, 0)).all() and (pieces[own, 2] >= stop).all()
