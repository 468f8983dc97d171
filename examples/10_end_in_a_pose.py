"""How does a motion end in just this pose, at this place?

After Arikan & Forsyth (2002, figure 8), whose figure ends up lying on the ground: the last frame is given as a frame of
a clip, which every answer keeps exactly. Here it is the one with the lowest head of all: the deepest crouch before a
jump in the demo clips, whatever your own recordings have.

    python examples/10_end_in_a_pose.py [--recordings FOLDER] [--out FOLDER]
"""

import argparse
from pathlib import Path

from people import open_people, show, tell

import choreograph as cg

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--recordings", type=Path, help="folder with one person's motion files; else demo clips")
parser.add_argument("--seconds", type=float, default=3.0, help="how long to search")
parser.add_argument("--out", type=Path, default=Path("out"), help="folder to write to")
args = parser.parse_args()

graph = open_people(args.recordings, args.out)
heads = [clip.global_positions()[:, clip.skeleton.need("head"), 1] for clip in graph.clips]
lowest = min(range(len(heads)), key=lambda n: heads[n].min())
name, frame = graph.infos[lowest].name, int(heads[lowest].argmin())
print(f"the head is lowest in frame {frame} of {name}: {heads[lowest].min():.2f} m")

request = cg.SolveRequest(
    7.0,
    (
        cg.PlaceGoal(0.0, (0.0, 0.0), facing_deg=0.0),
        cg.PlaceGoal(7.0, (2.0, 3.0), facing_deg=45.0),
        cg.PoseGoal(7.0, cg.PoseSource(name, frame), exact=True),
    ),
    count=3,
    time_limit_s=args.seconds,
)
result = cg.solve(graph, request)
tell(result)
motion = result.clip
print(f"the head ends at {motion.global_positions()[-1, motion.skeleton.need('head'), 1]:.2f} m")
show(args.out, "end-in-a-pose", result)
