"""The people that examples 07 to 10 and 13 move, and how their answers are shown."""

from collections.abc import Sequence
from pathlib import Path

import choreograph as cg
from choreograph.demo import demo_clip
from choreograph.pictures.animation import write_png
from choreograph.pictures.sheet import SheetSettings
from choreograph.synthesis.solve.picture import draw_solved

TURNS = ("walk_veer_tight", "walk_turn_90", "walk_turn_about", "pivot")
DEMO = (
    *(
        "walk",
        "walk_weave",
        "stand",
        "start_left_foot",
        "stop_left_foot",
        "stop_right_foot",
        "walk_jump_walk",
        "jump_high",
    ),
    *(f"{turn}_{side}" for turn in TURNS for side in ("left", "right")),
)


def open_people(recordings: Path | None, out: Path) -> cg.MotionGraph:
    """The graph of all .amc and .bvh files in a folder, or of demo clips; made once and kept in `out`."""
    file = out / f"{'demo' if recordings is None else recordings.name}.mog"
    if not file.exists():
        out.mkdir(parents=True, exist_ok=True)
        if recordings is None:
            print(f"no --recordings were given: taking {len(DEMO)} demo clips")
            clips = [demo_clip(name) for name in DEMO]
        else:
            paths = sorted(path for path in recordings.iterdir() if path.suffix.lower() in (".amc", ".bvh"))
            clips = [cg.read_clip(path) for path in paths]
        # Solving finds cuts of its own; transitions for following paths are not needed, so there are next to none.
        cg.save_graph(cg.build_graph(clips, cg.GraphSettings(threshold_m=0.001)), file)
    return cg.open_graph(file)


def tell(answers: Sequence[cg.Answer]) -> None:
    """How near to what was asked each answer is, before body constraints are met exactly."""
    for number, answer in enumerate(answers, 1):
        off = [f"{e.constraint} {100 * e.metres:.1f} cm" for e in answer.errors if e.metres is not None]
        print(
            f"  {number}: {len(answer.splice.clip)} pieces, score {answer.cost:.4f}; off by {', '.join(off[1:] or off)}"
        )


def show(
    out: Path, name: str, clips: Sequence[cg.Clip], requests: Sequence[cg.SolveRequest], others: Sequence[cg.Clip] = ()
) -> None:
    """Write motions as BVH files, and a picture of them with what they were asked for."""
    for clip in clips:
        cg.write_clip(out / f"{name}{'' if len(clips) == 1 else '-' + clip.name}.bvh", clip, overwrite=True)
    write_png(
        out / f"{name}.png", draw_solved(clips, requests, SheetSettings(width=1120), others=others), overwrite=True
    )
    print(f"wrote {name}*.bvh and {name}.png to {out}")
