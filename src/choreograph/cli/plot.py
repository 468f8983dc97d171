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
from choreograph.cli.render import Look
from choreograph.errors import RequestError


class Kind(StrEnum):
    """What can be plotted."""

    path = "path"
    angles = "angles"
    feet = "feet"


def plot(
    file: Annotated[Path, typer.Argument(help="A motion file.", metavar="FILE")],
    kind: Annotated[
        Kind,
        typer.Option(
            "--kind", "-k", help="path: the root from above; angles: joints over time; feet: heights, plants."
        ),
    ] = Kind.path,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="File to write: .png, .svg or .pdf.  [default: NAME-KIND.png]"),
    ] = None,
    joints: Annotated[
        list[str] | None,
        typer.Option("--joints", "-j", help="For angles: names or roles, as lfemur or left_hand; commas or repeated."),
    ] = None,
    theme: Annotated[Look, typer.Option("--theme", help="Colours.")] = Look.light,
    fps: FpsOption = None,
    unit: UnitOption = None,
    up: UpOption = None,
    asf: AsfOption = None,
    role: RoleOption = None,
    trim: TrimOption = False,
    force: ForceOption = False,
) -> None:
    """Plot a motion: its path, its joint angles or its feet, for the screen or a paper.

    Examples:

      choreograph plot 16_17.amc

      choreograph plot 16_17.amc --kind feet -o feet.pdf

      choreograph plot dance.bvh --kind angles --joints left_upper_arm,left_forearm -o arm.svg
    """
    from choreograph.formats.atomic import check_writable
    from choreograph.pictures.plots import PLOTS, write_plot

    target = output or Path(f"{file.stem}-{kind.value}.png")
    chosen = [name.strip() for text in joints or () for name in text.split(",") if name.strip()]
    if chosen and kind is not Kind.angles:
        raise RequestError("--joints is for --kind angles")
    check_writable(target, overwrite=force)
    clip = read_input(file, fps=fps, unit=unit, up=up, asf=asf, roles=role, trim=trim)
    options = {"joints": chosen} if kind is Kind.angles else {}
    write_plot(target, PLOTS[kind.value](clip, theme=theme.value, **options), overwrite=force)
    console.print(f"wrote {target}", highlight=False, markup=False, soft_wrap=True)


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command("plot")(plot)
