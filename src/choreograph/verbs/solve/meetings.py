"""Where and how people meet: one's meetings as constraints of his own search, and what comes of it as places."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from choreograph.base.errors import RequestError
from choreograph.base.floor import FloorTransform
from choreograph.base.progress import Progress, silent
from choreograph.finishing.body import RootTarget
from choreograph.graph.model import MotionGraph
from choreograph.verbs.solve.constraints import BodyTarget, HardFrame
from choreograph.verbs.solve.hierarchy import Hierarchy
from choreograph.verbs.solve.reach import OutOfReach
from choreograph.verbs.solve.request import Meeting, SolveRequest
from choreograph.verbs.solve.solution import Attended, Part, Solution
from choreograph.verbs.solve.solver import Solver
from choreograph.verbs.solve.terms import find_row

Places = Mapping[int, FloorTransform]
"""Where meetings take place, by their number."""


class Stage:
    """Where and how people meet.

    A meeting's place is the transform that lays the first one's clip on the floor.
    """

    def __init__(
        self, request: SolveRequest, graphs: Mapping[str, MotionGraph], hierarchies: Mapping[str, Hierarchy]
    ) -> None:
        self.request, self.graphs, self.hierarchies = request, graphs, hierarchies
        self.own = {name: request.alone(name) for name in request.characters}
        """What each is asked for besides meeting."""
        for name in self.own:
            self._check(name)
        self.places = {
            n: FloorTransform(m.facing or 0.0, *m.position) @ self._torso(n, 0, 0).inverse()
            for n, m in enumerate(request.meet)
            if m.position is not None
        }
        """Those that are given."""

    def solver(self, name: str, places: Places) -> Solver:
        """The search for one character, with the places of meetings that are known."""
        try:
            return Solver(self.graphs[name], self.asked(name, places), hierarchy=self.hierarchies[name])
        except RequestError as error:
            raise RequestError(self._in_request(name, places, str(error))) from None

    def _check(self, name: str) -> None:
        """Raise a RequestError if one's meetings name what does not exist, or clash with where he is to be."""
        body = self.own[name].body
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

    def _in_request(self, name: str, places: Places, message: str) -> str:
        """What is said about one's search, in the words of the group's request."""
        own = self.own[name].frames
        hard = [(frame.at_s, f"frames[{n}]") for n, frame in enumerate(own)]
        hard += [(meeting.at_s, f"meet[{n}]") for n, _, meeting in self._own(name)]
        hard.sort(key=lambda pair: pair[0])
        names = {**self._names(name, places), **{f"frames[{n}]": called for n, (_, called) in enumerate(hard)}}

        def full(match: re.Match[str]) -> str:
            called = names.get(match[0], match[0])
            return called if called.startswith("meet") else f"characters.{name}.{called}"

        words = re.sub(r"(?:body|joints|poses|frames|labels|functions)\[\d+\]", full, message)
        return f"characters.{name}: {message}" if words == message else words

    def asked(self, name: str, places: Places) -> SolveRequest:
        """What one character is asked for, with the meetings as hard frames and places of the body."""
        own = self.own[name]
        hard = [self._hard(m, k) for _, k, m in self._own(name)]
        frames = tuple(sorted((*own.frames, *hard), key=lambda frame: frame.at_s))
        body = [
            target
            if isinstance(target, BodyTarget)
            else BodyTarget(at_s=target.at_s, position=target.position, facing_deg=_degrees(target.facing))
            for target in self.body(name, places)
        ]
        return own.with_(body=body, frames=frames)

    def body(self, name: str, places: Places, *, dense: bool = False) -> tuple[BodyTarget | RootTarget, ...]:
        """Where one is to be when: his own constraints and both ends of his meetings, or every frame of them."""
        targets: list[BodyTarget | RootTarget] = [*self.own[name].body]
        rate = self.graphs[name].rate_hz
        for n, k, meeting in self._own(name):
            if n not in places:
                continue
            last = round(meeting.lasts_s * rate)
            for step in range(last + 1) if dense else sorted({0, last}):
                frame = round(meeting.at_s * rate) + step
                torso = self._lying(n, k, places[n]) @ self._torso(n, k, frame - meeting.at_s * rate)
                at_s = frame / rate
                targets.append(RootTarget(at_s, (float(torso.x), float(torso.z)), float(torso.yaw)))
        return tuple(sorted(targets, key=lambda target: target.at_s))

    def places_of(self, name: str, solution: Solution, known: Places) -> dict[int, FloorTransform]:
        """Where the meetings of which the place was not known take place if one moves like this."""
        return {n: self._place_in(n, k, solution) for n, k, _ in self._own(name) if n not in known}

    def spot_of(self, name: str, meeting: int, solution: Solution) -> complex:
        """Where on the floor one is when a meeting begins if he moves like this, x + iz."""
        which = self.request.meet[meeting].who.index(name)
        torso = self._lying(meeting, which, self._place_in(meeting, which, solution)) @ self._torso(meeting, which, 0)
        return complex(torso.x, torso.z)

    def middles(self, solutions: Mapping[str, Solution], known: Places) -> dict[int, FloorTransform]:
        """The places of all meetings, free ones in the middle between where either of the two would have them."""
        places = dict(known)
        for n, meeting in enumerate(self.request.meet):
            if meeting.position is None:
                torso = self._torso(n, 0, 0)
                both = [self._place_in(n, k, solutions[name]) @ torso for k, name in enumerate(meeting.who)]
                yaw = float(np.angle(sum(np.exp(1j * place.yaw) for place in both)))
                x, z = (sum(getattr(place, axis) for place in both) / 2 for axis in ("x", "z"))
                places[n] = FloorTransform(yaw, x, z) @ torso.inverse()
        return places

    def part(self, name: str, solution: Solution, places: Places) -> Part:
        """What one does, with errors at meetings under the meetings' names."""
        names = self._names(name, places)
        errors = tuple(replace(e, constraint=names.get(e.constraint, e.constraint)) for e in solution.errors)
        body, rate = self.body(name, places, dense=True), self.graphs[name].rate_hz
        meetings = []
        for n, k, m in self._own(name):
            torso = self._lying(n, k, places[n]) @ self._torso(n, k, round(m.at_s * rate) - m.at_s * rate)
            place = RootTarget(round(m.at_s * rate) / rate, (float(torso.x), float(torso.z)), float(torso.yaw))
            meetings.append(Attended(f"meet[{n}]", self._hard(m, k), place))
        return Part(replace(solution, errors=errors), self.own[name], body, f"characters.{name}.", tuple(meetings))

    def _place_in(self, n: int, which: int, solution: Solution) -> FloorTransform:
        """The place of a meeting if the first (0) or second (1) of the two moves like this."""
        splice = solution.splice
        first = np.concatenate([[0], np.cumsum(splice.piece_frames)])
        time = round(self.request.meet[n].at_s * splice.graph.rate_hz)
        piece = int(np.searchsorted(first, time, side="right")) - 1
        lying = FloorTransform(*(float(getattr(splice.placements, axis)[piece]) for axis in ("yaw", "x", "z")))
        return lying @ self._lying(n, which, FloorTransform()).inverse()

    def limits(self, name: str, progress: Progress = silent) -> tuple[OutOfReach, ...]:
        """What one character is asked for that his graph cannot do, as far as the places of meetings are given."""
        names = self._names(name, self.places)
        found = []
        for entry in self.solver(name, self.places).out_of_reach(progress):
            words = re.sub(r"body\[\d+\]", lambda match: names[match[0]], entry.message)
            constraint = f"characters.{name}.{names.get(entry.constraint, entry.constraint)}"
            found.append(replace(entry, constraint=constraint, message=f"characters.{name}: {words}"))
        return tuple(found)

    def _names(self, name: str, places: Places) -> dict[str, str]:
        """What the constraints that a search for one calls body[0] … are called in the group's request."""
        own = {target.at_s for target in self.own[name].body}
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
    def _hard(meeting: Meeting, which: int) -> HardFrame:
        """What one of the two shows when they meet."""
        return HardFrame(
            at_s=meeting.at_s, clip=meeting.clips[which], frame=meeting.frames[which], lasts_s=meeting.lasts_s
        )

    @staticmethod
    def _holds(meeting: Meeting, at_s: float, rate: float) -> bool:
        return meeting.at_s - 1 / rate <= at_s <= meeting.at_s + meeting.lasts_s + 1 / rate

    def _own(self, name: str) -> list[tuple[int, int, Meeting]]:
        """The meetings of one character: their number, whether he is the first (0) or second (1) named, and they."""
        return [(n, m.who.index(name), m) for n, m in enumerate(self.request.meet) if name in m.who]

    def _torso(self, meeting: int, which: int, step: float) -> FloorTransform:
        """Where the torso of one of the two is in his recording, so many of the graph's frames into the meeting."""
        m = self.request.meet[meeting]
        name = m.who[which]
        frames, graph = self.hierarchies[name].frames, self.graphs[name]
        clip = int(frames.clip_of[self._row(meeting, which)])
        first, last = int(frames.base[clip]), int(frames.base[clip + 1]) - 2
        row = first + m.frames[which] * frames.rate_hz / graph.infos[clip].fps + step
        low = int(np.clip(np.floor(row), first, max(last - 1, first)))
        high, share = min(low + 1, last), float(np.clip(row - low, 0.0, 1.0))
        place = (1 - share) * frames.place[low] + share * frames.place[high]
        turn = (1 - share) * frames.turn[low] + share * frames.turn[high]
        return FloorTransform(float(-np.angle(turn)), float(place.real), float(place.imag))

    def _row(self, meeting: int, which: int) -> int:
        """The row of the frame that one of the two shows first."""
        m = self.request.meet[meeting]
        name = m.who[which]
        try:
            return find_row(self.graphs[name], self.hierarchies[name].frames, m.clips[which], m.frames[which], "meet")
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
        offset = self.request.meet[meeting].offset
        if which == 0 or offset is None:
            return place  # both clips share one world
        there = place @ self._torso(meeting, 0, 0) @ FloorTransform(offset.turned, offset.left, offset.ahead)
        return there @ self._torso(meeting, 1, 0).inverse()


def _degrees(radians: float | None) -> float | None:
    return None if radians is None else math.degrees(radians)
