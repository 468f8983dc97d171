"""Parts of a graph: some of its clips, with the transitions between them, without building anything anew.

A part is a graph of its own: what a build of these clips alone would find at the same threshold, since every minimum
that the graph knows between them counts, also those that were too many for the whole. Frames stay in the file until
they are wanted, and so do minima.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from choreograph.base.arrays import Flags, Floats, Ints
from choreograph.base.errors import RequestError
from choreograph.graph.connect import connect
from choreograph.graph.fingerprint import Fingerprint
from choreograph.graph.lazy import PickedClips
from choreograph.graph.settings import LONG_BLEND_S
from choreograph.graph.tables import TABLES, TRANSITION, Minima, Table, empty_table
from choreograph.motion.labels import say_labels
from choreograph.motion.query import HasLabels, describe_clips, parse_query

if TYPE_CHECKING:
    from choreograph.graph.info import ClipInfo
    from choreograph.graph.model import MotionGraph


def matching_clips(infos: Sequence[HasLabels], query: str) -> list[int]:
    """The numbers of the clips that a query finds.

    >>> from choreograph.graph.model import ClipInfo
    >>> matching_clips([ClipInfo("walk_1", 30.0, 90, 90), ClipInfo("jump", 30.0, 60, 60)], "walk or run")
    [0]

    Raises:
        RequestError: If it finds none; the message says which words nothing has, and what there is.
    """
    wanted, clips = parse_query(query), describe_clips(infos)
    numbers = [number for number, clip in enumerate(clips) if wanted.matches(clip)]
    if not numbers:
        words = wanted.unmatched(clips)
        why = f"nothing has {', '.join(map(repr, words))}" if words else "no clip has all of it"
        labels = say_labels({label.text for info in infos for label in info.labels}, most=20)
        names = ", ".join(info.name for info in infos[:6]) + (f" and {len(infos) - 6} more" if len(infos) > 6 else "")
        raise RequestError(
            f"only {query!r}: none of the {len(infos)} clips matches ({why}); labels are: {labels}; clips are: {names}",
            where="only",
        )
    return numbers


def make_part(graph: MotionGraph, numbers: Iterable[int]) -> MotionGraph:
    """The graph of these clips alone; the graph itself where they are all."""
    chosen = sorted(set(numbers))
    if len(chosen) == len(graph.infos):
        return graph
    number = {old: new for new, old in enumerate(chosen)}
    infos = [_renumbered(graph.infos[old], number) for old in chosen]
    pairs = [(number[a], number[b]) for a, b in graph.pairs if a in number and b in number]
    cuts = graph.cut_settings if isinstance(graph.cut_settings.get("cut_at"), str) else {}
    known = graph.origin.fingerprint
    origin = replace(
        graph.origin,
        pairs=pairs,
        cut_settings=cuts,
        fingerprint=None if known is None else lambda: _fingerprint(graph, chosen),
    )
    part = type(graph)(
        graph.settings,
        graph.threshold_m,
        PickedClips([(graph.clips, old) for old in chosen]),
        infos,
        _PartTables(graph, chosen, infos),
        searched_m=graph.searched_m,
        origin=origin,
    )
    part.made_by = graph.made_by and (make_part, (graph, chosen))
    return part


def widen(graph: MotionGraph) -> MotionGraph:
    """The graph in which long blends take part that wait in a graph to be asked for; the graph itself if none do."""
    blends = graph.found_blends
    if graph.settings.max_blend_s is not None or not len(blends):
        return graph
    settings = graph.settings.with_(max_blend_s=LONG_BLEND_S)
    connected = connect(graph.minima, settings, graph.threshold_m, graph.infos, blends)
    usual = np.isin(np.arange(len(graph.infos)), graph.nodes.clip)
    if np.isin(np.arange(len(graph.infos)), connected.nodes.clip).sum() <= usual.sum():
        return graph
    known = graph.origin.fingerprint
    wider = type(graph)(
        settings,
        graph.threshold_m,
        graph.clips,
        graph.infos,
        {
            "minima": graph.minima,
            "nodes": connected.nodes,
            "edges": connected.edges,
            "long_blends": blends,
            "alignment": graph.alignment,
        },
        searched_m=graph.searched_m,
        origin=replace(
            graph.origin,
            fingerprint=None if known is None else lambda: graph.fingerprint._replace(edges=_wider_word(graph)),
        ),
    )
    wider.usual_clips, wider.made_by = usual, graph.made_by and (widen, (graph,))
    return wider


def _wider_word(graph: MotionGraph) -> str:
    return hashlib.sha256(f"{graph.fingerprint.edges} wider".encode()).hexdigest()


def _renumbered(info: ClipInfo, number: Mapping[int, int]) -> ClipInfo:
    # A mirrored copy without its original is a clip like any other.
    return info if info.mirror_of is None else replace(info, mirror_of=number.get(info.mirror_of))


def _fingerprint(graph: MotionGraph, chosen: Sequence[int]) -> Fingerprint:
    clips = ",".join(map(str, chosen))
    return Fingerprint(*(hashlib.sha256(f"{word} {clips}".encode()).hexdigest() for word in graph.fingerprint))


class _PartTables(Mapping[str, Table]):
    """The tables of a part, made of the whole's when they are asked for: many verbs never do."""

    def __init__(self, graph: MotionGraph, chosen: Sequence[int], infos: Sequence[ClipInfo]) -> None:
        self._graph, self._chosen, self._infos = graph, np.array(chosen, np.int64), infos
        self._kept: dict[str, Table] = {}

    def __iter__(self) -> Iterator[str]:
        return iter(TABLES)

    def __len__(self) -> int:
        """Number of tables."""
        return len(TABLES)

    def __getitem__(self, part: str) -> Any:
        """The table of this name."""
        if part not in self._kept:
            if part in ("nodes", "edges"):
                self._connect()
            else:
                self._kept[part] = self._picked_rows(part)
        return self._kept[part]

    def _picked_rows(self, part: str) -> Table:
        graph = self._graph
        if part == "alignment":
            return graph.alignment
        table: Table = graph.minima if part == "minima" else graph.found_blends
        if not len(table):
            return empty_table(part)
        ends = ("clip_a", "clip_b") if part == "minima" else ("source_clip", "target_clip")
        renumber = np.full(len(graph.infos), -1, np.int32)
        renumber[self._chosen] = np.arange(len(self._chosen))
        columns = table.columns()
        both = np.flatnonzero((renumber[columns[ends[0]]] >= 0) & (renumber[columns[ends[1]]] >= 0))
        inside = {name: renumber[column[both]] if name in ends else column[both] for name, column in columns.items()}
        return TABLES[part](**inside)

    def _connect(self) -> None:
        graph = self._graph
        minima: Minima = self["minima"]
        blends = self["long_blends"] if graph.settings.max_blend_s else None
        connected = connect(minima, graph.settings, graph.threshold_m, self._infos, blends)
        self._kept["nodes"], self._kept["edges"] = connected.nodes, connected.edges


