"""Looking for local minima between clips, batch by batch, so that work done is work kept."""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from choreograph.base.arrays import Floats, Indices, Ints, Ints32, seal
from choreograph.base.errors import RequestError
from choreograph.base.progress import Progress, silent
from choreograph.build.checkpoint import Checkpoint
from choreograph.build.prepare import digest
from choreograph.graph.clips import window_clip
from choreograph.graph.connect import ConnectLimits, limits_between
from choreograph.graph.info import ClipInfo
from choreograph.graph.model import MotionGraph
from choreograph.graph.settings import GraphSettings
from choreograph.graph.tables import Minima
from choreograph.motion.clip import Clip

_SOME_FRAMES, _FEW_FRAMES = 100_000, 5_000
"""From how many frames on, and up to how many new ones, new clips are compared with what is there group by group."""
_ORDERED_BY = "clip_a", "clip_b", "frame_a", "frame_b"
_MOST_SHARE = 0.99
"""Where one part has more than this share of all minima, the others are put into their places in it."""
_MANY = 1 << 18
"""Minima from which on a kernel puts others into their places among them."""
_METHOD = 2
"""Counted up when batches come to hold other pairs than they did."""

if TYPE_CHECKING:
    from choreograph.distance.library import Library
    from choreograph.distance.minima import MinimaBatch as FoundBatch
    from choreograph.distance.minima import WindowMinima as Found
    from choreograph.distance.window import WindowedClip


class Windows:
    """The windows of all clips: one clip at a time as often as they are asked for, or all at once."""

    def __init__(
        self, clips: Sequence[Clip], infos: Sequence[ClipInfo], settings: GraphSettings, progress: Progress = silent
    ) -> None:
        self.frames = [info.frames for info in infos]
        """Of each clip, at the graph's rate."""
        self._clips, self._settings, self._progress = clips, settings, progress

    @property
    def counts(self) -> Ints:
        """How many windows each clip has."""
        return np.maximum(np.array(self.frames, np.int64) - (self._settings.window_frames - 1), 0)

    def __iter__(self) -> Iterator[WindowedClip]:
        for number, clip in enumerate(self._clips):
            self._progress("reading poses", number, len(self.frames))
            yield window_clip(clip, self._settings)
        self._progress("reading poses", len(self.frames), len(self.frames))

    @cached_property
    def library(self) -> Library:
        """All of them in memory."""
        from choreograph.distance.library import build_library

        return build_library(self, self.frames)

    def release(self) -> None:
        """Let go of the library; it is made again if it is asked for."""
        self.__dict__.pop("library", None)


class Compare(Protocol):
    """Finds minima as `iterate_minima` does, by whatever means."""

    def __call__(
        self,
        windows: Windows,
        threshold: Floats,
        *,
        classes: Sequence[int],
        involving: Sequence[int] | None,
        start: int,
        workers: int,
        progress: Progress,
    ) -> Iterator[FoundBatch]:
        """Batches of minima, by ascending clip; arguments are those of `iterate_minima`."""


