"""`choreograph inspect`: what is in motion files, and how their numbers were read."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from pydantic import Field

from choreograph.base.errors import ChoreographError, RequestError
from choreograph.cli.common import console, err_console, progress_bar
from choreograph.cli.options import in_options
from choreograph.cli.tool import FILES, Files, Reading, add_tool
from choreograph.contract.request import Option, Request
from choreograph.formats.inputs import find_motion_files

if TYPE_CHECKING:
    from choreograph.motion.clip import Clip
    from choreograph.motion.skeleton import Skeleton


class InspectOptions(Request):
    """What to look at."""

    files: Annotated[Files, Field(description=FILES)]
    joints: bool = False
    """List every joint with its role."""
    everything: Annotated[bool, Option(("--all",))] = False
    """List every clip and finding, however many there are; else many are summed up by folder and by kind."""
    as_json: Annotated[bool, Option(("--json",))] = False
    """Print JSON for programs."""
    reading: Reading = Field(default_factory=Reading)
    """How files are read."""


def inspect(options: InspectOptions) -> None:
    """Show what motion files hold: length, rate, joints, unit and up-axis found, and anything odd.

    Examples:

      choreograph inspect walk.bvh

      choreograph inspect archive/ --all

      choreograph inspect recordings/ --json

      choreograph inspect '16_*.amc' --fps 120 --joints
    """
    facts: list[dict[str, Any]] = []
    paths = find_motion_files(options.files)
    with progress_bar() as progress:
        for k, path in enumerate(paths):
            try:
                facts += [_facts(path, clip, options.joints) for clip in options.reading.read_all(path)]
            except RequestError:  # wrong for this file, wrong for all
                raise
            except ChoreographError as error:
                facts.append({"file": str(path), "error": in_options(str(error), Reading)})
            progress("reading", k + 1, len(paths))
    if options.as_json:
        typer.echo(json.dumps(facts, indent=2, ensure_ascii=False))
    else:
        _show(facts, options.joints, everything=options.everything)
    if any("error" in row for row in facts):
        raise typer.Exit(2)


MANY_CLIPS = 40
"""Up to so many clips are listed one by one."""
_NUMBER = re.compile(r"(?<![\w'.])\d+(?:\.\d+)?(?![\w'])")
"""A number in a sentence that is no part of a name."""
_MOST_FOLDERS = 16  # rows of the table, the largest folders
_WIDE = 100
"""Columns of the table of folders at least."""
_NARROWEST = 72
"""Columns the table takes at least, however narrow the terminal."""


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    add_tool(app, "inspect", InspectOptions, inspect)


def _facts(path: Path, clip: Clip, joints: bool) -> dict[str, Any]:
    from choreograph.formats.registry import find_format
    from choreograph.motion.clip import Source
    from choreograph.motion.contacts import find_foot_contacts
    from choreograph.motion.trim import suggest_trim

    own = find_format(path, readable=True).name
    source = clip.source
    if source is None or source.format != own:  # kept from the file it once came from, which is another matter
        source = Source(
            str(path), own, unit_reason=f"metres, as in every {own} file", up_reason=f"y in every {own} file"
        )
    advice = suggest_trim(clip)
    plants = find_foot_contacts(clip) if clip.skeleton.feet else None
    facts: dict[str, Any] = {
        "file": str(path),
        "name": clip.name,
        "format": own,
        "frames": len(clip),
        "fps": clip.fps,
        "seconds": round(clip.seconds, 4),
        "joints": len(clip.skeleton),
        "height_m": round(_height(clip.skeleton), 3),
        "metres_per_unit": source.metres_per_unit,
        "unit_reason": source.unit_reason,
        "up_axis": source.up_axis,
        "up_reason": source.up_reason,
        "floor_m": None if plants is None else round(plants.floor_height, 4),
        "floor_slope_deg": None if plants is None else round(math.degrees(math.hypot(*plants.floor_slope)), 2),
        "moving_floor": None if plants is None else plants.moving_floor,
        "labels": [[x.text, x.start, x.stop] for x in clip.labels],
        "notes": [{"kind": n.kind, "message": n.message, "count": n.count} for n in source.notes],
        "trim": {"start": advice.start, "reason": advice.reason} if advice.start else None,
    }
    if joints:
        facts["joint_roles"] = dict(zip(clip.skeleton.names, clip.skeleton.roles, strict=True))
    return facts


def _height(skeleton: Skeleton) -> float:
    """Stature in metres: of the rest pose, or along the bones where that is no pose of a body."""
    from choreograph.figure.mannequin import has_natural_rest
    from choreograph.formats.world import stature

    along_bones = None if has_natural_rest(skeleton) else stature(skeleton)
    return skeleton.height if along_bones is None else along_bones


def _show(facts: list[dict[str, Any]], joints: bool, *, everything: bool = False) -> None:
    good = [row for row in facts if "error" not in row]
    if len(facts) > MANY_CLIPS and not everything:
        _show_folders(good)
        _show_findings(facts)
    else:
        _show_clips(good)
        for row in facts:
            _remarks(row)
    if joints:
        for row in good:
            console.print(f"\n{row['name']}", style="bold", highlight=False, markup=False)
            for name, role in row["joint_roles"].items():
                console.print(f"  {name:<28} {role}", highlight=False, markup=False)


def _show_folders(good: list[dict[str, Any]]) -> None:
    """Clips summed up by the folder that they are in."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    from choreograph.formats.world import unit_name
    from choreograph.motion.labels import say_labels

    groups: dict[Path, list[dict[str, Any]]] = {}
    for row in good:
        groups.setdefault(Path(row["file"]).parent, []).append(row)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 0, 0, 1))
    table.add_column("folder", overflow="fold", min_width=12)
    for column in ("clips", "seconds", "fps", "joints", "height"):
        table.add_column(column, justify="right", no_wrap=True, min_width=len(column))
    for column in ("unit", "up"):
        table.add_column(column, no_wrap=True, min_width=len(column))
    table.add_column("labels", no_wrap=True)
    largest = sorted(groups, key=lambda folder: -len(groups[folder]))[:_MOST_FOLDERS]

    # Labels give way to the numbers.
    room = max(
        12, max(console.width, _WIDE) - 58 - min(24, max((len(folder.name) for folder in groups), default=0) + 8)
    )

    def shortened(text: str) -> str:
        return text if len(text) <= room else f"{text[: room - 1]}…"

    def spread(rows: list[dict[str, Any]], name: str) -> str:
        values = sorted({row[name] for row in rows})
        return f"{values[0]:g}" if len(values) == 1 else f"{values[0]:g}-{values[-1]:g}"

    # From the folder that all have in common: the way to it is known to who gave it.
    shared = Path(os.path.commonpath([folder.absolute() for folder in groups])).parent if groups else Path()
    for folder in sorted(largest):
        rows = groups[folder]
        heights = sorted({f"{row['height_m']:.2f}" for row in rows})
        table.add_row(
            *(str(folder.absolute().relative_to(shared)), str(len(rows)), f"{sum(row['seconds'] for row in rows):.1f}"),
            *(spread(rows, "fps"), spread(rows, "joints")),
            f"{heights[0]}-{heights[-1]} m" if len(heights) > 1 else f"{heights[0]} m",
            ", ".join(sorted({unit_name(row["metres_per_unit"]) for row in rows})),
            ", ".join(sorted({row["up_axis"] for row in rows})),
            shortened(say_labels(text for row in rows for text, _, _ in row["labels"]).replace("none", "")),
        )
    if good:
        Console(width=max(console.width, _WIDE)).print(table)
        total = sum(row["seconds"] for row in good)
        rest = f"; {len(groups) - len(largest)} more folders" if len(groups) > len(largest) else ""
        text = f"{len(good)} clips in {len(groups)} folder{'s' if len(groups) > 1 else ''}, {total:.1f} s{rest}"
        console.print(f"{text}: --all lists all clips", highlight=False, markup=False)


