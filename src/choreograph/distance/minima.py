"""Finding every place where one clip can flow into another: local minima of the distance between windows.

The rule. Window a of clip A and window b of clip B are a minimum if none of the eight pairs around, (a-1, b-1) to
(a+1, b+1), is nearer; of equal neighbours the first by (a, b) wins, so a frozen stretch, or a copy of a recording that
follows it step by step, gives one minimum and not hundreds. Beyond a clip's ends there are no neighbours. Within one
clip, pairs of windows that share frames are no candidates, but still count as neighbours: where the distance just
falls off towards the diagonal, the edge of that band is no minimum.

The distance is symmetric: what is found once, with clip A before clip B and a before b within a clip, serves both
directions. Each minimum depends on its two clips alone, never on what else was compared, on tiles, or on workers.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, fields
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from choreograph.base.arrays import Flags, Floats, Floats32, Ints
from choreograph.base.errors import RequestError
from choreograph.base.progress import Progress, silent
from choreograph.distance.blas import one_thread_each, threads
from choreograph.distance.library import Library, build_library
from choreograph.distance.prune import PruneLimits, Pruner, choose_basis, measure
from choreograph.distance.tiles import areas, cut_strips, make_rectangles, scan
from choreograph.distance.window import WindowedClip, floor_transform

What = TypeVar("What")

_STRIP = 192  # windows; larger rectangles waste less on halos, until they leave the cache
_MANY = 6_000  # windows from which pruning pays: on one core, 8,100 of mixed motion took two thirds of the time
_MANY_EACH = 2_000  # to be compared with each: measuring a window for pruning costs as much as comparing so many
_BATCH_PAIRS = 1 << 27  # window pairs between two batches: a second or two of one core without pruning
_AHEAD = 3  # tasks in hand for each worker
_TASK_STRIPS, _TASK_SHORT_STRIPS = 4, 32  # compared by one worker between two looks at the progress; when pruning


@dataclass(frozen=True)
class WindowMinima:
    """Local minima of the distance between windows, as columns of one length, ordered by (clip_a, clip_b, a, b)."""

    clip_a: Ints
    """Number of the first clip, never above clip_b."""
    a: Ints
    """First frame of the window in the first clip."""
    clip_b: Ints
    """Number of the second clip."""
    b: Ints
    """First frame of the window in the second clip."""
    distance: Floats
    """Metres RMS per joint."""
    yaw: Floats
    """The floor transform that lays window b on window a: radians about +y."""
    x: Floats
    """Shift after the turn, metres."""
    z: Floats
    """Shift after the turn, metres."""

    def __len__(self) -> int:
        return len(self.a)

    def take(self, which: Any) -> WindowMinima:
        """Some of the minima, by mask or numbers."""
        return WindowMinima(**{f.name: getattr(self, f.name)[which] for f in fields(self)})

    @staticmethod
    def concatenate(parts: Sequence[WindowMinima]) -> WindowMinima:
        """All the minima of the parts, in the usual order."""
        if not parts:
            none, nothing = np.empty(0, np.int64), np.empty(0)
            return WindowMinima(none, none, none, none, nothing, nothing, nothing, nothing)
        whole = WindowMinima(
            **{f.name: np.concatenate([getattr(p, f.name) for p in parts]) for f in fields(WindowMinima)}
        )
        return whole.take(np.lexsort((whole.b, whole.a, whole.clip_b, whole.clip_a)))


@dataclass(frozen=True)
class MinimaBatch:
    """What is known once some clips have been compared with all that follow them."""

    clips: range
    """The clips whose pairs with themselves and all later ones are now complete."""
    minima: WindowMinima
    """All minima of those pairs."""
    pairs: int
    """Window pairs that these clips and later ones have."""
    evaluated: int
    """Window pairs that had to be computed; the rest was ruled out."""


def find_minima(
    clips: Sequence[WindowedClip],
    threshold: ArrayLike,
    *,
    classes: Sequence[int] | None = None,
    involving: Collection[int] | None = None,
    prune: bool | None = None,
    workers: int = 1,
    progress: Progress | None = None,
) -> WindowMinima:
    """All minima within the threshold; see `iterate_minima`, which gives them bit by bit."""
    batches = iterate_minima(
        clips, threshold, classes=classes, involving=involving, prune=prune, workers=workers, progress=progress
    )
    return WindowMinima.concatenate([batch.minima for batch in batches])


def iterate_minima(
    clips: Sequence[WindowedClip] | Library,
    threshold: ArrayLike,
    *,
    classes: Sequence[int] | None = None,
    involving: Collection[int] | None = None,
    start: int = 0,
    prune: bool | None = None,
    workers: int = 1,
    progress: Progress | None = None,
) -> Iterator[MinimaBatch]:
    """Minima within the threshold, a batch of clips at a time, so that a long build can save its way.

    Args:
        clips: The clips' windows, all of one shape, or a library of them.
        threshold: Largest distance, metres RMS per joint; or a symmetric table (C, C) of them by class of clip.
        classes: Class of each clip, if the threshold is a table.
        involving: If given, only pairs with at least one of these clips are compared.
        start: The first clip to compare: those before it have been done.
        prune: Whether to rule out tiles by the triangle inequality; the result is the same. If not said, it is done
            where there are enough windows for it to pay.
        workers: Threads.
        progress: Hears of the window pairs that are done.

    Yields:
        Batches, by ascending clip.

    Raises:
        RequestError: If clips differ in joints or window, or thresholds and classes do not fit.
    """
    progress = progress or silent
    if workers < 1:
        raise RequestError(f"{workers} workers were asked for; there must be at least 1")
    library = clips if isinstance(clips, Library) else build_library(clips)
    count = len(library.bounds)
    limits = make_limits(threshold, classes, count)
    chosen = np.ones(count, bool) if involving is None else np.isin(np.arange(count), list(involving))
    windows = int(library.counts.sum())
    if prune is None:
        prune = windows >= _MANY and int(library.counts[chosen].sum()) >= _MANY_EACH
    pruner = None
    if windows > 0 and prune:
        progress("measuring windows", 0, windows)
        with one_thread_each():
            pruner = Pruner(measure(library, choose_basis(library), workers), limits, len(library.weights))
    strips = cut_strips(library, _STRIP) if pruner is None else pruner.strips
    at_once = _TASK_STRIPS if pruner is None else _TASK_SHORT_STRIPS
    batches = list(_batches(strips, chosen, start, at_once))
    # Between two batches as well: workers are ahead of whoever takes them.
    with one_thread_each(), threads(workers) as pool:

        def submit(rows: range) -> Future[tuple[WindowMinima, int]]:
            return pool.submit(scan_strips, library, strips, pruner, limits, chosen, rows)

        yield from gather_batches(batches, submit, ahead=_AHEAD * workers, progress=progress)


class Promise(Protocol):
    """Work that somebody does meanwhile."""

    def result(self) -> tuple[WindowMinima, int]:
        """Minima, and how many window pairs were computed; waits for them."""


class MinimaTask(NamedTuple, Generic[What]):
    """A part of a batch that is compared at once."""

    what: What
    """What is compared."""
    pairs: int
    """Window pairs that it has."""


def gather_batches(
    batches: Sequence[tuple[range, Sequence[MinimaTask[What]]]],
    submit: Callable[[What], Promise],
    *,
    ahead: int,
    progress: Progress,
) -> Iterator[MinimaBatch]:
    """Batches as their tasks, given out some at a time, are done.

    Args:
        batches: The clips that each one completes, ascending, and its tasks.
        submit: Gives a task to somebody to compare.
        ahead: Tasks that are given out at a time: they run ahead of the batch that is being gathered, so that nobody
            waits for the last one of it.
        progress: Hears of the window pairs that are done.
    """
    done, total = 0, sum(task.pairs for _, tasks in batches for task in tasks)
    coming = ((number, task) for number, (_, tasks) in enumerate(batches) for task in tasks)
    waiting: deque[tuple[int, MinimaTask[What], Promise]] = deque()
    for number, (finished, tasks) in enumerate(batches):
        parts, evaluated = [], 0
        while True:
            while len(waiting) < ahead and (following := next(coming, None)) is not None:
                waiting.append((*following, submit(following[1].what)))
            if not waiting or waiting[0][0] != number:
                break
            _, task, work = waiting.popleft()
            minima, computed = work.result()
            parts.append(minima)
            evaluated += computed
            done += task.pairs
            progress("comparing windows", done, total)
        yield MinimaBatch(finished, WindowMinima.concatenate(parts), sum(task.pairs for task in tasks), evaluated)


def scan_strips(
    library: Library, strips: Ints, pruner: Pruner | None, limits: PruneLimits, chosen: Flags, rows: range
) -> tuple[WindowMinima, int]:
    """Minima of some strips against all later ones, and how many window pairs were computed."""
    if pruner is None:
        rectangles = np.concatenate([make_rectangles(strips, row, len(library.weights), chosen) for row in rows])
    else:
        rectangles = pruner.open_rectangles(rows, range(len(strips)), chosen)
    return minima_of(library, rectangles, limits), int(areas(rectangles).sum())


def minima_of(library: Library, rectangles: Ints, limits: PruneLimits) -> WindowMinima:
    """Minima in rectangles of window pairs, as `make_rectangles` gives them."""
    pairs, squared, turned = scan(library, rectangles, limits.of(rectangles[:, 0], rectangles[:, 3]))
    clip_a, a, clip_b, b = pairs.T
    onto, source = library.origin[clip_a] + library.centre[a], library.origin[clip_b] + library.centre[b]
    yaw, x, z = floor_transform(turned, onto, source)
    a, b = a - library.bounds[clip_a, 0], b - library.bounds[clip_b, 0]
    return WindowMinima(clip_a, a, clip_b, b, np.sqrt(squared), yaw, x, z)


def _pairs_by_strip(strips: Ints, chosen: Flags) -> Ints:
    """How many window pairs each strip has to compare: with itself, later ones, and earlier ones not chosen."""
    widths = strips[:, 2] - strips[:, 1]
    is_chosen = chosen[strips[:, 0]]
    later, others = np.cumsum((widths * is_chosen)[::-1])[::-1], int((widths * ~is_chosen).sum())
    return np.asarray(np.where(is_chosen, widths * (later + others), 0))


def _batches(strips: Ints, chosen: Flags, start: int, at_once: int) -> Iterator[tuple[range, list[MinimaTask[range]]]]:
    """Ranges of clips from `start` on, each of about `_BATCH_PAIRS`, and tasks of some of their strips each."""
    pairs, clips = _pairs_by_strip(strips, chosen), len(chosen)
    edges = np.searchsorted(strips[:, 0], np.arange(clips + 1)).tolist()
    before = np.concatenate([[0], np.cumsum(pairs)])
    first = start
    for stop in range(start + 1, clips + 1):
        if stop == clips or before[edges[stop]] - before[edges[first]] >= _BATCH_PAIRS:
            rows = range(edges[first], edges[stop])
            parts = [range(row, min(row + at_once, rows.stop)) for row in rows[::at_once]]
            tasks = [MinimaTask(part, int(before[part.stop] - before[part.start])) for part in parts]
            yield range(first, stop), [task for task in tasks if task.pairs]
            first = stop


def make_limits(threshold: ArrayLike, classes: Sequence[int] | None, clips: int) -> PruneLimits:
    """Largest D for each pair of clips."""
    table = np.asarray(threshold, float)
    if not (np.isfinite(table).all() and (table >= 0).all()):
        raise RequestError(f"a threshold is a distance in metres from 0 up, not {table}")
    if table.ndim == 0:
        if classes is not None:
            raise RequestError("clips have classes but there is one threshold; give a table of them, class by class")
        return PruneLimits(table.reshape(1, 1) ** 2, np.zeros(clips, np.int64))
    if table.ndim != 2 or not np.array_equal(table, table.T):
        raise RequestError(f"a table of thresholds is square and symmetric; this one has shape {table.shape}")
    if classes is None or len(classes) != clips or not all(0 <= c < len(table) for c in classes):
        raise RequestError(f"a table of thresholds needs a class from 0 to {len(table) - 1} for each of {clips} clips")
    return PruneLimits(table**2, np.array(classes, np.int64))


def distance_matrix(p: WindowedClip, q: WindowedClip) -> Floats32:
    """Distance of every window of clip `p` from every window of clip `q`, metres, (N, M): for pictures.

    Computed in float32: near 0 it is off by up to a millimetre or so.
    """
    from choreograph.distance import _compiled

    library = build_library([p, q])
    rows, columns = library.counts
    matrix = np.empty((rows, columns), np.float32)
    buffers = _compiled.make_buffers(_STRIP, _STRIP, library.heights.shape[1], len(library.weights))
    with one_thread_each():
        for i in range(0, rows, _STRIP):
            for j in range(0, columns, _STRIP):
                height, width = min(_STRIP, rows - i), min(_STRIP, columns - j)
                top, left = library.bounds[0, 0] + i, library.bounds[1, 0] + j
                _compiled.fill_table(library, top, top + height, left, left + width, buffers)
                matrix[i : i + height, j : j + width] = buffers.table[1 : height + 1, 1 : width + 1]
    return np.sqrt(np.maximum(matrix, 0))
