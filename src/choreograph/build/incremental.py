"""Comparing a few new clips with very many: only those windows are read that may be near one of the new.

Clips that are there are taken in groups. What a group's runs are like is kept in the cache, under what its clips hold,
so that a graph that grows has all but its last group measured; a large build leaves it there.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from choreograph.base.arrays import Ints
from choreograph.base.progress import Progress
from choreograph.build.prepare import digest
from choreograph.distance.library import Library, build_library
from choreograph.distance.minima import WindowMinima, iterate_minima, make_limits, minima_of
from choreograph.distance.prefilter import Newcomers, Outlines, measure_outlines, open_spans
from choreograph.distance.tiles import areas, cut_strips
from choreograph.distance.window import WindowedClip
from choreograph.graph.cache import Content, Key, find_or_build, limit_bytes
from choreograph.graph.clips import window_clip
from choreograph.graph.connect import ConnectLimits
from choreograph.graph.growing import forget_clips
from choreograph.graph.info import ClipInfo
from choreograph.graph.lazy import LazyClips, PickedClips, clip_word
from choreograph.graph.settings import GraphSettings
from choreograph.motion.clip import Clip

GROUP_FRAMES = 20_000
"""Frames of a group: some tens of clips."""
_LONGEST = 48
"""Windows of a strip of the new clips: shorter ones rule out more, longer ones are compared faster."""
_METHOD = 2
"""Counted up when a group is measured otherwise."""


class Groups:
    """Clips that are there, some at a time, and what was measured of them."""

    def __init__(self, clips: Sequence[Clip], infos: Sequence[ClipInfo], settings: GraphSettings) -> None:
        self.clips, self._infos, self._settings = clips, infos, settings
        self._windows: dict[int, WindowedClip] = {}

    def split(self, numbers: Sequence[int]) -> Iterator[list[int]]:
        """Some clips at a time, of about `GROUP_FRAMES` together."""
        group, frames = list[int](), 0
        for number in numbers:
            group.append(number)
            frames += self._infos[number].frames
            if frames >= GROUP_FRAMES or number == numbers[-1]:
                self._windows.clear()
                yield group
                self._let_go(group[0])
                group, frames = [], 0

    def _let_go(self, number: int) -> None:
        """Let memory go that a group of a file's clips was read to."""
        clips = self.clips.picked(number)[0] if isinstance(self.clips, PickedClips) else self.clips
        if isinstance(clips, LazyClips):
            forget_clips(clips.reader)

    def counts(self, group: Sequence[int]) -> Ints:
        """How many windows each clip of a group has."""
        return np.array([self._infos[number].frames for number in group]) - (self._settings.window_frames - 1)

    def windows(self, number: int) -> WindowedClip:
        """Windows of a clip; while its group is worked on, not made again."""
        if number not in self._windows:
            self._windows[number] = window_clip(self.clips[number], self._settings)
        return self._windows[number]

    def outlines(self, group: Sequence[int], library: Library | None = None) -> Outlines:
        """What the runs of a group are like, as the cache has it, or measured and put there.

        Args:
            group: Numbers of its clips.
            library: Their windows, if somebody has them.
        """
        return find_or_build(
            self._key(group) if limit_bytes() else None,
            lambda: measure_outlines(library or build_library([self.windows(number) for number in group])),
            lambda outline: Content({}, outline._asdict()),
            lambda content: Outlines(**{name: content.arrays[name] for name in Outlines._fields}),
        )

    def _key(self, group: Sequence[int]) -> Key:
        words = hashlib.blake2b(digest_size=16)
        for number in group:
            words.update((clip_word(self.clips, number) or digest(self.clips[number])).encode())
        plain = self._settings.as_dict()
        facts = {name: plain[name] for name in ("rate_hz", "window_s", "weights", "taper")}
        return Key("outlines", _METHOD, {"clips": words.hexdigest()}, facts)


