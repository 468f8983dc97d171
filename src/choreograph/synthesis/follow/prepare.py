"""The edge tables of a graph: built once, and read from the cache when the graph is opened again."""

from __future__ import annotations

from typing import Any

import numpy as np

from choreograph.graph.cache import Content, find_key, find_or_build
from choreograph.graph.model import MotionGraph
from choreograph.motion.bend import SMOOTH_S
from choreograph.synthesis.follow.tables import EdgeTables, build_edge_tables

METHOD = 2
"""One more whenever the same graph would give other tables."""
_ROWS = ("x", "z", "step", "facing", "turned", "label_words", "bent_over")
_EDGES = ("first", "length", "faulty", "rough")
_PLACES = ("clip_way", "node_row", "node_left")


def find_edge_tables(graph: MotionGraph, smooth_s: float = SMOOTH_S) -> EdgeTables:
    """The tables that following a path on a graph looks up, read from the cache or built.

    Searches on one graph can share them: `FollowSearch(graph, request, tables=tables)`.

    Args:
        graph: The graph.
        smooth_s: Width of the low-pass under which the root's way is taken; that of a search that bends if not given.
    """
    parts = ("motion", "labels", "edges")
    key = find_key(graph, "edge tables", METHOD, parts, rate_hz=graph.rate_hz, smooth_s=smooth_s)
    return find_or_build(
        key, lambda: build_edge_tables(graph, smooth_s), _pack, lambda content: _unpack(content, graph)
    )


def _pack(tables: EdgeTables) -> Content:
    facts = {
        "fastest": tables.fastest,
        "smooth_s": tables.smooth_s,
        "label_sets": [sorted(labels) for labels in tables.label_sets],
    }
    return Content(facts, {name: getattr(tables, name) for name in (*_ROWS, *_EDGES, *_PLACES)})


def _unpack(content: Content, graph: MotionGraph) -> EdgeTables:
    """The tables of an entry; a ValueError where they contradict themselves or the graph."""
    arrays, sets = content.arrays, tuple(frozenset(labels) for labels in content.facts["label_sets"])
    length, frames, nodes = arrays["length"], int(graph.clip_frames.sum()), len(graph.nodes)
    rows = int(length.sum())
    shapes: dict[str, tuple[int, ...]] = {**dict.fromkeys(_ROWS, (rows,)), "clip_way": (frames, 3)}
    shapes |= {**dict.fromkeys(_EDGES, (len(graph.edges),)), "node_row": (nodes,), "node_left": (nodes,)}
    if any(arrays[name].shape != shape for name, shape in shapes.items()):
        raise ValueError("the tables do not fit the graph")
    if not np.array_equal(arrays["first"], np.cumsum(length) - length):
        raise ValueError("the rows of the tables are out of order")
    for name, count in (("label_words", len(sets)), ("node_row", frames)):
        if len(arrays[name]) and not 0 <= arrays[name].min() <= arrays[name].max() < count:
            raise ValueError(f"{name} leads beyond the tables")
    columns: dict[str, Any] = {name: arrays[name] for name in (*_ROWS, *_EDGES, *_PLACES)}
    fastest, smooth_s = (float(content.facts[name]) for name in ("fastest", "smooth_s"))
    return EdgeTables(**columns, label_sets=sets, fastest=fastest, smooth_s=smooth_s)
