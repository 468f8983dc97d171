"""Clips and graph tables that are read from an open .mog file when they are first asked for."""

from __future__ import annotations

import hashlib
import os
import sqlite3
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from functools import cached_property
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from choreograph.base.arrays import Ints32
from choreograph.graph import rows, validation
from choreograph.graph.fingerprint import Fingerprint
from choreograph.graph.info import ClipInfo
from choreograph.graph.tables import TABLES, Alignment, Edges, LongBlends, Minima, Nodes, Table, empty_table
from choreograph.motion.clip import Clip
from choreograph.motion.skeleton import Skeleton

if TYPE_CHECKING:
    from choreograph.graph.cache import Content

_CLIPS_KEPT, _BYTES_KEPT = 64, 1 << 28
"""Clips read most lately stay in memory, up to so many and so many bytes: enough for a walk's clips, and far from a
whole database."""


_MANY_EDGES = 1_000_000
"""Edges from which on the cache has them too: a file gives ten million in seconds, a memory map in a tenth of one."""
_LONG_BLENDS_SINCE = 5
"""The schema version that brought long blends."""


class Reader:
    """An open file, for one thread at a time; closed when nobody holds it any more."""

    def __init__(
        self, connection: sqlite3.Connection, path: Path, file_identity: tuple[int, ...] | None = None
    ) -> None:
        self.connection, self.path, self.lock, self.identity = connection, path, threading.RLock(), file_identity
        weakref.finalize(self, connection.close)


def identity(state: os.stat_result) -> tuple[int, ...]:
    """What a file is told by that nobody has replaced or changed."""
    return state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns


class LazyClips(Sequence[Clip]):
    """The clips of a file, each read when it is asked for; the latest are kept."""

    def __init__(self, reader: Reader, infos: Sequence[ClipInfo], keep: int = _CLIPS_KEPT) -> None:
        self.reader, self.infos, self._keep = reader, infos, keep
        self._kept: OrderedDict[int, Clip] = OrderedDict()
        self._skeletons: dict[int, Skeleton] = {}

    def __len__(self) -> int:
        """Number of clips."""
        return len(self.infos)

    @property
    def version(self) -> int:
        """Schema version of the file."""
        with self.reader.lock:
            return int(self.reader.connection.execute("PRAGMA user_version").fetchone()[0])

    @overload
    def __getitem__(self, index: int) -> Clip: ...
    @overload
    def __getitem__(self, index: slice) -> list[Clip]: ...
    def __getitem__(self, index: int | slice) -> Clip | list[Clip]:
        """The clip of this number, or the clips of a slice."""
        if isinstance(index, slice):
            return [self[n] for n in range(*index.indices(len(self)))]
        number = range(len(self))[index]
        with self.reader.lock:
            if number not in self._kept:
                with rows.reading(self.reader.path):
                    self._kept[number] = self._read(number)
                self._make_room()
            self._kept.move_to_end(number)
            return self._kept[number]

    def forget(self, number: int) -> None:
        """Read a clip anew when it is asked for next: it is another now."""
        with self.reader.lock:
            self._kept.pop(number, None)

    def _make_room(self) -> None:
        """Forget those that were not asked for the longest; the latest stays."""
        frames = [self.infos[number].own_frames for number in self._kept]
        # A clip keeps the places and turns of its joints once somebody asks for them.
        size = len(next(reversed(self._kept.values())).skeleton) * (4 + 3 + 4) * 8
        count_held, total = len(frames), size * sum(frames)
        for own in frames[:-1]:
            if count_held <= self._keep and total <= _BYTES_KEPT:
                break
            self._kept.popitem(last=False)
            count_held, total = count_held - 1, total - size * own

    def _read(self, number: int) -> Clip:
        info = self.infos[number]
        skeleton, source = self.reader.connection.execute(
            "SELECT skeleton, source FROM clip WHERE id = ?", (number,)
        ).fetchone()
        if info.mirror_of is not None:
            return self[info.mirror_of].mirrored().with_name(info.name)
        if skeleton not in self._skeletons:
            self._skeletons[skeleton] = rows.read_skeleton(self.reader.connection, skeleton)
        stored = rows.read_arrays(self.reader.connection, "clip_array", number)
        arrays: dict[str, Any] = {name: stored.get(name) for name in rows.CLIP_ARRAYS}
        where = validation.source(source, f"clip {number}")
        clip = Clip(self._skeletons[skeleton], info.fps, name=info.name, labels=info.labels, source=where, **arrays)
        if len(clip) != info.own_frames:
            raise ValueError(f"clip {info.name!r} has {len(clip)} frames, not {info.own_frames}")
        return clip

    @cached_property
    def words(self) -> list[str]:
        """A word for the motion of each clip that changes when the motion does; no array is read."""
        with self.reader.lock, rows.reading(self.reader.path):
            execute = self.reader.connection.execute
            query = "SELECT clip, name, dtype, shape, crc32 FROM clip_array WHERE name <> 'contacts' ORDER BY 1, 2"
            arrays: dict[int, list[Any]] = {}
            for clip, *bone in execute(query):
                arrays.setdefault(clip, []).append(bone)
            bones: dict[int, list[Any]] = {}
            for query in (
                "SELECT id, names, roles FROM skeleton",
                "SELECT skeleton, name, shape, crc32 FROM skeleton_array ORDER BY 1, 2",
            ):
                for number, *bone in execute(query):
                    bones.setdefault(number, []).append(bone)
            body = {number: hashlib.sha256(repr(bone).encode()).hexdigest() for number, bone in bones.items()}
            words = []
            for number, fps, skeleton, original in execute("SELECT id, fps, skeleton, mirror_of FROM clip ORDER BY id"):
                own = arrays[number if original is None else original]
                words.append(repr((fps, body[skeleton], original is not None, own)))
            return words


