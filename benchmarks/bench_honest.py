"""What requests ask for, what the written motion does, and whether misses are reported.

    CHOREOGRAPH_DATA=<folder with cmu/> python -m benchmarks.bench_honest [count] [--from N] [--only verb,…] [--say]

Random requests to follow, solve, perform and bend, possible and impossible ones, over the demo motion, three straight
walks, a part of subject 16, and subjects 8 and 36. Each motion is written as BVH, read by the small reader in
`written_motion`, and measured there. A thing that is missed by more than 5 cm, 5°, 10 % or one frame (a path: mean
5 cm, worst 20 cm, share 0.99) must be among the problems, at its place in the request. Bar: none missed in silence.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import choreograph as cg
from benchmarks.datasets import RECORDINGS, find_recordings
from benchmarks.measure_honest import Miss, find_misses
from choreograph.base.errors import ChoreographError
from choreograph.demo import demo_clips

VERBS = ("follow", "solve", "perform", "bend")
RATE_HZ = 60.0
"""Of all recordings here."""


@cache
def library(name: str) -> cg.MotionGraph:
    """One of the graphs."""
    if name == "demo":
        clips = demo_clips(RATE_HZ)
    else:
        folder = find_recordings()
        trials = {
            "three": ("16", "16_15 16_16 16_47"),
            "part": (
                "16",
                "16_03 16_08 16_11 16_13 16_15 16_17 16_18 16_19 16_20 16_31 16_33 16_35 16_38 16_40 16_42 16_44 16_57",
            ),
            "08": ("08", "08_01 08_02 08_03 08_05 08_07 08_11"),
            "36": ("36", "36_02"),
        }[name]
        place = next(folder.glob(f"cmu*/{trials[0]}"))
        labels = dict(line.split("\t")[0::3] for line in (place.parent / "trials.tsv").read_text().splitlines())
        clips = [
            cg.read_clip(place / f"{trial}.amc").with_name(trial).with_labels([labels[trial]]).resampled(RATE_HZ)
            for trial in trials[1].split()
        ]
        if name == "36":
            clips = [clips[0][k : k + 480].with_name(f"36_02 {k}") for k in range(0, 1440, 480)]
    return cg.build_graph(clips, workers=1)


LIBRARIES = ("demo", "three", "part", "08", "36")


class Chance:
    """Draws of requests, the same for the same number."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng([2001, seed])

    def between(self, low: float, high: float, digits: int = 2) -> float:
        """A number."""
        return round(float(self.rng.uniform(low, high)), digits)

    def one(self, items: Any) -> Any:
        """One of some."""
        return items[int(self.rng.integers(len(items)))]

    def happens(self, chance: float) -> bool:
        """Whether something does."""
        return bool(self.rng.random() < chance)

    def path(self, length: float) -> list[tuple[float, float]]:
        """A smooth curve, one with corners, or a straight line."""
        kind = self.one(("curve", "curve", "corners", "line"))
        if kind == "line":
            turned = self.between(-3, 3)
            return [(0.0, 0.0), (round(length * np.sin(turned), 3), round(length * np.cos(turned), 3))]
        if kind == "corners":
            count = int(self.rng.integers(2, 5))
            headings = np.cumsum(self.rng.uniform(-2.2, 2.2, count))
            steps = length / count * np.exp(1j * headings)
        else:
            tight = self.between(0.15, 1.0)
            step = 0.05
            count = round(length / step)
            wave = np.cumsum(self.rng.normal(size=count))
            wave -= np.linspace(0, wave[-1], count)
            from scipy.ndimage import gaussian_filter1d

            bend = gaussian_filter1d(self.rng.normal(size=count), 0.6 / step)
            steps = step * np.exp(1j * np.cumsum(bend / np.abs(bend).max() * tight) * step)
        places = np.concatenate([[0], np.cumsum(steps)])
        return [(round(float(p.imag), 4), round(float(p.real), 4)) for p in places]

    def label(self, graph: cg.MotionGraph) -> str:
        """What some clip is labelled."""
        texts = sorted({label.text for clip in graph.clips for label in clip.labels})
        return str(self.one(texts)).split(",")[0].split("/")[0]


