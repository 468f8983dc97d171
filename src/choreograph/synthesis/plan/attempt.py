"""The search for one answer: coarse first, then among recorded steps, then among all; finer where time is left."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from choreograph.graph.model import MotionGraph
from choreograph.synthesis.plan.answers import Shown, show_chain
from choreograph.synthesis.plan.planner import SLICE, Chain, Margins, Planner, World
from choreograph.synthesis.plan.prepare import PlanGraph
from choreograph.synthesis.plan.request import PlanRequest
from choreograph.synthesis.plan.world import in_whole, make_world, raw_only

COARSE_MOST = 3_000
"""States that a coarse search for a first answer expands at most, times 2 where its lattice is the fine one's."""
COARSE_SHARE = 0.1
"""And no larger a share of all, likewise."""
PLAIN_SHARE = 0.2
"""Share of the states that are looked at among recorded steps alone."""

clock = time.monotonic
"""What seconds of search are counted by."""

Penalty = tuple[NDArray[np.float64], Any]


@dataclass(frozen=True)
class Proof:
    """What is proved, and within what."""

    bound: float
    """No answer costs less,"""
    lattice: tuple[float, float]
    """within cells of so many metres and degrees,"""
    whole: bool
    """among all primitives, or those that compression leaves."""


@dataclass(eq=False)
class Attempt:
    """Searches one after another for one answer; again, farther from things, where finishing broke one."""

    graph: MotionGraph
    plans: PlanGraph
    request: PlanRequest
    penalty: Penalty | None
    """Grid and what a step that ends in its cells costs more, so that answers differ."""
    begun_whole: bool
    """Whether to look among all primitives from the beginning."""
    kept: Chain | None = None
    """An answer that an earlier search kept; it is gone on from."""
    kept_bound: float = 0.0
    """No answer costs less: known from an earlier search, or from one that kept less far from things."""
    world: World = field(init=False)
    margins: Margins = field(init=False)
    coarse: Planner | None = None
    plain: Planner | None = None
    """Among recorded steps alone: so blends never make it dearer."""
    fine: Planner | None = None
    whole: bool = False
    given_up: Planner | None = None
    """Of the searches that gave no answer, that which looked at most states."""
    shown: dict[bytes, Shown] = field(default_factory=dict)
    """Chains as finished motion."""
    earlier: Proof | None = None
    """What a search before the one at work proved."""
    seconds: float = 0.0
    expanded: int = 0
    repaired: int = 0
    over: bool = False

    def __post_init__(self) -> None:
        """Begin."""
        self.margins = Margins(self.request.search.margin_m, {})
        self._begin()
        if self.kept is not None:
            self.coarse, self.fine = None, self._planner(self.world, known=self.kept)

    @property
    def planner(self) -> Planner | None:
        """The one at work."""
        return self.fine or self.plain or self.coarse

    @property
    def looked(self) -> Planner | None:
        """The one that looked at most states: it knows best what is in the way."""
        now, before = self.planner, self.given_up
        return before if before is not None and (now is None or before.expanded > now.expanded) else now

    @property
    def left(self) -> int:
        """States that may still be expanded; 0 where the time is used up."""
        request = self.request
        if request.evaluations is not None:
            return max(0, -(-request.evaluations // request.count) - self.expanded)
        return SLICE if self.seconds < request.seconds / request.count else 0

    @property
    def proof(self) -> Proof | None:
        """The strongest that can be said so far: of the finest lattice in which the search came to its end."""
        if self.penalty is not None or self.fine is None:
            return None
        now = Proof(max(self.fine.bound, self.kept_bound), self.fine.cells, self.whole)
        return now if self.earlier is None or self.fine.proved else self.earlier

    def advance(self) -> None:
        """Expand a slice; go over from one search to the next; begin again where finishing broke things."""
        began = clock()
        self._advance()
        self.seconds += clock() - began

    def finish(self, chain: Chain) -> Shown:
        """A chain as finished motion."""
        key = bytes([self.whole]) + chain.primitives.tobytes() + chain.places.tobytes()
        if key not in self.shown:
            made = show_chain(self.graph, self.world, chain, self.request)
            self.shown[key] = replace(made, whole=self.whole)
        return self.shown[key]

    def best_kept(self, chain: Chain) -> Shown:
        """The last answer, or an earlier one that keeps all constraints where that is cheaper or the last does not."""
        last = self.finish(chain)
        good = [shown for shown in self.shown.values() if not shown.checked.broken]
        if not good or (self.penalty is not None and not last.checked.broken):
            return last
        return min(good, key=lambda shown: shown.chain.cost)

    def cloud(self) -> list[tuple[float, float]]:
        """Places of expanded states."""
        planner = self.planner
        return [] if planner is None else [(round(float(x), 2), round(float(z), 2)) for x, z in planner.cloud()]

    # ------------------------------------------------------------------ inside

    def _begin(self) -> None:
        self.whole, self.earlier = self.begun_whole, None
        self.world = make_world(self.graph, self.plans, self.request, full=self.whole)
        self.plain = self.fine = None
        self.coarse = self._planner(self.world, coarse=2)

    def _planner(self, world: World, *, coarse: int = 0, finer: int = 0, known: Chain | None = None) -> Planner:
        return Planner(world, self.request, self.margins, self.penalty, coarse=coarse, finer=finer, known=known)

    def _advance(self) -> None:
        planner, left = self.planner, self.left
        assert planner is not None
        if left > 0 and not planner.done:
            before = planner.expanded
            planner.advance(min(SLICE if self.fine is not None else SLICE // 4, left))
            self.expanded += max(1, planner.expanded - before)
        if self.fine is None:
            chain = planner.chain()
            if self.plain is None and chain is not None and not self._keeps(chain):
                return
            self._go_over(planner, chain)
        fine = self.fine
        if fine is None:
            self.over = self.left <= 0
            return
        near = np.isfinite(fine.cost) and fine.bound * self.request.within >= fine.cost * (1 - 1e-9)
        if fine.done or near or self.left <= 0:
            chain = fine.chain()
            if chain is not None and not self._keeps(chain):
                return
            self.over = chain is None or not self._refine(fine, chain)

    def _go_over(self, planner: Planner, chain: Chain | None) -> None:
        """From the coarse search to one among recorded steps alone, and from that to the whole."""
        if chain is None:
            self.given_up = self.looked
        if self.plain is None:
            most = (3 - planner.coarse) * min(COARSE_MOST, COARSE_SHARE * self._most())
            if chain is None and not planner.done and planner.expanded < most:
                return
            if chain is None and planner.coarse == 2:
                self.coarse = self._planner(self.world, coarse=1)
                return
            self.coarse = None
            if self.request.interpolation:
                # Where blends gave no answer, among so many ways to begin, recorded steps alone may.
                self.plain = self._planner(raw_only(self.world), coarse=int(chain is None), known=chain)
                return
        elif planner.coarse and chain is not None:
            self.plain = self._planner(planner.world, known=chain)
            return
        elif planner.expanded < PLAIN_SHARE * self._most():
            if not planner.done:
                return
            if planner.proved and planner.finer == 0 and self._may_refine():
                self.plain = self._planner(planner.world, finer=1, known=chain)
                return
        self.plain = None
        self.fine = self._planner(self.world, known=chain)

    def _may_refine(self) -> bool:
        request = self.request
        return request.search.refine and request.within <= 1 and self.penalty is None

    def _refine(self, fine: Planner, chain: Chain) -> bool:
        """Whether the search goes on, where its answer is proved and time is left: finer, then among all primitives."""
        if not (fine.proved and self.left > 0 and self._may_refine()):
            return False
        self.earlier = self.proof
        if fine.finer == 0:
            self.fine = self._planner(self.world, finer=1, known=chain)
            return True
        if self.whole or self.request.search.compression != "auto" or not self.request.interpolation:
            return False
        self.whole = True
        self.world = make_world(self.graph, self.plans, self.request, full=True)
        self.fine = self._planner(self.world, finer=1, known=in_whole(self.plans, chain))
        return True

    def _most(self) -> float:
        """States that may be expanded in all, as far as that is known."""
        request = self.request
        if request.evaluations is not None:
            return request.evaluations / request.count
        return self.expanded * request.seconds / request.count / max(self.seconds, 1e-3)

    def _keeps(self, chain: Chain) -> bool:
        """Whether an answer keeps all constraints as finished motion; else the search begins again, farther away."""
        shown = self.finish(chain)
        if not shown.checked.broken or self.repaired >= self.request.search.repairs:
            return True
        more = dict(self.margins.more)
        for broken in shown.checked.broken:
            more[broken.where] = more.get(broken.where, 0.0) + min(broken.by, 0.15) + 0.01
        self.repaired += 1
        if self.fine is not None and self.penalty is None:
            self.kept_bound = max(self.kept_bound, self.fine.bound)
        self.margins = Margins(self.margins.usual, more)
        self._begin()
        self.seconds = min(self.seconds, 0.7 * self.request.seconds / self.request.count)
        self.expanded = 0
        return False
