"""What the kernels of the search take: a graph's tables, a path and numbers, as plain arrays for one request."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from choreograph.base.arrays import Floats, Ints, seal
from choreograph.graph.model import MotionGraph
from choreograph.motion.bend import MAX_CURVATURE, MOST_LATERAL_M_S2, find_way
from choreograph.motion.facts import RUN_M_S
from choreograph.scene.path import Path
from choreograph.verbs.follow.continuations import MOMENTS
from choreograph.verbs.follow.goals import goals_ahead, labels_of
from choreograph.verbs.follow.request import IDLE_M_S, FollowAdvanced

PATH_STEP_M = 0.01
"""Spacing of the points that the path is looked up in; between them it is straight."""
GUIDE_M = 0.6
"""Metres over which corners of the path are rounded for those who are bent along it."""
PURSUIT_M, PURSUIT_S = 0.35, 0.3
"""Way and time within which a bent walk is led back to its path, the longer of the two."""


class KernelTables(NamedTuple):
    """The tables as the kernels take them."""

    way: Floats
    """x, z and way made since the row before, (R, 3), metres."""
    facing: Floats
    labels: Ints
    """Labels asked for that hold in each row, as bits."""
    first: Ints
    length: Ints
    edge_way: Floats
    """Way made along each edge, metres."""
    extra: Floats
    """Cost of taking an edge at all, m²·s."""
    target: Ints
    yaw: Floats
    turn: Floats
    """Cosine and sine of the yaw, (E, 2)."""
    shift: Floats
    """x and z, (E, 2)."""
    first_edge: Ints
    """Each node's first edge, (N,) or more; -1 where its edges are not in the tables."""
    last_edge: Ints
    """Behind its last one, (N,)."""
    target_clip: Ints
    first_way: Ints
    """Each node's first continuation, (N,) or more."""
    last_way: Ints
    """Behind its last one, (N,)."""
    ways: Floats
    """x, z and length at a few moments of each continuation, (W, M, 3)."""
    way_cost: Floats
    """What the transitions of each cost, (W,), m²·s."""
    moment_weight: Floats
    """How much being off the path at each moment of a continuation counts, (M,): less where there is time to bend."""
    so_far: Floats
    """Way made since the edge began, (R,), metres."""
    bend: Floats
    """Of each edge where it begins x, z and the heading of travel, in coordinates of its clip, and how far travel turns
    along it, (E, 4), metres and radians."""
    wait_s: Floats
    """Seconds from each node to the next frame that shows what is asked for somewhere, for each such goal, (N, B)."""
    wait_cost: Floats
    """Cost of a second without it, (B,), m²·s."""
    bent_over: Floats
    """How much lower than usual the body is in each row, as a share, (R,)."""


class KernelPath(NamedTuple):
    """The path as the kernels take it, sampled evenly."""

    points: Floats
    """(N, 2), x and z."""
    speed: Floats
    """Speed asked for, m/s; negative where none is."""
    label: Ints
    """Labels asked for, as bits; one of them is enough."""
    pause_at: Floats
    pause_s: Floats
    guide: Floats
    """What bent edges are led along, the path without its corners: x, z, heading, its cosine and sine, (N, 5)."""
    goal: Ints
    """The goal that holds at each point or is the next ahead, (N,); -1 for none."""
    goal_s: Floats
    """How far ahead that is, (N,), seconds at a usual pace."""


