"""How soon plans are there, how near to the best they are proved to be, and whether finished motion keeps to the scene.

    CHOREOGRAPH_DATA=<folder with cmu/ and cmu_more/> python -m benchmarks.bench_plan [16] [107] [parts] [--seconds 10]

The 200 random scenes are in `plan_scenes`.

Subject 16 with mirrors, and subject 107 on 108's skeleton with mirrors. Times are CPU seconds of one thread, kernels
compiled. Costs are efforts, m²/s³.

Bars: preparing 20 s; first answer 1 s (bar and jump 5 s); proved within 1.25 (bar, gap of 1 m: 1.7) after 10 s; a goal
of 5 cm and 3° met; no constraint broken in finished motion; compression costs 2 % at most; never dearer than the plain
graph by more than 1 %; planted feet wander 0.5 × as far as recorded, slide 1.0 × as fast, turning peaks 1.1 ×, poses
2.5 cm from recorded ones; memory 1 GiB.
"""

from __future__ import annotations

import os
import resource
import sys
import time

import numpy as np

from benchmarks.bench_bend import Feet, novelty, turning
from benchmarks.datasets import find_recordings
from choreograph.base.errors import RequestError
from choreograph.build.graph import build_graph
from choreograph.contract.search import Budget
from choreograph.formats import read_clip
from choreograph.goals.model import PlaceGoal
from choreograph.graph.model import MotionGraph
from choreograph.graph.settings import GraphSettings
from choreograph.motion.retarget import retarget
from choreograph.scene.model import Obstacle, Shape
from choreograph.verbs.plan import attempt
from choreograph.verbs.plan.answers import FinishedPlan
from choreograph.verbs.plan.counters import GOAL, RECORDS
from choreograph.verbs.plan.planner import Planner
from choreograph.verbs.plan.prepare import PlanGraph, find_plan_graph
from choreograph.verbs.plan.request import PlanAdvanced, PlanRequest
from choreograph.verbs.plan.search import PlanSearch
from choreograph.verbs.plan.task import Margins, Task, World
from choreograph.verbs.plan.to_montage import Plan
from choreograph.verbs.plan.world import make_world

SEA = Shape(low=(-3.0, 1.5), high=(3.0, 5.4))
CASES: dict[str, PlanRequest] = {
    "8 m ahead": PlanRequest(goals=[PlaceGoal(place=(0.0, 8.0))]),
    "8 m, turned left": PlanRequest(goals=[PlaceGoal(place=(0.0, 8.0), facing_deg=90.0)]),
    "5 cm, 3 degrees": PlanRequest(
        goals=[PlaceGoal(place=(1.0, 5.0), tolerance_m=0.05, facing_deg=0.0, tolerance_deg=3.0)]
    ),
    "three obstacles": PlanRequest(
        goals=[PlaceGoal(place=(0.0, 8.0))],
        scene={
            "obstacles": (
                Obstacle(centre=(0.1, 2.5), radius_m=0.5),
                Obstacle(centre=(-0.6, 4.5), radius_m=0.5),
                Obstacle(low=(0.2, 5.5), high=(1.5, 6.5)),
            )
        },
    ),
    "six stones": PlanRequest(
        goals=[PlaceGoal(place=(0.0, 6.0))],
        scene={
            "gaps": (SEA,),
            "stones": tuple(Shape(centre=(0.1 * (-1) ** k, 1.3 + 0.68 * k), radius_m=0.1) for k in range(6)),
        },
    ),
    "bar at 1.3 m": PlanRequest(
        goals=[PlaceGoal(place=(0.0, 6.0))],
        scene={"obstacles": (Obstacle(ends=((-3.0, 3.0), (3.0, 3.0)), base_m=1.3),)},
    ),
    "gap of 1 m": PlanRequest(
        goals=[PlaceGoal(place=(0.0, 6.0))], scene={"gaps": (Shape(low=(-10.0, 2.5), high=(10.0, 3.5)),)}
    ),
}
OF = {"16": list(CASES)[:5], "107": ["8 m ahead", "5 cm, 3 degrees", "bar at 1.3 m", "gap of 1 m"]}


def find_graph(name: str, every: int = 1) -> MotionGraph:
    """The graph of a subject, of every so-manieth clip; its transitions do not matter here, so few are looked for."""
    folder = find_recordings()
    if name == "16":
        clips = [read_clip(path) for path in sorted((folder / "cmu" / "16").glob("*.amc"))]
    else:
        files = [path for subject in ("107", "108") for path in sorted((folder / "cmu_more" / subject).glob("*.amc"))]
        clips = [read_clip(path) for path in files]
        skeleton = next(clip.skeleton for clip, path in zip(clips, files, strict=True) if path.stem.startswith("108"))
        clips = [retarget(clip, skeleton) for clip in clips]
    return build_graph(clips[::every], GraphSettings(threshold_m=0.01, mirror=True))


