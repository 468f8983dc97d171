"""Where and how people meet: the meetings of each as goals of a search, and what comes of it as places."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from choreograph.base.errors import RequestError
from choreograph.base.floor import FloorTransform
from choreograph.base.progress import Progress, silent
from choreograph.finishing.body import RootTarget
from choreograph.goals.model import PlaceGoal, PoseGoal
from choreograph.graph.model import MotionGraph
from choreograph.verbs.solve.hierarchy import Hierarchy
from choreograph.verbs.solve.person import Located, Person
from choreograph.verbs.solve.reach import OutOfReach
from choreograph.verbs.solve.request import Meeting, SolveRequest
from choreograph.verbs.solve.solution import MeetingGoal, PathSolution, PersonSolution
from choreograph.verbs.solve.solver import PathSolver
from choreograph.verbs.solve.terms import find_row

Places = Mapping[int, FloorTransform]
"""Where meetings take place, by their number."""


class Meetings:
    """Where and how people meet.

    A meeting's place is the transform that lays the first one's clip on the floor.
    """

    def __init__(
        self, request: SolveRequest, graphs: Mapping[str, MotionGraph], hierarchies: Mapping[str, Hierarchy]
    ) -> None:
        self.request, self.graphs, self.hierarchies = request, graphs, hierarchies
        self.alone = {name: request.alone(name) for name in request.characters}
        """What each is asked for besides meeting,"""
        self.own = {name: request.person(name) for name in request.characters}
        """and its goals by kind."""
        for name in self.own:
            self._check(name)
        self.places = {
            n: FloorTransform(m.facing or 0.0, *m.place) @ self._torso(n, 0, 0).inverse()
            for n, m in enumerate(request.meet)
            if m.place is not None
        }
        """Those that are given."""

    def solver(self, name: str, places: Places) -> PathSolver:
        """The search for one character, with the places of meetings that are known."""
        graph, hierarchy, person = self.graphs[name], self.hierarchies[name], self.person(name, places)
        try:
            return PathSolver(graph, self.alone[name], hierarchy=hierarchy, person=person)
        except RequestError as error:
            text, where = str(error), f"characters.{name}"
            raise RequestError(text if where in text or "meet[" in text else f"{where}: {text}") from None

    def _check(self, name: str) -> None:
        """Raise a RequestError if one's meetings name what does not exist, or clash with where one is to be."""
        taken = {goal.at_s: where for where, goal in self.own[name].places}
        for n, k, meeting in self._of(name):
            self._row(n, k)
            ends = self._ends(name, meeting)
            for at_s in ends:
                if at_s in taken:
                    raise RequestError(
                        f"meet[{n}].at_s is {meeting.at_s:g}: it gives the place of {name} at {at_s:g} s, and "
                        f"{taken[at_s]} does so too; move or drop one"
                    )
            taken |= dict.fromkeys(ends, f"meet[{n}]")

    def person(self, name: str, places: Places) -> Person:
        """What one character is asked for, with the meetings as exact poses, and places at both of their ends."""
        own = self.own[name]
        exact = sorted((*own.exact, *(self._pose(n, k) for n, k, _ in self._of(name))), key=lambda g: g.value.span[0])
        goals = [
            Located(
                f"meet[{n}]",
                PlaceGoal(
                    at_s=one.at_s,
                    place=one.position,
                    facing_deg=None if one.facing is None else float(np.degrees(one.facing)),
                ),
            )
            for n, targets in self._targets(name, places)
            for one in targets
        ]
        placed = sorted((*own.places, *goals), key=lambda one: one.value.span[0])
        return replace(own, places=tuple(placed), exact=tuple(exact))

    def _targets(self, name: str, places: Places, *, dense: bool = False) -> list[tuple[int, list[RootTarget]]]:
        """Where one is at both ends of each meeting whose place is known, or at every frame of it."""
        rate, out = self.graphs[name].rate_hz, []
        for n, k, meeting in self._of(name):
            if n in places:
                first, last = round(meeting.at_s * rate), round(meeting.duration_s * rate)
                steps = range(last + 1) if dense else sorted({0, last})
                out.append((n, [self._target(name, n, k, places[n], first + step) for step in steps]))
        return out

    def _target(self, name: str, n: int, which: int, place: FloorTransform, frame: int) -> RootTarget:
        rate, meeting = self.graphs[name].rate_hz, self.request.meet[n]
        torso = self._lying(n, which, place) @ self._torso(n, which, frame - meeting.at_s * rate)
        return RootTarget(frame / rate, (float(torso.x), float(torso.z)), float(torso.yaw))

    def places_of(self, name: str, solution: PathSolution, known: Places) -> dict[int, FloorTransform]:
        """Where the meetings of which the place was not known take place if one moves like this."""
        return {n: self._place_in(n, k, solution) for n, k, _ in self._of(name) if n not in known}

    def spot_of(self, name: str, meeting: int, solution: PathSolution) -> complex:
        """Where on the floor one is when a meeting begins if one moves like this, x + iz."""
        which = self.request.meet[meeting].who.index(name)
        torso = self._lying(meeting, which, self._place_in(meeting, which, solution)) @ self._torso(meeting, which, 0)
        return complex(torso.x, torso.z)

    def middles(self, solutions: Mapping[str, PathSolution], known: Places) -> dict[int, FloorTransform]:
        """The places of all meetings, free ones in the middle between where either of the two would have them."""
        places = dict(known)
        for n, meeting in enumerate(self.request.meet):
            if meeting.place is None:
                torso = self._torso(n, 0, 0)
                both = [self._place_in(n, k, solutions[name]) @ torso for k, name in enumerate(meeting.who)]
                yaw = float(np.angle(sum(np.exp(1j * place.yaw) for place in both)))
                x, z = (sum(getattr(place, axis) for place in both) / 2 for axis in ("x", "z"))
                places[n] = FloorTransform(yaw, x, z) @ torso.inverse()
        return places

    def part(self, name: str, solution: PathSolution, places: Places) -> PersonSolution:
        """What one character does."""
        rate, own = self.graphs[name].rate_hz, self.own[name]
        dense = [one for _, targets in self._targets(name, places, dense=True) for one in targets]
        meetings = tuple(
            MeetingGoal(self._pose(n, k), self._target(name, n, k, places[n], round(m.at_s * rate)))
            for n, k, m in self._of(name)
        )
        body = sorted((*own.body, *dense), key=lambda target: target.at_s)
        return PersonSolution(solution, self.alone[name], own, tuple(body), name, meetings)

    def _place_in(self, n: int, which: int, solution: PathSolution) -> FloorTransform:
        """The place of a meeting if the first (0) or second (1) of the two moves like this."""
        splice = solution.splice
        first = np.concatenate([[0], np.cumsum(splice.piece_frames)])
        time = round(self.request.meet[n].at_s * splice.graph.rate_hz)
        piece = int(np.searchsorted(first, time, side="right")) - 1
        lying = FloorTransform(*(float(getattr(splice.placements, axis)[piece]) for axis in ("yaw", "x", "z")))
        return lying @ self._lying(n, which, FloorTransform()).inverse()

    def limits(self, name: str, progress: Progress = silent) -> tuple[OutOfReach, ...]:
        """What one character's graph cannot do of its goals, as far as the places of meetings are given."""
        return self.solver(name, self.places).out_of_reach(progress)

    def _pose(self, n: int, which: int) -> Located[PoseGoal]:
        """What one of the two shows when they meet."""
        meeting = self.request.meet[n]
        goal = PoseGoal(at_s=meeting.at_s, pose=meeting.poses[which], exact=True, duration_s=meeting.duration_s)
        return Located(f"meet[{n}]", goal)

    def _of(self, name: str) -> list[tuple[int, int, Meeting]]:
        """The meetings of one character: their number, whether it is the first (0) or second (1) named, and they."""
        return [(n, m.who.index(name), m) for n, m in enumerate(self.request.meet) if name in m.who]

    def _torso(self, meeting: int, which: int, step: float) -> FloorTransform:
        """Where the torso of one of the two is in the recording, so many of the graph's frames into the meeting."""
        m = self.request.meet[meeting]
        name = m.who[which]
        frames, graph = self.hierarchies[name].frames, self.graphs[name]
        clip = int(frames.clip_of[self._row(meeting, which)])
        first, last = int(frames.base[clip]), int(frames.base[clip + 1]) - 2
        row = first + m.poses[which].frame * frames.rate_hz / graph.infos[clip].fps + step
        low = int(np.clip(np.floor(row), first, max(last - 1, first)))
        high, share = min(low + 1, last), float(np.clip(row - low, 0.0, 1.0))
        place = (1 - share) * frames.place[low] + share * frames.place[high]
        turn = (1 - share) * frames.turn[low] + share * frames.turn[high]
        return FloorTransform(float(-np.angle(turn)), float(place.real), float(place.imag))

    def _row(self, meeting: int, which: int) -> int:
        """The row of the frame that one of the two shows first."""
        m = self.request.meet[meeting]
        name = m.who[which]
        frames, where = self.hierarchies[name].frames, f"meet[{meeting}].poses[{which}]"
        return find_row(self.graphs[name], frames, m.poses[which], where)

    def _ends(self, name: str, meeting: Meeting) -> list[float]:
        """When one's meeting begins and ends, at frames of the graph."""
        rate = self.graphs[name].rate_hz
        first = round(meeting.at_s * rate)
        return [step / rate for step in sorted({first, first + round(meeting.duration_s * rate)})]

    def _lying(self, meeting: int, which: int, place: FloorTransform) -> FloorTransform:
        """How the clip of one of the two lies on the floor, if the first one's lies at the place."""
        offset = self.request.meet[meeting].offset
        if which == 0 or offset is None:
            return place  # both clips share one world
        there = place @ self._torso(meeting, 0, 0) @ FloorTransform(offset.turned, offset.left_m, offset.ahead_m)
        return there @ self._torso(meeting, 1, 0).inverse()
