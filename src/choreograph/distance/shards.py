"""Comparing an archive two shards at a time: nobody holds more of its windows than those of two.

A shard is the windows of some clips that follow each other. All are measured by one basis, each on its own; two are
joined to be compared. Minima depend on their two clips alone, so they are those of the whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from typing import NamedTuple

import numpy as np

from choreograph.base.arrays import Flags, Ints
from choreograph.distance.library import Library, join_libraries
from choreograph.distance.minima import MinimaTask, WindowMinima, minima_of
from choreograph.distance.prune import MeasuredRuns, PruneLimits, Pruner, WindowBasis, measure
from choreograph.distance.tiles import areas


class Shard(NamedTuple):
    """The windows of some clips, measured."""

    first: int
    """Number of the first clip."""
    library: Library
    measured: MeasuredRuns

    def followed_by(self, other: Shard) -> Shard:
        """The windows of both; clips are counted on."""
        clips, frames = len(self.library.bounds), len(self.library.heights)
        measured = self.measured.followed_by(other.measured, clips, frames)
        return Shard(self.first, join_libraries(self.library, other.library), measured)


class Question(NamedTuple):
    """What is asked of two shards, or of one and itself."""

    limits: PruneLimits
    """Of the clips of both, the earlier shard's first."""
    chosen: Flags
    """Of the clips of both: rows are of these. Columns are later, or not chosen."""
    start: int
    """The first clip of the rows' shard that is to be compared, counted within it."""


def measure_shard(first: int, library: Library, basis: WindowBasis) -> Shard:
    """A shard of a library whose clips are numbered on from the first."""
    return Shard(first, library, measure(library, basis))


def compare_shards(rows: Shard, columns: Shard, question: Question) -> tuple[WindowMinima, int]:
    """Minima between two shards, or within one that is both; and how many window pairs were computed."""
    parts = sorted({part.first: part for part in (rows, columns)}.values(), key=lambda part: part.first)
    both = reduce(Shard.followed_by, parts)
    pruner = Pruner(both.measured, question.limits, len(both.library.weights))
    first = len(parts[0].measured.strips)
    strips = {
        part.first: span for part, span in zip(parts, (range(first), range(first, len(pruner.strips))), strict=False)
    }
    begin = int(np.searchsorted(rows.measured.strips[:, 0], question.start))
    rectangles = pruner.open_rectangles(strips[rows.first][begin:], strips[columns.first], question.chosen)
    minima = minima_of(both.library, rectangles, question.limits)
    numbers = np.concatenate([part.first + np.arange(len(part.library.bounds)) for part in parts])
    return replace(minima, clip_a=numbers[minima.clip_a], clip_b=numbers[minima.clip_b]), int(areas(rectangles).sum())


def cut_shards(frames: Sequence[int], most: int) -> list[range]:
    """Clips by shards: each as few as have so many frames together."""
    shards, first, have = list[range](), 0, 0
    for number, count in enumerate(frames):
        have += count
        if have >= most or number == len(frames) - 1:
            shards.append(range(first, number + 1))
            first, have = number + 1, 0
    return shards


def pair_up(
    shards: Sequence[range], windows: Ints, chosen: Flags, start: int
) -> list[tuple[range, list[MinimaTask[tuple[int, int]]]]]:
    """Pairs of shards as tasks, and the clips that those of each shard complete.

    Rows are clips that are chosen; columns are the same and later shards, and of earlier ones what is not chosen.

    Args:
        shards: Their clips.
        windows: Of each clip.
        chosen: Of each clip: pairs must have one of these.
        start: The first clip whose rows are to be compared.
    """
    batches = []
    for number, clips in enumerate(shards):
        if clips.stop <= start:
            continue
        own = range(max(start, clips.start), clips.stop)
        rows = int(windows[own][chosen[own]].sum())
        tasks = []
        for other, columns in enumerate(shards):
            of = windows[columns] if other >= number else np.where(chosen[columns], 0, windows[columns])
            pairs = rows * int(of.sum()) - (rows * rows // 2 if other == number else 0)
            tasks.append(MinimaTask((number, other), pairs))
        batches.append((own, [task for task in tasks if task.pairs]))
    return batches
