"""The search for one answer: searches of several kinds take turns until one has one; then it is bettered.

Which kind has an answer first is not known before: one of coarse cells comes far soon, recorded steps alone are few,
and the fine one finds what coarse cells pass over.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from choreograph.graph.model import MotionGraph
from choreograph.synthesis.plan.answers import Shown, show_chain
from choreograph.synthesis.plan.planner import SLICE, Chain, Margins, Planner, World
from choreograph.synthesis.plan.prepare import PlanGraph
from choreograph.synthesis.plan.request import PlanRequest
from choreograph.synthesis.plan.world import in_whole, make_world, raw_only

COARSE_SHARE, PLAIN_SHARE = 0.1, 0.15
"""Shares of the time that each of the coarse searches has to better an answer, and that among recorded steps."""
COMPRESSED_SHARE = 0.6
"""Share of the time after which a search that has no answer yet goes on among all primitives."""
LONGER = 1.3
"""How much longer than asked it may take where finishing broke an answer."""
LOOKED_SHARE = 0.1
"""How often answers are looked at as finished motion, as a share of the time: what breaks is best known early."""
WHOLE_S = 3.0
"""Seconds that must be left for a search that has an answer to look among all primitives."""
TURN = 500
"""Records expanded in a turn; twice as many by the first kind, which most often has the first answer."""

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
    seconds: float = 0.0
    """Time used,"""
    expanded: int = 0
    """and states looked at, those of an attempt before this one included."""
    world: World = field(init=False)
    margins: Margins = field(init=False)
    turns: list[Planner | Callable[[], Planner]] = field(default_factory=list)
    """Searches that take turns, or how one is begun; the first is at work."""
    better: list[Planner | Callable[[], Planner]] = field(default_factory=list)
    """Searches that better an answer one after another, before the fine one does; the last of them among recorded steps
    alone, so that blends never make it dearer."""
    fine: Planner | None = None
    begun: Planner | None = None
    """The fine search as far as it came in its turns."""
    mark: float = 0.0
    """Share of the time that was used when the search at work began, or its answer was last looked at as motion."""
    whole: bool = False
    given_up: Planner | None = None
    """Of the searches that gave no answer, that which looked at most states."""
    shown: dict[bytes, Shown] = field(default_factory=dict)
    """Chains as finished motion."""
    earlier: Proof | None = None
    """What a search before the one at work proved."""
    longer: float = 1.0
    repaired: int = 0
    over: bool = False

    def __post_init__(self) -> None:
        """Begin."""
        self.margins = Margins(self.request.search.margin_m, {})
        self._begin(self.kept)

    @property
    def planner(self) -> Planner | None:
        """The one at work."""
        first = next(iter(self.turns or self.better), None)
        return self.fine or (first if isinstance(first, Planner) else None)

    @property
    def looked(self) -> Planner | None:
        """The one that looked at most states: it knows best what is in the way."""
        now, before = self.planner, self.given_up
        return before if before is not None and (now is None or before.expanded > now.expanded) else now

    @property
    def left(self) -> int:
        """States that may still be expanded; 0 where the time is used up."""
        request = self.request
        share = COMPRESSED_SHARE if self.turns and not self.whole and self.may_go_whole else self.longer
        if request.evaluations is not None:
            return max(0, math.ceil(share * request.evaluations / request.count) - self.expanded)
        return SLICE if self.seconds < share * request.seconds / request.count else 0

    @property
    def used(self) -> float:
        """Share of the time, or of the states that may be expanded, that is used."""
        request = self.request
        if request.evaluations is not None:
            return self.expanded * request.count / request.evaluations
        return self.seconds * request.count / request.seconds

    @property
    def may_go_whole(self) -> bool:
        """Whether all primitives may be looked among where those that compression leaves have no answer."""
        request = self.request
        return request.search.compression == "auto" and request.interpolation and self.penalty is None

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

    def _begin(self, known: Chain | None = None) -> None:
        """Search from the beginning, or for what is cheaper than an answer that is known."""
        self.whole, self.earlier = self.begun_whole, None
        self.world = make_world(self.graph, self.plans, self.request, full=self.whole)
        self.turns, self.better, self.fine, self.begun = [], [], None, None
        if known is not None:
            self._go_better(known)
            return
        kinds: list[Callable[[], Planner]] = [
            partial(self._planner, self.world, coarse=2, share=0.2),
            partial(self._planner, self.world, coarse=4, share=0.2),
            partial(self._planner, self.world, share=0.4),
        ]
        if self.request.interpolation:
            kinds.insert(2, partial(self._planner, raw_only(self.world), coarse=2, share=0.2))
        self.turns = [*kinds]

    def _planner(
        self, world: World, *, coarse: int = 0, finer: int = 0, known: Chain | None = None, share: float = 1.0
    ) -> Planner:
        return Planner(
            world, self.request, self.margins, self.penalty, coarse=coarse, finer=finer, known=known, share=share
        )

    def _advance(self) -> None:
        waiting = self.turns or self.better
        if waiting and not isinstance(waiting[0], Planner):
            waiting[0] = waiting[0]()
        planner, left = self.planner, self.left
        assert planner is not None
        if left > 0 and not planner.done:
            before = planner.expanded
            turn = SLICE if self.fine is not None and not self.whole else TURN * (2 if planner.coarse == 2 else 1)
            planner.advance(min(turn, left))
            self.expanded += max(1, planner.expanded - before)
        if self.turns:
            self._take_turns(planner)
        elif self.better:
            self._better(planner)
        fine = self.fine
        if fine is None:
            self.over = not self.turns and not self.better
            return
        if self.used - self.mark > LOOKED_SHARE:
            self.mark, chain = self.used, fine.chain()
            if chain is not None and not self._keeps(chain):
                return
        near = np.isfinite(fine.cost) and fine.bound * self.request.within >= fine.cost * (1 - 1e-9)
        if fine.done or near or self.left <= 0:
            chain = fine.chain()
            if chain is not None and not self._keeps(chain):
                return
            self.over = chain is None or not self._refine(fine, chain)

    def _take_turns(self, planner: Planner) -> None:
        """Let the next search go on where this one has no answer; better the answer where it has one."""
        chain = planner.chain()
        if chain is None:
            self.given_up = self.looked
            rest = self.turns[1:] + ([] if planner.done else [planner])
            self.turns = rest if self.left > 0 else []
            return
        if not self._keeps(chain):
            return
        begun = [one for one in self.turns if isinstance(one, Planner)]
        self.begun = next((one for one in begun if not one.coarse), None)
        self.better = [one for one in begun if one.coarse and one.world is self.world and not one.done]
        self.turns = []
        self._go_better(chain)

    def _go_better(self, chain: Chain) -> None:
        """Better an answer: by coarse searches that are there, among recorded steps alone, then by the fine one."""
        if self.request.interpolation:
            plain = raw_only(self.world)
            self.better += [partial(self._planner, plain, coarse=2), partial(self._planner, plain)]
        self._next_better(chain)

    def _better(self, planner: Planner) -> None:
        """Let the next search better the answer where this one had its share."""
        chain = planner.chain()
        assert chain is not None
        share = COARSE_SHARE if planner.coarse else PLAIN_SHARE
        if self.left > 0 and self.used - self.mark < share:
            if not planner.done:
                return
            if planner.proved and not planner.coarse and planner.finer == 0 and self._may_refine():
                self.better[0] = self._planner(planner.world, finer=1, known=chain, share=0.4)
                return
        if not self._keeps(chain):
            return
        del self.better[0]
        self._next_better(chain)

    def _next_better(self, chain: Chain) -> None:
        """Begin with the next search that is to better an answer, or with the fine one."""
        self.mark = self.used
        if not self.better:
            self._go_on(chain)
            return
        first = self.better[0]
        planner = first if isinstance(first, Planner) else first()
        planner.learn(chain, share=0.4)
        self.better[0] = planner

    def _go_on(self, chain: Chain) -> None:
        """Go on with the fine search as far as it came, looking for what is cheaper than an answer."""
        if self.begun is None:
            self.fine = self._planner(self.world, known=chain)
        else:
            self.begun.learn(chain, share=1.0)
            self.fine, self.begun = self.begun, None

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
        request = self.request
        seconds = math.inf if request.evaluations is not None else request.seconds / request.count - self.seconds
        if self.whole or not self.may_go_whole or seconds < WHOLE_S:
            return False
        self.whole = True
        self.world = make_world(self.graph, self.plans, self.request, full=True)
        self.fine = self._planner(self.world, finer=1, known=in_whole(self.plans, chain))
        return True

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
        good = [shown.chain for shown in self.shown.values() if not shown.checked.broken and shown.whole <= self.whole]
        self.longer = LONGER
        self._begin(min(good, key=lambda chain: chain.cost, default=None))
        return False