def spread_clips(graph: MotionGraph, most_frames: int, first: Iterable[int] = ()) -> list[int]:
    """Clips of up to so many frames, at least one: of everything that labels tell apart some, joined by transitions.

    Args:
        graph: Which has more than that.
        most_frames: How many frames they have together at most, at the graph's rate.
        first: Clips that come before all others.
    """
    frames = graph.clip_frames.astype(np.int64)
    links = _clip_links(graph)
    inside = np.asarray(links.sum(axis=1)).ravel() > 0
    if not inside.any():
        inside[:] = True
    kinds: dict[frozenset[str], int] = {}
    kind = np.array(
        [kinds.setdefault(frozenset(x.text for x in info.labels), len(kinds)) for info in graph.infos], np.int64
    )
    used = np.zeros(max(len(kinds), 1), np.int64)
    joined = np.zeros(len(frames))
    left, waiting, chosen = most_frames, list(dict.fromkeys(first)), list[int]()
    free = inside.copy()
    free[waiting] = True
    while free.any():
        number = _next_clip(waiting, free & (frames <= left) if chosen else free, joined, kind, used, frames)
        if number is None:
            break
        chosen.append(number)
        free[number] = False
        left -= int(frames[number])
        used[kind[number]] += frames[number]
        near = slice(links.indptr[number], links.indptr[number + 1])
        joined[links.indices[near]] += links.data[near]
    return sorted(chosen)


def _next_clip(
    waiting: list[int],
    free: Flags,
    joined: Floats,
    kind: Ints,
    used: Ints,
    frames: Ints,
) -> int | None:
    """The next of those that come first, else of the kind of which there is least the one that is joined best."""
    while waiting:
        number = waiting.pop(0)
        if free[number]:
            return number
    at = np.flatnonzero(free & (joined > 0))
    if not len(at):
        at = np.flatnonzero(free)
        if not len(at):
            return None
    least = used[kind[at]]
    at = at[least == least.min()]
    return int(at[np.argmax(joined[at] / frames[at])])


def _clip_links(graph: MotionGraph) -> Any:
    """How many transitions join each two clips, either way, as a sparse matrix."""
    from scipy.sparse import coo_matrix

    edges, count = graph.edges, len(graph.infos)
    blends = np.flatnonzero((edges.kind == TRANSITION) & (edges.clip != edges.target_clip))
    pairs = edges.clip[blends], edges.target_clip[blends]
    links = coo_matrix((np.ones(len(blends)), pairs), shape=(count, count)).tocsr()
    own = coo_matrix((np.ones(len(edges)), (edges.clip, edges.clip)), shape=(count, count)).tocsr()
    return (links + links.T + own.sign()).tocsr()