def search(graph: MotionGraph, plans: PlanGraph, request: PlanRequest, seconds: float = 10.0) -> dict:
    """One search of so many CPU seconds: when it had an answer, what that cost, what is proved, and what it became."""
    attempt.clock = time.process_time
    began, first = time.process_time(), None
    run = PlanSearch(graph, request.with_(time_limit_s=seconds), plans=plans)
    while run.step(Budget(steps=1)):
        if first is None and run.found:
            run.best()  # finished, too
            first = time.process_time() - began
    took = time.process_time() - began
    try:
        result = run.best()
    except RequestError as error:
        return {"result": None, "why": str(error), "cost": np.inf, "took": took}
    shown = run.shown
    return {
        "result": result, "shown": shown, "first": first or took, "cost": shown.chain.cost, "took": took,
        "bound": shown.bound, "world": make_world(graph, plans, request, full=shown.whole),
    }  # fmt: skip


def quality(graph: MotionGraph, world: World, shown: FinishedPlan) -> str:
    """The finished motion against the recordings that it is made of: wander, slide, turning peaks, distance in cm.

    Slides are compared with the stretches that are shown, and in brackets with whole clips: in those of subject 108
    people stand most of the time, and who stands does not slide.
    """
    clip, parts = shown.motion.clip, shown.motion.sources
    used = {run.clip for run in parts} | {run.other for run in parts if run.other}
    sources = [graph.clips[n] for n, info in enumerate(graph.infos) if info.name in used]
    recorded = [Feet(source) for source in sources]
    feet = Feet(clip, np.median([one.floor for one in recorded], axis=0))
    slide = np.average([one.slide for one in recorded], weights=[len(source) for source in sources])
    wander = np.percentile([x for one in recorded for x in one.wander] or [1e-9], 95)
    peaks = np.percentile(turning(clip), 99.9) / np.percentile(np.concatenate([turning(c) for c in sources]), 99.9)
    own = shown_slide(Plan(graph, world, shown.chain))
    return (
        f"{np.percentile(feet.wander or [0.0], 95) / max(wander, 1e-9):5.2f}"
        f" {feet.slide / max(own, 1e-9):5.2f} ({feet.slide / max(slide, 1e-9):4.2f})"
        f" {peaks:5.2f} {100 * novelty(clip, sources):5.2f}"
    )


def shown_slide(plan: Plan) -> float:
    """How fast feet near the floor slide in the stretches of recordings that a plan shows, metres per second."""
    found = []
    for part in (part for each in plan.parts() for part in each):
        clip = plan.graph.clips[part.clip]
        own = clip[int(part.frames[0]) : int(part.frames[-1]) + 1]
        if len(own) > 2:
            found.append((Feet(own, Feet(clip).floor).slide, part.weight * len(own)))
    return float(np.average([slide for slide, _ in found], weights=[size for _, size in found])) if found else 0.0


def table(graph: MotionGraph, plans: PlanGraph, names: list[str], seconds: float) -> None:
    """Each case: interpolated, plain, and as finished motion."""
    print(
        f"{'':17} first s    cost  within   plain    ratio | broken goal cm  deg  | wander  slide (clips) peaks novelty"
    )
    for name in names:
        request = CASES[name]
        found = search(graph, plans, request, seconds)
        plain = search(graph, plans, request.with_(interpolation=False), seconds)
        if found["result"] is None:
            print(f"{name:17} no answer in {found['took']:.1f} s; plain {plain['cost']:.1f}", flush=True)
            continue
        checked = found["shown"].checked
        print(
            f"{name:17} {found['first']:7.2f} {found['cost']:7.1f} {found['cost'] / found['bound']:7.3f}"
            f" {plain['cost']:7.1f} {found['cost'] / plain['cost']:8.3f} | {len(checked.broken):6}"
            f" {100 * checked.goal_m:7.1f} {np.degrees(checked.goal_rad):4.1f}  |"
            f" {quality(graph, found['world'], found['shown'])}",
            flush=True,
        )


SMALL: dict[str, PlanRequest] = {
    "an obstacle": PlanRequest(
        goals=[PlaceGoal(place=(0.5, 3.0))], scene={"obstacles": (Obstacle(centre=(0.1, 1.5), radius_m=0.3),)}
    ),
    "3 m ahead": PlanRequest(goals=[PlaceGoal(place=(0.0, 3.0))]),
    "turned left": PlanRequest(goals=[PlaceGoal(place=(1.0, 2.5), facing_deg=90.0)]),
    "5 cm, 3 degrees": PlanRequest(
        goals=[PlaceGoal(place=(0.3, 3.0), tolerance_m=0.05, facing_deg=0.0, tolerance_deg=3.0)]
    ),
    "behind": PlanRequest(goals=[PlaceGoal(place=(0.5, -2.0), facing_deg=180.0)]),
}


