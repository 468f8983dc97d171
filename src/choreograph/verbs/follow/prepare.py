"""The edge tables of a graph: built once, and read from the cache when the graph is opened again."""

from __future__ import annotations

from typing import Any

import numpy as np

from choreograph.graph.cache import Content, find_key, find_or_build
from choreograph.graph.model import MotionGraph
from choreograph.motion.bend import SMOOTH_S
from choreograph.verbs.follow import paging
from choreograph.verbs.follow.kernel_inputs import FixedArrays, edge_columns, fixed_arrays
from choreograph.verbs.follow.paging import PagedTables, find_paged_tables
from choreograph.verbs.follow.tables import EdgeTables, build_edge_tables

METHOD = 4
"""One more whenever the same graph would give other tables."""
_ROWS = ("facing", "turned", "label_words", "bent_over")
_EDGES = ("first", "length", "faulty", "rough")
_FIXED_ROWS, _FIXED_EDGES = ("way", "so_far"), ("edge_way", "bend")
_PLACES = ("clip_way", "node_row", "node_left")


Tables = EdgeTables | PagedTables
"""Of all edges, or of those that searches have come to."""


def find_tables(graph: MotionGraph, smooth_s: float = SMOOTH_S) -> Tables:
    """The tables for following a path: of all edges, or of a graph that is too large for that, as they are needed.

    Args:
        graph: The graph.
        smooth_s: Width of the low-pass under which the root's way is taken.
    """
    rows = len(graph.edges)  # at least: each shows a frame or more
    if rows <= paging.MOST_ROWS:
        rows = int(graph.edges.stop.sum(dtype=np.int64) - graph.edges.start.sum(dtype=np.int64))
    return find_paged_tables(graph, smooth_s) if rows > paging.MOST_ROWS else find_edge_tables(graph, smooth_s)


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
        key,
        lambda: build_edge_tables(graph, smooth_s),
        lambda tables: _pack(tables, graph),
        lambda content: _unpack(content, graph),
    )


def _pack(tables: EdgeTables, graph: MotionGraph) -> Content:
    """What an entry of the tables holds: also what all requests need of them, which takes as long to compute."""
    fixed = fixed_arrays(tables, graph)
    facts = {
        "fastest": tables.fastest,
        "smooth_s": tables.smooth_s,
        "label_sets": [sorted(labels) for labels in tables.label_sets],
        "lateral": fixed.lateral,
    }
    arrays = {name: getattr(tables, name) for name in (*_ROWS, *_EDGES, *_PLACES)}
    return Content(facts, arrays | {name: getattr(fixed, name) for name in (*_FIXED_ROWS, *_FIXED_EDGES)})


def _unpack(content: Content, graph: MotionGraph) -> EdgeTables:
    """The tables of an entry; a ValueError where they contradict themselves or the graph."""
    arrays, sets = content.arrays, tuple(frozenset(labels) for labels in content.facts["label_sets"])
    length, frames, nodes, edges = arrays["length"], int(graph.clip_frames.sum()), len(graph.nodes), len(graph.edges)
    rows = int(length.sum())
    shapes: dict[str, tuple[int, ...]] = {**dict.fromkeys(_ROWS, (rows,)), "clip_way": (frames, 3)}
    shapes |= {**dict.fromkeys(_EDGES, (edges,)), "node_row": (nodes,), "node_left": (nodes,)}
    shapes |= {"way": (rows, 3), "so_far": (rows,), "edge_way": (edges,), "bend": (edges, 4)}
    if any(arrays[name].shape != shape for name, shape in shapes.items()):
        raise ValueError("the tables do not fit the graph")
    if not np.array_equal(arrays["first"], np.cumsum(length) - length):
        raise ValueError("the rows of the tables are out of order")
    for name, count in (("label_words", len(sets)), ("node_row", frames)):
        if len(arrays[name]) and not 0 <= arrays[name].min() <= arrays[name].max() < count:
            raise ValueError(f"{name} leads beyond the tables")
    columns: dict[str, Any] = {name: arrays[name] for name in (*_ROWS, *_EDGES, *_PLACES)}
    columns |= {name: arrays["way"][:, k] for k, name in enumerate(("x", "z", "step"))}
    fastest, smooth_s = (float(content.facts[name]) for name in ("fastest", "smooth_s"))
    tables = EdgeTables(**columns, label_sets=sets, fastest=fastest, smooth_s=smooth_s)
    slow, fast = (float(value) for value in content.facts["lateral"])
    known = {name: arrays[name] for name in (*_FIXED_ROWS, *_FIXED_EDGES)}
    tables.derived["fixed"] = FixedArrays(**known, **edge_columns(graph), lateral=(slow, fast))
    return tables
