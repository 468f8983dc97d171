"""Solutions as answers: finished, measured, with all that is to be said about them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from choreograph.contract.problem import Problem
from choreograph.contract.result import Answer, Metric, Motion, source_runs
from choreograph.finishing.finish import Finished, finish
from choreograph.finishing.foot_contacts import plant_speed
from choreograph.finishing.settings import FinishSettings
from choreograph.verbs.solve.measure import TorsoTrack, body_gap
from choreograph.verbs.solve.problems import MISS_M, find_problems
from choreograph.verbs.solve.reach import OutOfReach
from choreograph.verbs.solve.solution import GroupSolution, PersonSolution

PATH_EVERY_S = 0.1
"""Seconds between the points of the way on the floor that belongs to an answer."""
MEETING_GLIDE_M_S = 1.0
"""The fastest that somebody glides to where he meets another: two who miss each other show more than one who glides.
It is a problem all the same, and nobody does so who does not get there."""
WORSE, _WORSE_BY = 10.0, 1.0
"""An answer whose score is so many times the best one's, and so much more, is far worse: a torso 30 cm off before its
steps are bent costs as much."""


@dataclass(frozen=True, eq=False)
class FinishedPart:
    """A part as finished motion."""

    finished: Finished
    track: TorsoTrack
    motion: Motion

    @classmethod
    def of(cls, part: PersonSolution, settings: FinishSettings) -> FinishedPart:
        """The motion that comes of a part of an answer."""

        def made_with(settings: FinishSettings) -> Finished:
            splice, joints = part.solution.splice, [goal for _, goal in part.person.joints]
            return finish(splice, settings, name=part.name or "motion", body=part.body, joints=joints)  # type: ignore[arg-type]

        made = made_with(settings)
        most = settings.root_correction_m_s
        if part.meetings and most is not None and max((*made.missed_m, *made.missed_rad), default=0.0) > 1e-6:
            glides = made_with(settings.with_(root_correction_m_s=max(most, MEETING_GLIDE_M_S)))
            # Who does not get there gliding either need not glide.
            made = glides if max(glides.missed_m) < MISS_M else made
        return cls(
            made, TorsoTrack(made.clip), Motion(made.clip, source_runs(made.origins, made.origins.names), made.raw)
        )


def make_answer(
    cast: GroupSolution, shown: Mapping[str, FinishedPart], limits: Sequence[OutOfReach], status: str
) -> Answer:
    """An answer of finished motions.

    Args:
        cast: What was found.
        shown: The same as motion, by person.
        limits: What is known to be out of reach.
        status: How far the search has come.
    """
    pairs = [(name, part, shown[name]) for name, part in cast.parts.items()]
    problems: list[Problem] = []
    for _, part, each in pairs:
        problems += find_problems(part, each.track, each.finished, limits)
    first = pairs[0][2].track
    way = first.torso[:: max(1, round(PATH_EVERY_S * first.clip.fps))]
    people = {name: _facts(part) for name, part, _ in pairs}
    return Answer(
        tuple(each.motion for _, _, each in pairs),
        "; ".join(f"{name}: {_name(part, each)}" if name else _name(part, each) for name, part, each in pairs),
        _metrics(cast, shown),
        tuple(problems),
        status,
        cast.cost,
        path=[(round(float(at.real), 3), round(float(at.imag), 3)) for at in way],
        details=people.get("", {"score": cast.cost, "characters": people}),
    )


def _name(part: PersonSolution, shown: FinishedPart) -> str:
    pieces = len(part.solution.splice.clip)
    return f"{shown.track.way:.1f} m, {pieces} piece{'' if pieces == 1 else 's'}"


def _metrics(cast: GroupSolution, shown: Mapping[str, FinishedPart]) -> dict[str, Metric]:
    """How good an answer is: of several people, the worst of each."""
    clips = [each.motion.clip for each in shown.values()]
    pieces = [len(part.solution.splice.clip) for part in cast.parts.values()]
    metrics = {
        "score": Metric(cast.cost, "points", "score"),
        "seconds": Metric(clips[0].seconds, "s", "lasts"),
    }
    targets = [(each.track, target) for name, each in shown.items() for target in cast.parts[name].body]
    if targets:
        gaps = [body_gap(track, target) for track, target in targets]
        errors = [error for part in cast.parts.values() for error in part.solution.errors]
        places = {where for part in cast.parts.values() for where, _ in part.person.places}
        brought = [one.metres or 0.0 for one in errors if one.where in places or one.where.startswith("meet")]
        metrics["body_worst"] = Metric(max(metres for metres, _ in gaps), "m", "torso off by at most")
        metrics["facing_worst"] = Metric(
            max(abs(math.degrees(turned)) for _, turned in gaps), "°", "turned off by at most"
        )
        metrics["body_brought"] = Metric(max(brought, default=0.0), "m", "brought there by finishing by at most")
        metrics["glide"] = Metric(max(each.finished.glide_m_s for each in shown.values()), "m/s", "glides at up to")
    for part in cast.parts.values():
        costs = dict(part.person.costs)
        for error in part.solution.errors:
            if error.where in costs:
                metrics[error.where] = Metric(error.cost, "points", f"{costs[error.where].label} costs")
    changes = max((count - 1) / clip.seconds for count, clip in zip(pieces, clips, strict=True))
    metrics["transitions_per_s"] = Metric(changes, "1/s", "transitions")
    if all(clip.skeleton.feet for clip in clips):
        metrics["foot_slide"] = Metric(max(plant_speed(clip) for clip in clips), "m/s", "standing feet slide at")
    return metrics


def _facts(part: PersonSolution) -> dict[str, Any]:
    """What is needed to understand what one person does, as plain values."""
    splice, solution = part.solution.splice, part.solution
    body = [*part.person.body, *(meeting.place for meeting in part.meetings)]
    return {
        "score": solution.cost,
        "local_minimum": solution.minimum,
        "errors": [asdict(error) for error in solution.errors],
        "targets": [
            {
                "at_s": target.at_s,
                "place": list(target.position),
                "facing_deg": None if target.facing is None else math.degrees(target.facing),
            }
            for target in sorted(body, key=lambda target: target.at_s)
        ],
        "pieces": [
            {"clip": splice.graph.infos[int(clip)].name, "start": int(start), "stop": int(stop)}
            for clip, start, stop in zip(splice.clip, splice.start, splice.stop, strict=True)
        ],
    }


def without_far_worse(casts: Sequence[GroupSolution]) -> list[GroupSolution]:
    """Those, best first, that are not far worse than the first."""
    return [cast for cast in casts if cast.cost < max(WORSE * casts[0].cost, casts[0].cost + _WORSE_BY)]
