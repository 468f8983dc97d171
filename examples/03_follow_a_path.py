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
from choreograph.verbs.follow.plot import plot_follow

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

result = cg.follow(graph, args.path)  # searched, blended, feet clean, measured

print(f"{result.status}: {result.best.name}, {result.clip.seconds:.1f} s of motion in {result.seconds:.2f} s of search")
for name, metric in result.metrics.items():
    print(f"  {name}: {metric.value:.3f} {metric.unit}")
for problem in result.problems:  # what was asked for and is not so
    print(problem.text)

# Every frame knows where it came from.
last = result.best.motions[0].sources[-1]
print(f"the last frames, from {last.start} on, show {last.clip!r} from its frame {last.clip_frame:.0f} on")

cg.write_clip(args.out / "walk.bvh", result.clip, overwrite=True)
write_plot(args.out / "walk.png", plot_follow(result), overwrite=True)
print(f"wrote {args.out / 'walk.bvh'} and {args.out / 'walk.png'}")
