"""How fast motion graphs are built, how the work grows, and how fast a large file opens.

    CHOREOGRAPH_DATA=<folder with cmu/> python -m benchmarks.bench_build [table] [walks] [cold] [growth] [open]

Times are CPU seconds of one thread, warm, the best of several, so that a busy machine does not count; files are read
beforehand. What came out stands beside the times. Figures of the thesis (Dirican 2014, table 5.2) are wall-clock
seconds on a 2.5 GHz Core 2 Duo, for the same four recordings.
"""

from __future__ import annotations

import csv
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from choreograph.build.graph import build_graph
from choreograph.distance.minima import WindowMinima, iterate_minima
from choreograph.distance.window import WindowedClip
from choreograph.formats import read_clip
from choreograph.graph.clips import window_clip
from choreograph.graph.model import MotionGraph
from choreograph.graph.report import report_graph
from choreograph.graph.settings import GraphSettings
from choreograph.graph.store import save_graph
from choreograph.motion.clip import Clip
from choreograph.motion.retarget import retarget

FOUR = ("16_47", "16_17", "16_19", "16_45")
THESIS = {120: (71, 572, 628), 60: (18, 484, 431), 30: (9, 402, 274), 20: (7, 334, 204)}
"""Seconds, transition candidates and nodes by rate."""


def cpu(work: Callable[[], Any], repeats: int = 3) -> tuple[float, Any]:
    """CPU seconds of the best of several runs, and the result of the last."""
    best, result = np.inf, None
    for _ in range(repeats):
        start = time.process_time()
        result = work()
        best = min(best, time.process_time() - start)
    return float(best), result


def read_all(folder: Path) -> dict[str, Clip]:
    return {path.stem: read_clip(path) for path in sorted(folder.glob("*/*.amc"))}


def table(clips: dict[str, Clip]) -> None:
    print("\nThe thesis's table 5.2: window 75 ms (9 frames at 120 Hz), all joints and frames equal, 6 cm RMS")
    print("  Hz    candidates (thesis)   cut points (thesis)   kept nodes   seconds (thesis)      ratio")
    four = [clips[name] for name in FOUR]
    for rate, (seconds, candidates, nodes) in THESIS.items():
        settings = GraphSettings(rate_hz=rate, window_s=9 / 120, threshold_m=0.06, weights="uniform", taper="uniform")
        took, graph = cpu(lambda s=settings: build_graph(four, s, workers=1), 7)
        found = report_graph(graph)
        print(
            f" {rate:>3} {found.transitions:>9} ({candidates}) {found.cut_points:>15} ({nodes}) {found.nodes:>13}"
            f" {took:>11.3f} ({seconds:>2}) {seconds / took:>13.0f}"
        )


def locomotion(clips: dict[str, Clip], folder: Path) -> list[Clip]:
    """Walks, runs and turns of subject 16."""
    with (folder / "trials.tsv").open() as file:
        said = {row["trial"]: row["description"] for row in csv.DictReader(file, delimiter="\t")}
    return [clip for name, clip in clips.items() if name.startswith("16_") and "jump" not in said[name]]


def walks(clips: list[Clip]) -> None:
    total = sum(clip.seconds for clip in clips)
    print(f"\n{len(clips)} walks, runs and turns of subject 16, {total:.0f} s; default settings")
    print("  Hz   seconds (at most)   transitions   kept   frames kept   pairs computed")
    for rate, bar in ((30, 0.5), (120, 3.0)):
        took, graph = cpu(lambda r=rate: build_graph(clips, GraphSettings(rate_hz=r), workers=1))
        found = report_graph(graph)
        print(
            f" {rate:>3} {took:>10.3f} ({bar}) {found.transitions:>15} {found.kept_transitions:>6}"
            f" {found.shown / found.frames:>12.0%} {graph.evaluated_share:>15.1%}"
        )


