"""How a motion is retimed: what the program may do, and what is done to the frames it chose."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from choreograph.errors import RequestError

MAX_RATE = 16.0
"""Fastest a motion may be shown, against its recording; 1/16 of it is the slowest."""


@dataclass(frozen=True)
class RetimeSettings:
    """What the program may do, and how its answer becomes frames."""

    program_hz: float = 30.0
    """Frames per second of the result in which the program counts; velocities and accelerations span two of them."""
    samples_per_step: int | None = None
    """Samples of the motion for each of these at its recorded pace: the finer, the smoother the rates it can choose.
    None for about 10 over the mean rate, as a power of two from 2 to 16."""
    neighbours: int | None = None
    """How many of the nearest moments of the references are averaged: K in the paper. None for 5, and for 1 where a
    motion is guided by itself: the moment itself, at its own pace."""
    largest_rate: float | None = None
    """How many times as fast as recorded any part may be shown; None for two to three times what the key times need."""
    smallest_rate: float | None = None
    """The same for the slowest; None for a third to a half of what the key times need."""
    pace_weight: float | None = None
    """How much it costs to leave the pace that similar poses have in the references, each sample by itself, at a tempo
    that fits the key times. None for 3 with references and 0 for a motion that is guided by itself."""
    change_weight: float = 1.0
    """How much it costs that the rate changes from one step to the next, times the square of the change: without it a
    program skips the top of a jump, where a body hardly moves."""
    still_m_s: float = 0.1
    """Where the joints are slower than this on average, the motion stands still."""
    still_s: float = 0.3
    """Shorter moments of stillness are part of the movement."""
    still_rate: float | None = None
    """How fast still stretches are shown; 0 to leave them to the program. None for the mean rate between the key times
    around them; of a motion that is guided by itself, for the rate that leaves the rest its recorded pace, as far as
    `largest_rate` and `smallest_rate` allow."""
    band_s: float = 4.0
    """Seconds of the motion by which the warp may differ from the straight line between key times."""
    reference_hz: float | None = None
    """Moments of the references for each of their seconds, fewer where they are long; None for 60, and for all where a
    motion is guided by itself."""
    direction: Literal["auto", "steps", "durations"] = "auto"
    """Whether frames are chosen for even times (steps) or times for even frames (durations, the inverse problem)."""
    blend: float = 0.0
    """Share of the spline warp through the key times in the result, 0 to 1."""
    smoothing: Literal["local", "uniform", "none"] = "local"
    """local: averages as wide as the compression, nothing elsewhere; uniform: `uniform_s` everywhere; none."""
    uniform_s: float = 0.02
    """Width (standard deviation) of the uniform smoothing, seconds."""
    replant: bool = True
    """Whether feet that stand are held where they stand."""
    repair: bool = True
    """Whether single frames at which the capture slipped are put between their neighbours: a motion that has less
    standing in it shows them more."""
    fps: float | None = None
    """Frames per second of the result; None for the motion's own."""

    def __post_init__(self) -> None:
        limits: dict[str, tuple[float, float]] = {
            "program_hz": (5, 240),
            "samples_per_step": (1, 64),
            "neighbours": (1, 100),
            "largest_rate": (0.05, MAX_RATE),
            "smallest_rate": (0, MAX_RATE),
            "pace_weight": (0, 1e4),
            "change_weight": (0, 1e4),
            "still_m_s": (0, 10),
            "still_s": (0.05, 60),
            "still_rate": (0, MAX_RATE),
            "band_s": (0.1, 600),
            "reference_hz": (5, 240),
            "blend": (0, 1),
            "uniform_s": (0, 1),
            "fps": (1, 10_000),
        }
        for name, (low, high) in limits.items():
            value = getattr(self, name)
            if value is not None and not (np.isfinite(value) and low <= value <= high):
                raise RequestError(f"{name} is {value}; it must be between {low:g} and {high:g}", where=name)
        for name, known in (
            ("direction", ("auto", "steps", "durations")),
            ("smoothing", ("local", "uniform", "none")),
        ):
            if getattr(self, name) not in known:
                raise RequestError(f"{name} is {getattr(self, name)!r}; it is one of {', '.join(known)}", where=name)
        if self.largest_rate and self.smallest_rate and self.smallest_rate >= self.largest_rate:
            raise RequestError(
                f"smallest_rate is {self.smallest_rate:g} and largest_rate {self.largest_rate:g}; the first must be "
                "less",
                where="smallest_rate",
            )
