"""The interpolated motion graph of a graph: built once, and read from the cache when the graph is opened again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

from choreograph.base.arrays import Ints
from choreograph.base.errors import RequestError
from choreograph.base.progress import Progress, silent
from choreograph.dynamics.torques import TorqueModel
from choreograph.graph.cache import Content, find_key, find_or_build
from choreograph.graph.model import MotionGraph
from choreograph.motion.body_points import PointBody
from choreograph.verbs.plan.heuristic import MEASURES, Rates, all_rates, rates_of
from choreograph.verbs.plan.network import Network, Tolerances, compress, connect
from choreograph.verbs.plan.primitives import OBJECTIVES, Primitives, PrimitiveTable, find_primitives, tabulate
from choreograph.verbs.plan.steps import find_steps, read_track

METHOD = 6
"""One more whenever the same graph would give another interpolated graph."""


@dataclass(frozen=True, eq=False)
class PlanGraph:
    """Steps, blends of them, and the compressed network; the uncompressed one is made when it is asked for."""

    table: PrimitiveTable
    every: Primitives
    """All primitives, recorded steps first."""
    kept: Ints
    """Those that compression leaves, ascending."""
    network: Network
    """Of the kept ones."""
    rates: Mapping[tuple[int, int], Rates]
    body: PointBody
    tolerances: Tolerances

    @cached_property
    def whole(self) -> Network:
        """The network of all primitives: the graph before compression."""
        return connect(self.table, self.every, self.tolerances)

    @cached_property
    def _whole_rates(self) -> dict[tuple[int, int], Rates]:
        return {}

    def whole_rates(self, objective: int, measure: int) -> Rates:
        """Rates of the whole network, found when they are first asked for."""
        known = self._whole_rates
        if (objective, measure) not in known:
            known[objective, measure] = rates_of(self.whole, self.table, objective, measure)
        return known[objective, measure]

    def report(self) -> dict[str, int]:
        """Sizes before and after compression."""
        return {
            "steps": len(self.table),
            "primitives": len(self.every),
            "kept_primitives": len(self.kept),
            "nodes": self.network.nodes,
            "edges": len(self.network.edge),
        }


def find_plan_graph(
    graph: MotionGraph, tolerances: Tolerances = Tolerances(), progress: Progress = silent
) -> PlanGraph:
    """The interpolated graph of a graph's clips, read from the cache or built.

    >>> from choreograph.demo import demo_clip
    >>> import choreograph as cg
    >>> graph = cg.build_graph([demo_clip(name, 30.0) for name in ("walk", "walk_veer_left")])
    >>> find_plan_graph(graph).report()["steps"] > 4
    True

    Args:
        graph: Whose clips.
        tolerances: What counts as the same.
        progress: Hears how many clips are read.

    Raises:
        RoleError: If the skeleton has no feet that are known.
        RequestError: If no clip has a step.
    """
    body = PointBody.of(graph.skeleton)
    key = find_key(graph, "plan network", METHOD, ("motion", "contacts"), **vars(tolerances))
    plans = find_or_build(
        key,
        lambda: _build(graph, body, tolerances, progress),
        _pack,
        lambda content: _unpack(content, body, tolerances),
    )
    if not len(plans.table):
        raise RequestError(
            "no clip of the graph has a step: two landings of feet, or two moments of standing; add clips in which "
            "somebody walks, or choose such clips (only)"
        )
    return plans


def _build(graph: MotionGraph, body: PointBody, tolerances: Tolerances, progress: Progress) -> PlanGraph:
    tracks, mechanics = [], TorqueModel.of(graph.clips)
    for number in range(len(graph.infos)):
        progress("reading steps", number, len(graph.infos))
        tracks.append(read_track(graph.clips[number], number, body, mechanics))
    table = tabulate(tracks, find_steps(tracks))
    every = find_primitives(table)
    numbers = compress(table, every, tolerances)
    network = connect(table, every.take(numbers), tolerances)
    progress("bounding costs", 0, 1)
    return PlanGraph(table, every, numbers, network, all_rates(network, table), body, tolerances)


_NETWORK = ("outcome", "seconds", "costs", "target", "kind", "hips", "group", "alike", "first", "edge", "mismatch")
_RATES = ("per_metre", "per_radian", "potential")


def _pack(plans: PlanGraph) -> Content:
    arrays: dict[str, Any] = {f"table.{one.name}": getattr(plans.table, one.name) for one in fields(PrimitiveTable)}
    arrays |= {"every.steps": plans.every.steps, "every.weights": plans.every.weights, "kept": plans.kept}
    arrays |= {f"network.{name}": getattr(plans.network, name) for name in _NETWORK}
    for (objective, measure), rates in plans.rates.items():
        arrays |= {f"rates.{objective}.{measure}.{name}": getattr(rates, name) for name in _RATES}
    return Content({"steps": len(plans.table)}, arrays)


def _unpack(content: Content, body: PointBody, tolerances: Tolerances) -> PlanGraph:
    """The graph of an entry; a ValueError where it contradicts itself."""
    arrays = content.arrays
    table = PrimitiveTable(**{one.name: arrays[f"table.{one.name}"] for one in fields(PrimitiveTable)})
    every = Primitives(arrays["every.steps"], arrays["every.weights"])
    numbers = arrays["kept"]
    if len(every) and (every.steps.max() >= len(table) or every.steps[:, 0].min() < 0):
        raise ValueError("primitives lead beyond the steps")
    if len(numbers) and not 0 <= numbers.min() <= numbers.max() < len(every):
        raise ValueError("kept primitives lead beyond all of them")
    columns: dict[str, Any] = {name: arrays[f"network.{name}"] for name in _NETWORK}
    network = Network(every.take(numbers), **columns)
    edges = len(network.edge)
    if len(network.target) != len(numbers) or network.first[-1] != edges or len(network.mismatch) != edges:
        raise ValueError("the network does not fit its primitives")
    if edges and not 0 <= network.edge.min() <= network.edge.max() < len(numbers):
        raise ValueError("edges lead beyond the primitives")
    if len(numbers) and not 0 <= network.target.min() <= network.target.max() < network.nodes:
        raise ValueError("primitives lead beyond the nodes")
    rates = {
        (objective, measure): Rates(*(arrays[f"rates.{objective}.{measure}.{name}"] for name in _RATES))
        for objective in range(len(OBJECTIVES))
        for measure in MEASURES
    }
    return PlanGraph(table, every, numbers, network, rates, body, tolerances)
