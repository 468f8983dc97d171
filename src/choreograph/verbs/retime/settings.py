"""How a motion is retimed: what the program may do, and what is done to the frames it chose."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal, Self

from annotated_types import Ge, Le
from pydantic import model_validator

from choreograph.contract.fields import Unit
from choreograph.contract.request import Hertz, MetresPerSecond, Option, Request, Seconds, Wrong

MAX_RATE = 16.0
"""Fastest a motion may be shown, against its recording; 1/16 of it is the slowest."""

Rate = Annotated[float, Unit("×"), Ge(0), Le(MAX_RATE)]
"""How many times as fast as recorded."""


class RetimeSettings(Request):
    """What the program may do, and how its answer becomes frames."""

    panel: ClassVar[str] = "Warp"

    program_hz: Annotated[Hertz, Ge(5), Le(240)] = 30.0
    """Frames per second of the result in which the program counts; velocities and accelerations span two of them."""
    samples_per_step: Annotated[int, Ge(1), Le(64)] | None = None
    """Samples of the motion for each of these at its recorded pace: the finer, the smoother the rates it can choose.
    None for about 10 over the mean rate, as a power of two from 2 to 16."""
    neighbours: Annotated[int, Ge(1), Le(100)] | None = None
    """How many of the nearest moments of the references are averaged: K in the paper. None for 5, and for 1 where a
    motion is guided by itself: the moment itself, at its own pace."""
    largest_rate: Annotated[float, Unit("×"), Ge(0.05), Le(MAX_RATE)] | None = None
    """How fast any part may be shown; None for two to three times what the key times need."""
    smallest_rate: Rate | None = None
    """How slowly any part may be shown; None for a third to a half of what the key times need."""
    pace_weight: Annotated[float, Ge(0), Le(1e4)] | None = None
    """How much it costs to leave the pace that similar poses have in the references, each sample by itself, at a tempo
    that fits the key times. None for 3 with references and 0 for a motion that is guided by itself."""
    change_weight: Annotated[float, Ge(0), Le(1e4)] = 1.0
    """How much it costs that the rate changes from one step to the next, times the square of the change: without it a
    program skips the top of a jump, where a body hardly moves."""
    still_m_s: Annotated[MetresPerSecond, Ge(0), Le(10), Option(("--still-speed",))] = 0.1
    """Where the joints are slower than this on average, the motion stands still."""
    still_s: Annotated[Seconds, Ge(0.05), Le(60), Option(("--still-seconds",))] = 0.3
    """Shorter moments of stillness are part of the movement."""
    still_rate: Rate | None = None
    """How fast still stretches are shown; 0 to leave them to the program. None for the mean rate between the key times
    around them; of a motion that is guided by itself, for the rate that leaves the rest its recorded pace, as far as
    `largest_rate` and `smallest_rate` allow."""
    band_s: Annotated[Seconds, Ge(0.1), Le(600)] = 4.0
    """How far the warp may differ from the straight line between key times, in the motion's time."""
    reference_hz: Annotated[Hertz, Ge(5), Le(240)] | None = None
    """Moments of the references for each of their seconds, fewer where they are long; None for 60, and for all where a
    motion is guided by itself."""
    direction: Literal["auto", "steps", "durations"] = "auto"
    """Whether frames are chosen for even times (steps) or times for even frames (durations, the inverse problem)."""
    blend: Annotated[float, Ge(0), Le(1), Option(hidden=True)] = 0.0
    """Share of the spline warp through the key times in the result, 0 to 1."""
    smoothing: Literal["local", "uniform", "none"] = "local"
    """local: averages as wide as the compression, nothing elsewhere; uniform: `uniform_s` everywhere; none."""
    uniform_s: Annotated[Seconds, Ge(0), Le(1)] = 0.02
    """Width (standard deviation) of the uniform smoothing."""
    replant: bool = True
    """Whether feet that stand are held where they stand."""
    repair: bool = True
    """Whether single frames at which the capture slipped are put between their neighbours: a motion that has less
    standing in it shows them more."""
    fps: Annotated[Hertz, Ge(1), Le(10_000), Option(hidden=True)] | None = None
    """Frames per second of the result; None for the motion's own."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.largest_rate and self.smallest_rate and self.smallest_rate >= self.largest_rate:
            raise Wrong(
                "smallest_rate", f"is {self.smallest_rate:g}; it must be less than largest_rate, {self.largest_rate:g}"
            )
        return self
