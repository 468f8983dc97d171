"""`choreograph build`: from motion files to a motion graph in a .mog file."""

from __future__ import annotations

import sys
import time
from collections.abc import Container, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from annotated_types import Ge, Gt, Le
from pydantic import Field

from choreograph.base.errors import Cancelled, ChoreographError, RequestError
from choreograph.cli.common import StoppedWithOutput, console, err_console, progress_bar
from choreograph.cli.options import in_options
from choreograph.cli.tool import FILES, Files, Force, Output, Reading, add_tool
from choreograph.contract.request import Option, Request
from choreograph.formats.inputs import content_word, find_motion_files
from choreograph.graph.settings import GraphSettings, LabelThreshold

if TYPE_CHECKING:
    from choreograph.build.comparison import Compare
    from choreograph.build.staging import ClipStream
    from choreograph.graph.model import MotionGraph
    from choreograph.graph.report import Join
    from choreograph.motion.clip import Clip

Workers = Annotated[int, Ge(1), Le(256), Option(("--workers",))]
"""Threads to compare with."""


_ADVICE_S = 20.0
"""CPU seconds that advice may take in any case; more only as a share of what building took."""
_ADVICE_SHARE = 0.18
"""It stops when it next says how far it has come: within a fifth."""


class _Enough(Cancelled):
    """Advice has taken long enough."""


class BuildOptions(Request):
    """What a graph is built of, and how."""

    files: Annotated[Files, Field(description=FILES)] = ()
    output: Output | None = None
    """The .mog file to write."""
    estimate: Annotated[float, Gt(0), Le(1e6), Option(metavar="HOURS")] | None = None
    """Build nothing; say what building this many hours of motion would take."""
    cluster: Annotated[str, Option(metavar="ADDRESS")] | None = None
    """Compare on a cluster of dask.distributed: its scheduler's address, or local:4 for four processes here."""
    shards: Annotated[str, Option(metavar="FOLDER")] | None = None
    """Folder that all workers of the cluster see, by path or address; else one beside the output."""
    threshold: Annotated[tuple[str, ...], Option(metavar="CM")] = ()
    """Largest distance of a transition, centimetres RMS per joint (default 5); or, for windows with two labels, as
    walk:run=12. Repeat for more."""
    goal: str | None = None
    """Take the lowest threshold that connects this much: 90% of the frames, or everything."""
    weights: tuple[str, ...] = ()
    """Joint weights: a preset (default, uniform, lower_body), or foot=3; repeat for more."""
    graph: GraphSettings = Field(default_factory=GraphSettings)
    """How clips are compared."""
    onto: Path | None = None
    """The clip whose body the graph has; else the one of most clips."""
    retarget: bool = True
    """Retarget clips of other bodies to the graph's; else they are an error."""
    skip_bad: bool = False
    """Leave out files that cannot be read, and say so."""
    workers: Workers | None = None
    """Threads to compare with; else one per processor."""
    advice: bool = True
    """Find out what would bring in the clips that were lost."""
    reading: Reading = Field(default_factory=Reading)
    """How files are read."""
    force: Force = False
    """Overwrite what exists."""

    def settings(self) -> GraphSettings:
        """The graph's settings with what the words say."""
        general, special = parse_thresholds(self.threshold)
        changes = {"goal": parse_goal(self.goal), "weights": parse_weights(self.weights)}
        return self.graph.with_(threshold_m=general, label_thresholds=special, **changes)


def build(options: BuildOptions) -> None:
    """Find every place where one recording can flow into another, and keep them in a .mog file.

    A build that is stopped goes on where it was when the same command is given again.

    Examples:

      choreograph build clips/ -o people.mog

      choreograph build clips/ -o people.mog --goal 90% --mirror

      choreograph build walks/ runs/ -o gaits.mog --threshold 5 --threshold walk:run=12

      choreograph build 13/ 16/ 60/ -o all.mog --onto 16/16_15.amc

      choreograph build archive/ -o archive.mog --onto 16/16_15.amc --cluster local:4

      choreograph build --estimate 7.5
    """
    from choreograph.build.files import build_file
    from choreograph.graph.store import check_target

    settings = options.settings()
    if options.estimate is not None:
        from choreograph.build.estimate import estimate_build

        _say(str(estimate_build(options.estimate, settings)))
        return
    if not options.files or options.output is None:
        what = "where to keep the graph: -o people.mog" if options.files else "motion files or folders to build from"
        raise RequestError(f"give {what}")
    check_target(options.output, overwrite=options.force)
    started, seen = time.process_time(), set[str]()
    with interruptible(options.output), progress_bar() as progress, compared_by(options) as compare:
        graph = build_file(
            options.output,
            stream_clips(options.files, options.reading, seen, skip_bad=options.skip_bad),
            settings,
            onto=options.retarget if options.onto is None else options.reading.read_first(options.onto).skeleton,
            overwrite=options.force,
            progress=progress,
            workers=compare or options.workers,
            command=command_line(),
        )
    spent = time.process_time() - started
    show_outcome(graph, options.output, seen)
    if options.advice:
        show_advice(graph, options.workers, max(_ADVICE_S, _ADVICE_SHARE * spent))


@contextmanager
def compared_by(options: BuildOptions) -> Iterator[Compare | None]:
    """The cluster that was asked for, if one was."""
    if options.cluster is None:
        yield None
        return
    from choreograph.build.cluster import open_cluster
    from choreograph.build.shards import shards_folder

    assert options.output is not None
    with open_cluster(options.cluster, shards_folder(options.shards, options.output)) as compare:
        yield compare


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    add_tool(app, "build", BuildOptions, build)


