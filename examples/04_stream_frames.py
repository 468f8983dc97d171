"""How does a game play the motion while it is being found, and change the way ahead?

A game loop: frames come one by one, while the search works two or three seconds ahead of what is shown. Each time the
character comes near the end of its path, the player points at another place and the path is drawn on to there. No frame
is ever taken back, so nothing jumps.

    python examples/04_stream_frames.py [people.mog] [--out FOLDER]
"""

import argparse
import time
from pathlib import Path

import numpy as np

import choreograph as cg
from choreograph.demo import demo_clip
from choreograph.pictures.plots import plot_path, write_plot

BENDS = ("walk_veer_gentle", "walk_veer", "walk_veer_tight", "walk_turn_90")
DEMO = ("walk", "walk_weave", *(f"{bend}_{side}" for bend in BENDS for side in ("left", "right")))
CLICKS = [(0.0, 0.0), (0.0, 9.0), (7.0, 12.0), (13.0, 7.0), (8.0, 0.0)]
AHEAD = 6.0  # metres before the end at which the player points at the next place: more than the search is ahead

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("graph", type=Path, nargs="?", help="motion graph, from `choreograph build` or example 02")
parser.add_argument("--out", type=Path, default=Path("out"), help="folder to write to")
args = parser.parse_args()
args.out.mkdir(parents=True, exist_ok=True)

if args.graph is None:
    print(f"no graph was given: building one from {len(DEMO)} demo clips")
    graph = cg.build_graph([demo_clip(name) for name in DEMO])
else:
    graph = cg.open_graph(args.graph)

clicks = CLICKS[:2]
stream = cg.MotionStream(graph, cg.Path(clicks))
shown, waits = [], []
asked = time.perf_counter()
for frame in stream:
    waits.append(time.perf_counter() - asked)
    shown.append(frame)  # a game would draw frame.root_pos and frame.local_rot here

    x, _, z = frame.root_pos
    if len(clicks) < len(CLICKS) and np.hypot(x - clicks[-1][0], z - clicks[-1][1]) < AHEAD:
        clicks.append(CLICKS[len(clicks)])
        stream.change_path(cg.Path(clicks).rounded(2.0))
        print(f"{frame.number / stream.rate_hz:5.1f} s, at ({x:.1f}, {z:.1f}): on to {clicks[-1]}")
    asked = time.perf_counter()

root = np.array([frame.root_pos for frame in shown])
clip = cg.Clip(graph.skeleton, stream.rate_hz, root, np.array([frame.local_rot for frame in shown]), name="stream")
goal = np.array(CLICKS[-1])
print(f"{len(clip)} frames, {clip.seconds:.1f} s of motion in {sum(waits):.1f} s")
print(f"longest wait for a frame: {1000 * max(waits[1:]):.0f} ms after the first, which took {waits[0]:.1f} s")
print(f"ended {np.linalg.norm(root[-1, [0, 2]] - goal):.2f} m from the last place pointed at")

cg.write_clip(args.out / "stream.bvh", clip, overwrite=True)
write_plot(args.out / "stream.png", plot_path(clip), overwrite=True)
print(f"wrote {args.out / 'stream.bvh'} and {args.out / 'stream.png'}")
