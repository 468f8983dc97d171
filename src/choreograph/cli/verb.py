"""A verb as a command: its options from its request, the subject it works on, the files it writes."""

from __future__ import annotations

import inspect
import json
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import Field

from choreograph.base.errors import Cancelled, RequestError, SearchStateError
from choreograph.base.progress import Progress, tell_compiling
from choreograph.cli.common import ForceOption, StoppedWithOutput, console, parse_size, progress_bar, stop_well
from choreograph.cli.options import add_command, collect, in_options, parameters, say_by_options, speaking
from choreograph.cli.tool import Reading
from choreograph.contract.document import SUFFIXES, Document, find_line, load_document, of_today, parse_document
from choreograph.contract.limits import beside
from choreograph.contract.problem import Severity
from choreograph.contract.request import Request, read_request
from choreograph.contract.result import Answer, Result
from choreograph.contract.search import Search
from choreograph.contract.verb import CLIP, EXAMPLES, Verb
from choreograph.formats.export import ExportSettings
from choreograph.verbs.options import entries
from choreograph.verbs.writing import STATE, OutputFiles, damaged, read_state, write_result

_MECHANICS = "Finish the motion by mechanics: the smallest change that does, where it stays natural."
_BODY_FILES = (
    ("render", "Also draw it: a contact sheet (.png) or a film (.mp4, .gif).", ("--render",)),
    ("character", "Put the motion on this character (.glb, .vrm); .glb files then keep its mesh.", ("--character",)),
)
EXIT_MISSED = 3
"""The best answer misses something, and --best-effort is not given; warnings and notes do not count."""
_STYLES = {Severity.MISSED: "red", Severity.WARNING: "yellow", Severity.NOTE: "dim"}

_DAMAGE = (ValueError, KeyError, TypeError, IndexError, AttributeError, OverflowError)
"""What reading a kept search raises where something other is written than was kept."""


class _Writing(Request):
    """How the files of any verb are written."""

    export: ExportSettings = Field(default_factory=ExportSettings)
    """How motion files are written."""


class _Motion(Request):
    """How the motion of a verb that changes one is read."""

    reading: Reading = Field(default_factory=Reading)
    """How the motion is read."""


def add_verb(app: typer.Typer, verb: Verb) -> None:
    """Add a verb's command to the application."""

    def command(**values: Any) -> None:
        with speaking():
            run(verb, values)

    add_command(app, verb.name, command, _about(verb), _parameters(verb), verb.request)


def _about(verb: Verb) -> str:
    examples = "".join(f"\n\n  choreograph {line}" for line in verb.examples)
    code = (
        f"\n\nIf the best answer does not do all that the request asks for, the exit code is {EXIT_MISSED}. Several"
        " answers are numbered: walk_1.bvh, walk_2.bvh …; in a folder as output, answers.json has all about them."
    )
    guide = f"\n\nMore in {verb.guide}." if verb.guide else ""
    return inspect.cleandoc(verb.about) + code + (f"\n\nExamples:{examples}" if examples else "") + guide


def _parameters(verb: Verb) -> list[inspect.Parameter]:
    def given(name: str, kind: Any, info: Any, default: Any = None) -> inspect.Parameter:
        return inspect.Parameter(
            name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, info]
        )

    files, panel = [], "Files"
    subject = verb.subject
    file_help = "The request as a YAML or JSON file; options count before it."
    kind = list[str] if subject.several else str
    rows = [given("subject", kind, typer.Argument(help=subject.help, metavar=subject.metavar), inspect.Parameter.empty)]
    if verb.takes_file:
        rows.append(given("request", Path | None, typer.Argument(help=file_help, metavar="REQUEST")))
    else:
        files.append(
            given("request", Path | None, typer.Option("--request", "-r", help=file_help, rich_help_panel=panel))
        )
    for name, help_text, flags in (
        ("result", "Also write all about the answers as JSON.", ("--result",)),
        *([("picture", f"Also draw it ({', '.join(verb.picture_suffixes)}).", ("--picture",))] if verb.draw else []),
        *(_BODY_FILES if verb.writes is None else ()),
        *(
            (f"output_{o.name}", f"{o.help} ({', '.join(o.suffixes)}).", (f"--{o.name.replace('_', '-')}",))
            for o in verb.outputs
        ),
    ):
        files.append(given(name, Path | None, typer.Option(*flags, help=help_text, rich_help_panel=panel)))
    what = "Motion file to write (.bvh, .glb, .npz, .amc …)" if verb.writes is None else verb.writes.help
    output = typer.Option("--output", "-o", help=f"{what}, or a folder.", rich_help_panel=panel)
    needed = inspect.Parameter.empty if verb.changes_motion else None
    files.insert(0, given("output", Path if verb.changes_motion else Path | None, output, needed))
    suffixes = [s.lstrip(".") for s in (verb.writes.suffixes if verb.writes else ("bvh", "glb", "usda", "npz …"))]
    about = f"Of motion files in a folder: {', '.join(suffixes)}."
    suffix = typer.Option("--format", help=about, rich_help_panel=panel, hidden=True)
    files.append(given("suffix", str, suffix, suffixes[0]))
    size = typer.Option(
        "--film-size", help="Pixels of the film or sheet, as 1280x720 or 1920.", rich_help_panel=panel, hidden=True
    )
    files += [given("film_size", str | None, size)] * (verb.writes is None)
    takes_mechanics = verb.changes_motion and verb.writes is None
    for name, flag, help_text in (
        ("resume", "--resume", "Go on from the search that an earlier run kept in the folder."),
        ("best_effort", "--best-effort", "Exit with 0 even if the best answer misses something."),
        *([("mechanics", "--mechanics", _MECHANICS)] * (takes_mechanics and verb.name != "physics")),
        *([("allow_code", "--allow-code", "Run the Python files whose functions the request names.")] * verb.runs_code),
    ):
        info = typer.Option(flag, help=help_text, rich_help_panel=panel, hidden=name != "allow_code")
        files.append(given(name, bool, info, False))
    files.append(inspect.Parameter("force", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=ForceOption))
    schema = typer.Option(
        "--schema", callback=_schema(verb), is_eager=True, help="Print the requests' JSON Schema and stop.", hidden=True
    )
    files.append(given("schema", bool, schema, False))
    fields = parameters(verb.request, verb.arguments, from_file=True)
    read = parameters(_Motion, advanced=True)
    if subject is not CLIP:
        read = [one for one in read if one.name.split("__")[-1] in subject.reading]
    written = parameters(_Writing, advanced=True) if verb.writes is None else []
    if "--rate" in {entry.names[0] for entry in entries(verb.request)}:  # motion made at that rate is written at it
        written = [one for one in written if one.name != "export__rate_hz"]
    return [*rows, *fields, *files, *read, *written]


