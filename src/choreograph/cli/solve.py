"""`choreograph solve`: motion from constraints, several answers to choose from."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from choreograph.cli.common import ForceOption, Kept, check_suffix, console, film_settings, progress_bar, stop_well
from choreograph.cli.solve_folder import (
    DAMAGE,
    REPORT,
    STATE,
    answer_files,
    damaged,
    read_json,
    read_state,
    staged,
    write_json,
    write_motions,
)
from choreograph.cli.solve_report import facts, line, origin
from choreograph.errors import Cancelled

if TYPE_CHECKING:
    from choreograph.finishing.settings import FinishSettings
    from choreograph.graph.model import MotionGraph
    from choreograph.motion.clip import Clip
    from choreograph.progress import Progress
    from choreograph.synthesis.solve.group import GroupRequest
    from choreograph.synthesis.solve.hierarchy import Hierarchy
    from choreograph.synthesis.solve.reach import OutOfReach
    from choreograph.synthesis.solve.request import SolveRequest
    from choreograph.synthesis.solve.search import Answer, Solver, SolveSettings
    from choreograph.synthesis.solve.together import GroupAnswer


def _show_schema(wanted: bool) -> None:
    if wanted:
        from choreograph.synthesis.solve.request_files import request_schema

        typer.echo(json.dumps(request_schema(), indent=1))
        raise typer.Exit


def solve(
    graph: Annotated[Path, typer.Argument(help="A motion graph (.mog), made by build.")],
    request: Annotated[Path, typer.Argument(help="What is wanted: a YAML or JSON file (see docs/solve.md).")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder to write the motions to.")],
    count: Annotated[int, typer.Option("--count", "-n", min=1, max=500, help="Different answers to write.")] = 5,
    seconds: Annotated[float, typer.Option("--seconds", "-s", help="How long to search.")] = 3.0,
    evaluations: Annotated[
        int | None, typer.Option("--evaluations", min=1, help="Score so many paths instead: same on any machine.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option("--seed", min=0, help="Chooses where the search begins.", show_default="0")
    ] = None,
    apart: Annotated[float, typer.Option("--apart", min=0.0, help="Metres by which answers differ at least.")] = 0.5,
    max_cut_cost: Annotated[
        float | None,
        typer.Option("--max-cut-cost", help="Greatest cost of a cut.", show_default="chosen from the motion"),
    ] = None,
    smooth: Annotated[float, typer.Option("--smooth", help="Seconds around a cut in which it is smoothed.")] = 0.2,
    raw: Annotated[bool, typer.Option("--raw", help="Leave the feet as the cuts left them.")] = False,
    rate: Annotated[
        float | None, typer.Option("--rate", help="Frames per second to write; else the clips' own.")
    ] = None,
    suffix: Annotated[str, typer.Option("--format", help="Of the motion files: bvh, glb, usda, npz …")] = "bvh",
    picture: Annotated[
        Path | None,
        typer.Option("--picture", help="Also draw the best answer, what was asked and the others' ways (.png)."),
    ] = None,
    render: Annotated[
        Path | None, typer.Option("--render", help="Also make a film of the best answer (.mp4 or .gif).")
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on from the search that an earlier run kept in the folder.")
    ] = False,
    allow_code: Annotated[
        bool, typer.Option("--allow-code", help="Run the Python files whose functions the request names.")
    ] = False,
    force: ForceOption = False,
    schema: Annotated[
        bool,
        typer.Option(
            "--schema", callback=_show_schema, is_eager=True, help="Print the requests' JSON Schema and stop."
        ),
    ] = False,
) -> None:
    """Solve a request: motions of a given length that are where they should be when they should be.

    Writes answer_1.bvh, answer_2.bvh …, the best first, and answers.json with pieces, errors and settings. What is
    printed as off is so before finishing, which meets body constraints exactly where it can. What the search knows is
    kept as search.json, from which --resume goes on to better answers; Ctrl-C ends it early. Where several people are
    asked for, GLB and USD files hold them all, other formats have a file for each: answer_1_anna.bvh.

    Examples:

      choreograph solve people.mog request.yaml -o out/ --count 5 --seconds 3

      choreograph solve people.mog request.yaml -o out/ --resume --seconds 10

      choreograph solve leads.mog dance.yaml -o out/ --format glb --render dance.mp4
    """
    from choreograph.errors import RequestError
    from choreograph.finishing.settings import FinishSettings
    from choreograph.formats.atomic import check_writable
    from choreograph.formats.registry import find_format
    from choreograph.graph.store import open_graph
    from choreograph.synthesis.solve.documents import load_document
    from choreograph.synthesis.solve.group import GroupRequest
    from choreograph.synthesis.solve.request_files import load_request
    from choreograph.synthesis.solve.search import Solver, SolveSettings

    if not 0.01 <= seconds <= 1e6:
        raise RequestError(f"--seconds is {seconds:g}; it must be a number from 0.01 to 1000000")
    asked = load_request(request, allow_code=allow_code)
    people = list(asked.characters) if isinstance(asked, GroupRequest) else []
    if people and resume:
        raise RequestError("--resume is for requests of one person; a group is searched for anew")
    targets = [answer_files(number, suffix.lstrip("."), people) for number in range(1, count + 1)]
    find_format(targets[0][0])
    check_suffix(render, (".mp4", ".gif"), "films are")
    check_suffix(picture, (".png",), "pictures are")
    finishing = FinishSettings(smooth_s=smooth, clean=not raw, rate_hz=rate)
    saved = _saved(output, seed) if resume else None
    settings = SolveSettings(saved["seed"] if saved else seed or 0, apart_m=apart)
    document = load_document(request)
    if not resume:
        for target in (*(file for files in targets for file in files), REPORT, STATE):
            check_writable(output / target, overwrite=force)
    for drawing in (picture, render):
        if drawing is not None:
            check_writable(drawing, overwrite=force or resume)
    search = _Search(count, None if evaluations else seconds, evaluations)
    with progress_bar({} if evaluations else {"searching": search.amount}) as progress:
        opened = open_graph(graph)
        cuts = _find_hierarchy(opened, max_cut_cost, progress)
        if isinstance(asked, GroupRequest):
            graphs, hierarchies = _own_graphs(asked, opened, cuts, max_cut_cost, progress)
            found = _solve_group(asked, graphs, hierarchies, search, settings, finishing, progress)
        else:
            solver = Solver(opened, asked, settings, hierarchy=cuts)
            if saved:
                before = read_json(output / REPORT).get("request", document)
                solver = _resumed(
                    solver, saved, output, None if before == document else _earlier(before, request, allow_code)
                )
            found = _solve_one(solver, search, finishing, progress)
        if not found.motions:
            raise RequestError("no motion was found in that time; search longer")
        with staged(output, overwrite=force or resume) as folder:
            for files, clips, about in zip(targets, found.motions, found.about["answers"], strict=False):
                about["files"] = write_motions(folder, files, clips, people)
            write_json(folder / REPORT, {**origin(graph, opened, document, settings, cuts), **found.about})
            if not people:
                write_json(folder / STATE, solver.as_dict())
        for files, words in zip(targets, found.lines, strict=False):
            where = ", ".join(str(output / file) for file in files)
            console.print(f"{where}: {words}", highlight=False, markup=False, soft_wrap=True)
        _draw(found, picture, render, force or resume, progress)
    if search.stopped_after is not None:
        number = len(found.motions)
        kept = "the best answer so far is" if number == 1 else f"the {number} best answers so far are"
        more = "" if people else "; --resume goes on from there"
        raise Kept(f"stopped after {search.stopped_after:.1f} s: {kept} written{more}")
    if len(found.motions) < count:
        few = f"only {len(found.motions)} of {count} answers"
        _warn(f"{few} differ from each other by {apart:g} m or more; search longer, or lower --apart")


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command("solve")(solve)


class _Search:
    """How many answers are searched for, how long, and how far that has come."""

    def __init__(self, count: int, seconds: float | None, evaluations: int | None) -> None:
        self.count, self.seconds, self.evaluations = count, seconds, evaluations
        self.solver: Solver | None = None
        self.stopped_after: float | None = None
        """Seconds of search after which Ctrl-C ended it."""

    def run(self, solver: Solver, progress: Progress) -> list[Answer]:
        """The best answers of a search; if it was stopped, those there are by then."""
        self.solver, begun = solver, time.monotonic()
        try:
            with stop_well(progress) as stoppable:
                solver.run(self.seconds, evaluations=self.evaluations, progress=stoppable)
        except Cancelled:
            self.stopped_after = time.monotonic() - begun
        answers = solver.answers(self.count)
        if self.stopped_after is not None and not answers:
            raise Cancelled
        return answers

    def amount(self, done: float, total: float) -> str:
        """Searching counts milliseconds: they are shown as seconds, with the best local minimum so far."""
        best = f", score {self.solver.minima[0].cost:.4f}" if self.solver and self.solver.minima else ""
        return f"{done / 1000:.1f}/{total / 1000:.1f} s{best}"


class _Found(NamedTuple):
    """What is written: the clips of each answer, a line about it, and everything about all of them."""

    motions: list[list[Clip]]
    lines: list[str]
    about: dict[str, Any]
    requests: list[SolveRequest]
    """What each was asked for in the best answer, for pictures of it."""


def _warn(message: str) -> None:
    console.print(message, style="yellow", markup=False, highlight=False, soft_wrap=True)


def _find_hierarchy(opened: MotionGraph, max_cut_cost: float | None, progress: Progress) -> Hierarchy:
    """A graph's hierarchy, from the cache or built; what falls out is said."""
    from choreograph.synthesis.solve.cut_costs import joining_cut_costs, say_cut_cost
    from choreograph.synthesis.solve.hierarchy import HierarchySettings
    from choreograph.synthesis.solve.prepare import find_hierarchy

    cuts = find_hierarchy(opened, HierarchySettings(max_cut_cost), progress)
    lost = cuts.lost_clips()
    if lost:
        names = ", ".join(opened.infos[clip].name for clip in lost)
        enough = joining_cut_costs(cuts.frames, cuts.max_cut_cost)[lost].max()
        _warn(
            f"{len(lost)} of {len(opened.infos)} clips cannot be cut into the others and back: {names} "
            f"(max_cut_cost is {cuts.max_cut_cost:.3g}; --max-cut-cost {say_cut_cost(enough)} would connect them, with rougher cuts)"
        )
    return cuts


