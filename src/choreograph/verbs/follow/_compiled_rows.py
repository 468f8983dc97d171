"""Kernels that fill the tables of edges, and those of waits. The plain twins are in the tests."""

from __future__ import annotations

import numpy as np

from choreograph.base.compiling import compiled, inlined
from choreograph.verbs.follow.lazy_continuations import BEGIN, END, ROW


@compiled
def sum_within(step, first, length):  # type: ignore[no-untyped-def]
    """Sums since each run of rows began, (R,)."""
    out = np.empty(len(step))
    for e in range(len(first)):
        total = 0.0
        for row in range(first[e], first[e] + length[e]):
            total += step[row]
            out[row] = total
    return out


@inlined
def _own(clip, frame, tracks) -> float:  # type: ignore[no-untyped-def]
    """Where a frame at the graph's rate stands among all clips' own frames."""
    return min(tracks.offsets[clip] + frame * tracks.ratio[clip], float(tracks.last[clip]))


@inlined
def _root_at(own, clip, tracks):  # type: ignore[no-untyped-def]
    """Root at a fractional place among all clips' own frames, x + iz."""
    low = int(own)
    here = tracks.place[low]
    return here + (own - low) * (tracks.place[min(low + 1, tracks.last[clip])] - here)


@compiled
def fill_rows(number, first, per_frame, usual_height, edges, tracks, out) -> None:  # type: ignore[no-untyped-def]
    """Fill what is known of some edges: the compiled twin of `edge_rows.find_rows`, `find_faulty` and `find_rough`.

    Args:
        number: The edges, (K,); none of them a long blend.
        first: Where the rows of each begin, and how many there are, (K + 1,).
        per_frame: Into how many steps a frame is divided along which the root's way is summed.
        usual_height: Of a body, metres.
        edges, tracks: See `GraphEdges` and `Tracks` of `table_columns`.
        out: See `table_columns.RowsOut`.
    """
    for n in range(len(number)):
        e = number[n]
        clip, there, start, begin = edges.clip[e], edges.target_clip[e], edges.start[e], edges.target_start[e]
        length = edges.stop[e] - start
        blends = edges.kind[e] == 1
        turn = complex(np.cos(edges.yaw[e]), -np.sin(edges.yaw[e]))
        shift = complex(edges.x[e], edges.z[e])
        before, total = 0j, 0.0
        for k in range(length + 1):
            step, leaving, entering = 0.0, 0.0, 0.0
            for part in range(per_frame if k == 0 else 1, per_frame + 1):
                t = k - 1.0 + part / per_frame
                leaving = _own(clip, start + t, tracks)
                root = _root_at(leaving, clip, tracks)
                if blends:
                    share = t / length
                    weight = share * share * (3.0 - 2.0 * share)
                    entering = _own(there, begin + t, tracks)
                    root += weight * (_root_at(entering, there, tracks) * turn + shift - root)
                if k > 0:
                    x, z = root.real - before.real, root.imag - before.imag
                    step += np.sqrt(x * x + z * z)
                before = root
            if k == 0:
                continue
            row = first[n] + k - 1
            total += step
            out.way[row, 0], out.way[row, 1], out.way[row, 2], out.so_far[row] = before.real, before.imag, step, total
            late = blends and 2 * k >= length
            own = int(np.rint(entering if late else leaving))
            out.facing[row] = tracks.facing[own] + (edges.yaw[e] if late else 0.0)
            out.label_words[row] = tracks.words[own]
            out.bent_over[row] = max(1.0 - tracks.height[own] / usual_height, 0.0)
        faulty, counts = False, 0.0
        for side in range(2):
            at, since = (clip, start) if side == 0 else (there, begin)
            low, high = _own(at, float(since), tracks), _own(at, float(since + length), tracks)
            faulty |= tracks.faults_before[int(np.ceil(high)) + 1] > tracks.faults_before[int(np.floor(low))]
            counts += tracks.abrupt_before[int(np.rint(high))] - tracks.abrupt_before[int(np.rint(low))]
        out.faulty[n], out.rough[n] = faulty, 0.5 * counts  # both sides of what does not blend are the same


