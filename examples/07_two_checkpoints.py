"""How does someone get from here to there in a given time, and in how many ways?

After Arikan & Forsyth (2002, figure 5): where to begin, where to end, both with a facing. The picture shows the best
motion, and the ways of others that differ from it.

    python examples/07_two_checkpoints.py [--recordings FOLDER] [--out FOLDER]
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
begin, end = cg.PlaceGoal(0.0, (0.0, 0.0), facing_deg=0.0), cg.PlaceGoal(8.0, (5.0, 3.0), facing_deg=90.0)
result = cg.solve(graph, cg.SolveRequest(8.0, (begin, end), count=8, time_limit_s=args.seconds, apart_m=1.0))
tell(result)
show(args.out, "two-checkpoints", result)