def clip_word(clips: Sequence[Clip], number: int) -> str | None:
    """A word for a clip's motion, where a file tells it without the clip being read."""
    if isinstance(clips, PickedClips):
        return clip_word(*clips.picked(number))
    return clips.words[number] if isinstance(clips, LazyClips) else None


class PickedClips(Sequence[Clip]):
    """Clips of several sequences in one, still read only when asked for."""

    def __init__(self, picked: Sequence[tuple[Sequence[Clip], int]]) -> None:
        self._picked = picked

    def __len__(self) -> int:
        """Number of clips."""
        return len(self._picked)

    def picked(self, number: int) -> tuple[Sequence[Clip], int]:
        """The sequence that a clip is of, and its number there."""
        return self._picked[number]

    def begins_with(self, infos: Sequence[ClipInfo]) -> LazyClips | None:
        """The file whose clips, all of them in their order, come first; None if there is none, or told else."""
        picked = self.taken_from(infos)
        return picked[0] if picked is not None and len(picked[1]) == len(picked[0]) else None

    def taken_from(self, infos: Sequence[ClipInfo]) -> tuple[LazyClips, list[int]] | None:
        """The file of which clips come first, in their order there, and which; None if there is none, or told else.

        Args:
            infos: What is known of these clips.
        """
        clips = self._picked[0][0] if self._picked else None
        if not isinstance(clips, LazyClips):
            return None
        numbers = [n for _, n in takewhile(lambda pick: pick[0] is clips, self._picked)]
        place = {was: now for now, was in enumerate(numbers)}
        for was, now in place.items():
            own, original = clips.infos[was], clips.infos[was].mirror_of
            if original is not None and original not in place:
                return None
            if infos[now] != (own if original is None else replace(own, mirror_of=place[original])):
                return None
        return (clips, numbers) if numbers == sorted(place) else None

    @overload
    def __getitem__(self, index: int) -> Clip: ...
    @overload
    def __getitem__(self, index: slice) -> list[Clip]: ...
    def __getitem__(self, index: int | slice) -> Clip | list[Clip]:
        """The clip of this number, or the clips of a slice."""
        if isinstance(index, slice):
            return [clips[n] for clips, n in self._picked[index]]
        clips, n = self._picked[index]
        return clips[n]


