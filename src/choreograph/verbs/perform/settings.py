"""How a control is matched with recorded segments: the numbers of the search, resolved for a database."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from choreograph.base.errors import RequestError
from choreograph.features.points import TRACK
from choreograph.goals.model import SegmentGoal
from choreograph.verbs.perform.examples import SegmentDatabase
from choreograph.verbs.perform.request import PerformAdvanced


@dataclass(frozen=True)
class MatchSettings:
    """How a control is matched with segments."""

    rate_hz: float = 7.5
    """Steps per second of the search over all segments."""
    refine_hz: float = 30.0
    """Steps per second to which the found segments' times are then made exact; about a multiple of `rate_hz`."""
    stretch_s: float = 0.15
    """Seconds by which a segment may be played shorter or longer."""
    continuity_s: float = 0.15
    """Price of a squared metre between the end of one target and the start of the next (k), against squared metres
    between controls, each lasting a second."""
    beam_m2_s: float | None = None
    """Sequences that are so much worse than the best one of their length are given up; None is exact."""
    goals: tuple[SegmentGoal, ...] = ()
    """Segments that have to be played at given times."""

    @property
    def fine(self) -> int:
        """Steps of refinement in one step of the search."""
        return max(1, round(self.refine_hz / self.rate_hz))


def usual_settings(database: SegmentDatabase) -> MatchSettings:
    """The settings that suit a database: those for dancers, or those for walkers led by a track (Hsu 2004, section 6).

    A track says nothing about which foot comes next, so there fitting together counts for more.
    """
    if database.control_roles == TRACK:
        return MatchSettings(rate_hz=10.0, stretch_s=0.2, continuity_s=0.8)
    return MatchSettings()


def match_settings(
    database: SegmentDatabase, advanced: PerformAdvanced, goals: Sequence[SegmentGoal] = ()
) -> MatchSettings:
    """The settings that suit a database, with what a request says.

    Raises:
        RequestError: If a goal names a segment that is not there.
    """
    for n, goal in enumerate(goals):
        strange = [segment for segment in goal.segments if segment >= len(database)]
        if strange:
            where = f"goals[{n}].segments"
            raise RequestError(f"{where} names segment {strange[0]}; there are 0 to {len(database) - 1}", where=where)
    values = {
        "rate_hz": advanced.search_rate_hz,
        "stretch_s": advanced.stretch_s,
        "continuity_s": advanced.continuity_s,
        "beam_m2_s": advanced.beam_m2_s,
    }
    settings: dict[str, Any] = {name: value for name, value in values.items() if value is not None}
    return replace(usual_settings(database), goals=tuple(goals), **settings)
