"""Panels: which directions of the state move which part of the body, so that no more than that is worked out.

A direction's part is all that carries what it moves, and all that this carries. Directions in a row with the same part
are a group; the compiled kernels take a group sixteen directions at a time, over its part alone, and multiply rows of
two groups only where both parts have them.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from choreograph.base.arrays import Flags, Floats, Ints

LANES = 16
"""Directions of a panel, as the kernels have them."""


def parts_of(ancestors: Flags, w: Floats) -> Flags:
    """The part of the body (n, ny) that each direction belongs to; `ancestors` (n, n) has each one's, with itself."""
    related = ancestors | ancestors.T
    return np.asarray((related.astype(float) @ (w != 0)) > 0)


def make_panels(ancestors: Flags, w: Floats, holders: Ints) -> tuple[Any, Any]:
    """Panels and groups as the compiled kernels take them.

    Args:
        ancestors: Whether i carries j, or is it, (n, n).
        w: How coordinates depend on the state, (n, ny).
        holders: What carries each contact point, (P,).

    Returns:
        Panels: where each one's members begin, members, first column and how many, those of W, which points it moves.
        Groups: first column and how many, the group of each point, and for each pair of groups how many rows both have,
        and which.
    """
    parts = parts_of(ancestors, w)
    differ = (parts[:, 1:] != parts[:, :-1]).any(axis=0)
    edges = np.concatenate([[0], np.flatnonzero(differ) + 1, [w.shape[1]]])
    kinds = parts[:, edges[:-1]]  # of each group
    runs = [(at, min(LANES, end - at)) for start, end in pairwise(edges) for at in range(start, end, LANES)]
    members = [np.flatnonzero(parts[:, first]) for first, _ in runs]
    shares = np.zeros((len(runs), len(w), LANES))
    for share, (first, size) in zip(shares, runs, strict=True):
        share[:, :size] = w[:, first : first + size]
    reaches = np.array([np.isin(holders, one) for one in members])
    starts = np.concatenate([[0], np.cumsum([len(one) for one in members])])
    panels = (starts, np.concatenate(members), np.array(runs), shares, reaches)
    # A point's force is in the smallest group that has all that carries it; the root's has all.
    fits = np.asarray((kinds[:, :, None] | ~ancestors[:, None, holders]).all(axis=0))
    point_group = np.argmin(np.where(fits, kinds.sum(axis=0)[:, None], len(w) + 1), axis=0)
    both = kinds[:, :, None] & kinds[:, None, :]
    count = both.sum(axis=0)
    common = np.zeros((*count.shape, len(kinds)), np.int64)
    for a, b in np.ndindex(*count.shape):
        common[a, b, : count[a, b]] = np.flatnonzero(both[:, a, b])
    return panels, (np.stack([edges[:-1], np.diff(edges)], axis=1), point_group, count, common)
