"""`choreograph remove`: clips out of a motion graph."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from choreograph.cli.build import command_line, show_outcome
from choreograph.cli.common import progress_bar


def remove(
    graph: Annotated[Path, typer.Argument(help="The .mog file.", metavar="GRAPH")],
    names: Annotated[list[str], typer.Argument(help="Names of clips, as info lists them.", metavar="NAMES")],
) -> None:
    """Take clips out of a motion graph; nothing is compared again.

    Example:

      choreograph remove people.mog 16_45 16_46
    """
    from choreograph.build.files import remove_from_file

    with progress_bar() as progress:
        shrunk = remove_from_file(graph, names, progress=progress, command=command_line())
    show_outcome(shrunk, graph)


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command("remove")(remove)