class KernelParams(NamedTuple):
    """The numbers that the kernels take."""

    dt: float
    gamma: float
    """Forced progress, m/s."""
    speed_weight: float
    label_weight: float
    idle_weight: float
    idle_below: float
    """Speed below which someone who was asked for no speed idles, m/s."""
    end_weight: float
    """What the squared distance from the path's end counts when the walk is over, seconds."""
    facing_weight: float
    """Zero where no facing is asked for."""
    fastest: float
    """Longest way the root makes in a frame, metres."""
    per_metre: float
    """Points of the path for each metre of it."""
    length: float
    """Of the path."""
    continuation_s: float
    """Seconds between the moments at which the beam sees a continuation."""
    heuristic_weight: float
    """How much what it sees there counts."""
    credit: float
    """What a metre of the path that is still to be walked is reckoned to cost, m²·s."""
    facing: float
    """Yaw asked for at the end."""
    max_lateral: float
    """Lateral acceleration up to which edges are bent at a walk, m/s²; 0 for none."""
    more_lateral: float
    """How much more at a run, m/s²."""
    max_curvature: float
    """Of a bent way, 1/m, however slow."""
    max_stretch: float
    """Share by which edges may be longer or shorter."""
    bend_cost: float
    """Cost of a second at a lateral acceleration of 1 m/s² that bending adds."""
    pursuit_m: float
    """Way within which who is off the path is led back to it, metres at least."""
    pursuit_s: float
    """Seconds within which, if that is farther."""
    end_pose_cost: float
    """Cost of ending with the body a tenth lower than usual."""


def recorded_lateral(way: Floats, seconds: Floats, turn: Floats) -> tuple[float, float]:
    """Lateral acceleration that one in twenty edges of walks and of runs exceeds, m/s²; 0 where there are none."""
    speed = way / seconds
    lateral, runs = np.abs(speed * turn / seconds), speed >= RUN_M_S
    slow, fast = (float(np.percentile(lateral[k], 95)) if k.any() else 0.0 for k in (~runs, runs))
    return slow, fast


def so_far(step: Floats, first: Ints, length: Ints) -> Floats:
    """Way made since each row's edge began, (R,), metres."""
    from choreograph.verbs.follow import _compiled_rows

    return np.asarray(_compiled_rows.sum_within(step, first, length))


def find_headings(clip_way: Floats, graph: MotionGraph) -> Floats:
    """The direction of travel in every frame of every clip, radians."""
    begin = np.concatenate([[0], np.cumsum(graph.clip_frames.astype(np.int64))])
    ways = [find_way(clip_way[a:b, :2], graph.rate_hz, 0.0) for a, b in pairwise(begin)]
    return np.concatenate([way.heading for way in ways])


def turns_of(graph: MotionGraph, edge: Ints, clip_way: Floats, node_row: NDArray[Any], heading: Floats) -> Floats:
    """The same for some edges, (N, 4), by the heading at each node."""
    source, target = graph.edges.source[edge], graph.edges.target[edge]
    at = clip_way[node_row[source]]
    turn = heading[target] + graph.edges.yaw[edge] - heading[source]
    turn = (turn + np.pi) % (2 * np.pi) - np.pi
    return np.stack([at[:, 0], at[:, 1], heading[source], turn], axis=1)


def kernel_path(path: Path, bends: bool) -> tuple[KernelPath, float]:
    """The path for the kernels, and its spacing."""
    count = max(2, int(np.ceil(path.length / PATH_STEP_M)) + 1)
    step = path.length / (count - 1)
    along = np.asarray(np.arange(count) * step, np.float64)
    speed, label = np.full(count, -1.0), np.zeros(count, np.int64)
    labels = labels_of(path)
    for stretch in path.stretches:
        inside = (along >= stretch.start - 1e-9) & (along <= stretch.stop + 1e-9)
        if stretch.speed is not None:
            speed[inside] = stretch.speed
        if stretch.label is not None:
            label[inside] |= 1 << labels.index(stretch.label)
    pauses = sorted((s.start, s.pause) for s in path.stretches if s.pause)
    at, seconds = (np.array([p[k] for p in pauses], float) for k in (0, 1))
    # All sealed: the kernels are compiled for one kind of array.
    guide = _guide(path, along) if bends else np.zeros((count, 5))
    arrays = path.at(along), speed, label, at, seconds, guide, *goals_ahead(path, along)
    return KernelPath(*(seal(a) for a in arrays)), step


