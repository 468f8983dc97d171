"""What several verbs share: input files, reading options, progress bars."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from choreograph.errors import Cancelled, RequestError
from choreograph.progress import Progress

if TYPE_CHECKING:
    from choreograph.motion.clip import Clip

console = Console()
err_console = Console(stderr=True)

Inputs = Annotated[
    list[str],
    typer.Argument(help="Motion files, folders (searched through) or patterns such as 'clips/*.bvh'.", metavar="FILES"),
]
FpsOption = Annotated[
    float | None, typer.Option("--fps", help="Frames per second of the input, where the file is wrong or silent.")
]
UnitOption = Annotated[
    str | None,
    typer.Option(
        "--unit", help="Unit of length of the input: m, cm, mm, in, cmu or metres per unit.", show_default="judged"
    ),
]
UpOption = Annotated[
    str | None, typer.Option("--up", help="Up-axis of the input: x, y, z, -x, -y or -z.", show_default="judged")
]
AsfOption = Annotated[
    Path | None, typer.Option("--asf", help="Skeleton of AMC files.", show_default="found beside them")
]
RoleOption = Annotated[
    list[str] | None,
    typer.Option("--role", help="Say which joint is what, as left_foot=L_Ankle; repeat for more."),
]
TrimOption = Annotated[
    bool, typer.Option("--trim", help="Leave out a rest pose or a leap in the first frames, as inspect suggests.")
]
ForceOption = Annotated[bool, typer.Option("--force", "-f", help="Overwrite what exists.")]


def expand_inputs(inputs: Sequence[str]) -> list[Path]:
    """Motion files that the given names, folders and patterns stand for, each once, in a stable order."""
    from choreograph.formats.inputs import find_motion_files

    return find_motion_files(inputs)


def read_input(path: Path, **options: Any) -> Clip:
    """The clip of a file, the first where there are several; options are those of `read_inputs`."""
    return read_inputs(path, **options, first=True)[0]


def read_inputs(
    path: Path,
    *,
    fps: float | None = None,
    unit: str | None = None,
    up: str | None = None,
    asf: Path | None = None,
    roles: Sequence[str] | None = None,
    trim: bool = False,
    first: bool = False,
) -> list[Clip]:
    """The figures of a file, or only the first, with the options every verb has."""
    from choreograph.formats import read_clip, read_figures
    from choreograph.motion.trim import trimmed

    reading: dict[str, Any] = {"fps": fps, "metres_per_unit": unit, "up_axis": up, "asf": asf}
    clips = [read_clip(path, **reading)] if first else read_figures(path, **reading)
    if roles:
        known = _parse_roles(roles)
        clips = [clip.with_skeleton(clip.skeleton.with_roles(known)) for clip in clips]
    return [trimmed(clip) for clip in clips] if trim else clips


def _parse_roles(texts: Sequence[str]) -> dict[str, str]:
    roles = {}
    for text in texts:
        role, equals, joint = text.partition("=")
        if not equals or not joint:
            raise RequestError(f"a role is given as ROLE=JOINT, such as left_foot=L_Ankle; found {text!r}")
        roles[role.strip()] = joint.strip()
    return roles


def check_suffix(path: Path | None, known: tuple[str, ...], what: str) -> None:
    """Refuse a file's name, if there is one, that ends in none of these."""
    if path is not None and path.suffix.lower() not in known:
        raise RequestError(f"{what} written as {', '.join(known)}, not {path.suffix or 'without a suffix'}")


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
            said = amount(task.description, task.completed, task.total or 0) if amount else None
            if said is not None:
                return Text(said)
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


class Kept(Cancelled):
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

    def told(stage: str, done: int, total: int) -> None:
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
        yield told
        if pressed:  # after the last word
            raise Cancelled
    finally:
        signal.signal(signal.SIGINT, before)
