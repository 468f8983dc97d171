"""`choreograph demo`: the motion that comes with the package, as files and as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from choreograph.base.errors import RequestError
from choreograph.cli.common import ForceOption, console, progress_bar

if TYPE_CHECKING:
    from choreograph.motion.clip import Clip

AMC_FPS = 120.0
"""AMC files say no frame rate; this is the one that readers take."""
SHEET = "demo.png"


def demo(
    out: Annotated[Path, typer.Argument(help="Folder to write into; it is made if need be.", metavar="OUT")],
    formats: Annotated[
        str, typer.Option("--formats", help="Types to write, separated by commas: bvh, amc, npz, glb, csv …")
    ] = "bvh,amc,npz",
    fps: Annotated[float, typer.Option("--fps", help="Frames per second, 10 to 1000; AMC is always at 120.")] = 60.0,
    force: ForceOption = False,
) -> None:
    """Write the demo motion: walks, turns, runs, jumps and more, made by a model, with every foot planted exactly.

    Each type of file gets its own folder within OUT. NPZ files also hold the labels and the true foot plants. A picture
    of all clips is written beside them.

    Examples:

      choreograph demo out

      choreograph demo out --formats bvh --fps 30
    """
    from choreograph.demo import demo_clips, demo_names
    from choreograph.formats import write_clip
    from choreograph.formats.atomic import check_writable
    from choreograph.pictures.sheet import write_sheet

    kinds = _parse_formats(formats)
    targets = {kind: [out / kind / f"{name}.{kind}" for name in demo_names()] for kind in kinds}
    for path in [out / SHEET, *(p for paths in targets.values() for p in paths)]:
        check_writable(path, overwrite=force)
    with progress_bar() as progress:
        clips = demo_clips(fps, progress=progress)
        # Made anew rather than resampled: a resampled foot no longer stands exactly.
        for_amc = demo_clips(AMC_FPS) if "amc" in kinds and fps != AMC_FPS else clips
        done, total = 0, len(clips) * len(kinds)
        for kind, paths in targets.items():
            for clip, path in zip(for_amc if kind == "amc" else clips, paths, strict=True):
                options = {"asf": path.with_name("demo.asf")} if kind == "amc" else {}
                write_clip(path, clip, overwrite=force, **options)
                done += 1
                progress("writing", done, total)
        write_sheet(out / SHEET, clips, overwrite=force, progress=progress)
    _say(out, kinds, clips)


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command("demo")(demo)


def _parse_formats(text: str) -> list[str]:
    """The types asked for, each once."""
    from choreograph.formats.registry import suffixes

    kinds = list(dict.fromkeys(word.strip().lower().lstrip(".") for word in text.split(",") if word.strip()))
    known = [s.lstrip(".") for s in suffixes()]
    wrong = [kind for kind in kinds if kind not in known]
    if wrong or not kinds:
        raise RequestError(f"unknown type {', '.join(wrong) or text!r}; --formats takes a list of: {', '.join(known)}")
    return kinds


def _say(out: Path, kinds: list[str], clips: list[Clip]) -> None:
    """What was written, and what to try next."""
    seconds = sum(clip.seconds for clip in clips)
    say = [f"wrote {len(clips)} clips, {seconds:.0f} s of motion, as {', '.join(kinds)} into {out}"]
    say.append(f"look at {out / SHEET}")
    kind_drawn = next((kind for kind in ("npz", "bvh", "glb", "amc") if kind in kinds), None)
    if kind_drawn:
        example = out / kind_drawn / f"walk_turn_about_left.{kind_drawn}"
        say.append(f"next, watch one: choreograph render {example} -o turn.mp4")
    for line in say:
        console.print(line, highlight=False, markup=False, soft_wrap=True)
