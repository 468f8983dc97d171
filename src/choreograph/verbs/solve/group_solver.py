"""Several people at once: each is solved alone, against constraints that bring them together (figure 9 of the paper).

A meeting becomes, for either one, an exact stretch of a clip and places of the torso at its beginning and end. Where
its place is free, the one named first goes wherever suits him and the other comes to him; then it is moved to the
middle between where either would have it, and both go on from what they have, a few times over.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Mapping
from dataclasses import dataclass

import numpy as np

from choreograph.base.floor import FloorTransform
from choreograph.base.progress import Progress, silent
from choreograph.graph.model import MotionGraph
from choreograph.verbs.solve.hierarchy import Hierarchy
from choreograph.verbs.solve.meetings import Meetings
from choreograph.verbs.solve.reach import OutOfReach
from choreograph.verbs.solve.request import SolveRequest
from choreograph.verbs.solve.solution import GroupSolution, PathSolution
from choreograph.verbs.solve.solver import SLICE, PathSolver

_LEADS = 4
"""Solutions of the first character from which the others are tried, where a meeting's place is free."""
_ROUNDS = 4
"""How often a free place is moved."""
_GOLDEN = 2.39996
"""The golden angle, radians: places along a spiral by it lie evenly around its middle."""

Work = Generator[None, None, None]
"""A search that comes back after every slice of its work."""


@dataclass(eq=False)
class _Group:
    """One solution for all, with the searches that it came from and the places of the meetings."""

    solvers: dict[str, PathSolver]
    solutions: dict[str, PathSolution]
    places: dict[int, FloorTransform]

    @property
    def cost(self) -> float:
        return sum(solution.cost for solution in self.solutions.values())


