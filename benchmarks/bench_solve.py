"""How near to what is asked the search comes in how much time, and what finishing makes of it.

    CHOREOGRAPH_DATA=<folder with cmu/> python -m benchmarks.bench_solve [seeds]

All trials of subject 16 at 30 Hz, motions of ten seconds in pieces of a third of a second or more. Times are CPU
seconds of one core, kernels loaded. Errors are those of the search, before body constraints are met exactly: median and
worst of the seeds.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.datasets import find_recordings
from choreograph.base import quat
from choreograph.base.arrays import Complexes, Floats, Ints32
from choreograph.base.floor import FloorTransform
from choreograph.build.graph import build_graph
from choreograph.finishing.finish import Finished, finish
from choreograph.finishing.foot_contacts import foot_slide
from choreograph.formats import read_clip
from choreograph.goals.model import JointGoal, PlaceGoal, PoseGoal, PoseSource
from choreograph.graph.cache import list_entries
from choreograph.graph.model import MotionGraph
from choreograph.graph.settings import GraphSettings
from choreograph.graph.store import open_graph, save_graph
from choreograph.motion.clip import Clip
from choreograph.motion.contacts import with_detected_contacts
from choreograph.verbs.solve.hierarchy import Hierarchy, build_hierarchy
from choreograph.verbs.solve.prepare import find_frames, find_hierarchy
from choreograph.verbs.solve.request import SolveRequest
from choreograph.verbs.solve.solver import PathSolver
from choreograph.verbs.solve.splice import Splice

BEGIN = PlaceGoal(0.0, (0.0, 0.0), 0.0)
END = PlaceGoal(10.0, (0.0, 4.0), 90.0)
REQUESTS = {
    "end 4 m away, turned 90°": (SolveRequest(10.0, (BEGIN, END)), (0.1, 0.3, 1.0)),
    "with a checkpoint midway": (SolveRequest(10.0, (BEGIN, PlaceGoal(5.0, (0.0, 2.0), 45.0), END)), (0.3, 1.0, 2.0)),
    "head at 1.9 m midway": (
        SolveRequest(10.0, (BEGIN, END, JointGoal(5.0, "head", (None, 1.9, None)))),
        (0.3, 1.0, 2.0),
    ),
    "top of a jump as hard frame midway": (
        SolveRequest(10.0, (BEGIN, END, PoseGoal(5.0, PoseSource("16_03", 215), exact=True))),
        (0.1, 0.3, 0.5),
    ),
}


def graph_of(clips: list[Clip], *, mirror: bool = False) -> MotionGraph:
    """The clips in a graph; its own transitions are not used here, so it gets next to none."""
    return build_graph(clips, GraphSettings(threshold_m=0.001, mirror=mirror))


def run_cpu(solver: PathSolver, seconds: float) -> None:
    """Search on for so many CPU seconds."""
    begun = time.process_time()
    while time.process_time() - begun < seconds:
        solver.run(evaluations=5_000)


def search_table(graph: MotionGraph, cuts: Hierarchy, seeds: int) -> None:
    for name, (request, times) in REQUESTS.items():
        rows: list[list[list[float]]] = []
        scored = 0
        for seed in range(seeds):
            solver, at = PathSolver(graph, request.with_(seed=seed), hierarchy=cuts), 0.0
            row = []
            for moment in times:
                run_cpu(solver, moment - at)
                at = moment
                errors = [e for e in solver.answers()[0].errors if e.where != "goals[0]"]
                row.append([v for e in errors for v in (100 * (e.metres or 0.0), np.degrees(e.radians or 0.0))])
            rows.append(row)
            scored += solver.evaluations
        print(f"\n{name}: {scored / (seeds * times[-1]) / 1e6:.2f} million evaluations/s")
        table = np.array(rows)
        names = [e.constraint for e in errors]
        for k, moment in enumerate(times):
            cells = []
            for n, constraint in enumerate(names):
                cm, deg = table[:, k, 2 * n], table[:, k, 2 * n + 1]
                turned = f" {np.median(deg):.1f}° ({deg.max():.1f}°)" if deg.any() else ""
                cells.append(f"{constraint} {np.median(cm):.1f} cm ({cm.max():.1f}){turned}")
            print(f"  {moment:>4.1f} s   {'   '.join(cells)}")


def novelty_cm(clip: Clip, graph: MotionGraph, used: Ints32) -> float:
    """95th percentile of the distance to the nearest recorded pose, RMS over joints, best laid on the floor."""

    def parts(clips: list[Clip]) -> tuple[Floats, Complexes]:
        points = np.concatenate([each.resampled(60.0).global_positions() for each in clips])
        floor = points[..., 0] + 1j * points[..., 2]
        return points[..., 1], floor - floor.mean(axis=1, keepdims=True)

    (y, z), (near_y, near_z) = parts([clip]), parts([graph.clips[int(c)] for c in used])
    squares = (y**2).sum(axis=1) + (np.abs(z) ** 2).sum(axis=1)
    near = (near_y**2).sum(axis=1) + (np.abs(near_z) ** 2).sum(axis=1)
    gap = squares[:, None] + near - 2 * y @ near_y.T - 2 * np.abs(z @ near_z.conj().T)
    return 100 * float(np.percentile(np.sqrt(np.maximum(gap.min(axis=1), 0) / y.shape[1]), 95))


def accel_peak(clips: list[Clip]) -> float:
    """99.9th percentile of the joints' angular accelerations, rad/s²."""
    found = []
    for clip in clips:
        turned = quat.multiply(quat.inverse(clip.local_rot[:-1]), clip.local_rot[1:])
        spin = quat.as_rotvec(turned) * clip.fps
        found.append(np.linalg.norm(np.diff(spin, axis=0), axis=2).ravel() * clip.fps)
    return float(np.percentile(np.concatenate(found), 99.9))


