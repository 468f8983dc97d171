"""Result: what a verb comes back with, the same in every face: motion, metrics, problems, where it came from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from pydantic import ConfigDict, computed_field

from choreograph._version import __version__
from choreograph.contract.migrate import FORMAT
from choreograph.contract.problem import Problem, finite
from choreograph.contract.request import Request
from choreograph.motion.clip import Clip
from choreograph.motion.display import ShowsItself
from choreograph.motion.face import Face
from choreograph.motion.mechanics import Mechanics

COMPLETE, SEARCHING = "complete", "searching"
"""Statuses that every verb knows; others say in a word why a request was not answered to its end."""


_DUST = 1e-6
"""Values below this are what is left of zero after some arithmetic."""


@dataclass(frozen=True)
class Metric:
    """A number that says how good an answer is."""

    value: float
    unit: str
    """Such as "m", "m/s", "1/s"; empty for a share or a count."""
    text: str
    """What it measures, in a few words: "mean distance from the path"."""

    __pydantic_config__ = ConfigDict(extra="ignore", json_schema_serialization_defaults_required=True)

    @computed_field  # type: ignore[prop-decorator]
    @property
    def said(self) -> str:
        """The value with its unit, as people say it: centimetres below a metre, shares in percent, no dust."""
        if abs(self.value) < _DUST:
            return f"0 {self.unit}".strip() if self.unit else "0 %"
        if self.unit == "m" and abs(self.value) < 1:
            return f"{100 * self.value:.1f} cm"
        if self.unit == "m/s" and abs(self.value) < 0.5:
            return f"{100 * self.value:.1f} cm/s"
        if self.unit == "" and 0 <= self.value <= 1:
            return f"{100 * self.value:.0f} %"
        return f"{self.value:.3g} {self.unit}".strip()


@dataclass(frozen=True)
class Run:
    """Frames [start, stop) of an answer that show one recording."""

    start: int
    stop: int
    clip: str
    clip_frame: float
    """The recording's frame, at its own rate, that the first of them shows."""
    other: str | None = None
    """The recording that it is blended with, if it is."""


def source_runs(origins: Any, names: Sequence[str]) -> tuple[Run, ...]:
    """Where a motion's frames come from, as runs of frames that show the same clip, mixed with the same other.

    Args:
        origins: The clip and frame of it that each frame shows, and the clip that it is mixed with (-1 for none).
        names: Of the clips.
    """
    pairs = np.stack([origins.source_clip, origins.other_clip], axis=1)
    # A clip that jumps within itself, back or ahead, begins a new run too.
    steps = np.diff(origins.source_frame)
    jumps = (steps <= 0) | (steps > 2 * np.median(steps[steps > 0], axis=0) + 1 if (steps > 0).any() else False)
    starts = np.flatnonzero(np.concatenate([[True], (np.diff(pairs, axis=0) != 0).any(axis=1) | jumps]))
    stops = [*starts[1:].tolist(), len(pairs)]
    return tuple(
        Run(
            start,
            stop,
            names[pairs[start, 0]],
            float(origins.source_frame[start]),
            None if pairs[start, 1] < 0 else names[pairs[start, 1]],
        )
        for start, stop in zip(starts.tolist(), stops, strict=True)
    )


@dataclass(frozen=True, eq=False)
class Motion:
    """One person's motion in an answer."""

    clip: Clip
    sources: tuple[Run, ...] = ()
    """Which recordings it shows when."""
    raw: Clip | None = None
    """Before feet and hands were seen to, where that is another."""
    leads: bool = False
    """Whether this is the person whom the others follow, as given with the request."""
    body: str | None = None
    """File of the character whose body it is; its mesh is kept where the format can."""
    face: Face | None = None
    """Weights of blend shapes, where a face moves; the clip is then that of its landmarks."""

    @property
    def name(self) -> str:
        """The person's, or the motion's."""
        return self.clip.name


