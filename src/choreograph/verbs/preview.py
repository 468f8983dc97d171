"""A single transition as a walk, whether a graph has it or not: to be looked at before it is trusted."""

from __future__ import annotations

import numpy as np

from choreograph.base.errors import RequestError
from choreograph.distance.window import align_windows
from choreograph.graph.clips import window_clip
from choreograph.graph.model import MotionGraph
from choreograph.graph.tables import SEGMENT, TRANSITION, Edges, Nodes
from choreograph.verbs.walk import Walk


def preview_transition(
    graph: MotionGraph, source: str, source_frame: int, target: str, target_frame: int, *, seconds: float = 1.0
) -> Walk:
    """The walk that leaves one clip for another, with some motion before and after the blend.

    Args:
        graph: Whose clips, rate and window are meant; it need not have the transition.
        source: Name of the clip to leave.
        source_frame: Where the window starts in it, at the graph's rate.
        target: Name of the clip to arrive in.
        target_frame: Where the window starts in that.
        seconds: How much to show before and after, where the clips have as much.

    Raises:
        RequestError: If a clip is not in the graph, or a window does not fit into it.
    """
    window, around = graph.window_frames, round(seconds * graph.rate_hz)
    a, b = graph.find_clip(source), graph.find_clip(target)
    for clip, frame in ((a, source_frame), (b, target_frame)):
        info = graph.infos[clip]
        if not 0 <= frame <= info.frames - window:
            raise RequestError(
                f"a window of {window} frames that starts at frame {frame} does not fit into {info.name!r}, "
                f"which has {info.frames} at {graph.rate_hz:g} Hz"
            )
    p, q = (window_clip(graph.clips[n], graph.settings) for n in (a, b))
    alignment = align_windows(p, source_frame, q, target_frame)
    first = max(0, source_frame - around)
    arrive = target_frame + window
    last = min(int(graph.infos[b].frames), arrive + around)
    # Each row: kind, clip, frames shown, clip arrived in, and where.
    rows = [(TRANSITION, a, source_frame, source_frame + window, b, target_frame)]
    if first < source_frame:
        rows.insert(0, (SEGMENT, a, first, source_frame, a, first))
    if arrive < last:
        rows.append((SEGMENT, b, arrive, last, b, arrive))
    kind, clip, start, stop, target_clip, target_start = np.array(rows).T
    blends = kind == TRANSITION
    ends = [(int(clip[k]), int(start[k])) for k in range(len(rows))]
    ends.append((b, last if arrive < last else arrive))
    edges = Edges(
        source=np.arange(len(rows), dtype=np.int32),
        target=np.arange(1, len(rows) + 1, dtype=np.int32),
        kind=kind,
        clip=clip,
        start=start,
        stop=stop,
        target_clip=target_clip,
        target_start=target_start,
        distance_m=np.where(blends, alignment.distance, 0.0),
        yaw=np.where(blends, alignment.yaw, 0.0),
        x=np.where(blends, alignment.x, 0.0),
        z=np.where(blends, alignment.z, 0.0),
    )
    tables = {"minima": graph.minima, "nodes": Nodes(*np.array(ends).T), "edges": edges}
    lone = MotionGraph(graph.settings, graph.threshold_m, graph.clips, graph.infos, tables, searched_m=graph.searched_m)
    return Walk(lone, np.arange(len(rows), dtype=np.int32))
