"""The search for one person's motion that meets a request: seeds, mutations, local minima, as long as one likes."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from choreograph.base.arrays import Complexes, Flags, Ints
from choreograph.base.errors import RequestError, SearchStateError
from choreograph.base.floor import FloorTransform
from choreograph.base.progress import Progress, silent
from choreograph.graph.model import MotionGraph
from choreograph.verbs.solve import layout
from choreograph.verbs.solve.functions import UserCosts
from choreograph.verbs.solve.hierarchy import Hierarchy, HierarchySettings
from choreograph.verbs.solve.person import Person, length_s
from choreograph.verbs.solve.prepare import find_hierarchy
from choreograph.verbs.solve.reach import OutOfReach, cuts_by_source, find_out_of_reach, why_impossible
from choreograph.verbs.solve.request import SolveRequest
from choreograph.verbs.solve.solution import GoalError, PathSolution
from choreograph.verbs.solve.splice import HardFrames, Splice
from choreograph.verbs.solve.state import DAMAGE, damaged, is_sound
from choreograph.verbs.solve.terms import BODY, JOINT, as_legs, compile_request, kernel_graph
from choreograph.verbs.solve.workspace import FoundPath, Workspace

SLICE = 20_000
"""Evaluations between two looks at the clock."""
_KEEP = 500
"""Local minima that are kept, the best ones."""
_FRESH = 0.5
"""Share of the paths to be bettered that are fresh seeds; the rest are mutations of good minima."""
_GOOD = 16
"""Minima, the best ones, of which mutations are taken to begin with."""
_ALIKE = 0.8
"""An answer of whose frames more than this share are shown by another is not a different one."""
_CARRIED = 32
"""Paths with which a search for a changed request begins."""


class PathSolver:
    """A search in progress: `run` goes on for a while, `answers` gives the best there is, as often as one likes."""

    def __init__(
        self,
        graph: MotionGraph,
        request: SolveRequest,
        *,
        hierarchy: Hierarchy | None = None,
        person: Person | None = None,
        progress: Progress | None = None,
    ) -> None:
        """Prepare a search.

        Args:
            graph: Whose clips to make motion of.
            request: What is wanted of one person, and how to search for it.
            hierarchy: The graph's cuts, if they were found before; searches on one graph can share them.
            person: What is asked for, where that is not the request's own goals.
            progress: Hears how far the preparation has come.

        Raises:
            RequestError: If the request names what does not exist, or its exact poses cannot all be met.
        """
        from choreograph.verbs.solve import _compiled, _compiled_score, _compiled_seeds

        self.graph, self.request, self.person = graph, request, person or request.person()
        settings = HierarchySettings(request.advanced.max_cut_cost)
        self.hierarchy = hierarchy or find_hierarchy(graph, settings, progress)
        self.asked, self.term_names = compile_request(request, graph, self.hierarchy, self.person)
        self._legs = as_legs(self.asked)
        self.kernel = kernel_graph(self.hierarchy, graph.skeleton.feet)
        self._functions = UserCosts(self.person.costs, graph, self.hierarchy.frames)
        self._seeding, self._kernels, self._scoring = _compiled_seeds, _compiled, _compiled_score
        self.evaluations = 0
        """Paths scored so far."""
        self.warmed = 0
        """Those of them that were scored before the clock ran."""
        self.minima: list[FoundPath] = []
        """Local minima, the best first."""
        self._waiting: list[FoundPath] = []
        """Paths of an earlier search that are still to be bettered, the best last."""
        self._open: FoundPath | None = None
        """The path that is being bettered, if it is no minimum yet."""
        self._by_legs = False
        """Whether it is bettered leg by leg as yet; then its score may rise."""
        self._lowest: FoundPath | None = None
        """The path with the least score so far, minimum or not."""
        self._chance = np.array([request.seed * 0x2545F4914F6CDD1D + 1 & 0xFFFFFFFFFFFFFFFF], np.uint64)
        most = self.asked.frames // self.asked.least + 2
        most = min(most, 4 * int(self.asked.frames / graph.rate_hz) + 12)
        self._work = Workspace(most, self._chance)
        self._find_reach()

    def run(
        self, seconds: float | None = None, *, evaluations: int | None = None, progress: Progress | None = None
    ) -> PathSolver:
        """Search on, for so many seconds or so many evaluations, whichever is over first.

        With evaluations alone the outcome depends on nothing but the seed and their number. A `Cancelled` that
        `progress` raises leaves what was found, and the search can go on.
        """
        if seconds is None and evaluations is None:
            raise RequestError("say how long to search: seconds or evaluations")
        self.warm_up()
        told, begun, before = progress or silent, time.monotonic(), self.evaluations
        while True:
            passed, scored = time.monotonic() - begun, self.evaluations - before
            if seconds is not None:
                told("searching", round(1000 * min(passed, seconds)), round(1000 * seconds))
            else:
                told("searching", min(scored, evaluations or 0), evaluations or 0)
            if (seconds is not None and passed >= seconds) or (evaluations is not None and scored >= evaluations):
                return self
            self.advance(SLICE if evaluations is None else min(SLICE, evaluations - scored))

    def warm_up(self) -> None:
        """Score the first path: that loads or compiles the kernels, before any clock runs."""
        if self.evaluations == 0:
            self.advance(1)
            self.warmed = self.evaluations

    def answers(self, count: int = 1) -> list[PathSolution]:
        """The best solutions found that differ from each other, best first; fewer than `count` if there are not more.

        Two differ if their roots are somewhere farther from each other than `apart_m` at the same time, and more than a
        fifth of what one shows is not shown by the other: else it may be the same motion a little later.
        """
        chosen: list[FoundPath] = []
        for path in sorted(self._paths(), key=lambda path: path.cost):
            if len(chosen) == count:
                break
            if all(self._differ(path, other) for other in chosen):
                chosen.append(path)
        return [self._answer(path) for path in chosen]

    def with_request(self, request: SolveRequest, person: Person | None = None) -> PathSolver:
        """A search for another request on the same graph, which begins with what this one has found.

        Paths that have the length asked for and show its exact poses are scored anew and bettered first, before fresh
        seeds are drawn; `answers` has them at once.

        Raises:
            RequestError: As for a new search; this one is left as it is.
        """
        made = PathSolver(self.graph, request, hierarchy=self.hierarchy, person=person)
        made._chance[0] = self._chance[0]
        kept = [path for path in self._paths() if made._fits(path)]
        kept = sorted((made._scored(p.starts, p.stops, p.nodes, False) for p in kept), key=lambda path: path.cost)
        made._waiting = kept[:_CARRIED][::-1]
        return made

    def out_of_reach(self, progress: Progress = silent) -> tuple[OutOfReach, ...]:
        """The soft constraints that no path through the clips can meet, each with the nearest that one can."""
        return find_out_of_reach(self, progress)

    def as_dict(self) -> dict[str, Any]:
        """The state of the search as plain values, for JSON; `resume` goes on from it."""
        work = self._work
        return {
            "seed": self.request.seed,
            "chance": int(self._chance[0]),
            "evaluations": self.evaluations,
            "warmed": self.warmed,
            "current": None if self._open is None else self._open.as_dict(),
            "by_legs": self._by_legs,
            "lowest": None if self._lowest is None else self._lowest.as_dict(),
            "batches": work.order[: work.passed[0]].tolist(),
            "tried": int(work.passed[1]),
            "waiting": [path.as_dict() for path in self._waiting],
            "minima": [path.as_dict() for path in self.minima],
        }

    def resume(self, state: Mapping[str, Any]) -> PathSolver:
        """Go on from a state that `as_dict` gave, of a search with the same graph and request.

        Raises:
            SearchStateError: If it is damaged, or of another graph or request; this search is left as it is then.
        """
        try:
            if not is_sound(state):
                raise damaged()
            if state["seed"] != self.request.seed:
                said = f"seed is {self.request.seed}, but the saved search began with {state['seed']}"
                raise SearchStateError(said, where="seed")
            minima = [self._read_path(entry) for entry in state["minima"]]
            waiting = [self._read_path(entry) for entry in state["waiting"]]
            # Searches saved before legs were told apart say nothing of these two.
            current, lowest = (
                None if state.get(name) is None else self._read_path(state[name]) for name in ("current", "lowest")
            )
            batches = np.array(state["batches"], np.int64).reshape(-1, 3)
            if len(batches) > len(self._work.order):
                raise damaged()
        except DAMAGE:
            raise damaged() from None
        self.minima, self._waiting, self._open, self._lowest = minima, waiting, current, lowest
        self._by_legs = bool(state.get("by_legs")) and self._legs is not None
        self._chance[0], self.evaluations = state["chance"], state["evaluations"]
        self.warmed = state.get("warmed", 0)
        if current is not None:
            self._work.put(current)
            self._work.order[: len(batches)] = batches
            self._work.passed[:] = len(batches), state["tried"]
        return self

    # ------------------------------------------------------------------ inside

    def _paths(self) -> list[FoundPath]:
        """Every path there is."""
        found = [*self.minima, *self._waiting, *([self._open] if self._open else [])]
        if self._lowest and self._lowest is not self._open and not self._lowest.minimum:
            found.append(self._lowest)
        return found

    def _differ(self, path: FoundPath, other: FoundPath) -> bool:
        """Whether two paths make different answers."""
        if np.abs(path.root - other.root).max() <= self.request.apart_m:
            return False
        both = np.minimum.outer(path.stops, other.stops) - np.maximum.outer(path.starts, other.starts)
        common = np.minimum(np.maximum(both, 0).sum(axis=1), path.stops - path.starts).sum()
        return bool(common <= _ALIKE * self.asked.frames)

    def advance(self, budget: int) -> None:
        """Better the open path, a new one if there is none, by about so many evaluations."""
        tally, work = np.zeros(1, np.int64), self._work
        if self._open is None:
            self._open = self._begin_path(tally)
        if self._open is not None and len(self._functions):
            self._judge(self._open, tally)
        elif self._open is not None:
            asked = self._legs if self._by_legs and self._legs else self.asked
            work.count, _, done = self._kernels.improve(
                work.path, work.count, work.trial, work.best, work.prefix, work.order, work.passed,
                self.kernel, asked, self._chance, budget, tally,
            )  # fmt: skip
            if self._by_legs and done:
                work.passed[0], self._by_legs, done = 0, False, False
            self._note(self._scored(*work.taken(), done))
        self.evaluations += max(int(tally[0]), 1)

    def _begin_path(self, tally: Ints) -> FoundPath | None:
        """The next path to be bettered: one that waits, a good minimum mutated at random, or the best of some seeds.

        None if no seed could be drawn. Where there are several legs, all but those that wait are bettered leg by leg
        first, for what betters one leg moves all that comes behind it.
        """
        work = self._work
        self._by_legs = self._legs is not None and not self._waiting and not len(self._functions)
        if self._waiting:
            work.put(self._waiting[-1])
            return self._waiting.pop()
        if self.minima and self._scoring.draw(self._chance) >= _FRESH:
            work.put(self.minima[int(self._scoring.draw(self._chance) * min(len(self.minima), _GOOD))])
            while self._offer(np.inf, tally):
                if offered := work.offered():
                    drawn = self._scored(*offered[-1], False)
                    work.put(drawn)
                    return drawn
        work.passed[:] = 0
        work.count = self._seeding.draw_best(
            self.request.advanced.draws, self._reach, self._begin, self._first_cut, self._cuts, work.path,
            work.trial, self.kernel, self.asked, self._chance, tally,
        )  # fmt: skip
        return self._scored(*work.taken(), False) if work.count else None

    def _offer(self, limit: float, tally: Ints) -> bool:
        """Have the next batch's best mutation and one drawn from all below the limit; False if none is left."""
        work = self._work
        return bool(self._kernels.offer(
            work.path, work.count, limit, work.trial, work.best, work.prefix, work.order, work.passed,
            self.kernel, self.asked, self._chance, tally,
        ))  # fmt: skip

    def _judge(self, current: FoundPath, tally: Ints) -> None:
        """Take the best of the next batch's mutations, or one drawn from them, if the user's functions agree.

        What functions say is never negative: so only mutations that score below the path without it can be better.
        """
        work = self._work
        if not self._offer(current.cost - 1e-9, tally):
            current.minimum = True
            self._note(current)
            return
        found = min(
            (self._scored(*columns, False) for columns in work.offered()), key=lambda p: p.cost, default=current
        )
        if found.cost < current.cost - 1e-9:
            work.put(found)
            self._note(found)

    def _note(self, path: FoundPath) -> None:
        """Keep the path being bettered: among the minima if it is one, as the open one if not."""
        self._open = None if path.minimum else path
        if self._lowest is None or path.cost < self._lowest.cost:
            self._lowest = path
        if path.minimum and not any(np.array_equal(path.root, other.root) for other in self.minima):
            self.minima = sorted([*self.minima, path], key=lambda entry: entry.cost)[:_KEEP]

    def _scored(self, starts: Ints, stops: Ints, nodes: Ints, minimum: bool) -> FoundPath:
        """A path with its score, and where the torso goes."""
        cost = float(
            self._scoring.score(starts, stops, np.append(nodes, 0), len(starts), np.inf, self.kernel, self.asked)
        )
        _, place, turn = self._lay(starts, stops)
        if len(self._functions):
            cost += sum(self._functions.costs(layout.shown_rows(starts, stops), place, turn))
        return FoundPath(starts, stops, nodes, cost, bool(minimum), place)

    def _lay(self, starts: Ints, stops: Ints) -> tuple[FloorTransform, Complexes, Complexes]:
        """How each piece lies on the floor, and the torso's place and facing in each frame."""
        turns, shifts = layout.placements(starts, stops, self.kernel, self.asked)
        rows, piece = layout.shown_rows(starts, stops), np.repeat(np.arange(len(starts)), stops - starts)
        lying = FloorTransform(-np.angle(turns), shifts.real, shifts.imag)
        return lying, turns[piece] * self.kernel.place[rows] + shifts[piece], turns[piece] * self.kernel.turn[rows]

    def _fits(self, path: FoundPath) -> bool:
        """Whether a path keeps to the request's length, least pieces and exact poses."""
        lengths = path.stops - path.starts
        if int(lengths.sum()) != self.asked.frames or lengths.min() < self.asked.least:
            return False
        if len(path.starts) > len(self._work.path[0]):
            return False
        shown = layout.shown_rows(path.starts, path.stops)
        return bool((shown[self.asked.hard_time] == self.asked.hard_row).all())

    def _read_path(self, entry: Mapping[str, Any]) -> FoundPath:
        starts, stops, nodes = (np.array(entry[name], np.int64) for name in ("starts", "stops", "nodes"))
        frames, cuts = self.hierarchy.frames, self.hierarchy
        ok = 0 < len(starts) == len(stops) == len(nodes) + 1 and min(starts.min(), nodes.min(initial=0)) >= 0
        ok = ok and (stops < len(frames)).all() and (nodes < len(cuts.child)).all() and (stops > starts).all()
        ok = ok and (frames.clip_of[starts] == frames.clip_of[stops]).all()
        ok = ok and (cuts.source[nodes] == stops[:-1]).all() and (cuts.target[nodes] == starts[1:]).all()
        if not ok or not self._fits(FoundPath(starts, stops, nodes, 0.0, False, np.zeros(0, complex))):
            raise SearchStateError("the saved search belongs to another graph or request; begin a new one")
        return self._scored(starts, stops, nodes, bool(entry["minimum"]))

    def find_begin(self, reach: Flags) -> Ints:
        """The rows with which a path can begin, of which what can still be ended is known (`find_reach`)."""
        frames, asked = self.hierarchy.frames, self.asked
        rows = np.arange(len(frames) - asked.least)
        fits = frames.clip_of[rows] == frames.clip_of[rows + asked.least]
        begin = rows[fits & reach[asked.least][rows + asked.least]]
        for time_, row in zip(asked.hard_time, asked.hard_row, strict=True):
            if time_ < asked.least:
                begin = begin[begin + time_ == row]
        return begin

    def _find_reach(self) -> None:
        """Where paths can be at which time; first with the cuts of G′, if that does not do with all of them."""
        h = self.hierarchy
        for cuts in (np.arange(h.roots), np.flatnonzero(h.child < 0)):
            self._first_cut, self._cuts = cuts_by_source(h, cuts)
            arguments = (self.kernel, self._first_cut, self._cuts, self.asked.hard_time, self.asked.hard_row)
            self._reach = self._seeding.find_reach(self.asked.frames, self.asked.least, *arguments)
            self._begin = self.find_begin(self._reach)
            if len(self._begin):
                return
        if self.person.exact:
            raise RequestError(why_impossible(self))
        raise RequestError(
            f"no motion of {self.request.duration_s:g} s can be made of pieces of {self.request.min_piece_s:.2g} s or "
            "more; ask for a shorter one or allow shorter pieces"
        )

    def _answer(self, path: FoundPath) -> PathSolution:
        frames = self.hierarchy.frames
        clip = frames.clip_of[path.starts]
        lying, _, _ = self._lay(path.starts, path.stops)
        rows = [(goal.span[0], goal.pose.frame, length_s(goal)) for _, goal in self.person.exact]
        hard = HardFrames(*np.array(rows, float).reshape(-1, 3).T)
        starts, stops = path.starts - frames.base[clip], path.stops - frames.base[clip]
        splice = Splice(self.graph, clip, starts, stops, lying, hard, self.request.duration_s)
        return PathSolution(splice, path.cost, self._errors(path), path.minimum)

    def _errors(self, path: FoundPath) -> tuple[GoalError, ...]:
        costs = layout.term_costs(path.starts, path.stops, self.kernel, self.asked)
        found: dict[str, dict[str, Any]] = {}
        for n, name in enumerate(self.term_names):
            entry = found.setdefault(name, {"where": name, "cost": 0.0})
            entry["cost"] += float(costs[n])
            if self.asked.kind[n] == JOINT:
                entry["metres"] = float(np.sqrt(costs[n] / self.asked.weight[n]))
            elif self.asked.kind[n] == BODY:
                time_ = int(self.asked.time[n])
                metres = float(abs(path.root[time_] - self.asked.goal[n]))
                entry["metres"] = max(metres, entry.get("metres", 0.0))  # of a meeting's two ends the worse
                if self.asked.turn_weight[n] > 0:
                    left = costs[n] - self.asked.weight[n] * metres**2
                    radians = float(np.sqrt(max(left, 0.0) / self.asked.turn_weight[n]))
                    entry["radians"] = max(radians, entry.get("radians", 0.0))
        if len(self._functions):
            _, place, turn = self._lay(path.starts, path.stops)
            own = self._functions.costs(layout.shown_rows(path.starts, path.stops), place, turn)
            for (where, _), cost in zip(self.person.costs, own, strict=True):
                found[where] = {"where": where, "cost": cost}
        return tuple(GoalError(**entry) for entry in found.values())
