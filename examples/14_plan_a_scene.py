"""How does someone get through a scene, over its gaps and under its bars, at the least cost?

After Safonova & Hodgins (2007): steps between the recorded ones, searched by anytime A*. Demo motion walks round
pillars, through a maze, over a puddle and on stones; a low bar, a wide gap or a chair need recordings, and something to
step over needs those of subject 143. Each is written as motion, as a picture from above and, with --film, as a film and
as one picture of it:

    choreograph fetch cmu 108 --cache recordings
    python examples/14_plan_a_scene.py [--scene pillars] [--recordings recordings/108] [--film] [--out FOLDER]
"""

import argparse
from pathlib import Path

from people import open_people

import choreograph as cg
from choreograph.goals.model import PlaceGoal
from choreograph.pictures.animation import write_film
from choreograph.pictures.blocks import make_block
from choreograph.pictures.plots import write_plot
from choreograph.pictures.raster import Stroke
from choreograph.pictures.sheet import write_sheet
from choreograph.pictures.theme import AMBER
from choreograph.scene.model import Obstacle, Shape, StepOver
from choreograph.verbs.plan.plot import blocks, outlines, plot_plan


def wall(ax: float, az: float, bx: float, bz: float) -> Obstacle:
    return Obstacle(low=(min(ax, bx) - 0.05, min(az, bz) - 0.05), high=(max(ax, bx) + 0.05, max(az, bz) + 0.05))


SEA = Shape(low=(-3.0, 1.5), high=(3.0, 4.0))
SCENES = {
    "pillars": cg.PlanRequest(
        goals=[PlaceGoal(place=(0.0, 7.0))],
        scene={"obstacles": [Obstacle(centre=(0.15, 2.5), radius_m=0.4), Obstacle(centre=(-0.5, 4.7), radius_m=0.4)]},
    ),
    "stones": cg.PlanRequest(
        goals=[PlaceGoal(place=(0.0, 5.5))],
        scene={
            "gaps": [SEA],
            "stones": [Shape(centre=(0.1 * (-1) ** k, 1.3 + 0.66 * k), radius_m=0.12) for k in range(5)],
        },
    ),
    "puddle": cg.PlanRequest(
        goals=[PlaceGoal(place=(0.0, 5.0))], scene={"gaps": [Shape(low=(-2.0, 2.2), high=(2.0, 2.5))]}
    ),
    "gap": cg.PlanRequest(
        goals=[PlaceGoal(place=(0.0, 6.0))], scene={"gaps": [Shape(low=(-10.0, 2.5), high=(10.0, 3.5))]}
    ),
    "bar": cg.PlanRequest(
        start={"standing": True},
        scene={"obstacles": [Obstacle(ends=((-3.0, 3.0), (3.0, 3.0)), base_m=1.3)]},
        goals=[PlaceGoal(place=(0.0, 6.0), standing=True)],
    ),
    "step over": cg.PlanRequest(
        goals=[PlaceGoal(place=(0.0, 5.0))],
        scene={"step_over": [StepOver(low=(-3.0, 2.4), high=(3.0, 2.5), height_m=0.15)]},
    ),
    "sit": cg.PlanRequest(
        goals=[PlaceGoal(place=(1.0, 4.0), tolerance_m=0.4, label="sit")],
        scene={"obstacles": [Obstacle(centre=(0.3, 1.8), radius_m=0.3)]},
    ),
    "maze": cg.PlanRequest(
        goals=[PlaceGoal(place=(0.0, 13.0), tolerance_m=0.5)],
        scene={
            "obstacles": [
                *(wall(-4.0, 2.5, 1.0, 2.5), wall(-1.0, 5.5, 4.0, 5.5), wall(-4.0, 8.5, 1.0, 8.5)),
                *(wall(-1.0, 11.0, 4.0, 11.0), wall(-4.0, -1.0, -4.0, 14.0), wall(4.0, -1.0, 4.0, 14.0)),
            ]
        },
    ),
}

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--scene", choices=list(SCENES), default="pillars", help="which one")
parser.add_argument("--recordings", type=Path, help="folder with .amc or .bvh files; else demo clips")
parser.add_argument("--work-limit", type=int, default=100_000, help="how many states to look at")
parser.add_argument("--film", action="store_true", help="also write an .mp4 file")
parser.add_argument("--out", type=Path, default=Path("out"), help="folder to write to")
args = parser.parse_args()

graph = open_people(args.recordings, args.out)
result = cg.plan(graph, SCENES[args.scene].with_(work_limit=args.work_limit))
name = args.scene.replace(" ", "-")
for metric in result.metrics.values():
    print(f"  {metric.text}: {metric.said}")
for problem in result.problems:
    print(f"  {problem.text}")
cg.write_clip(args.out / f"{name}.bvh", result.clip, overwrite=True)
write_plot(args.out / f"{name}.png", plot_plan(result), overwrite=True)
if args.film:
    floor = [Stroke(points, AMBER, width) for points, width in outlines(SCENES[args.scene])]
    things = [make_block(*each) for each in blocks(SCENES[args.scene])]
    write_film(args.out / f"{name}.mp4", [result.clip], floor=floor, blocks=things, overwrite=True)
    write_sheet(args.out / f"{name}-sheet.png", [result.clip], blocks=things, overwrite=True)
print(f"wrote {name}.bvh and {name}.png to {args.out}")