class LazyTables(Mapping[str, Table]):
    """Minima, nodes and edges of a file, each read, with its indices checked, when it is asked for."""

    def __init__(
        self,
        reader: Reader,
        infos: Sequence[ClipInfo],
        window: int,
        fingerprint: Callable[[], Fingerprint] | None = None,
    ) -> None:
        self._reader, self._window, self._fingerprint = reader, window, fingerprint
        self._frames = np.array([info.frames for info in infos], np.int64)
        self._kept: dict[str, Table] = {}
        self.first_edge: Ints32 | None = None
        """Where each node's edges begin, (N + 1,), where the cache has told that with the edges."""

    def __iter__(self) -> Iterator[str]:
        return iter(TABLES)

    def __len__(self) -> int:
        """Number of tables."""
        return len(TABLES)

    def __getitem__(self, part: str) -> Any:
        """The table of this name."""
        with self._reader.lock:
            if part not in self._kept:
                many = part == "edges" and self._fingerprint is not None and self.count(part) > _MANY_EDGES
                self._kept[part] = self._mapped_edges() if many else self._checked(part)
            return self._kept[part]

    def _checked(self, part: str) -> Table:
        with rows.reading(self._reader.path):
            table = self._read(part)
            self._check(table)
            return table

    def _mapped_edges(self) -> Table:
        """Edges as the cache has them, checked when they were put there."""
        from choreograph.graph.cache import Content, Key, find_or_build, limit_bytes

        assert self._fingerprint is not None
        known = self._fingerprint()
        words = {"motion": known.motion, "edges": known.edges}
        # What they were checked against: the frames of each clip at the graph's rate.
        facts = {"frames": int(self._frames.sum()), "clips": len(self._frames), "window": self._window}
        return find_or_build(
            Key("edges", 2, words, facts, self._reader.path.name) if limit_bytes() else None,
            self._checked_edges,
            lambda edges: Content({}, edges.columns() | {"first": edges.first_of(len(self["nodes"]))}),
            self._unpack_edges,
        )

    def _checked_edges(self) -> Edges:
        edges = self._checked("edges")
        assert isinstance(edges, Edges)
        return edges

    def _unpack_edges(self, content: Content) -> Edges:
        self.first_edge = content.arrays["first"]
        return Edges(**{field.name: content.arrays[field.name] for field in fields(Edges)})

    def count(self, part: str) -> int:
        """Rows of a table, without reading it."""
        if part in self._kept:
            return len(self._kept[part])
        name = fields(TABLES[part])[0].name
        with self._reader.lock, rows.reading(self._reader.path):
            query = "SELECT shape FROM graph_array WHERE part = ? AND name = ?"
            row = self._reader.connection.execute(query, (part, name)).fetchone()
            return 0 if row is None else int(row[0])

    def columns(self, part: str, names: Sequence[str], room: int = 0) -> dict[str, NDArray[Any]]:
        """Some columns of a table, not kept; of minima, checked as the whole table is.

        Args:
            part: The table.
            names: Its columns.
            room: How many rows that may be written to they have at their end.
        """
        if part in self._kept:
            return with_room({name: getattr(self._kept[part], name) for name in names}, room)
        with self._reader.lock, rows.reading(self._reader.path):
            connection, key = self._reader.connection, "graph_array"
            stored = {name: rows.read_array(connection, key, (part, name), room) for name in names}
            if any(column is None for column in stored.values()):
                raise ValueError(f"{part} lack a column")
            columns = {name: column for name, column in stored.items() if column is not None}
            if len({column.shape for column in columns.values()}) > 1:
                raise ValueError(f"columns of {part} have different lengths")
            own = {name: column[: len(column) - room] for name, column in columns.items()}
            for clip, frame in (("clip_a", "frame_a"), ("clip_b", "frame_b")):
                if clip in own and frame in own:
                    self._check_frames(own[clip], own[frame], self._window)
            _check_finite(own)
            return columns

    def _read(self, part: str) -> Table:
        version = self._reader.connection.execute("PRAGMA user_version").fetchone()[0]
        if version < _LONG_BLENDS_SINCE and part in ("long_blends", "alignment"):
            return empty_table(part)
        columns = {}
        for field in fields(TABLES[part]):
            column = rows.read_array(self._reader.connection, "graph_array", (part, field.name))
            if column is None:
                raise ValueError(f"{part} have no column {field.name}")
            columns[field.name] = column
        return TABLES[part](**columns)

    def _check(self, table: Table) -> None:
        """Raise a ValueError where a number points outside of what it points into."""
        if isinstance(table, Minima):
            self._check_frames(table.clip_a, table.frame_a, self._window)
            self._check_frames(table.clip_b, table.frame_b, self._window)
        elif isinstance(table, Nodes):
            self._check_frames(table.clip, table.frame, 0)
        elif isinstance(table, Edges):
            nodes = len(self["nodes"])
            _check_range("edges", table.source, nodes)
            _check_range("edges", table.target, nodes)
            _check_range("kinds of edges", table.kind, 2)
            steps = np.diff(table.source)
            if (steps < 0).any() or int((steps > 0).sum()) + min(len(table), 1) != nodes:
                raise ValueError("edges are out of order, or a node has none")
            if (table.stop <= table.start).any():
                raise ValueError("edges show no frames")
            blends = self["long_blends"]
            # Only a long blend may be longer than what it takes from either clip.
            fits = table.stop - table.start if not len(blends) else 0
            self._check_frames(table.clip, table.start, fits)
            self._check_frames(table.target_clip, table.target_start, fits)
            if len(blends) and (table.stop - table.start > max(int(blends.frames.max()), self._longest())).any():
                raise ValueError("edges show more frames than there are")
        elif isinstance(table, LongBlends):
            self._check_frames(table.source_clip, table.source_frame, 1)
            self._check_frames(table.target_clip, table.target_frame, 1)
            self._check_frames(table.target_clip, table.arrive_frame, 0)
            if (table.frames < 1).any() or (table.first < 0).any():
                raise ValueError("long blends show no frames")
            self._check_alignment(table, self["alignment"])
        _check_finite(table.columns())

    def _longest(self) -> int:
        return int(self._frames.max(initial=0))

    def _check_alignment(self, blends: LongBlends, alignment: Alignment) -> None:
        """Raise a ValueError where a long blend mixes frames that its clips do not have."""
        if len(blends) and int((blends.first.astype(np.int64) + blends.frames).max()) >= len(alignment):
            raise ValueError("long blends are aligned by rows that are not there")
        for row in range(len(blends)):
            rows_ = slice(blends.first[row], blends.first[row] + blends.frames[row] + 1)
            for column, clip in (
                (alignment.source, blends.source_clip[row]),
                (alignment.target, blends.target_clip[row]),
            ):
                if column[rows_].min() < 0 or column[rows_].max() > self._frames[clip]:
                    raise ValueError("long blends mix frames outside of their clips")

    def _check_frames(self, clip: NDArray[Any], frame: NDArray[Any], length: Any) -> None:
        _check_range("clips", clip, len(self._frames))
        if isinstance(length, int):
            # One number to compare with for each clip: of millions of rows, several passes fewer.
            latest = np.minimum(self._frames - length, np.iinfo(np.int32).max).astype(np.int32)
            beyond = len(frame) > 0 and (int(frame.min()) < 0 or bool((frame > latest[clip]).any()))
        else:
            beyond = bool(((frame < 0) | (frame.astype(np.int64) + length > self._frames[clip])).any())
        if beyond:
            raise ValueError("frames lie outside of their clip")


def with_room(columns: Mapping[str, NDArray[Any]], room: int) -> dict[str, NDArray[Any]]:
    """Columns with so many rows at their end that may be written to."""
    if not room:
        return dict(columns)
    return {name: np.concatenate([column, np.zeros(room, column.dtype)]) for name, column in columns.items()}


def _check_finite(columns: Mapping[str, NDArray[Any]]) -> None:
    for name, column in columns.items():
        if column.dtype.kind == "f" and not np.isfinite(column).all():
            raise ValueError(f"{name} has values that are not finite numbers")


def _check_range(what: str, values: NDArray[Any], count: int) -> None:
    if len(values) and not 0 <= values.min() <= values.max() < count:
        raise ValueError(f"{what} are numbered beyond the {count} there are")
