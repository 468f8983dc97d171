"""How fast windows are compared, and whether what comes out is right: ratios from one run on one core.

    CHOREOGRAPH_DATA=<folder with cmu/> python -m benchmarks.bench_distance

Times are CPU seconds, warm, the best of several, so that a busy machine does not count. "matmul" is this machine's
float32 matrix product doing the same arithmetic (2 x 5 x joints operations per frame pair) in one large piece.
"""

from __future__ import annotations

import csv
import os
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from choreograph.distance.blas import one_thread_each
from choreograph.distance.library import build_library
from choreograph.distance.minima import WindowMinima, iterate_minima
from choreograph.distance.tiles import cut_strips, make_rectangles, scan
from choreograph.distance.window import Window, WindowedClip, align_plainly, align_windows, windowed_clip
from choreograph.features.weights import joint_weights
from choreograph.formats import read_clip

THRESHOLD = 0.05  # metres RMS per joint
FOUR = ("16_47", "16_17", "16_19", "16_45")  # a walk, a left turn, a right turn, a run: those of the thesis


def cpu(work: Callable[[], Any], repeats: int = 5) -> tuple[float, Any]:
    """CPU seconds of the best of several runs, and the result of the last."""
    best, result = np.inf, None
    for _ in range(repeats):
        start = time.process_time()
        result = work()
        best = min(best, time.process_time() - start)
    return float(best), result


def load(folder: Path) -> tuple[dict[str, np.ndarray], dict[str, dict[str, str]], np.ndarray]:
    """Joint positions at the recording's rate by trial, the table of trials, and joint weights."""
    with (folder / "trials.tsv").open() as file:
        trials = {row["trial"]: row for row in csv.DictReader(file, delimiter="\t")}
    positions, weights = {}, np.empty(0)
    for path in sorted(folder.glob("*/*.amc")):
        clip = read_clip(path)
        positions[path.stem] = clip.global_positions()
        weights = joint_weights(clip.skeleton.roles)
    return positions, trials, weights


def compare(clips: list[WindowedClip], **how: Any) -> tuple[WindowMinima, int, int]:
    """All minima, the window pairs there are, and those computed."""
    batches = list(iterate_minima(clips, THRESHOLD, **how))
    pairs, evaluated = sum(b.pairs for b in batches), sum(b.evaluated for b in batches)
    return WindowMinima.concatenate([b.minima for b in batches]), pairs, evaluated


def kernel_seconds(clips: list[WindowedClip]) -> float:
    """CPU seconds of finding minima in all rectangles, with features and rectangles at hand."""
    library = build_library(clips)
    strips = cut_strips(library, 192)
    chosen = np.ones(len(clips), bool)
    rectangles = [make_rectangles(strips, row, len(library.weights), chosen) for row in range(len(strips))]
    rectangles = np.concatenate(rectangles)
    return cpu(lambda: scan(library, rectangles, np.full(len(rectangles), THRESHOLD**2)))[0]


def matmul_rate(joints: int, frames: int = 4096) -> float:
    """Operations per second of a large float32 product whose inner length is that of the frame products."""
    a, b = np.random.default_rng(0).random((2, frames, 2 * joints), np.float32)
    seconds, _ = cpu(lambda: a @ b.T)
    return 2 * frames * frames * 2 * joints / seconds


def plain_seconds(
    positions: list[np.ndarray], weights: np.ndarray, window: Window, clips: list[WindowedClip]
) -> tuple[float, float]:
    """CPU seconds per window pair of the plain definition, and its largest disagreement with the closed form."""
    rng = np.random.default_rng(0)
    picks = [rng.integers(len(clips), size=2) for _ in range(2000)]
    cells = [(i, rng.integers(clips[i].count), j, rng.integers(clips[j].count)) for i, j in picks]
    cut = lambda i, a: positions[i][a : a + window.length]  # noqa: E731
    work = lambda: [align_plainly(cut(i, a), cut(j, b), weights, window.weights)[0] for i, a, j, b in cells]  # noqa: E731
    seconds, plain = cpu(work, 1)
    closed = [float(align_windows(clips[i], a, clips[j], b).distance) for i, a, j, b in cells]
    return seconds / len(cells), float(np.abs(np.subtract(plain, closed)).max())


