"""How fast a control is interpreted, how that grows with its length, and what deciding early costs.

    CHOREOGRAPH_DATA=<folder with cmu/> python -m benchmarks.bench_perform

The sizes are those of Hsu (2004, chapter 6): 57 s of walk against 70 segments that may be stretched by 0.2 s, at 10
Hz, and 150 s of dance against 168 segments, by 0.15 s, at 7.5 Hz; then the dance against all segments. Walks are
subject 16's, led by the track of their hips. Dances are subjects 60 and 61: the segments of trials 1 to 6, led by the
mirrored leader of trials 7 to 10. CPU seconds, one thread, the best of three, compiled code warm. Thesis: 12.5 s and
78 s, with a beam 1.2 s and 10 s.
"""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.datasets import find_recordings
from choreograph.distance.blas import one_thread_each
from choreograph.features.points import ENDS, TRACK, find_points
from choreograph.finishing.finish import finish
from choreograph.formats import read_clip
from choreograph.synthesis.perform.cells import build_cells
from choreograph.synthesis.perform.confidence import find_confidence
from choreograph.synthesis.perform.control import Control
from choreograph.synthesis.perform.examples import SegmentDatabase, build_segments, pair_up, root_example
from choreograph.synthesis.perform.live import PerformStream
from choreograph.synthesis.perform.program import find_segments
from choreograph.synthesis.perform.request import PerformRequest
from choreograph.synthesis.perform.settings import usual_settings
from choreograph.synthesis.perform.stream import PieceStream


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
    known = all_dances.taken(np.flatnonzero(all_dances.example < 6))
    few_dances = shrunk(known, 168, 0.15)
    # Mirrored, so that even the database of all trials has not seen them.
    lead = [find_points(e.leader.mirrored(), ENDS) for e in pairs[6:] if e.leader is not None]

    def dance(seconds: float) -> Control:
        return Control(joined(lead, seconds, all_dances.fps), all_dances.fps)

    find_segments(few_walks, way), find_confidence(find_segments(few_dances, dance(10)))  # compiled
    with one_thread_each():
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
