"""Requests that are being made, and what is known of them before they are asked."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from choreograph.studio.document import Draft, Message


class DraftAsk(Message):
    """A request that is being made."""

    request: Draft = {}  # noqa: RUF012 - models copy it


class FileAsk(Message):
    """A request as a file, or a drawing that joins the request that is being made."""

    name: Annotated[str, Field(max_length=255)]
    """Of the file: .yaml, .yml, .json, or .svg where the verb takes drawings."""
    text: Annotated[str, Field(max_length=16_000_000)]
    request: Draft = {}  # noqa: RUF012 - models copy it
    """What a drawing joins."""


class ExampleFacts(Message):
    """A recording that performances are made of."""

    name: str
    leader: str | None
    """Who led it, where that is somebody else."""
    seconds: float
    segments: int
    usual_m_s: float
    """Median speed of what leads it over the floor."""
    top_m_s: float


class Examples(Message):
    """What performances are made of, as a request says."""

    examples: list[ExampleFacts]
    segments: int
    longest_s: float
    """Of the segments."""
    fastest_m_s: float
    stretch_s: float
    """What suits these examples, where the request does not say."""
    continuity_s: float
