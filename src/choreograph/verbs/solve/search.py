"""Solving as a search: for one person or several, as long as one likes to wait, each answer finished and measured."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from choreograph.base.errors import ChoreographError, RequestError
from choreograph.base.progress import Progress, silent
from choreograph.contract.problem import Problem, ProblemKind
from choreograph.contract.request import Request
from choreograph.contract.result import COMPLETE, SEARCHING, Answer, Result
from choreograph.contract.search import Budget, Search
from choreograph.contract.verb import GRAPH, File
from choreograph.graph.model import MotionGraph
from choreograph.verbs.clip_selection import ChoosingSearch, narrow
from choreograph.verbs.solve.answers import WORSE, FinishedPart, make_answer, without_far_worse
from choreograph.verbs.solve.group_solver import GroupSolver
from choreograph.verbs.solve.hierarchy import Hierarchy, HierarchySettings
from choreograph.verbs.solve.prepare import find_hierarchy
from choreograph.verbs.solve.problems import find_lost_clips
from choreograph.verbs.solve.reach import OutOfReach
from choreograph.verbs.solve.request import SolveRequest
from choreograph.verbs.solve.solution import GroupSolution, PersonSolution
from choreograph.verbs.solve.solver import SLICE, PathSolver

Graphs = MotionGraph | Mapping[str, MotionGraph]


class SolveSearch(ChoosingSearch):
    """A search for motion that meets a request; it gets better for as long as the request says."""

    def __init__(self, graph: Graphs, request: SolveRequest, *, hierarchy: Hierarchy | None = None) -> None:
        """Prepare a search.

        Args:
            graph: Whose clips to make motion of; where several people are asked for, one graph for all or one for each.
            request: What is wanted.
            hierarchy: The graph's hierarchy, if it is at hand; searches on one graph can share it.
        """
        super().__init__(request)
        self.request: SolveRequest = request
        self._all, self._graph = graph, self._chosen(graph, request)
        self._opened: dict[str, MotionGraph] = {}
        """Graphs that characters name."""
        self._hierarchies: dict[tuple[int, float | None], Hierarchy] = {}
        if hierarchy is not None:
            self._hierarchies[id(self._graph), request.advanced.max_cut_cost] = hierarchy
        self._engine: _SingleSolver | GroupSolver | None = None
        self._forget()

    def _chosen(self, graph: Graphs, request: SolveRequest) -> Graphs:
        """What of the graphs is searched."""
        if not isinstance(graph, Mapping):
            return self.choose(graph, request)  # type: ignore[no-any-return]
        found = {name: narrow(one, request) for name, one in graph.items()}
        self.left_out = tuple(problem for one in found.values() for problem in one.left_out)
        return {name: one.subject for name, one in found.items()}

    def _forget(self) -> None:
        self._finished: dict[bytes, dict[str, FinishedPart]] = {}
        self._limits: tuple[OutOfReach, ...] | None = None
        self._lost: tuple[Problem, ...] | None = None
        self._all_finished = False
        self.seconds = 0.0

    @property
    def done(self) -> bool:
        """Whether the request's time, or its evaluations, are used up, and all is known about the answers."""
        return self._engine is not None and self._engine.done and self._all_finished

    def step(self, budget: Budget = Budget(), progress: Progress = silent) -> bool:
        """Search on by so many evaluations or seconds; whether there is more to do.

        It goes by slices of some 20,000 evaluations, so that steps of any size come to the same answers. Preparing the
        search, and the first evaluation, which compiles the kernels, are not counted.
        """
        engine = self._ready(progress)
        engine.warm_up()
        clock, began = budget.started(), time.monotonic()
        try:
            while not engine.done:
                progress("searching", *self._amount(engine))
                before = engine.scored
                engine.advance()
                if clock.spent(engine.scored - before):
                    break
            if engine.done:
                progress("searching", *self._amount(engine))
                casts = without_far_worse(engine.answers(self.request.count))
                for number, cast in enumerate(casts):
                    progress("finishing", number, len(casts))
                    self._finish(cast)
                if casts and self._limits is None and self._answer(casts[0], self._finish(casts[0])).problems:
                    self._limits = engine.out_of_reach(progress)
                self._all_finished = True
        finally:
            self.seconds += time.monotonic() - began
        return not self.done

    def amount(self, stage: str, done: float, total: float) -> str | None:
        """Searching by time counts milliseconds: said as seconds, with the best score so far."""
        if stage != "searching" or self._engine is None or self.request.work_limit is not None:
            return None
        best = self._engine.lowest
        return f"{done / 1000:.1f}/{total / 1000:.1f} s" + ("" if best is None else f", score {best:.4f}")

    def first(self) -> Result:
        """The best answer so far, finished and measured."""
        return self._best(1)

    def best(self) -> Result:
        """The best answers so far that differ from each other, finished and measured, best first."""
        return self._best(self.request.count)

    def _best(self, count: int) -> Result:
        engine = self._engine
        found = [] if engine is None else engine.answers(count)
        casts = without_far_worse(found)
        if engine is None or not casts:
            raise RequestError("no motion was found yet; search longer")
        shown = [self._finish(cast) for cast in casts]
        answers = [self._answer(cast, each) for cast, each in zip(casts, shown, strict=True)]
        return Result(
            "solve",
            self.request,
            tuple(answers),
            COMPLETE if engine.done else SEARCHING,
            (*self.left_out, *((*self._few(len(answers), len(found)), *self._find_lost()) if engine.done else ())),
            self.seconds,
            self._provenance(engine),
        )

    def change(self, request: Request) -> None:
        """Ask for something else; paths of the old request that fit the new one are scored anew and bettered first.

        A search whose request wants the same goes on where it is. Another seed, another `max_cut_cost` and other people
        begin a new one.
        """
        assert isinstance(request, SolveRequest)
        engine, before, graph = self._engine, self.request, self._graph
        if isinstance(self._all, MotionGraph) or request.only != before.only:
            self._graph = self._chosen(self._all, request)
        if self._graph is not graph:
            engine = None
        limits = None
        if isinstance(engine, _SingleSolver) and request.wants_same(before):
            engine.begin(request.with_quality())
            limits = self._limits
        elif isinstance(engine, _SingleSolver) and _can_go_on(before, request):
            self._engine, self.carried = _SingleSolver(engine.solver.with_request(request.with_quality())), True
        else:
            self._engine, self.carried = None, False
        self.request = request
        self._forget()
        self._limits = limits

    def reuse(self, earlier: Search) -> None:
        """Take over the hierarchies of the graphs."""
        if isinstance(earlier, SolveSearch) and earlier._graph is self._graph:
            self._hierarchies = {**earlier._hierarchies, **self._hierarchies}

    def state(self) -> dict[str, Any]:
        """What the search knows."""
        if not isinstance(self._engine, _SingleSolver):
            raise RequestError("a search for several people is not kept")
        return self._engine.solver.as_dict()

    def resume(self, state: Mapping[str, Any]) -> None:
        """Go on from what an earlier search of the same request knew.

        Raises:
            SearchStateError: If the state is damaged, or of another graph, request or seed.
        """
        if self.request.characters:
            raise RequestError("a search for several people is not kept; begin it anew")
        engine = self._ready(silent)
        assert isinstance(engine, _SingleSolver)
        engine.solver.resume(state)
        engine.begin(self.request.with_quality())
        self._forget()

    # ------------------------------------------------------------------ inside

    def _ready(self, progress: Progress) -> _SingleSolver | GroupSolver:
        """What does the work, made when it is first needed: finding a graph's hierarchy takes a while."""
        if self._engine is None:
            request, people = self.request.with_quality(), self.request.people()
            if people:
                graphs = {name: self._graph_of(name) for name in people}
                trees = {name: self._hierarchy(graph, progress) for name, graph in graphs.items()}
                self._engine = GroupSolver(request, graphs, trees)
            elif isinstance(self._graph, MotionGraph):
                self._engine = _SingleSolver(
                    PathSolver(self._graph, request, hierarchy=self._hierarchy(self._graph, progress))
                )
            else:
                raise RequestError("the request is for one person, but there are several graphs; give one")
        return self._engine

    def _graph_of(self, name: str) -> MotionGraph:
        """A character's graph: the one that the request names, or was given for it, or for all."""
        from choreograph.graph.store import open_graph

        own = self.request.characters[name]
        file = own.graph if own is not None else None
        if file is not None:
            if file not in self._opened:
                try:
                    found = narrow(open_graph(Path(file)), self.request)
                    self._opened[file], self.left_out = found.subject, (*self.left_out, *found.left_out)
                except ChoreographError as error:
                    where = f"characters.{name}.graph"
                    raise RequestError(f"{where}: {error}", where=where) from None
            return self._opened[file]
        if isinstance(self._graph, MotionGraph):
            return self._graph
        if name not in self._graph:
            known = ", ".join(self._graph) or "nobody"
            raise RequestError(f"characters.{name} has no graph; there are graphs for {known}")
        return self._graph[name]

    def _hierarchy(self, graph: MotionGraph, progress: Progress) -> Hierarchy:
        most = self.request.advanced.max_cut_cost
        key = id(graph), most
        if key not in self._hierarchies:
            self._hierarchies[key] = find_hierarchy(graph, HierarchySettings(most), progress)
        return self._hierarchies[key]

    def _amount(self, engine: _SingleSolver | GroupSolver) -> tuple[int, int]:
        """How far the search has come: evaluations, or milliseconds."""
        request = self.request.with_quality()
        if request.work_limit is not None:
            return min(engine.scored, request.work_limit), request.work_limit
        return round(1000 * min(engine.seconds, request.time_limit_s)), round(1000 * request.time_limit_s)

    def _finish(self, cast: GroupSolution) -> dict[str, FinishedPart]:
        """The motions of an answer by person; each answer is finished once."""
        key = cast.key
        if key not in self._finished:
            self._finished[key] = {
                name: FinishedPart.of(part, self.request.finish) for name, part in cast.parts.items()
            }
        return self._finished[key]

    def _answer(self, cast: GroupSolution, shown: Mapping[str, FinishedPart]) -> Answer:
        engine = self._engine
        status = COMPLETE if engine is not None and engine.done else SEARCHING
        answer = make_answer(cast, shown, self._limits or (), status)
        return replace(answer, details={**answer.details, "evaluations": 0 if engine is None else engine.evaluations})

    def _few(self, kept: int, found: int) -> tuple[Problem, ...]:
        request = self.request
        if kept >= request.count:
            return ()
        more = f"Search longer, or lower the distance of {request.apart_m:g} m (apart_m)."
        if kept < found:
            more = f"{found - kept} more score {WORSE:g} times the best one's or worse. Search longer."
        return (Problem.of(ProblemKind.FEWER_ANSWERS, "count", asked=request.count, got=kept, more=more),)

    def _find_lost(self) -> tuple[Problem, ...]:
        if self._lost is None:
            people = self.request.people()
            graphs = [self._graph_of(name) for name in people] if people else [self._graph]
            each = {id(graph): graph for graph in graphs if isinstance(graph, MotionGraph)}
            found = [find_lost_clips(graph, self._hierarchy(graph, silent)) for graph in each.values()]
            self._lost = tuple(problem for problem in found if problem is not None)
        return self._lost

    def _provenance(self, engine: _SingleSolver | GroupSolver) -> dict[str, Any]:
        known: dict[str, Any] = {"evaluations": engine.evaluations}
        if isinstance(engine, _SingleSolver):
            hierarchy, graph = engine.solver.hierarchy, engine.solver.graph
            known |= {
                "local_minima": len(engine.solver.minima),
                "max_cut_cost": hierarchy.max_cut_cost,
                "lost_clips": [graph.infos[clip].name for clip in hierarchy.lost_clips()],
                "rate_hz": graph.rate_hz,
            }
        return known


