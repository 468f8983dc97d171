"""What the page makes tabs and forms of: the verbs."""

from __future__ import annotations

from typing import Any

from choreograph.studio.document import Message, Name


class OutputFacts(Message):
    """A file besides the motion that can be had of a verb's result."""

    name: Name
    """"picture", or as the verb calls it: "table"."""
    help: str
    suffixes: list[str]


class VerbFacts(Message):
    """A way of asking for motion: what the page makes its tab and its form of."""

    name: Name
    title: str
    summary: str
    subject: str
    """What it works on: "graph", "clip" or "examples"."""
    request: dict[str, Any]
    """JSON Schema of its requests."""
    guide: str
    outputs: list[OutputFacts] = []  # noqa: RUF012 - models copy it
    """Files besides the motion that can be had of its results."""
    changes_motion: bool = True
    """Whether its answer is another motion than it got."""
