"""What commands share: consoles, progress bars, and Ctrl-C that keeps what there is."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Annotated

import typer
from rich.console import Console

from choreograph.base.errors import Cancelled, RequestError
from choreograph.base.progress import Progress

console = Console()
err_console = Console(stderr=True)

ForceOption = Annotated[bool, typer.Option("--force", "-f", help="Overwrite what exists.")]


def _short(amount: float) -> str:
    """A count in few letters: 950, 12.3k, 75.0M."""
    for least, unit, letter in ((1e9, 1e9, "G"), (1e6, 1e6, "M"), (1e4, 1e3, "k")):
        if amount >= least:
            return f"{amount / unit:.1f}{letter}"
    return f"{amount:.0f}"


Amount = Callable[[str, float, float], str | None]
"""How much of a stage is done of how much, in words; None where it is just counted."""


@contextmanager
def progress_bar(amount: Amount | None = None) -> Iterator[Progress]:
    """A callback that draws a bar per stage on the terminal; silent where the output is no terminal.

    Args:
        amount: Says how far stages have come whose units are not just counted.
    """
    from rich.progress import (
        BarColumn,
        ProgressColumn,
        Task,
        TaskID,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )
    from rich.progress import Progress as RichProgress
    from rich.table import Column
    from rich.text import Text

    class AmountColumn(ProgressColumn):
        """How much is done of how much, and how much in a second."""

        def render(self, task: Task) -> Text:
            text = amount(task.description, task.completed, task.total or 0) if amount else None
            if text is not None:
                return Text(text)
            speed = task.finished_speed or task.speed
            rate = "" if speed is None else f"  {_short(speed)}/s"
            return Text(f"{_short(task.completed)}/{_short(task.total or 0)}{rate}")

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        AmountColumn(Column(no_wrap=True)),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    tasks: dict[str, TaskID] = {}
    with RichProgress(*columns, console=err_console, transient=True, disable=not err_console.is_terminal) as bars:

        def show(stage: str, done: int, total: int) -> None:
            if stage not in tasks:
                tasks[stage] = bars.add_task(stage, total=total)
            bars.update(tasks[stage], completed=done, total=total)

        yield show


class StoppedWithOutput(Cancelled):
    """The work was stopped, and what had come of it is kept: the message says what."""


@contextmanager
def stop_well(progress: Progress) -> Iterator[Progress]:
    """A progress of work that Ctrl-C ends by `Cancelled`, so that what has come of it can be kept.

    Before it was first told of, and from the second on, Ctrl-C is what it is anywhere: the end of the command.
    """
    before = signal.getsignal(signal.SIGINT)
    begun = pressed = False

    def press(number: int, frame: FrameType | None) -> None:
        nonlocal pressed
        if pressed or not begun:
            raise KeyboardInterrupt
        pressed = True

    def report(stage: str, done: int, total: int) -> None:
        nonlocal begun
        begun = True
        progress(stage, done, total)
        if pressed:
            raise Cancelled

    if before is not signal.default_int_handler:  # whoever began us has it off, or hears it himself
        yield progress
        return
    try:
        signal.signal(signal.SIGINT, press)
        yield report
        if pressed:  # after the last word
            raise Cancelled
    finally:
        signal.signal(signal.SIGINT, before)


def parse_size(text: str) -> tuple[int, int | None]:
    """Pixels across and, if given, down, from words such as "1280x720" or "1920"."""
    width, _, height = text.lower().partition("x")
    try:
        return int(width), int(height) if height else None
    except ValueError:
        raise RequestError(f"a size is given in pixels, as 1280x720 or 1920; found {text[:40]!r}") from None
