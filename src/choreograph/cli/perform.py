"""`choreograph perform`: motion controlled by example."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from choreograph.cli.common import ForceOption, console, expand_inputs, progress_bar, read_input
from choreograph.errors import RequestError

if TYPE_CHECKING:
    from choreograph.finishing.settings import FinishSettings
    from choreograph.graph.model import MotionGraph
    from choreograph.motion.clip import Clip
    from choreograph.progress import Progress
    from choreograph.synthesis.perform.examples import Example, SegmentDatabase
    from choreograph.synthesis.perform.prepare import CutSettings
    from choreograph.synthesis.perform.request import Control, PerformSettings
    from choreograph.synthesis.perform.search import SegmentSequence

Examples = Annotated[
    str,
    typer.Argument(help="Recorded examples: a folder, a pattern such as 'walks/*.bvh', or a motion graph (.mog)."),
]
AnswersOption = Annotated[
    str | None,
    typer.Option(
        "--answers",
        "-a",
        help="Who answered the examples, recorded with them: a folder or a pattern.",
        show_default="each example answers the track of its own hips",
    ),
]
CutAtOption = Annotated[
    str | None,
    typer.Option("--cut-at", help="Cut examples at beats, plants or labels.", show_default="beats, or plants of walks"),
]
CutOption = Annotated[bool, typer.Option("--cut", help="Cut examples and answers of different length to the shorter.")]
RolesOption = Annotated[
    str | None,
    typer.Option("--control", help="Joints that lead, by role and with commas.", show_default="hands and feet"),
]
AlikeOption = Annotated[
    float, typer.Option("--alike", min=0.0, help="Keep one of segments that are alike within so many metres.")
]
StretchOption = Annotated[float | None, typer.Option("--stretch", help="Seconds a segment may be stretched by.")]
ContinuityOption = Annotated[
    float | None, typer.Option("--continuity", help="Price of a squared metre between neighbours, seconds.")
]
RateOption = Annotated[float | None, typer.Option("--search-rate", help="Steps per second of the search.")]


def perform(
    examples: Examples,
    leader: Annotated[Path | None, typer.Argument(help="The body that leads: a motion file.")] = None,
    *,
    output: Annotated[Path, typer.Option("--output", "-o", help="Motion file to write (.bvh, .glb, .npz …).")],
    trajectory: Annotated[
        Path | None, typer.Option("--trajectory", "-t", help="The way that leads: a .csv of t, x, z (seconds, metres).")
    ] = None,
    smooth: Annotated[
        float, typer.Option("--smooth", min=0.0, help="Smooth the trajectory over so many seconds.")
    ] = 0.2,
    answers: AnswersOption = None,
    cut_at: CutAtOption = None,
    cut: CutOption = False,
    control: RolesOption = None,
    alike: AlikeOption = 0.0,
    stretch: StretchOption = None,
    continuity: ContinuityOption = None,
    search_rate: RateOption = None,
    beam: Annotated[
        float | None, typer.Option("--beam", help="Give up sequences worse by so many m²·s.", show_default="exact")
    ] = None,
    raw: Annotated[bool, typer.Option("--raw", help="Leave feet and hands as the pieces left them.")] = False,
    lag: Annotated[
        float | None,
        typer.Option(
            "--lag", help="Decide as if live, so many seconds after each moment.", show_default="with all of it at hand"
        ),
    ] = None,
    transcription: Annotated[
        Path | None,
        typer.Option("--transcription", help="Also write which segments are played when (.csv, .json, .vtt or .txt)."),
    ] = None,
    result: Annotated[Path | None, typer.Option("--result", help="Also write all that was decided as JSON.")] = None,
    render: Annotated[Path | None, typer.Option("--render", help="Also make a film (.mp4 or .gif).")] = None,
    force: ForceOption = False,
) -> None:
    """Perform: a motion that answers a control as the recorded examples did.

    What leads is a body (LEADER) or a way over the floor with its timing (--trajectory).

    Examples:

      choreograph perform leaders/ new_leader.bvh --answers followers/ -o follower.bvh --render both.mp4

      choreograph perform walks/ --trajectory hand.csv -o walk.bvh

      choreograph perform people.mog --trajectory hand.csv -o walk.bvh --transcription walk.vtt --lag 2

      choreograph perform pairs.mog new_leader.bvh -o follower.bvh
    """
    from choreograph.finishing.finish import finish
    from choreograph.finishing.settings import FinishSettings
    from choreograph.formats import write_clip
    from choreograph.formats.atomic import check_writable
    from choreograph.formats.registry import find_format
    from choreograph.synthesis.perform.request import control_from_clip, control_from_trajectory
    from choreograph.synthesis.perform.search import find_segments
    from choreograph.synthesis.perform.trajectory import read_trajectory
    from choreograph.synthesis.perform.transcription import check_suffix, write_transcription

    if (leader is None) == (trajectory is None):
        raise RequestError(
            "give what leads: either a body (LEADER, a motion file) or a way over the floor (--trajectory FILE)"
        )
    find_format(output)
    if render is not None and render.suffix.lower() not in (".mp4", ".gif"):
        raise RequestError(f"{render.name} would have to end in .mp4 or .gif")
    if transcription is not None:
        check_suffix(transcription)
    for path in (output, transcription, result, render):
        if path is not None:
            check_writable(path, overwrite=force)
    base = load_base(examples, answers, cut_at, control, cut=cut, alike=alike)
    if leader is not None:
        asked: Control = control_from_clip(read_input(leader), base)
    else:
        assert trajectory is not None
        way = read_trajectory(trajectory)
        if way.bridged_s:
            console.print(
                f"{trajectory}: {way.bridged_s:.2f} s were missing and are straight lines now", style="yellow"
            )
        asked = control_from_trajectory(way.smoothed(smooth), base)
    settings = changed(base, stretch, continuity, search_rate, beam)
    finishing = FinishSettings(clean=not raw, hands=not raw)
    with progress_bar() as progress:
        best = find_segments(base, asked, settings, progress=progress)
        if lag is None:
            motion = finish(best, finishing, name=output.stem, partner=best.partner(), progress=progress)
            found, clip = best, motion.clip
        else:
            found, clip = _live(base, asked, settings, finishing, lag, output.stem, progress)
        write_clip(output, clip, overwrite=force)
        if transcription is not None:
            write_transcription(transcription, found.transcription(), overwrite=force)
        if result is not None:
            _write_result(result, found, force)
        if render is not None:
            from choreograph.pictures.animation import write_film

            write_film(
                render,
                [clip] if asked.leader is None else [asked.leader, clip],
                overwrite=force,
                progress=progress,
            )
    off, gap = (_rms([getattr(p, name) for p in found.pieces]) for name in ("residual_m", "gap_m"))
    console.print(
        f"{output}: {clip.seconds:.1f} s from {len(found.pieces)} pieces of {len(base)} segments; controls "
        f"{100 * off:.1f} cm apart, boundaries {100 * gap:.1f} cm; found in {found.seconds:.2f} s",
        highlight=False, markup=False, soft_wrap=True,
    )  # fmt: skip
    if lag is not None:
        console.print(
            f"decided {lag:g} s after each moment it costs {found.cost / best.cost:.2f} × as much as with all at hand",
            highlight=False,
        )


def _live(
    base: SegmentDatabase,
    asked: Control,
    settings: PerformSettings,
    finishing: FinishSettings,
    lag: float,
    name: str,
    progress: Progress,
) -> tuple[SegmentSequence, Clip]:
    """The same, with the control given bit by bit."""
    import time

    from choreograph.synthesis.perform.live import PerformStream
    from choreograph.synthesis.perform.search import SegmentSequence, matched

    began = time.process_time()
    base, asked = matched(base, asked)
    stream = PerformStream(base, asked.fps, settings, finishing, lag_s=lag)
    control, frames, step = asked.leader or asked.points, [], max(1, round(0.1 * asked.fps))
    for start in range(0, len(control), step):
        progress("performing", start, len(control))
        frames += stream.push(control[start : start + step])
    frames += stream.finish()
    progress("performing", len(control), len(control))
    spent = time.process_time() - began
    pieces = tuple(stream.pieces)
    found = SegmentSequence(stream.base, asked, settings, pieces, stream.cost, stream.coarse_cost, spent)
    return found, stream.as_clip(frames, name)


def _write_result(path: Path, found: SegmentSequence, force: bool) -> None:
    import json

    from choreograph.formats.atomic import atomic_write

    with atomic_write(path, overwrite=force) as temporary:
        temporary.write_text(json.dumps(found.as_json(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command("perform")(perform)


def load_base(
    examples: str,
    answers: str | None,
    cut_at: str | None,
    control: str | None,
    *,
    cut: bool = False,
    alike: float = 0.0,
) -> SegmentDatabase:
    """The segment database of the recordings that the options name."""
    if is_graph_file(examples) and answers is None:
        from choreograph.graph.store import open_graph
        from choreograph.synthesis.perform.prepare import find_segment_database

        graph = open_graph(examples)
        return find_segment_database(graph, cut_settings(graph, cut_at, control, alike))
    settings, recorded = read_examples(examples, answers, cut_at, control, cut=cut, alike=alike)
    return settings.build(recorded)


def cut_settings(graph: MotionGraph, cut_at: str | None, control: str | None, alike: float) -> CutSettings:
    """How a graph's clips are cut: as the options say, or as was chosen for it."""
    from dataclasses import replace

    from choreograph.synthesis.perform.prepare import PAIRS, WALKS, chosen_settings

    if cut_at is None and control is None and not alike:
        return chosen_settings(graph)
    given: dict[str, Any] = {"cut_at": cut_at, "control_roles": _roles(control), "alike_m": alike}
    return replace(PAIRS if graph.pairs else WALKS, **{name: value for name, value in given.items() if value})