def _say_limits(limits: Sequence[OutOfReach]) -> list[str]:
    for entry in limits:
        _warn(entry.message)
    return [entry.message for entry in limits]


def _saved(output: Path, seed: int | None) -> dict[str, Any]:
    """The search that an earlier run kept in the folder; its seed rules."""
    from choreograph.errors import RequestError

    state = read_state(output / STATE)
    if seed not in (None, state["seed"]):
        raise RequestError(f"--seed is {seed}, but the search in {output / STATE} began with {state['seed']}")
    return state


def _earlier(document: Any, file: Path, allow_code: bool) -> SolveRequest:
    """The request of a saved search, if it is not what the file holds now."""
    from choreograph.errors import RequestError
    from choreograph.synthesis.solve.request import SolveRequest
    from choreograph.synthesis.solve.request_files import parse_request

    request = parse_request(document, allow_code=allow_code, folder=file.parent)
    if not isinstance(request, SolveRequest):
        raise RequestError("the saved search is for several people; begin a new one with --force")
    return request


def _resumed(solver: Solver, saved: Mapping[str, Any], output: Path, earlier: SolveRequest | None) -> Solver:
    """A search that goes on from a saved one, of another request if there is one."""
    from choreograph.synthesis.solve.search import Solver

    begun = Solver(solver.graph, earlier, solver.settings, hierarchy=solver.hierarchy) if earlier else solver
    try:
        begun.resume(saved)
    except DAMAGE:
        raise damaged(output / STATE) from None
    if earlier is None:
        return begun
    _warn(f"the request is not the one of {output / STATE}: the search goes on from what was found, for what it is now")
    return begun.with_request(solver.request)