@compiled
def fill_edges(number, first, before, walked, target_clip, net, way, heading, out) -> None:  # type: ignore[no-untyped-def]
    """Fill what else is known of some edges; the plain twin is `turns_of` in `kernel_inputs`.

    Args:
        number: The edges, (K,).
        first: Where the rows of each begin, and how many there are, (K + 1,).
        before: Rows in the tables before these.
        walked: Way since its edge began, of each row.
        target_clip: Of all edges of the graph.
        net: See `lazy_continuations.Net`.
        way: Of every frame; see `lazy_continuations.Frames`.
        heading: Direction of travel at each node.
        out: See `table_columns.EdgesOut`.
    """
    for n in range(len(number)):
        e = number[n]
        source, target, yaw = net.source[e], net.target[e], net.yaw[e]
        out.first[n], out.length[n] = before + first[n], first[n + 1] - first[n]
        out.edge_way[n] = walked[first[n + 1] - 1]
        out.target[n], out.target_clip[n], out.number[n] = target, target_clip[e], e
        out.yaw[n], out.turn[n, 0], out.turn[n, 1] = yaw, np.cos(yaw), np.sin(yaw)
        out.shift[n, 0], out.shift[n, 1] = net.x[e], net.z[e]
        here = net.node[source, ROW]
        turn = heading[target] + yaw - heading[source]
        out.bend[n, 0], out.bend[n, 1], out.bend[n, 2] = way[here, 0], way[here, 1], heading[source]
        out.bend[n, 3] = turn - 2.0 * np.pi * np.floor((turn + np.pi) / (2.0 * np.pi))


@compiled
def least_wait(first_edge, target, start, stop, soonest, never):  # type: ignore[no-untyped-def]
    """Frames from each node to the next that shows something, along the quickest walk, (N,); `never` at most.

    Args:
        first_edge: Each node's first edge, (N + 1,).
        target, start, stop: Of each edge.
        soonest: Frames from each node to it on an edge that leaves the node, (N,).
        never: Frames that stand for never.
    """
    wait = np.minimum(soonest, never)
    changed = True
    while changed:
        changed = False
        # Time runs forward in clips, so what is known is handed back along a whole clip at once.
        for n in range(len(wait) - 1, -1, -1):
            for e in range(first_edge[n], first_edge[n + 1]):
                there = wait[target[e]] + stop[e] - start[e]
                if there < wait[n]:
                    wait[n] = there
                    changed = True
    return wait


@compiled
def soonest_shown(net, frames, shown, fitting, never):  # type: ignore[no-untyped-def]
    """Frames from each node to the first on its edges that shows something, (N,).

    Args:
        net, frames: See `Net` and `Frames` of `lazy_continuations`.
        shown: Which sets of labels show it; empty where it is a speed.
        fitting: Speeds between which an edge shows it, metres in a frame.
        never: Frames that stand for never.
    """
    out = np.full(len(net.node), never)
    for n in range(len(out)):
        here = net.node[n, ROW]
        for e in range(net.first_edge[n], net.first_edge[n + 1]):
            length = net.stop[e] - net.start[e]
            blends = net.kind[e] == 1
            there = net.node[net.target[e], ROW] - length
            if len(shown) == 0:
                way = frames.way[min(here + length, net.node[n, END]), 2] - frames.way[here, 2]
                if blends:
                    way = 0.5 * (
                        way + frames.way[there + length, 2] - frames.way[max(there, net.node[net.target[e], BEGIN]), 2]
                    )
                if fitting[0] < way / length < fitting[1]:
                    out[n] = 0
                continue
            for k in range(1, min(length, out[n]) + 1):
                row = min(here + k, net.node[n, END])
                if blends and 2 * k >= length:
                    row = max(there + k, net.node[net.target[e], BEGIN])
                if shown[frames.words[row]]:
                    out[n] = min(out[n], k - 1)
                    break
    return out
