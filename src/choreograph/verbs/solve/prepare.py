"""A graph's hierarchy of cuts: built once, and read from the cache by later searches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from choreograph.base.arrays import Flags, Floats32, Ints32, seal
from choreograph.base.progress import Progress
from choreograph.features.frames import FrameTable, Scaling, build_frame_table
from choreograph.graph.cache import Content, find_key, find_or_build
from choreograph.graph.model import MotionGraph
from choreograph.verbs.solve.hierarchy import Hierarchy, HierarchySettings, build_hierarchy

METHOD = 3
"""One more whenever the same clips would give another hierarchy."""
_FRAMES = ("base", "place", "turn", "joints", "features")
_TREES = ("source", "target", "cost", "child")
_SCALINGS = ("columns", "rates")


def find_hierarchy(
    graph: MotionGraph, settings: HierarchySettings | None = None, progress: Progress | None = None
) -> Hierarchy:
    """Where the clips of a graph can be cut into each other: what every search on it needs.

    >>> import choreograph as cg
    >>> from choreograph.demo import demo_clip
    >>> graph = cg.build_graph([demo_clip("walk", 30.0), demo_clip("walk_turn_90_left", 30.0)])
    >>> hierarchy = cg.find_hierarchy(graph)
    >>> 0 < hierarchy.roots < hierarchy.leaves
    True

    It is read from the cache if it was built before for the same clips, rate, weights and settings, else built.

    Args:
        graph: Whose clips.
        settings: Which cuts are allowed.
        progress: Hears how many clips are done.
    """
    settings = settings or HierarchySettings()
    plain = graph.settings.as_dict()
    key = find_key(
        graph,
        "hierarchy",
        METHOD,
        ("motion",),
        rate_hz=plain["rate_hz"],
        weights=plain["weights"],
        **asdict(settings),
    )
    return find_or_build(
        key,
        lambda: build_hierarchy(find_frames(graph, progress), settings, progress),
        _pack,
        lambda content: _unpack(content, settings, graph),
    )


def find_frames(graph: MotionGraph, progress: Progress | None = None) -> FrameTable:
    """The frames of a graph's clips, at its rate and with its joint weights."""
    return build_frame_table(graph.clips, graph.rate_hz, graph.settings.weights, progress)


def _pack(hierarchy: Hierarchy) -> Content:
    facts = {"max_cut_cost": hierarchy.max_cut_cost, "roots": hierarchy.roots, "groups": hierarchy.groups}
    arrays: dict[str, NDArray[Any]] = {
        **{name: getattr(hierarchy.frames, name) for name in _FRAMES},
        **{name: getattr(hierarchy, name) for name in _TREES},
    }
    for kind, scaling in zip(_SCALINGS, hierarchy.frames.scalings or (), strict=False):
        arrays[f"{kind}_offset"], arrays[f"{kind}_scale"] = scaling.offset, scaling.scale
    return Content(facts, arrays)


def _unpack(content: Content, settings: HierarchySettings, graph: MotionGraph) -> Hierarchy:
    """The hierarchy of these arrays; a ValueError where they contradict themselves or the graph."""
    from choreograph.verbs.solve import _compiled_hierarchy

    arrays, facts = content.arrays, content.facts
    lengths = graph.clip_frames.astype(np.int64)
    base = arrays["base"]
    if not np.array_equal(base, np.concatenate([[0], np.cumsum(lengths + 1)])):
        raise ValueError("its cuts are those of other clips")
    count, nodes, joints = int(base[-1]), len(arrays["child"]), len(graph.skeleton)
    shapes: dict[str, tuple[int, ...]] = {**dict.fromkeys(("place", "turn"), (count,)), "joints": (count, joints, 3)}
    shapes |= {**dict.fromkeys(_TREES, (nodes,)), "features": (count, arrays["features"].shape[-1])}
    for name, shape in shapes.items():
        if arrays[name].shape != shape or (name not in _TREES and not np.isfinite(arrays[name]).all()):
            raise ValueError(f"the {name} of its cuts do not fit its clips")
    real = np.ones(count, bool)
    real[base[1:] - 1] = False
    roots, trees = int(facts["roots"]), {name: arrays[name] for name in _TREES}
    possible = 0 < roots <= nodes and facts["max_cut_cost"] > 0
    if not possible or not _compiled_hierarchy.are_sound(*trees.values(), real, roots):
        raise ValueError("its cuts lead beyond the clips, or their trees are tangled")
    clip_of = np.repeat(np.arange(len(lengths), dtype=np.int32), lengths + 1)
    pair = clip_of[arrays["source"][:roots]].astype(np.int64) * len(lengths) + clip_of[arrays["target"][:roots]]
    if (np.diff(pair) < 0).any():
        raise ValueError("its cuts are out of order")
    frames = FrameTable(
        base=base,
        clip_of=seal(clip_of),
        real=seal(real),
        place=arrays["place"],
        turn=arrays["turn"],
        joints=arrays["joints"],
        features=arrays["features"],
        rate_hz=graph.rate_hz,
        scalings=(_scaling(arrays, _SCALINGS[0], joints), _scaling(arrays, _SCALINGS[1], joints)),
    )
    return Hierarchy(frames, settings, float(facts["max_cut_cost"]), **trees, roots=roots, groups=int(facts["groups"]))


def are_sound_numpy(source: Ints32, target: Ints32, cost: Floats32, child: Ints32, real: Flags, roots: int) -> bool:
    """Whether cuts join frames that there are, and their trees end: the plain twin of the compiled kernel."""
    for rows_ in (source, target):
        if not 0 <= rows_.min() <= rows_.max() < len(real) or not real[rows_].all():
            return False
    inner = np.flatnonzero(child != -1)
    # Children come behind their parent and behind all roots, so no way down leads round in a circle.
    behind = (child[inner] > inner) & (child[inner] >= roots) & (child[inner] + 1 < len(child))
    return bool(behind.all() and ((cost >= 0) & (cost < np.inf)).all())


def _scaling(arrays: Mapping[str, NDArray[Any]], kind: str, joints: int) -> Scaling:
    offset, scale = arrays[f"{kind}_offset"], arrays[f"{kind}_scale"]
    if offset.shape != (joints + 2, 3) or scale.shape != (joints + 2,) or not np.isfinite(offset).all():
        raise ValueError(f"the scaling of {kind} does not fit the skeleton")
    return Scaling(offset, scale)
