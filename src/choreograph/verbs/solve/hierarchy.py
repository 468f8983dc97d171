"""Where clips can be cut into each other, from coarse to fine, after Arikan & Forsyth (2002, section 4.1).

A cut (from, to) leaves a clip before its frame `from` and goes on with frame `to` of another. Cuts that neighbour each
other form groups, groups are split into clusters, and each cluster is the root of a binary tree whose leaves are the
cuts themselves. Every node of a tree names one real cut, the leaf nearest to its cluster's centre, so a path can be
shown at any time of the search.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from choreograph.base.arrays import Floats32, Ints, Ints32, seal
from choreograph.base.errors import RequestError
from choreograph.base.progress import Progress, silent
from choreograph.distance.blas import one_thread_each
from choreograph.features.frames import FrameTable
from choreograph.verbs.solve.cut_costs import choose_max_cut_cost

SPLITS = {"axis ratio": 1.0, "quarter": 0.25, "one": 0.0}
"""How many clusters a group is split into: the ratio of its axes as in the paper, a quarter of it, or one."""
_NEIGHBOURS = np.ones((3, 3), int)


@dataclass(frozen=True)
class HierarchySettings:
    """How near two frames must be for a cut, and how coarsely cuts are summarised."""

    max_cut_cost: float | None = None
    """Greatest cost of a cut; if None, the median cost between frames three apart, or more if clips would fall out."""
    split: str = "axis ratio"
    """A name from SPLITS."""
    apart_s: float = 1 / 3
    """Seconds that a cut within one clip must skip or go back at least."""

    def __post_init__(self) -> None:
        if self.max_cut_cost is not None and not (np.isfinite(self.max_cut_cost) and self.max_cut_cost > 0):
            raise RequestError(f"max_cut_cost is {self.max_cut_cost}; it must be a positive number")
        if self.split not in SPLITS:
            raise RequestError(f"groups of cuts are not split by {self.split!r}; choose from {', '.join(SPLITS)}")
        if not (np.isfinite(self.apart_s) and self.apart_s >= 0):
            raise RequestError(f"apart_s is {self.apart_s}; it must not be negative")


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """Trees of cuts. Nodes [0, roots) are the coarsest graph G′, ordered by clip left, clip entered, frame left."""

    frames: FrameTable
    settings: HierarchySettings
    max_cut_cost: float
    """The greatest cost of a cut."""
    source: Ints32
    """Row of the frame that is not shown any more, (N,)."""
    target: Ints32
    """Row of the frame shown in its place, (N,)."""
    cost: Floats32
    """Cost of the cut as a share of τ, (N,)."""
    child: Ints32
    """The first of a node's two children, the second is behind it; -1 for a leaf, (N,)."""
    roots: int
    groups: int
    """Groups of neighbouring cuts."""

    @property
    def leaves(self) -> int:
        """Number of cuts: edges of the finest graph G."""
        return int((self.child < 0).sum())

    @property
    def first_root(self) -> Ints:
        """Where the roots of each ordered pair of clips begin, (C² + 1,): pair (a, b) is number a C + b."""
        clips = len(self.frames.base) - 1
        pair = self.frames.clip_of[self.source[: self.roots]].astype(np.int64) * clips
        pair += self.frames.clip_of[self.target[: self.roots]]
        return np.searchsorted(pair, np.arange(clips * clips + 1))

    @property
    def part_of(self) -> Ints32:
        """Which connected part each clip belongs to, (C,): from every clip of a part cuts lead to every other of it."""
        from scipy import sparse
        from scipy.sparse.csgraph import connected_components

        clips = len(self.frames.base) - 1
        ways = self.frames.clip_of[self.source[: self.roots]], self.frames.clip_of[self.target[: self.roots]]
        links = sparse.coo_matrix((np.ones(self.roots), ways), (clips, clips))
        return np.asarray(connected_components(links, directed=True, connection="strong")[1], np.int32)

    def lost_clips(self) -> list[int]:
        """Clips that are not in the largest set of clips of which each can be reached from every other."""
        part = self.part_of
        frames = np.bincount(part, weights=np.diff(self.frames.base))
        return [int(c) for c in np.flatnonzero(part != frames.argmax())]


