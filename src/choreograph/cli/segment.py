"""`choreograph segment`: recordings cut into segments for performing, kept in a .mog file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from choreograph.cli.build import command_line
from choreograph.cli.common import ForceOption, console, progress_bar
from choreograph.cli.options import command_of, read_options
from choreograph.cli.subjects import load
from choreograph.contract.verb import EXAMPLES
from choreograph.errors import RequestError
from choreograph.progress import Progress
from choreograph.synthesis.perform.request import CutRequest

SubjectArgument = Annotated[str, typer.Argument(help=EXAMPLES.help, metavar=EXAMPLES.metavar)]


def segment(
    examples: SubjectArgument,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The .mog file to write.", show_default="EXAMPLES, if a .mog")
    ] = None,
    force: ForceOption = False,
    **options: Any,
) -> None:
    """Cut recordings into segments, and keep them with the recordings in a .mog file to perform with.

    Segments of a motion graph's clips are kept in its own file, which performing with it does by itself too.

    Examples:

      choreograph segment leaders/ --answers followers/ -o pairs.mog

      choreograph segment walks/ -o walks.mog

      choreograph segment people.mog --cut-at labels
    """
    request = read_options(CutRequest, options)
    with progress_bar() as progress:
        path, database = _keep(examples, output, request, force, progress)
    low, middle, high = np.percentile(database.seconds, [5, 50, 95])
    console.print(
        f"{path}: {len(database)} segments of {len(np.unique(database.example))} recordings, {middle:.2f} s long "
        f"({low:.2f} to {high:.2f}), led by {', '.join(database.control_roles)} at up to {database.fastest:.1f} m/s",
        highlight=False, markup=False, soft_wrap=True,
    )  # fmt: skip


def _keep(examples: str, output: Path | None, request: CutRequest, force: bool, progress: Progress) -> tuple[Path, Any]:
    """Where the segments are kept, and what they are."""
    from choreograph.graph.store import check_target
    from choreograph.synthesis.perform.sources import find_database, find_examples, is_graph_file
    from choreograph.synthesis.perform.store import save_segments

    if is_graph_file(examples) and not request.answers:
        if output is not None:
            raise RequestError(f"segments of {examples} are kept in that file; leave out --output")
        return Path(examples), find_database(load(EXAMPLES, examples, request, progress).value, request)
    if output is None:
        raise RequestError("say where to keep the segments: --output pairs.mog")
    check_target(output, overwrite=force)
    settings, recorded = find_examples(load(EXAMPLES, examples, request, progress).value, request, progress=progress)
    return output, save_segments(output, recorded, settings, overwrite=force, command=command_line())


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command("segment")(command_of(segment, CutRequest))
