"""`choreograph plot`: plots of motion and graphs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer
from pydantic import Field

from choreograph.base.errors import RequestError
from choreograph.cli.common import console
from choreograph.cli.plot_graph import GRAPH_KINDS, draw_graph
from choreograph.cli.render import Theme
from choreograph.cli.tool import Force, Reading, add_tool
from choreograph.contract.request import Option, Request


class PlotOptions(Request):
    """What is plotted, and how."""

    file: Annotated[Path, Option(metavar="FILE")]
    """A motion file, or a .mog file."""
    kind: (
        Annotated[
            Literal["path", "angles", "feet", "graph", "distances", "connectivity", "transitions"],
            Option(("--kind", "-k")),
        ]
        | None
    ) = None
    """Of a motion, path: the root from above; angles: joints over time; feet: heights, plants. Of a .mog file, graph:
    clips and transitions; distances: between two clips; connectivity: against the threshold; transitions: poses.
    Else path or graph."""
    output: Annotated[Path, Option(("--output", "-o"))] | None = None
    """File to write: .png, .svg or .pdf; else NAME-KIND.png here."""
    joints: Annotated[tuple[str, ...], Option(("--joints", "-j"))] = ()
    """For angles: names or roles, as lfemur or left_hand; commas or repeated."""
    clips: str = ""
    """For distances: names of two clips, as 16_15,16_47."""
    ceiling: float = 20.0
    """For connectivity: largest threshold, centimetres."""
    theme: Theme = "light"
    """Colours."""
    reading: Reading = Field(default_factory=Reading)
    """How files are read."""
    force: Force = False
    """Overwrite what exists."""


def plot(wanted: PlotOptions) -> None:
    """Plot a motion, or a motion graph, for the screen or a paper.

    Examples:

      choreograph plot 16_17.amc

      choreograph plot 16_17.amc --kind feet -o feet.pdf

      choreograph plot people.mog --kind distances --clips 16_15,16_47

      choreograph plot dance.bvh --kind angles --joints left_upper_arm,left_forearm -o arm.svg
    """
    from choreograph.formats.atomic import check_writable
    from choreograph.pictures.plots import PLOTS, write_plot

    is_graph = wanted.file.suffix.lower() == ".mog"
    kind = wanted.kind or ("graph" if is_graph else "path")
    if is_graph != (kind in GRAPH_KINDS):
        there = GRAPH_KINDS if is_graph else tuple(PLOTS)
        raise RequestError(f"there is no {kind} of {wanted.file}; choose --kind from {', '.join(there)}")
    target = wanted.output or Path(f"{wanted.file.stem}-{kind}.png")
    chosen = [name.strip() for text in wanted.joints for name in text.split(",") if name.strip()]
    if chosen and kind != "angles":
        raise RequestError("--joints is for --kind angles")
    check_writable(target, overwrite=wanted.force)
    if is_graph:
        names = [name.strip() for name in wanted.clips.split(",") if name.strip()]
        figure = draw_graph(wanted.file, kind, clips=names, ceiling_cm=wanted.ceiling, theme=wanted.theme)
    else:
        options = {"joints": chosen} if kind == "angles" else {}
        figure = PLOTS[kind](wanted.reading.read_first(wanted.file), theme=wanted.theme, **options)
    write_plot(target, figure, overwrite=wanted.force)
    console.print(f"wrote {target}", highlight=False, markup=False, soft_wrap=True)


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    add_tool(app, "plot", PlotOptions, plot, arguments=("file",))
