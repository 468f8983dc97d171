"""How do two people come together at the same moment?

After Arikan & Forsyth (2002, figure 9): each has a start of his own, and both meet for a pair of clips. With recordings
of a pair, such as CMU's salsa dancers (subjects 60 and 61), they dance as they danced; demo motion has no pairs, so two
people walk up to each other and stop, face to face.

    choreograph fetch cmu 60:1-10 61:1-10 --cache recordings
    python examples/13_two_people_meet.py [--recordings recordings] [--out FOLDER]
"""

import argparse
from pathlib import Path

import numpy as np
from people import open_people, show, tell

import choreograph as cg

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--recordings", type=Path, help="folder with the folders 60 and 61; else demo clips")
parser.add_argument("--seconds", type=float, default=6.0, help="how long to search")
parser.add_argument("--out", type=Path, default=Path("out"), help="folder to write to")
args = parser.parse_args()

if args.recordings is None:
    graph = open_people(None, args.out)
    graphs = {"anna": graph, "ben": graph}
    meeting = cg.Meeting(
        5.0,
        ("anna", "ben"),
        (cg.PoseSource("stop_left_foot", 170), cg.PoseSource("stop_right_foot", 170)),
        duration_s=1.0,
        offset=cg.Offset(left_m=0.0, ahead_m=1.0, turned_deg=180.0),
    )
    starts = cg.PlaceGoal(0.0, (0.0, 0.0), 90.0), cg.PlaceGoal(0.0, (7.0, 2.5), -90.0)
else:
    graphs = {
        name: open_people(args.recordings / subject, args.out) for name, subject in (("anna", "61"), ("ben", "60"))
    }
    poses = cg.PoseSource("60_03", 400), cg.PoseSource("61_03", 400)
    meeting = cg.Meeting(3.0, ("ben", "anna"), poses, duration_s=3.0)
    starts = cg.PlaceGoal(0.0, (0.0, 0.0), 90.0), cg.PlaceGoal(0.0, (2.5, 1.0), -90.0)

people = {name: cg.Character([start]) for name, start in zip(graphs, starts, strict=True)}
request = cg.SolveRequest(6.0, characters=people, meet=[meeting], count=1, time_limit_s=args.seconds)
result = cg.solve(graphs, request)
tell(result)
clips = result.best.clips
hips = [clip.global_positions()[round(meeting.at_s * clip.fps), clip.skeleton.hips] for clip in clips]
print(f"when they meet they are {np.hypot(*(hips[0] - hips[1])[[0, 2]]):.2f} m apart")
show(args.out, "two-people-meet", result)
cg.write_clip(args.out / "two-people-meet.glb", clips, overwrite=True)
print(f"wrote both as one scene to {args.out / 'two-people-meet.glb'}")