def find_few(
    groups: Groups,
    involving: Sequence[int],
    limits: ConnectLimits,
    *,
    workers: int,
    progress: Progress,
) -> Iterator[tuple[WindowMinima, Ints, int]]:
    """Every local minimum between a few clips and all, and among the few, some at a time.

    Args:
        groups: All clips.
        involving: Numbers of the few.
        limits: How far minima matter between clips.
        workers: Threads.
        progress: Hears how many clips are done.

    Yields:
        Minima, the clips' numbers by which theirs are to be replaced, and how many window pairs were computed.
    """
    new = np.array(sorted(involving), np.int64)
    own = [groups.windows(number) for number in new.tolist()]
    classes, table = np.array(limits.classes, np.int64), limits.table
    for batch in iterate_minima(own, table, classes=classes[new].tolist(), workers=workers):
        yield batch.minima, new, batch.evaluated
    alone, few, count = build_library(own), set(new.tolist()), len(groups.clips)
    strips = cut_strips(alone, _LONGEST)
    coming = Newcomers(alone, strips)
    thresholds = table.astype(np.float32) + np.float32(1e-6)
    for group in groups.split([number for number in range(count) if number not in few]):
        numbers = np.array(group, np.int64)
        spans = open_spans(groups.outlines(group), coming, thresholds, (classes[numbers], classes[new]))
        if len(spans):
            pieces, spans[:, 1] = _pieces(spans, groups.counts(group))
            spans[:, 2:] -= pieces[spans[:, 1], 1:2]
            there = (groups.windows(group[clip]).part(first, stop) for clip, first, stop in pieces.tolist())
            library = build_library([*there, *own])
            both = np.concatenate([numbers[pieces[:, 0]], new])
            rectangles = _rectangles(library, strips, spans, both)
            minima = minima_of(library, rectangles, make_limits(table, classes[both].tolist(), len(both)))
            begin = np.concatenate([pieces[:, 1], np.zeros_like(new)])
            minima = replace(minima, a=minima.a + begin[minima.clip_a], b=minima.b + begin[minima.clip_b])
            yield minima, both, int(areas(rectangles).sum())
        progress("comparing windows", group[-1] + 1, count)


def _pieces(spans: Ints, counts: Ints) -> tuple[Ints, Ints]:
    """Pieces of clips that hold spans of windows and a window more on either side, where there is one.

    Args:
        spans: As given by `open_spans`.
        counts: How many windows each clip has.

    Returns:
        (P, 3): clip, first window, one past the last; and the piece of each span, (S,).
    """
    clip, apart = spans[:, 1], int(counts.max()) + 1
    first = clip * apart + np.maximum(spans[:, 2] - 1, 0)
    stop = clip * apart + np.minimum(spans[:, 3] + 1, counts[clip])
    order = np.argsort(first, kind="stable")
    reach = np.maximum.accumulate(stop[order])
    begin = np.flatnonzero(np.concatenate([[True], first[order][1:] > reach[:-1]]))
    starts, ends = first[order][begin], reach[np.append(begin[1:], len(order)) - 1]
    pieces = np.stack([starts // apart, starts % apart, ends - starts // apart * apart], axis=1)
    return pieces, np.searchsorted(starts, first, side="right") - 1


def _rectangles(library: Library, strips: Ints, spans: Ints, numbers: Ints) -> Ints:
    """Rectangles, (R, 6), of spans against strips of the new clips, the clip with the lower number first.

    Args:
        library: Pieces of clips that are there, then the new ones.
        strips: Of the new ones, in a library of their own.
        spans: As given by `open_spans`, with pieces in place of clips.
        numbers: Of the clips of all these.
    """
    there = len(numbers) - strips[-1, 0] - 1
    own = strips[spans[:, 0]] + [there, *[library.bounds[there, 0]] * 2]
    old = np.concatenate([spans[:, 1:2], spans[:, 2:] + library.bounds[spans[:, 1], :1]], axis=1)
    pairs = np.concatenate([old, own], axis=1)
    later = numbers[pairs[:, 0]] > numbers[pairs[:, 3]]
    pairs[later] = pairs[later][:, [3, 4, 5, 0, 1, 2]]
    return pairs
