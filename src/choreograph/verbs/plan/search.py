"""Planning as a search: a first answer soon, then better ones and a bound, each checked as finished motion."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from choreograph.base.errors import RequestError, SearchStateError
from choreograph.base.progress import Progress, silent
from choreograph.contract.problem import Problem, ProblemKind
from choreograph.contract.request import Request
from choreograph.contract.result import COMPLETE, SEARCHING, Answer, Result
from choreograph.contract.search import Budget, Search
from choreograph.contract.verb import GRAPH, File
from choreograph.graph.model import MotionGraph
from choreograph.verbs.clip_selection import ChoosingSearch
from choreograph.verbs.plan.answers import FinishedPlan, make_answer, ways_apart
from choreograph.verbs.plan.attempt import Attempt
from choreograph.verbs.plan.explain_failure import check_scene, why_none
from choreograph.verbs.plan.grids import distance_grid
from choreograph.verbs.plan.planner import Chain, Planner
from choreograph.verbs.plan.prepare import PlanGraph, find_plan_graph
from choreograph.verbs.plan.primitives import OBJECTIVES
from choreograph.verbs.plan.request import PlanRequest
from choreograph.verbs.plan.task import Penalty

_ALIKE = 5.0
"""How many times as dear as usual a step is that goes the way of an earlier answer."""
_ASIDE_M = 0.15
"""How far beside the way of the hips feet are."""


class PlanSearch(ChoosingSearch):
    """A search for motion through a scene; it gets better, and its bound with it, for as long as the request says."""

    def __init__(self, graph: MotionGraph, request: PlanRequest, *, plans: PlanGraph | None = None) -> None:
        """Prepare a search.

        Args:
            graph: Whose clips.
            request: Start, goals and scene.
            plans: The graph's interpolated graph, if it is at hand; searches on one graph can share it.
        """
        super().__init__(request)
        self.graph: MotionGraph = self.choose(graph, request)
        self._plans = plans
        self._begin(request)

    def _begin(self, request: PlanRequest) -> None:
        self.request: PlanRequest = request
        self._settled: PlanRequest = request.with_quality()
        """The request with what its quality sets."""
        self._try: Attempt | None = None
        self._answers: list[FinishedPlan] = []
        self._kept: tuple[Chain, bool, float] | None = None
        self._few = False
        self._reason: RequestError | None = None
        self.seconds = 0.0

    @property
    def plans(self) -> PlanGraph:
        """The interpolated graph, found when it is first needed."""
        if self._plans is None:
            self._plans = find_plan_graph(self.graph)
        return self._plans

    @property
    def done(self) -> bool:
        """Whether all answers that were asked for are there, or no more can be had."""
        return self._reason is not None or self._few or len(self._answers) >= self.request.count

    @property
    def found(self) -> bool:
        """Whether there is an answer already."""
        attempt = self._try
        return bool(self._answers) or (attempt is not None and attempt.chain is not None)

    @property
    def shown(self) -> FinishedPlan:
        """The first of the answers that are there for good, as a chain of steps and as finished motion."""
        return self._answers[0]

    def step(self, budget: Budget = Budget(), progress: Progress = silent) -> bool:
        """Search on by so many expanded states or seconds; whether there is more to do."""
        if self._plans is None:
            self._plans = find_plan_graph(self.graph, progress=progress)
        if self._try is None and not self.done:
            check_scene(self.request)
            self._try = self._new_try(None)
        clock, began = budget.started(), time.monotonic()
        try:
            while not self.done:
                attempt = self._try
                assert attempt is not None
                before = attempt.expanded
                attempt.advance()
                progress("searching", *self._amount(attempt))
                if attempt.over:
                    self._conclude(attempt)
                if clock.spent(max(1, attempt.expanded - before)):
                    break
        finally:
            self.seconds += time.monotonic() - began
        return not self.done

    def amount(self, stage: str, done: float, total: float) -> str | None:
        """Said as seconds, with the bound so far."""
        attempt = self._try
        if stage != "searching" or attempt is None or self.request.work_limit is not None:
            return None
        planner = attempt.fine
        ratio = "" if planner is None or not np.isfinite(planner.cost) else f", within ×{_ratio(planner):.2f}"
        return f"{done / 1000:.1f}/{total / 1000:.1f} s{ratio}"

    def best(self) -> Result:
        """The answers so far, finished and checked, best first."""
        answers = [self._answer(n, walk) for n, walk in enumerate(self._answers)]
        if not self.done or not answers:
            running = self._running()
            if running is not None and len(answers) < self.request.count:
                answers.append(self._answer(len(answers), running))
        if not answers:
            raise self._reason or RequestError("no way was found yet; search longer")
        problems = (*self.left_out, *(self._too_few(len(answers)) if self.done else ()))
        status = COMPLETE if self.done else SEARCHING
        return Result(
            "plan", self.request, tuple(answers), status, problems, self.seconds, {"plan": self.plans.report()}
        )

    def change(self, request: Request) -> None:
        """Ask for something else: the search begins anew; the interpolated graph is kept."""
        assert isinstance(request, PlanRequest)
        before, self.graph = self.graph, self.choose(self.whole, request)
        self._plans = self._plans if self.graph is before else None
        self._begin(request)

    def reuse(self, earlier: Search) -> None:
        """Take over the interpolated graph."""
        if isinstance(earlier, PlanSearch) and earlier.graph is self.graph:
            self._plans = self._plans or earlier._plans

    def state(self) -> dict[str, Any]:
        """The best answer and the bound so far."""
        walk = self._answers[0] if self._answers else self._running()
        if walk is None:
            raise RequestError("nothing was found yet that could be kept")
        chain, bound = walk.chain, walk.bound
        return {
            "motion": self.graph.fingerprint.motion,
            "request": self.request.as_document(),
            "primitives": chain.primitives.tolist(),
            "places": chain.places.tolist(),
            "end": chain.end.tolist(),
            "cost": chain.cost,
            "bound": bound,
            "whole": walk.whole,
        }

    def resume(self, state: Mapping[str, Any]) -> None:
        """Go on from the answer and the bound that an earlier search kept.

        Raises:
            SearchStateError: If it is damaged, or of another graph.
        """
        if state["motion"] != self.graph.fingerprint.motion:
            raise SearchStateError("the search is of another graph; begin a new one")
        chain = Chain(
            np.array(state["primitives"], np.int64).reshape(-1),
            np.array(state["places"], float).reshape(-1, 3),
            np.array(state["end"], float).reshape(3),
            float(state["cost"]),
        )
        whole = bool(state.get("whole", False))
        size = len(self.plans.every if whole else self.plans.kept)
        fits = len(chain.primitives) and len(chain.primitives) == len(chain.places) and np.isfinite(chain.places).all()
        if not fits or chain.primitives.min() < 0 or chain.primitives.max() >= size + 1000:
            raise SearchStateError("what was kept of the search is damaged; begin a new one")
        if self.request.goals and self.request.end.label is None and chain.primitives.max() < size:
            self._kept = chain, whole, float(state["bound"])

    # ------------------------------------------------------------------ inside

    def _new_try(self, penalty: Penalty | None, *, whole: bool | None = None) -> Attempt:
        own = self._settled.advanced.compression == "off" if whole is None else whole
        if self._kept is None or penalty is not None or whole is not None:
            return Attempt(self.graph, self.plans, self._settled, penalty, own)
        chain, whole, bound = self._kept
        return Attempt(self.graph, self.plans, self._settled, None, whole, chain, bound)

    def _running(self) -> FinishedPlan | None:
        attempt = self._try
        if attempt is None or attempt.chain is None:
            return None
        return self._with_search(attempt.finish(attempt.chain), attempt)

    def _with_search(self, walk: FinishedPlan, attempt: Attempt) -> FinishedPlan:
        """A finished chain with what the search says about it."""
        proof, cloud = attempt.proof, tuple(attempt.cloud())
        settings = self._settled.advanced
        return replace(
            walk,
            bound=0.0 if proof is None else min(proof.bound, walk.chain.cost),
            lattice=(settings.lattice_m, settings.lattice_deg) if proof is None else proof.lattice,
            evaluations=attempt.expanded,
            repaired=attempt.repaired,
            cloud=cloud,
        )

    def _conclude(self, attempt: Attempt) -> None:
        """Take the answer that an attempt ended with, and begin the next."""
        best = attempt.best()
        if best is None:
            if not attempt.whole and attempt.may_go_whole and not self._answers:
                before, self._try = attempt, self._new_try(None, whole=True)
                self._try.seconds, self._try.expanded = before.seconds, before.expanded
                self._try.given_up = before.looked
                return
            if not self._answers:
                self._reason = why_none(attempt.looked, self.request, self.plans, mirrored=self.graph.settings.mirror)
            self._few = bool(self._answers)
            return
        walk = self._with_search(best, attempt)
        apart = min((ways_apart(walk, other) for other in self._answers), default=np.inf)
        if apart < self.request.apart_m:
            self._few = True
            return
        self._answers.append(walk)
        if len(self._answers) < self.request.count:
            self._try = self._new_try(self._penalty())

    def _penalty(self) -> Penalty:
        """What steps near the ways of earlier answers cost more, but not near start and goal."""
        request = self.request
        usual = float(np.median(self.plans.network.costs[:, OBJECTIVES.index(request.objective)]))
        reach = request.apart_m + _ASIDE_M
        ways = [np.concatenate([walk.way[::12], walk.way[-1:]]) for walk in self._answers]
        grid, away = distance_grid(np.concatenate(ways), reach)
        counts = grid[3:].astype(int)
        x = grid[0] + (np.arange(counts[0]) + 0.5) * grid[2]
        z = grid[1] + (np.arange(counts[1]) + 0.5) * grid[2]
        ends = np.minimum(
            *(np.hypot(x[:, None] - at[0], z - at[1]) for at in (request.start.place, request.end.place))
        ).ravel()
        cost = np.where((away < reach) & (ends > 1.2), _ALIKE * usual, 0.0)
        return grid, cost.astype(np.float32)

    def _amount(self, attempt: Attempt) -> tuple[int, int]:
        request = self._settled
        if request.work_limit is not None:
            return min(attempt.expanded, request.work_limit), request.work_limit
        share = 1000 * request.time_limit_s / request.count
        return round(min(share, 1000 * attempt.seconds) + len(self._answers) * share), round(
            1000 * request.time_limit_s
        )

    def _answer(self, number: int, walk: FinishedPlan) -> Answer:
        return make_answer(walk, self.request, number, SEARCHING if not self.done else COMPLETE)

    def _too_few(self, number: int) -> tuple[Problem, ...]:
        wanted = self.request.count
        if number >= wanted:
            return ()
        text = (
            f"only {number} of {wanted} answers go ways that are {self.request.apart_m:g} m or more apart; search "
            "longer, or lower apart_m"
        )
        return (Problem(ProblemKind.FEWER_ANSWERS, text, "count", wanted, number),)


def _ratio(planner: Planner) -> float:
    return float(planner.cost / max(planner.bound, 1e-9))


def plan(graph: MotionGraph | File, request: PlanRequest, *, progress: Progress | None = None) -> Result:
    """Near-optimal motion through a scene, with a bound on how much better it could be.

    >>> import choreograph as cg
    >>> from choreograph.demo import demo_clip
    >>> graph = cg.build_graph([demo_clip(name, 30.0) for name in ("walk", "walk_veer_left", "walk_veer_right")])
    >>> result = cg.plan(graph, cg.PlanRequest(goals=[{"place": (0.0, 3.0)}], work_limit=2000))
    >>> result.problems
    ()

    Args:
        graph: Whose clips; its file's name does too.
        request: Start, goals and scene.
        progress: Hears how far the search has come.

    Raises:
        RequestError: If there is no way, or the scene contradicts itself.
    """
    return PlanSearch(GRAPH.read(graph), request).run(progress)
