"""A graph's cuts: found once, and kept in its .mog file so that later searches begin at once.

A file keeps one hierarchy at a time, with the fingerprint of the clips and settings that it was found for; where that
is not the graph's any more, the hierarchy counts as not there.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from choreograph.errors import RequestError
from choreograph.graph import rows
from choreograph.graph.model import MotionGraph
from choreograph.graph.store import changing, looking_into
from choreograph.motion.arrays import seal
from choreograph.progress import Progress
from choreograph.synthesis.solve.hierarchy import Hierarchy, HierarchySettings, build_hierarchy
from choreograph.synthesis.solve.metric import FrameTable, build_frame_table

VERSION = 2
"""Of the method by which cuts are found: one more whenever the same clips would give others."""
_FRAMES = ("base", "place", "turn", "joints", "features")
_TREES = ("source", "target", "cost", "child")


def find_cuts(
    graph: MotionGraph,
    settings: HierarchySettings | None = None,
    progress: Progress | None = None,
    *,
    keep: bool = False,
) -> Hierarchy:
    """Where the clips of a graph can be cut into each other: what every search on it needs.

    Args:
        graph: Whose clips. If its file keeps the cuts of these settings they are read, else they are found.
        settings: Which cuts are allowed.
        progress: Hears how many clips are done.
        keep: Whether cuts that had to be found are kept in the graph's file (`keep_cuts`).
    """
    kept = read_cuts(graph, settings)
    if kept is not None:
        return kept
    found = build_hierarchy(build_frame_table(graph, progress=progress), settings, progress)
    if keep:
        keep_cuts(graph, found)
    return found


def keep_cuts(graph: MotionGraph, hierarchy: Hierarchy) -> None:
    """Keep a graph's cuts in the file that it was opened from, in the place of any that are there.

    Raises:
        RequestError: If the graph was not opened from a file.
        GraphFileError: If the file cannot be written, or is not the one any more that the graph was opened from.
    """
    if graph.path is None:
        raise RequestError("the graph was not opened from a file; save it, open the file and find the cuts of that")
    frames = hierarchy.frames
    arrays: dict[str, NDArray[Any]] = {
        **{name: getattr(frames, name) for name in _FRAMES},
        **{name: getattr(hierarchy, name) for name in _TREES},
    }
    arrays["base"] = frames.base.astype(np.int32)
    for name in ("place", "turn"):
        arrays[name] = arrays[name].view(np.float64).reshape(-1, 2)
    facts = {
        "version": VERSION,
        "settings": asdict(hierarchy.settings),
        "max_cut_cost": hierarchy.max_cut_cost,
        "roots": hierarchy.roots,
        "groups": hierarchy.groups,
    }
    with changing(graph.path) as connection:
        if rows.fingerprint(connection) != graph.fingerprint:
            raise RequestError(f"{graph.path} holds other clips than when it was opened; open it again")
        connection.execute("BEGIN")
        connection.execute("DELETE FROM hierarchy_array")
        connection.execute("DELETE FROM hierarchy")
        connection.execute("INSERT INTO hierarchy VALUES (0, ?, ?)", (graph.fingerprint, json.dumps(facts)))
        for name, array in arrays.items():
            rows.write_array(connection, "hierarchy_array", (0, name), array)
        connection.execute("COMMIT")


def read_cuts(graph: MotionGraph, settings: HierarchySettings | None = None) -> Hierarchy | None:
    """The cuts that the graph's file keeps, if it keeps those of these clips and settings.

    Raises:
        GraphFileError: If what it keeps is damaged.
    """
    if graph.path is None or not Path(graph.path).exists():
        return None
    settings = settings or HierarchySettings()
    with looking_into(graph.path) as connection:
        if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'hierarchy'").fetchone():
            return None  # a file of version 1 that could not be brought up to date
        row = connection.execute("SELECT clips, facts FROM hierarchy WHERE id = 0").fetchone()
        if row is None or row[0] != graph.fingerprint:
            return None
        facts = json.loads(row[1])
        if facts["version"] != VERSION or facts["settings"] != asdict(settings):
            return None
        arrays = {name: rows.read_array(connection, "hierarchy_array", (0, name)) for name in (*_FRAMES, *_TREES)}
        return _restored(arrays, facts, settings, graph)


def _restored(arrays: dict[str, Any], facts: dict[str, Any], settings: HierarchySettings, graph: MotionGraph) -> Any:
    """The hierarchy of these arrays; a ValueError where they contradict themselves or the graph."""
    missing = [name for name, array in arrays.items() if array is None]
    if missing:
        raise ValueError(f"its cuts have no {', '.join(missing)}")
    lengths = graph.clip_frames.astype(np.int64)
    base = arrays["base"].astype(np.int64)
    if not np.array_equal(base, np.concatenate([[0], np.cumsum(lengths + 1)])):
        raise ValueError("its cuts are those of other clips")
    count, nodes, joints = int(base[-1]), len(arrays["child"]), len(graph.skeleton)
    shapes = {"place": (count, 2), "turn": (count, 2), "joints": (count, joints, 3), **dict.fromkeys(_TREES, (nodes,))}
    shapes["features"] = (count, arrays["features"].shape[-1])
    for name, shape in shapes.items():
        if arrays[name].shape != shape or not np.isfinite(arrays[name]).all():
            raise ValueError(f"the {name} of its cuts do not fit its clips")
    real = np.ones(count, bool)
    real[base[1:] - 1] = False
    for name in ("source", "target"):
        rows_ = arrays[name]
        if nodes == 0 or not 0 <= rows_.min() <= rows_.max() < count or not real[rows_].all():
            raise ValueError("its cuts lead beyond the clips")
    child, roots = arrays["child"], int(facts["roots"])
    inner = np.flatnonzero(child != -1)
    # Children come behind their parent and behind all roots, so no way down leads round in a circle.
    if not 0 < roots <= nodes or (child[inner] <= inner).any() or (child[inner] < roots).any():
        raise ValueError("its trees of cuts are tangled")
    if (child[inner] + 1 >= nodes).any() or not facts["max_cut_cost"] > 0 or (arrays["cost"] < 0).any():
        raise ValueError("its trees of cuts are impossible")
    clip_of = np.repeat(np.arange(len(lengths), dtype=np.int32), lengths + 1)
    pair = clip_of[arrays["source"][:roots]].astype(np.int64) * len(lengths) + clip_of[arrays["target"][:roots]]
    if (np.diff(pair) < 0).any():
        raise ValueError("its cuts are out of order")
    frames = FrameTable(
        base=seal(base),
        clip_of=seal(clip_of),
        real=seal(real),
        place=_complex(arrays["place"]),
        turn=_complex(arrays["turn"]),
        joints=arrays["joints"],
        features=arrays["features"],
        rate_hz=graph.rate_hz,
    )
    trees = {name: arrays[name] for name in _TREES}
    return Hierarchy(frames, settings, float(facts["max_cut_cost"]), **trees, roots=roots, groups=int(facts["groups"]))


def _complex(pairs: NDArray[np.float64]) -> NDArray[np.complex128]:
    return seal(np.ascontiguousarray(pairs, np.float64).view(np.complex128)[:, 0])
