"""`choreograph info`: what a .mog file holds, what the graph kept and lost, and where it came from."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from annotated_types import Ge, Le

from choreograph.cli.build import BuildOptions, Workers
from choreograph.cli.cache import entry_facts, show_entries
from choreograph.cli.common import console, progress_bar
from choreograph.cli.options import in_options
from choreograph.cli.tool import add_tool
from choreograph.contract.request import Metres, Option, Request

if TYPE_CHECKING:
    from rich.table import Table

    from choreograph.graph.cache import CacheEntry
    from choreograph.graph.coverage import Coverage
    from choreograph.graph.model import MotionGraph
    from choreograph.graph.report import GraphReport, Join


MANY_CLIPS, MANY_LABELS = 60, 30
"""Up to so many clips and labels are listed one by one: more is no reading for a terminal."""
_MOST_FOLDERS, _MOST_LABELS = 12, 8
"""Rows of what is listed instead: all of it is a screenful."""
_LONGEST_LABEL = 40  # characters; longer labels are cut in the table


class InfoOptions(Request):
    """What is shown of which graph."""

    graph: Annotated[Path, Option(metavar="GRAPH")]
    """The .mog file."""
    joins_m: Annotated[Metres, Ge(0), Le(10), Option(("--joins",), centimetres=True)] | None = None
    """Find, up to this distance, the thresholds that bring lost clips in; unless given, as far as a moment's work
    goes."""
    workers: Workers | None = None
    """Threads to compare with; else one per processor."""
    everything: Annotated[bool, Option(("--all",))] = False
    """List all clips and labels, however many there are; else those of large graphs are summed up by folder."""
    as_json: Annotated[bool, Option(("--json",))] = False
    """Print JSON for programs."""


def info(options: InfoOptions) -> None:
    """Show what a motion graph is made of: clips and labels kept and lost, transitions, settings, history.

    It says what the graph can do, too, speeds, turns and stops, and what would bring more: a higher threshold,
    mirroring, bending, other recordings.
    Last comes what the cache holds of it: what following, solving and performing have computed from it so far.

    Examples:

      choreograph info people.mog

      choreograph info people.mog --joins 20

      choreograph info archive.mog --all

      choreograph info people.mog --json
    """
    from choreograph.build.joins import ceiling_of, find_joins, is_quick
    from choreograph.graph.coverage import report_coverage
    from choreograph.graph.report import report_graph
    from choreograph.graph.store import open_graph

    graph, opened = options.graph, open_graph(options.graph)
    joins: Sequence[Join] = ()
    # A file of examples to perform with has been compared with nothing.
    if opened.searched_m and (options.joins_m is not None or is_quick(opened)):
        ceiling = ceiling_of(opened) if options.joins_m is None else options.joins_m
        with progress_bar() as progress:
            joins = find_joins(opened, ceiling, progress=progress, workers=options.workers)
    report = report_graph(opened, joins=joins)
    coverage = report_coverage(opened, joins, labels=report.labels)
    if options.as_json:
        facts = {**_facts(graph, opened, report), "coverage": coverage.as_dict()}
        typer.echo(json.dumps(facts, indent=2, ensure_ascii=False))
    else:
        _show(graph, opened, report, coverage, everything=options.everything)


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    add_tool(app, "info", InfoOptions, info, arguments=("graph",))


def _facts(path: Path, graph: MotionGraph, report: GraphReport) -> dict[str, Any]:
    sources = {entry.name: entry for entry in graph.infos}
    plain = report.as_dict()
    for clip in plain["clips"]:
        entry = sources[clip["name"]]
        clip.update(fps=entry.fps, seconds=round(entry.seconds, 4), path=entry.path, sha256=entry.sha256)
        clip["mirror_of"] = None if entry.mirror_of is None else graph.infos[entry.mirror_of].name
    return {
        "file": str(path),
        "bytes": path.stat().st_size,
        "settings": graph.settings.as_dict(),
        "notes": [asdict(note) for note in graph.notes],
        "history": [asdict(step) for step in graph.history],
        "pairs": [[graph.infos[clip].name for clip in pair] for pair in graph.pairs],
        "cut_settings": graph.cut_settings,
        "cache": entry_facts(_cached(graph)),
        **plain,
    }


def _cached(graph: MotionGraph) -> list[CacheEntry]:
    from choreograph.graph.cache import list_entries

    return [entry for entry in list_entries() if entry.is_of(graph.fingerprint)]


def _say(text: str, style: str | None = None) -> None:
    console.print(text, style=style, markup=False, highlight=False, soft_wrap=True)


def _table(*columns: str) -> Table:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 0, 0, 1))
    for column in columns:
        text = column in ("clip", "label", "labels", "state", "folder", "person")
        table.add_column(column, justify="left" if text else "right", no_wrap=True)
    return table


def _print(table: Table, width: int = 80) -> None:
    """Print a table whole, also where the terminal is narrower."""
    from rich.console import Console

    Console(width=max(console.width, width)).print(table)


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.0%}" if whole else "-"


def _show(path: Path, graph: MotionGraph, report: GraphReport, coverage: Coverage, *, everything: bool) -> None:
    seconds = sum(entry.seconds for entry in graph.infos)
    _say(f"{path}: {len(graph.infos)} clips, {seconds:.1f} s, {path.stat().st_size / 1e6:.1f} MB")
    _say(
        f"compared at {report.rate_hz:g} Hz over windows of {report.window_frames} frames "
        f"({report.window_frames / report.rate_hz:.3g} s), threshold {100 * report.threshold_m:.3g} cm RMS per joint"
    )
    _say(
        f"{report.transitions} transitions from {report.minima} minima; connected: {report.nodes} nodes, "
        f"{report.segments} segments, {report.kept_transitions} transitions"
        + (f", {report.long_blends} of them long" if report.long_blends else "")
        + (f" (long blends join {report.waiting} clips more where a request asks for them)" if report.waiting else "")
        + (
            f"; {report.thinned_transitions} more between these nodes are farther, and left out"
            if report.thinned_transitions
            else ""
        )
    )
    _say(
        f"frames kept: {_share(report.recorded, report.frames)} as recorded, "
        f"{_share(report.shown, report.frames)} with "
        f"blends; left out: {report.dead_ends} dead ends and {report.sinks} sinks of {report.cut_points} cut points"
    )
    if everything or len(report.clips) <= MANY_CLIPS:
        _show_clips(graph, report)
    else:
        _show_folders(graph, report)
    _show_labels(report, everything)
    if graph.searched_m:
        _show_coverage(coverage)
    for note in graph.notes:
        _say(str(note), "yellow")
    for step in graph.history:
        _say(f"{step.at}  {step.command}  ({step.package_version}, {100 * step.evaluated_share:.3g} % of pairs)", "dim")
    show_entries(_cached(graph), "the cache holds nothing of it yet")


def _show_labels(report: GraphReport, everything: bool) -> None:
    if not report.labels:
        return
    largest = list(report.labels)
    if not everything and len(largest) > MANY_LABELS:
        largest = sorted(largest, key=lambda entry: -entry.frames)[:_MOST_LABELS]
    labels = _table("label", "seconds", "in it", "left out", "recorded")
    for entry in largest:
        lengths = (entry.frames, entry.recorded, entry.frames - entry.recorded)
        texts = (f"{length / report.rate_hz:.1f}" for length in lengths)
        label = entry.label if len(entry.label) <= _LONGEST_LABEL else f"{entry.label[: _LONGEST_LABEL - 1]}…"
        labels.add_row(label, *texts, _share(entry.recorded, entry.frames))
    _print(labels)
    if len(largest) < len(report.labels):
        _say(f"and {len(report.labels) - len(largest)} more labels: --all lists them", "dim")


def _show_folders(graph: MotionGraph, report: GraphReport) -> None:
    """Clips summed up by the folder that their files lie in, or by person where files are not known."""
    from choreograph.motion.query import describe_clips

    texts = describe_clips(graph.infos)
    by_folder = len({clip.folder for clip in texts}) > 1
    groups: dict[str, list[int]] = {}
    for number, clip in enumerate(texts):
        groups.setdefault((clip.folder if by_folder else clip.person) or "-", []).append(number)
    largest = sorted(groups, key=lambda name: -sum(report.clips[n].frames for n in groups[name]))
    table = _table(
        "folder" if by_folder else "person", "clips", "seconds", "recorded", "shown", "out", "in", "left out"
    )
    for name in sorted(largest[:_MOST_FOLDERS]):
        clips = [report.clips[n] for n in groups[name]]
        frames = sum(clip.frames for clip in clips)
        lost = sum(clip.state != "kept" for clip in clips)
        table.add_row(
            *(name, str(len(clips)), f"{sum(graph.infos[n].seconds for n in groups[name]):.1f}"),
            *(_share(sum(clip.recorded for clip in clips), frames), _share(sum(clip.shown for clip in clips), frames)),
            *(str(sum(clip.transitions_out for clip in clips)), str(sum(clip.transitions_in for clip in clips))),
            f"{lost} clip{'' if lost == 1 else 's'}" if lost else "",
            style="yellow" if lost == len(clips) else None,
        )
    _print(table)
    if len(largest) > _MOST_FOLDERS:
        kind = "folders" if by_folder else "people"
        _say(f"and {len(largest) - _MOST_FOLDERS} more {kind}: --all lists all clips", "dim")
    states: dict[str, list[str]] = {}
    for entry in report.lost:
        states.setdefault(entry.state, []).append(entry.name)
    for state, names in states.items():
        more = f" and {len(names) - 5} more" if len(names) > 5 else ""
        _say(f"{state}: {len(names)} clips ({', '.join(names[:5])}{more})", "yellow")


def _show_clips(graph: MotionGraph, report: GraphReport) -> None:
    advised = any(clip.joins_at_m is not None for clip in report.clips)
    columns = ("clip", "labels", "seconds", "recorded", "shown", "out", "in", "state")
    clips = _table(*columns, "joins at") if advised else _table(*columns)
    # Labels may be long, and give way to the numbers.
    longest = max((len(entry.name) for entry in graph.infos), default=0)
    numbers = 60 if advised else 51
    room = max(9, console.width - longest - numbers)
    for clip, entry in zip(report.clips, graph.infos, strict=True):
        labels = ", ".join(clip.labels)
        joins = "" if clip.joins_at_m is None else f"{100 * clip.joins_at_m:.1f} cm"
        clips.add_row(
            *(clip.name, labels if len(labels) <= room else f"{labels[: room - 1]}…", f"{entry.seconds:.1f}"),
            *(_share(clip.recorded, clip.frames), _share(clip.shown, clip.frames)),
            *(str(clip.transitions_out), str(clip.transitions_in), clip.state),
            *((joins,) if advised else ()),
            style=None if clip.state == "kept" else "yellow",
        )
    _print(clips, longest + room + numbers)


def _show_coverage(coverage: Coverage) -> None:
    """What the graph can do: turns by speed, stops, and what would bring more."""

    def metres(radius: float | None) -> str:
        return "straight" if radius is None else f"{radius:.1f} m"

    table = _table("speed", "in it", "left out", "left to", "right to", "bent to")
    for band in coverage.bands:
        inside = band.seconds > 0
        radii = [metres(band.left_m), metres(band.right_m), metres(band.bent_m)] if inside else ["-"] * 3
        table.add_row(str(band), f"{band.seconds:.1f} s", f"{band.outside_s:.1f} s", *radii)
    if coverage.bands:
        about = "" if coverage.measured_share >= 1 else f", measured on {coverage.measured_share:.0%} of the clips"
        _say(f"what it can do: speeds, and the least radius of turns at each{about}")
        _print(table)
    _say(f"stops: {coverage.stops}")
    for advice in coverage.advice:
        _say(in_options(f"more: {advice}", BuildOptions))
