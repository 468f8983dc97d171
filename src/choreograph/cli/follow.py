"""`choreograph follow`: a person walking a path, from a motion graph."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from choreograph.cli.common import ForceOption, check_suffix, console, film_settings, progress_bar
from choreograph.errors import RequestError

if TYPE_CHECKING:
    from choreograph.finishing.pipeline import FinishedMotion
    from choreograph.graph.model import MotionGraph
    from choreograph.synthesis.follow.result import FollowResult
    from choreograph.synthesis.path import Path as FloorPath


def follow(
    graph: Annotated[Path, typer.Argument(help="A motion graph (.mog), made by build.")],
    path: Annotated[
        str,
        typer.Option(
            "--path", "-p", help="The path: a .csv, .json or .svg file, or a shape such as circle:radius=4 or eight."
        ),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Motion file to write (.bvh, .glb, .npz, .amc …).")],
    scale: Annotated[str | None, typer.Option("--scale", help="Metres per unit of the path's file, or m, cm …")] = None,
    flip: Annotated[bool, typer.Option("--flip", help="Mirror the path left to right.")] = False,
    smooth: Annotated[float, typer.Option("--smooth", min=0.0, help="Smooth the path over so many metres.")] = 0.0,
    rounded: Annotated[float, typer.Option("--round", min=0.0, help="Round its corners to this radius, metres.")] = 0.0,
    facing: Annotated[float | None, typer.Option("--facing", help="Where to look at the end, degrees from +z.")] = None,
    speed: Annotated[float | None, typer.Option("--speed", help="Speed along the whole path, m/s.")] = None,
    label: Annotated[
        str | None, typer.Option("--label", help="Use clips with this label, such as walk or run.")
    ] = None,
    prefer: Annotated[
        list[str] | None,
        typer.Option("--prefer", help="Stay in a clip unless another is better by a margin in m²·s: CLIP=0.01."),
    ] = None,
    start_clip: Annotated[str | None, typer.Option("--start-clip", help="Clip to begin in.")] = None,
    start_frame: Annotated[int | None, typer.Option("--start-frame", help="Frame of it, at its own rate.")] = None,
    start_heading: Annotated[
        float | None, typer.Option("--start-heading", help="Direction of travel at the start, degrees from +z.")
    ] = None,
    count: Annotated[int, typer.Option("--count", "-n", min=1, max=100, help="Different answers to find.")] = 1,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Same seed, same answer.")] = 0,
    method: Annotated[str, typer.Option("--method", help="bound, beam or thesis (see docs/follow.md).")] = "bound",
    horizon: Annotated[float, typer.Option("--horizon", help="Seconds looked ahead.")] = 20.0,
    retain: Annotated[float, typer.Option("--retain", help="Seconds kept of each look.")] = 1.0,
    beam: Annotated[int, typer.Option("--beam", min=1, max=100_000, help="Walks kept at a time.")] = 260,
    budget: Annotated[int, typer.Option("--budget", min=0, help="Frames branch and bound may score a look.")] = 3_000,
    max_seconds: Annotated[float | None, typer.Option("--max-seconds", help="Time after which to hurry.")] = None,
    transition_cost: Annotated[
        float, typer.Option("--transition-cost", help="Price of a change of clip, m²·s.")
    ] = 0.01,
    progress_speed: Annotated[float, typer.Option("--gamma", help="Forced progress, m/s.")] = 0.3,
    blend: Annotated[str, typer.Option("--blend", help="linear, cubic or anticipation.")] = "cubic",
    preset: Annotated[
        str, typer.Option("--preset", help="Which parts an anticipation blend sends ahead, such as 'arms first'.")
    ] = "even",
    raw: Annotated[bool, typer.Option("--raw", help="Leave the feet as the blends left them.")] = False,
    rate: Annotated[
        float | None, typer.Option("--rate", help="Frames per second to write; else the clips' own.")
    ] = None,
    result: Annotated[
        Path | None, typer.Option("--result", help="Also write walk, costs, settings, seed and times as JSON.")
    ] = None,
    picture: Annotated[
        Path | None, typer.Option("--picture", help="Also plot asked-for against walked path (.png, .svg, .pdf).")
    ] = None,
    render: Annotated[Path | None, typer.Option("--render", help="Also make a film (.mp4 or .gif).")] = None,
    force: ForceOption = False,
) -> None:
    """Follow a path: a motion in which the recorded person walks along it.

    The error that is printed is the distance between the root and the point of the path that is as far along it as the
    root has walked. With --count, answers are numbered: walk_1.bvh, walk_2.bvh …

    Examples:

      choreograph follow people.mog --path eight:radius=3 -o eight.bvh

      choreograph follow people.mog --path sketch.svg --smooth 0.5 -o walk.glb --render walk.mp4

      choreograph follow people.mog -p line:length=8 -o run.bvh --label run --picture run.png --result run.json
    """
    import numpy as np

    from choreograph.finishing.blend import BlendSettings
    from choreograph.finishing.pipeline import FinishSettings, finish
    from choreograph.formats import write_clip
    from choreograph.formats.atomic import check_writable
    from choreograph.formats.registry import find_format
    from choreograph.graph.store import open_graph
    from choreograph.synthesis.follow.measure import measure_path
    from choreograph.synthesis.follow.request import FollowSettings
    from choreograph.synthesis.follow.search import find_candidates

    find_format(output)
    check_suffix(render, (".mp4", ".gif"), "films are")
    check_suffix(picture, (".png", ".svg", ".pdf"), "plots are")
    for target in (output, result, picture, render):
        for number in range(1, count + 1):
            if target is not None:
                check_writable(_numbered(target, number, count), overwrite=force)
    line = _asked_for(path, scale, flip, smooth, rounded, facing, speed, label)
    settings = FollowSettings(
        method=method, horizon_s=horizon, retain_s=retain, beam_width=beam, budget_frames=budget,
        max_seconds=max_seconds, forced_progress_m_s=progress_speed, transition_cost=transition_cost,
        margins=_margins(prefer or []), start_clip=start_clip, start_frame=start_frame,
        start_heading=None if start_heading is None else float(np.radians(start_heading)), seed=seed,
    )  # fmt: skip
    finishing = FinishSettings(BlendSettings(blend, preset), clean=not raw, rate_hz=rate)
    opened = open_graph(graph)
    with progress_bar() as progress:
        for number, found in enumerate(find_candidates(opened, line, count, settings, progress=progress), 1):
            motion = finish(found.walk, finishing, name=_numbered(output, number, count).stem)
            write_clip(_numbered(output, number, count), motion.clip, overwrite=force)
            if result is not None:
                _write_json(_numbered(result, number, count), _as_json(opened, graph, found, motion), force)
            if picture is not None:
                from choreograph.pictures.plots import write_plot
                from choreograph.synthesis.follow.plot import plot_follow

                write_plot(_numbered(picture, number, count), plot_follow(found, motion), overwrite=force)
            if render is not None:
                _film(_numbered(render, number, count), line, motion, force, progress)
            errors = measure_path(motion.clip, line)
            proof = "proved best to each horizon" if found.proved else f"{_share(found)} of looks proved best"
            console.print(
                f"{_numbered(output, number, count)}: {motion.clip.seconds:.1f} s, {errors.walked:.1f} of "
                f"{errors.length:.1f} m, {100 * errors.mean:.1f} cm off on average, {100 * errors.worst:.1f} cm at most"
                f"; {found.transitions} transitions; {proof}; found in {found.seconds:.2f} s",
                highlight=False, markup=False, soft_wrap=True,
            )  # fmt: skip
            if found.status != "complete":
                console.print(
                    f"the path's end was not reached ({found.status}): the graph has no motion that goes on from there",
                    style="yellow", highlight=False, soft_wrap=True,
                )  # fmt: skip


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command("follow")(follow)


def _asked_for(
    text: str,
    scale: str | None,
    flip: bool,
    smooth: float,
    rounded: float,
    facing: float | None,
    speed: float | None,
    label: str | None,
) -> FloorPath:
    """The path with everything the options say about it."""
    import numpy as np

    from choreograph.synthesis.path_files import load_path

    line = load_path(text, scale=scale, flip=flip)
    for note in line.notes:
        console.print(f"{line.name}: {note}", style="yellow", markup=False, highlight=False, soft_wrap=True)
    line = line.rounded(rounded) if rounded else line
    line = line.smoothed(smooth) if smooth else line
    line = line.with_final_facing(float(np.radians(facing))) if facing is not None else line
    if speed is not None or label is not None:
        line = line.with_stretch(0.0, line.length, speed=speed, label=label)
    return line


def _numbered(path: Path, number: int, count: int) -> Path:
    return path if count == 1 else path.with_name(f"{path.stem}_{number}{path.suffix}")


def _margins(texts: list[str]) -> dict[str, float]:
    margins = {}
    for text in texts:
        name, equals, value = text.rpartition("=")
        try:
            margins[name] = float(value)
        except ValueError:
            equals = ""
        if not equals or not name:
            raise RequestError(f"a preference is given as CLIP=MARGIN, such as 16_47=0.01; found {text!r}")
    return margins


def _share(found: FollowResult) -> str:
    return f"{round(100 * sum(step.proved for step in found.steps) / max(1, len(found.steps)))} %"


def _write_json(path: Path, content: dict[str, Any], force: bool) -> None:
    from choreograph.formats.atomic import atomic_write

    with atomic_write(path, overwrite=force) as temporary:
        temporary.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _as_json(graph: MotionGraph, file: Path, found: FollowResult, motion: FinishedMotion) -> dict[str, Any]:
    """Everything needed to understand the answer and to get it again."""
    from dataclasses import asdict

    from choreograph._version import __version__
    from choreograph.synthesis.follow.measure import measure_path

    walk, table = found.walk, graph.edges
    kinds = ("segment", "transition")
    settings = {**asdict(_without_margins(found)), "margins": dict(found.settings.margins)}
    return {
        "choreograph": __version__,
        "graph": str(file),
        "path": found.path.as_json(),
        "settings": settings,
        "seed": found.settings.seed,
        "status": found.status,
        "cost_m2_s": found.cost,
        "proved": found.proved,
        "gap_m2_s": sum(step.gap for step in found.steps),
        "search_seconds": round(found.seconds, 4),
        "steps": [asdict(step) for step in found.steps],
        "errors_m": measure_path(motion.clip, found.path).as_json(),
        "transitions_per_second": round(found.transitions_per_second, 4),
        "motion": {"frames": len(motion.clip), "fps": motion.clip.fps, "cleaned": motion.settings.clean},
        "walk": {
            "start": {"yaw": walk.start.yaw, "x": walk.start.x, "z": walk.start.z},
            "frames": len(walk),
            "rate_hz": graph.rate_hz,
            "edges": [
                {
                    "edge": int(edge),
                    "kind": kinds[int(table.kind[edge])],
                    "clip": graph.infos[int(table.clip[edge])].name,
                    "start": int(table.start[edge]),
                    "stop": int(table.stop[edge]),
                    "to": graph.infos[int(table.target_clip[edge])].name,
                    "to_start": int(table.target_start[edge]),
                }
                for edge in walk.edges
            ],
        },
    }


def _without_margins(found: FollowResult) -> Any:
    from dataclasses import replace

    # asdict() copies values deeply, and a read-only mapping cannot be copied.
    return replace(found.settings, margins={})


def _film(path: Path, line: FloorPath, motion: FinishedMotion, force: bool, progress: Any) -> None:
    from choreograph.pictures.animation import write_film
    from choreograph.pictures.raster import Stroke
    from choreograph.pictures.theme import AMBER

    drawn = Stroke(line.sampled(min(0.1, line.length / 10)), AMBER, 0.02, 0.9)
    write_film(path, [motion.clip], film_settings(path), floor=[drawn], overwrite=force, progress=progress)
