"""How long work tells where it is, and how a caller stops it.

A function that may take more than a second accepts `progress: Progress | None = None` and calls it now and then.
Raising `Cancelled` from the callback stops the work cleanly. The command line turns the calls into a bar, a server
into messages, tests into a list.
"""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """A callable that hears how far a piece of work has come."""

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Note that `done` of `total` units of `stage` are finished; may raise `Cancelled`."""


def silent(stage: str, done: int, total: int) -> None:
    """Ignore progress."""


class Recorder:
    """Keeps every call, and cancels after a given number of them: for tests."""

    def __init__(self, cancel_after: int | None = None) -> None:
        self.calls: list[tuple[str, int, int]] = []
        self.cancel_after = cancel_after

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Keep the call; raise `Cancelled` if enough have been kept."""
        from choreograph.errors import Cancelled

        self.calls.append((stage, done, total))
        if self.cancel_after is not None and len(self.calls) >= self.cancel_after:
            raise Cancelled()
