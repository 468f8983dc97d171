"""`choreograph solve`: motion from constraints, several answers to choose from."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from choreograph.cli.common import ForceOption, console, progress_bar

if TYPE_CHECKING:
    from choreograph.finishing.splice import SpliceSettings
    from choreograph.graph.model import MotionGraph
    from choreograph.motion.clip import Clip
    from choreograph.progress import Progress
    from choreograph.synthesis.solve.group import GroupRequest
    from choreograph.synthesis.solve.hierarchy import Hierarchy
    from choreograph.synthesis.solve.reach import OutOfReach
    from choreograph.synthesis.solve.search import Answer, Solver, SolveSettings


def solve(
    graph: Annotated[Path, typer.Argument(help="A motion graph (.mog), made by build.")],
    request: Annotated[Path, typer.Argument(help="What is wanted: a YAML or JSON file (see docs/solve.md).")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder to write the motions to.")],
    count: Annotated[int, typer.Option("--count", "-n", min=1, max=500, help="Different answers to write.")] = 5,
    seconds: Annotated[float, typer.Option("--seconds", "-s", min=0.01, help="How long to search.")] = 3.0,
    evaluations: Annotated[
        int | None, typer.Option("--evaluations", min=1, help="Score so many paths instead: same on any machine.")
    ] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Chooses where the search begins.")] = 0,
    apart: Annotated[float, typer.Option("--apart", min=0.0, help="Metres by which answers differ at least.")] = 0.5,
    tau: Annotated[
        float | None, typer.Option("--tau", help="Greatest cost of a cut.", show_default="chosen from the motion")
    ] = None,
    keep: Annotated[
        bool, typer.Option("--keep/--no-keep", help="Keep the cuts that were found in the graph's file.")
    ] = True,
    smooth: Annotated[float, typer.Option("--smooth", help="Seconds around a cut in which it is smoothed.")] = 0.2,
    raw: Annotated[bool, typer.Option("--raw", help="Leave the feet as the cuts left them.")] = False,
    rate: Annotated[
        float | None, typer.Option("--rate", help="Frames per second to write; else the clips' own.")
    ] = None,
    suffix: Annotated[str, typer.Option("--format", help="Of the motion files: bvh, glb, usda, npz …")] = "bvh",
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on from the search that an earlier run kept in the folder.")
    ] = False,
    allow_code: Annotated[
        bool, typer.Option("--allow-code", help="Run the Python files whose functions the request names.")
    ] = False,
    force: ForceOption = False,
) -> None:
    """Solve a request: motions of a given length that are where they should be when they should be.

    Writes answer_1.bvh, answer_2.bvh …, the best first, and answers.json with pieces, errors and settings. What the
    search knows is kept as search.json, from which --resume goes on to better answers. Where several people are asked
    for, GLB and USD files hold them all, other formats have a file for each: answer_1_anna.bvh.

    Examples:

      choreograph solve people.mog request.yaml -o out/ --count 5 --seconds 3

      choreograph solve people.mog request.yaml -o out/ --resume --seconds 10

      choreograph solve leads.mog dance.yaml -o out/ --format glb
    """
    from choreograph.errors import RequestError
    from choreograph.finishing.splice import SpliceSettings
    from choreograph.formats.atomic import check_writable
    from choreograph.formats.registry import find_format
    from choreograph.graph.store import open_graph
    from choreograph.synthesis.solve.group import GroupRequest
    from choreograph.synthesis.solve.request_files import load_request
    from choreograph.synthesis.solve.search import Solver, SolveSettings

    asked = load_request(request, allow_code=allow_code)
    people = list(asked.characters) if isinstance(asked, GroupRequest) else []
    if people and resume:
        raise RequestError("--resume is for requests of one person; a group is searched for anew")
    answers = [output / f"answer_{n}.{suffix.lstrip('.')}" for n in range(1, count + 1)]
    find_format(answers[0])
    targets = {answer: _files(answer, people) for answer in answers}
    state, report = output / "search.json", output / "answers.json"
    finishing = SpliceSettings(smooth, clean=not raw, rate_hz=rate)
    settings = SolveSettings(seed, apart_m=apart)
    if not resume:
        for target in (*(file for files in targets.values() for file in files), report, state):
            check_writable(target, overwrite=force)
    limit = _Limit(None if evaluations else seconds, evaluations)
    with progress_bar() as progress:
        opened = open_graph(graph)
        cuts = _find_cuts(opened, tau, keep, progress)
        if isinstance(asked, GroupRequest):
            graphs, hierarchies = _own_graphs(asked, opened, cuts, tau, keep, progress)
            found = _solve_group(asked, graphs, hierarchies, count, limit, settings, finishing, progress)
        else:
            solver = Solver(opened, asked, settings, hierarchy=cuts)
            if resume:
                _resume(solver, state)
            found = _solve_one(solver, count, limit, finishing, progress)
        if not found.motions:
            raise RequestError("no motion was found in that time; search longer")
        output.mkdir(parents=True, exist_ok=True)
        for answer, clips, line in zip(answers, found.motions, found.lines, strict=False):
            _write(targets[answer], clips, people, force or resume)
            console.print(f"{answer}: {line}", highlight=False, markup=False, soft_wrap=True)
    _write_json(report, {**_settings(graph, request, settings, cuts), **found.about}, force or resume)
    if not people:
        _write_json(state, solver.as_dict(), force or resume)
    if len(found.motions) < count:
        _warn(f"{len(found.motions)} answers differ by {apart:g} m or more; search longer or lower --apart for {count}")


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command("solve")(solve)


class _Limit(NamedTuple):
    """How long to search."""

    seconds: float | None
    evaluations: int | None


class _Found(NamedTuple):
    """What is written: the clips of each answer, a line about it, and everything about all of them."""

    motions: list[list[Clip]]
    lines: list[str]
    about: dict[str, Any]


def _warn(message: str) -> None:
    console.print(message, style="yellow", markup=False, highlight=False, soft_wrap=True)


def _find_cuts(opened: MotionGraph, tau: float | None, keep: bool, progress: Progress) -> Hierarchy:
    """A graph's cuts, kept in its file if that can be; what falls out is said."""
    from choreograph.errors import ChoreographError
    from choreograph.synthesis.solve.cuts import find_cuts, keep_cuts, read_cuts
    from choreograph.synthesis.solve.hierarchy import HierarchySettings

    settings = HierarchySettings(tau)
    kept = read_cuts(opened, settings)
    cuts = kept or find_cuts(opened, settings, progress)
    if keep and kept is None and tau is None:
        try:
            keep_cuts(opened, cuts)
        except ChoreographError as error:  # the search does not need it
            _warn(f"the cuts are not kept, and will be found anew next time: {error}")
    lost = [opened.infos[c].name for c in cuts.lost_clips()]
    if lost:
        _warn(f"{len(lost)} of {len(opened.infos)} clips cannot be cut into the others and back: {', '.join(lost)}")
    return cuts


