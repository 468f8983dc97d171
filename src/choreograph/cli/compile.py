"""`choreograph compile`: every verb's kernels now, so that nobody waits for them later."""

from __future__ import annotations

import tempfile
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from choreograph.cli.common import console, progress_bar

WALKS = ("walk", "walk_turn_90_left", "walk_turn_90_right", "walk_veer_left", "walk_veer_right")
JUMP, FACE = "jump_forward", "face.csv"


def compile_kernels(
    workers: Annotated[int, typer.Option("--workers", min=1, max=64, help="Processes that compile at a time.")] = 2,
) -> None:
    """Compile the kernels of all verbs and of archives, so that the first use of none waits for that.

    Choreograph compiles a kernel when it is used for the first time after an installation or an upgrade, and keeps it
    beside the package. This command uses each verb once on the demo motion instead, which takes a few minutes; where
    everything is compiled already, some seconds.

    Examples:

      choreograph compile
    """
    from choreograph.verbs import rooms

    with tempfile.TemporaryDirectory() as folder, ProcessPoolExecutor(workers) as pool, progress_bar() as progress:
        graph, jump = _write_demo(Path(folder))
        work = [pool.submit(_use_as_archive, graph), pool.submit(_draw, jump)]
        work += [pool.submit(_try, name, graph, jump) for name in rooms()]
        for done, one in enumerate(as_completed(work), 1):
            one.result()
            progress("compiling", done, len(work))
    console.print("all kernels are compiled", highlight=False)


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command("compile")(compile_kernels)


def _write_demo(folder: Path) -> tuple[Path, Path]:
    """A small graph and a motion with a flight in it; beside them a face."""
    import choreograph as cg
    from choreograph.demo import demo_clips
    from choreograph.motion.demo_face import demo_face

    clips = {clip.name: clip for clip in demo_clips(30.0)}
    graph, jump = folder / "walks.mog", folder / f"{JUMP}.npz"
    cg.save_graph(cg.build_graph([clips[name] for name in WALKS]), graph)
    cg.write_clip(jump, clips[JUMP])
    cg.write_face(folder / FACE, demo_face(4.0))
    return graph, jump


def _try(name: str, graph: Path, clip: Path) -> None:
    """Have a verb answer its trial request."""
    from choreograph.base.progress import silent
    from choreograph.contract.search import Budget
    from choreograph.contract.verb import CLIP, FACES
    from choreograph.verbs import find_verb

    verb = find_verb(name)
    if verb.trial is not None:
        files = {CLIP: clip, FACES: clip.with_name(FACE)}
        subject = verb.subject.read(files.get(verb.subject, graph))
        verb.search(subject, verb.trial).run(silent)
        # Once more, for what reads the cache has kernels too.
        verb.search(subject, verb.trial).step(Budget(steps=1))


def _draw(clip: Path) -> None:
    """Write a motion in the formats that have kernels, read it again, and draw it."""
    import choreograph as cg
    from choreograph.pictures.sheet import SheetSettings, draw_thumbnail

    motion = cg.read_clip(clip)
    for suffix in (".bvh", ".glb"):
        cg.write_clip(clip.with_suffix(suffix), motion)
        cg.read_clip(clip.with_suffix(suffix))
    draw_thumbnail(motion, SheetSettings())


def _use_as_archive(graph: Path) -> None:
    """Build, extend and follow a graph as if it were an archive, for which there are kernels of its own."""
    import choreograph as cg
    from choreograph.build import comparison
    from choreograph.build.files import add_to_file, build_file
    from choreograph.distance import minima
    from choreograph.features import root_tracks
    from choreograph.graph import transitions
    from choreograph.motion.retarget import retarget
    from choreograph.verbs.follow import tables

    first, *others = cg.open_graph(graph).clips
    taller = replace(first.skeleton, offsets=1.1 * first.skeleton.offsets)
    archive = graph.with_name("archive.mog")
    # From which size on something counts as large.
    sizes: dict[Any, dict[str, Any]] = {
        minima: {"_MANY": 0, "_MANY_EACH": 0},
        comparison: {"_SOME_FRAMES": 0, "_MANY": 1, "_MOST_SHARE": 0.0},
        transitions: {"_MANY": 0},
        root_tracks: {"_MANY_VALUES": 0},
        tables: {"MOST_ROWS": 0},
    }
    with ExitStack() as stack:
        for module, changed in sizes.items():
            stack.callback(vars(module).update, {name: vars(module)[name] for name in changed})
            vars(module).update(changed)
        clips = [first, *(retarget(clip, taller).with_name(clip.name) for clip in others[:-1])]
        build_file(archive, clips, cg.GraphSettings(nearest=1))
        add_to_file(archive, others[-1:])
        cg.follow(cg.open_graph(archive), cg.FollowRequest(path="line:length=3", style="walk"))
