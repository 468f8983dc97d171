"""What the kernels take of a graph: a request's own view of the tables that searches share."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from copy import copy, deepcopy
from typing import Any

import numpy as np

from choreograph.base.arrays import Flags, Floats, Ints, seal
from choreograph.graph.model import MotionGraph
from choreograph.graph.tables import TRANSITION
from choreograph.scene.path import Path
from choreograph.verbs.follow.beam import PageIn
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
from choreograph.verbs.follow.request import FollowAdvanced
from choreograph.verbs.follow.table_columns import GrowingArrays
from choreograph.verbs.follow.tables import EdgeTables


class Pager:
    """The kernels' tables for one search, with the edges of the nodes that it has come to."""

    def __init__(
        self,
        tables: EdgeTables,
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
        self._style_label = style
        self._style = None if style is None else tables.label_bits([style]) == 1
        graph = tables.graph
        self._word_bits = tables.label_bits(labels_of(path))
        self._first, self._last = tables.first_edge, tables.last_edge
        if not tables.whole:
            self._first, self._last = (np.full(len(graph.nodes), -1, np.int64) for _ in range(2))
        self._extra, self._labels = (
            GrowingArrays({"extra": ((), np.float64)}),
            GrowingArrays({"labels": ((), np.int64)}),
        )
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
        if self._tables.whole:  # nothing is added
            return twin
        twin._first, twin._last = self._first.copy(), self._last.copy()
        twin._extra, twin._labels, twin._way_cost = deepcopy((self._extra, self._labels, self._way_cost))
        twin._fill()
        return twin

    @property
    def page_in(self) -> PageIn | None:
        """What gives tables with the edges of more nodes; None where they have all."""
        return None if self._tables.whole else self

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
        if not self._tables.whole and len(found) and found.max() >= len(self.kernel.first):
            self._fill()
        return found

    def numbers(self, slots: Any) -> list[int]:
        """Which edges of the graph are there."""
        return list(self._tables.numbers(slots).tolist())

    def frames_of(self, edges: Sequence[int]) -> int:
        """Frames that edges of the graph show together."""
        table, number = self._tables.graph.edges, np.asarray(edges, np.int64)
        return int((table.stop[number] - table.start[number]).sum())

    def _fill(self) -> KernelTables:
        tables = self._tables
        self._find_way_costs()
        known, rows = self._extra.count, self._labels.count
        extra = self._extra.extend(tables.edges.count - known)["extra"]
        extra[:] = self._costs(known)
        if self._edge_costs is not None:
            extra += self._edge_costs[tables.edges["number"][known:]]
        labels = self._labels.extend(tables.rows.count - rows)["labels"]
        if self._word_bits.any():
            labels[:] = self._word_bits[tables.rows["label_words"][rows:]]
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
        key = settings, self._style_label
        asked, found = tables.derived.get("costs", (None, None))
        if tables.whole and asked == key:
            # Of a million edges they take longer to find than some steps of a walk; most requests have the same.
            return np.asarray(found)
        number = tables.edges["number"][since:]
        blends = tables.graph.edges.kind[number] == TRANSITION
        extra = np.zeros(len(number))
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
        if tables.whole:
            tables.derived["costs"] = key, extra
        return np.asarray(extra)


def _find_waits(
    graph: MotionGraph, tables: EdgeTables, path: Path, settings: FollowAdvanced, word_bits: Ints
) -> tuple[Floats, Floats]:
    """Seconds from each node to the next frame that shows each goal, (N, B), and the cost of one without it, (B,)."""
    from choreograph.verbs.follow import _compiled_rows

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
        if tables.whole:
            soonest = _soonest_in_rows(tables, shown, between, never)
        else:
            soonest = _compiled_rows.soonest_shown(net, tables.frames, shown, between, never)
        found = _compiled_rows.least_wait(net.first_edge, net.target, net.start, net.stop, soonest, never)
        wait[:, k] = found / graph.rate_hz
    return wait, cost


def _soonest_in_rows(tables: EdgeTables, shown: Flags, between: Floats, never: int) -> Ints:
    """Frames from each node to the first row on its edges that shows something, (N,); see `soonest_shown`."""
    first, length = tables.edges["first"], tables.edges["length"]
    if len(shown):
        row = np.arange(tables.rows.count) - np.repeat(first, length)
        begins = np.minimum.reduceat(np.where(shown[tables.rows["label_words"]], row, never), first)
    else:
        speed = tables.edges["edge_way"] / length
        begins = np.where((between[0] < speed) & (speed < between[1]), 0, never)
    soonest = np.full(len(tables.graph.nodes), never)
    np.minimum.at(soonest, tables.graph.edges.source, begins)
    return soonest
