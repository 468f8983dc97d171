"""What a motion graph is asked to be: one model for the command line, the studio and the file's provenance."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, Self

from annotated_types import Ge, Gt, Le
from pydantic import model_validator

from choreograph.base.errors import ChoreographError, RequestError
from choreograph.contract.request import Hertz, Metres, Name, Option, Request, Seconds, Wrong
from choreograph.distance.window import Window
from choreograph.features.weights import joint_weights
from choreograph.motion.roles import ROLES

EVERYTHING = "everything"
"""The goal that every clip takes part, however little of it."""

_SINCE_5 = ("max_blend_s", "long_threshold_m", "nearest")
"""Settings that came with schema version 5 or 6."""

NEAREST, MANY_FRAMES = 32, 250_000
"""Transitions kept from each place unless somebody says, in graphs of more frames than this."""

LONG_BLEND_S = 0.6
"""Length of the blends that join clips which no blend of a window's length joins, unless somebody says."""

Threshold = Annotated[Metres, Ge(0), Le(10)]


class LabelThreshold(Request):
    """Another threshold for windows that carry these two labels, in either order.

    A label such as "walk, veer left" also answers to its words, "walk" and "veer left".
    """

    first: Name
    """One label."""
    second: Name
    """The other."""
    threshold_m: Threshold
    """Largest distance between such windows."""


class GraphSettings(Request):
    """How clips are compared and how near two windows must be for a transition.

    >>> GraphSettings(threshold_m=0.08, mirror=True).window_frames
    10
    """

    panel: ClassVar[str] = "Graph"

    rate_hz: Annotated[Hertz, Ge(1), Le(1000)] = 30.0
    """Frames per second at which clips are compared; they keep their own rate for output."""
    window_s: Annotated[Seconds, Gt(0), Le(10)] = 1 / 3
    """How long two motions are compared and blended."""
    threshold_m: Annotated[Threshold, Option(hidden=True)] = 0.05
    """Largest root-mean-square distance per joint of a transition. With a goal, where the search begins."""
    label_thresholds: tuple[LabelThreshold, ...] = ()
    """Exceptions for pairs of labels; the strictest that fits counts."""
    goal: Annotated[float | str | None, Option(hidden=True)] = None
    """Share of the frames to connect, above 0 and up to 1, or "everything" for a part of every clip: the threshold is
    then the lowest that does it."""
    ceiling_m: Annotated[Threshold, Option(centimetres=True)] = 0.40
    """Largest threshold that a goal may take."""
    weights: Annotated[str | Mapping[str, float], Option(hidden=True)] = "default"
    """Joint weights: a preset's name, or weights by role."""
    taper: Literal["triangle", "uniform"] = "triangle"
    """How frames count within a window: "triangle", most in the middle, or "uniform"."""
    mirror: bool = False
    """Add a mirrored copy of every clip."""
    max_blend_s: Annotated[Seconds, Ge(0), Le(2)] | None = None
    """Join clips that no blend of a window's length joins by blends up to this long, aligned in time at foot contacts.
    Unless said, such clips are joined by blends of 0.6 s, but take part only where a request asks for what they show; 0
    for none."""
    long_threshold_m: Annotated[Threshold, Option(centimetres=True)] = 0.20
    """Largest distance of such a long blend."""

    nearest: Annotated[int, Ge(0), Le(100_000)] | None = None
    """Transitions kept from each place, the nearest, and those that hold the graph together; 0 keeps all. Unless said,
    32 in graphs of more than 250,000 frames, and all in smaller ones."""

    def most_transitions(self, frames: int) -> int:
        """How many transitions are kept from each place of a graph with this many frames; 0 for all."""
        if self.nearest is not None:
            return self.nearest
        return NEAREST if frames > MANY_FRAMES else 0

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.goal not in (None, EVERYTHING) and not (isinstance(self.goal, float | int) and 0 < self.goal <= 1):
            raise Wrong(
                "goal", f"is {self.goal!r}; it must be a share of the frames, above 0 and up to 1, or 'everything'"
            )
        if self.window_frames < 2:
            raise Wrong(
                "window_s",
                f"is {self.window_s:.3g}: that is {self.window_frames} frames at {self.rate_hz:g} Hz; "
                f"at least 2 are needed: {2 / self.rate_hz:.3g} s or more",
            )
        if self.max_blend_s and self.max_blend_s <= self.window_s:
            raise Wrong(
                "max_blend_s",
                f"is {self.max_blend_s:.3g}: a long blend lasts longer than a window, {self.window_s:.3g} s",
            )
        try:
            Window(self.window_frames, self.taper)
            joint_weights(ROLES, self.weights)
        except ChoreographError as error:
            raise Wrong("weights", f"cannot be: {error}") from None
        return self

    @property
    def longest_blend_s(self) -> float:
        """Length of the blends that join clips which are left out, seconds; 0 for none."""
        if self.max_blend_s is not None:
            return self.max_blend_s
        return LONG_BLEND_S if self.window_s < LONG_BLEND_S else 0.0

    @property
    def window_frames(self) -> int:
        """Length of the window in frames at the graph's rate."""
        return round(self.window_s * self.rate_hz)

    def as_dict(self) -> dict[str, Any]:
        """All settings as plain values, for JSON."""
        plain = {name: getattr(self, name) for name in type(self).model_fields}
        plain["label_thresholds"] = [[e.first, e.second, e.threshold_m] for e in self.label_thresholds]
        plain["weights"] = self.weights if isinstance(self.weights, str) else dict(self.weights)
        return plain

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> GraphSettings:
        """Settings from what `as_dict` gave; names that are missing or not known are an error."""
        known = set(cls.model_fields)
        # Files of earlier schema versions know nothing of these.
        values = {name: cls.model_fields[name].default for name in _SINCE_5} | dict(plain)
        if set(values) != known:
            raise RequestError(f"settings missing or unknown: {', '.join(sorted(set(values) ^ known))}")
        values["label_thresholds"] = tuple(
            LabelThreshold(first=first, second=second, threshold_m=limit)
            for first, second, limit in values["label_thresholds"]
        )
        return cls(**values)
