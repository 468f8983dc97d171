"""What the kernels take of a graph that is paged in: a request's own view of the tables that searches share."""

from __future__ import annotations

from contextlib import AbstractContextManager
from copy import copy, deepcopy
from typing import Any

import numpy as np

from choreograph.base.arrays import Floats, Ints, seal
from choreograph.graph.model import MotionGraph
from choreograph.graph.tables import TRANSITION
from choreograph.scene.path import Path
from choreograph.verbs.follow.continuations import MOMENTS
from choreograph.verbs.follow.goals import (
    asked_goals,
    goal_cost,
    label_words,
    labels_of,
    never_frames,
    off_style,
    passage_costs,
    speeds_that_fit,
    style_differences,
)
from choreograph.verbs.follow.kernel_inputs import Inputs, KernelTables, find_params, kernel_path, moment_frames
from choreograph.verbs.follow.kernel_inputs import moment_weights as weights_of
from choreograph.verbs.follow.lazy_continuations import Pages, no_pages
from choreograph.verbs.follow.paging import PagedTables, Pool
from choreograph.verbs.follow.request import FollowAdvanced


class Pager:
    """Gives a search the tables of the nodes that it has come to."""

    def __init__(
        self,
        tables: PagedTables,
        path: Path,
        settings: FollowAdvanced,
        style: str | None,
        edge_costs: Floats | None,
    ) -> None:
        """Begin with none.

        Args:
            tables: What searches on the graph share.
            path: The line to follow, and what is wanted along it.
            settings: How to search.
            style: Label of the style that is wanted throughout.
            edge_costs: Extra cost of single edges of the graph, (E,), m²·s.
        """
        self._tables, self._settings, self._edge_costs = tables, settings, edge_costs
        self._style = None if style is None else tables.label_bits([style]) == 1
        graph = tables.graph
        self._word_bits = tables.label_bits(labels_of(path))
        self._first, self._last = np.full(len(graph.nodes), -1, np.int64), np.full(len(graph.nodes), -1, np.int64)
        self._extra, self._labels = Pool({"extra": ((), np.float64)}), Pool({"labels": ((), np.int64)})
        self._way_cost, self._way_count = np.empty(0), 0
        continues = settings.method != "thesis" and settings.weights.heuristic > 0
        self._step = moment_frames(settings, graph) if continues else None
        line, spacing = kernel_path(path, settings.bends)
        params = find_params(graph, path, line, spacing, settings, tables.fastest, tables.lateral)
        wait, cost = _find_waits(graph, tables, path, settings, self._word_bits)
        nothing: Any = np.zeros(0)
        blank = KernelTables(*[nothing] * len(KernelTables._fields))._replace(
            moment_weight=seal(weights_of(settings, params.continuation_s) if continues else np.ones(MOMENTS)),
            wait_s=seal(wait),
            wait_cost=seal(cost),
        )
        self.inputs = Inputs(blank, line, params)
        self._fill()

    @property
    def kernel(self) -> KernelTables:
        """The tables as they are now."""
        return self.inputs.tables

    def copied(self) -> Pager:
        """The same once more, for a search that goes on by itself."""
        twin = copy(self)
        twin._first, twin._last = self._first.copy(), self._last.copy()
        twin._extra, twin._labels, twin._way_cost = deepcopy((self._extra, self._labels, self._way_cost))
        twin._fill()
        return twin

    @property
    def lock(self) -> AbstractContextManager[Any]:
        """To be held while the tables are used."""
        return self._tables.lock

    def __call__(self, nodes: Ints) -> tuple[KernelTables, Pages]:
        """Tables that have the edges of these nodes too, and room for continuations of where they lead."""
        tables, nodes = self._tables, np.asarray(nodes, np.int64)
        tables.page_in(nodes)
        self._first[nodes], self._last[nodes] = tables.first_edge[nodes], tables.last_edge[nodes]
        if self._step is None:
            return self._fill(), no_pages()
        ways = tables.ways(self._step)
        ways.reserve(int((self._last[nodes] - self._first[nodes]).sum()))
        return self._fill(), ways.pages(self._way_cost, self._settings.weights.transition)

    def slots(self, edges: Any) -> Ints:
        """Where edges of the graph are in the tables."""
        edges = np.asarray(edges, np.int64)
        found = self._tables.slots(edges)
        if len(found) and found.max() >= len(self.kernel.first):
            self._fill()
        return found

    def _fill(self) -> KernelTables:
        tables = self._tables
        self._find_way_costs()
        known, rows = self._extra.count, self._labels.count
        self._extra.extend(tables.edges.count - known)["extra"][:] = self._costs(known)
        self._labels.extend(tables.rows.count - rows)["labels"][:] = self._word_bits[tables.rows["label_words"][rows:]]
        kernel = tables.filled(self.kernel, self._step)._replace(
            first_edge=seal(self._first.view()),
            last_edge=seal(self._last.view()),
            extra=self._extra["extra"],
            way_cost=seal(self._way_cost.view()),
            labels=self._labels["labels"],
        )
        self.inputs = self.inputs._replace(tables=kernel)
        return kernel

    def _find_way_costs(self) -> None:
        """What the transitions of continuations cost that other searches found; the beam tells of its own."""
        ways = self._tables.ways(self._step or 0)
        if len(self._way_cost) < len(ways.changes):
            larger = np.empty(len(ways.changes))
            larger[: self._way_count] = self._way_cost[: self._way_count]
            self._way_cost = larger
        new = slice(self._way_count, ways.count)
        self._way_cost[new] = self._settings.weights.transition * ways.changes[new]
        self._way_count = ways.count

    def _costs(self, since: int) -> Floats:
        """What edges cost besides their distance from the path, from a place in the tables on."""
        tables, settings = self._tables, self._settings
        number = tables.edges["number"][since:]
        blends = tables.graph.edges.kind[number] == TRANSITION
        extra = np.zeros(len(number)) + (0.0 if self._edge_costs is None else self._edge_costs[number])
        if settings.method != "thesis":
            extra += passage_costs(tables.graph, number, settings)
            extra += settings.weights.fault * tables.edges["faulty"][since:]
            extra += settings.abrupt_cost * tables.edges["rough"][since:]
        if settings.bends and len(number):
            words = tables.rows["label_words"]
            first, length = tables.edges["first"][since:], tables.edges["length"][since:]
            if "words" not in tables.derived:
                tables.derived["words"] = label_words(tables.label_sets)
            changes = style_differences(tables.derived["words"], words[first], words[first + length - 1], blends)
            costs = settings.weights.style_change * changes
            if self._style is not None:
                costs = costs + off_style(self._style, words[first[0] :], first - first[0], tables.graph.rate_hz)
            extra += costs
        return np.asarray(extra)


def _find_waits(
    graph: MotionGraph, tables: PagedTables, path: Path, settings: FollowAdvanced, word_bits: Ints
) -> tuple[Floats, Floats]:
    """Seconds from each node to the next frame that shows each goal, (N, B), and the cost of one without it, (B,)."""
    from choreograph.verbs.follow import _compiled_paging

    goals = asked_goals(path) if settings.bends else []
    wait, cost = np.zeros((len(graph.nodes), len(goals))), np.zeros(len(goals))
    never, net = never_frames(graph), tables.net
    for k, (label, asked) in enumerate(goals):
        cost[k] = goal_cost(settings, asked)
        shown, between = np.zeros(0, bool), np.zeros(2)
        if label is not None:
            shown = (word_bits >> k) & 1 == 1
        else:
            assert asked is not None
            between = speeds_that_fit(settings, asked) / graph.rate_hz
        soonest = _compiled_paging.soonest_shown(net, tables.frames, shown, between, never)
        found = _compiled_paging.least_wait(net.first_edge, net.target, net.start, net.stop, soonest, never)
        wait[:, k] = found / graph.rate_hz
    return wait, cost