def _solve_one(solver: Solver, search: _Search, finishing: FinishSettings, progress: Progress) -> _Found:
    from choreograph.finishing.finish import finish

    limits = _say_limits(solver.out_of_reach())
    answers = search.run(solver, progress)
    motions = []
    for number, answer in enumerate(answers):
        progress("finishing", number, len(answers))
        motions.append(finish(answer.splice, finishing, body=solver.request.body))
    ends = list(zip(answers, motions, strict=True))
    about = {
        "evaluations": solver.evaluations,
        "local_minima": len(solver.minima),
        "out_of_reach": limits,
        "answers": [facts(*end) for end in ends],
    }
    return _Found([[motion.clip] for motion in motions], [line(*end) for end in ends], about, [solver.request])


def _own_graphs(
    asked: GroupRequest,
    opened: MotionGraph,
    cuts: Hierarchy,
    max_cut_cost: float | None,
    progress: Progress,
) -> tuple[dict[str, MotionGraph], dict[str, Hierarchy]]:
    """Everybody's graph and its cuts: the one given, or one of his own where the request says so."""
    from choreograph.errors import ChoreographError, RequestError
    from choreograph.graph.store import open_graph

    graphs, hierarchies = dict.fromkeys(asked.characters, opened), dict.fromkeys(asked.characters, cuts)
    own: dict[Path, tuple[MotionGraph, Hierarchy]] = {}
    for name, file in asked.graphs.items():
        if file not in own:
            try:
                its = open_graph(file)
            except ChoreographError as error:
                raise RequestError(f"characters.{name}.graph: {error}") from None
            own[file] = its, _find_hierarchy(its, max_cut_cost, progress)
        graphs[name], hierarchies[name] = own[file]
    return graphs, hierarchies


