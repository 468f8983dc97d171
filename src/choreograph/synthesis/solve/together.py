"""Several people at once: each is solved alone, against constraints that bring them together (figure 9 of the paper).

A meeting becomes, for either one, a hard stretch of his clip and places of the torso at its beginning and end. Where
its place is free, the one named first goes wherever suits him and the other comes to him; then it is moved to the
middle between where either would have it, and both go on from what they have, a few times over.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from choreograph.errors import Cancelled, RequestError
from choreograph.graph.model import MotionGraph
from choreograph.maths.floor import FloorTransform
from choreograph.progress import Progress
from choreograph.synthesis.solve.group import GroupRequest, Meeting
from choreograph.synthesis.solve.hierarchy import Hierarchy
from choreograph.synthesis.solve.prepare import find_hierarchy
from choreograph.synthesis.solve.reach import OutOfReach
from choreograph.synthesis.solve.request import BodyTarget, HardFrame, SolveRequest
from choreograph.synthesis.solve.search import Answer, Solver, SolveSettings
from choreograph.synthesis.solve.terms import find_row

if TYPE_CHECKING:
    from choreograph.finishing.finish import Finished
    from choreograph.finishing.settings import FinishSettings

_LEADS = 4
"""Answers of the first character from which the others are tried, where a meeting's place is free."""
_ROUNDS = 4
"""How often a free place is moved."""
_GOLDEN = 2.39996
"""The golden angle, radians: places along a spiral by it lie evenly around its middle."""


@dataclass(frozen=True, eq=False)
class GroupAnswer:
    """Motions of several people that go together."""

    answers: Mapping[str, Answer]
    """Each one's own; errors at meetings are called "meet[0]"."""
    body: Mapping[str, tuple[BodyTarget, ...]]
    """Where each is to be when, for `finish`; throughout meetings, at every frame of the graph."""
    cost: float
    """Sum of the scores."""

    def finished(self, settings: FinishSettings | None = None) -> dict[str, Finished]:
        """The motions by name; at meetings people are where they should be, however fast they are brought there."""
        from choreograph.finishing.finish import finish
        from choreograph.finishing.settings import FinishSettings

        settings = (settings or FinishSettings()).with_(root_correction_m_s=None)
        return {
            name: finish(answer.splice, settings, name=name, body=self.body[name])
            for name, answer in self.answers.items()
        }


def solve_together(
    graphs: MotionGraph | Mapping[str, MotionGraph],
    request: GroupRequest,
    *,
    count: int = 1,
    seconds: float | None = 3.0,
    evaluations: int | None = None,
    settings: SolveSettings | None = None,
    hierarchies: Mapping[str, Hierarchy] | None = None,
    progress: Progress | None = None,
) -> list[GroupAnswer]:
    """Motions of several people that meet a request as well as could be found in the time given, best first.

    Args:
        graphs: Whose clips to make motion of: one graph for all, or one for each character.
        request: What is wanted.
        count: How many answers at most; they differ in the motion of the first character.
        seconds: How long to search, for all characters together.
        evaluations: How many paths to score at most, likewise; with seconds=None the answers are the same on any
            machine.
        settings: How to search.
        hierarchies: The graphs' cuts by character, if they were found before.
        progress: Hears how far the search for one character has come.

    Raises:
        RequestError: If the request names what does not exist, or somebody's hard frames cannot all be met.
        Cancelled: If `progress` raises it before there is a motion for everybody. Later that ends the search, and what
            there is by then is returned.
    """
    people = list(request.characters)
    each = {name: graphs if isinstance(graphs, MotionGraph) else graphs[name] for name in people}
    cuts = dict(hierarchies or {})
    for name in people:
        shared = next((cuts[other] for other in cuts if each.get(other) is each[name]), None)
        cuts.setdefault(name, shared or find_hierarchy(each[name], progress=progress))
    stage = _Stage(request, each, cuts)
    free = any(meeting.position is None for meeting in request.meetings)
    leads = max(count, _LEADS) if free and len(people) > 1 else count

    stopped = False

    def search(solver: Solver, share: float) -> bool:
        """Run one search for so much of what there is, if nobody has stopped; False if somebody has."""
        nonlocal stopped
        budget = None if evaluations is None else max(1, int(evaluations * share))
        try:
            if stopped:
                solver.run(0.0)
            else:
                solver.run(None if seconds is None else seconds * share, evaluations=budget, progress=progress)
        except Cancelled:
            stopped = True
        return not stopped

    first, share = people[0], (0.5 if free else 1.0) / len(people)
    solver = stage.solver(first, stage.places, settings)
    search(solver, share / 2)
    casts = []
    alone: dict[str, Solver] = {}
    for number, (lead, answer) in enumerate(_find_leads(stage, first, solver, leads, search, share / 2)):
        cast = _Cast({first: lead}, {first: answer}, {**stage.places, **stage.places_of(first, answer, stage.places)})
        for name in people[1:]:
            # Without free places what others do does not depend on the first: they are searched for once.
            if free or name not in alone:
                alone[name] = stage.solver(name, cast.places, settings)
                search(alone[name], share / leads if free else share)
            answers = alone[name].answers(1 if free else number + 1)
            if not answers:
                break
            cast.solvers[name], cast.answers[name] = alone[name], answers[-1]
            cast.places |= stage.places_of(name, answers[-1], cast.places)
        if len(cast.answers) == len(people):
            casts.append(cast)
    casts = sorted(casts, key=lambda cast: cast.cost)[:count]
    if free and len(people) > 1:
        each_share = 0.5 / (_ROUNDS * len(people) * max(1, len(casts)))
        casts = sorted((_brought_together(stage, cast, search, each_share) for cast in casts), key=lambda c: c.cost)
    if stopped and not casts:
        raise Cancelled
    return [stage.answer(cast) for cast in casts]


