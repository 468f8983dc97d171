"""`choreograph plot`: figures about motion."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from choreograph.cli.common import (
    AsfOption,
    ForceOption,
    FpsOption,
    RoleOption,
    TrimOption,
    UnitOption,
    UpOption,
    console,
    read_input,
)
from choreograph.cli.plot_graph import GRAPH_KINDS, draw_graph
from choreograph.cli.render import Look
from choreograph.errors import RequestError


class Kind(StrEnum):
    """What can be plotted."""

    path = "path"
    angles = "angles"
    feet = "feet"
    graph = "graph"
    distances = "distances"
    connectivity = "connectivity"
    transitions = "transitions"


def plot(
    file: Annotated[Path, typer.Argument(help="A motion file, or a .mog file.", metavar="FILE")],
    kind: Annotated[
        Kind | None,
        typer.Option(
            "--kind",
            "-k",
            help="Of a motion, path: the root from above; angles: joints over time; feet: heights, plants. Of a .mog "
            "file, graph: clips and transitions; distances: between two clips; connectivity: against the threshold; "
            "transitions: poses.",
            show_default="path or graph",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="File to write: .png, .svg or .pdf; else NAME-KIND.png here."),
    ] = None,
    joints: Annotated[
        list[str] | None,
        typer.Option("--joints", "-j", help="For angles: names or roles, as lfemur or left_hand; commas or repeated."),
    ] = None,
    clips: Annotated[str, typer.Option("--clips", help="For distances: names of two clips, as 16_15,16_47.")] = "",
    ceiling: Annotated[
        float, typer.Option("--ceiling", help="For connectivity: largest threshold, centimetres.")
    ] = 20.0,
    theme: Annotated[Look, typer.Option("--theme", help="Colours.")] = Look.light,
    fps: FpsOption = None,
    unit: UnitOption = None,
    up: UpOption = None,
    asf: AsfOption = None,
    role: RoleOption = None,
    trim: TrimOption = False,
    force: ForceOption = False,
) -> None:
    """Plot a motion, or a motion graph, for the screen or a paper.

    Examples:

      choreograph plot 16_17.amc

      choreograph plot 16_17.amc --kind feet -o feet.pdf

      choreograph plot people.mog --kind distances --clips 16_15,16_47

      choreograph plot dance.bvh --kind angles --joints left_upper_arm,left_forearm -o arm.svg
    """
    from choreograph.formats.atomic import check_writable
    from choreograph.pictures.plots import PLOTS, write_plot

    is_graph = file.suffix.lower() == ".mog"
    kind = kind or (Kind.graph if is_graph else Kind.path)
    if is_graph != (kind.value in GRAPH_KINDS):
        there = GRAPH_KINDS if is_graph else tuple(PLOTS)
        raise RequestError(f"there is no {kind.value} of {file}; choose --kind from {', '.join(there)}")
    target = output or Path(f"{file.stem}-{kind.value}.png")
    chosen = [name.strip() for text in joints or () for name in text.split(",") if name.strip()]
    if chosen and kind is not Kind.angles:
        raise RequestError("--joints is for --kind angles")
    check_writable(target, overwrite=force)
    if is_graph:
        names = [name.strip() for name in clips.split(",") if name.strip()]
        figure = draw_graph(file, kind.value, clips=names, ceiling_cm=ceiling, theme=theme.value)
    else:
        clip = read_input(file, fps=fps, unit=unit, up=up, asf=asf, roles=role, trim=trim)
        options = {"joints": chosen} if kind is Kind.angles else {}
        figure = PLOTS[kind.value](clip, theme=theme.value, **options)
    write_plot(target, figure, overwrite=force)
    console.print(f"wrote {target}", highlight=False, markup=False, soft_wrap=True)


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command("plot")(plot)
