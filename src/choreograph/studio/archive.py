"""The clips of a .mog file that was opened: looked at where they lie, found by words, and told a page at a time."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path

from choreograph.base.errors import GraphFileError
from choreograph.graph.info import ClipInfo
from choreograph.graph.model import MotionGraph
from choreograph.graph.settings import GraphSettings
from choreograph.graph.store import open_graph
from choreograph.motion.labels import label_parts
from choreograph.motion.packed import skeleton_id
from choreograph.motion.query import ClipText, describe_clips, parse_query
from choreograph.studio.document import ClipEntry, GraphAsk, LabelRange
from choreograph.studio.facts import GraphSummary, Recording
from choreograph.studio.find_facts import ArchiveClip, ArchiveFacts, ArchiveFolder, ArchivePage

MANY_CLIPS = 300
"""A graph of more clips is an archive: its clips are not listed in the document, but told a page at a time."""
_ID = re.compile(r"m(\d{1,9})-([0-9a-f]{12})\Z")
_LABELS_TOLD = 8  # of one clip, in a page of the list


def file_stamp(path: Path) -> str:
    """A word for a file's content as it is now, without reading it."""
    state = path.stat()
    return hashlib.sha256(f"{state.st_size} {state.st_mtime_ns}".encode()).hexdigest()[:12]


def recording_id(number: int, stamp: str) -> str:
    """What the studio calls a clip that stays in the file it is in."""
    return f"m{number}-{stamp}"


def clip_number(recording: str, stamp: str | None = None) -> int | None:
    """The number in its file of a clip that stays there; None for other recordings, and for another file's."""
    match = _ID.match(recording)
    return int(match[1]) if match and stamp in (None, match[2]) else None


def graph_ask(settings: GraphSettings) -> GraphAsk:
    """The page's fields for a graph's settings."""
    return GraphAsk(**{name: getattr(settings, name) for name in GraphAsk.model_fields})


class Archive(Mapping[str, Recording]):
    """The clips of a graph's file, by id."""

    def __init__(self, path: Path) -> None:
        """Open the file; reads the table of clips and one of them, for the body.

        Raises:
            GraphFileError: If it cannot be opened.
        """
        self.path, self.stamp = path, file_stamp(path)
        graph = open_graph(path)
        self._infos: dict[int, ClipInfo] = {n: info for n, info in enumerate(graph.infos) if info.mirror_of is None}
        if not self._infos:
            raise GraphFileError("holds no clips", path=path)
        self._texts = dict(zip(self._infos, describe_clips(self._infos.values()), strict=True))
        by_folder = len({text.folder for text in self._texts.values()}) > 1
        self._groups = {n: (text.folder if by_folder else text.person) for n, text in self._texts.items()}
        self.summary = _outline(graph)
        """The graph as far as it is known without reading it."""
        skeleton = graph.clips[next(iter(self._infos))].skeleton
        self._skeleton, self._joints = skeleton_id(skeleton), list(skeleton.names)

    @property
    def is_large(self) -> bool:
        """Whether its clips are told a page at a time."""
        return len(self._infos) > MANY_CLIPS

    def __len__(self) -> int:
        """Number of clips."""
        return len(self._infos)

    def __iter__(self) -> Iterator[str]:
        return (recording_id(n, self.stamp) for n in self._infos)

    def __contains__(self, key: object) -> bool:
        number = clip_number(key, self.stamp) if isinstance(key, str) else None
        return number in self._infos

    def __getitem__(self, key: str) -> Recording:
        """What is known of a clip."""
        number = clip_number(key, self.stamp)
        if number is None or number not in self._infos:
            raise KeyError(key)
        info = self._infos[number]
        file = re.split(r"[\\/]", info.path)[-1] or info.name
        return Recording(
            id=key,
            name=_name(info),
            file=file,
            format=Path(file).suffix.lower().lstrip(".") or "mog",
            frames=info.own_frames,
            fps=info.fps,
            skeleton=self._skeleton,
            joints=self._joints,
            labels=[LabelRange(text=one.text[:200] or "-", start=one.start, stop=one.stop) for one in info.labels],
            notes=[],
        )

    def entry(self, key: str) -> ClipEntry | None:
        """The clip as an entry of a library; None if there is none of this id."""
        if key not in self:
            return None
        return ClipEntry(id=key, source=key, name=self[key].name)

    def entries(self) -> list[ClipEntry]:
        """All of them."""
        return [
            ClipEntry(id=key, source=key, name=_name(info))
            for key, info in zip(self, self._infos.values(), strict=True)
        ]

    def facts(self) -> ArchiveFacts:
        """What a page is told before it asks."""
        return ArchiveFacts(
            clips=len(self._infos),
            seconds=round(sum(info.seconds for info in self._infos.values()), 1),
            first=next(iter(self)),
            skeleton=self._skeleton,
            joints=self._joints,
        )

    def page(self, query: str, folder: str | None, start: int, count: int) -> ArchivePage:
        """Clips that a query asks for: how many in which folder, and some of one folder or of all.

        Raises:
            RequestError: If the query cannot be understood.
        """
        query_parts = parse_query(query)
        numbers = [n for n in self._by_name if query_parts.matches(self._texts[n])]
        folders: dict[str, int] = {}
        for n in numbers:
            folders[self._groups[n]] = folders.get(self._groups[n], 0) + 1
        wanted = numbers if folder is None else [n for n in numbers if self._groups[n] == folder]
        hint = ""
        if not numbers and (unknown := query_parts.unmatched(list(self._texts.values()))):
            hint = f"No clip has {', '.join(unknown)}."
        return ArchivePage(
            total=len(numbers),
            folders=[ArchiveFolder(name=name, clips=folders[name]) for name in sorted(folders, key=_natural)],
            start=start,
            clips=[self._row(n, self._texts[n]) for n in wanted[start : start + count]],
            hint=hint,
        )

    @cached_property
    def _by_name(self) -> list[int]:
        """Numbers of the clips, in the order that people look for them in."""
        return sorted(self._infos, key=lambda n: _natural(_name(self._infos[n])))

    def _row(self, number: int, text: ClipText) -> ArchiveClip:
        info = self._infos[number]
        return ArchiveClip(
            id=recording_id(number, self.stamp),
            name=_name(info),
            folder=self._groups[number],
            seconds=round(info.seconds, 2),
            fps=info.fps,
            labels=[one[:200] for one in text.texts[:_LABELS_TOLD]],
        )


def _outline(graph: MotionGraph) -> GraphSummary:
    """What names, lengths and labels say of a graph."""
    texts = {label.text for info in graph.infos for label in info.labels}
    return GraphSummary(
        built_from="",
        current=True,
        settings=graph_ask(graph.settings),
        threshold_m=graph.threshold_m,
        rate_hz=graph.rate_hz,
        measured=False,
        clips=[],
        clip_count=len(graph.infos),
        transitions=0,
        frames=int(graph.clip_frames.sum(dtype="int64")),
        shown=0,
        labels=sorted({part for text in texts for part in label_parts(text)}),
        notes=[str(note) for note in graph.notes],
    )


def _name(info: ClipInfo) -> str:
    return re.sub(r"\s+", " ", info.name).strip()[:200] or "clip"


def _natural(name: str) -> list[tuple[int, str]]:
    """Names in the order that people expect: 2 before 10."""
    return [(int(part), "") if part.isdecimal() else (-1, part.lower()) for part in re.split(r"(\d+)", name)]
