"""The people that examples 07 to 10, 13 and 14 move, and how their answers are shown."""

from pathlib import Path

import choreograph as cg
from choreograph.demo import demo_clip
from choreograph.pictures.animation import write_png
from choreograph.pictures.sheet import SheetSettings
from choreograph.verbs.solve.picture import draw_result

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


def tell(result: cg.Result) -> None:
    """How good each answer is, and what the best one does not do."""
    for number, answer in enumerate(result.answers, 1):
        brought = 100 * answer.metrics["body_brought"].value
        print(f"  {number}: {answer.name}, score {answer.cost:.4f}; brought to its places by {brought:.1f} cm at most")
    for problem in result.problems:
        print(f"  {problem.text}")


def show(out: Path, name: str, result: cg.Result) -> None:
    """Write the best answer as BVH files, and a picture of it with what was asked for and the others' ways."""
    clips = result.best.clips
    for clip in clips:
        cg.write_clip(out / f"{name}{'' if len(clips) == 1 else '-' + clip.name}.bvh", clip, overwrite=True)
    write_png(out / f"{name}.png", draw_result(result, SheetSettings(width=1120)), overwrite=True)
    print(f"wrote {name}*.bvh and {name}.png to {out}")
