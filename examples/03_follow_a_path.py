"""How do I make the recorded person walk a path that I drew?

Follows a drawing (or a shape such as circle:radius=4, or a table of points) through a motion graph, and writes the
motion and a picture of what was asked for and what was walked.

    python examples/03_follow_a_path.py [people.mog] [--path sketch.svg] [--out FOLDER]
"""

import argparse
from pathlib import Path

import choreograph as cg
from choreograph.demo import demo_clip
from choreograph.pictures.plots import write_plot
from choreograph.synthesis.follow.plot import plot_follow

BENDS = ("walk_veer_gentle", "walk_veer", "walk_veer_tight", "walk_turn_90")
DEMO = ("walk", "walk_weave", *(f"{bend}_{side}" for bend in BENDS for side in ("left", "right")))

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("graph", type=Path, nargs="?", help="motion graph, from `choreograph build` or example 02")
parser.add_argument("--path", default=str(Path(__file__).with_name("sketch.svg")), help="file or shape")
parser.add_argument("--out", type=Path, default=Path("out"), help="folder to write to")
args = parser.parse_args()
args.out.mkdir(parents=True, exist_ok=True)

if args.graph is None:
    print(f"no graph was given: building one from {len(DEMO)} demo clips")
    graph = cg.build_graph([demo_clip(name) for name in DEMO])
else:
    graph = cg.open_graph(args.graph)

path = cg.load_path(args.path)
found = cg.follow_path(graph, path)  # which stretches of which clips
motion = cg.finish(found.walk)  # blended, feet clean

errors = cg.measure_path(motion.clip, path)
print(f"{found.status}: {path.length:.1f} m in {motion.clip.seconds:.1f} s, found in {found.seconds:.2f} s")
print(f"off by {100 * errors.mean:.1f} cm on average, {100 * errors.worst:.1f} cm at most")

# Every frame knows where it came from.
last = len(motion.clip) - 1
source = graph.infos[motion.origins.source_clip[last]].name
print(f"the last frame is frame {motion.origins.source_frame[last]:.0f} of {source!r}")

cg.write_clip(args.out / "walk.bvh", motion.clip, overwrite=True)
write_plot(args.out / "walk.png", plot_follow(found, motion), overwrite=True)
print(f"wrote {args.out / 'walk.bvh'} and {args.out / 'walk.png'}")