def command_line() -> str:
    """The command as it was given, for the file's history."""
    return " ".join(["choreograph", *sys.argv[1:]])


def parse_thresholds(texts: Sequence[str]) -> tuple[float, tuple[LabelThreshold, ...]]:
    """The general threshold in metres, and those for pairs of labels, from words such as 5 and walk:run=12."""
    general, special = GraphSettings().threshold_m, []
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
        special.append(LabelThreshold(first=first.strip(), second=second.strip(), threshold_m=metres))
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


def stream_clips(files: Sequence[str], reading: Reading, seen: set[str], *, skip_bad: bool) -> ClipStream:
    """All clips that the inputs stand for, each file read when its turn comes; what was assumed is said once.

    Args:
        files: As they were given.
        reading: How they are read.
        seen: Gets the notes that were said while files were read.
        skip_bad: Whether files that cannot be read are left out.
    """
    from choreograph.build.prepare import note_unread
    from choreograph.build.staging import ClipStream

    paths = find_motion_files(files)

    def say(text: str) -> None:
        text = in_options(text, BuildOptions)
        err_console.print(text, style="yellow", markup=False, highlight=False, soft_wrap=True)

    def read(number: int) -> list[Clip]:
        try:
            clips = reading.read_all(paths[number])
            notes = {str(note): clip for clip in clips if clip.source is not None for note in clip.source.notes}
            for text in (text for text in notes if text not in seen):
                say(f"{notes[text].name}: {text}")
            seen.update(notes)
            return clips
        except ChoreographError as error:
            if skip_bad:
                seen.add(str(note_unread(error)))
                say(f"left out: {error}")
            elif len(paths) > 1:
                error.args = (f"{error}; --skip-bad leaves out what cannot be read, and says so",)
            raise

    return ClipStream([f"{content_word(path, reading.asf)} {reading!r} {skip_bad}" for path in paths], read, skip_bad)


@contextmanager
def interruptible(output: Path) -> Iterator[None]:
    """Say, when the work is stopped, what of it is kept."""
    try:
        yield
    except (KeyboardInterrupt, Cancelled):
        for suffix, what in ((".partial", "compared"), (".clips", "read")):
            partial = Path(f"{output}{suffix}")
            if partial.exists():
                message = f"stopped; what was {what} so far is in {partial}: the same command goes on from there"
                raise StoppedWithOutput(message) from None
        raise


def show_outcome(graph: MotionGraph, path: Path, seen: Container[str] = ()) -> None:
    """Print what was built, in a few lines, and the notes that have not been said."""
    from choreograph.graph.report import report_graph

    report = report_graph(graph)
    for note in graph.notes:
        if str(note) not in seen:
            _say(in_options(str(note), BuildOptions), "yellow")
    remaining = len(report.clips) - len(report.lost)
    _say(
        f"{path}: {remaining} of {len(report.clips)} clips connected by {report.kept_transitions} transitions at "
        f"{100 * report.threshold_m:.3g} cm; {report.recorded / report.frames:.0%} of the frames as recorded, "
        f"{report.shown / report.frames:.0%} with blends"
    )
    if not report.nodes:
        _say("nothing connects: no place can be left and come back to. Raise --threshold, or set a --goal", "yellow")
    elif report.lost:
        _say(f"left out: {len(report.lost)} of {len(report.clips)} clips; choreograph info {path} lists them", "yellow")
    if report.waiting:
        text = "long blends join {} of those where a request asks for a label, a speed or a clip that only they have"
        _say(text.format(report.waiting))


def show_advice(graph: MotionGraph, workers: int | None, at_most_s: float = _ADVICE_S, since: int = 0) -> None:
    """Print what would bring lost clips in, see `advise`, unless finding out takes more CPU time than this."""
    from choreograph.build.joins import advise

    start = time.process_time()
    with progress_bar() as progress:

        def within(stage: str, done: int, total: int) -> None:
            progress(stage, done, total)
            if time.process_time() - start > at_most_s:
                raise _Enough

        try:
            advice = advise(graph, progress=within, workers=workers, since=since)
        except _Enough:
            _say("what would bring in the clips left out takes longer to find: ask choreograph info for it", "dim")
            return
    joins = advice.joins
    if joins and str(advice):
        _say(f"{advice}:", "dim")
    near = sorted((join for join in joins if join.threshold_m is not None), key=lambda join: join.threshold_m or 0.0)
    far = [join for join in joins if join.threshold_m is None]
    if near:
        more = f" and {len(near) - 5} more" if len(near) > 5 else ""
        texts = (_say_join(join) for join in near[:5])
        _say(f"would join: {', '.join(texts)}{more}", "dim")
    if far:
        more = f" and {len(far) - 5} more" if len(far) > 5 else ""
        names = ", ".join(join.clip for join in far[:5])
        _say(f"nothing below {100 * far[0].looked_to_m:.3g} cm brings in: {names}{more}", "dim")


def _say_join(join: Join) -> str:
    """What brings a clip in."""
    by = "" if join.bridge is None or join.bridge[0] != join.clip else f" by way of {join.bridge[1]}"
    return f"{join.clip} at {100 * (join.threshold_m or 0.0):.1f} cm{by}"


def _say(text: str, style: str | None = None) -> None:
    console.print(text, style=style, markup=False, highlight=False, soft_wrap=True)