def compression(graph: MotionGraph, plans: PlanGraph, seconds: float) -> None:
    """What leaving steps out costs, on cases small enough to be searched without; and what going back to all brings."""
    began = time.process_time()
    _ = plans.whole, [plans.whole_rates(0, measure) for measure in (0, 1, 2)]
    print(
        f"all steps: {len(plans.every)} primitives, {len(plans.whole.edge)} edges, {time.process_time() - began:.1f} s"
    )
    print("cost over the uncompressed graph's (bar 1.02):   compressed    with time left (auto)")
    worst = [0.0, 0.0]
    for name, request in SMALL.items():
        cost = {
            way: search(graph, plans, request.with_(advanced=PlanAdvanced(compression=way)), seconds)["cost"]
            for way in ("off", "on", "auto")
        }
        ratios = [cost[way] / cost["off"] for way in ("on", "auto")]
        worst = np.maximum(worst, ratios).tolist()
        print(f"  {name:17} {cost['off']:7.1f} {ratios[0]:27.3f} {ratios[1]:18.3f}", flush=True)
    print(f"  worst {worst[0]:46.3f} {worst[1]:18.3f}", flush=True)


def parts(graph: MotionGraph, plans: PlanGraph) -> None:
    """What the heuristic and global search each bring: states expanded until an answer is proved, and costs.

    One search without any estimate of what is left, one that only looks a few hundred states ahead at a time.
    """
    import dataclasses

    from choreograph.verbs.plan.heuristic import Rates

    print(f"{'':17}   cost  states | without heuristic:   cost   states proved | receding horizon: cost")
    for name in ("3 m ahead", "an obstacle", "turned left", "three obstacles"):
        request = {**SMALL, **CASES}[name].with_(advanced=PlanAdvanced(refine=False))
        world = make_world(graph, plans, request)
        planner = Planner(Task.of(world, request, Margins(0.03, {})))
        nothing = Rates(np.zeros(1), np.zeros(1), np.zeros((1, world.network.nodes)))
        blind_task = Task.of(dataclasses.replace(world, rates=nothing), request, Margins(0.03, {}))
        without = blind_task.heuristic._replace(potential=np.zeros_like(blind_task.heuristic.potential))
        blind = Planner(dataclasses.replace(blind_task, heuristic=without))
        for one in (planner, blind):
            began = time.process_time()
            while not one.done and time.process_time() - began < 10:
                one.advance(1000)
        local = receding(graph, plans, request)
        print(
            f"{name:17} {planner.cost:6.1f} {planner.expanded:7} | {blind.cost:25.1f} {blind.expanded:8} "
            f"{blind.proved!s:6} | {np.inf if local is None else local:22.1f}",
            flush=True,
        )


def receding(graph: MotionGraph, plans: PlanGraph, request: PlanRequest, most: int = 30) -> float | None:
    """What a local search costs that looks a few hundred states ahead, takes the first two steps, and looks again."""
    world = make_world(graph, plans, request)
    task = Task.of(world, request, Margins(0.03, {}))
    planner = Planner(task)
    kernel, total, taken = planner._kernel, 0.0, []
    for _ in range(most):
        for _ in range(3):
            planner.advance(100)
        record = int(planner.store.counters[GOAL])
        done = record >= 0
        if not done:
            count = int(planner.store.counters[RECORDS])
            open_to = planner.store.state[:count] == kernel.KEPT
            if not open_to.any():
                return None
            record = int(np.where(open_to, planner.store.rest[:count], np.inf).argmin())
        chain = []
        while record >= 0:
            chain.append(record)
            record = int(planner.store.parent[record])
        kept = chain[::-1] if done else chain[::-1][:2]
        total += float(planner.store.cost[kept[-1]])
        taken += kept
        if done:
            return total
        place, primitive = planner.store.place[kept[-1]].copy(), int(planner.store.primitive[kept[-1]])
        node = world.network.target[primitive]
        low, high = world.network.first[node], world.network.first[node + 1]
        planner = Planner(task)
        planner.store = planner._new_store(1 << 16)
        roots = world.network.edge[low:high].astype(np.int64)
        planner.roots, planner._root_places = roots, np.tile(place, (len(roots), 1))
        kernel.begin(
            planner.store, planner.moves, planner.scene, planner.heuristic, roots, task.edge_costs[low:high],
            planner._root_places, planner.lattice, planner.weight,
        )  # fmt: skip
    return None


def main() -> None:
    """Print every figure with its bar."""
    words = sys.argv[1:]
    seconds = float(words[words.index("--seconds") + 1]) if "--seconds" in words else 10.0
    wanted = [name for name in OF if name in words] or list(OF)
    os.environ["CHOREOGRAPH_CACHE_GB"] = "0"
    for name in wanted:
        graph = find_graph(name)
        find_plan_graph(graph)  # compiles
        began = time.process_time()
        plans = find_plan_graph(graph)
        minutes = sum(info.seconds for info in graph.infos) / 60
        took = time.process_time() - began
        print(f"\nsubject {name}: {minutes:.1f} min prepared in {took:.1f} s (bar 20 s); {plans.report()}", flush=True)
        search(graph, plans, CASES["8 m ahead"], 0.5)
        if "parts" not in words:
            table(graph, plans, OF[name], seconds)
        if name == "16" and ("parts" in words or len(wanted) == len(OF)):
            parts(graph, plans)
            compression(graph, plans, seconds)
    print(f"memory at most {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MiB (bar 1024)")


if __name__ == "__main__":
    main()
