"""`choreograph clean`: a motion file with feet that stay where they stand."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from pydantic import Field

from choreograph.cli.common import console, progress_bar
from choreograph.cli.tool import Force, Output, Reading, add_tool, say_notes
from choreograph.contract.request import Option, Request


class CleanOptions(Request):
    """What to clean."""

    file: Annotated[Path, Option(metavar="FILE")]
    """Motion file."""
    output: Output
    """File to write."""
    reading: Reading = Field(default_factory=Reading)
    """How it is read."""
    force: Force = False
    """Overwrite what exists."""


def clean(options: CleanOptions) -> None:
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

    find_format(options.output)
    check_writable(options.output, overwrite=options.force)
    clip = options.reading.read_first(options.file)
    say_notes([clip])
    with progress_bar() as progress:
        cleaned = clean_feet(clip, progress=progress)
    write_clip(options.output, cleaned, overwrite=options.force)
    before, after = foot_slide(clip.with_contacts(cleaned.contacts)), foot_slide(cleaned)
    text = f"wrote {options.output}: planted feet slid {100 * before:.1f} cm, now {100 * after:.1f} cm"
    console.print(text, highlight=False, markup=False, soft_wrap=True)


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    add_tool(app, "clean", CleanOptions, clean, arguments=("file",))