def draw_follow(chance: Chance, graph: cg.MotionGraph) -> cg.FollowRequest:
    """A path, and what is wanted along it."""
    length = chance.between(3, 16)
    more: dict[str, Any] = {"points": chance.path(length), "seed": int(chance.rng.integers(100))}
    if chance.happens(0.25):
        more["facing_deg"] = chance.between(-180, 180, 0)
    if chance.happens(0.15):
        more["speed_m_s"] = chance.between(0.6, 4)
    if chance.happens(0.15):
        more["label"] = chance.label(graph)
    elif chance.happens(0.15):
        more["style"] = chance.label(graph)
    goals: list[dict[str, Any]] = []
    at = chance.between(0, length / 3)
    while chance.happens(0.4) and at < length - 1:
        stop = min(length, at + chance.between(1, 5))
        stretch: dict[str, Any] = {"start_m": at, "end_m": round(stop, 2)}
        kind = chance.one(("speed", "label", "pause", "both"))
        if kind in ("speed", "both"):
            goals.append({**stretch, "speed_m_s": chance.between(0.5, 5) if chance.happens(0.9) else 20.0})
        if kind in ("label", "both"):
            goals.append({**stretch, "label": chance.label(graph)})
        if kind == "pause":
            goals.append({"at_m": at, "pause_s": chance.between(0.5, 3)})
        at = round(stop + chance.between(0.1, 2), 2)
    return cg.FollowRequest(goals=goals, **more)


def draw_solve(chance: Chance, graph: cg.MotionGraph) -> cg.SolveRequest:
    """Places, joints, poses, frames, labels, obstacles."""
    length = chance.between(2, 7)
    body = [cg.PlaceGoal(0.0, (chance.between(-2, 2), chance.between(-2, 2)), chance.between(-180, 180, 0))]
    far = chance.one((0.3, 1.0, 1.5, 4.0))
    times = sorted({chance.between(0.5, length) for _ in range(int(chance.rng.integers(0, 3)))})
    for before, at in zip([0.0, *times], times, strict=False):
        step = far * (at - before) * chance.between(0, 1) * np.exp(1j * chance.between(-3.1, 3.1))
        x, z = body[-1].place
        facing = chance.between(-180, 180, 0) if chance.happens(0.5) else None
        body.append(cg.PlaceGoal(at, (round(x + step.real, 2), round(z + step.imag, 2)), facing))
    goals: list[Any] = []
    obstacles: tuple[cg.Obstacle, ...] = ()
    if chance.happens(0.35):
        joint = chance.one(("head", "left_hand", "right_hand", "left_foot", "right_foot"))
        # Where a recording has it, seen from the torso, and moved a little.
        at, clip = chance.between(0.3, length), chance.one(graph.clips)
        frame = int(chance.rng.integers(len(clip)))
        x, y, z = clip.global_positions()[frame, clip.skeleton.need(joint)]
        wanted = (None, round(float(y) + chance.between(-0.1, 0.1), 2), None)
        velocity = tuple(chance.between(-2, 2) if chance.happens(0.3) else None for _ in range(3))
        goals.append(cg.JointGoal(at, joint, wanted, velocity))
    if chance.happens(0.35) or (len(body) < 2 and not goals):
        at, lasts = chance.between(0, length - 0.5), chance.one((0.0, 0.0, 0.4))
        clip = chance.one([clip for clip in graph.clips if len(clip) > 90])
        frame = int(chance.rng.integers(0, len(clip) - 60))
        goals.append(cg.PoseGoal(at, cg.PoseSource(clip.name, frame), exact=True, duration_s=lasts))
    if chance.happens(0.2):
        clip = chance.one(graph.clips)
        at = chance.between(0, length)
        goals.append(cg.PoseGoal(at, cg.PoseSource(clip.name, int(chance.rng.integers(len(clip))))))
    if chance.happens(0.25):
        start = chance.between(0, length / 2)
        end = chance.between(start + 0.5, length)
        goals.append(cg.LabelGoal(start_s=start, end_s=end, label=chance.label(graph)))
    if chance.happens(0.3):
        spot = np.mean([complex(*b.place) for b in body]) + chance.between(-1, 1) + 1j * chance.between(-1, 1)
        clearance, size = chance.between(0, 0.5), chance.between(0.1, 0.6)
        x, z = round(spot.real, 2), round(spot.imag, 2)
        if min(abs(complex(*b.place) - spot) for b in body) > 1.5 * size + 0.05:
            obstacles = (
                cg.Obstacle(centre=(x, z), radius_m=size, clearance_m=clearance, of="hips")
                if chance.happens(0.5)
                else cg.Obstacle(low=(x - size, z - size), high=(x + size, z + size), clearance_m=clearance, of="hips"),
            )
    return cg.SolveRequest(
        length,
        (*body, *goals),
        scene=cg.Scene(obstacles),
        work_limit=chance.one((5_000, 60_000)),
        count=chance.one((1, 1, 3)),
        seed=int(chance.rng.integers(100)),
    )


