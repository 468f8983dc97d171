"""`choreograph clean`: a motion file with feet that stay where they stand."""

from __future__ import annotations

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
    progress_bar,
    read_input,
)


def clean(
    file: Annotated[Path, typer.Argument(help="Motion file.", metavar="FILE")],
    output: Annotated[Path, typer.Option("--output", "-o", help="File to write.")],
    fps: FpsOption = None,
    unit: UnitOption = None,
    up: UpOption = None,
    asf: AsfOption = None,
    role: RoleOption = None,
    trim: TrimOption = False,
    force: ForceOption = False,
) -> None:
    """Keep feet where they stand: no sliding, no toes through the floor, bones as long as they were.

    Foot plants are found by height and speed. Only legs and the root's place change.

    Examples:

      choreograph clean walk.bvh -o clean.bvh

      choreograph clean robot.bvh -o clean.bvh --role left_foot=L_Ankle --role right_foot=R_Ankle
    """
    from choreograph.finishing.foot_contacts import foot_slide
    from choreograph.finishing.footskate import clean_feet
    from choreograph.formats import write_clip
    from choreograph.formats.atomic import check_writable
    from choreograph.formats.registry import find_format

    find_format(output)
    check_writable(output, overwrite=force)
    clip = read_input(file, fps=fps, unit=unit, up=up, asf=asf, roles=role, trim=trim)
    with progress_bar() as progress:
        cleaned = clean_feet(clip, progress=progress)
    write_clip(output, cleaned, overwrite=force)
    before, after = foot_slide(clip.with_contacts(cleaned.contacts)), foot_slide(cleaned)
    console.print(
        f"wrote {output}: planted feet slid {100 * before:.1f} cm, now {100 * after:.1f} cm",
        highlight=False,
        markup=False,
        soft_wrap=True,
    )


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command("clean")(clean)