def cold(folder: Path) -> None:
    """CPU of the whole command on two short clips: what starting it costs."""
    with tempfile.TemporaryDirectory() as room:
        words = [sys.executable, "-m", "choreograph.cli.main", "build", "-o", f"{room}/x.mog", "--force", "--no-advice"]
        words += ["--workers", "1", *(str(folder / "16" / f"{name}.amc") for name in ("16_48", "16_49"))]
        subprocess.run(words, check=True, capture_output=True)  # fills the cache of compiled kernels
        spent = []
        for _ in range(3):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run(words, check=True, capture_output=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            spent.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    print(f"\nThe whole command on two clips of 1 s, kernels cached: {min(spent):.2f} s of CPU (at most 2)")


def growth(clips: dict[str, Clip], workers: int = 1) -> None:
    onto = clips["16_15"].skeleton
    took, carried = cpu(lambda: [retarget(clip, onto) for clip in clips.values()], 1)
    minutes = sum(clip.seconds for clip in carried) / 60
    print(f"\nGrowth at 30 Hz: {len(carried)} recordings of six people, {minutes:.1f} min, in random order")
    print(f"carried onto one skeleton in {took:.2f} s")
    # Small graphs are built without pruning, which is quicker; the columns of minima prune at every size.
    print("                   CPU seconds                                   the same       frames    memory beyond")
    print("  minutes  windows  graph  minima  unpruned  computed   minima  without pruning   kept       the clips")
    order = np.random.default_rng(16).permutation(len(carried))
    settings, limit, rows = GraphSettings(), GraphSettings().threshold_m, []
    for goal in (1, 2, 4, 8, 16, np.inf):
        lengths = np.cumsum([carried[n].seconds for n in order])
        chosen = [carried[n] for n in order[: int(np.searchsorted(lengths, goal * 60)) + 1]]
        before = reset_peak()
        took, graph = cpu(lambda c=chosen: build_graph(c, settings, workers=workers), 2)
        memory = memory_mb("VmHWM") - before
        found = report_graph(graph)
        cut = [window_clip(clip, settings) for clip in chosen]
        pruned, (minima, share) = cpu(lambda w=cut: compare(w, limit, prune=True), 2)
        plain, (every, _) = cpu(lambda w=cut: compare(w, limit, prune=False), 2)
        same = all(np.array_equal(column, getattr(every, name)) for name, column in vars(minima).items())
        windows = sum(clip.count for clip in cut)
        rows.append((windows, took, pruned, share * windows**2, memory))
        print(
            f" {sum(c.seconds for c in chosen) / 60:>8.1f} {windows:>8} {took:>6.2f} {pruned:>7.2f} {plain:>9.2f}"
            f" {share:>9.2%} {len(minima):>8} {'yes' if same else 'NO':>16} {found.shown / found.frames:>7.0%}"
            f" {memory:>12.0f} MB"
        )
        if len(chosen) == len(carried):
            break
    w, graph_s, pruned_s, computed, memory_by_size = np.array(rows).T
    power = lambda values: float(np.polyfit(np.log(w), np.log(values), 1)[0])  # noqa: E731
    late = float(np.polyfit(np.log(w[-3:]), np.log(graph_s[-3:]), 1)[0])
    print(
        f"time of the graph grows with power {power(graph_s):.2f} of the windows, {late:.2f} over the last three rows;"
        f"\ntime of the minima {power(pruned_s):.2f}, pairs computed {power(computed):.2f}; all pairs would be 2"
    )
    ratio = 7.5 * 3600 * 30 / w[-1]
    # Coarse runs are all compared with each other, so the power tends to 2 in the end: plan with the second figure.
    hours = graph_s[-1] * ratio ** np.array([late, 2]) / 3600
    print(
        f"7.5 h of recordings (0.8 M frames), {ratio:.0f} times the last row: {hours[0]:.2f} h of CPU at that power, "
        f"{hours[1]:.2f} h\nif it were 2; {memory_by_size[-1] * ratio / 1024:.1f} GB beyond the clips if memory grows "
        "with the windows"
    )


def compare(clips: list[WindowedClip], threshold_m: float, *, prune: bool) -> tuple[WindowMinima, float]:
    """All minima, and the share of window pairs that was computed."""
    batches = list(iterate_minima(clips, threshold_m, prune=prune))
    share = sum(batch.evaluated for batch in batches) / sum(batch.pairs for batch in batches)
    return WindowMinima.concatenate([batch.minima for batch in batches]), share


def memory_mb(name: str) -> float:
    """Memory of this process, MB: VmRSS is what it has now, VmHWM the most it has had since `reset_peak`."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(name):
            return int(line.split()[1]) / 1024
    return float("nan")


def reset_peak() -> float:
    """Start measuring the peak anew, and return what is in use now, MB."""
    Path("/proc/self/clear_refs").write_text("5")
    return memory_mb("VmRSS")


def opening(clips: dict[str, Clip]) -> None:
    """A file of a gigabyte, made of copies of the recordings under other names."""
    onto = clips["16_15"].skeleton
    own = [retarget(clip, onto) for clip in clips.values() if clip.skeleton.same_joints(onto)]
    graph = build_graph(own, GraphSettings(), workers=1)
    size = sum(clip.root_pos.nbytes + clip.local_rot.nbytes for clip in own)
    times = -(-1_000_000_000 // size)
    infos = [replace(i, name=f"{i.name} {k}", mirror_of=None) for k in range(times) for i in graph.infos]
    tables = {part: getattr(graph, part) for part in ("minima", "nodes", "edges")}
    many = MotionGraph(graph.settings, 0.05, own * times, infos, tables, searched_m=0.05)
    with tempfile.TemporaryDirectory() as room:
        path = Path(room) / "large.mog"
        start = time.perf_counter()
        save_graph(many, path)
        wrote = time.perf_counter() - start
        code = (
            "import sys, time\nfrom choreograph.graph.store import open_graph\nt = time.perf_counter()\n"
            "g = open_graph(sys.argv[1])\nprint(time.perf_counter() - t)\nt = time.perf_counter()\n"
            "len(g.edges), g.clips[len(g.clips) // 2]\nprint(time.perf_counter() - t)"
        )
        runs = [
            [float(x) for x in subprocess.check_output([sys.executable, "-c", code, str(path)], text=True).split()]
            for _ in range(3)
        ]
        opened, used = np.min(runs, axis=0)
        print(
            f"\nA .mog file of {path.stat().st_size / 1e9:.2f} GB, {len(infos)} clips: written in {wrote:.1f} s, "
            f"opened in {opened:.3f} s (at most 0.3), edges and a clip read in {used:.3f} s more"
        )


def main() -> None:
    if "CHOREOGRAPH_DATA" not in os.environ:
        sys.exit("set CHOREOGRAPH_DATA to the folder that holds cmu/")
    folder = Path(os.environ["CHOREOGRAPH_DATA"]) / "cmu"
    wanted = sys.argv[1:] or ["table", "walks", "cold", "growth", "open"]
    clips = read_all(folder)
    if "table" in wanted:
        table(clips)
    if "walks" in wanted:
        walks(locomotion(clips, folder))
    if "cold" in wanted:
        cold(folder)
    if "growth" in wanted:
        growth(clips)
    if "open" in wanted:
        opening(clips)


if __name__ == "__main__":
    main()
