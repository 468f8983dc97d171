"""The search for one answer: searches of several kinds take turns.

Which kind has an answer first is not known before: one of coarse cells comes far soon, the fine one finds what those
pass over. Some of the time goes to an attempt with recorded steps alone, which goes on just as it would if blends had
not been asked for; the searches with blends hear of its answers. So what recorded steps alone bring in that time,
blends never make dearer.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial

from choreograph.graph.model import MotionGraph
from choreograph.verbs.plan.answers import FinishedPlan, show_chain
from choreograph.verbs.plan.planner import Chain, Planner
from choreograph.verbs.plan.prepare import PlanGraph
from choreograph.verbs.plan.request import PlanRequest
from choreograph.verbs.plan.task import Margins, Penalty, Task, World
from choreograph.verbs.plan.world import in_whole, make_world

COARSE_SHARE = 0.1
"""Share of the time in which an answer is bettered by a coarse search."""
PLAIN_SHARE, FIRST_SHARE = 0.75, 0.5
"""Share of the time that goes to recorded steps alone, and as long as there is no answer."""
PLAIN_ROOM = 0.4
"""And of the memory."""
COMPRESSED_SHARE = 0.6
"""Share of the time after which a search that has no answer yet goes on among all primitives."""
LONGER = 1.3
"""How much longer than asked it may take where finishing broke an answer."""
LOOKED_SHARE, LOOKED_S = 0.1, 0.5
"""How often answers are looked at as finished motion, as a share of the time, and at most every so many seconds: what
breaks is best known early, but a look takes as long as a thousand states."""
WHOLE_S = 3.0
"""Seconds that must be left for a search that has an answer to look among all primitives; half of them where it has
none."""
TURN = 250
"""Records expanded in a turn."""

clock = time.monotonic
"""What seconds of search are counted by."""


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
class Turn:
    """A search that takes turns with others."""

    make: Callable[[], Planner]
    weight: float
    """How much of the time it gets, against the others."""
    share: float
    """Of all the time, that it may use once there is an answer."""
    used: float = 0.0
    """Share of the time that it used, since then."""
    planner: Planner | None = None

    @property
    def done(self) -> bool:
        """Whether it can find nothing more."""
        return self.planner is not None and self.planner.done

    def begun(self) -> Planner:
        """Its search, begun when its first turn comes."""
        if self.planner is None:
            self.planner = self.make()
        return self.planner


@dataclass(eq=False)
class Attempt:
    """Searches for one answer; again, farther from things, where finishing broke one."""

    graph: MotionGraph
    plans: PlanGraph
    request: PlanRequest
    penalty: Penalty | None
    """What steps cost more in some places, so that answers differ."""
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
    chain: Chain | None = field(init=False, default=None)
    """The best answer so far."""
    world: World = field(init=False)
    task: Task = field(init=False)
    margins: Margins = field(init=False)
    turns: list[Turn] = field(init=False)
    """The searches; that goes on which used least of the time, by its weight."""
    mark: float = 0.0
    """Share of the time that was used when an answer was last looked at as motion."""
    whole: bool = False
    given_up: Planner | None = None
    """Of the searches that gave no answer, that which looked at most states."""
    shown: dict[bytes, FinishedPlan] = field(default_factory=dict)
    """Chains as finished motion."""
    earlier: Proof | None = None
    """What a search before the one at work proved."""
    longer: float = 1.0
    repaired: int = 0
    ended: bool = False
    """Whether its own searches are at their end."""
    plain: Attempt | None = field(init=False, default=None)
    """The attempt with recorded steps alone, where blends are asked for."""

    def __post_init__(self) -> None:
        """Begin."""
        self.margins = Margins(self.request.advanced.margin_m, {})
        if self.request.interpolation:
            memory_mb = max(64, round(PLAIN_ROOM * self.request.advanced.memory_mb))
            advanced = self.request.advanced.with_(memory_mb=memory_mb)
            plain = self.request.with_(interpolation=False, advanced=advanced)
            self.plain = Attempt(self.graph, self.plans, plain, self.penalty, self.begun_whole, shown=self.shown)
        self._begin(self.kept)

    @property
    def over(self) -> bool:
        """Whether it is at its end, and that with recorded steps alone as well, or the time is used up."""
        return self.ended and (self.plain is None or self.plain.over or self.left <= 0)

    @property
    def fine(self) -> Planner | None:
        """The search that proves: among all primitives of its world, in fine cells."""
        planners = [turn.planner for turn in self.turns if turn.planner is not None]
        return next((one for one in planners if not one.coarse), None)

    @property
    def looked(self) -> Planner | None:
        """The search that looked at most states: it knows best what is in the way."""
        planners = [turn.planner for turn in self.turns if turn.planner is not None]
        if self.given_up is not None:
            planners.append(self.given_up)
        return max(planners, key=lambda one: one.expanded, default=None)

    @property
    def left(self) -> int:
        """States that may still be expanded; 0 where the time is used up."""
        request = self.request
        none = self.chain is None and not self.repaired
        share = COMPRESSED_SHARE if none and not self.whole and self.may_go_whole else self.longer
        if request.work_limit is not None:
            return max(0, math.ceil(share * request.work_limit / request.count) - self.expanded)
        return TURN if self.seconds < share * request.time_limit_s / request.count else 0

    @property
    def used(self) -> float:
        """Share of the time, or of the states that may be expanded, that is used."""
        request = self.request
        if request.work_limit is not None:
            return self.expanded * request.count / request.work_limit
        return self.seconds * request.count / request.time_limit_s

    @property
    def may_go_whole(self) -> bool:
        """Whether all primitives may be looked among where those that compression leaves have no answer."""
        request = self.request
        short = (
            request.work_limit is None and (1 - COMPRESSED_SHARE) * request.time_limit_s < request.count * WHOLE_S / 2
        )
        return request.advanced.compression == "auto" and request.interpolation and self.penalty is None and not short

    @property
    def proof(self) -> Proof | None:
        """The strongest that can be said so far: of the finest lattice in which the search came to its end."""
        fine = self.fine
        if self.penalty is not None or fine is None:
            return None
        now = Proof(max(fine.bound, self.kept_bound), fine.cells, self.whole)
        return now if self.earlier is None or fine.proved else self.earlier

    def advance(self) -> None:
        """Expand a few states, or look at an answer; begin again where finishing broke things."""
        began, before, plain, turn = clock(), self.used, self.plain, None
        share = FIRST_SHARE if self.chain is None else PLAIN_SHARE
        if plain is not None and not plain.over and self.left > 0 and (self.ended or plain.used < share * before):
            self._advance_plain(plain)
        elif self.chain is not None and self.used - self.mark > self._looks_apart:
            self._keeps()
        else:
            turn = min(self.turns, key=lambda one: (one.done, one.used / one.weight))
            self._advance(turn)
        self.seconds += clock() - began
        if turn is not None:
            turn.used += self.used - before

    def finish(self, chain: Chain) -> FinishedPlan:
        """A chain as finished motion."""
        key = bytes([self.whole]) + chain.primitives.tobytes() + chain.places.tobytes()
        if key not in self.shown:
            walk = show_chain(self.graph, self.world, chain, self.request)
            self.shown[key] = replace(walk, whole=self.whole)
        return self.shown[key]

    def best(self) -> FinishedPlan | None:
        """The cheapest answer that keeps all constraints, that of recorded steps alone too; else the last one."""
        last = None if self.chain is None else self.finish(self.chain)
        if last is not None and self.penalty is not None and not last.checked.broken:
            return last
        if self.plain is not None and self.plain.chain is not None:
            cheapest = min((walk.chain.cost for walk in self._good()), default=math.inf)
            if self.plain.chain.cost < cheapest:
                self.plain.finish(self.plain.chain)
        return min(self._good(), key=lambda walk: walk.chain.cost, default=last)

    def cloud(self) -> list[tuple[float, float]]:
        """Places of expanded states."""
        planner = self.looked
        return [] if planner is None else [(round(float(x), 2), round(float(z), 2)) for x, z in planner.cloud()]

    # ------------------------------------------------------------------ inside

    @property
    def _room(self) -> float:
        """Share of the memory for its own searches."""
        return 1.0 if self.plain is None else 1 - PLAIN_ROOM

    def _good(self) -> list[FinishedPlan]:
        """Answers that keep all constraints as finished motion."""
        return [walk for walk in self.shown.values() if not walk.checked.broken]

    @property
    def _looks_apart(self) -> float:
        """Share of the time between two looks at the answer as finished motion."""
        request = self.request
        return max(
            LOOKED_SHARE, 0.0 if request.work_limit is not None else LOOKED_S * request.count / request.time_limit_s
        )

    def _begin(self, known: Chain | None = None) -> None:
        """Search from the beginning, or for what is cheaper than an answer that is known."""
        self.whole, self.earlier, self.chain = self.begun_whole, None, None
        self._set_world()
        self.turns = [
            Turn(partial(Planner, self.task, coarse=2, share=0.3 * self._room), 2.0, COARSE_SHARE),
            Turn(partial(Planner, self.task, coarse=4, share=0.2 * self._room), 0.5, 0.0),
            Turn(partial(Planner, self.task, share=0.5 * self._room), 1.0, math.inf),
        ]
        if known is not None:
            self.turns = [turn for turn in self.turns if turn.share > COARSE_SHARE]
            self._hear(known)

    def _set_world(self) -> None:
        self.world = make_world(self.graph, self.plans, self.request, full=self.whole)
        self.task = Task.of(self.world, self.request, self.margins, self.penalty)

    def _advance(self, turn: Turn) -> None:
        """Let the search at work go on; hear what it found; let the next one go on, or conclude."""
        planner, left = turn.begun(), self.left
        if left > 0 and not planner.done:
            before = planner.expanded
            planner.advance(min(TURN, left))
            self.expanded += max(1, planner.expanded - before)
        chain = planner.chain()
        if chain is not None and (self.chain is None or chain.weighed < self.chain.weighed * (1 - 1e-9)):
            self._hear(chain)
        if self.chain is None:
            self.ended = all(one.done for one in self.turns) or self.left <= 0
        else:
            self._go_on()

    def _hear(self, chain: Chain) -> None:
        """Tell all searches of an answer that is better than those before; after the first, fewer take turns."""
        first, self.chain = self.chain is None, chain
        if first:
            self.turns = [turn for turn in self.turns if turn.share > 0]
            for turn in self.turns:
                turn.used, turn.weight = 0.0, 1.0
        for turn in self.turns:
            if turn.planner is not None:
                turn.planner.learn(chain, share=0.5 * self._room)

    def _advance_plain(self, plain: Attempt) -> None:
        """Let the attempt with recorded steps alone go on, and hear what it found.

        Where an answer was broken in finishing before, only of what was looked at as finished motion.
        """
        before = plain.expanded
        plain.advance()
        self.expanded += max(1, plain.expanded - before)
        chain = plain.chain
        if chain is None or (self.chain is not None and chain.weighed >= self.chain.weighed * (1 - 1e-9)):
            return
        if self.repaired and (self.chain is not None or plain.finish(chain).checked.broken):
            return
        self._hear(in_whole(self.plans, chain) if self.whole and not plain.whole else chain)

    def _go_on(self) -> None:
        """Go on with bettering the answer, or conclude where it is proved, near enough, or the time is used up."""
        assert self.chain is not None
        fine, alone = self.fine, len(self.turns) == 1
        if alone and self.turns[0].planner is not None:
            self.turns[0].planner.learn(self.chain, share=self._room)
        done = fine is not None and (fine.done if alone else fine.proved and not self._may_refine())
        near = fine is not None and self.request.bound_ratio > 1 and fine.bound * self.request.bound_ratio >= fine.cost
        if not (done or near or self.left <= 0):
            self._pass_on()
        elif self._keeps():
            last = next(one for one in self.turns if math.isinf(one.share))
            self.turns = [last]
            self.ended = not self._refine(last.begun())

    def _pass_on(self) -> None:
        """Let no search go on that had its share, or is done."""
        self.turns = [one for one in self.turns if math.isinf(one.share) or not (one.done or one.used > one.share)]

    def _may_refine(self) -> bool:
        request = self.request
        return request.advanced.refine and request.bound_ratio <= 1 and self.penalty is None

    def _refine(self, fine: Planner) -> bool:
        """Whether the search goes on, where its answer is proved and time is left: finer, then among all primitives."""
        if not (fine.proved and self.left > 0 and self._may_refine()):
            return False
        assert self.chain is not None
        self.earlier = self.proof
        if fine.finer > 0:
            request = self.request
            seconds = (
                math.inf if request.work_limit is not None else request.time_limit_s / request.count - self.seconds
            )
            if self.whole or not self.may_go_whole or seconds < WHOLE_S:
                return False
            self.whole, self.chain = True, in_whole(self.plans, self.chain)
            self._set_world()
        planner = Planner(self.task, finer=1, known=self.chain, share=self._room)
        self.turns = [Turn(lambda: planner, 1.0, math.inf, planner=planner)]
        return True

    def _keeps(self) -> bool:
        """Whether the answer keeps all constraints as finished motion; else the search begins again, farther away."""
        assert self.chain is not None
        walk = self.finish(self.chain)
        self.mark = self.used
        if not walk.checked.broken or self.repaired >= self.request.advanced.repairs:
            return True
        more = dict(self.margins.more)
        for broken in walk.checked.broken:
            more[broken.where] = more.get(broken.where, 0.0) + min(broken.by, 0.15) + 0.01
        self.repaired += 1
        if self.fine is not None and self.penalty is None:
            self.kept_bound = max(self.kept_bound, self.fine.bound)
        self.margins = Margins(self.margins.usual, more)
        if self.plain is not None and self.plain.chain is not None:
            self.plain.finish(self.plain.chain)
        good = [walk.chain for walk in self._good() if walk.whole == self.begun_whole]
        self.longer = LONGER
        self._begin(min(good, key=lambda chain: chain.cost, default=None))
        return False
