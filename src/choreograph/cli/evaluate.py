"""`choreograph evaluate`: how good answers are, against recordings that were held back."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from pydantic import Field

from choreograph.cli.common import console, progress_bar
from choreograph.cli.tool import Force, add_tool
from choreograph.contract.request import Option, Request
from choreograph.contract.verb import EXAMPLES
from choreograph.evaluation.request import EvaluateRequest

if TYPE_CHECKING:
    from choreograph.evaluation.perform import Evaluation, LagLoss

_HELP = """Measure answers against recordings that were held back.

Example:

  choreograph evaluate perform leaders/ --answers followers/
"""
_COLUMNS = (
    ("ends_m", "hands, feet m", "{:.3f}"),
    ("root_m", "root m", "{:.3f}"),
    ("facing_deg", "facing °", "{:.1f}"),
    ("facing_near", "within 45°", "{:.0%}"),
    ("turns_alike", "turns alike", "{:.0%}"),
    ("phase_near", "phase within 90°", "{:.0%}"),
    ("contacts_alike", "contacts alike", "{:.0%}"),
    ("gap_m", "boundary m", "{:.3f}"),
)


class EvaluateOptions(Request):
    """What is measured."""

    subject: Annotated[str, Option(metavar=EXAMPLES.metavar), Field(description=EXAMPLES.help)]
    result: Path | None = None
    """Also write all metrics as JSON."""
    request: EvaluateRequest = Field(default_factory=EvaluateRequest)
    """How it is measured."""
    force: Force = False
    """Overwrite what exists."""


def evaluate_perform(options: EvaluateOptions) -> None:
    """Hold each recording back in turn and perform its control with the others.

    Two simple ways to answer are measured beside it: the nearest recorded frame, and segments chosen at random.

    Example:

      choreograph evaluate perform leaders/ --answers followers/
    """
    from choreograph.evaluation.perform import evaluate
    from choreograph.formats.atomic import atomic_write, check_writable

    result, request = options.result, options.request
    if result is not None:
        check_writable(result, overwrite=options.force)
    with progress_bar() as progress:
        evaluation, losses, count = evaluate(EXAMPLES.read(options.subject), request, progress=progress)
    _show(evaluation, losses, count)
    if result is not None:
        with atomic_write(result, overwrite=options.force) as temporary:
            temporary.write_text(
                json.dumps({**evaluation.as_json(), "lags": [asdict(loss) for loss in losses]}, indent=1) + "\n",
                encoding="utf-8",
            )


def _show(evaluation: Evaluation, losses: Sequence[LagLoss], count: int) -> None:
    """The table, and what is to be read from it."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    from choreograph.evaluation.perform import METHODS

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 0, 0, 1))
    table.add_column("held back", no_wrap=True)
    for title in ("s", *(title for _, title, _ in _COLUMNS)):
        table.add_column(title, justify="right", no_wrap=True)
    rows = [*zip(evaluation.names, evaluation.seconds, evaluation.single["found"], strict=True)]
    rows += [(f"all: {method}", sum(evaluation.seconds), evaluation.total[method]) for method in METHODS]
    for name, seconds, scores in rows:
        cells = (form.format(getattr(scores, field)) for field, _, form in _COLUMNS)
        table.add_row(name, f"{seconds:.1f}", *cells)
    # Numbers are never cut: where the terminal is narrow, or there is none, lines are as long as they are.
    whole = console.measure(table, options=console.options.update(max_width=1000)).maximum
    Console(width=max(console.width, whole)).print(table)
    ours, nearest, random = (evaluation.total[method].ends_m for method in METHODS)
    console.print(
        f"{count} segments; hands and feet: {ours / nearest:.2f} × nearest frame, {ours / random:.2f} × random",
        highlight=False,
    )
    mean = sum(scores.root_m for scores in evaluation.single["found"]) / len(evaluation.names)
    console.print(
        f"root: median {evaluation.total['found'].root_m:.3f} m over all frames, "
        f"{mean:.3f} m in the mean of recordings",
        highlight=False,
    )
    for loss in losses:
        console.print(
            f"decided {loss.lag_s:g} s after each moment: {loss.cost:.2f} × the cost; hands and feet off by "
            f"{loss.ends_m:.3f} m against {loss.whole_ends_m:.3f} m (before clean-up)",
            highlight=False,
        )


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    group = typer.Typer(no_args_is_help=True, help=_HELP)
    group.callback()(lambda: None)
    add_tool(group, "perform", EvaluateOptions, evaluate_perform, arguments=("subject",))
    app.add_typer(group, name="evaluate")
