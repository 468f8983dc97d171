"""What is noted about a field of a request: its unit and its bounds."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, get_args

from annotated_types import Ge, Gt, Le, Lt

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

_WIDE = 30_000
"""Bounds beyond it are left out where nobody is near them."""


@dataclass(frozen=True)
class Unit:
    """The unit of a number, for help, schema and forms."""

    text: str

    def __get_pydantic_json_schema__(self, core: Any, handler: Any) -> dict[str, Any]:
        """Say the unit in the schema too."""
        return {**handler(core), "unit": self.text}


def say_bounds(field: FieldInfo, *, whole: bool = False) -> str:
    """What a field's numbers may be, with the unit: "from 0 to 5 m"; empty where anything may be.

    Args:
        field: Of a request.
        whole: Whether bounds count that are so wide that nobody comes near them.
    """
    low, high, unit = bounds_of(field)
    widest = math.inf if whole else _WIDE
    low = low if low is not None and abs(low[1]) < widest else None
    high = high if high is not None and abs(high[1]) < widest else None
    parts = []
    if low is not None and high is not None:
        parts.append(f"from {low[1]:g} to {high[1]:g}" if not low[0] else f"above {low[1]:g}, up to {high[1]:g}")
    elif low is not None:
        parts.append(f"above {low[1]:g}" if low[0] else f"{low[1]:g} or more")
    elif high is not None:
        parts.append(f"below {high[1]:g}" if high[0] else f"up to {high[1]:g}")
    return " ".join([*parts, *([unit] if unit else [])] if parts else ([f"in {unit}"] if unit else []))


def bounds_of(field: FieldInfo) -> tuple[tuple[bool, float] | None, tuple[bool, float] | None, str]:
    """Lowest and highest value, each with whether it is left out, and the unit."""
    low = high = None
    unit = ""
    for entry in metadata_of(field):
        if isinstance(entry, Ge | Gt):
            low = (isinstance(entry, Gt), float(entry.ge if isinstance(entry, Ge) else entry.gt))  # type: ignore[arg-type]
        elif isinstance(entry, Le | Lt):
            high = (isinstance(entry, Lt), float(entry.le if isinstance(entry, Le) else entry.lt))  # type: ignore[arg-type]
        elif isinstance(entry, Unit):
            unit = entry.text
    return low, high, unit


def leads_to_field(request: Any, where: str) -> bool:
    """Whether a problem's `where` is a field of the request, so that a face can show the problem beside it.

    >>> import choreograph as cg
    >>> request = cg.FollowRequest("line", goals=[{"start_m": 1, "end_m": 2, "label": "run"}])
    >>> [leads_to_field(request, name) for name in ("", "goals[0].label", "goals[1].label", "label.text")]
    [True, True, False, False]
    """
    here = request
    for number, name in re.findall(r"\[(\d+)\]|([^.\[\]]+)", where):
        if number:
            if not isinstance(here, Sequence) or int(number) >= len(here):
                return False
            here = here[int(number)]
        elif isinstance(here, Mapping) and name in here:
            here = here[name]
        elif name in getattr(type(here), "model_fields", ()):
            here = getattr(here, name)
        else:
            return False
    return True


def metadata_of(field: FieldInfo) -> list[Any]:
    """What is noted about a field, also within `… | None`."""
    metadata = list(field.metadata)
    pending = [field.annotation]
    while pending:
        kind = pending.pop()
        metadata += getattr(kind, "__metadata__", ())
        if getattr(kind, "__metadata__", None) or type(None) in get_args(kind):
            pending += get_args(kind)
    return metadata
