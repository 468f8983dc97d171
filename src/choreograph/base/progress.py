"""How long work tells where it is, and how a caller stops it.

A function that may take more than a second accepts `progress: Progress | None = None` and calls it now and then.
Raising `Cancelled` from the callback stops the work cleanly. The command line turns the calls into a bar, a server
into messages, tests into a list.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, Protocol

COMPILING = "compiling, once after installation"
"""What is told while kernels are compiled."""


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
        from choreograph.base.errors import Cancelled

        self.calls.append((stage, done, total))
        if self.cancel_after is not None and len(self.calls) >= self.cancel_after:
            raise Cancelled()


@contextmanager
def tell_compiling(progress: Progress) -> Iterator[None]:
    """Within it, `progress` is told of kernels that are compiled: a verb's first use may take a minute for that.

    Whoever cancels there is heard where the work itself tells of its progress next.
    """
    from numba.core.event import Listener, install_listener

    from choreograph.base.errors import Cancelled

    thread, count = threading.get_ident(), 0

    class Telling(Listener):  # type: ignore[misc]
        def on_start(self, event: Any) -> None:
            self._tell(0)

        def on_end(self, event: Any) -> None:
            self._tell(1)

        def _tell(self, more: int) -> None:
            nonlocal count
            if threading.get_ident() == thread:
                count += more
                with suppress(Cancelled):
                    progress(COMPILING, count, count + 1 - more)

    with install_listener("numba:compile", Telling()):
        yield
