"""How near to a path walks stay, how fast they are found, and how the motion made of them compares to the recordings.

    CHOREOGRAPH_DATA=… python -m benchmarks.bench_follow [paths] [methods] [motion] [stream] [large] [--seeds N]

The graph is that of subject 16's walks, runs and turns at 30 Hz, with default settings. Errors are distances of the
finished motion's root, at its own rate, from the point of the path at the way walked so far. Times are CPU seconds of
one thread, warm, so that a busy machine counts less. All comparisons are made within one run.
"""

from __future__ import annotations

import csv
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path as File
from typing import Any

import numpy as np

from benchmarks.datasets import find_recordings
from choreograph.base import quat
from choreograph.base.arrays import Floats
from choreograph.build.graph import build_graph
from choreograph.features.root_tracks import TREMBLE_S
from choreograph.finishing.finish import Finished, finish
from choreograph.formats import read_clip
from choreograph.graph.model import MotionGraph
from choreograph.graph.settings import GraphSettings
from choreograph.graph.store import open_graph, save_graph
from choreograph.graph.tables import TRANSITION
from choreograph.motion.clip import Clip
from choreograph.motion.contacts import runs
from choreograph.scene.path import Path
from choreograph.scene.path_shapes import named_path
from choreograph.verbs.follow.follower import PathFollower
from choreograph.verbs.follow.measure import measure_path
from choreograph.verbs.follow.request import FollowAdvanced, FollowRequest
from choreograph.verbs.follow.search import FollowSearch
from choreograph.verbs.follow.stream import MotionStream
from choreograph.verbs.follow.tables import EdgeTables, find_tables

PATHS = {name: named_path(name) for name in ("line", "circle", "eight", "s", "square", "spiral", "zigzag")}
METHODS = {
    "default": FollowAdvanced(),
    "beam alone": FollowAdvanced(method="beam"),
    "plain beam": FollowAdvanced(method="beam", weights={"heuristic": 0.0}),
    "thesis": FollowAdvanced(method="thesis", horizon_s=2.0),
}


def cpu(work: Callable[[], Any]) -> tuple[float, Any]:
    """CPU seconds of a run, and its result."""
    start = time.process_time()
    result = work()
    return time.process_time() - start, result


def subject_16() -> MotionGraph:
    folder = find_recordings() / "cmu"
    with (folder / "trials.tsv").open() as file:
        said = {row["trial"]: row["description"] for row in csv.DictReader(file, delimiter="\t")}
    clips = [read_clip(file) for file in sorted((folder / "16").glob("*.amc")) if "jump" not in said[file.stem]]
    graph = build_graph(clips, GraphSettings(), workers=1)
    print(f"{len(clips)} clips, {sum(clip.seconds for clip in clips):.0f} s; {graph!r}")
    return graph


def walk_along(graph: MotionGraph, path: Path, request: FollowRequest, tables: EdgeTables) -> PathFollower:
    follower = PathFollower(graph, path, request, tables=tables)
    while follower.step():
        pass
    return follower


def walk_paths(graph: MotionGraph, tables: EdgeTables, settings: FollowAdvanced, seeds: Sequence[int]) -> None:
    """One line per path: the mean over the seeds, and the worst of them."""
    print(
        "path      mean err (worst)   max err (worst)   transitions/s   × real time   proved   gap of cost   finish ×"
    )
    for name, path in PATHS.items():
        rows = []
        for seed in seeds:
            took, result = cpu(
                lambda s=seed, p=path: walk_along(graph, p, FollowRequest(advanced=settings, seed=s), tables)
            )
            finishing, made = cpu(lambda r=result: finish(r.walk()))
            rows.append((*figures(result, made, path), made.clip.seconds / took, made.clip.seconds / finishing))
        mean, most, changes, proved, gap, speed, finished = np.array(rows).T
        print(
            f"{name:8} {mean.mean():8.3f} ({mean.max():.3f}) {most.mean():10.3f} ({most.max():.3f})"
            f" {changes.mean():8.2f} ({changes.max():.2f}) {np.median(speed):12.0f} {proved.mean():11.0%}"
            f" {gap.mean():12.0%} {np.median(finished):12.0f}",
            flush=True,
        )


def figures(result: PathFollower, made: Finished, path: Path) -> tuple[float, ...]:
    """Mean and largest error, transitions per second, share of steps proved, and how much of the cost may be saved."""
    off = measure_path(made.clip, path)
    proved = float(np.mean([step.proved for step in result.steps]))
    gap = sum(step.gap for step in result.steps) / max(sum(step.cost for step in result.steps), 1e-12)
    walk, graph = result.walk(), result.graph
    changes = (graph.edges.kind[walk.edges] == TRANSITION).sum() / (len(walk) / graph.rate_hz)
    return off.mean, off.worst, float(changes), proved, gap


