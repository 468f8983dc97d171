"""Random scenes: how many are solved with blends and with recorded steps alone, and what finished motion breaks.

    CHOREOGRAPH_DATA=<folder with cmu/> python -m benchmarks.plan_scenes [FIRST:LAST] [--quarter]

Scenes 0 to 199 of subject 16, each by its number, so that they can be run in pieces. Every fourth has obstacles and a
gap, every fourth a goal of a few centimetres, every fourth small stones in a sea, every fourth both. A search expands
6,000 states at most. `--quarter` takes every fourth clip.
"""

from __future__ import annotations

import sys
import time

import numpy as np

from benchmarks.bench_plan import find_graph
from choreograph.errors import RequestError
from choreograph.graph.model import MotionGraph
from choreograph.synthesis.plan.parts import Goal, Region, Solid
from choreograph.synthesis.plan.prepare import PlanGraph, find_plan_graph
from choreograph.synthesis.plan.request import PlanRequest
from choreograph.synthesis.plan.search import PlanSearch

KINDS = ("obstacles", "precise", "stones", "precise stones")
STATES = 6_000


def random_scene(number: int) -> PlanRequest:
    """One of the scenes; its kind goes round by its number."""
    rng, kind = np.random.default_rng([7, number]), KINDS[number % len(KINDS)]
    precise = {"radius": 0.05, "facing_deg": float(rng.uniform(-40, 40)), "tolerance_deg": 3.0}
    more = precise if kind.startswith("precise") else {}
    if kind.endswith("stones"):
        count, z, side = int(rng.integers(3, 7)), 1.3, float(rng.choice([-1.0, 1.0]))
        stones = []
        for _ in range(count):
            at = (side * float(rng.uniform(0.02, 0.18)), z)
            stones.append(Region.of_circle(at, float(rng.uniform(0.06, 0.10))))
            z, side = z + float(rng.uniform(0.5, 0.8)), -side
        sea = Region.of_box((-3.0, 1.5), (3.0, z - 0.3))
        goal = Goal(position=(float(rng.uniform(-0.5, 0.5)), z + float(rng.uniform(0.8, 1.6))), **more)
        return PlanRequest(goal=goal, gaps=(sea,), stones=tuple(stones), evaluations=STATES)
    far, side = rng.uniform(4, 8), rng.uniform(-1.5, 1.5)
    goal = (float(side), float(far))
    solids = []
    for _ in range(rng.integers(1, 5)):
        at = (float(rng.uniform(-1.5, 1.5)), float(rng.uniform(1.3, far - 1.0)))
        radius = float(rng.uniform(0.15, 0.5))
        if np.hypot(*(np.array(at) - goal)) > radius + 0.8:
            solids.append(Solid.of_circle(at, radius))
    z = float(rng.uniform(1.5, far - 1.5))
    gaps = (Region.of_box((-4.0, z), (4.0, z + float(rng.uniform(0.1, 0.45)))),) if rng.random() < 0.5 else ()
    return PlanRequest(goal=Goal(position=goal, **more), obstacles=tuple(solids), gaps=gaps, evaluations=STATES)


def run(graph: MotionGraph, plans: PlanGraph, numbers: range) -> None:
    """Solve the scenes, with blends and without, and count."""
    names = ("scenes", "interpolated", "plain", "dearer", "broken")
    counts = {kind: dict.fromkeys(names, 0) for kind in KINDS}
    ratios = []
    for number in numbers:
        request, count, costs = random_scene(number), counts[KINDS[number % len(KINDS)]], {}
        count["scenes"] += 1
        for blends in (True, False):
            try:
                result = PlanSearch(graph, request.with_(interpolation=blends), plans=plans).run()
            except RequestError:
                continue
            if result.problems:
                count["broken"] += blends
                continue
            costs[blends] = result.best.cost
            count["interpolated" if blends else "plain"] += 1
        if len(costs) == 2:
            ratios.append(costs[True] / costs[False])
            count["dearer"] += ratios[-1] > 1.01
    for kind, count in counts.items():
        print(f"  {kind:15} " + "  ".join(f"{name} {value}" for name, value in count.items()))
    total = {name: sum(count[name] for count in counts.values()) for name in names}
    print(
        f"scenes {numbers.start} to {numbers.stop - 1}: {total['interpolated']} solved interpolated, {total['plain']}"
        f" plain; {total['broken']} finished motions break a constraint, and say so; {total['dearer']} dearer than"
        f" plain by more than 1 %; cost over plain's where both solve {np.mean(ratios) if ratios else np.nan:.3f}",
        flush=True,
    )


def main() -> None:
    """Run some of the scenes."""
    words = [word for word in sys.argv[1:] if not word.startswith("-")]
    first, _, last = (words[0] if words else "0:200").partition(":")
    graph = find_graph("16", 4 if "--quarter" in sys.argv else 1)
    plans, began = find_plan_graph(graph), time.process_time()
    run(graph, plans, range(int(first), int(last)))
    print(f"{time.process_time() - began:.0f} s")


if __name__ == "__main__":
    main()
