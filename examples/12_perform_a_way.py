"""How does a character walk where a hand draws, while it draws?

A hand draws a way over the floor with a mouse, some thirty places a second, at the speed of a walk. Recorded walks say
what body goes with such a way: two and a half seconds after each place the finished frames are there, and no frame is
taken back. When all of it has been drawn the same way is performed once more with all of it at hand, and written down:
which step of which recording was taken when, and how sure that is.

    python examples/12_perform_a_way.py [people.mog] [--out FOLDER]
"""

import argparse
import time
from pathlib import Path

import numpy as np

import choreograph as cg
from choreograph.demo import demo_clips
from choreograph.pictures.plots import plot_path, write_plot

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("graph", type=Path, nargs="?", help="motion graph whose walks answer; demo walks if left out")
parser.add_argument("--out", type=Path, default=Path("out"), help="folder to write to")
args = parser.parse_args()
args.out.mkdir(parents=True, exist_ok=True)

if args.graph is None:
    walks = [clip for clip in demo_clips(30.0) if clip.name.startswith(("walk", "start", "stop"))]
    database = cg.build_segments([cg.root_example(clip) for clip in walks], cut_at="plants", control_roles=("track",))
else:
    database = cg.open_segments(args.graph)
print(f"{len(database)} segments; examples go at up to {database.fastest:.1f} m/s")


def mouse():
    """What a mouse would say: time, x and z, with a rest in the middle."""
    rng = np.random.default_rng(1)
    walked, t = 0.0, 0.0
    while t < 14.0:
        resting = 6.0 < t < 7.5
        walked += 0.0 if resting else 1.25 / 30
        shake = rng.normal(0, 0.003, 2)
        yield t, 4 * np.sin(walked / 4) + shake[0], 4 * (1 - np.cos(walked / 4)) + shake[1]
        t += 1 / 30


hand = cg.TrajectoryRecorder(smooth_s=0.2)
stream = cg.PerformStream(database, hand.fps, cg.PerformRequest(lag_s=2.0))
frames, spent, latest = [], 0.0, 0.0
for t, x, z in mouse():
    began = time.process_time()
    frames += stream.push(hand.push(t, x, z))  # a studio would show these
    spent += time.process_time() - began
    latest = max(latest, t - len(frames) / stream.rate_hz)
frames += stream.push(hand.finish()) + stream.finish()
live = stream.as_clip(frames, "live")
print(f"live: {live.seconds:.1f} s of motion in {spent:.1f} s, each frame at most {latest:.1f} s after its place")

result = cg.perform(database, hand.trajectory().smoothed(0.2))
whole, pieces = result.clip, result.best.details["pieces"]
early = stream.coarse_cost / result.best.cost
print(f"deciding within 2 s cost {early:.2f} times as much as with the whole way at hand")
for row in pieces[:4]:
    where = f"{row['recording']} from {row['recording_start_s']:.2f} s"
    print(f"{row['start_s']:5.2f} s  {where:<36} {100 * row['residual_m']:.1f} cm off, {row['sure']:.0%} sure")

cg.write_clip(args.out / "live.bvh", live, overwrite=True)
cg.write_clip(args.out / "whole.bvh", whole, overwrite=True)
cg.write_transcription(args.out / "whole.csv", pieces, overwrite=True)
write_plot(args.out / "live.png", plot_path(live), overwrite=True)
print(f"wrote live.bvh, whole.bvh, whole.csv and live.png to {args.out}")