def hard_frames_off_mm(motion: Finished, splice: Splice) -> float:
    """How far joints are from where they were recorded at hard frames, seen from the torso's place on the floor."""

    def seen(clip: Clip, frame: int) -> Floats:
        points = clip.global_positions()[frame]
        x, _, z = points[clip.skeleton.hips]
        return FloorTransform(clip.facing()[frame], x, z).inverse().apply(points)

    frames = [round(at_s * motion.clip.fps) for at_s in splice.hard.at_s]
    return 1000 * max((np.abs(seen(motion.clip, f) - seen(motion.raw, f)).max() for f in frames), default=0.0)


def finishing_table(graph: MotionGraph, cuts: Hierarchy, seeds: int) -> None:
    print("\nfinished after 2 million evaluations, median (worst): pieces, slide of planted feet cm before → after,")
    print(
        "torso off at constraints mm, joints at hard frames mm, from poses cm, peaks of angular acceleration over those"
    )
    glides: list[float] = []
    for name, (request, _) in REQUESTS.items():
        rows = []
        for seed in range(seeds):
            solver = PathSolver(graph, request.with_(seed=seed), hierarchy=cuts)
            splice = solver.run(evaluations=2_000_000).answers()[0].splice
            motion, used = finish(splice, body=request.person().body), np.unique(splice.clip)
            clip = motion.clip
            hips = clip.global_positions()[:, clip.skeleton.hips][:, [0, 2]]
            off = max(np.hypot(*(hips[round(b.at_s * clip.fps)] - b.position)) for b in request.person().body)
            peaks = accel_peak([clip]) / accel_peak([graph.clips[int(c)] for c in used])
            glides.append(motion.glide_m_s)
            slides = 100 * foot_slide(motion.raw), 100 * foot_slide(clip)
            hard = hard_frames_off_mm(motion, splice)
            rows.append([len(splice.clip), *slides, 1000 * off, hard, novelty_cm(clip, graph, used), peaks])
        middle, worst = np.median(rows, axis=0), np.max(rows, axis=0)
        pieces, before, after, off, hard, novel, peaks = (
            f"{m:.{n}f} ({w:.{n}f})" for m, w, n in zip(middle, worst, (0, 2, 2, 4, 4, 2, 2), strict=True)
        )
        print(f"  {name:<36} {pieces:>8}  {before} → {after}  {off}  {hard}  {novel}  {peaks}")
    print(f"  they glide at up to {100 * max(glides):.1f} cm/s, beyond bending (bar 5)")


def build(graph: MotionGraph) -> Hierarchy:
    """The hierarchy, whether the cache has it or not."""
    return build_hierarchy(find_frames(graph))


