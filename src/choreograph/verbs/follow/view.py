"""A search's view of its graph's tables: of all edges, or of those that it has come to, in the same words."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any

import numpy as np

from choreograph.base.arrays import Floats, Ints, seal
from choreograph.graph.model import MotionGraph
from choreograph.scene.path import Path
from choreograph.verbs.follow.beam import PageIn
from choreograph.verbs.follow.goals import passage_costs, style_costs
from choreograph.verbs.follow.kernel_inputs import Inputs, KernelParams, KernelPath, KernelTables, find_inputs
from choreograph.verbs.follow.pager import Pager
from choreograph.verbs.follow.paging import PagedTables
from choreograph.verbs.follow.prepare import Tables
from choreograph.verbs.follow.request import FollowRequest
from choreograph.verbs.follow.tables import EdgeTables


class TablesView:
    """The kernels' tables for one search. Where they do not have all edges, edges have other numbers there."""

    def __init__(self, graph: MotionGraph, tables: Tables) -> None:
        self.graph, self.tables = graph, tables
        self._pager: Pager | None = None
        self._inputs: Inputs | None = None

    @property
    def kernel(self) -> KernelTables:
        """The tables as they are now."""
        assert self._inputs is not None
        return self._inputs.tables if self._pager is None else self._pager.kernel

    def prepare(self, path: Path, request: FollowRequest, edge_costs: Floats | None) -> tuple[KernelPath, KernelParams]:
        """Make ready for a path; what else the kernels take.

        Args:
            path: The line to follow.
            request: How.
            edge_costs: Extra cost of single edges, (E,), m²·s.
        """
        if isinstance(self.tables, PagedTables):
            self._pager = Pager(self.tables, path, request.settings, request.style, edge_costs)
            self._inputs = self._pager.inputs
        else:
            costs = _costs(self.graph, self.tables, request, edge_costs)
            self._inputs = find_inputs(self.graph, self.tables, path, request.settings, costs)
        return self._inputs.path, self._inputs.params

    def copied(self) -> TablesView:
        """The same once more, for a search that goes on by itself."""
        twin = copy(self)
        twin._pager = None if self._pager is None else self._pager.copied()
        return twin

    @property
    def page_in(self) -> PageIn | None:
        """What gives tables with the edges of more nodes; None where they have all."""
        return self._pager

    @property
    def lengths(self) -> tuple[int, int]:
        """Frames of the longest edge and of a usual one."""
        return self.tables.lengths

    def slots(self, edges: Sequence[int]) -> Ints:
        """Where edges of the graph are in the tables."""
        return np.asarray(edges, np.int64) if self._pager is None else self._pager.slots(edges)

    def numbers(self, slots: Any) -> list[int]:
        """Which edges of the graph are there."""
        found = slots if not isinstance(self.tables, PagedTables) else self.tables.numbers(slots)
        return list(np.asarray(found).tolist())

    def frames_of(self, edges: Sequence[int]) -> int:
        """Frames that edges of the graph show together."""
        table, number = self.graph.edges, np.asarray(edges, np.int64)
        return int((table.stop[number] - table.start[number]).sum())


def _costs(graph: MotionGraph, tables: EdgeTables, request: FollowRequest, edge_costs: Floats | None) -> Floats:
    """What each edge costs besides its distance from the path, (E,)."""
    settings, key = request.settings, (request.settings, request.style)
    asked, known = tables.derived.get("costs", (None, None))
    if asked != key:
        extra = np.zeros(len(graph.edges))
        if settings.method != "thesis":  # which knows no such costs
            extra += passage_costs(graph, slice(None), settings)
            extra += settings.weights.fault * tables.faulty + settings.abrupt_cost * tables.rough
        if settings.bends:
            extra += style_costs(graph, tables, settings, request.style)
        # Of a million edges they take longer to find than some steps of a walk; most requests have the same.
        known = seal(extra)
        tables.derived["costs"] = key, known
    return known if edge_costs is None or not edge_costs.any() else known + edge_costs
