"""What can be asked of retiming: a length, frames at given times, and whose timing is liked."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, ClassVar, Literal, Self

from annotated_types import Ge, Gt, Le, MaxLen
from pydantic import Field, model_validator

from choreograph.contract.fields import Unit
from choreograph.contract.limits import beside
from choreograph.contract.names import MotionName
from choreograph.contract.request import (
    Advanced,
    FileText,
    Hertz,
    MetresPerSecond,
    Option,
    Request,
    Seconds,
    Wrong,
)
from choreograph.motion.clip import Clip
from choreograph.verbs.retime.keys import KeyTime, length_keys

MAX_RATE = 16.0
"""Fastest a motion may be shown, against its recording; 1/16 of it is the slowest."""

Rate = Annotated[float, Unit("×"), Ge(0), Le(MAX_RATE)]
"""How many times as fast as recorded."""


class RetimeWeights(Advanced):
    """What the program pays for besides the distance to the references."""

    pace: Annotated[float, Ge(0), Le(1e4)] | None = None
    """Weight of leaving the pace that similar poses have in the references, each sample by itself, at a tempo that fits
    the key times. None for 3 with references and 0 for a motion that is guided by itself."""
    change: Annotated[float, Ge(0), Le(1e4)] = 1.0
    """Weight of the squared change of the rate from one step to the next: without it a program skips the top of a jump,
    where a body hardly moves."""


class RetimeAdvanced(Advanced):
    """What the program may do, and how its answer becomes frames."""

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
    still_m_s: Annotated[MetresPerSecond, Ge(0), Le(10)] = 0.1
    """Where the joints are slower than this on average, the motion stands still."""
    still_s: Annotated[Seconds, Ge(0.05), Le(60)] = 0.3
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
    smoothing: Literal["local", "uniform", "none"] = "local"
    """local: averages as wide as the compression, nothing elsewhere; uniform: `uniform_s` everywhere; none."""
    uniform_s: Annotated[Seconds, Ge(0), Le(1)] = 0.02
    """Width (standard deviation) of the uniform smoothing."""
    weights: RetimeWeights = Field(default_factory=RetimeWeights)
    """What the program pays for besides the distance to the references."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.largest_rate and self.smallest_rate and self.smallest_rate >= self.largest_rate:
            raise Wrong(
                "smallest_rate", f"is {self.smallest_rate:g}; it must be less than largest_rate, {self.largest_rate:g}"
            )
        return self


class RetimeFinish(Request):
    """How the frames that the warp shows become a finished motion."""

    panel: ClassVar[str] = "Finishing"

    clean: bool = True
    """Whether standing feet are held where they stand."""
    repair: bool = True
    """Whether single frames at which the capture slipped are put between their neighbours: a motion that has less
    standing in it shows them more."""
    rate_hz: Annotated[Hertz, Ge(1), Le(10_000)] | None = None
    """Frames per second of the motion; its own if not given."""


class RetimeRequest(Request):
    """The same poses, in the same order, with another timing.

    >>> RetimeRequest(duration_s=1.2, keys={"40": 0.5}).as_document()
    {'duration_s': 1.2, 'keys': {'40': 0.5}}
    """

    verb = "retime"

    duration_s: Annotated[Seconds, Gt(0), Le(3600), Option(("--duration", "-s"))] | None = None
    """How long the motion shall last; else as long as it does, or as the key times say."""
    keys: Annotated[
        Mapping[str, Annotated[Seconds, Ge(0), Le(3600)]],
        MaxLen(10_000),
        Option(("--key", "-k"), metavar="FRAME=SECONDS"),
    ] = Field(default_factory=dict)
    """When frames of the motion, at its own rate, shall be shown; repeat for more."""
    like: Annotated[tuple[FileText, ...], MaxLen(200), MotionName(), Option(("--like",), metavar="MOTION")] = ()
    """Motions whose timing is liked, as files; from a folder, a pattern or a motion graph (.mog) those nearest in poses
    at the wanted mean speed. The motion's own timing guides if none is given. Repeat for more."""
    spline_share: Annotated[float, Ge(0), Le(1)] = 0.0
    """Share of the spline warp through the key times in the result: 0 is guided, 1 the spline alone."""
    finish: RetimeFinish = Field(default_factory=RetimeFinish)
    """How the frames that the warp shows become a finished motion."""
    advanced: RetimeAdvanced = Field(default_factory=RetimeAdvanced)
    """What the program may do, and how its answer becomes frames."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        for name in self.keys:
            if not name.isdecimal() or len(name) > 9:
                raise Wrong(f"keys.{name}", "is no frame; key times are given as FRAME: SECONDS, frames from 0 on")
        return self

    def resolved(self, folder: Path, *, allow_code: bool = False) -> Self:
        """The request with the motions that it names taken from a folder, where they are there."""
        return self.with_(like=tuple(beside(folder, name, folders=True) for name in self.like))

    def key_times(self, clip: Clip) -> tuple[KeyTime, ...]:
        """Frames and the seconds at which they are shown, the first and the last among them.

        Raises:
            RequestError: If they are out of order or outside of the motion.
        """
        keys = [KeyTime(int(name), seconds) for name, seconds in self.keys.items()]
        return length_keys(clip, self.length_s(clip), keys, fps=self.finish.rate_hz)

    def length_s(self, clip: Clip) -> float:
        """How long the motion lasts afterwards, seconds."""
        return clip.seconds if self.duration_s is None else self.duration_s
