"""Which of my recordings can flow into which, and what falls out?

Builds a motion graph from files (demo clips, if none are given), says what became of each, and saves and plots the
graph.

    python examples/02_build_a_graph.py [clips/*.bvh] [--out FOLDER]
"""

import argparse
from pathlib import Path

import choreograph as cg
from choreograph.demo import demo_clip
from choreograph.pictures.graph_plots import plot_graph
from choreograph.pictures.plots import write_plot

DEMO = ("walk", "walk_veer_left", "walk_veer_right", "walk_turn_90_left", "walk_turn_90_right", "walk_to_jog", "jog")

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("motions", type=Path, nargs="*", help="files to read")
parser.add_argument("--out", type=Path, default=Path("out"), help="folder to write to")
args = parser.parse_args()
args.out.mkdir(parents=True, exist_ok=True)

if args.motions:
    clips = [cg.read_clip(path) for path in args.motions]
else:
    clips = [demo_clip(name) for name in DEMO]
    print(f"no files were given: taking {len(clips)} demo clips")

# Windows of a third of a second that are within 5 cm per joint of one another become transitions.
graph = cg.build_graph(clips, cg.GraphSettings(threshold_m=0.05))
report = cg.report_graph(graph)
print(f"{report.kept_transitions} transitions join {report.shown / report.frames:.0%} of the frames")
for clip in report.clips:
    print(f"  {clip.name}: {clip.state}, {clip.shown} of {clip.frames} frames, {clip.transitions_out} ways out")

if report.lost:
    # A walk into running, but none back: such a clip is a dead end. The lowest threshold that keeps a part of each:
    graph = cg.build_graph(clips, cg.GraphSettings(goal="everything"))
    print(f"to keep all of them takes {100 * cg.report_graph(graph).threshold_m:.1f} cm")

cg.save_graph(graph, args.out / "people.mog", overwrite=True)
write_plot(args.out / "graph.png", plot_graph(graph), overwrite=True)
print(f"wrote {args.out / 'people.mog'} and {args.out / 'graph.png'}")
