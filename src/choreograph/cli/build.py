"""`choreograph build`: from motion files to a motion graph in a .mog file."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from choreograph.cli.common import (
    AsfOption,
    ForceOption,
    FpsOption,
    Inputs,
    RoleOption,
    TrimOption,
    UnitOption,
    UpOption,
    console,
    err_console,
    expand_inputs,
    progress_bar,
    read_input,
    read_inputs,
)
from choreograph.errors import Cancelled, ChoreographError, RequestError

if TYPE_CHECKING:
    from choreograph.graph.model import MotionGraph
    from choreograph.graph.settings import LabelThreshold
    from choreograph.motion.clip import Clip
    from choreograph.progress import Progress

WorkersOption = Annotated[
    int | None,
    typer.Option("--workers", min=1, max=256, help="Threads to compare with.", show_default="one per processor"),
]
SkipOption = Annotated[bool, typer.Option("--skip-bad", help="Leave out files that cannot be read, and say so.")]
AdviceOption = Annotated[
    bool, typer.Option("--advice/--no-advice", help="Find out what would bring in the clips that were lost.")
]


def build(
    files: Inputs,
    output: Annotated[Path, typer.Option("--output", "-o", help="The .mog file to write.")],
    rate: Annotated[float, typer.Option("--rate", help="Frames per second at which clips are compared.")] = 30.0,
    window: Annotated[
        float, typer.Option("--window", help="Length of comparison and blend, seconds.", show_default="a third")
    ] = 1 / 3,
    threshold: Annotated[
        list[str] | None,
        typer.Option(
            "--threshold",
            help="Largest distance of a transition, centimetres RMS per joint; or, for windows with two labels, as "
            "walk:run=12. Repeat for more.",
            show_default="5",
        ),
    ] = None,
    goal: Annotated[
        str | None,
        typer.Option(
            "--goal", help="Take the lowest threshold that connects this much: 90% of the frames, or everything."
        ),
    ] = None,
    ceiling: Annotated[
        float, typer.Option("--ceiling", min=0, max=1000, help="Highest threshold a goal may take, centimetres.")
    ] = 40.0,
    weights: Annotated[
        list[str] | None,
        typer.Option(
            "--weights",
            show_default="default",
            help="Joint weights: a preset (default, uniform, lower_body), or foot=3; repeat for more.",
        ),
    ] = None,
    taper: Annotated[str, typer.Option("--taper", help="Frame weights in a window: triangle or uniform.")] = "triangle",
    mirror: Annotated[bool, typer.Option("--mirror", help="Add a mirrored copy of every clip.")] = False,
    onto: Annotated[
        Path | None,
        typer.Option("--onto", help="Carry all clips onto the skeleton of this one: for recordings of several people."),
    ] = None,
    fps: FpsOption = None,
    unit: UnitOption = None,
    up: UpOption = None,
    asf: AsfOption = None,
    role: RoleOption = None,
    trim: TrimOption = False,
    skip_bad: SkipOption = False,
    workers: WorkersOption = None,
    advice: AdviceOption = True,
    force: ForceOption = False,
) -> None:
    """Find every place where one recording can flow into another, and keep them in a .mog file.

    A build that is stopped goes on where it was when the same command is given again.

    Examples:

      choreograph build clips/ -o people.mog

      choreograph build clips/ -o people.mog --goal 90% --mirror

      choreograph build walks/ runs/ -o gaits.mog --threshold 5 --threshold walk:run=12

      choreograph build 13/ 16/ 60/ -o all.mog --onto 16/16_15.amc
    """
    from choreograph.build.files import build_file
    from choreograph.graph.settings import GraphSettings
    from choreograph.graph.store import check_target

    general, special = parse_thresholds(threshold or ())
    settings = GraphSettings(
        rate_hz=rate,
        window_s=window,
        threshold_m=general,
        label_thresholds=special,
        goal=parse_goal(goal),
        ceiling_m=ceiling / 100,
        weights=parse_weights(weights or ()),
        taper=taper,
        mirror=mirror,
    )
    check_target(output, overwrite=force)
    with interruptible(output), progress_bar() as progress:
        reading = {"fps": fps, "unit": unit, "up": up, "asf": asf, "roles": role, "trim": trim}
        clips = read_clips(files, progress, skip_bad=skip_bad, **reading)
        skeleton = None if onto is None else read_input(onto, **reading).skeleton  # type: ignore[arg-type]
        graph = build_file(
            output,
            clips,
            settings,
            onto=skeleton,
            overwrite=force,
            progress=progress,
            workers=workers,
            command=command_line(),
        )
    show_outcome(graph, output)
    if advice:
        show_advice(graph, workers)


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command("build")(build)


def command_line() -> str:
    """The command as it was given, for the file's history."""
    return " ".join(["choreograph", *sys.argv[1:]])