def _processors() -> int:
    """Processors that this process may use; fewer than there are in containers and under `taskset`."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class WindowComparison:
    """Compares the windows of some clips, as often as another level is asked for."""

    def __init__(
        self,
        clips: Sequence[Clip],
        infos: Sequence[ClipInfo],
        settings: GraphSettings,
        *,
        progress: Progress | None = None,
        workers: int | None = None,
        checkpoint: Checkpoint | None = None,
        key: str | None = None,
        compare: Compare | None = None,
    ) -> None:
        self._clips, self._infos, self._settings = clips, infos, settings
        self._progress = progress or silent
        self._workers = workers or _processors()
        self._checkpoint = checkpoint
        self._compare = compare
        self.windows = Windows(clips, infos, settings, self._progress)
        self._key = ""
        if checkpoint is not None:
            self._key = f"{_key_of(clips) if key is None else key} {_what_counts(settings)} {_METHOD}"

    def find(self, level_m: float, involving: Sequence[int] | None = None) -> tuple[Minima, float]:
        """Every local minimum up to a threshold, and the share of window pairs whose distance had to be computed.

        Args:
            level_m: The general threshold, metres; where label thresholds allow more, minima go as far as those.
            involving: Numbers of clips of which each pair must have one; all pairs if None.
        """
        if involving is not None and not len(involving):
            return merge_minima([]), 0.0
        limits = limits_between(self._infos, self._settings, level_m)
        if involving is not None and self._are_few(involving):
            return self._find_few(limits, involving)
        parts: list[Minima] = []
        start = pairs = evaluated = 0
        if self._checkpoint is not None:
            self._checkpoint.begin(self._key, f"{limits.table.tolist()} {limits.classes} {involving}")
            for batch in self._checkpoint.batches():
                parts.append(batch.minima)
                start, pairs, evaluated = batch.stop, pairs + batch.pairs, evaluated + batch.evaluated
        if start == len(self._infos):  # all of it was kept, and windows are of no use any more
            return merge_minima(parts), evaluated / pairs if pairs else 1.0
        for fresh in (self._compare or _compare_here)(
            self.windows,
            limits.table,
            classes=limits.classes,
            involving=involving,
            start=start,
            workers=self._workers,
            progress=self._progress,
        ):
            minima = _as_table(fresh.minima)
            if self._checkpoint is not None:
                self._checkpoint.keep(fresh.clips.stop, fresh.pairs, fresh.evaluated, minima)
            parts.append(minima)
            pairs, evaluated = pairs + fresh.pairs, evaluated + fresh.evaluated
        return merge_minima(parts), evaluated / pairs if pairs else 1.0

    def _are_few(self, involving: Sequence[int]) -> bool:
        """Whether so few windows are compared with so many that measuring all of those anew takes longer."""
        frames = [info.frames for info in self._infos]
        return (
            self._compare is None
            and self._settings.goal is None  # which may ask again
            and sum(frames) > _SOME_FRAMES
            and sum(frames[number] for number in involving) < _FEW_FRAMES
        )

    def _find_few(self, limits: ConnectLimits, involving: Sequence[int]) -> tuple[Minima, float]:
        """The same as `find`, some clips at a time: all windows at once would be gigabytes, each looked at but once."""
        from choreograph.build.incremental import Groups, find_few

        frames = np.array([info.frames for info in self._infos]) - (self._settings.window_frames - 1)
        new = int(frames[list(involving)].sum())
        pairs, evaluated = new * int(frames.sum()), 0
        parts: list[Minima] = []
        groups = Groups(self._clips, self._infos, self._settings)
        for batch, numbers, computed in find_few(
            groups, involving, limits, workers=self._workers, progress=self._progress
        ):
            columns = _as_table(batch).columns()
            columns["clip_a"], columns["clip_b"] = numbers[columns["clip_a"]], numbers[columns["clip_b"]]
            parts.append(Minima(**columns))
            evaluated += computed
        return merge_minima(parts), min(1.0, evaluated / pairs) if pairs else 1.0

    def keep_outlines(self) -> None:
        """Leave in the cache what later additions to a large graph need to know of its clips."""
        if "library" not in self.windows.__dict__ or sum(self.windows.frames) <= _SOME_FRAMES:
            return
        from choreograph.build.incremental import Groups
        from choreograph.distance.library import part_of

        groups = Groups(self._clips, self._infos, self._settings)
        for group in groups.split(range(len(self._infos))):
            groups.outlines(group, part_of(self.windows.library, range(group[0], group[-1] + 1)))


def _compare_here(windows: Windows, threshold: Floats, **options: Any) -> Iterator[FoundBatch]:
    """By threads of this process, with all windows in memory."""
    from choreograph.build.estimate import machine_bytes, windows_bytes
    from choreograph.distance.minima import iterate_minima

    count = int(windows.counts.sum())
    need, have = windows_bytes(count), machine_bytes()
    if need > have:
        raise RequestError(
            f"comparing {count:,} windows takes about {need / 2**30:.1f} GiB of memory, and this machine has "
            f"{have / 2**30:.1f}; take fewer clips, or compare some at a time (open_cluster)"
        )
    return iterate_minima(windows.library, threshold, **options)


def merge_minima(parts: Sequence[Minima]) -> Minima:
    """All minima of the parts, by clips and frames."""
    most = max(parts, key=len, default=None)
    if most is not None and sum(map(len, parts)) * _MOST_SHARE < len(most) and _is_ordered(*_keys(most)):
        few = merge_minima([part for part in parts if part is not most])
        return _insert_minima(few, most) if len(few) else most
    columns: dict[str, NDArray[Any]] = {
        name: np.concatenate([np.zeros(0, dtype), *(getattr(part, name) for part in parts)])
        for name, dtype in Minima.dtypes.items()
    }
    keys = [columns[name] for name in _ORDERED_BY]
    if not _is_ordered(*keys):
        order = _order(keys)
        for name in columns:
            columns[name] = columns[name][order]
    return Minima(**{name: seal(columns.pop(name)) for name in list(columns)})


def grow_minima(graph: MotionGraph, few: Minima) -> Minima | None:
    """Very many minima of a graph and a few others, as one, put into place as they are read; None if that cannot be."""
    count, names = graph.count_rows("minima"), tuple(Minima.dtypes)
    if count < _MANY or (count + len(few)) * _MOST_SHARE >= count:
        return None
    from choreograph.graph import _compiled_join

    columns = graph.read_columns("minima", names, room=len(few))
    keys = [columns[name][:count] for name in _ORDERED_BY]
    if not _compiled_join.are_ordered(*keys):
        return None
    if len(few):
        at = _compiled_join.places_of(*keys, *_keys(few))
        for name, column in columns.items():
            _compiled_join.insert_rows(column, at, getattr(few, name))
    return Minima(**{name: seal(column) for name, column in columns.items()})


def _insert_minima(few: Minima, many: Minima) -> Minima:
    """A few and many, each in order, as one."""
    at = [_place(_keys(many), row) for row in zip(*_keys(few), strict=True)]
    columns = few.columns()
    return Minima(**{name: seal(np.insert(column, at, columns[name])) for name, column in many.columns().items()})


def _place(keys: Sequence[Ints32], row: Sequence[np.int32]) -> int:
    """Where a row comes among rows in order."""
    low, high = 0, len(keys[0])
    for key, value in zip(keys, row, strict=True):
        low, high = (low + int(np.searchsorted(key[low:high], value, side)) for side in ("left", "right"))
    return low


def _keys(minima: Minima) -> list[Ints32]:
    return [getattr(minima, name) for name in _ORDERED_BY]


def _is_ordered(*keys: NDArray[Any]) -> bool:
    """Whether rows ascend by the first key, then by the second and so on: they mostly do, and sorting takes memory."""
    equal = np.ones(max(len(keys[0]) - 1, 0), bool)
    for key in keys:
        if (equal & (key[1:] < key[:-1])).any():
            return False
        equal &= key[1:] == key[:-1]
    return True


def _order(keys: Sequence[NDArray[Any]]) -> Indices:
    """The order of rows by the first key, then by the second and so on; keys are not negative.

    As one number where that is large enough: then parts that are in order, as those of a graph that grows, are merged.
    """
    sizes = [int(key.max(initial=0)) + 1 for key in keys]
    if math.prod(sizes) > 2**63 - 1:
        return np.lexsort(list(keys)[::-1])
    return np.argsort(np.ravel_multi_index(tuple(keys), sizes), kind="stable")


def _as_table(minima: Found) -> Minima:
    """Minima as the graph keeps them."""
    names = ("clip_a", "a", "clip_b", "b", "distance", "yaw", "x", "z")
    return Minima(*(getattr(minima, name) for name in names))


def _what_counts(settings: GraphSettings) -> str:
    """The settings that distances depend on."""
    plain = settings.as_dict()
    return json.dumps([plain[name] for name in ("rate_hz", "window_s", "weights", "taper")])


def _key_of(clips: Sequence[Clip]) -> str:
    """A fingerprint of the clips in their order."""
    state = hashlib.blake2b(digest_size=16)
    for clip in clips:
        state.update(digest(clip).encode())
    return state.hexdigest()