def foot_figures(clip: Clip, floor: Floats) -> tuple[list[float], float]:
    """How far each planted foot wanders, metres, and how deep the deepest foot joint is below the floor, metres."""
    feet = list(clip.skeleton.feet)
    pos = clip.global_positions()[:, feet]
    speed = np.hypot(*np.moveaxis(np.diff(pos[..., [0, 2]], axis=0), 2, 0)) * clip.fps
    still = (pos[1:, :, 1] < floor + 0.03) & (speed < 0.5)
    slides = []
    for k in range(len(feet)):
        for start, stop in runs(still[:, k]):
            if (stop - start) / clip.fps >= 0.1:
                spot = pos[start + 1 : stop + 1, k][:, [0, 2]]
                slides.append(float(np.linalg.norm(spot - spot.mean(axis=0), axis=1).max()))
    return slides, float((floor - pos[..., 1]).max())


def peaks(clip: Clip) -> tuple[Floats, Floats]:
    """Angular accelerations of all joints, rad/s², and accelerations of the root, m/s²."""
    turn = quat.as_rotvec(quat.multiply(quat.inverse(clip.local_rot[:-1]), clip.local_rot[1:])) * clip.fps
    spin = np.linalg.norm(np.diff(turn, axis=0), axis=-1) * clip.fps
    root = np.linalg.norm(np.diff(clip.root_pos, n=2, axis=0), axis=1) * clip.fps**2
    return spin.ravel(), root


def compare_motion(graph: MotionGraph, tables: EdgeTables) -> None:
    """The motion, cleaned and as it was, over the clips that it was made of: 1 reads as good as recorded."""
    print(
        "path      plants wander, mm: sources   raw   cleaned (ratio)   turning peaks raw  cleaned   root's   below, mm"
    )
    for name, path in PATHS.items():
        made = finish(walk_along(graph, path, FollowRequest(), tables).walk())
        used = np.union1d(made.origins.source_clip, made.origins.other_clip)
        sources = [graph.clips[c] for c in used[used >= 0]]
        lows = [np.percentile(c.global_positions()[:, list(c.skeleton.feet), 1], 0.5, axis=0) for c in sources]
        floor, lowest = np.median(lows, axis=0), np.min(lows, axis=0)
        slides = [x for c, low in zip(sources, lows, strict=True) for x in foot_figures(c, low)[0]]
        recorded = 1000 * float(np.percentile(slides, 95))
        raw, clean = (1000 * float(np.percentile(foot_figures(c, floor)[0], 95)) for c in (made.raw, made.clip))
        spins, roots = (np.concatenate(x) for x in zip(*(peaks(c) for c in sources), strict=True))
        peak = [np.percentile(peaks(c)[0], 99.9) / np.percentile(spins, 99.9) for c in (made.raw, made.clip)]
        root = np.percentile(peaks(made.clip)[1], 99.9) / np.percentile(roots, 99.9)
        below = 1000 * max(0.0, foot_figures(made.clip, lowest)[1])
        print(
            f"{name:8} {recorded:26.1f} {raw:6.1f} {clean:8.1f} ({clean / recorded:.2f})"
            f" {peak[0]:17.2f} {peak[1]:8.2f} {root:8.2f} {below:8.1f}",
            flush=True,
        )


def time_stream(graph: MotionGraph, tables: EdgeTables, rate_hz: float = 60.0) -> None:
    """How long `next` takes for somebody who wants a frame 60 times a second, and the first one; wall clock.

    After each `next` a short loop runs that is known to do nothing else; it says how often the machine itself takes a
    core away. So does the CPU time of the calling thread, but for what a virtual machine's host takes.
    """
    print(
        "path      first frame: wall ms, CPU ms"
        "   `next`: median ms, longest, CPU of it, over 2 ms, of those waiting   a loop: median, longest, over 2 ms"
    )
    for name in ("eight", "spiral") * 3:
        cpu_began, began = time.process_time(), time.perf_counter()
        with MotionStream(graph, PATHS[name], tables=tables) as stream:
            next(stream)
            wall, spent = time.perf_counter() - began, time.process_time() - cpu_began
            took, used, waited, looped = paced(stream, 900, rate_hz).T
        longest, late = took.argmax(), took > 0.002
        print(
            f"{name:8} {1000 * wall:14.0f} {1000 * spent:10.0f}"
            f" {1000 * np.median(took):12.3f} {1000 * took[longest]:6.2f} {1000 * used[longest]:6.2f}"
            f" {late.sum():4d} of {len(took)} {(waited[late] > 0).sum():4d}"
            f" {1000 * np.median(looped):12.3f} {1000 * looped.max():6.2f} {(looped > 0.002).sum():4d}",
            flush=True,
        )


