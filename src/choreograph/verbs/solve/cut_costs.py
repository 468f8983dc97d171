"""How unlike two frames may be for a cut: τ, chosen so that the clips stay connected as far as cuts stay good."""

from __future__ import annotations

import math

import numpy as np

from choreograph.base.arrays import Floats
from choreograph.distance.blas import one_thread_each
from choreograph.features.frames import FrameTable

_APART, _APART_AT_MOST = 3, 4
"""τ is the median cost between frames so far apart: at 30 Hz, two apart lose the jumps among other motion. For clips
that would fall out it is raised, to the median between frames four apart at most, where cuts begin to show."""


def choose_max_cut_cost(frames: FrameTable) -> float:
    """The median cost between frames three apart in the same clip, or what more it takes to keep clips connected."""
    max_cut_cost, most = (median_cost(frames, apart) for apart in (_APART, _APART_AT_MOST))
    joining = joining_cut_costs(frames, max_cut_cost)
    return max(max_cut_cost, float(joining[joining <= most].max(initial=0.0)))


def median_cost(frames: FrameTable, apart: int) -> float:
    """The median cost between frames so far apart in the same clip."""
    costs = [np.zeros(0, np.float32)]
    for first, stop in zip(frames.base[:-1], frames.base[1:] - 1, strict=True):
        rows = frames.features[first:stop]
        costs.append(((rows[apart:] - rows[:-apart]) ** 2).sum(axis=1))
    known = np.concatenate(costs)
    return float(np.median(known)) if len(known) else 1.0


def joining_cut_costs(frames: FrameTable, max_cut_cost: float) -> Floats:
    """From which τ on each clip can be cut into the most motion that is connected at the given one, (C,).

    0 for the clips that are connected already. Costs are symmetric, so what can be cut into can be left as well.
    """
    from scipy.sparse.csgraph import connected_components, minimum_spanning_tree

    nearest = _nearest_costs(frames)
    _, part = connected_components(nearest < max_cut_cost, directed=False)
    sizes = np.bincount(part, weights=np.diff(frames.base))
    within = part == sizes.argmax()
    out = np.zeros(len(within))
    if within.all():
        return out
    # The least cut through which each clip can be reached from there is on the tree of the least cuts of all.
    tree = minimum_spanning_tree(np.maximum(nearest, 1e-12)).tocoo()
    order = np.argsort(tree.data, kind="stable")
    group = np.arange(len(within))
    main = int(np.flatnonzero(within)[0])
    for cost, a, b in zip(tree.data[order], tree.row[order], tree.col[order], strict=True):
        joined = np.isin(group, (group[a], group[b]))
        if group[main] in (group[a], group[b]):
            out[joined & (group != group[main])] = cost
        group[joined] = group[a]
    # A cut costs less than τ, and costs are known in single precision.
    return np.where(within, 0.0, out * (1 + 1e-4))


def say_cut_cost(max_cut_cost: float) -> str:
    """A τ in three digits, rounded up: what is said to be enough is."""
    step = 10.0 ** (math.floor(math.log10(max_cut_cost)) - 2)
    return f"{math.ceil(max_cut_cost / step) * step:.3g}"


def _nearest_costs(frames: FrameTable) -> Floats:
    """The least cost of a cut between every two clips, (C, C); by strips of one clip, never all frames at once."""
    norms = (frames.features**2).sum(axis=1)
    clips = len(frames.base) - 1
    out = np.zeros((clips, clips))
    with one_thread_each():
        for a in range(clips):
            rows = slice(int(frames.base[a]), int(frames.base[a + 1]) - 1)
            # Costs are symmetric: a strip against the clips that follow will do.
            product = frames.features[rows] @ frames.features[rows.start :].T
            product *= -2
            product += norms[rows, None]
            least = product.min(axis=0) + norms[rows.start :]
            out[a, a:] = out[a:, a] = np.maximum(np.minimum.reduceat(least, frames.base[a:-1] - rows.start), 0.0)
    return out
