"""Random scenes: how many are solved with blends and with recorded steps alone, and what finished motion breaks.

    CHOREOGRAPH_DATA=<folder with cmu/> python -m benchmarks.plan_scenes [FIRST:LAST] [--quarter] [--keep FILE]
        [--seconds 1]

Scenes 0 to 199 of subject 16, each by its number. Every fourth has obstacles and a gap, every fourth a goal of a few
centimetres, every fourth small stones in a sea, every fourth both. A search has one CPU second, or as many as
`--seconds` says. `--quarter` takes every fourth clip. `--keep` adds what each search gave to a file, and passes over
what is there already: so all can be run in pieces, and the last prints the whole.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.bench_plan import find_graph
from choreograph.base.errors import RequestError
from choreograph.goals.model import PlaceGoal
from choreograph.graph.model import MotionGraph
from choreograph.scene.model import Obstacle, Shape
from choreograph.verbs.plan import attempt
from choreograph.verbs.plan.heuristic import MEASURES
from choreograph.verbs.plan.prepare import PlanGraph, find_plan_graph
from choreograph.verbs.plan.request import PlanRequest
from choreograph.verbs.plan.search import PlanSearch

KINDS = ("obstacles", "precise", "stones", "precise stones")
SECONDS = 1.0


def random_scene(number: int) -> PlanRequest:
    """One of the scenes; its kind goes round by its number."""
    rng, kind = np.random.default_rng([7, number]), KINDS[number % len(KINDS)]
    precise = {"tolerance_m": 0.05, "facing_deg": float(rng.uniform(-40, 40)), "tolerance_deg": 3.0}
    more = precise if kind.startswith("precise") else {}
    if kind.endswith("stones"):
        count, z, side = int(rng.integers(3, 7)), 1.3, float(rng.choice([-1.0, 1.0]))
        stones = []
        for _ in range(count):
            at = (side * float(rng.uniform(0.02, 0.18)), z)
            stones.append(Shape(centre=at, radius_m=float(rng.uniform(0.06, 0.10))))
            z, side = z + float(rng.uniform(0.5, 0.8)), -side
        sea = Shape(low=(-3.0, 1.5), high=(3.0, z - 0.3))
        goal = PlaceGoal(place=(float(rng.uniform(-0.5, 0.5)), z + float(rng.uniform(0.8, 1.6))), **more)
        return PlanRequest(goals=[goal], scene={"gaps": (sea,), "stones": tuple(stones)}, time_limit_s=SECONDS)
    far, side = rng.uniform(4, 8), rng.uniform(-1.5, 1.5)
    goal = (float(side), float(far))
    solids = []
    for _ in range(rng.integers(1, 5)):
        at = (float(rng.uniform(-1.5, 1.5)), float(rng.uniform(1.3, far - 1.0)))
        radius = float(rng.uniform(0.15, 0.5))
        if np.hypot(*(np.array(at) - goal)) > radius + 0.8:
            solids.append(Obstacle(centre=at, radius_m=radius))
    z = float(rng.uniform(1.5, far - 1.5))
    gaps = (Shape(low=(-4.0, z), high=(4.0, z + float(rng.uniform(0.1, 0.45)))),) if rng.random() < 0.5 else ()
    return PlanRequest(
        goals=[PlaceGoal(place=goal, **more)], scene={"obstacles": tuple(solids), "gaps": gaps}, time_limit_s=SECONDS
    )


def solve(graph: MotionGraph, plans: PlanGraph, number: int, blends: bool, seconds: float = SECONDS) -> dict[str, Any]:
    """What one search gave: its cost, or why there is none, what its finished motion breaks, and the CPU seconds."""
    attempt.clock = time.process_time
    began, found = time.process_time(), {"scene": number, "blends": blends, "cost": None, "broken": []}
    search = PlanSearch(graph, random_scene(number).with_(interpolation=blends, time_limit_s=seconds), plans=plans)
    try:
        result = search.run()
        found |= {"cost": result.best.cost, "broken": [problem.text for problem in result.problems]}
    except RequestError as error:
        found["why"] = str(error)
    return {**found, "seconds": round(time.process_time() - began, 2)}


def prepare(graph: MotionGraph, plans: PlanGraph) -> None:
    """Compile kernels, and find what is left out by compression: neither is part of a search's second."""
    _ = plans.whole, [plans.whole_rates(0, measure) for measure in MEASURES]
    for number in range(len(KINDS)):
        for blends in (True, False):
            solve(graph, plans, number, blends, 0.3)


def tell(rows: list[dict[str, Any]]) -> None:
    """Count what searches gave, by kind of scene and in all."""
    by_scene: dict[int, dict[bool, dict[str, Any]]] = {}
    for row in rows:
        by_scene.setdefault(row["scene"], {})[row["blends"]] = row
    names = ("scenes", "interpolated", "plain", "dearer", "broken")
    counts, ratios = {kind: dict.fromkeys(names, 0) for kind in (*KINDS, "all")}, []
    for number, pair in by_scene.items():
        costs = {blends: row["cost"] for blends, row in pair.items() if row["cost"] and not row["broken"]}
        if len(costs) == 2:
            ratios.append(costs[True] / costs[False])
        for kind in (KINDS[number % len(KINDS)], "all"):
            count = counts[kind]
            count["scenes"] += 1
            count["interpolated"] += True in costs
            count["plain"] += False in costs
            count["dearer"] += len(costs) == 2 and ratios[-1] > 1.01
            count["broken"] += sum(bool(row["broken"]) for row in pair.values())
    for kind, count in counts.items():
        print(f"  {kind:15} " + "  ".join(f"{name} {value}" for name, value in count.items()))
    spent = [row["seconds"] for row in rows]
    print(
        "solved: an answer that keeps all; broken: answers that do not, and say so; dearer: by more than 1 %\n"
        f"cost over plain's where both solve {np.mean(ratios) if ratios else np.nan:.3f}, at most "
        f"{max(ratios, default=np.nan):.3f}; CPU of a search: median {np.median(spent):.1f} s, most {max(spent):.1f} s"
    )


def main() -> None:
    """Run some of the scenes."""
    words = sys.argv[1:]
    kept = Path(words.pop(words.index("--keep") + 1)) if "--keep" in words else None
    seconds = float(words.pop(words.index("--seconds") + 1)) if "--seconds" in words else SECONDS
    first, _, last = next((word for word in words if not word.startswith("-")), "0:200").partition(":")
    rows = [json.loads(line) for line in kept.read_text().splitlines()] if kept is not None and kept.exists() else []
    done = {(row["scene"], row["blends"]) for row in rows}
    graph = find_graph("16", 4 if "--quarter" in words else 1)
    plans = find_plan_graph(graph)
    prepare(graph, plans)
    for number in range(int(first), int(last)):
        for blends in (True, False):
            if (number, blends) not in done:
                rows.append(solve(graph, plans, number, blends, seconds))
                if kept is not None:
                    with kept.open("a") as file:
                        print(json.dumps(rows[-1]), file=file)
    tell(rows)


if __name__ == "__main__":
    main()
