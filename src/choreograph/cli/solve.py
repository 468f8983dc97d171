"""`choreograph solve`: motion from constraints, several answers to choose from."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from choreograph.cli.common import ForceOption, console, progress_bar

if TYPE_CHECKING:
    from choreograph.synthesis.solve.search import Answer, Solver


def solve(
    graph: Annotated[Path, typer.Argument(help="A motion graph (.mog), made by build.")],
    request: Annotated[Path, typer.Argument(help="What is wanted: a JSON file (see docs/solve.md).")],
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
    smooth: Annotated[float, typer.Option("--smooth", help="Seconds around a cut in which it is smoothed.")] = 0.3,
    raw: Annotated[bool, typer.Option("--raw", help="Leave the feet as the cuts left them.")] = False,
    rate: Annotated[
        float | None, typer.Option("--rate", help="Frames per second to write; else the clips' own.")
    ] = None,
    suffix: Annotated[str, typer.Option("--format", help="Of the motion files: bvh, glb, npz …")] = "bvh",
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on from the search that an earlier run kept in the folder.")
    ] = False,
    force: ForceOption = False,
) -> None:
    """Solve a request: motions of a given length that are where they should be when they should be.

    Writes answer_1.bvh, answer_2.bvh …, the best first, and answers.json with pieces, errors and settings. What the
    search knows is kept as search.json, from which --resume goes on to better answers.

    Example:

      choreograph solve people.mog request.json -o out/ --count 5 --seconds 3
    """
    from choreograph.errors import RequestError
    from choreograph.finishing.splice import SpliceSettings, finish_splice
    from choreograph.formats import write_clip
    from choreograph.formats.atomic import check_writable
    from choreograph.formats.registry import find_format
    from choreograph.graph.store import open_graph
    from choreograph.synthesis.solve.cuts import find_cuts
    from choreograph.synthesis.solve.hierarchy import HierarchySettings
    from choreograph.synthesis.solve.request_files import load_request
    from choreograph.synthesis.solve.search import Solver, SolveSettings

    targets = [output / f"answer_{n}.{suffix.lstrip('.')}" for n in range(1, count + 1)]
    find_format(targets[0])
    state, report = output / "search.json", output / "answers.json"
    asked = load_request(request)
    finishing = SpliceSettings(smooth, clean=not raw, rate_hz=rate)
    if not resume:
        for target in (*targets, report, state):
            check_writable(target, overwrite=force)
    opened = open_graph(graph)
    with progress_bar() as progress:
        cuts = find_cuts(opened, HierarchySettings(tau), progress)
        lost = [opened.infos[c].name for c in cuts.lost_clips()]
        if lost:
            console.print(
                f"{len(lost)} of {len(opened.infos)} clips cannot be cut into the others and back: {', '.join(lost)}",
                style="yellow", markup=False, highlight=False, soft_wrap=True,
            )  # fmt: skip
        solver = Solver(opened, asked, SolveSettings(seed, apart_m=apart), hierarchy=cuts)
        if resume:
            try:
                solver.resume(json.loads(state.read_text("utf-8")))
            except (OSError, ValueError, KeyError, TypeError) as error:
                raise RequestError(f"{state} holds no search to go on from: {error}") from None
        solver.run(None if evaluations else seconds, evaluations=evaluations, progress=progress)
        answers = solver.answers(count)
        if not answers:
            raise RequestError("no motion was found in that time; search longer")
        output.mkdir(parents=True, exist_ok=True)
        for target, answer in zip(targets, answers, strict=False):
            motion = finish_splice(answer.splice, asked.body, finishing, name=target.stem)
            write_clip(target, motion.clip, overwrite=force or resume)
            console.print(_line(target, answer), highlight=False, markup=False, soft_wrap=True)
    _write_json(report, _as_json(graph, request, solver, answers), force or resume)
    _write_json(state, solver.as_dict(), force or resume)
    if len(answers) < count:
        console.print(
            f"{len(answers)} answers differ by {apart:g} m or more; search longer or lower --apart for {count}",
            style="yellow", highlight=False, soft_wrap=True,
        )  # fmt: skip


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command("solve")(solve)


def _line(target: Path, answer: Answer) -> str:
    return f"{target}: {len(answer.splice.clip)} pieces, score {answer.cost:.4f}" + "".join(
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


def _as_json(graph: Path, request: Path, solver: Solver, answers: list[Answer]) -> dict[str, Any]:
    """Everything needed to understand the answers and to get them again."""
    from dataclasses import asdict

    from choreograph._version import __version__

    infos = solver.graph.infos
    return {
        "choreograph": __version__,
        "graph": str(graph),
        "request": json.loads(request.read_text("utf-8")),
        "settings": asdict(solver.settings),
        "tau": solver.hierarchy.tau,
        "evaluations": solver.evaluations,
        "local_minima": len(solver.minima),
        "rate_hz": solver.graph.rate_hz,
        "answers": [
            {
                "score": answer.cost,
                "local_minimum": answer.minimum,
                "errors": [asdict(error) for error in answer.errors],
                "pieces": [
                    {"clip": infos[int(clip)].name, "start": int(start), "stop": int(stop)}
                    for clip, start, stop in zip(
                        answer.splice.clip, answer.splice.start, answer.splice.stop, strict=True
                    )
                ],
            }
            for answer in answers
        ],
    }