def find_group_limits(
    graphs: Mapping[str, MotionGraph], request: GroupRequest, hierarchies: Mapping[str, Hierarchy]
) -> tuple[OutOfReach, ...]:
    """The soft constraints of several people that their graphs cannot meet, each with the nearest that they can."""
    stage = _Stage(request, graphs, hierarchies)
    return tuple(entry for name in request.characters for entry in stage.limits(name))


@dataclass(eq=False)
class _Cast:
    """One answer for all, with the searches that it came from and the places of the meetings."""

    solvers: dict[str, Solver]
    answers: dict[str, Answer]
    places: dict[int, FloorTransform]

    @property
    def cost(self) -> float:
        return sum(answer.cost for answer in self.answers.values())


def _find_leads(
    stage: _Stage, name: str, solver: Solver, count: int, search: Callable[[Solver, float], bool], share: float
) -> list[tuple[Solver, Answer]]:
    """Different motions of the one who leads, each with the search that it is from.

    Who is free to meet anywhere does what is easiest, every time. So if there are too few answers, he is asked to meet
    at places around that one, farther and farther from it.
    """
    found = solver.answers(count)
    home = next(iter(stage.places_of(name, found[0], stage.places).items()), None) if found else None
    if len(found) >= count or home is None:
        search(solver, share)
        return [(solver, answer) for answer in solver.answers(count)]
    meeting, place = home
    leads, apart = [(solver, answer) for answer in found], solver.settings.apart_m
    spots = [stage.spot_of(name, meeting, answer) for answer in found]
    tries = 2 * (count - len(found))
    for k in range(1, tries + 1):
        if len(leads) == count:
            break
        away = 2 * apart * np.sqrt(k) * np.exp(1j * _GOLDEN * k)
        elsewhere = FloorTransform(0.0, float(away.real), float(away.imag)) @ place
        other = solver.with_request(stage.asked(name, {**stage.places, meeting: elsewhere}))
        if not search(other, share / tries):
            break
        answer = other.answers()[0]
        spot = stage.spot_of(name, meeting, answer)
        if min(abs(spot - one) for one in spots) > apart:
            leads.append((other, answer))
            spots.append(spot)
    return leads


def _brought_together(stage: _Stage, cast: _Cast, search: Callable[[Solver, float], bool], share: float) -> _Cast:
    """A cast whose free meetings have moved to where they suit all."""
    for _ in range(_ROUNDS):
        places = stage.middles(cast)
        moved = _Cast({}, {}, places)
        for name, solver in cast.solvers.items():
            moved.solvers[name] = solver.with_request(stage.asked(name, places))
            if not search(moved.solvers[name], share):
                return cast
            moved.answers[name] = moved.solvers[name].answers()[0]
        if moved.cost < cast.cost:
            cast = moved
    return cast