def build_hierarchy(
    frames: FrameTable, settings: HierarchySettings | None = None, progress: Progress | None = None
) -> Hierarchy:
    """Every cut below τ, summarised.

    Costs are products of two clips' features at a time, never a matrix of all frames. They are symmetric, so each
    pair of clips is worked on once and its trees serve both directions.
    """
    from scipy import ndimage

    from choreograph.verbs.solve import _compiled_hierarchy

    settings, told = settings or HierarchySettings(), progress or silent
    max_cut_cost = choose_max_cut_cost(frames) if settings.max_cut_cost is None else settings.max_cut_cost
    apart = round(settings.apart_s * frames.rate_hz)
    clips = len(frames.base) - 1
    # |a - b|² < τ where a·b > (|a|² - τ/2) / 2 + (|b|² - τ/2) / 2; no frame is near to padding.
    half = 0.5 * ((frames.features**2).sum(axis=1) - np.float32(0.5 * max_cut_cost))
    parts, groups = [], 0
    with one_thread_each():
        for a in range(clips):
            told("finding cuts", a, clips)
            rows = slice(int(frames.base[a]), int(frames.base[a + 1]) - 1)
            # A strip of one clip's frames against those of all clips that follow.
            beyond = slice(rows.start, len(frames))
            product = frames.features[rows] @ frames.features[beyond].T
            near = product > half[rows, None] + half[beyond]
            for b in range(a, clips):
                low, high = int(frames.base[b]) - rows.start, int(frames.base[b + 1]) - 1 - rows.start
                block = near[:, low:high]
                if a == b:
                    block = block & (np.abs(np.subtract.outer(np.arange(len(block)), np.arange(len(block)))) >= apart)
                if not block.any():
                    continue
                label, count = ndimage.label(block, _NEIGHBOURS)
                i, j = np.nonzero(block)
                group = label[i, j]
                order = np.argsort(group, kind="stable")
                i, j, group = i[order].astype(np.int32), j[order].astype(np.int32), group[order]
                first = np.searchsorted(group, np.arange(1, count + 2))
                left = half[rows][i] + half[beyond][low + j] - product[i, low + j]
                share = np.maximum(1 + 2 * left / max_cut_cost, 0).astype(np.float32)
                leaf, child, roots = _compiled_hierarchy.build_trees(i, j, first, SPLITS[settings.split])
                here, there, share = i[leaf] + np.int32(rows.start), j[leaf] + np.int32(frames.base[b]), share[leaf]
                parts.append(_Trees(a, b, here, there, share, child, roots))
                if a != b:
                    parts.append(_Trees(b, a, there, here, share, child, roots))
                groups += count * (1 if a == b else 2)
    told("finding cuts", clips, clips)
    return _joined(frames, settings, max_cut_cost, parts, groups)


@dataclass(frozen=True, eq=False)
class _Trees:
    """The trees of one ordered pair of clips, roots first."""

    left: int
    entered: int
    source: Ints32
    target: Ints32
    cost: Floats32
    child: Ints32
    roots: int


def _joined(
    frames: FrameTable, settings: HierarchySettings, max_cut_cost: float, parts: list[_Trees], groups: int
) -> Hierarchy:
    """All trees in one set of arrays: the roots of all pairs of clips in order, then the rest."""
    if not parts:
        raise RequestError(
            f"no frame is near enough to another to cut there (max_cut_cost is {max_cut_cost:.3g}); "
            "give a greater max_cut_cost or more motion"
        )
    parts = sorted(parts, key=lambda part: (part.left, part.entered))
    roots = sum(part.roots for part in parts)
    below = roots
    columns: dict[str, tuple[list[Any], list[Any]]] = {name: ([], []) for name in ("source", "target", "cost", "child")}
    for part in parts:
        # A root's place changes by its sort order, a lower node's by a constant.
        order = np.argsort(part.source[: part.roots], kind="stable")
        child = np.where(part.child < 0, np.int32(-1), part.child + np.int32(below - part.roots))
        below += len(part.child) - part.roots
        for name, (top, rest) in columns.items():
            values = child if name == "child" else getattr(part, name)
            top.append(values[: part.roots][order])
            rest.append(values[part.roots :])
    whole = {name: seal(np.concatenate(top + rest)) for name, (top, rest) in columns.items()}
    return Hierarchy(frames, settings, max_cut_cost, **whole, roots=roots, groups=groups)
