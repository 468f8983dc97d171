"""What a motion graph is asked to be: one frozen object for the command line, the file's provenance and the tests."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from choreograph.distance.window import Window
from choreograph.errors import RequestError
from choreograph.features.weights import joint_weights
from choreograph.motion.roles import ROLES

EVERYTHING = "everything"
"""The goal that every clip takes part, however little of it."""


@dataclass(frozen=True)
class LabelThreshold:
    """Another threshold for windows that carry these two labels, in either order.

    A label such as "walk, veer left" also answers to its parts, "walk" and "veer left".
    """

    first: str
    second: str
    threshold_m: float


@dataclass(frozen=True)
class GraphSettings:
    """How clips are compared and how near two windows must be for a transition."""

    rate_hz: float = 30.0
    """Frames per second at which clips are compared; they keep their own rate for output."""
    window_s: float = 1 / 3
    """Seconds that two motions are compared and blended over."""
    threshold_m: float = 0.05
    """Largest root-mean-square distance per joint of a transition, metres. With a goal, where the search begins."""
    label_thresholds: tuple[LabelThreshold, ...] = ()
    """Exceptions for pairs of labels; the strictest that fits counts."""
    goal: float | str | None = None
    """Share of the frames to connect, 0 to 1, or "everything" for a part of every clip: the threshold is then the
    lowest that does it."""
    ceiling_m: float = 0.40
    """Largest threshold that a goal may take, metres."""
    weights: str | Mapping[str, float] = "default"
    """Joint weights: a preset's name, or weights by role."""
    taper: str = "triangle"
    """How frames count within a window: "triangle", most in the middle, or "uniform"."""
    mirror: bool = False
    """Whether a mirrored copy of every clip takes part."""

    def __post_init__(self) -> None:
        _check("the graph's rate", self.rate_hz, "Hz", 1.0, 1000.0)
        _check("the window", self.window_s, "s", 0.0, 10.0)
        _check("the threshold", self.threshold_m, "m", 0.0, 10.0)
        _check("the ceiling", self.ceiling_m, "m", 0.0, 10.0)
        object.__setattr__(self, "label_thresholds", tuple(self.label_thresholds))
        for entry in self.label_thresholds:
            _check(f"the threshold of {entry.first!r} and {entry.second!r}", entry.threshold_m, "m", 0.0, 10.0)
        if isinstance(self.goal, str) and self.goal != EVERYTHING:
            raise RequestError(f"the goal is a share of the frames from 0 to 1 or {EVERYTHING!r}, not {self.goal!r}")
        if self.goal is not None and not isinstance(self.goal, str):
            _check("the goal", self.goal, "", 0.0, 1.0)
            if self.goal == 0:
                raise RequestError("the goal is none of the frames; give a share above 0, as 0.9 for 90 %")
        if self.window_frames < 2:
            raise RequestError(
                f"a window of {self.window_s:.3g} s is {self.window_frames} frames at {self.rate_hz:g} Hz; "
                f"at least 2 are needed: {2 / self.rate_hz:.3g} s or more"
            )
        Window(self.window_frames, self.taper)
        joint_weights(ROLES, self.weights)

    @property
    def window_frames(self) -> int:
        """Length of the window in frames at the graph's rate."""
        return round(self.window_s * self.rate_hz)

    def as_dict(self) -> dict[str, Any]:
        """The settings as plain values, for JSON."""
        plain = asdict(self)
        plain["label_thresholds"] = [[e.first, e.second, e.threshold_m] for e in self.label_thresholds]
        plain["weights"] = self.weights if isinstance(self.weights, str) else dict(self.weights)
        return plain

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> GraphSettings:
        """Settings from what `as_dict` gave; names that are missing or not known are an error."""
        known = {f.name for f in fields(cls)}
        if set(plain) != known:
            raise RequestError(f"settings missing or unknown: {', '.join(sorted(set(plain) ^ known))}")
        values = dict(plain)
        values["label_thresholds"] = tuple(
            LabelThreshold(str(first), str(second), float(limit)) for first, second, limit in values["label_thresholds"]
        )
        return cls(**values)


def _check(what: str, value: object, unit: str, low: float, high: float) -> None:
    number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    if not number or not low <= float(value) <= high:  # type: ignore[arg-type]
        space = f" {unit}" if unit else ""
        raise RequestError(f"{what} is {value}{space}; it must be between {low:g} and {high:g}{space}")
