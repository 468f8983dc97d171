"""`choreograph add`: more recordings for a motion graph."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from pydantic import Field

from choreograph.cli.build import Workers, command_line, interruptible, show_advice, show_outcome, stream_clips
from choreograph.cli.common import progress_bar
from choreograph.cli.tool import FILES, Files, Reading, add_tool
from choreograph.contract.request import Option, Request


class AddOptions(Request):
    """What is added to which graph."""

    graph: Annotated[Path, Option(metavar="GRAPH")]
    """The .mog file."""
    files: Annotated[Files, Field(description=FILES)]
    retarget: bool = True
    """Retarget clips of other bodies to the graph's; else they are an error."""
    skip_bad: bool = False
    """Leave out files that cannot be read, and say so."""
    workers: Workers | None = None
    """Threads to compare with; else one per processor."""
    advice: bool = True
    """Find out what would bring in the clips that were lost."""
    reading: Reading = Field(default_factory=Reading)
    """How files are read."""


def add(options: AddOptions) -> None:
    """Add clips to a motion graph; it becomes what building it from all clips at once would have made it.

    Examples:

      choreograph add people.mog new/

      choreograph add people.mog mixamo/
    """
    from choreograph.build.files import add_to_file
    from choreograph.graph.store import open_graph

    there, lines = len(open_graph(options.graph).infos), set[str]()
    with interruptible(options.graph), progress_bar() as progress:
        grown = add_to_file(
            options.graph,
            stream_clips(options.files, options.reading, lines, skip_bad=options.skip_bad),
            onto=options.retarget,
            progress=progress,
            workers=options.workers,
            command=command_line(),
        )
    show_outcome(grown, options.graph, lines)
    if options.advice:
        show_advice(grown, options.workers, since=there)


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    add_tool(app, "add", AddOptions, add, arguments=("graph", "files"))