class _SingleSolver:
    """The search for one person within the request's time: what `GroupSolver` is for several."""

    def __init__(self, solver: PathSolver) -> None:
        self.solver = solver
        self.begin(solver.request)

    def begin(self, request: SolveRequest) -> None:
        """Begin to count for a request that wants the same."""
        self.solver.request = request
        self.seconds, self._before = 0.0, self.solver.evaluations

    @property
    def scored(self) -> int:
        """Paths scored since then, without those that warmed up."""
        return self.solver.evaluations - (self._before or self.solver.warmed)

    @property
    def evaluations(self) -> int:
        """Paths scored in all, likewise."""
        return self.solver.evaluations - self.solver.warmed

    @property
    def done(self) -> bool:
        request = self.solver.request
        if request.work_limit is not None:
            return self.scored >= request.work_limit
        return self.seconds >= request.time_limit_s

    @property
    def lowest(self) -> float | None:
        return self.solver.minima[0].cost if self.solver.minima else None

    def warm_up(self) -> None:
        self.solver.warm_up()

    def advance(self) -> None:
        limit, begun = self.solver.request.work_limit, time.monotonic()
        self.solver.advance(SLICE if limit is None else min(SLICE, limit - self.scored))
        self.seconds += time.monotonic() - begun

    def answers(self, count: int) -> list[GroupSolution]:
        request, person = self.solver.request, self.solver.person
        return [
            GroupSolution({"": PersonSolution(one, request, person, person.body)}, one.cost)
            for one in self.solver.answers(count)
        ]

    def out_of_reach(self, progress: Progress = silent) -> tuple[OutOfReach, ...]:
        return self.solver.out_of_reach(progress)


