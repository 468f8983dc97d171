"""What can be asked of retiming: a length, frames at given times, and whose timing is liked."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Self

from annotated_types import Ge, Gt, Le, MaxLen
from pydantic import Field, model_validator

from choreograph.contract.limits import beside
from choreograph.contract.names import MotionName
from choreograph.contract.request import FileName, FileText, Hertz, Option, Request, Seconds, Wrong
from choreograph.motion.clip import Clip
from choreograph.verbs.retime.keys import KeyTime, length_keys
from choreograph.verbs.retime.settings import RetimeSettings


class RetimeRequest(Request):
    """The same poses, in the same order, with another timing.

    >>> RetimeRequest(seconds=1.2, keys={"40": 0.5}).as_document()
    {'seconds': 1.2, 'keys': {'40': 0.5}}
    """

    verb = "retime"

    seconds: Annotated[Seconds, Gt(0), Le(3600), Option(("--seconds", "-s"))] | None = None
    """How long the motion shall last; else as long as it does, or as the key times say."""
    keys: Annotated[
        Mapping[str, Annotated[Seconds, Ge(0), Le(3600)]],
        MaxLen(10_000),
        Option(("--key", "-k"), metavar="FRAME=SECONDS"),
    ] = Field(default_factory=dict)
    """When frames of the motion, at its own rate, shall be shown; repeat for more."""
    like: Annotated[tuple[FileText, ...], MaxLen(200), MotionName(), Option(("--like",), metavar="MOTION")] = ()
    """Motions whose timing is liked, as files; else the motion's own timing guides. Repeat for more."""
    like_from: Annotated[str, MaxLen(4096), FileName()] = ""
    """A folder, a pattern or a motion graph (.mog) from which motions to be like are chosen: nearest in poses at the
    wanted mean speed."""
    blend: Annotated[float, Ge(0), Le(1)] = 0.0
    """Share of the spline warp through the key times in the result: 0 is guided, 1 the spline alone."""
    rate_hz: Annotated[Hertz, Ge(1), Le(10_000)] | None = None
    """Frames per second to write; else the motion's own."""
    warp: RetimeSettings = Field(default_factory=RetimeSettings)
    """What the warp may do."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        for name in self.keys:
            if not name.isdecimal() or len(name) > 9:
                raise Wrong(f"keys.{name}", "is no frame; key times are given as FRAME: SECONDS, frames from 0 on")
        if self.like and self.like_from:
            raise Wrong("like_from", "is given beside like; give one of them")
        return self

    def resolved(self, folder: Path, *, allow_code: bool = False) -> Self:
        """The request with the motions that it names taken from a folder, where they are there."""
        like = tuple(beside(folder, name) for name in self.like)
        return self.with_(like=like, like_from=beside(folder, self.like_from, folders=True))

    def key_times(self, clip: Clip) -> tuple[KeyTime, ...]:
        """Frames and the seconds at which they are shown, the first and the last among them.

        Raises:
            RequestError: If they are out of order or outside of the motion.
        """
        keys = [KeyTime(int(name), seconds) for name, seconds in self.keys.items()]
        return length_keys(clip, self.length_s(clip), keys, fps=self.rate_hz)

    def length_s(self, clip: Clip) -> float:
        """How long the motion lasts afterwards, seconds."""
        return clip.seconds if self.seconds is None else self.seconds

    def settings(self) -> RetimeSettings:
        """The warp's settings with what is said beside them."""
        return self.warp.with_(blend=self.blend, fps=self.rate_hz)
