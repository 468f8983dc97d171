"""What can be asked of an evaluation: which recordings are held back in turn, and how controls are answered."""

from __future__ import annotations

from typing import Annotated, ClassVar

from annotated_types import Gt, Le, MaxLen
from pydantic import Field

from choreograph.contract.request import Option, Seconds, Seed
from choreograph.verbs.perform.request import CutRequest, PerformAdvanced


class EvaluateRequest(CutRequest):
    """Recordings to hold back in turn, each answered by the others."""

    panel: ClassVar[str] = "Measuring"

    clean: Annotated[bool, Option(("--raw",), inverted=True)] = True
    """Measure motion before feet and hands are seen to."""
    lag_s: Annotated[tuple[Annotated[Seconds, Gt(0), Le(60)], ...], MaxLen(100)] = ()
    """Also measure deciding so many seconds after each moment; repeat for more."""
    seed: Seed = 0
    """Of the random sequences."""
    advanced: PerformAdvanced = Field(default_factory=PerformAdvanced)
    """How controls are matched with segments."""
