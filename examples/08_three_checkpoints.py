"""How does someone pass a place on the way, at the right time and facing the right way?

After Arikan & Forsyth (2002, figure 6): a checkpoint between start and end, and a table that is in the way.

    python examples/08_three_checkpoints.py [--recordings FOLDER] [--out FOLDER]
"""

import argparse
from pathlib import Path

import numpy as np
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
    body=(
        cg.BodyTarget(0.0, (0.0, 0.0), 0.0),
        cg.BodyTarget(5.0, (2.5, 4.0), np.pi / 2),
        cg.BodyTarget(10.0, (6.0, 0.5), np.pi),
    ),
    obstacles=(cg.Obstacle.box((2.4, 1.0), (4.0, 2.4)),),
)
answers = cg.solve(graph, request, count=3, seconds=args.seconds)
tell(answers)
motion = cg.finish(answers[0].splice, name="walk", body=request.body).clip
show(args.out, "three-checkpoints", [motion], [request])
