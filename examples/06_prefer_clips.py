"""What does it cost to prefer a clip?

After Dirican (2014, figures 5.9 to 5.11): the same path with growing preference error margins for one of four clips. A
walk leaves that clip only if it is better, as far as the search looks ahead, than the best walk that stays in it by the
margin.

    choreograph fetch cmu 16:17,19,45,47 --cache recordings
    python examples/06_prefer_clips.py --recordings recordings/16 [--out FOLDER]
"""

import argparse
from pathlib import Path

from four_clips import build_four_clip_graph

import choreograph as cg
from choreograph.pictures.plots import write_plot
from choreograph.verbs.follow.plot import plot_comparison

# The thesis sums squared distances in CMU units (an inch over 0.45) over frames at 120 Hz; ours is m²·s.
SI = (0.0254 / 0.45) ** 2 / 120

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--recordings", type=Path, help="folder with 16.asf, 16_17.amc …; else demo clips")
parser.add_argument("--prefer", type=int, default=1, choices=range(4), help="clip: 0 straight, 1 left, 2 right, 3 run")
parser.add_argument("--margins", type=float, nargs="+", default=[0, 50, 100, 10_000], help="in the thesis's unit")
parser.add_argument("--path", nargs="+", default=[str(Path(__file__).with_name("sketch.svg"))], help="files or shapes")
parser.add_argument("--out", type=Path, default=Path("out"), help="folder to write to")
args = parser.parse_args()
args.out.mkdir(parents=True, exist_ok=True)

graph = build_four_clip_graph(args.recordings)
name = graph.infos[args.prefer].name
for path in map(cg.load_path, args.path):
    print(f"\n{path.name}, {path.length:.1f} m, preferring {name}; off by, cm")
    print(f"{'margin':>8}{'m²·s':>10}{'mean':>8}{'worst':>8}{'in the clip':>13}{'transitions':>13}")
    motions = {}
    for margin in args.margins:
        # All begin in the preferred clip, also without a margin, so that only the margin differs.
        request = cg.FollowRequest.of_path(path, prefer={name: margin * SI}, start={"clip": name})
        result = cg.follow(graph, request)
        [motion] = result.best.motions
        shown = sum(run.stop - run.start for run in motion.sources if run.clip == name)
        share = shown / len(motion.clip)
        off, worst, changes = (result.metrics[m].value for m in ("path_mean", "path_worst", "transitions_per_s"))
        print(
            f"{margin:8g}{margin * SI:10.4f}{100 * off:8.2f}{100 * worst:8.1f}"
            f"{share:13.0%}{round(changes * motion.clip.seconds):13}"
        )
        motions[f"margin {margin:g}, {share:.0%} in {name}"] = motion.clip
    file = args.out / f"margins-{path.name}.png"
    write_plot(file, plot_comparison(path, motions), overwrite=True)
    print(f"wrote {file}")
