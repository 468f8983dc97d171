"""What can be asked of a performance: what leads, which recordings answer, and how they are matched."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self

from annotated_types import Ge, Gt, Le, MaxLen
from pydantic import Field, field_validator, model_validator

from choreograph.base.errors import RequestError
from choreograph.contract.clip_filter import ChosenRequest
from choreograph.contract.fields import Unit
from choreograph.contract.request import (
    Advanced,
    Coordinate,
    FileName,
    Hertz,
    Metres,
    Name,
    Option,
    Quality,
    Request,
    Seconds,
    Wrong,
)
from choreograph.finishing.settings import FinishSettings
from choreograph.goals.check import check_goals
from choreograph.goals.model import Goals, SegmentGoal
from choreograph.verbs.perform.trajectory import MAX_SAMPLES, Trajectory, even_trajectory, read_trajectory

FilePath = Annotated[str, MaxLen(4096), FileName()]
Sample = tuple[Annotated[float, Ge(-1e9), Le(1e9)], Coordinate, Coordinate]
"""Time in seconds, x and z in metres."""


class ControlRequest(Request):
    """What leads: a body, or a way over the floor with its timing."""

    leader: Annotated[FilePath, Option(metavar="LEADER")] = ""
    """The body that leads: a motion file, or the name of one of the examples' clips."""
    trajectory: Annotated[FilePath, Option(("--trajectory", "-t"))] = ""
    """The way that leads: a .csv file of t, x, z (seconds, metres)."""
    samples: Annotated[tuple[Sample, ...], MaxLen(MAX_SAMPLES), Option(hidden=True)] = ()
    """The way as rows of t, x and z (seconds, metres), instead of a file."""
    smooth_s: Annotated[Seconds, Ge(0), Le(10)] = 0.2
    """Smooth the way over so many seconds."""

    @model_validator(mode="after")
    def _check_one_leads(self) -> Self:
        leads = [name for name in ("leader", "trajectory", "samples") if getattr(self, name)]
        if len(leads) > 1:
            verb = "are" if leads[-1] == "samples" else "is"
            raise Wrong(leads[-1], f"{verb} given beside {leads[0]}; one of them can lead")
        for n, (before, after) in enumerate(zip(self.samples, self.samples[1:], strict=False), 1):
            if after[0] <= before[0]:
                raise Wrong(f"samples[{n}]", f"has time go from {before[0]:g} s back to {after[0]:g} s")
        return self

    def way(self) -> Trajectory:
        """The way that leads, at an even rate, as it was performed.

        Raises:
            ChoreographError: If there is none, too little is known of it, or it cannot be read.
        """
        if self.trajectory:
            return read_trajectory(self.trajectory)
        if len(self.samples) < 2:
            raise RequestError(
                "nothing was performed yet: press on the floor and move as fast as a walk goes", where="samples"
            )
        import numpy as np

        times, *places = np.array(self.samples, float).T
        return even_trajectory(times - times[0], np.stack(places, axis=1), name="what was performed")


class CutAdvanced(Advanced):
    """Which segments are kept."""

    alike_m: Annotated[Metres, Ge(0), Le(100)] = 0.0
    """Keep one of segments that are alike within so many metres."""


class PerformAdvanced(CutAdvanced):
    """How a control is matched with segments. What is left out is what suits the examples."""

    stretch_s: Annotated[Seconds, Ge(0), Le(10)] | None = None
    """Time by which a segment may be played shorter or longer. Default: 0.15 s, or 0.2 s where tracks lead."""
    continuity_s: Annotated[Seconds, Ge(0), Le(1e6)] | None = None
    """Price of a squared metre between the end of one answer and the start of the next (k), against squared metres
    between controls, each lasting a second. Default: 0.15 s, or 0.8 s where tracks lead."""
    search_rate_hz: Annotated[Hertz, Ge(1), Le(240)] | None = None
    """Steps per second of the search over all segments. Default: 7.5 Hz, or 10 Hz where tracks lead."""
    beam_m2_s: Annotated[float, Unit("m²·s"), Gt(0), Le(1e9)] | None = None
    """Give up sequences that are so much worse than the best of their length; else the search is exact."""


