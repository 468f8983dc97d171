"""How do I get a jump without naming one?

After Arikan & Forsyth (2002, figure 7): the head is asked to be high at a moment, and what comes of it is a jump. First
the solver is asked for more than anybody can jump, and says how high it goes.

    python examples/09_jump_at_a_time.py [--recordings FOLDER] [--out FOLDER]
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
body = (cg.PlaceGoal(0.0, (0.0, 0.0), facing_deg=0.0), cg.PlaceGoal(8.0, (0.5, 5.0), facing_deg=0.0))

too_high = cg.SolveRequest(8.0, (*body, cg.JointGoal(4.0, "head", (None, 3.0, None))), count=1, work_limit=20_000)
(problem,) = cg.solve(graph, too_high).problems
print(problem.text)

# A little less than the highest there is, and a weight that makes it worth the trouble.
high = cg.JointGoal(4.0, "head", (None, problem.nearest - 0.05, None), weight=4.0)
result = cg.solve(graph, too_high.with_(goals=[*body, high], work_limit=None, time_limit_s=args.seconds))
tell(result)
show(args.out, "jump-at-a-time", result)
