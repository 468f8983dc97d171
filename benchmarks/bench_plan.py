"""How soon plans are there, how near to the best they are proved to be, and whether finished motion keeps to the scene.

    CHOREOGRAPH_DATA=<folder with cmu/ and cmu_more/> python -m benchmarks.bench_plan [16] [107] [--scenes 200]

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
from choreograph.build.graph import build_graph
from choreograph.errors import RequestError
from choreograph.formats import read_clip
from choreograph.graph.model import MotionGraph
from choreograph.graph.settings import GraphSettings
from choreograph.motion.retarget import retarget
from choreograph.synthesis.plan.answers import Shown, show_chain
from choreograph.synthesis.plan.lower import Plan
from choreograph.synthesis.plan.parts import Bar, Goal, Region, Solid
from choreograph.synthesis.plan.planner import Margins, Planner, World
from choreograph.synthesis.plan.prepare import PlanGraph, find_plan_graph
from choreograph.synthesis.plan.request import PlanRequest
from choreograph.synthesis.plan.search import COARSE_MOST, PLAIN_SHARE, PlanSearch
from choreograph.synthesis.plan.world import make_world, raw_only

SEA = Region.of_box((-3.0, 1.5), (3.0, 5.4))
CASES: dict[str, PlanRequest] = {
    "8 m ahead": PlanRequest(goal=Goal(position=(0.0, 8.0))),
    "8 m, turned left": PlanRequest(goal=Goal(position=(0.0, 8.0), facing_deg=90.0)),
    "5 cm, 3 degrees": PlanRequest(goal=Goal(position=(1.0, 5.0), radius=0.05, facing_deg=0.0, tolerance_deg=3.0)),
    "three obstacles": PlanRequest(
        goal=Goal(position=(0.0, 8.0)),
        obstacles=(
            Solid.of_circle((0.1, 2.5), 0.5), Solid.of_circle((-0.6, 4.5), 0.5), Solid.of_box((0.2, 5.5), (1.5, 6.5)),
        ),
    ),
    "six stones": PlanRequest(
        goal=Goal(position=(0.0, 6.0)), gaps=(SEA,),
        stones=tuple(Region.of_circle((0.1 * (-1) ** k, 1.3 + 0.68 * k), 0.1) for k in range(6)),
    ),
    "bar at 1.3 m": PlanRequest(
        goal=Goal(position=(0.0, 6.0)), bars=(Bar(ends=((-3.0, 3.0), (3.0, 3.0)), height=1.3),)
    ),
    "gap of 1 m": PlanRequest(goal=Goal(position=(0.0, 6.0)), gaps=(Region.of_box((-10.0, 2.5), (10.0, 3.5)),)),
}  # fmt: skip
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


def search(graph: MotionGraph, plans: PlanGraph, request: PlanRequest, seconds: float, *, full: bool = False) -> dict:
    """One search as far as it comes in so many CPU seconds: when it had an answer, what that cost, what is proved."""
    began = time.process_time()
    world = make_world(graph, plans, request, full=full)
    margins = Margins(request.search.margin_m, {})
    for level in (2, 1):
        coarse = Planner(world, request, margins, coarse=level)
        while coarse.cost == np.inf and not coarse.done and coarse.expanded < COARSE_MOST * (3 - level):
            coarse.advance(500)
        if coarse.cost < np.inf:
            break
    first = time.process_time() - began if coarse.cost < np.inf else None
    known = coarse.chain()
    if request.interpolation:
        plain = Planner(raw_only(world), request, margins, known=known)
        while not plain.done and time.process_time() - began < PLAIN_SHARE * seconds:
            plain.advance(1000)
        known = plain.chain()
    fine = Planner(world, request, margins, known=known)
    while not fine.done and time.process_time() - began < seconds:
        fine.advance(1000)
        if first is None and fine.cost < np.inf:
            first = time.process_time() - began
    return {
        "world": world, "chain": fine.chain(), "first": first, "cost": fine.cost, "bound": fine.bound,
        "expanded": fine.expanded, "took": time.process_time() - began,
    }  # fmt: skip


def quality(graph: MotionGraph, world: World, shown: Shown) -> str:
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


def random_scene(rng: np.random.Generator) -> PlanRequest:
    """A goal 4 to 8 m away, with one to four obstacles between, and sometimes a gap that a long step crosses."""
    far, side = rng.uniform(4, 8), rng.uniform(-1.5, 1.5)
    goal = (float(side), float(far))
    solids = []
    for _ in range(rng.integers(1, 5)):
        at = (float(rng.uniform(-1.5, 1.5)), float(rng.uniform(1.3, far - 1.0)))
        radius = float(rng.uniform(0.15, 0.5))
        if np.hypot(*(np.array(at) - goal)) > radius + 0.8:
            solids.append(Solid.of_circle(at, radius))
    gaps = ()
    if rng.random() < 0.25:
        z = float(rng.uniform(1.5, far - 1.5))
        gaps = (Region.of_box((-4.0, z), (4.0, z + float(rng.uniform(0.1, 0.3)))),)
    return PlanRequest(goal=Goal(position=goal), obstacles=tuple(solids), gaps=gaps, evaluations=4000)


def table(graph: MotionGraph, plans: PlanGraph, names: list[str], seconds: float) -> None:
    """Each case: interpolated, plain, and as finished motion."""
    print(
        f"{'':17} first s    cost  within   plain    ratio | broken goal cm  deg  | wander  slide (clips) peaks novelty"
    )
    for name in names:
        request = CASES[name]
        found = search(graph, plans, request, seconds)
        plain = search(graph, plans, request.with_(interpolation=False), seconds)
        if found["chain"] is None:
            print(f"{name:17} no answer in {found['took']:.1f} s; plain {plain['cost']:.1f}", flush=True)
            continue
        shown = show_chain(graph, found["world"], found["chain"], request)
        checked = shown.checked
        print(
            f"{name:17} {found['first']:7.2f} {found['cost']:7.1f} {found['cost'] / found['bound']:7.3f}"
            f" {plain['cost']:7.1f} {found['cost'] / plain['cost']:8.3f} | {len(checked.broken):6}"
            f" {100 * checked.goal_m:7.1f} {np.degrees(checked.goal_rad):4.1f}  |"
            f" {quality(graph, found['world'], shown)}",
            flush=True,
        )


def parts(graph: MotionGraph, plans: PlanGraph) -> None:
    """What compression, heuristic and global search each bring, on a case small enough for all."""
    import dataclasses

    from choreograph.synthesis.plan.heuristic import Rates

    request = PlanRequest(goal=Goal(position=(0.5, 3.0)), obstacles=(Solid.of_circle((0.1, 1.5), 0.3),))
    whole = search(graph, plans, request, 20.0)
    full = search(graph, plans, request, 30.0, full=True)
    print(f"cost over the uncompressed graph's: {whole['cost'] / full['cost']:.3f} "
          f"({whole['expanded']} and {full['expanded']} states expanded)")  # fmt: skip
    nothing = Rates(np.zeros(1), np.zeros(1), np.zeros((1, whole["world"].network.nodes)))
    blind = Planner(dataclasses.replace(whole["world"], rates=nothing), request, Margins(0.03, {}))
    began = time.process_time()
    while not blind.done and time.process_time() - began < 20:
        blind.advance(1000)
    print(f"without heuristic: cost {blind.cost:.1f} against {whole['cost']:.1f}, {blind.expanded} states expanded, "
          f"{'proved' if blind.proved else 'not proved in 20 s'}")  # fmt: skip
    local = receding(graph, plans, request)
    print(f"receding horizon: cost {'none' if local is None else f'{local:.1f}'} against {whole['cost']:.1f}")


def receding(graph: MotionGraph, plans: PlanGraph, request: PlanRequest, most: int = 30) -> float | None:
    """What a local search costs that looks a few hundred states ahead, takes the first two steps, and looks again."""
    world = make_world(graph, plans, request)
    planner = Planner(world, request, Margins(0.03, {}))
    kernel, total, taken = planner._kernel, 0.0, []
    for _ in range(most):
        for _ in range(3):
            planner.advance(100)
        record = int(planner.store.counters[kernel.GOAL])
        done = record >= 0
        if not done:
            count = int(planner.store.counters[kernel.RECORDS])
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
        planner = Planner(world, request, Margins(0.03, {}))
        planner.store = planner._new_store(1 << 16)
        roots = world.network.edge[low:high].astype(np.int64)
        planner.roots, planner._root_places = roots, np.tile(place, (len(roots), 1))
        kernel.begin(
            planner.store, planner.moves, planner.scene, planner.heuristic, roots, planner._edge_costs[low:high],
            planner._root_places, planner.lattice, planner.weight,
        )  # fmt: skip
    return None


def scenes(graph: MotionGraph, plans: PlanGraph, count: int, name: str) -> None:
    """Random scenes: how many are solved, interpolated and plain, and what finished motion breaks."""
    rng = np.random.default_rng(7)
    solved, broken, dearer = {True: 0, False: 0}, 0, 0
    for _ in range(count):
        request, costs = random_scene(rng), {}
        for blends in (True, False):
            try:
                result = PlanSearch(graph, request.with_(interpolation=blends), plans=plans).run()
            except RequestError:
                continue
            solved[blends] += 1
            costs[blends] = result.best.cost
            broken += blends * len(result.problems)
        dearer += len(costs) == 2 and costs[True] > 1.01 * costs[False]
    print(
        f"{count} random scenes, {name}: {solved[True]} solved interpolated, {solved[False]} plain; {broken}"
        f" constraints broken in finished motion; {dearer} dearer than plain by more than 1 %",
        flush=True,
    )


def main() -> None:
    """Print every figure with its bar."""
    words = sys.argv[1:]
    count = int(words[words.index("--scenes") + 1]) if "--scenes" in words else 200
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
        table(graph, plans, OF[name], seconds)
        if name == "16":
            parts(graph, plans)
            scenes(graph, plans, count, "all clips")
            few = find_graph(name, 4)
            scenes(few, find_plan_graph(few), count, "a quarter of the clips")
    print(f"memory at most {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MiB (bar 1024)")


if __name__ == "__main__":
    main()