class CutRequest(ChosenRequest):
    """Which recordings are the examples, who answers whom in them, and where they are cut into segments."""

    panel: ClassVar[str] = "Cutting"

    answers: Annotated[FilePath, Option(("--answers", "-a"))] = ""
    """Who answered the examples, recorded with them: a folder or a pattern; else each example answers the track of its
    own hips, unless a body leads and names tell pairs (60_01 and 61_01)."""
    pairs: Annotated[tuple[tuple[Name, Name], ...], MaxLen(10_000), Option(hidden=True)] | None = None
    """Leaders and followers, by the names of their clips; else names tell them."""
    cut_to_shorter: bool = False
    """Cut leaders and followers of different length to the shorter."""
    cut_at: Literal["beats", "plants", "labels"] | None = None
    """Cut examples into segments at beats, foot plants or labels; else pairs at beats, walks at plants."""
    lead_joints: Annotated[tuple[Name, ...], MaxLen(100), Option(metavar="ROLES")] = ()
    """Joints that lead, by role and with commas, or track; else hands and feet of a leader."""
    advanced: CutAdvanced = Field(default_factory=CutAdvanced)
    """Which segments are kept."""

    @field_validator("lead_joints", mode="before")
    @classmethod
    def _split(cls, value: Any) -> Any:
        words = [value] if isinstance(value, str) else value
        if not isinstance(words, list | tuple) or not all(isinstance(word, str) for word in words):
            return value
        return tuple(part.strip() for word in words for part in word.split(",") if part.strip())

    def resolved(self, folder: Path, *, allow_code: bool = False) -> Self:
        """The request with the files that it names taken from a folder, where they are there."""
        named = {name: getattr(self, name, "") for name in ("leader", "trajectory", "answers")}
        there = {name: str(folder / text) for name, text in named.items() if text and _is_there(folder, text)}
        return self.with_(**there) if there else self


class PerformRequest(CutRequest, ControlRequest):
    """A performance to be answered, and how.

    >>> PerformRequest("60_05.amc", answers="followers").as_document()
    {'leader': '60_05.amc', 'answers': 'followers'}
    """

    verb = "perform"

    most_frames: ClassVar[int] = 30_000
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "draft": {"advanced.search_rate_hz": 5.0},
        "best": {"advanced.search_rate_hz": 15.0},
    }

    goals: Goals = ()
    """Segments that have to be played at given times."""
    lag_s: Annotated[Seconds, Gt(0), Le(60)] | None = None
    """Decide as if live, so many seconds after each moment; else with all of the control at hand."""
    leave_out_own: bool = True
    """Leave out the leader's own example: its answer is known, and would be no test and no help."""
    quality: Quality = "normal"
    advanced: PerformAdvanced = Field(default_factory=PerformAdvanced)
    """How the control is matched with segments."""
    finish: FinishSettings = Field(default_factory=FinishSettings)
    """How segments become motion."""

    @model_validator(mode="after")
    def _check_goals(self) -> Self:
        check_goals(self.goals, self.verb, math.inf)
        return self

    @property
    def segment_goals(self) -> list[SegmentGoal]:
        """Its goals, which are all of one kind."""
        return [goal for goal in self.goals if isinstance(goal, SegmentGoal)]

    @classmethod
    def of_trajectory(cls, trajectory: Trajectory, **more: Any) -> PerformRequest:
        """A request for a way that is at hand; it is smoothed no more, unless `smooth_s` says so.

        >>> PerformRequest.of_trajectory(Trajectory([(0.0, 0.0), (0.0, 0.1)], 10.0)).samples
        ((0.0, 0.0, 0.0), (0.1, 0.0, 0.1))
        """
        samples = [(k / trajectory.fps, float(x), float(z)) for k, (x, z) in enumerate(trajectory.places)]
        return cls(samples=tuple(samples), **{"smooth_s": 0.0, **more})


def _is_there(folder: Path, text: str) -> bool:
    try:
        return (folder / text).exists() or any(folder.glob(text))
    except (OSError, ValueError, NotImplementedError):
        return False