def _show_findings(facts: list[dict[str, Any]]) -> None:
    """What is odd, alike findings together: the first of a kind, how many there are, and where."""
    kinds: dict[tuple[str, str], list[tuple[str, str, str]]] = {}
    for row in facts:
        if "error" in row:
            text = row["error"].removeprefix(row["file"]).lstrip(":, ")
            # Where in the file is of no matter to what is wrong with it.
            kinds.setdefault(("error", re.sub(r"\d+", "#", text)), []).append(
                (row["file"], Path(row["file"]).name, text)
            )
        for kind, text in _findings(row):
            kinds.setdefault((kind, re.sub(r"[\d.]+", "#", text)), []).append((row["file"], row["name"], text))
    for (kind, _), rows in sorted(kinds.items(), key=lambda item: (item[0][0] != "error", -len(item[1]))):
        names = list({file: name for file, name, _ in rows}.values())
        more = f" and {len(names) - 3} more" if len(names) > 3 else ""
        target = err_console if kind == "error" else console
        what = _as_one([text for _, _, text in rows])
        text = f"{len(names)} file{'s' if len(names) > 1 else ''}: {what} ({', '.join(names[:3])}{more})"
        style = "red" if kind == "error" else "yellow"
        target.print(text, style=style, markup=False, highlight=False, soft_wrap=True)