def _schema(verb: Verb) -> Any:
    def show(wanted: bool) -> None:
        if wanted:
            typer.echo(json.dumps(verb.request.model_json_schema(), indent=1))
            raise typer.Exit

    return show


def run(verb: Verb, values: Mapping[str, Any]) -> None:
    """Do what a command line says."""
    document, named = _document(verb, values)
    document = of_today(document, verb.name)
    if document.migration is not None and document.migration.notes:
        _warn(
            f"{document.path} has words of version 0.1 ({'; '.join(document.migration.notes)}); "
            f"choreograph migrate {document.path} writes it in today's"
        )
    targets, search = _targets(verb, values), None
    saved = read_state(targets.folder) if values["resume"] else None
    if values["resume"] and saved is None:
        _warn(f"{targets.folder / STATE} is of version 0.1, which cannot be resumed: the search begins again")
    request, earlier = _read(verb, document, values, None if saved is None else saved[1])
    with speaking(_Writing):
        targets.check(verb, max(1, getattr(request, "count", 1)), request.people())

    def amount(stage: str, done: float, total: float) -> str | None:
        return None if search is None else search.amount(stage, done, total)

    with _naming_lines(document, verb, values), progress_bar(amount) as progress, tell_compiling(progress):
        subject, notes = _read_subject(verb, named, values)
        for note in (*notes, *request.notes()):
            _warn(in_options(note, verb.request, _Motion))
        search = verb.search(subject, request)
        if saved is not None:
            _resume(search, request, earlier, saved[0], targets.folder)
        result, stopped = _search(search, progress)
        if values.get("mechanics"):
            from choreograph.verbs.physics.physics_pass import finish_result

            result = finish_result(result, getattr(subject, "clips", ()), verb.remeasure, progress=progress)
        origin = {verb.subject.name: named}
        files = write_result(verb, result, targets, state=_state(search), origin=origin, progress=progress)
    for answer, where in zip(result.answers, files, strict=True):
        _say(": ".join([*([", ".join(map(str, where))] if where else []), describe(answer)]))
    for severity in Severity:
        for problem in result.problems:
            if problem.severity is severity:
                text = problem.text + (f" ({problem.where})" if problem.where else "")
                text = text if document.value is not None else in_options(text, verb.request)
                _say(f"{severity}: {text}", _STYLES[severity])
    if stopped is not None:
        number = len(result.answers)
        opening = "the best answer so far is" if number == 1 else f"the {number} best answers so far are"
        more = "; --resume goes on from there" if targets.is_folder and _state(search) is not None else ""
        raise StoppedWithOutput(f"stopped after {stopped:.1f} s: {opening} written{more}")
    if any(problem.missed for problem in result.problems) and not values["best_effort"]:
        raise typer.Exit(EXIT_MISSED)


@contextmanager
def _naming_lines(document: Document, verb: Verb, values: Mapping[str, Any]) -> Iterator[None]:
    """Errors about a field of the request's file name its line, whoever finds them."""
    try:
        yield
    except RequestError as error:
        by_option = re.split(r"[.\[]", error.where)[0] in collect(verb.request, values)
        if document.value is not None and not by_option and (place := find_line(document, error.where)):
            error.args = (f"{place}: {error}",)
        elif document.value is None:
            error.args = (in_options(str(error), verb.request, _Writing),)
        raise


