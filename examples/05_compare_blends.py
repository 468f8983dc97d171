"""Does the kind of blend change how well a path is followed?

After Dirican (2014, figure 5.7): one walk along one sketched path, blended linearly, cubically and with anticipation,
on four clips: walk straight, turn left, turn right, run straight. The last two columns are for the motion as the blends
leave it, before its feet are cleaned.

    choreograph fetch cmu 16:17,19,45,47 --cache recordings
    python examples/05_compare_blends.py --recordings recordings/16 [--out FOLDER]
"""

import argparse
from pathlib import Path

from four_clips import build_four_clip_graph

import choreograph as cg
from choreograph.pictures.plots import write_plot
from choreograph.verbs.follow.plot import plot_comparison

BLENDS = {
    "linear": cg.FinishSettings("linear"),
    "cubic": cg.FinishSettings("cubic"),
    "anticipation, upper body first": cg.FinishSettings("anticipation", "upper body first"),
    "anticipation, root first": cg.FinishSettings("anticipation", exponents={"root": 2.0}),
}

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--recordings", type=Path, help="folder with 16.asf, 16_17.amc …; else demo clips")
parser.add_argument("--path", nargs="+", default=[str(Path(__file__).with_name("sketch.svg"))], help="files or shapes")
parser.add_argument("--out", type=Path, default=Path("out"), help="folder to write to")
args = parser.parse_args()
args.out.mkdir(parents=True, exist_ok=True)

graph = build_four_clip_graph(args.recordings)
for path in map(cg.load_path, args.path):
    print(f"\n{path.name}, {path.length:.1f} m; off by, cm")
    print(f"{'':32}{'mean':>6}{'worst':>7}{'by way walked':>15}{'walked':>9}{'raw: mean':>12}{'walked':>9}")
    motions = {}
    for name, settings in BLENDS.items():
        # The same request and seed find the same walk; only how it is blended differs.
        [motion] = cg.follow(graph, cg.FollowRequest.of_path(path, finish=settings)).best.motions
        motions[name] = motion.clip
        clean, raw = cg.measure_path(motion.clip, path), cg.measure_path(motion.raw, path)
        print(
            f"{name:32}{100 * clean.mean:6.2f}{100 * clean.worst:7.1f}{100 * clean.walked_mean:15.2f}"
            f"{clean.walked:7.2f} m{100 * raw.mean:12.2f}{raw.walked:7.2f} m"
        )
    file = args.out / f"blends-{path.name}.png"
    write_plot(file, plot_comparison(path, motions), overwrite=True)
    print(f"wrote {file}")
