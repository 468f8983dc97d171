"""How fast a walk becomes motion, and what that does to its feet.

    CHOREOGRAPH_DATA=<folder with cmu/> python -m benchmarks.bench_finishing [seconds]

Random walks, about one transition a second, through the graph of subject 16's walks, runs and turns; without
recordings, through that of the demo motion. Speeds are seconds of motion per CPU second, warm, the best of three.
Beside them, before and after cleaning: how far planted feet slide, how deep toes sink below the lowest of the sources',
the acceleration of knees and root against the sources', and how far the clean motion is from the raw one.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from choreograph.base import quat
from choreograph.build.graph import build_graph
from choreograph.demo import demo_clips
from choreograph.finishing.assemble import assemble
from choreograph.finishing.foot_contacts import foot_slide
from choreograph.finishing.footskate import clean_feet
from choreograph.formats import read_clip
from choreograph.graph.model import MotionGraph
from choreograph.graph.tables import SEGMENT, TRANSITION
from choreograph.motion.clip import Clip
from choreograph.motion.contacts import with_detected_contacts
from choreograph.verbs.walk import Walk


def sources() -> list[Clip]:
    folder = os.environ.get("CHOREOGRAPH_DATA")
    if not folder:
        return demo_clips(120.0)
    rows = [line.split("\t") for line in (Path(folder) / "cmu" / "trials.tsv").read_text().splitlines()]
    names = [row[0] for row in rows if row[0].startswith("16_") and "jump" not in row[-1]]
    return [with_detected_contacts(read_clip(Path(folder) / "cmu" / "16" / f"{name}.amc")) for name in names]


def random_walk(graph: MotionGraph, seconds: float, seed: int) -> Walk:
    """A walk that goes on in its clip for about a second before it changes over."""
    rng, table = np.random.default_rng(seed), graph.edges
    node, edges, shown, since = int(rng.integers(len(graph.nodes))), [], 0, 0
    while shown < seconds * graph.rate_hz:
        here = np.arange(graph.first_edge[node], graph.first_edge[node + 1])
        onward = here[table.kind[here] == SEGMENT]
        stay = len(onward) and rng.random() < np.exp(-since / (10 * graph.rate_hz))
        edge = int(rng.choice(onward if stay else here))
        since = 0 if table.kind[edge] == TRANSITION else since + int(table.stop[edge] - table.start[edge])
        shown += int(table.stop[edge] - table.start[edge])
        edges.append(edge)
        node = int(table.target[edge])
    return Walk(graph, np.array(edges))


def cpu(work: Callable[[], Any]) -> tuple[float, Any]:
    best, result = np.inf, None
    for _ in range(3):
        start = time.process_time()
        result = work()
        best = min(best, time.process_time() - start)
    return best, result


def knee_peak(clips: list[Clip]) -> float:
    """99.9th percentile of the knees' angular acceleration, rad/s²."""
    found = []
    for clip in clips:
        knees = clip.local_rot[:, [clip.skeleton.need("left_lower_leg"), clip.skeleton.need("right_lower_leg")]]
        spin = quat.as_rotvec(quat.multiply(quat.inverse(knees[:-1]), knees[1:])) * clip.fps
        found.append(np.linalg.norm(np.diff(spin, axis=0), axis=2).ravel() * clip.fps)
    return float(np.percentile(np.concatenate(found), 99.9))


def root_peak(clips: list[Clip]) -> float:
    """99.9th percentile of the root's acceleration, m/s²."""
    found = [np.linalg.norm(np.diff(c.root_pos, n=2, axis=0), axis=1) * c.fps**2 for c in clips]
    return float(np.percentile(np.concatenate(found), 99.9))


def lowest_toe(clip: Clip) -> float:
    toes = [clip.skeleton.need("left_toe"), clip.skeleton.need("right_toe")]
    return float(clip.global_positions()[:, toes, 1].min())


def main() -> None:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 30.0
    graph = build_graph(sources())
    print(f"{graph!r}\n")
    print("transitions/s   assemble   clean    both    slide cm     toe below cm   knee accel   root accel   moved cm")
    for seed in range(5):
        walk = random_walk(graph, seconds, seed)
        rate = float((graph.edges.kind[walk.edges] == TRANSITION).sum()) / seconds
        used = np.unique([graph.edges.clip[walk.edges], graph.edges.target_clip[walk.edges]])
        shown = [graph.clips[c] for c in used]
        made_s, made = cpu(lambda w=walk: assemble(w.as_montage()))
        # A clip keeps its world positions once computed: each run gets a fresh one, as a walk's motion is.
        clean_s, clean = cpu(lambda c=made: clean_feet(c.with_name("fresh")))
        raw, floor = made, min(lowest_toe(c) for c in shown)
        moved = np.linalg.norm(clean.global_positions() - raw.global_positions(), axis=2)
        knee, root = knee_peak(shown), root_peak(shown)
        print(
            f"{rate:>13.2f} {raw.seconds / made_s:>9.0f}x {raw.seconds / clean_s:>6.0f}x"
            f" {raw.seconds / (made_s + clean_s):>6.0f}x"
            f" {100 * foot_slide(raw):>5.2f} → {100 * foot_slide(clean):.2f}"
            f" {100 * max(floor - lowest_toe(raw), 0):>8.2f} → {100 * max(floor - lowest_toe(clean), 0):.2f}"
            f" {knee_peak([raw]) / knee:>6.2f} → {knee_peak([clean]) / knee:.2f}"
            f" {root_peak([raw]) / root:>5.2f} → {root_peak([clean]) / root:.2f}"
            f" {100 * np.sqrt((moved**2).mean()):>8.2f}"
        )


if __name__ == "__main__":
    main()