def _guide(path: Path, along: Floats) -> Floats:
    """The path without its corners at these places, its heading, and the heading's cosine and sine, (N, 5)."""
    smooth = path.smoothed(GUIDE_M)
    places = smooth.at(along * (smooth.length / path.length))
    heading = find_way(places, len(places) / max(path.length, 1e-9), 0.0).heading
    return np.column_stack([places, heading, np.cos(heading), np.sin(heading)])


def moment_weights(settings: FollowAdvanced, moment_s: float) -> Floats:
    """How much being off the path counts at each moment of a continuation, (MOMENTS,): less with time to bend.

    A walk that is d off after T seconds comes back by a lateral acceleration of 2 d / T², if that costs less.
    """
    if not settings.bends:
        return np.ones(MOMENTS)
    seconds = moment_s * np.arange(1, MOMENTS + 1)
    bent = 4 * settings.weights.bend / (seconds**3 * moment_s)
    return np.asarray(bent / (1 + bent))


def moment_frames(settings: FollowAdvanced, graph: MotionGraph) -> int:
    """Frames between the moments at which continuations are seen."""
    return max(1, round(settings.continuation_s * graph.rate_hz / MOMENTS))


def lateral_limits(settings: FollowAdvanced, recorded: tuple[float, float]) -> tuple[float, float]:
    """Lateral acceleration up to which walks and runs are bent, m/s²: as usual, or as recorded if more."""
    slow, fast = settings.lateral_limits
    if not settings.bends or settings.max_lateral_m_s2 is not None:
        return slow, fast
    found = [
        min(max(usual, shown), max(usual, most))
        for usual, most, shown in zip((slow, fast), MOST_LATERAL_M_S2, recorded, strict=True)
    ]
    return found[0], max(found)


class Inputs(NamedTuple):
    """All that the kernels take."""

    tables: KernelTables
    path: KernelPath
    params: KernelParams


def find_params(
    graph: MotionGraph,
    path: Path,
    line: KernelPath,
    spacing: float,
    settings: FollowAdvanced,
    fastest: float,
    lateral: tuple[float, float],
) -> KernelParams:
    """The numbers that the kernels take for a request.

    Args:
        graph: Where walks come from.
        path: The line to follow.
        line, spacing: The same as `kernel_path` gives it.
        settings: How to search.
        fastest: Longest way the root makes in a frame, metres.
        lateral: Lateral acceleration that recorded walks and runs show, m/s².
    """
    thesis, bends = settings.method == "thesis", settings.bends
    facing, asked = path.final_facing, line.speed
    frames = moment_frames(settings, graph)
    slow, fast = lateral_limits(settings, lateral)
    stretch = settings.max_stretch if bends else 0.0
    return KernelParams(
        dt=1.0 / graph.rate_hz,
        gamma=float(asked[asked >= 0].min(initial=settings.forced_progress_m_s)),
        speed_weight=float(settings.speed_cost),
        label_weight=float(settings.label_cost),
        # The thesis knows no cost of standing, and none of where it ends.
        idle_weight=0.0 if thesis else float(settings.weights.idle),
        idle_below=IDLE_M_S,
        end_weight=0.0 if thesis else float(settings.weights.end_s),
        facing_weight=0.0 if facing is None else float(settings.weights.facing),
        # Bent, progress may run ahead of the root by half.
        fastest=fastest * (1.5 * (1.0 + stretch) if bends else 1.0),
        per_metre=1.0 / spacing,
        length=path.length,
        continuation_s=frames / graph.rate_hz,
        heuristic_weight=float(settings.weights.heuristic),
        credit=float(settings.weights.metre),
        facing=float(facing or 0.0),
        max_lateral=slow,
        more_lateral=fast - slow,
        max_curvature=MAX_CURVATURE,
        max_stretch=float(stretch),
        bend_cost=float(settings.weights.bend),
        pursuit_m=PURSUIT_M,
        pursuit_s=PURSUIT_S,
        end_pose_cost=float(settings.weights.end_pose) if bends else 0.0,
    )