def bench_kernel(title: str, positions: list[np.ndarray], weights: np.ndarray, window: Window, bar: float) -> None:
    clips = [windowed_clip(p, weights, window) for p in positions]
    compare(clips, prune=False)
    seconds, (minima, pairs, _) = cpu(
        lambda: compare([windowed_clip(p, weights, window) for p in positions], prune=False)
    )
    joints = int((weights > 0).sum())
    kernel = kernel_seconds(clips)
    rate, best = pairs * 10 * joints / kernel, matmul_rate(joints)
    plain, apart = plain_seconds(positions, weights, window, clips)
    print(
        f"\n{title}: {sum(map(len, positions))} frames, window {window.length}, {joints} joints, "
        f"{pairs / 1e6:.1f} M pairs"
    )
    print(f"  features and minima      {seconds:8.3f} s   (bar {bar} s)   {len(minima)} minima within 5 cm")
    print(f"  minima alone             {kernel:8.3f} s")
    print(f"  their share of matmul    {rate / best:8.1%}     ({rate / 1e9:.1f} of {best / 1e9:.1f} Gflop/s; bar 20 %)")
    print(f"  against the plain twin   {plain * pairs / kernel:8.0f} x   (bar 100 x)")
    print(f"  closed form - plain      {apart:8.1e} m")


def bench_growth(positions: list[np.ndarray], weights: np.ndarray, window: Window) -> None:
    print("\ngrowth, 30 Hz, mixed motion, 5 cm")
    print("  minutes  windows   share   pruned s  unpruned s   same minima")
    order = np.random.default_rng(0).permutation(len(positions))
    clips = [windowed_clip(positions[n], weights, window) for n in order]
    windows = np.cumsum([clip.count for clip in clips])
    rows = []
    for minutes in (1, 2, 4, 8, 1000):
        some = clips[: int(np.searchsorted(windows, minutes * 1800)) + 1]
        compare(some[:2], prune=True)
        seconds, (minima, pairs, evaluated) = cpu(lambda some=some: compare(some, prune=True), 2)
        plainly, (every, _, _) = cpu(lambda some=some: compare(some, prune=False), 2)
        same = all(np.array_equal(column, getattr(every, name)) for name, column in vars(minima).items())
        count = sum(clip.count for clip in some)
        rows.append((count, seconds, evaluated))
        print(f"  {count / 1800:7.1f}  {count:7}  {evaluated / pairs:6.1%}  {seconds:9.2f}  {plainly:10.2f}   {same}")
    (n0, t0, e0), (n1, t1, e1) = rows[0], rows[-1]
    slope = lambda u, v: np.log(v / u) / np.log(n1 / n0)  # noqa: E731
    print(f"  exponent of time {slope(t0, t1):.2f}, of pairs computed {slope(e0, e1):.2f} (2 is all pairs)")


def main() -> None:
    root = os.environ.get("CHOREOGRAPH_DATA")
    if not root:
        sys.exit("set CHOREOGRAPH_DATA to the folder of recordings that holds cmu/")
    positions, trials, weights = load(Path(root) / "cmu")
    walks = [n for n, row in trials.items() if n.startswith("16_") and "jump" not in row["description"]]
    with one_thread_each():
        even = np.ones(len(weights))
        bench_kernel("four trials, 120 Hz", [positions[n] for n in FOUR], even, Window(9, "uniform"), 0.1)
        bench_kernel("locomotion of 16, 30 Hz", [positions[n][::4] for n in walks], weights, Window(10), 0.5)
        bench_kernel("locomotion of 16, 120 Hz", [positions[n] for n in walks], weights, Window(40), 3.0)
        at_30 = [p[:: round(float(trials[n]["fps"]) / 30)] for n, p in positions.items()]
        bench_growth(at_30, weights, Window(10))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    held = sum(p.nbytes for p in positions.values()) / 2**20
    print(f"  peak memory of this run {peak:.0f} MiB, of which joint positions at full rate {held:.0f} MiB")


if __name__ == "__main__":
    main()