def _solve_group(
    asked: GroupRequest,
    graphs: Mapping[str, MotionGraph],
    hierarchies: Mapping[str, Hierarchy],
    search: _Search,
    settings: SolveSettings,
    finishing: FinishSettings,
    progress: Progress,
) -> _Found:
    from choreograph.synthesis.solve.together import find_group_limits, solve_together

    limits = _say_limits(find_group_limits(graphs, asked, hierarchies))
    answers: list[GroupAnswer] = []
    begun = time.monotonic()
    try:
        with stop_well(progress) as stoppable:
            answers = solve_together(
                graphs, asked, count=search.count, seconds=search.seconds, evaluations=search.evaluations,
                settings=settings, hierarchies=hierarchies, progress=stoppable,
            )  # fmt: skip
    except Cancelled:
        if not answers:
            raise
        search.stopped_after = time.monotonic() - begun
    motions = []
    for number, answer in enumerate(answers):
        progress("finishing", number, len(answers))
        motions.append([motion.clip for motion in answer.finished(finishing).values()])
    about = {
        "out_of_reach": limits,
        "answers": [
            {"score": answer.cost, "characters": {name: facts(each) for name, each in answer.answers.items()}}
            for answer in answers
        ],
    }
    lines = ["; ".join(f"{name}: {line(each)}" for name, each in answer.answers.items()) for answer in answers]
    return _Found(motions, lines, about, _placed(asked, answers[0]) if answers else [])


def _placed(asked: GroupRequest, answer: GroupAnswer) -> list[SolveRequest]:
    """What each was asked for, with the places where they meet."""
    from dataclasses import replace

    placed = []
    for name, request in asked.characters.items():
        half = 0.5 / answer.answers[name].splice.graph.rate_hz
        times = [target.at_s for target in request.body]
        times += [meeting.at_s for meeting in asked.meetings if name in meeting.who]
        body = [target for target in answer.body[name] if any(abs(target.at_s - at_s) <= half for at_s in times)]
        placed.append(replace(request, body=tuple(body)))
    return placed


def _draw(found: _Found, picture: Path | None, film: Path | None, force: bool, progress: Progress) -> None:
    if picture is None and film is None:
        return
    from choreograph.pictures.animation import write_film, write_png
    from choreograph.synthesis.solve.picture import asked_strokes, draw_solved

    best, *others = found.motions
    if picture is not None:
        ways = [clip for clips in others for clip in clips]
        write_png(picture, draw_solved(best, found.requests, others=ways), overwrite=force)
    if film is not None:
        strokes = [stroke for request in found.requests for stroke in asked_strokes(request)]
        write_film(film, best, film_settings(film), floor=strokes, overwrite=force, progress=progress)
