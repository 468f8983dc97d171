"""What a page says while something is dragged."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from choreograph.studio.document import Draft, Message, Name


class Pulled(Message):
    """A joint of a key pose that is pulled: the pose follows."""

    goal: Annotated[int, Field(ge=0, le=100_000)]
    """Which of the request's goals."""
    joint: Name
    position: tuple[float, float, float]
    """Where to, x, y, z."""


class Drag(Message):
    """What would be asked if a goal that is dragged were let go here; the motion comes back as `partial`, soon.

    Only the newest is answered. When it is let go, it is asked for like anything else.
    """

    type: Literal["drag"] = "drag"
    number: int
    """Of the drag; counts with this page's requests."""
    ask: Draft
    """To complete."""
    pull: Pulled | None = None