def _say_limits(limits: Sequence[OutOfReach]) -> list[str]:
    for entry in limits:
        _warn(entry.message)
    return [entry.message for entry in limits]


def _resume(solver: Solver, state: Path) -> None:
    from choreograph.errors import RequestError

    try:
        solver.resume(json.loads(state.read_text("utf-8")))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise RequestError(f"{state} holds no search to go on from: {error}") from None


def _solve_one(solver: Solver, count: int, limit: _Limit, finishing: SpliceSettings, progress: Progress) -> _Found:
    from choreograph.finishing.splice import finish_splice

    limits = _say_limits(solver.out_of_reach())
    solver.run(limit.seconds, evaluations=limit.evaluations, progress=progress)
    answers = solver.answers(count)
    motions = [[finish_splice(answer.splice, solver.request.body, finishing).clip] for answer in answers]
    about = {
        "evaluations": solver.evaluations,
        "local_minima": len(solver.minima),
        "out_of_reach": limits,
        "answers": [_facts(answer) for answer in answers],
    }
    return _Found(motions, [_line(answer) for answer in answers], about)


def _own_graphs(
    asked: GroupRequest, opened: MotionGraph, cuts: Hierarchy, tau: float | None, keep: bool, progress: Progress
) -> tuple[dict[str, MotionGraph], dict[str, Hierarchy]]:
    """Everybody's graph and its cuts: the one given, or one of his own where the request says so."""
    from choreograph.graph.store import open_graph

    graphs, hierarchies = dict.fromkeys(asked.characters, opened), dict.fromkeys(asked.characters, cuts)
    own: dict[Path, tuple[MotionGraph, Hierarchy]] = {}
    for name, file in asked.graphs.items():
        if file not in own:
            its = open_graph(file)
            own[file] = its, _find_cuts(its, tau, keep, progress)
        graphs[name], hierarchies[name] = own[file]
    return graphs, hierarchies