def parse_thresholds(texts: Sequence[str]) -> tuple[float, tuple[LabelThreshold, ...]]:
    """The general threshold in metres, and those for pairs of labels, from words such as 5 and walk:run=12."""
    from choreograph.graph.settings import GraphSettings, LabelThreshold

    general, special = GraphSettings.threshold_m, []
    for text in texts:
        labels, equals, number = text.rpartition("=")
        try:
            metres = float(number) / 100
        except ValueError:
            raise RequestError(
                f"a threshold is a number of centimetres, or LABEL:LABEL=NUMBER; found {text!r}"
            ) from None
        if not 0 <= metres <= 10:
            raise RequestError(f"a threshold is 0 to 1000 centimetres, not {number}")
        if not equals:
            general = metres
            continue
        first, colon, second = labels.partition(":")
        if not (colon and first and second):
            raise RequestError(f"a threshold for two labels is given as walk:run=12; found {text!r}")
        special.append(LabelThreshold(first.strip(), second.strip(), metres))
    return general, tuple(special)


def parse_goal(text: str | None) -> float | str | None:
    """A share from "90%" or "0.9", or "everything"."""
    if text is None or text == "everything":
        return text
    try:
        return float(text[:-1]) / 100 if text.endswith("%") else float(text)
    except ValueError:
        raise RequestError(f"a goal is a share of the frames, as 90% or 0.9, or everything; found {text!r}") from None


def parse_weights(texts: Sequence[str]) -> str | dict[str, float]:
    """A preset's name, or weights by role from words such as foot=3."""
    if not texts:
        return "default"
    if len(texts) == 1 and "=" not in texts[0]:
        return texts[0]
    weights = {}
    for text in texts:
        role, _, number = text.partition("=")
        try:
            weights[role.strip()] = float(number)
        except ValueError:
            raise RequestError(f"joint weights are one preset's name, or words like foot=3; found {text!r}") from None
    return weights


def read_clips(files: Sequence[str], progress: Progress, *, skip_bad: bool, **reading: object) -> list[Clip]:
    """All clips that the inputs stand for."""
    paths = expand_inputs(files)
    clips = []
    for done, path in enumerate(paths):
        progress("reading clips", done, len(paths))
        try:
            clips += read_inputs(path, **reading)  # type: ignore[arg-type]
        except ChoreographError as error:
            if not skip_bad:
                raise
            err_console.print(f"left out: {error}", style="yellow", markup=False, highlight=False, soft_wrap=True)
    progress("reading clips", len(paths), len(paths))
    return clips


@contextmanager
def interruptible(output: Path) -> Iterator[None]:
    """Say, when the work is stopped, what of it is kept."""
    try:
        yield
    except (KeyboardInterrupt, Cancelled):
        partial = Path(f"{output}.partial")
        if partial.exists():
            text = f"what was compared so far is in {partial}: the same command goes on from there"
            err_console.print(text, style="yellow", markup=False, highlight=False, soft_wrap=True)
        raise


def show_outcome(graph: MotionGraph, path: Path) -> None:
    """Print what was built, in a few lines."""
    from choreograph.graph.report import report_graph

    report = report_graph(graph)
    for note in graph.notes:
        _say(str(note), "yellow")
    kept = len(report.clips) - len(report.lost)
    _say(
        f"{path}: {kept} of {len(report.clips)} clips connected by {report.kept_transitions} transitions at "
        f"{100 * report.threshold_m:.3g} cm; {report.recorded / report.frames:.0%} of the frames as recorded, "
        f"{report.shown / report.frames:.0%} with blends"
    )
    if not report.nodes:
        _say("nothing connects: no place can be left and come back to. Raise --threshold, or set a --goal", "yellow")
    elif report.lost:
        _say(f"left out: {len(report.lost)} of {len(report.clips)} clips; choreograph info {path} lists them", "yellow")


def show_advice(graph: MotionGraph, workers: int | None) -> None:
    """Print which thresholds, up to four times the present one, would bring lost clips in."""
    from choreograph.build.graph import find_joining_thresholds

    with progress_bar() as progress:
        ceiling = min(4 * graph.threshold_m, 10.0)
        joins = find_joining_thresholds(graph, ceiling, progress=progress, workers=workers)
    if joins:
        some = sorted(joins.items(), key=lambda item: item[1])
        text = ", ".join(f"{name} at {100 * metres:.1f} cm" for name, metres in some[:5])
        _say(f"would join: {text}" + (f" and {len(some) - 5} more" if len(some) > 5 else ""), "dim")


def _say(text: str, style: str | None = None) -> None:
    console.print(text, style=style, markup=False, highlight=False, soft_wrap=True)