def _can_go_on(before: SolveRequest, request: SolveRequest) -> bool:
    same = before.seed == request.seed and before.advanced.max_cut_cost == request.advanced.max_cut_cost
    return same and not request.characters


def solve(
    graph: Graphs | File | Mapping[str, File], request: SolveRequest, *, progress: Progress | None = None
) -> Result:
    """Different motions that meet a request as well as could be found in the time it gives, best first.

    >>> import choreograph as cg
    >>> from choreograph.demo import demo_clip
    >>> graph = cg.build_graph([demo_clip(name, 30.0) for name in ("walk", "walk_turn_90_left")])
    >>> places = [cg.PlaceGoal(0.0, (0.0, 0.0), 0.0), cg.PlaceGoal(3.0, (0.5, 3.0))]
    >>> result = cg.solve(graph, cg.SolveRequest(3.0, places, count=1, work_limit=20_000))
    >>> result.clip.seconds, result.problems
    (3.033..., ())

    Args:
        graph: Whose clips to make motion of, or its file's name; where several people are asked for, one graph for all
            or one for each.
        request: What is wanted.
        progress: Hears how far the search has come.

    Raises:
        RequestError: If the request names what does not exist, or its exact poses cannot all be met.
    """
    return SolveSearch(GRAPH.read(graph), request).run(progress)