def cache_times(graph: MotionGraph) -> None:
    """What the hierarchy costs when the graph is opened again."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["CHOREOGRAPH_CACHE"] = folder
        path = Path(folder) / "people.mog"
        save_graph(graph, path)
        find_hierarchy(open_graph(path))
        begun = time.process_time()
        find_hierarchy(open_graph(path))
        took = time.process_time() - begun
        [entry] = list_entries()
        sizes = f"{path.stat().st_size / 1e6:.0f} MB, its hierarchy {entry.bytes / 1e6:.0f}"
        print(f"in the cache: the graph's file is {sizes}; both opened in {took:.3f} CPU s")


def time_until(graph: MotionGraph, cuts: Hierarchy, request: SolveRequest, cm: float, deg: float, seed: int) -> float:
    """CPU seconds of searching until every body constraint is met so nearly; 10 at most."""
    solver, taken = PathSolver(graph, request.with_(seed=seed), hierarchy=cuts), 0.0
    while taken < 10.0:
        begun = time.process_time()
        solver.run(evaluations=5_000)
        taken += time.process_time() - begun
        errors = solver.answers()[0].errors
        if all((e.metres or 0) <= cm / 100 and (e.radians or 0) <= np.radians(deg) for e in errors):
            break
    return taken


def growth_table(clips: list[Clip], seeds: int) -> None:
    """What more clips cost: finding cuts once; in every search, a local minimum, and coming near to what is asked."""
    print("\nclips  frames      cuts    in G'   found s  µs a cut   a minimum: evaluations  ms (end; with checkpoint)")
    print(f"{'s until 2 cm, 1° at the end; until 5 cm, 3° at checkpoint and end: median (worst)':>124}")
    end, by_way = (REQUESTS[name][0] for name in ("end 4 m away, turned 90°", "with a checkpoint midway"))
    grown: list[list[float]] = []
    for count, mirror in ((15, False), (30, False), (len(clips), False), (len(clips), True)):
        graph = graph_of(clips[:: max(1, len(clips) // count)][:count], mirror=mirror)
        begun = time.process_time()
        cuts = build(graph)
        found = time.process_time() - begun
        searched = []
        for request in (end, by_way):
            solver = PathSolver(graph, request, hierarchy=cuts)
            run_cpu(solver, 3.0)
            searched.append((solver.evaluations / len(solver.minima), 3000.0 / len(solver.minima)))
        (scored, took), (scored_by_way, took_by_way) = searched
        near = [time_until(graph, cuts, end, 2.0, 1.0, seed) for seed in range(seeds)]
        both = [time_until(graph, cuts, by_way, 5.0, 3.0, seed) for seed in range(seeds)]
        grown.append([len(graph.infos), found, scored, took, scored_by_way, took_by_way])
        print(
            f"{len(graph.infos):>5} {len(cuts.frames):>7} {cuts.leaves:>9} {cuts.roots:>8} {found:>9.2f}"
            f" {1e6 * found / cuts.leaves:>9.2f} {scored:>12.0f} {took:>6.1f}; {scored_by_way:.0f} {took_by_way:.1f}"
            f" {np.median(near):>10.2f} ({max(near):.2f}) {np.median(both):>8.2f} ({max(both):.2f})"
        )
    logs = np.log(grown)
    powers = [np.polyfit(logs[:, 0], column, 1)[0] for column in logs[:, 1:].T]
    names = ("finding cuts", "evaluations for a minimum", "its time", "with checkpoint", "its time")
    print("grow as clips to the power of: " + ", ".join(f"{n} {p:.2f}" for n, p in zip(names, powers, strict=True)))


def main() -> None:
    seeds = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    files = sorted((find_recordings() / "cmu" / "16").glob("*.amc"))
    clips = [with_detected_contacts(read_clip(path)) for path in files]
    graph = graph_of(clips)
    build(graph_of(clips[:2]))  # loads the kernels
    begun = time.process_time()
    cuts = build(graph)
    print(
        f"{len(clips)} clips, {len(cuts.frames)} frames: {cuts.leaves} cuts in {cuts.groups} groups, "
        f"{cuts.roots} in G', "
        f"{len(cuts.lost_clips())} clips lost, found in {time.process_time() - begun:.2f} CPU s"
    )
    cache_times(graph)
    PathSolver(graph, REQUESTS["head at 1.9 m midway"][0], hierarchy=cuts).run(evaluations=1_000)
    search_table(graph, cuts, seeds)
    request = REQUESTS["end 4 m away, turned 90°"][0]
    solver = PathSolver(graph, request, hierarchy=cuts)
    run_cpu(solver, 10.0)
    print(
        f"\ndifferent answers to the first request in 10 s: {len(solver.answers(500))}, of {len(solver.minima)} minima"
    )
    finishing_table(graph, cuts, seeds)
    growth_table(clips, seeds)


if __name__ == "__main__":
    main()