class GroupSolver:
    """A search for several people in progress: `advance` goes on for a slice, `answers` gives the best there is."""

    def __init__(
        self,
        request: SolveRequest,
        graphs: Mapping[str, MotionGraph],
        hierarchies: Mapping[str, Hierarchy],
    ) -> None:
        """Prepare a search.

        Args:
            request: What is wanted of each, where they meet, and how long to search for all of them together.
            graphs: Whose clips to make motion of, by character.
            hierarchies: The graphs' hierarchies, by character.

        Raises:
            RequestError: If the request names what does not exist, or a character's exact poses cannot all be met.
        """
        self.request, self.stage = request, Meetings(request, graphs, hierarchies)
        self._people = list(request.characters)
        self._free = any(meeting.place is None for meeting in request.meet) and len(self._people) > 1
        self._first = self.stage.solver(self._people[0], self.stage.places)
        self._groups: list[_Group] = []
        self.scored, self.seconds, self.done = 0, 0.0, False
        """Paths scored, time that took, and whether all has been searched that was to be."""
        self._work = self._search()

    @property
    def evaluations(self) -> int:
        """Paths scored."""
        return self.scored

    @property
    def lowest(self) -> float | None:
        """The least score so far, once there is one for all."""
        return min((group.cost for group in self._groups), default=None)

    def warm_up(self) -> None:
        """Score the first path: that loads or compiles the kernels, before any clock runs."""
        self._first.warm_up()

    def advance(self) -> None:
        """Search on for a slice."""
        self.done = self.done or next(self._work, self) is self

    def answers(self, count: int) -> list[GroupSolution]:
        """The best found so far, best first; where there is none for all yet, others do what they can at once."""
        groups = sorted(self._groups, key=lambda group: group.cost)[:count] or self._hasty()
        return [
            GroupSolution(
                {name: self.stage.part(name, one, group.places) for name, one in group.solutions.items()}, group.cost
            )
            for group in groups
        ]

    def out_of_reach(self, progress: Progress = silent) -> tuple[OutOfReach, ...]:
        """The goals that a character's graph cannot meet, each with the nearest that it can."""
        return tuple(entry for name in self._people for entry in self.stage.limits(name, progress))

    # ------------------------------------------------------------------ inside

    def _search(self) -> Work:
        """All of the search, slice by slice."""
        request, stage, people, first = self.request, self.stage, self._people, self._people[0]
        leads = max(request.count, _LEADS) if self._free else request.count
        share = (0.5 if self._free else 1.0) / len(people)
        yield from self._run(self._first, share / 2)
        groups: list[_Group] = []
        alone: dict[str, PathSolver] = {}
        found: list[tuple[PathSolver, PathSolution]] = []
        yield from self._find_leads(found, leads, share / 2)
        for number, (lead, solution) in enumerate(found):
            group = _Group(
                {first: lead}, {first: solution}, {**stage.places, **stage.places_of(first, solution, stage.places)}
            )
            for name in people[1:]:
                # Without free places what others do does not depend on the first: they are searched for once.
                if self._free or name not in alone:
                    alone[name] = stage.solver(name, group.places)
                    yield from self._run(alone[name], share / leads if self._free else share)
                if not self._join(group, name, alone[name], 0 if self._free else number):
                    break
            if len(group.solutions) == len(people):
                groups.append(group)
                self._groups = groups
        self._groups = sorted(groups, key=lambda group: group.cost)[: request.count]
        if self._free:
            each = 0.5 / (_ROUNDS * len(people) * max(1, len(self._groups)))
            for k in range(len(self._groups)):
                yield from self._bring_together(k, each)

    def _run(self, solver: PathSolver, share: float) -> Work:
        """Run one search for so much of all the time there is."""
        request = self.request
        budget = None if request.work_limit is None else max(1, int(request.work_limit * share))
        solver.warm_up()
        seconds, before = 0.0, solver.evaluations
        while True:
            scored = solver.evaluations - before
            if seconds >= request.time_limit_s * share if budget is None else scored >= budget:
                return
            begun, done = time.monotonic(), solver.evaluations
            solver.advance(SLICE if budget is None else min(SLICE, budget - scored))
            passed = time.monotonic() - begun
            seconds, self.seconds = seconds + passed, self.seconds + passed
            self.scored += solver.evaluations - done
            yield

    def _join(self, group: _Group, name: str, solver: PathSolver, number: int) -> bool:
        """Have a character of a group do the solution of this number, or the last; False if there is none."""
        solutions = solver.answers(number + 1)
        if not solutions:
            return False
        group.solvers[name], group.solutions[name] = solver, solutions[-1]
        group.places |= self.stage.places_of(name, solutions[-1], group.places)
        return True

    def _hasty(self) -> list[_Group]:
        """A group of the first one's best so far and whatever the others can do at once; none if he has nothing."""
        stage, group = self.stage, _Group({}, {}, dict(self.stage.places))
        for name in self._people:
            solver = self._first if name == self._people[0] else stage.solver(name, group.places)
            solver.warm_up()
            if not self._join(group, name, solver, 0):
                return []
        return [group]

    def _find_leads(self, leads: list[tuple[PathSolver, PathSolution]], count: int, share: float) -> Work:
        """Find different motions of the one who leads, each with the search that it is from.

        Who is free to meet anywhere does what is easiest, every time. So if there are too few solutions, he is asked to
        meet at places around that one, farther and farther from it.
        """
        stage, solver, name = self.stage, self._first, self._people[0]
        found = solver.answers(count)
        home = next(iter(stage.places_of(name, found[0], stage.places).items()), None) if found else None
        if len(found) >= count or home is None:
            yield from self._run(solver, share)
            leads += [(solver, solution) for solution in solver.answers(count)]
            return
        meeting, place = home
        leads += [(solver, solution) for solution in found]
        apart = self.request.apart_m
        spots = [stage.spot_of(name, meeting, solution) for solution in found]
        tries = 2 * (count - len(found))
        for k in range(1, tries + 1):
            if len(leads) == count:
                break
            away = 2 * apart * np.sqrt(k) * np.exp(1j * _GOLDEN * k)
            elsewhere = FloorTransform(0.0, float(away.real), float(away.imag)) @ place
            other = solver.with_request(solver.request, stage.person(name, {**stage.places, meeting: elsewhere}))
            yield from self._run(other, share / tries)
            solution = other.answers()[0]
            spot = stage.spot_of(name, meeting, solution)
            if min(abs(spot - one) for one in spots) > apart:
                leads.append((other, solution))
                spots.append(spot)

    def _bring_together(self, number: int, share: float) -> Work:
        """Move the free meetings of a group to where they suit all."""
        for _ in range(_ROUNDS):
            group = self._groups[number]
            places = self.stage.middles(group.solutions, group.places)
            moved = _Group({}, {}, places)
            for name, solver in group.solvers.items():
                moved.solvers[name] = solver.with_request(solver.request, self.stage.person(name, places))
                yield from self._run(moved.solvers[name], share)
                moved.solutions[name] = moved.solvers[name].answers()[0]
            if moved.cost < group.cost:
                self._groups[number] = moved
