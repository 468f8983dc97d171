"""`choreograph segment`: recordings cut into segments for performing."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from choreograph.cli.build import command_line
from choreograph.cli.common import ForceOption, console
from choreograph.cli.perform import (
    AlikeOption,
    AnswersOption,
    CutAtOption,
    CutOption,
    Examples,
    RolesOption,
    cut_settings,
    is_graph_file,
    read_examples,
)
from choreograph.errors import RequestError


def segment(
    examples: Examples,
    answers: AnswersOption = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="The .mog file to write.", show_default="none, if EXAMPLES is a .mog"),
    ] = None,
    cut_at: CutAtOption = None,
    cut: CutOption = False,
    control: RolesOption = None,
    alike: AlikeOption = 0.0,
    force: ForceOption = False,
) -> None:
    """Cut recordings into segments, ready to perform with.

    The .mog file that is written has the recordings, who leads whom, and how they are cut. Segments are computed from
    that and are in the cache. Without --output a .mog stays as it is, and its segments are prepared.

    Examples:

      choreograph segment leaders/ --answers followers/ -o pairs.mog

      choreograph segment walks/ -o walks.mog

      choreograph segment people.mog --cut-at labels -o people_by_label.mog

      choreograph segment people.mog
    """
    from choreograph.graph.store import check_target, open_graph, save_graph
    from choreograph.synthesis.perform.prepare import find_segment_database
    from choreograph.synthesis.perform.store import save_segments

    if output is not None:
        check_target(output, overwrite=force)
    if is_graph_file(examples) and answers is None:
        graph, path = open_graph(examples), output or Path(examples)
        settings = cut_settings(graph, cut_at, control, alike)
        base = find_segment_database(graph, settings)
        if output is not None:
            graph.cut_settings = asdict(settings)
            save_graph(graph, output, overwrite=force, command=command_line())
    else:
        if output is None:
            raise RequestError("say where to keep the recordings: --output pairs.mog")
        settings, recorded = read_examples(examples, answers, cut_at, control, cut=cut, alike=alike)
        base, path = save_segments(output, recorded, settings, overwrite=force, command=command_line()), output
    low, middle, high = np.percentile(base.seconds, [5, 50, 95])
    console.print(
        f"{path}: {len(base)} segments of {len(np.unique(base.example))} recordings, {middle:.2f} s long "
        f"({low:.2f} to {high:.2f}), led by {', '.join(base.control_roles)} at up to {base.fastest:.1f} m/s",
        highlight=False, markup=False, soft_wrap=True,
    )  # fmt: skip


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command("segment")(segment)
