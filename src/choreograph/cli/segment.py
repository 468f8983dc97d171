"""`choreograph segment`: recordings cut into segments for performing, kept in a .mog file."""

from __future__ import annotations

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
    is_graph_file,
    load_base,
    read_examples,
)
from choreograph.errors import RequestError


def segment(
    examples: Examples,
    answers: AnswersOption = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The .mog file to write.", show_default="EXAMPLES, if a .mog")
    ] = None,
    cut_at: CutAtOption = None,
    cut: CutOption = False,
    control: RolesOption = None,
    alike: AlikeOption = 0.0,
    force: ForceOption = False,
) -> None:
    """Cut recordings into segments, and keep them with the recordings in a .mog file to perform with.

    Segments of a motion graph's clips are kept in its own file, which performing with it does by itself too.

    Examples:

      choreograph segment leaders/ --answers followers/ -o pairs.mog

      choreograph segment walks/ -o walks.mog

      choreograph segment people.mog --cut-at labels
    """
    if is_graph_file(examples) and answers is None:
        if output is not None:
            raise RequestError(f"segments of {examples} are kept in that file; leave out --output")
        base, path = load_base(examples, None, cut_at, control, alike=alike), Path(examples)
    else:
        from choreograph.graph.store import check_target
        from choreograph.synthesis.perform.store import save_segments

        if output is None:
            raise RequestError("say where to keep the segments: --output pairs.mog")
        check_target(output, overwrite=force)
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
