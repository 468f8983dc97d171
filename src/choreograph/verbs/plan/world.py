"""The primitives that a request can use: those of the network, and what its goal alone needs behind them."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np

from choreograph.base.arrays import Flags, Floats
from choreograph.base.errors import RequestError
from choreograph.dynamics.torques import TorqueModel
from choreograph.graph.model import MotionGraph
from choreograph.motion import body_points as points
from choreograph.motion.labels import matches_label, say_labels
from choreograph.verbs.plan.heuristic import FEET, ROUND, STRAIGHT, Rates
from choreograph.verbs.plan.network import Network, hips_in
from choreograph.verbs.plan.planner import Chain
from choreograph.verbs.plan.prepare import PlanGraph
from choreograph.verbs.plan.primitives import OBJECTIVES, Primitives, PrimitiveTable, tabulate
from choreograph.verbs.plan.request import End, PlanRequest
from choreograph.verbs.plan.steps import STAND, Event, Step, StepTrack, make_step, read_track
from choreograph.verbs.plan.task import World

_JOIN_M = 0.12
"""How far a pose may be from the first of what is done at the goal."""
_FEWEST = 12
"""Nodes from which that can be begun, even if they are farther away."""


def make_world(graph: MotionGraph, plans: PlanGraph, request: PlanRequest, *, full: bool = False) -> World:
    """What a search for a request looks among.

    Args:
        graph: Whose clips.
        plans: Its interpolated graph.
        request: What is wanted.
        full: Whether to look among all primitives, not only those that compression leaves.

    Raises:
        RequestError: If the goal names a label, clip or frame that is not there.
    """
    end = request.end
    network, number = plans.whole if full else plans.network, OBJECTIVES.index(request.objective)
    measures = (ROUND if request.scene.solids() else STRAIGHT, FEET)
    own, feet = (plans.whole_rates(number, m) if full else plans.rates[number, m] for m in measures)
    if request.objective == "torque" and not plans.table.costs[:, OBJECTIVES.index("torque")].any():
        raise RequestError(
            "torques are not known: the skeleton's hips and legs must be known by their roles; take effort",
            where="objective",
        )
    usable = np.ones(len(network.primitives), bool)
    if not request.interpolation:
        usable = network.primitives.raw
        network = network.only(usable)
    if end.label is None and end.pose is None:
        stands = network.kind[network.target] == STAND
        if end.standing and not (stands & usable).any():
            raise RequestError(
                "no recorded step ends with both feet at rest, so none can end so", where=f"{end.where}.standing"
            )
        terminal = stands if end.standing else np.ones(len(usable), bool)
        return World(plans.table, network, own, feet, terminal, usable, plans.body, all_end=not end.standing)
    mechanics = TorqueModel.of(graph.clips) if request.objective == "torque" else None
    tracks, steps = _last_steps(graph, plans, end, mechanics)
    return _extended(plans, network, (own, feet), usable, tabulate(tracks, steps))


def in_whole(plans: PlanGraph, chain: Chain) -> Chain:
    """A chain of the compressed world as one of the world of all primitives."""
    count, every = len(plans.kept), len(plans.every)
    own = plans.kept[np.minimum(chain.primitives, count - 1)]
    return replace(chain, primitives=np.where(chain.primitives < count, own, chain.primitives - count + every))


def _last_steps(
    graph: MotionGraph, plans: PlanGraph, end: End, mechanics: TorqueModel | None
) -> tuple[list[StepTrack], list[Step]]:
    """What can be done at the goal, each from its beginning to its end as one step."""
    spans: list[tuple[int, int | None, int, str]] = []
    if end.pose is not None:
        assert end.pose.clip is not None
        clip = graph.find_clip(end.pose.clip)
        if end.pose.frame >= graph.infos[clip].own_frames:
            raise RequestError(
                f"{end.where}.pose.frame is {end.pose.frame}, but {end.pose.clip!r} has frames 0 to "
                f"{graph.infos[clip].own_frames - 1}",
                where=f"{end.where}.pose.frame",
            )
        spans.append((clip, None, end.pose.frame, f"{end.where}.pose.frame"))
    else:
        assert end.label is not None
        for number, info in enumerate(graph.infos):
            spans += [
                (number, label.start, label.stop - 1, f"{end.where}.label")
                for label in info.labels
                if matches_label(end.label, label.text)
            ]
        if not spans:
            known = say_labels({label.text for info in graph.infos for label in info.labels})
            raise RequestError(
                f"{end.where}.label is {end.label!r}, which no clip of the graph is labelled; there are: {known}",
                where=f"{end.where}.label",
            )
    tracks: list[StepTrack] = []
    steps: list[Step] = []
    for clip, begin, stop, _ in spans:
        track = read_track(graph.clips[clip], clip, plans.body, mechanics)
        last = min(round(stop / track.stride), len(track.points) - 1)
        first = last if begin is None else round(begin / track.stride)
        earlier = [event for event in track.events if event.frame <= min(first, last - 2)]
        later = [event for event in track.events if event.frame < last - 2]
        starts = earlier[-1:] if earlier else later[:1]
        if starts:
            steps.append(make_step(track, len(tracks), starts[0], Event(last, STAND, _stance(track, last))))
            tracks.append(track)
    if not steps:
        where = spans[0][3]
        raise RequestError(f"{where} cannot be come to: no step of its clip leads there", where=where)
    return tracks, steps


def _stance(track: StepTrack, frame: int) -> Floats:
    """A frame on the floor under the body, whatever the feet do: yaw, x, z."""
    feet = [track.points[frame, point(side)][[0, 2]] for side in (0, 1) for point in (points.ankle, points.ball)]
    return np.array([track.facing[frame], *np.mean(feet, axis=0)])


def _extended(
    plans: PlanGraph, network: Network, rates: tuple[Rates, Rates], usable: Flags, more: PrimitiveTable
) -> World:
    """The world with a node behind all others to which these steps lead, from poses near their first."""
    table, count, nodes = plans.table, len(usable), network.nodes
    both = _joined(table, more)
    rows = np.stack([len(table) + np.arange(len(more)), *np.full((2, len(more)), -1)], axis=1).astype(np.int32)
    weights = np.tile([1.0, 0.0, 0.0], (len(more), 1))
    primitives = Primitives(
        np.concatenate([network.primitives.steps, rows]), np.concatenate([network.primitives.weights, weights])
    )
    _, leaders = np.unique(network.target, return_index=True)
    poses = network.primitives.take(leaders).mix(table.stop_pose)
    apart = np.linalg.norm(poses[:, None] - more.start_pose[None], axis=2)
    apart[network.kind[:, None] != more.kinds[None, :, 0]] = np.inf
    limit = np.maximum(_JOIN_M, np.sort(apart, axis=0)[min(_FEWEST, nodes) - 1])
    joins = [np.flatnonzero(row <= limit) for row in np.where(np.isfinite(apart), apart, 1e9)]
    edges, gaps, first = [], [], [0]
    for node in range(nodes):
        low, high = network.first[node], network.first[node + 1]
        edges.append(np.concatenate([network.edge[low:high], count + joins[node]]))
        gaps.append(np.concatenate([network.mismatch[low:high], apart[node, joins[node]]]))
        first.append(first[-1] + len(edges[-1]))
    last = more.sample_first[1:] - 1
    hips = hips_in(more.outcome, more.samples[last, 0][:, [0, 2]].astype(float), more.facing[last].astype(float))
    grown = Network(
        primitives,
        np.concatenate([network.outcome, more.outcome]),
        np.concatenate([network.seconds, more.seconds]),
        np.concatenate([network.costs, more.costs]),
        np.concatenate([network.target, nodes + np.arange(len(more))]),
        np.concatenate([network.kind, np.full(len(more), STAND)]),
        np.concatenate([network.hips, hips]),
        np.concatenate([network.group, network.group.max() + 1 + np.arange(len(more))]),
        np.concatenate([network.alike, network.alike.max() + 1 + np.arange(len(more))]),
        np.array([*first, *[first[-1]] * len(more)], np.int64),
        np.concatenate(edges).astype(np.int32),
        np.concatenate(gaps).astype(np.float32),
    )
    terminal = np.arange(count + len(more)) >= count
    both_rates = [
        Rates(
            one.per_metre,
            one.per_radian,
            np.concatenate([one.potential, np.zeros((len(one.potential), len(more)))], axis=1),
        )
        for one in rates
    ]
    return World(
        both,
        grown,
        both_rates[0],
        both_rates[1],
        terminal,
        np.concatenate([usable, terminal[count:]]),
        plans.body,
        all_end=False,
    )


def _joined(table: PrimitiveTable, more: PrimitiveTable) -> PrimitiveTable:
    """Two tables as one."""
    columns = {}
    for one in fields(PrimitiveTable):
        a, b = getattr(table, one.name), getattr(more, one.name)
        if one.name in ("phase_first", "sample_first"):
            columns[one.name] = np.concatenate([a, b[1:] + a[-1]])
        elif one.name == "sort":
            columns[one.name] = np.concatenate([a, b + (a.max() + 1 if len(a) else 0)])
        else:
            columns[one.name] = np.concatenate([a, b])
    return PrimitiveTable(**columns)