@dataclass(frozen=True, eq=False)
class Answer:
    """One way to answer a request: motion, and how good it is."""

    motions: tuple[Motion, ...]
    name: str
    """What tells it from the others, in a few words."""
    metrics: Mapping[str, Metric]
    problems: tuple[Problem, ...] = ()
    """What the request asks for and the finished motion does not do; empty if it does all."""
    status: str = COMPLETE
    cost: float | None = None
    """What the search made as small as it could, in its own measure."""
    bound: float | None = None
    """Below this no answer's cost can be, where that is proved."""
    path: Sequence[tuple[float, float]] = ()
    """The line on the floor that belongs to it: the one asked for, or the way walked."""
    details: Mapping[str, Any] = field(default_factory=dict)
    """What only this verb knows, as plain values: edges, pieces, transcription …"""
    mechanics: Mechanics | None = None
    """Forces and torques of the first person, for a stage to draw."""

    def __repr__(self) -> str:
        motions = "".join(f", {motion.clip!r}" for motion in self.motions)
        return f"Answer({self.name!r}{motions}, {self.status}, {len(self.problems)} problems)"

    @property
    def clip(self) -> Clip:
        """The motion of the first person."""
        return self.motions[0].clip

    @property
    def clips(self) -> list[Clip]:
        """The motions of all people but the leaders, whom the request brings."""
        return [motion.clip for motion in self.motions if not motion.leads]

    @property
    def proved(self) -> bool:
        """Whether nothing better can be had."""
        return self.bound is not None and self.cost is not None and self.cost <= self.bound + 1e-12

    def as_json(self) -> dict[str, Any]:
        """Everything but the frames, as plain values."""
        plain = {
            "name": self.name,
            "status": self.status,
            "cost": self.cost,
            "bound": self.bound,
            "proved": self.proved,
            "metrics": {name: {"value": m.value, "unit": m.unit, "text": m.text} for name, m in self.metrics.items()},
            "problems": [problem.as_json() for problem in self.problems],
            "motions": [
                {
                    "name": motion.name,
                    "frames": len(motion.clip),
                    "fps": motion.clip.fps,
                    "leads": motion.leads,
                    "sources": [
                        {name: value for name, value in vars(run).items() if value is not None}
                        for run in motion.sources
                    ],
                }
                for motion in self.motions
            ],
            **self.details,
        }
        return dict(finite(plain))


@dataclass(frozen=True, eq=False)
class Result(ShowsItself):
    """The answers to a request, best first.

    `clip`, `metrics` and `problems` are those of the best one.
    """

    verb: str
    request: Request
    answers: tuple[Answer, ...]
    status: str = COMPLETE
    notes: tuple[Problem, ...] = ()
    """What no answer could do anything about: fewer answers than asked for, clips that cannot be used …"""
    seconds: float = 0.0
    """Time the search took."""
    provenance: Mapping[str, Any] = field(default_factory=dict)
    """Where it came from: the graph's file, its settings, what was prepared."""

    def __repr__(self) -> str:
        best = f"; the best: {self.best!r}" if self.answers else ""
        return f"Result({self.verb}, {len(self.answers)} answers, {self.status}, {len(self.problems)} problems{best})"

    @property
    def best(self) -> Answer:
        """The best answer."""
        return self.answers[0]

    @property
    def clip(self) -> Clip:
        """The motion of the best answer."""
        return self.best.clip

    @property
    def metrics(self) -> Mapping[str, Metric]:
        """Of the best answer."""
        return self.best.metrics

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What the request asks for and the best answer, or any, does not do."""
        return (*self.notes, *(self.best.problems if self.answers else ()))

    @property
    def seed(self) -> int | None:
        """Same request, same graph, same seed: same answers."""
        return getattr(self.request, "seed", None)

    def as_json(self) -> dict[str, Any]:
        """Everything needed to understand the answers and to get them again, as plain values."""
        return {
            "choreograph": __version__,
            "format": FORMAT,
            "verb": self.verb,
            "request": self.request.as_document(),
            "seed": self.seed,
            "status": self.status,
            "search_seconds": round(self.seconds, 4),
            **self.provenance,
            "problems": [problem.as_json() for problem in self.notes],
            "answers": [answer.as_json() for answer in self.answers],
        }