def _solve_group(
    asked: GroupRequest,
    graphs: Mapping[str, MotionGraph],
    hierarchies: Mapping[str, Hierarchy],
    count: int,
    limit: _Limit,
    settings: SolveSettings,
    finishing: SpliceSettings,
    progress: Progress,
) -> _Found:
    from choreograph.finishing.splice import finish_together
    from choreograph.synthesis.solve.together import find_group_limits, solve_together

    limits = _say_limits(find_group_limits(graphs, asked, hierarchies))
    answers = solve_together(
        graphs, asked, count=count, settings=settings, hierarchies=hierarchies, progress=progress, **limit._asdict()
    )
    motions = [[motion.clip for motion in finish_together(answer, finishing).values()] for answer in answers]
    about = {
        "out_of_reach": limits,
        "answers": [
            {"score": answer.cost, "characters": {name: _facts(each) for name, each in answer.answers.items()}}
            for answer in answers
        ],
    }
    lines = ["; ".join(f"{name}: {_line(each)}" for name, each in answer.answers.items()) for answer in answers]
    return _Found(motions, lines, about)


def _together(answer: Path) -> bool:
    return answer.suffix.lower() in (".glb", ".usd", ".usda", ".usdc")


def _files(answer: Path, people: Sequence[str]) -> list[Path]:
    """The files of an answer: one, or one for each where the format holds a single figure."""
    if not people or _together(answer):
        return [answer]
    return [answer.with_stem(f"{answer.stem}_{name}") for name in people]


def _write(files: Sequence[Path], clips: Sequence[Clip], people: Sequence[str], force: bool) -> None:
    from choreograph.formats import write_clip
    from choreograph.formats.gltf import write_glb
    from choreograph.formats.usd import write_usd

    if len(clips) > 1 and len(files) == 1:
        writer = write_glb if files[0].suffix.lower() == ".glb" else write_usd
        writer(files[0], clips, overwrite=force)
        return
    for file, clip in zip(files, clips, strict=True):
        write_clip(file, clip if people else clip.with_name(file.stem), overwrite=force)


def _line(answer: Answer) -> str:
    return f"{len(answer.splice.clip)} pieces, score {answer.cost:.4f}" + "".join(
        f"; {e.constraint} {_said(e)}" for e in answer.errors if e.cost > 1e-9
    )


def _said(error: Any) -> str:
    """How far from a constraint the motion is, before finishing."""
    import math

    parts = []
    if error.metres is not None:
        parts.append(f"{100 * error.metres:.1f} cm")
    if error.radians is not None:
        parts.append(f"{math.degrees(error.radians):.1f}°")
    return " ".join(parts) + " off" if parts else f"costs {error.cost:.3g}"


def _write_json(path: Path, content: dict[str, Any], force: bool) -> None:
    from choreograph.formats.atomic import atomic_write

    with atomic_write(path, overwrite=force) as temporary:
        temporary.write_text(json.dumps(content, ensure_ascii=False) + "\n", encoding="utf-8")


def _settings(graph: Path, request: Path, settings: SolveSettings, cuts: Hierarchy) -> dict[str, Any]:
    """What is needed to get the answers again."""
    from dataclasses import asdict

    from choreograph._version import __version__
    from choreograph.synthesis.solve.documents import load_document

    return {
        "choreograph": __version__,
        "graph": str(graph),
        "request": load_document(request),
        "settings": asdict(settings),
        "tau": cuts.tau,
        "rate_hz": cuts.frames.rate_hz,
    }


def _facts(answer: Answer) -> dict[str, Any]:
    """What is needed to understand an answer."""
    from dataclasses import asdict

    splice = answer.splice
    infos = splice.graph.infos
    return {
        "score": answer.cost,
        "local_minimum": answer.minimum,
        "errors": [asdict(error) for error in answer.errors],
        "pieces": [
            {"clip": infos[int(clip)].name, "start": int(start), "stop": int(stop)}
            for clip, start, stop in zip(splice.clip, splice.start, splice.stop, strict=True)
        ],
    }