def _as_one(texts: Sequence[str]) -> str:
    """What alike sentences say: numbers that differ from one to the other are told from the least to the greatest."""
    rows = [_NUMBER.findall(text) for text in texts]
    if len({len(row) for row in rows}) > 1:
        return texts[0]
    columns = iter([sorted(set(column), key=float) for column in zip(*rows, strict=True)])

    def span(_: re.Match[str]) -> str:
        column = next(columns)
        return column[0] if len(column) == 1 else f"{column[0]}–{column[-1]}"

    return _NUMBER.sub(span, texts[0])


def _findings(row: dict[str, Any]) -> list[tuple[str, str]]:
    """What is odd about a clip: kinds and sentences."""
    if "error" in row:
        return []
    rows = [
        (note["kind"], in_options(note["message"], Reading) + (f" (×{note['count']})" if note["count"] > 1 else ""))
        for note in row["notes"]
    ]
    if row["trim"]:
        rows.append(("trim", f"{row['trim']['reason']}; leave out with --trim"))
    if (row["floor_slope_deg"] or 0.0) >= 0.5:
        rows.append(
            ("sloping-floor", f"the floor slopes by {row['floor_slope_deg']:.1f}°; feet are found on it as it is")
        )
    if row["moving_floor"]:
        rows.append(("moving-floor", "feet rest at different heights (steps, a box, a slope?)"))
    return rows


def _show_clips(good: list[dict[str, Any]]) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table

    from choreograph.formats.world import unit_name

    labelled = any(row["labels"] for row in good)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 0, 0, 1))
    # Names and labels may fold on a narrow terminal; numbers are never cut.
    table.add_column("clip", overflow="fold", min_width=8)
    for column in ("frames", "fps", "seconds", "joints", "height"):
        table.add_column(column, justify="right", no_wrap=True, min_width=len(column))
    for column in ("unit", "up"):
        table.add_column(column, no_wrap=True, min_width=len(column))
    if labelled:
        table.add_column("labels", overflow="fold", min_width=8)
    for row in good:
        labels = [", ".join(dict.fromkeys(text for text, _, _ in row["labels"]))] if labelled else []
        table.add_row(
            row["name"], str(row["frames"]), f"{row['fps']:g}", f"{row['seconds']:.2f}", str(row["joints"]),
            f"{row['height_m']:.2f} m", unit_name(row["metres_per_unit"]), row["up_axis"], *labels,
        )  # fmt: skip
    if good:
        Console(width=max(console.width, _NARROWEST)).print(table)
        total = sum(row["seconds"] for row in good)
        console.print(f"{len(good)} clip{'s' if len(good) > 1 else ''}, {total:.1f} s", highlight=False)
    reasons = {f"unit: {row['unit_reason']}" for row in good} | {f"up-axis: {row['up_reason']}" for row in good}
    if len(reasons) <= 4:
        for reason in sorted(reasons):
            console.print(f"  {reason}", style="dim", highlight=False, markup=False, soft_wrap=True)


def _remarks(row: dict[str, Any]) -> None:
    def say(text: str, style: str) -> None:
        console.print(text, style=style, markup=False, highlight=False, soft_wrap=True)

    if "error" in row:
        err_console.print(f"error: {row['error']}", style="red", markup=False, highlight=False, soft_wrap=True)
        return
    for _, text in _findings(row):
        say(f"{row['name']}: {text}", "yellow")
