"""How does someone pass a place on the way, at the right time and facing the right way?

After Arikan & Forsyth (2002, figure 6): a checkpoint between start and end, and a table that is in the way.

    python examples/08_three_checkpoints.py [--recordings FOLDER] [--out FOLDER]
"""

import argparse
from pathlib import Path

from people import open_people, show, tell

import choreograph as cg

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--recordings", type=Path, help="folder with one person's motion files; else demo clips")
parser.add_argument("--seconds", type=float, default=4.0, help="how long to search")
parser.add_argument("--out", type=Path, default=Path("out"), help="folder to write to")
args = parser.parse_args()

graph = open_people(args.recordings, args.out)
request = cg.SolveRequest(
    10.0,
    (
        cg.PlaceGoal(0.0, (0.0, 0.0), facing_deg=0.0),
        cg.PlaceGoal(5.0, (2.5, 4.0), facing_deg=90.0),
        cg.PlaceGoal(10.0, (6.0, 0.5), facing_deg=180.0),
    ),
    scene=cg.Scene((cg.Obstacle(low=(2.4, 1.0), high=(4.0, 2.4)),)),
    count=1,
    time_limit_s=args.seconds,
)
result = cg.solve(graph, request)
tell(result)
show(args.out, "three-checkpoints", result)
