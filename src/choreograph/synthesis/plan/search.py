"""Planning as a search: a first answer soon, then better ones and a bound, each checked as finished motion."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from choreograph.contract.request import Request
from choreograph.contract.result import COMPLETE, SEARCHING, Answer, Problem, Result
from choreograph.contract.search import Budget, Search
from choreograph.errors import RequestError, SearchStateError
from choreograph.graph.model import MotionGraph
from choreograph.progress import Progress, silent
from choreograph.synthesis.narrow import ChoosingSearch
from choreograph.synthesis.plan.answers import Shown, make_answer, show_chain, ways_apart
from choreograph.synthesis.plan.planner import SLICE, Chain, Margins, Planner, World
from choreograph.synthesis.plan.prepare import PlanGraph, find_plan_graph
from choreograph.synthesis.plan.primitives import OBJECTIVES
from choreograph.synthesis.plan.reasons import why_none
from choreograph.synthesis.plan.request import PlanRequest
from choreograph.synthesis.plan.scene import check_scene, distance_grid
from choreograph.synthesis.plan.world import make_world, raw_only

COARSE_MOST = 3_000
"""States that a coarse search for a first answer expands at most, times 2 where its lattice is the fine one's."""
COARSE_SHARE = 0.1
"""And no larger a share of all, likewise."""
PLAIN_SHARE = 0.4
"""Share of the states that are looked at among recorded steps alone."""


@dataclass(eq=False)
class _Try:
    """The search for one answer: coarse first, then fine; again, farther from things, where finishing broke one."""

    world: World
    margins: Margins
    penalty: tuple[NDArray[np.float64], Any] | None
    coarse: Planner | None = None
    plain: Planner | None = None
    """Among recorded steps alone: so blends never make it dearer."""
    fine: Planner | None = None
    known: Chain | None = None
    seconds: float = 0.0
    expanded: int = 0
    repaired: int = 0
    full: bool = False
    over: bool = False

    @property
    def planner(self) -> Planner | None:
        """The one at work."""
        return self.fine or self.plain or self.coarse