def paced(frames: Iterator[Any], count: int, rate_hz: float) -> Floats:
    """Of each `next`, called at a fixed rate: seconds, CPU seconds of this thread, how often it had to wait, and the
    seconds of a short loop right after it."""
    rows, due = [], time.perf_counter()
    for _ in range(count):
        due += 1 / rate_hz
        time.sleep(max(0.0, due - time.perf_counter()))
        switched, cpu_began = resource.getrusage(resource.RUSAGE_THREAD).ru_nvcsw, time.thread_time()
        began = time.perf_counter()
        if next(frames, None) is None:
            break
        took = time.perf_counter() - began
        spent = time.thread_time() - cpu_began
        waited = resource.getrusage(resource.RUSAGE_THREAD).ru_nvcsw - switched
        began = time.perf_counter()
        sum(range(2000))
        rows.append((took, spent, waited, time.perf_counter() - began))
    return np.array(rows)


def large_graph() -> MotionGraph:
    """A million edges: all trials of subject 16 and their mirror images, as fast as recorded and at other speeds."""
    clips = [read_clip(file) for file in sorted((find_recordings() / "cmu" / "16").glob("*.amc"))]
    paces = [
        replace(clip, fps=clip.fps * pace, name=f"{clip.name} {pace}") for clip in clips for pace in (0.96, 1.0, 1.04)
    ]
    return build_graph(paces, GraphSettings(threshold_m=0.2, mirror=True), workers=1)


def measure_large() -> None:
    """What opening costs once the tables are kept, and how fast paths are followed."""
    took, built = cpu(large_graph)
    print(f"{built!r}, built in {took:.0f} s")
    with tempfile.TemporaryDirectory() as folder:
        file = File(folder) / "large.mog"
        save_graph(built, file)
        del built
        took, tables = cpu(lambda: find_tables(open_graph(file)))
        print(f"opening it for the first time: {took:.1f} s (tables are built and kept)")
        took, graph = cpu(lambda: open_graph(file))
        took_tables, tables = cpu(lambda: find_tables(graph))
        print(f"opening it again: {took:.2f} s, its tables {took_tables:.2f} s (bar: 1 s together)")
        for name in ("line", "eight", "s", "eight"):
            began = time.process_time()
            follower = PathFollower(graph, PATHS[name], FollowRequest(), tables=tables)
            follower.step()
            first = time.process_time() - began
            while follower.step():
                pass
            took = time.process_time() - began
            seconds = len(follower.walk()) / graph.rate_hz
            print(
                f"{name:8} {seconds / took:6.0f} × real time (bar 100), the first planning step {1000 * first:.0f} ms",
                flush=True,
            )
        result = FollowSearch(graph, FollowRequest.of_path(PATHS["eight"]), tables=tables).run()
        print({key: round(metric.value, 3) for key, metric in result.metrics.items()})


def main() -> None:
    words = sys.argv[1:]
    seeds = range(int(words[words.index("--seeds") + 1]) if "--seeds" in words else 3)
    parts = ("paths", "methods", "motion", "stream", "large")
    wanted = [w for w in words if w in parts] or list(parts)
    if wanted == ["large"]:
        measure_large()
        return
    graph = subject_16()
    took, tables = cpu(lambda: find_tables(graph, TREMBLE_S))
    print(f"tables of the search: {took:.2f} s")
    finish(walk_along(graph, PATHS["s"], FollowRequest(), tables).walk())  # compiles
    if "paths" in wanted:
        print(f"\nDefault settings, {len(seeds)} seeds (bars: 0.07 m, 0.20 m, 0.8 /s, 100 ×, finish 100 ×)")
        walk_paths(graph, tables, FollowAdvanced(), seeds)
    if "methods" in wanted:
        for name, settings in METHODS.items():
            print(f"\nMethod: {name}, one seed")
            walk_paths(graph, tables, settings, seeds[:1])
    if "motion" in wanted:
        print("\nThe motion against the clips it was made of (bars: ratio 0.35, peaks 1.1, root's 1.1, 5 mm)")
        compare_motion(graph, tables)
    if "stream" in wanted:
        print("\nFrames handed out at 60 Hz while a thread searches (bars: first 300 ms, next 2 ms)")
        kept = find_tables(graph)
        list(MotionStream(graph, PATHS["line"], tables=kept))  # compiles
        time_stream(graph, kept)
    if "large" in wanted:
        print("\nA large graph")
        measure_large()


if __name__ == "__main__":
    main()
