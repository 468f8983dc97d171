"""The search for motion that meets a request: seeds, mutations, local minima, as long as one likes to wait."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from choreograph.errors import RequestError
from choreograph.graph.model import MotionGraph
from choreograph.maths.floor import FloorTransform
from choreograph.progress import Progress, silent
from choreograph.synthesis.solve import reference
from choreograph.synthesis.solve.hierarchy import Hierarchy, HierarchySettings, build_hierarchy
from choreograph.synthesis.solve.kept import keep_cuts, read_cuts
from choreograph.synthesis.solve.metric import build_frame_table
from choreograph.synthesis.solve.request import SolveRequest
from choreograph.synthesis.solve.splice import Splice
from choreograph.synthesis.solve.terms import BODY, JOINT, compile_request, kernel_graph

Ints = NDArray[np.int64]

_SLICE = 20_000
"""Evaluations between two looks at the clock."""
_KEEP = 500
"""Local minima that are kept, the best ones."""


@dataclass(frozen=True)
class SolveSettings:
    """How the search goes about it."""

    seed: int = 0
    """Same seed, same number of evaluations: same answers."""
    draws: int = 64
    """Seed paths that are drawn for each one that is bettered."""
    sample: int = 400
    """How many of the ways to replace a stretch by two cuts are scored at a time, if there are more."""
    apart_m: float = 0.5
    """Two answers differ if their roots are at one moment farther from each other than this, metres."""

    def __post_init__(self) -> None:
        for name in ("draws", "sample"):
            if getattr(self, name) < 1:
                raise RequestError(f"{name} is {getattr(self, name)}; it must be 1 or more")
        if not (np.isfinite(self.apart_m) and self.apart_m >= 0):
            raise RequestError(f"apart_m is {self.apart_m}; it must not be negative")


@dataclass(frozen=True)
class ConstraintError:
    """How far an answer is from one constraint, before finishing."""

    constraint: str
    """Its place in the request: "body[1]"."""
    cost: float
    """Its part of the score."""
    metres: float | None = None
    """Distance from the position asked for, where one is."""
    radians: float | None = None
    """Angle from the facing asked for, where one is."""


@dataclass(frozen=True, eq=False)
class Answer:
    """A motion that was found, as pieces of clips."""

    splice: Splice
    cost: float
    """Its score; lower is better."""
    errors: tuple[ConstraintError, ...]
    """For every soft constraint."""
    minimum: bool
    """Whether no mutation betters it."""


class _Best(NamedTuple):
    cost: NDArray[np.float64]
    pieces: Ints
    starts: Ints
    stops: Ints
    nodes: Ints


class _Prefix(NamedTuple):
    time: Ints
    term: Ints
    cost: NDArray[np.float64]
    turn: NDArray[np.complex128]
    shift: NDArray[np.complex128]


@dataclass(eq=False)
class _Path:
    starts: Ints
    stops: Ints
    nodes: Ints
    cost: float
    minimum: bool
    root: NDArray[np.complex128] = field(repr=False)
    """Where the torso is in each frame, (N,)."""

    def as_dict(self) -> dict[str, Any]:
        columns = {"starts": self.starts, "stops": self.stops, "nodes": self.nodes}
        return {**{name: values.tolist() for name, values in columns.items()}, "minimum": bool(self.minimum)}


class Solver:
    """A search in progress: `run` goes on for a while, `answers` gives the best there is, as often as one likes."""

    def __init__(
        self,
        graph: MotionGraph,
        request: SolveRequest,
        settings: SolveSettings | None = None,
        *,
        hierarchy: Hierarchy | None = None,
        progress: Progress | None = None,
    ) -> None:
        """Prepare a search.

        Args:
            graph: Whose clips to make motion of.
            request: What is wanted.
            settings: How to search.
            hierarchy: The graph's cuts, if they were found before; searches on one graph can share them.
            progress: Hears how far the preparation has come.

        Raises:
            RequestError: If the request names what does not exist, or its hard frames cannot all be met.
        """
        from choreograph.synthesis.solve import _compiled, _compiled_seeds

        self.graph, self.request, self.settings = graph, request, settings or SolveSettings()
        self.hierarchy = hierarchy or find_cuts(graph, progress=progress)
        self.asked, self.term_names = compile_request(request, graph, self.hierarchy, self.settings.sample)
        self.kernel = kernel_graph(self.hierarchy)
        self._seeding, self._kernels = _compiled_seeds, _compiled
        self.evaluations = 0
        """Paths scored so far."""
        self.minima: list[_Path] = []
        """Local minima, the best first."""
        self._open: _Path | None = None
        self._chance = np.array([self.settings.seed * 0x2545F4914F6CDD1D + 1 & 0xFFFFFFFFFFFFFFFF], np.uint64)
        most = self.asked.frames // self.asked.least + 2
        most = min(most, 4 * int(self.asked.frames / graph.rate_hz) + 12)

        def ints() -> Ints:
            return np.zeros(most, np.int64)

        self._path, self._trial = (ints(), ints(), ints()), (ints(), ints(), ints())
        self._best = _Best(np.zeros(1), np.zeros(1, np.int64), ints(), ints(), ints())
        self._prefix = _Prefix(ints(), ints(), np.zeros(most), np.zeros(most, complex), np.zeros(most, complex))
        self._order = np.zeros(((most + 2) ** 2, 3), np.int64)
        self._passed = np.zeros(2, np.int64)
        self._count, self._is_minimum = 0, True
        self._find_reach()

    def run(
        self, seconds: float | None = None, *, evaluations: int | None = None, progress: Progress | None = None
    ) -> Solver:
        """Search on, for so many seconds or so many evaluations, whichever is over first.

        With evaluations alone the outcome depends on nothing but the seed and their number.
        """
        if seconds is None and evaluations is None:
            raise RequestError("say how long to search: seconds or evaluations")
        if self.evaluations == 0:
            self._step(1)  # loads or compiles the kernels, before the clock runs
        told, begun, before = progress or silent, time.monotonic(), self.evaluations
        while True:
            passed, scored = time.monotonic() - begun, self.evaluations - before
            if seconds is not None:
                told("searching", round(1000 * min(passed, seconds)), round(1000 * seconds))
            else:
                told("searching", min(scored, evaluations or 0), evaluations or 0)
            if (seconds is not None and passed >= seconds) or (evaluations is not None and scored >= evaluations):
                return self
            self._step(_SLICE if evaluations is None else min(_SLICE, evaluations - scored))

    def answers(self, count: int = 1) -> list[Answer]:
        """The best answers found that differ from each other, best first; fewer than `count` if there are not more."""
        paths = sorted([*self.minima, *([self._open] if self._open else [])], key=lambda path: path.cost)
        chosen: list[_Path] = []
        for path in paths:
            if len(chosen) == count:
                break
            if all(np.abs(path.root - other.root).max() > self.settings.apart_m for other in chosen):
                chosen.append(path)
        return [self._answer(path) for path in chosen]

    def as_dict(self) -> dict[str, Any]:
        """The state of the search as plain values, for JSON; `resume` goes on from it."""
        starts, stops, nodes = (column[: self._count] for column in self._path)
        current = _Path(starts, stops, nodes, 0.0, self._is_minimum, np.zeros(0, complex))
        return {
            "seed": self.settings.seed,
            "chance": int(self._chance[0]),
            "evaluations": self.evaluations,
            "current": current.as_dict(),
            "batches": self._order[: self._passed[0]].tolist(),
            "tried": int(self._passed[1]),
            "minima": [path.as_dict() for path in self.minima],
        }

    def resume(self, state: Mapping[str, Any]) -> Solver:
        """Go on from a state that `as_dict` gave, of a search with the same graph, request and settings."""
        paths = [self._read_path(entry) for entry in (*state["minima"], state["current"])]
        *self.minima, current = paths
        self._chance[0], self.evaluations = state["chance"], int(state["evaluations"])
        self._count, self._is_minimum = len(current.starts), current.minimum
        for column, values in zip(self._path, (current.starts, current.stops, current.nodes), strict=True):
            column[: len(values)] = values
        batches = np.array(state["batches"], np.int64).reshape(-1, 3)
        self._order[: len(batches)] = batches
        self._passed[:] = len(batches), int(state["tried"])
        self._open = None if self._is_minimum or self._count == 0 else self._read_path(state["current"])
        return self

    # ------------------------------------------------------------------ inside

    def _step(self, budget: int) -> None:
        """Better the current path, a new one if that is a minimum, by about so many evaluations."""
        tally = np.zeros(1, np.int64)
        if self._is_minimum:
            self._passed[:] = 0
            self._count = self._seeding.draw_best(
                self.settings.draws, self._reach, self._begin, self._first_cut, self._cuts, self._path,
                self._trial, self.kernel, self.asked, self._chance, tally,
            )  # fmt: skip
        if self._count > 0:
            self._count, cost, self._is_minimum = self._kernels.improve(
                self._path, self._count, self._trial, self._best, self._prefix, self._order, self._passed,
                self.kernel, self.asked, self._chance, budget, tally,
            )  # fmt: skip
            self._note(float(cost))
        self.evaluations += max(int(tally[0]), 1)

    def _read_path(self, entry: Mapping[str, Any]) -> _Path:
        starts, stops, nodes = (np.array(entry[name], np.int64) for name in ("starts", "stops", "nodes"))
        rows = len(self.hierarchy.frames)
        fits = len(starts) == 0 or (int((stops - starts).sum()) == self.asked.frames and starts.min() >= 0)
        if not fits or (stops >= rows).any() or (nodes >= len(self.hierarchy.child)).any():
            raise RequestError("the saved search belongs to another graph or request; begin a new one")
        if len(starts) == 0:
            return _Path(starts, stops, nodes, np.inf, True, np.zeros(0, complex))
        count = len(starts)
        cost = reference.score(starts, stops, nodes[: count - 1], self.kernel, self.asked)
        return _Path(starts, stops, nodes[: count - 1], cost, bool(entry["minimum"]), self._roots(starts, stops))

    def _find_reach(self) -> None:
        """Where paths can be at which time; first with the cuts of G′, if that does not do with all of them."""
        h = self.hierarchy
        for cuts in (np.arange(h.roots), np.flatnonzero(h.child < 0)):
            cuts = cuts[np.argsort(h.source[cuts], kind="stable")]
            self._cuts = cuts.astype(np.int64)
            self._first_cut = np.searchsorted(h.source[cuts], np.arange(len(h.frames) + 1))
            arguments = (self.kernel, self._first_cut, self._cuts, self.asked.hard_time, self.asked.hard_row)
            self._reach = self._seeding.find_reach(self.asked.frames, self.asked.least, *arguments)
            rows = np.arange(len(h.frames) - self.asked.least)
            fits = h.frames.clip_of[rows] == h.frames.clip_of[rows + self.asked.least]
            begin = rows[fits & self._reach[self.asked.least][rows + self.asked.least]]
            hard = [
                (int(t), int(r))
                for t, r in zip(self.asked.hard_time, self.asked.hard_row, strict=True)
                if t < self.asked.least
            ]
            self._begin = begin[[all(g + t == r for t, r in hard) for g in begin]] if hard else begin
            if len(self._begin):
                return
        if self.request.frames:
            pair = " and ".join(f"frames[{n}] ({f.clip}, {f.at_s:g} s)" for n, f in enumerate(self.request.frames))
            raise RequestError(
                f"no motion of {self.request.length_s:g} s shows {pair}: there is no way through the clips between "
                "them, or to the motion's ends, that takes just that time; move or drop one, or build with more clips"
            )
        raise RequestError(
            f"no motion of {self.request.length_s:g} s can be made of pieces of {self.request.min_piece_s:.2g} s or "
            "more; ask for a shorter one or allow shorter pieces"
        )

    def _note(self, cost: float) -> None:
        """Keep the path being bettered: among the minima if it is one, as the open one if not."""
        n = self._count
        starts, stops, nodes = (column[:n].copy() for column in self._path)
        path = _Path(starts, stops, nodes[: n - 1], cost, self._is_minimum, self._roots(starts, stops))
        self._open = None if self._is_minimum else path
        if self._is_minimum and not any(np.array_equal(path.root, other.root) for other in self.minima):
            self.minima = sorted([*self.minima, path], key=lambda entry: entry.cost)[:_KEEP]

    def _roots(self, starts: Ints, stops: Ints) -> NDArray[np.complex128]:
        turns, shifts = reference.placements(starts, stops, self.kernel, self.asked)
        rows, piece = reference.shown_rows(starts, stops), np.repeat(np.arange(len(starts)), stops - starts)
        return np.asarray(turns[piece] * self.kernel.place[rows] + shifts[piece])

    def _answer(self, path: _Path) -> Answer:
        frames = self.hierarchy.frames
        clip = frames.clip_of[path.starts]
        turns, shifts = reference.placements(path.starts, path.stops, self.kernel, self.asked)
        splice = Splice(
            self.graph,
            clip,
            path.starts - frames.base[clip],
            path.stops - frames.base[clip],
            FloorTransform(-np.angle(turns), shifts.real, shifts.imag),
        )
        return Answer(splice, path.cost, self._errors(path), path.minimum)

    def _errors(self, path: _Path) -> tuple[ConstraintError, ...]:
        costs = reference.term_costs(path.starts, path.stops, self.kernel, self.asked)
        found: dict[str, dict[str, Any]] = {}
        for n, name in enumerate(self.term_names):
            entry = found.setdefault(name, {"constraint": name, "cost": 0.0})
            entry["cost"] += float(costs[n])
            if self.asked.kind[n] == JOINT:
                entry["metres"] = float(np.sqrt(costs[n] / self.asked.weight[n]))
            elif self.asked.kind[n] == BODY:
                time_ = int(self.asked.time[n])
                entry["metres"] = float(abs(path.root[time_] - self.asked.goal[n]))
                if self.asked.turn_weight[n] > 0:
                    left = costs[n] - self.asked.weight[n] * entry["metres"] ** 2
                    entry["radians"] = float(np.sqrt(max(left, 0.0) / self.asked.turn_weight[n]))
        return tuple(ConstraintError(**entry) for entry in found.values())


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


def solve(
    graph: MotionGraph,
    request: SolveRequest,
    *,
    count: int = 1,
    seconds: float | None = 3.0,
    evaluations: int | None = None,
    settings: SolveSettings | None = None,
    hierarchy: Hierarchy | None = None,
    progress: Progress | None = None,
) -> list[Answer]:
    """Different motions that meet a request as well as could be found in the time given, best first.

    Args:
        graph: Whose clips to make motion of.
        request: What is wanted.
        count: How many answers at most.
        seconds: How long to search.
        evaluations: How many paths to score at most; with seconds=None the answers are the same on any machine.
        settings: How to search.
        hierarchy: The graph's cuts, if they were found before.
        progress: Hears how far the search has come.
    """
    solver = Solver(graph, request, settings, hierarchy=hierarchy, progress=progress)
    return solver.run(seconds, evaluations=evaluations, progress=progress).answers(count)