class _Stage:
    """Where and how people meet.

    A meeting's place is the transform that lays the first one's clip on the floor.
    """

    def __init__(self, request: GroupRequest, graphs: Mapping[str, MotionGraph], cuts: Mapping[str, Hierarchy]) -> None:
        self.request, self.graphs, self.cuts = request, graphs, cuts
        for name in request.characters:
            self._check(name)
        self.places = {
            n: FloorTransform(m.facing, *m.position) @ self._torso(n, 0, 0).inverse()
            for n, m in enumerate(request.meetings)
            if m.position is not None
        }
        """Those that are given."""

    def solver(self, name: str, places: Mapping[int, FloorTransform], settings: SolveSettings | None) -> Solver:
        """The search for one character, with the places of meetings that are known."""
        try:
            return Solver(self.graphs[name], self.asked(name, places), settings, hierarchy=self.cuts[name])
        except RequestError as error:
            raise RequestError(self._in_request(name, places, str(error))) from None

    def _check(self, name: str) -> None:
        """Raise a RequestError if one's meetings name what does not exist, or clash with where he is to be."""
        body = self.request.characters[name].body
        taken = {target.at_s: f"characters.{name}.body[{n}]" for n, target in enumerate(body)}
        for n, k, meeting in self._own(name):
            self._row(n, k)
            ends = self._ends(name, meeting)
            for at_s in ends:
                if at_s in taken:
                    raise RequestError(
                        f"meet[{n}].at_s is {meeting.at_s:g}: it says where {name} is at {at_s:g} s, and {taken[at_s]} "
                        "does so too; move or drop one"
                    )
            taken |= dict.fromkeys(ends, f"meet[{n}]")

    def _in_request(self, name: str, places: Mapping[int, FloorTransform], message: str) -> str:
        """What is said about one's search, in the words of the group's request."""
        own = self.request.characters[name].frames
        hard = [(frame.at_s, f"frames[{n}]") for n, frame in enumerate(own)]
        hard += [(meeting.at_s, f"meet[{n}]") for n, _, meeting in self._own(name)]
        hard.sort(key=lambda pair: pair[0])
        names = {**self._names(name, places), **{f"frames[{n}]": called for n, (_, called) in enumerate(hard)}}

        def full(match: re.Match[str]) -> str:
            called = names.get(match[0], match[0])
            return called if called.startswith("meet") else f"characters.{name}.{called}"

        words = re.sub(r"(?:body|joints|poses|frames|labels|functions)\[\d+\]", full, message)
        return f"characters.{name}: {message}" if words == message else words

    def asked(self, name: str, places: Mapping[int, FloorTransform]) -> SolveRequest:
        """What one character is asked for, with the meetings as hard frames and places of the body."""
        own = self.request.characters[name]
        hard = [HardFrame(m.at_s, m.clips[k], m.frames[k], m.lasts_s) for _, k, m in self._own(name)]
        frames = tuple(sorted((*own.frames, *hard), key=lambda frame: frame.at_s))
        return replace(own, body=self.body(name, places), frames=frames)

    def body(self, name: str, places: Mapping[int, FloorTransform], *, dense: bool = False) -> tuple[BodyTarget, ...]:
        """Where one is to be when: his own constraints and both ends of his meetings, or every frame of them."""
        targets = [(target.at_s, target) for target in self.request.characters[name].body]
        rate = self.graphs[name].rate_hz
        for n, k, meeting in self._own(name):
            if n not in places:
                continue
            last = round(meeting.lasts_s * rate)
            for step in range(last + 1) if dense else sorted({0, last}):
                torso = self._lying(n, k, places[n]) @ self._torso(n, k, step)
                at_s = (round(meeting.at_s * rate) + step) / rate
                targets.append((at_s, BodyTarget(at_s, (float(torso.x), float(torso.z)), float(torso.yaw))))
        return tuple(target for _, target in sorted(targets, key=lambda pair: pair[0]))

    def places_of(self, name: str, answer: Answer, known: Mapping[int, FloorTransform]) -> dict[int, FloorTransform]:
        """Where the meetings of which the place was not known take place if one moves like this."""
        return {n: self._place_in(n, k, answer) for n, k, _ in self._own(name) if n not in known}

    def spot_of(self, name: str, meeting: int, answer: Answer) -> complex:
        """Where on the floor one is when a meeting begins if he moves like this, x + iz."""
        which = self.request.meetings[meeting].who.index(name)
        torso = self._lying(meeting, which, self._place_in(meeting, which, answer)) @ self._torso(meeting, which, 0)
        return complex(torso.x, torso.z)

    def middles(self, cast: _Cast) -> dict[int, FloorTransform]:
        """The places of all meetings, free ones in the middle between where either of the two would have them."""
        places = dict(cast.places)
        for n, meeting in enumerate(self.request.meetings):
            if meeting.position is None:
                torso = self._torso(n, 0, 0)
                both = [self._place_in(n, k, cast.answers[name]) @ torso for k, name in enumerate(meeting.who)]
                yaw = float(np.angle(sum(np.exp(1j * place.yaw) for place in both)))
                x, z = (sum(getattr(place, axis) for place in both) / 2 for axis in ("x", "z"))
                places[n] = FloorTransform(yaw, x, z) @ torso.inverse()
        return places

    def answer(self, cast: _Cast) -> GroupAnswer:
        """What is given to the user of a cast."""
        answers = {name: self._renamed(name, cast.places, answer) for name, answer in cast.answers.items()}
        body = {name: self.body(name, cast.places, dense=True) for name in answers}
        return GroupAnswer(answers, body, cast.cost)

    def _place_in(self, n: int, which: int, answer: Answer) -> FloorTransform:
        """The place of a meeting if the first (0) or second (1) of the two moves like this."""
        splice = answer.splice
        first = np.concatenate([[0], np.cumsum(splice.piece_frames)])
        time = round(self.request.meetings[n].at_s * splice.graph.rate_hz)
        piece = int(np.searchsorted(first, time, side="right")) - 1
        lying = FloorTransform(*(float(getattr(splice.placements, axis)[piece]) for axis in ("yaw", "x", "z")))
        return lying @ self._lying(n, which, FloorTransform()).inverse()

    def limits(self, name: str) -> tuple[OutOfReach, ...]:
        """What one character is asked for that his graph cannot do, as far as the places of meetings are given."""
        names = self._names(name, self.places)
        found = []
        for entry in self.solver(name, self.places, None).out_of_reach():
            words = re.sub(r"body\[\d+\]", lambda match: names[match[0]], entry.message)
            constraint = f"characters.{name}.{names.get(entry.constraint, entry.constraint)}"
            found.append(replace(entry, constraint=constraint, message=f"characters.{name}: {words}"))
        return tuple(found)

    def _renamed(self, name: str, places: Mapping[int, FloorTransform], answer: Answer) -> Answer:
        """An answer, with errors at meetings under the meetings' names."""
        names = self._names(name, places)
        errors = tuple(replace(e, constraint=names.get(e.constraint, e.constraint)) for e in answer.errors)
        return replace(answer, errors=errors)

    def _names(self, name: str, places: Mapping[int, FloorTransform]) -> dict[str, str]:
        """What the constraints that a search for one calls body[0] … are called in the group's request."""
        own = {target.at_s for target in self.request.characters[name].body}
        names, number, rate = {}, 0, self.graphs[name].rate_hz
        for n, target in enumerate(self.body(name, places)):
            if target.at_s in own:
                names[f"body[{n}]"] = f"body[{number}]"
                number += 1
            else:
                held = (m for m, _, meeting in self._own(name) if self._holds(meeting, target.at_s, rate))
                names[f"body[{n}]"] = f"meet[{next(held)}]"
        return names

    @staticmethod
    def _holds(meeting: Meeting, at_s: float, rate: float) -> bool:
        return meeting.at_s - 1 / rate <= at_s <= meeting.at_s + meeting.lasts_s + 1 / rate

    def _own(self, name: str) -> list[tuple[int, int, Meeting]]:
        """The meetings of one character: their number, whether he is the first (0) or second (1) named, and they."""
        return [(n, m.who.index(name), m) for n, m in enumerate(self.request.meetings) if name in m.who]

    def _torso(self, meeting: int, which: int, step: int) -> FloorTransform:
        """Where the torso of one of the two is in his recording, so many frames into the meeting."""
        m = self.request.meetings[meeting]
        name = m.who[which]
        frames = self.cuts[name].frames
        row = self._row(meeting, which)
        row = min(row + step, int(frames.base[frames.clip_of[row] + 1]) - 2)
        place = frames.place[row]
        return FloorTransform(float(-np.angle(frames.turn[row])), float(place.real), float(place.imag))

    def _row(self, meeting: int, which: int) -> int:
        """The row of the frame that one of the two shows first."""
        m = self.request.meetings[meeting]
        name = m.who[which]
        try:
            return find_row(self.graphs[name], self.cuts[name].frames, m.clips[which], m.frames[which], "meet")
        except RequestError as error:
            words = re.sub(r"^meet\.(clip|frame)", rf"meet[{meeting}].\1s[{which}]", str(error))
            raise RequestError(words) from None

    def _ends(self, name: str, meeting: Meeting) -> list[float]:
        """When one's meeting begins and ends, at frames of his graph."""
        rate = self.graphs[name].rate_hz
        first = round(meeting.at_s * rate)
        return [step / rate for step in sorted({first, first + round(meeting.lasts_s * rate)})]

    def _lying(self, meeting: int, which: int, place: FloorTransform) -> FloorTransform:
        """How the clip of one of the two lies on the floor, if the first one's lies at the place."""
        offset = self.request.meetings[meeting].offset
        if which == 0 or offset is None:
            return place  # both clips share one world
        left, ahead, turned = offset
        there = place @ self._torso(meeting, 0, 0) @ FloorTransform(turned, left, ahead)
        return there @ self._torso(meeting, 1, 0).inverse()
