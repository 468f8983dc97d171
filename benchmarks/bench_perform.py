"""How fast a control is interpreted, how that grows with its length, and what deciding early costs.

    CHOREOGRAPH_DATA=<folder with cmu/> python -m benchmarks.bench_perform [ways]

The sizes are those of Hsu (2004, chapter 6): 57 s of walk against 70 segments that may be stretched by 0.2 s, at 10
Hz, and 150 s of dance against 168 segments, by 0.15 s, at 7.5 Hz; then the dance against all segments. Walks are
subject 16's, led by the track of their hips. Dances are subjects 60 and 61: the segments of trials 1 to 6, led by the
mirrored leader of trials 7 to 10. CPU seconds, one thread, the best of three, compiled code warm. Thesis: 12.5 s and
78 s, with a beam 1.2 s and 10 s.
"""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.datasets import find_recordings
from choreograph.distance.blas import one_thread_each
from choreograph.features.points import ENDS, TRACK, find_points
from choreograph.finishing.finish import finish
from choreograph.formats import read_clip
from choreograph.verbs.perform.confidence import find_confidence
from choreograph.verbs.perform.control import Control
from choreograph.verbs.perform.examples import SegmentDatabase, build_segments, pair_up, root_example
from choreograph.verbs.perform.live import PerformStream
from choreograph.verbs.perform.request import PerformRequest
from choreograph.verbs.perform.search import PerformSearch
from choreograph.verbs.perform.segment_fits import build_cells
from choreograph.verbs.perform.sequence import find_segments
from choreograph.verbs.perform.settings import usual_settings
from choreograph.verbs.perform.stream import PieceStream


def shrunk(database: SegmentDatabase, count: int, stretch_s: float) -> SegmentDatabase:
    """The database clustered to about so many segments."""
    low, high = 0.0, 2.0
    for _ in range(25):
        middle = (low + high) / 2
        low, high = (low, middle) if len(database.clustered(middle, stretch_s=stretch_s)) <= count else (middle, high)
    return database.clustered(high, stretch_s=stretch_s)


def joined(controls: list[np.ndarray], seconds: float, fps: float) -> np.ndarray:
    """Controls one after another, each begun where the last one ended, repeated to a length."""
    out: list[np.ndarray] = []
    frames, n = 0, 0
    while frames <= seconds * fps:
        points = controls[n % len(controls)]
        if out:
            points = points + (out[-1][-1] - points[0]).mean(axis=0) * (1, 0, 1)
        out.append(points)
        frames, n = frames + len(points), n + 1
    return np.concatenate(out)[: round(seconds * fps) + 1]


def cpu(work, times: int = 3):
    best, result = np.inf, None
    for _ in range(times):
        start = time.process_time()
        result = work()
        best = min(best, time.process_time() - start)
    return best, result


def report(name: str, database: SegmentDatabase, control: Control) -> None:
    settings = usual_settings(database)
    built, cells = cpu(lambda: build_cells(database, settings.rate_hz, settings.stretch_s), 1)
    exact, found = cpu(lambda: find_segments(database, control, settings, cells=cells))
    coarse, _ = cpu(
        lambda: find_segments(database, control, replace(settings, refine_hz=settings.rate_hz), cells=cells)
    )
    mean = found.coarse_cost / len(found.pieces)
    beam, narrow = cpu(lambda: find_segments(database, control, replace(settings, beam_m2_s=7 * mean), cells=cells))
    worse = 100 * (narrow.coarse_cost / found.coarse_cost - 1)
    finishing, _ = cpu(lambda: finish(found, partner=found.partner()), 1)
    print(
        f"{name:<28} {control.seconds:>5.0f} s {len(database):>5} segments {len(cells):>5} cells: "
        f"exact {coarse:.3f} s, refined {exact:.3f} s; beam {beam:.3f} s costs {worse:+.2f} %; "
        f"cells {built:.2f} s, finishing {finishing:.2f} s"
    )


WAYS = {
    "rest": [(0, 0), (0, 4), 6.0, (0, 8)],
    "stops": [(0, 0), (0, 3), 1.5, (3, 3), 2.0, (3, 6)],
    "turns": [(0, 0), (0, 3), (3, 3), (3, 6), (0, 6)],
    "back": [(0, 0), (0, 4), 0.7, (0, 0)],
}
"""Corners of ways, walked at 1.2 m/s, and seconds of rest between them."""


def performed_way(corners: list, fps: float = 30.0) -> PerformRequest:
    """A request for a way through corners, the hand trembling by 3 mm."""
    places = [np.array([corners[0]], float)]
    for corner in corners[1:]:
        last = places[-1][-1]
        if isinstance(corner, float):
            places.append(np.repeat(last[None], round(corner * fps), axis=0))
        else:
            steps = max(1, round(float(np.linalg.norm(np.array(corner) - last)) / 1.2 * fps))
            places.append(last + (np.array(corner) - last) * np.arange(1, steps + 1)[:, None] / steps)
    way = np.concatenate(places)
    way = way + np.random.default_rng(0).normal(0, 0.003, way.shape)
    return PerformRequest(samples=tuple((k / fps, float(x), float(z)) for k, (x, z) in enumerate(way)))