def read_examples(
    examples: str, answers: str | None, cut_at: str | None, control: str | None, *, cut: bool, alike: float
) -> tuple[CutSettings, list[Example]]:
    """The recordings that the options name, and how they are to be cut."""
    from choreograph.synthesis.perform.examples import pair_up, root_example
    from choreograph.synthesis.perform.points import ENDS, TRACK
    from choreograph.synthesis.perform.prepare import CutSettings

    clips = _read_all(examples)
    if answers:
        roles = _roles(control) or ENDS
        pairs = match_names(clips, _read_all(answers))
        recorded = [pair_up(a, b, roles=roles, cut=cut) for a, b in pairs]
        return CutSettings(cut_at or "beats", roles, alike_m=alike), recorded
    if control and control != "track":
        raise RequestError("without --answers the control is the track of the hips; --control is for pairs")
    return CutSettings(cut_at or "plants", TRACK, alike_m=alike), [root_example(clip) for clip in clips]


def is_graph_file(where: str) -> bool:
    """Whether a name is that of a .mog file."""
    return Path(where).suffix.lower() == ".mog"


def _roles(control: str | None) -> tuple[str, ...]:
    return tuple(role.strip() for role in control.split(",")) if control else ()


def match_names(leaders: Sequence[Clip], followers: Sequence[Clip]) -> list[tuple[Clip, Clip]]:
    """Clips of the same name, or of the same last part of it (60_01 and 61_01), paired.

    Raises:
        RequestError: If a clip has no partner, or several.
    """
    whole = {clip.name for clip in leaders} & {clip.name for clip in followers}

    def key(name: str) -> str:
        return name if whole else name.replace("-", "_").rsplit("_", 1)[-1]

    partners: dict[str, Clip] = {}
    for clip in followers:
        if key(clip.name) in partners:
            raise RequestError(
                f"both {partners[key(clip.name)].name!r} and {clip.name!r} could answer the same example"
            )
        partners[key(clip.name)] = clip
    alone = [clip.name for clip in leaders if key(clip.name) not in partners]
    if alone:
        raise RequestError(
            f"nobody answers {', '.join(alone[:4])}: answers are {', '.join(clip.name for clip in followers[:4])} …; "
            "give the files of a pair the same name, or the same number after the last _"
        )
    return [(clip, partners[key(clip.name)]) for clip in leaders]


def changed(
    base: SegmentDatabase,
    stretch: float | None,
    continuity: float | None,
    rate: float | None,
    beam: float | None = None,
) -> PerformSettings:
    """The settings that suit a base, with what the options say."""
    from dataclasses import replace

    from choreograph.synthesis.perform.request import usual_settings

    given: dict[str, Any] = {"stretch_s": stretch, "continuity_s": continuity, "rate_hz": rate, "beam_m2_s": beam}
    return replace(usual_settings(base), **{name: value for name, value in given.items() if value is not None})


def _read_all(where: str) -> list[Clip]:
    """The clips of a folder, a pattern or a motion graph (mirrored copies with them)."""
    if is_graph_file(where):
        from choreograph.graph.store import open_graph

        return list(open_graph(Path(where)).clips)
    return [read_input(path).with_name(path.stem) for path in expand_inputs([where])]


def _rms(values: Sequence[float]) -> float:
    return float((sum(v * v for v in values) / max(1, len(values))) ** 0.5)