def draw_perform(chance: Chance, graph: cg.MotionGraph) -> cg.PerformRequest:
    """A way with its timing, and sometimes a segment at a time."""
    from scipy.ndimage import gaussian_filter1d

    seconds, top = chance.between(3, 8), chance.one((1.0, 1.3, 1.3, 1.8, 4.0, 8.0))
    count = round(seconds * 30)
    speed = np.clip(top * (1 + 0.5 * gaussian_filter1d(chance.rng.normal(size=count), 20) * 6), 0.0, None)
    turn = gaussian_filter1d(chance.rng.normal(size=count), 15) * chance.between(0, 8)
    places = np.concatenate([[0], np.cumsum(speed * np.exp(1j * np.cumsum(turn) / 30) / 30)])
    samples = tuple((n / 30, round(float(p.imag), 4), round(float(p.real), 4)) for n, p in enumerate(places))
    wishes = ()
    if chance.happens(0.4):
        number = int(chance.rng.integers(6))
        wishes = (cg.SegmentGoal(at_s=chance.between(0.5, seconds - 0.5), segments=(number,)),)
    return cg.PerformRequest(samples=samples, smooth_s=chance.one((0.0, 0.2)), goals=wishes)


def draw_bend(chance: Chance, graph: cg.MotionGraph) -> tuple[cg.Clip, cg.BendRequest]:
    """A motion that goes somewhere, and a path."""
    going = [c for c in graph.clips if np.ptp(c.root_pos[:, [0, 2]], axis=0).max() > 1.5]
    clip = chance.one(going)
    way = float(np.linalg.norm(np.diff(clip.root_pos[:, [0, 2]], axis=0), axis=1).sum())
    return clip, cg.BendRequest(points=chance.path(way * chance.between(0.8, 1.15)))


def run_request(number: int, verbs: tuple[str, ...] = VERBS, libraries: tuple[str, ...] = LIBRARIES) -> Outcome:
    """Draw a request, answer it, write the answer, measure what was written."""
    chance = Chance(number)
    verb, name = verbs[number % len(verbs)], libraries[number // len(verbs) % len(libraries)]
    graph = library(name)
    subject: Any = graph
    if verb == "bend":
        subject, request = draw_bend(chance, graph)
    else:
        request = {"follow": draw_follow, "solve": draw_solve, "perform": draw_perform}[verb](chance, graph)
    about = f"{number} {verb} {name}"
    try:
        result = getattr(cg, verb)(subject, request)
    except ChoreographError as error:
        return Outcome(about, request, [], refused=str(error))
    misses = []
    with tempfile.TemporaryDirectory() as folder:
        for n, answer in enumerate(result.answers):
            file = Path(folder) / f"{n}.bvh"
            cg.write_clip(file, answer.clip)
            problems = [p.where for p in (*result.notes, *answer.problems)]
            for miss in find_misses(verb, request, file, answer, graph):
                miss.silent = not any(_same(miss.where, where) for where in problems)
                misses.append(miss)
    return Outcome(about, request, misses)


def _same(where: str, said: str) -> bool:
    """Whether a problem is about what was missed: at its place in the request, or at a part of it."""
    return said == where or said.startswith(f"{where}.") or (where in ("path", "samples") and said == where)


class Outcome:
    """What came of a request."""

    def __init__(self, about: str, request: Any, misses: list[Miss], refused: str = "") -> None:
        self.about, self.request, self.misses, self.refused = about, request, misses, refused

    @property
    def silent(self) -> list[Miss]:
        """What was missed and not reported."""
        return [miss for miss in self.misses if miss.silent]


def main() -> None:
    """Run so many of them and say what was missed in silence."""
    words = sys.argv[1:]
    count = next((int(word) for word in words if word.isdigit()), 50)
    first = int(words[words.index("--from") + 1]) if "--from" in words else 0
    verbs = tuple(words[words.index("--only") + 1].split(",")) if "--only" in words else VERBS
    import os

    libraries = LIBRARIES if os.environ.get(RECORDINGS) else ("demo",)
    reported, silent, refused = Counter[str](), Counter[str](), 0
    took: Counter[str] = Counter()
    for number in range(first, first + count):
        began = time.process_time()
        outcome = run_request(number, verbs, libraries)
        verb = outcome.about.split()[1]
        took[verb] += time.process_time() - began
        refused += bool(outcome.refused)
        if outcome.refused and "--say" in words:
            print(f"{outcome.about}: refused: {outcome.refused}")
        for miss in outcome.misses:
            kind = f"{verb} {miss.where.split('[')[0].split('.')[0] or miss.what}"
            (silent if miss.silent else reported)[kind] += 1
            if miss.silent or "--say" in words:
                print(f"{outcome.about}: {'IN SILENCE' if miss.silent else 'reported'}: {miss}", flush=True)
        if outcome.silent and "--say" in words:
            print("    ", outcome.request.as_document())
        if (number + 1) % 20 == 0:
            print(f"{number + 1 - first} done, {sum(silent.values())} missed in silence", flush=True)
    print(f"\n{count} requests ({refused} refused), CPU seconds { {k: round(v) for k, v in took.items()} }")
    print("missed and reported:", dict(reported))
    print("missed in silence (bar 0):", sum(silent.values()), dict(silent))


if __name__ == "__main__":
    main()
