"""`choreograph find`: places in recordings, by words, by example, by speed, turn and feet."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from pydantic import Field

from choreograph.cli.common import console, err_console, progress_bar
from choreograph.cli.tool import Files, Force, add_tool
from choreograph.contract.request import Option
from choreograph.finding.request import FindRequest

if TYPE_CHECKING:
    from choreograph.finding.search import FindResult

_PICTURED = 12
"""Places that a picture shows at most."""


class FindOptions(FindRequest):
    """What is sought, and where."""

    files: Annotated[
        Files,
        Field(description="A motion graph (.mog), or motion files, folders (searched through) and patterns."),
    ]
    picture: Annotated[Path, Option(("--picture",))] | None = None
    """Draw the first places into a .png file, one strip of figures each."""
    force: Force = False
    """Replace a picture that is there."""
    as_json: Annotated[bool, Option(("--json",))] = False
    """Print JSON for programs."""


def find(options: FindOptions) -> None:
    """Find places in recordings: by words, by example, by speed, turn and feet.

    All that is given must hold at once. With an example the nearest places come first, with a speed, a turn or feet the
    longest, with words alone those of the first clips. Where nothing is found, the exit code is 1.

    Examples:

      choreograph find people.mog --only "walk or run"

      choreograph find people.mog --like clip.bvh --start 3 --end 4

      choreograph find recordings/ --speed 1..2 --turn 90.. --side left --picture turns.png

      choreograph find people.mog --only "clip:16_* not stop" --contact none --json
    """
    from choreograph.finding.search import find as find_places
    from choreograph.formats.atomic import check_writable

    if options.picture is not None:
        check_writable(options.picture, overwrite=options.force)
    fields = {name: getattr(options, name) for name in FindRequest.model_fields}
    request = FindRequest(**fields)
    with progress_bar() as progress:
        result = find_places(list(options.files), request, progress=progress)
        if options.picture is not None and result.places:
            _draw(result, options.picture, options.force)
    if options.as_json:
        typer.echo(json.dumps(result.as_json(), indent=2, ensure_ascii=False))
    else:
        _show(result)
        if options.picture is not None and result.places:
            console.print(f"wrote {options.picture}", highlight=False, markup=False, soft_wrap=True)
    if not result.places:
        raise typer.Exit(1)


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    add_tool(app, "find", FindOptions, find)


def _draw(result: FindResult, path: Path, force: bool) -> None:
    from choreograph.pictures.sheet import SheetSettings, write_sheet

    clips = [result.clip(place) for place in result.places[:_PICTURED]]
    write_sheet(path, clips, SheetSettings(width=1280), overwrite=force)


def _show(result: FindResult) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table

    def say(text: str, style: str | None = None) -> None:
        console.print(text, style=style, markup=False, highlight=False, soft_wrap=True)

    for text in (*result.notes, *(f"passed over: {words}" for words in result.skipped[:3])):
        err_console.print(text, style="yellow", markup=False, highlight=False, soft_wrap=True)
    if len(result.skipped) > 3:
        err_console.print(f"passed over: {len(result.skipped) - 3} more files", style="yellow")
    if not result.places:
        say(f"nothing found in {result.clips} clips; {result.hint}", "yellow")
        return
    columns = {"clip": "left", "from": "right", "to": "right"}
    by_example = result.places[0].distance_m is not None
    measured = result.places[0].speed_m_s is not None
    columns |= {"distance": "right"} if by_example else {"seconds": "right"}
    columns |= {"speed": "right", "turned": "right"} if measured else {}
    columns |= {"labels": "left"}
    rows: list[list[str]] = []
    for place in result.places:
        cells = [place.clip, f"{place.start_s:.2f} s", f"{place.stop_s:.2f} s"]
        cells.append(f"{100 * place.distance_m:.1f} cm" if place.distance_m is not None else f"{place.seconds:.2f}")
        if place.speed_m_s is not None and place.turn_deg is not None:
            side = "left" if place.turn_deg > 0 else "right"
            turned = f"{abs(place.turn_deg):.0f}° {side}" if abs(place.turn_deg) >= 5 else "-"
            cells += [f"{place.speed_m_s:.2f} m/s", turned]
        rows.append([*cells, ", ".join(place.labels)])
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 0, 0, 1))
    widths = [max(len(name), *(len(row[n]) for row in rows)) for n, name in enumerate(columns)]
    # Where there is no room for all, labels are cut short, and no figure is.
    between = 2 * len(widths) + 1
    widths[-1] = max(10, min(widths[-1], max(console.width, 90) - sum(widths[:-1]) - between))
    for (name, justify), own in zip(columns.items(), widths, strict=True):
        edge: Literal["left", "right"] = "left" if justify == "left" else "right"
        table.add_column(name, justify=edge, no_wrap=True, overflow="ellipsis", width=own)
    for row in rows:
        table.add_row(*row)
    Console(width=sum(widths) + between).print(table)
    if by_example:
        say(f"{result.clips} clips searched, the nearest {len(result.places)} places")
        return
    rest = f", the first {len(result.places)} of" if result.total > len(result.places) else ","
    places = "place" if result.total == 1 else "places"
    say(f"{result.clips} clips searched{rest} {result.total} {places}, {result.seconds:.1f} s")