def report_ways(database: SegmentDatabase) -> None:
    """How near to ways with stops and sharp turns the answers are, whole and live, and what live costs."""
    print("\nway     cm off: mean, worst   live: mean, worst   CPU s per s live   (bars: 6, 25; 0.3 with 400 segments)")
    for name, corners in WAYS.items():
        request, found = performed_way(corners), []
        for lag in (None, 2.0):
            search = PerformSearch(database.examples, request.with_(lag_s=lag), database=database)
            metrics = search.run().metrics
            found += [100 * metrics["way_mean"].value, 100 * metrics["way_worst"].value]
        cost = search.sequence.seconds / search.sequence.control.seconds
        print(f"{name:6} {found[0]:8.1f} {found[1]:8.1f} {found[2]:11.1f} {found[3]:8.1f} {cost:12.3f}", flush=True)


def main() -> None:
    cmu = find_recordings() / "cmu"
    lines = [line.split("\t") for line in (cmu / "trials.tsv").read_text().splitlines()]
    names = [row[0] for row in lines if row[0].startswith("16_") and "walk" in row[-1]]
    walks = [root_example(read_clip(cmu / "16" / f"{name}.amc")) for name in names]
    all_walks = build_segments(walks, cut_at="plants", control_roles=TRACK)
    few_walks = shrunk(all_walks, 70, 0.2)
    way = Control(joined([e.control for e in walks], 57, all_walks.fps), all_walks.fps)

    def dancer(subject: int, trial: int) -> Path:
        return cmu / str(subject) / f"{subject}_{trial:02d}.amc"

    pairs = [pair_up(read_clip(dancer(60, n)), read_clip(dancer(61, n))) for n in range(1, 11)]
    all_dances = build_segments(pairs)
    known = all_dances.subset(np.flatnonzero(all_dances.example < 6))
    few_dances = shrunk(known, 168, 0.15)
    # Mirrored, so that even the database of all trials has not seen them.
    lead = [find_points(e.leader.mirrored(), ENDS) for e in pairs[6:] if e.leader is not None]

    def dance(seconds: float) -> Control:
        return Control(joined(lead, seconds, all_dances.fps), all_dances.fps)

    find_segments(few_walks, way), find_confidence(find_segments(few_dances, dance(10)))  # compiled
    with one_thread_each():
        mirrored = [root_example(e.target.mirrored()) for e in walks]
        twice = build_segments([*walks, *mirrored, *walks], cut_at="plants", control_roles=TRACK)
        twice = twice.subset(np.arange(min(400, len(twice))))
        print(f"{len(twice)} segments of walks")
        report_ways(twice)
        if "ways" in sys.argv:
            return
        report("walk", few_walks, way)
        report("dance", few_dances, dance(150))
        report("dance, all segments", all_dances, dance(150))
        print("\ninput s   CPU s   CPU s per minute")
        cells = build_cells(few_dances, 7.5, 0.15)
        for seconds in (37.5, 75.0, 150.0, 300.0, 600.0):
            spent, _ = cpu(lambda s=seconds: find_segments(few_dances, dance(s), cells=cells))
            print(f"{seconds:>7.1f} {spent:>7.3f} {60 * spent / seconds:>12.3f}")
        print("\nsure: CPU s, against the search's")
        found = find_segments(few_dances, dance(150))
        spent, _ = cpu(lambda: find_confidence(found), 1)
        print(f"{spent:.2f} {spent / found.seconds:.1f}")
        print("\nlag s   cost against the whole input at hand   CPU s per s   the first half's, the second's")
        control = dance(150)
        whole = find_segments(few_dances, control)
        halves = np.array_split(np.arange(0, len(control.points), 8), 2)
        for lag in (1.25, 1.5, 2.0, 3.0, 4.0):
            stream = PieceStream(few_dances, control.fps, lag_s=lag)
            spent = []
            for half in halves:
                start = time.process_time()
                for at in half:
                    stream.push(control.points[at : at + 8])
                spent.append((time.process_time() - start) / control.seconds)
            stream.finish()
            loss = stream.coarse_cost / whole.coarse_cost
            print(f"{lag:>5.2f} {loss:>20.3f} {sum(spent):>30.4f} {spent[0]:>15.4f} {spent[1]:>8.4f}")
        print("\nframes while it is performed, lag 2 s: CPU s per s, minute by minute")
        long = Control(joined(lead, 180, all_dances.fps), all_dances.fps)
        live = PerformStream(few_dances, long.fps, PerformRequest(lag_s=2.0))
        spent = []
        for third in np.array_split(np.arange(0, len(long.points), 12), 3):
            start = time.process_time()
            for at in third:
                live.push(long.points[at : at + 12])
            spent.append((time.process_time() - start) / 60)
        print("  ".join(f"{value:.3f}" for value in spent))


if __name__ == "__main__":
    main()
