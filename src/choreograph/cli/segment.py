"""`choreograph segment`: recordings cut into segments for performing."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from pydantic import Field

from choreograph.base.errors import RequestError
from choreograph.base.progress import Progress
from choreograph.cli.build import command_line
from choreograph.cli.common import console, progress_bar
from choreograph.cli.tool import Force, add_tool
from choreograph.contract.request import Option, Request
from choreograph.contract.verb import EXAMPLES
from choreograph.verbs.perform.request import CutRequest


class SegmentOptions(Request):
    """What is cut, and where it is kept."""

    subject: Annotated[str, Option(metavar=EXAMPLES.metavar), Field(description=EXAMPLES.help)]
    output: Annotated[Path, Option(("--output", "-o"))] | None = None
    """The .mog file to write; none is needed if EXAMPLES is a .mog."""
    cutting: CutRequest = Field(default_factory=CutRequest)
    """Which recordings, and where they are cut."""
    force: Force = False
    """Overwrite what exists."""


def segment(options: SegmentOptions) -> None:
    """Cut recordings into segments, ready to perform with.

    The .mog file that is written has the recordings, who leads whom, and how they are cut. Segments are computed from
    that and are in the cache. Without --output a .mog stays as it is, and its segments are prepared.

    Examples:

      choreograph segment leaders/ --answers followers/ -o pairs.mog

      choreograph segment walks/ -o walks.mog

      choreograph segment people.mog --cut-at labels -o people_by_label.mog

      choreograph segment people.mog
    """
    with progress_bar() as progress:
        path, database = _keep(options.subject, options.output, options.cutting, options.force, progress)
    low, middle, high = np.percentile(database.seconds, [5, 50, 95])
    console.print(
        f"{path}: {len(database)} segments of {len(np.unique(database.example))} recordings, {middle:.2f} s long "
        f"({low:.2f} to {high:.2f}), led by {', '.join(database.control_roles)} at up to {database.fastest:.1f} m/s",
        highlight=False, markup=False, soft_wrap=True,
    )  # fmt: skip


def _keep(examples: str, output: Path | None, request: CutRequest, force: bool, progress: Progress) -> tuple[Path, Any]:
    """The file, and the segments of the recordings in it."""
    from choreograph.graph.model import MotionGraph
    from choreograph.graph.store import check_target, save_graph
    from choreograph.verbs.perform.prepare import find_segment_database, save_segments
    from choreograph.verbs.perform.sources import choose_examples, find_examples, graph_settings

    if output is not None:
        check_target(output, overwrite=force)
    recorded = choose_examples(EXAMPLES.read(examples), request.only)
    if isinstance(recorded, MotionGraph) and not (request.answers or request.pairs):
        settings = graph_settings(recorded, request)
        database = find_segment_database(recorded, settings)
        if output is not None:
            recorded.cut_settings = asdict(settings)
            save_graph(recorded, output, overwrite=force, command=command_line())
        return output or Path(examples), database
    if output is None:
        raise RequestError("say where to keep the recordings: --output pairs.mog")
    settings, pairs = find_examples(recorded, request, progress=progress)
    return output, save_segments(output, pairs, settings, overwrite=force, command=command_line())


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    add_tool(app, "segment", SegmentOptions, segment, arguments=("subject",))
