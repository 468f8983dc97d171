"""`choreograph add`: more clips for a motion graph, comparing only what is new."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from choreograph.cli.build import (
    AdviceOption,
    SkipOption,
    WorkersOption,
    command_line,
    interruptible,
    read_clips,
    show_advice,
    show_outcome,
)
from choreograph.cli.common import (
    AsfOption,
    FpsOption,
    Inputs,
    RoleOption,
    TrimOption,
    UnitOption,
    UpOption,
    progress_bar,
)


def add(
    graph: Annotated[Path, typer.Argument(help="The .mog file.", metavar="GRAPH")],
    files: Inputs,
    onto: Annotated[bool, typer.Option("--onto", help="Carry the new clips onto the graph's skeleton.")] = False,
    fps: FpsOption = None,
    unit: UnitOption = None,
    up: UpOption = None,
    asf: AsfOption = None,
    role: RoleOption = None,
    trim: TrimOption = False,
    skip_bad: SkipOption = False,
    workers: WorkersOption = None,
    advice: AdviceOption = True,
) -> None:
    """Add clips to a motion graph; it becomes what building it from all clips at once would have made it.

    Examples:

      choreograph add people.mog new/

      choreograph add people.mog 60/ --onto
    """
    from choreograph.build.files import add_to_file

    with interruptible(graph), progress_bar() as progress:
        reading = {"fps": fps, "unit": unit, "up": up, "asf": asf, "roles": role, "trim": trim}
        clips = read_clips(files, progress, skip_bad=skip_bad, **reading)
        grown = add_to_file(graph, clips, onto=onto, progress=progress, workers=workers, command=command_line())
    show_outcome(grown, graph)
    if advice:
        show_advice(grown, workers)


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command("add")(add)
