"""What users set about finishing: how pieces give way to each other, and what is seen to afterwards."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from annotated_types import Ge, Le

from choreograph.contract.request import Hertz, Option, Request


class FinishSettings(Request):
    """How what was found becomes motion."""

    panel: ClassVar[str] = "Finishing"

    blend: Literal["linear", "cubic", "anticipation"] = "cubic"
    """How one clip gives way to another."""
    preset: str = "even"
    """Which parts of the body an anticipation blend sends ahead, such as 'arms first'."""
    clean: Annotated[bool, Option(("--raw",), inverted=True)] = True
    """Leave the feet as the blends left them."""
    rate_hz: Annotated[Hertz, Ge(1), Le(10_000)] | None = None
    """Frames per second to write; else the clips' own."""