class PlanSearch(ChoosingSearch):
    """A search for motion through a scene; it gets better, and its bound with it, for as long as the request says."""

    def __init__(self, graph: MotionGraph, request: PlanRequest, *, plans: PlanGraph | None = None) -> None:
        """Prepare a search.

        Args:
            graph: Whose clips.
            request: Start, goal and scene.
            plans: The graph's interpolated graph, if it is at hand; searches on one graph can share it.
        """
        super().__init__(request)
        self.graph: MotionGraph = self.choose(graph, request)
        self._plans = plans
        self._begin(request)

    def _begin(self, request: PlanRequest) -> None:
        self.request: PlanRequest = request
        self._try: _Try | None = None
        self._answers: list[Shown] = []
        self._shown: dict[bytes, Shown] = {}
        self._kept: Chain | None = None
        self._kept_bound = 0.0
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
                before, start = attempt.expanded, time.monotonic()
                self._advance(attempt)
                attempt.seconds += time.monotonic() - start
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
        if stage != "searching" or attempt is None or self.request.evaluations is not None:
            return None
        planner = attempt.fine
        ratio = "" if planner is None or not np.isfinite(planner.cost) else f", within ×{_ratio(planner):.2f}"
        return f"{done / 1000:.1f}/{total / 1000:.1f} s{ratio}"

    def best(self) -> Result:
        """The answers so far, finished and checked, best first."""
        answers = [self._answer(n, shown) for n, shown in enumerate(self._answers)]
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
        attempt = self._try
        chain = self._answers[0].chain if self._answers else None
        bound = self._answers[0].bound if self._answers else 0.0
        if chain is None and attempt is not None and attempt.planner is not None:
            chain, bound = attempt.planner.chain(), attempt.fine.bound if attempt.fine is not None else 0.0
        if chain is None:
            raise RequestError("nothing was found yet that could be kept")
        return {
            "motion": self.graph.fingerprint.motion,
            "request": self.request.as_document(),
            "primitives": chain.primitives.tolist(),
            "places": chain.places.tolist(),
            "end": chain.end.tolist(),
            "cost": chain.cost,
            "bound": bound,
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
        size = len(self.plans.network.primitives)
        fits = len(chain.primitives) and len(chain.primitives) == len(chain.places) and np.isfinite(chain.places).all()
        if not fits or chain.primitives.min() < 0 or chain.primitives.max() >= size + 1000:
            raise SearchStateError("what was kept of the search is damaged; begin a new one")
        if self.request.goal is not None and self.request.goal.label is None and chain.primitives.max() < size:
            self._kept, self._kept_bound = chain, float(state["bound"])

    # ------------------------------------------------------------------ inside

    def _new_try(self, penalty: tuple[NDArray[np.float64], Any] | None, *, full: bool | None = None) -> _Try:
        request = self.request
        whole = request.search.compression == "off" if full is None else full
        world = make_world(self.graph, self.plans, request, full=whole)
        attempt = _Try(world, Margins(request.search.margin_m, {}), penalty, full=whole)
        attempt.coarse = Planner(world, request, attempt.margins, penalty, coarse=2)
        if self._kept is not None and penalty is None and not whole:
            attempt.coarse, attempt.known = None, self._kept
            attempt.fine = Planner(world, request, attempt.margins, penalty, known=self._kept)
        return attempt

    def _advance(self, attempt: _Try) -> None:
        """Expand a slice; go over from the coarse search to the fine one; begin again where finishing broke things."""
        planner = attempt.planner
        assert planner is not None
        left = self._left(attempt)
        if attempt.fine is None:
            before = planner.expanded
            planner.advance(min(SLICE // 4, max(1, left)))
            attempt.expanded += max(1, planner.expanded - before)
            chain = planner.chain()
            if attempt.plain is None and chain is not None and not self._keeps(attempt, chain):
                return
            self._go_over(attempt, planner, chain)
        elif left > 0 and not planner.done:
            before = planner.expanded
            planner.advance(min(SLICE, left))
            attempt.expanded += max(1, planner.expanded - before)
        fine = attempt.fine
        if fine is None:
            attempt.over = self._left(attempt) <= 0
            return
        near = np.isfinite(fine.cost) and fine.bound * self.request.within >= fine.cost * (1 - 1e-9)
        if fine.done or near or self._left(attempt) <= 0:
            chain = fine.chain()
            attempt.over = chain is None or self._keeps(attempt, chain)

    def _go_over(self, attempt: _Try, planner: Planner, chain: Chain | None) -> None:
        """From the coarse search to one among recorded steps alone, and from that to the whole."""
        request, world = self.request, attempt.world
        if attempt.plain is None:
            most = (3 - planner.coarse) * min(COARSE_MOST, COARSE_SHARE * self._most(attempt))
            if chain is None and not planner.done and planner.expanded < most:
                return
            if chain is None and planner.coarse == 2:
                attempt.coarse = Planner(world, request, attempt.margins, attempt.penalty, coarse=1)
                return
            attempt.coarse, attempt.known = None, chain
            if request.interpolation and chain is not None:
                attempt.plain = Planner(raw_only(world), request, attempt.margins, attempt.penalty, known=chain)
                return
        elif not planner.done and planner.expanded < PLAIN_SHARE * self._most(attempt):
            return
        attempt.plain, attempt.known = None, chain
        attempt.fine = Planner(world, request, attempt.margins, attempt.penalty, known=chain)

    def _most(self, attempt: _Try) -> float:
        """States that an attempt may expand, as far as that is known."""
        request = self.request
        if request.evaluations is not None:
            return request.evaluations / request.count
        return attempt.expanded * request.seconds / request.count / max(attempt.seconds, 1e-3)

    def _left(self, attempt: _Try) -> int:
        """States that may still be expanded; 0 where the time is used up."""
        request = self.request
        if request.evaluations is not None:
            return max(0, -(-request.evaluations // request.count) - attempt.expanded)
        return SLICE if attempt.seconds < request.seconds / request.count else 0

    def _keeps(self, attempt: _Try, chain: Chain) -> bool:
        """Whether an answer keeps all constraints as finished motion; else the search begins again, farther away."""
        shown = self._finish(attempt, chain)
        if not shown.checked.broken or attempt.repaired >= self.request.search.repairs:
            return True
        more = dict(attempt.margins.more)
        for broken in shown.checked.broken:
            more[broken.where] = more.get(broken.where, 0.0) + min(broken.by, 0.15) + 0.01
        attempt.repaired += 1
        attempt.margins = Margins(attempt.margins.usual, more)
        attempt.coarse = Planner(attempt.world, self.request, attempt.margins, attempt.penalty, coarse=2)
        attempt.plain = attempt.fine = None
        attempt.seconds = min(attempt.seconds, 0.7 * self.request.seconds / self.request.count)
        attempt.expanded = 0
        return False

    def _finish(self, attempt: _Try, chain: Chain) -> Shown:
        key = chain.primitives.tobytes() + chain.places.tobytes()
        if key not in self._shown:
            self._shown[key] = show_chain(self.graph, attempt.world, chain, self.request)
        return self._shown[key]

    def _running(self) -> Shown | None:
        attempt = self._try
        chain = None if attempt is None or attempt.planner is None else attempt.planner.chain()
        if attempt is None or chain is None:
            return None
        shown = self._finish(attempt, chain)
        fine = attempt.fine
        return shown.with_search(
            0.0 if fine is None else max(fine.bound, self._kept_bound), attempt, self._cloud(attempt)
        )

    def _conclude(self, attempt: _Try) -> None:
        """Take the answer that an attempt ended with, and begin the next."""
        fine = attempt.fine
        chain = None if attempt.planner is None else attempt.planner.chain()
        if chain is None:
            if not attempt.full and self.request.search.compression == "auto" and not self._answers:
                self._try = self._new_try(None, full=True)
                return
            if not self._answers:
                self._reason = why_none(attempt.planner, self.request, self.plans)
            self._few = bool(self._answers)
            return
        best = self._best_kept(attempt, chain)
        bound = 0.0 if fine is None or attempt.penalty is not None else max(fine.bound, self._kept_bound)
        shown = best.with_search(min(bound, best.chain.cost), attempt, self._cloud(attempt))
        apart = min((ways_apart(shown, other) for other in self._answers), default=np.inf)
        if apart < self.request.apart_m:
            self._few = True
            return
        self._answers.append(shown)
        if len(self._answers) < self.request.count:
            self._try = self._new_try(self._penalty())

    def _best_kept(self, attempt: _Try, chain: Chain) -> Shown:
        """The answer, or the cheapest of the earlier ones where it breaks a constraint and they do not."""
        last = self._finish(attempt, chain)
        if not last.checked.broken:
            return last
        good = [shown for shown in self._shown.values() if not shown.checked.broken and shown not in self._answers]
        return min(good, key=lambda shown: shown.chain.cost) if good else last

    def _penalty(self) -> tuple[NDArray[np.float64], Any]:
        """What steps near the ways of earlier answers cost more, but not near start and goal."""
        request, goal = self.request, self.request.goal
        assert goal is not None
        usual = float(np.median(self.plans.network.costs[:, OBJECTIVES.index(request.objective)]))
        reach = max(0.6 * request.apart_m, 0.3)
        ways = [np.concatenate([shown.way[::12], shown.way[-1:]]) for shown in self._answers]
        grid, away = distance_grid(np.concatenate(ways), reach)
        counts = grid[3:].astype(int)
        x = grid[0] + (np.arange(counts[0]) + 0.5) * grid[2]
        z = grid[1] + (np.arange(counts[1]) + 0.5) * grid[2]
        ends = np.minimum(
            *(np.hypot(x[:, None] - at[0], z - at[1]) for at in (request.start.position, goal.position))
        ).ravel()
        cost = np.where((away < reach) & (ends > 1.2), usual, 0.0)
        return grid, cost.astype(np.float32)

    def _cloud(self, attempt: _Try) -> list[tuple[float, float]]:
        planner = attempt.planner
        return [] if planner is None else [(round(float(x), 2), round(float(z), 2)) for x, z in planner.cloud()]

    def _amount(self, attempt: _Try) -> tuple[int, int]:
        request = self.request
        if request.evaluations is not None:
            return min(attempt.expanded, request.evaluations), request.evaluations
        share = 1000 * request.seconds / request.count
        return round(min(share, 1000 * attempt.seconds) + len(self._answers) * share), round(1000 * request.seconds)

    def _answer(self, number: int, shown: Shown) -> Answer:
        return make_answer(shown, self.request, number, SEARCHING if not self.done else COMPLETE)

    def _too_few(self, number: int) -> tuple[Problem, ...]:
        wanted = self.request.count
        if number >= wanted:
            return ()
        text = (
            f"only {number} of {wanted} answers go ways that are {self.request.apart_m:g} m or more apart; search "
            "longer, or lower apart_m"
        )
        return (Problem(text, "count", wanted, number),)


def _ratio(planner: Planner) -> float:
    return float(planner.cost / max(planner.bound, 1e-9))


def plan(graph: MotionGraph, request: PlanRequest, *, progress: Progress | None = None) -> Result:
    """Near-optimal motion through a scene, with a bound on how much better it could be.

    >>> import choreograph as cg
    >>> from choreograph.demo import demo_clip
    >>> graph = cg.build_graph([demo_clip(name, 30.0) for name in ("walk", "walk_veer_left", "walk_veer_right")])
    >>> result = cg.plan(graph, cg.PlanRequest(goal={"position": (0.0, 3.0)}, evaluations=2000))
    >>> result.problems
    ()

    Args:
        graph: Whose clips.
        request: Start, goal and scene.
        progress: Hears how far the search has come.

    Raises:
        RequestError: If there is no way, or the scene contradicts itself.
    """
    return PlanSearch(graph, request).run(progress)
