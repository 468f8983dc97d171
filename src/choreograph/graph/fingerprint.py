"""What a graph's content is told by: what was computed from it holds as long as its fingerprint is the same.

A file gives it from its rows and checksums, without reading an array; a graph that is only in memory from its arrays.
Both give the same words for the same content, but for foot contacts, which are detected when a graph is saved.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import zlib
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from choreograph.graph import rows

if TYPE_CHECKING:
    from choreograph.graph.model import MotionGraph

Row = tuple[Any, ...]


class Fingerprint(NamedTuple):
    """A word for each part of a graph that something computed may depend on."""

    motion: str
    """The clips' skeletons and frames."""
    labels: str
    """The clips' names and labels."""
    contacts: str
    """The clips' foot contacts."""
    edges: str
    """The graph's nodes and edges."""


_QUERIES: Mapping[str, tuple[str, ...]] = {
    "motion": (
        "SELECT id, fps, own_frames, skeleton, mirror_of FROM clip ORDER BY id",
        "SELECT clip, name, dtype, shape, crc32 FROM clip_array WHERE name <> 'contacts' ORDER BY clip, name",
        "SELECT id, names, roles FROM skeleton ORDER BY id",
        "SELECT skeleton, name, dtype, shape, crc32 FROM skeleton_array ORDER BY skeleton, name",
    ),
    "labels": (
        "SELECT id, name FROM clip ORDER BY id",
        "SELECT clip, position, text, start, stop FROM label ORDER BY clip, position",
    ),
    "contacts": ("SELECT clip, name, dtype, shape, crc32 FROM clip_array WHERE name = 'contacts' ORDER BY clip, name",),
    "edges": (
        "SELECT part, name, dtype, shape, crc32 FROM graph_array WHERE part IN ('edges', 'nodes') ORDER BY part, name",
        # A graph without long blends is told as it was before there were any.
        "SELECT part, name, dtype, shape, crc32 FROM graph_array WHERE part IN ('alignment', 'long_blends') "
        "AND shape <> '0' ORDER BY part, name",
    ),
}


def fingerprint_file(connection: sqlite3.Connection) -> Fingerprint:
    """The fingerprint of the graph in a .mog file; no array is read."""
    return Fingerprint(
        **{part: _digest(connection.execute(query) for query in queries) for part, queries in _QUERIES.items()}
    )


def fingerprint_graph(graph: MotionGraph) -> Fingerprint:
    """The fingerprint of a graph in memory; all its clips are read."""
    clips: list[Row] = []
    arrays: list[Row] = []
    contacts: list[Row] = []
    skeletons = rows.SkeletonNumbers()
    for number, (info, clip) in enumerate(zip(graph.infos, graph.clips, strict=True)):
        clips.append((number, float(info.fps), info.own_frames, skeletons.number_of(clip.skeleton), info.mirror_of))
        if info.mirror_of is not None:
            continue
        for name in sorted(rows.CLIP_ARRAYS):
            array = getattr(clip, name)
            if array is not None:
                (contacts if name == "contacts" else arrays).append((number, name, *_column(array)))
    bones = [
        (number, name, *_column(array))
        for number, skeleton in enumerate(skeletons)
        for name, array in sorted(rows.skeleton_arrays(skeleton).items())
    ]
    texts = [(n, json.dumps(list(s.names)), json.dumps(list(s.roles))) for n, s in enumerate(skeletons)]
    names = [(number, info.name) for number, info in enumerate(graph.infos)]
    labels = [
        (number, k, label.text, label.start, label.stop)
        for number, info in enumerate(graph.infos)
        for k, label in enumerate(info.labels)
    ]
    edges = [
        (part, name, *_column(column))
        for part in ("edges", "nodes")
        for name, column in sorted(getattr(graph, part).columns().items())
    ]
    blends = [
        (part, name, *_column(column))
        for part, table in (("alignment", graph.alignment), ("long_blends", graph.found_blends))
        for name, column in sorted(table.columns().items())
        if len(column)
    ]
    return Fingerprint(
        _digest((clips, arrays, texts, bones)), _digest((names, labels)), _digest((contacts,)), _digest((edges, blends))
    )


def _column(array: NDArray[Any]) -> Row:
    """An array's dtype, shape and checksum, as a file has them."""
    array = np.ascontiguousarray(array)
    plain = array.astype(array.dtype.newbyteorder("<"), copy=False)
    shape = ",".join(str(n) for n in array.shape)
    return array.dtype.name, shape, zlib.crc32(plain.reshape(-1).view(np.uint8).data)


def _digest(tables: Iterable[Iterable[Row]]) -> str:
    state = hashlib.sha256()
    for table in tables:
        state.update(json.dumps(list(table)).encode())
    return state.hexdigest()