def _document(verb: Verb, values: Mapping[str, Any]) -> tuple[Document, str]:
    """The request's file, and the subject; a request file in the subject's place names the subject itself."""
    named: str = values["subject"]
    if values["request"] is not None:
        return load_document(values["request"]), named
    if verb.subject.several or Path(named).suffix.lower() not in SUFFIXES or verb.subject.name == EXAMPLES.name:
        return Document(None, Path()), named
    document, key = load_document(named), verb.subject.metavar.lower()
    value = dict(document.value) if isinstance(document.value, dict) else {}
    subject = value.pop(key, None)
    if not isinstance(subject, str) or not subject:
        raise RequestError(
            f"{named} is a request and names no {key}; write '{key}: FILE' into it, or choreograph {verb.name} "
            f"{verb.subject.metavar} {'' if verb.takes_file else '--request '}{named}",
            where=key,
        )
    return replace(document, value=value), beside(document.path.parent, subject)


def _read(
    verb: Verb, document: Document, values: Mapping[str, Any], before: Mapping[str, Any] | None
) -> tuple[Request, Request | None]:
    """The request that file and options make together, and that of the search which is gone on with, if one is."""
    if document.value is not None and not isinstance(document.value, Mapping):
        parse_document(verb.request, document)  # which says what it should be
    whole = collect(verb.request, values, document.value)
    if before is not None and "seed" in verb.request.model_fields:  # it stays that of the search
        began = before.get("seed", verb.request.model_fields["seed"].default)
        if whole.setdefault("seed", began) != began:
            file = values["output"] / STATE
            raise RequestError(f"--seed is {whole['seed']}, but the search in {file} began with {began}", where="seed")
    try:
        request = read_request(verb.request, whole)
    except RequestError as error:
        if document.value is not None:
            parse_document(verb.request, document)  # its own mistakes are named with its lines
        mistake = say_by_options(verb.request, error)
        if verb.takes_file and not whole:
            raise RequestError(f"nothing is asked for: {mistake}. Give it, or a file: {verb.examples[0]}") from None
        raise mistake from None
    folder = document.path.parent if document.value is not None else Path()
    allow_code = bool(values.get("allow_code"))
    earlier = read_request(verb.request, before).resolved(folder, allow_code=allow_code) if before else None
    return request.resolved(folder, allow_code=allow_code), earlier


def _read_subject(verb: Verb, named: str, values: Mapping[str, Any]) -> tuple[Any, list[str]]:
    """What a verb works on, and what is to be said about it."""
    if verb.subject is not CLIP:
        options = {name: values[f"reading__{name}"] for name in verb.subject.reading}
        subject = verb.subject.read(named, **options)
        names = subject if isinstance(subject, list) else []
        return subject, [f"{one.name}: {note}" for one in names for note in getattr(one, "notes", ())]
    clip = _Motion(**collect(_Motion, values)).reading.read_first(Path(named))
    return clip, [] if clip.source is None else [str(note) for note in clip.source.notes]


def _targets(verb: Verb, values: Mapping[str, Any]) -> OutputFiles:
    others = {output.name: values[f"output_{output.name}"] for output in verb.outputs}
    try:
        export = _Writing(**collect(_Writing, values)).export
    except RequestError as error:
        raise say_by_options(_Writing, error) from None
    return OutputFiles(
        values["output"],
        "." + values["suffix"].lstrip("."),
        values["result"],
        values.get("picture"),
        values.get("render"),
        {name: path for name, path in others.items() if path is not None},
        values.get("character"),
        export,
        None if values.get("film_size") is None else parse_size(values["film_size"]),
        overwrite=values["force"] or values["resume"],
    )


def _search(search: Search, progress: Progress) -> tuple[Result, float | None]:
    """The best answers; if Ctrl-C ended the search, those there are by then, and after how many seconds."""
    begun = time.monotonic()
    try:
        with stop_well(progress) as stoppable:
            return search.run(stoppable), None
    except Cancelled:
        stopped = time.monotonic() - begun
        try:
            return search.best(), stopped
        except RequestError:  # nothing yet
            raise Cancelled from None


def _resume(search: Search, request: Request, earlier: Request | None, state: Mapping[str, Any], folder: Path) -> None:
    """Go on from a kept search; where the request is another now, with what was found for that one."""
    same = earlier is None or request.wants_same(earlier)
    if not same and earlier is not None:
        _warn(f"the request is not the one of {folder}: the search goes on from what was found, for what it is now")
        search.change(earlier)
    try:
        search.resume(state)
    except SearchStateError as error:
        raise RequestError(f"{folder / STATE}: {error} with --force") from None
    except _DAMAGE:
        raise damaged(folder) from None
    if not same:
        search.change(request)


def _state(search: Search) -> dict[str, Any] | None:
    try:
        return search.state()
    except RequestError:  # it keeps none
        return None


def describe(answer: Answer) -> str:
    """An answer in one line: its name and its metrics."""
    return "; ".join([answer.name, *(f"{m.text} {m.said}" for m in answer.metrics.values())])


def _say(text: str, style: str = "") -> None:
    console.print(text, style=style, highlight=False, markup=False, soft_wrap=True)


def _warn(text: str) -> None:
    _say(text, "yellow")
