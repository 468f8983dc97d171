"""How near to paths walks stay that are bent to them, and how the motion compares to the recordings it is made of.

    CHOREOGRAPH_DATA=<folder with cmu/> python -m benchmarks.bench_bend [full] [three] [demo] [39] … [--paths circle,s]

Three graphs: subject 16's walks, runs and turns; three straight walks of subject 16; the demo motion. A number is
another person of the CMU database, with all walks that cmu_more/ has. Paths: the seven shapes, and a slalom, a random
curve, an L, a way there and back, a circle of 1 m and a meander of 200 m. Errors are those of the finished motion's
root at a progress that never goes back. Times are the least CPU seconds of three searches.

Bars: mean 3 cm, max 10 cm, reached 0.99; planted feet wander 0.35 × as far as recorded, slide 0.7 × as fast (1 m circle
1.1 ×), turning peaks 1.1 ×, poses 1.3 cm from recorded ones (95 of 100 frames), 0.8 transitions a second, 300 × real
time; then a third of an S with a label or a speed. The demo motion's feet stand exactly, so its ratios say little.
What is missed in silence is counted by `bench_honest`, glides by `bench_solve`.
"""

from __future__ import annotations

import csv
import sys
import time

import numpy as np

from benchmarks.datasets import find_recordings
from choreograph.base import quat
from choreograph.base.arrays import Complexes, Floats
from choreograph.build.graph import build_graph
from choreograph.demo import demo_clips
from choreograph.formats import read_clip
from choreograph.graph.model import MotionGraph
from choreograph.motion.clip import Clip
from choreograph.motion.contacts import runs
from choreograph.scene.path import Path
from choreograph.scene.path_shapes import named_path
from choreograph.verbs.follow.request import FollowRequest
from choreograph.verbs.follow.search import FollowSearch
from choreograph.verbs.follow.tables import find_tables

_STEP_M = 0.02
_LOW_M = 0.03
_SOFT_M = 0.025
"""Height within which a foot counts as near the floor: fully at 0, not at all from here on."""


def from_headings(heading: Floats, name: str) -> Path:
    """The path that turns so every 2 cm."""
    steps = _STEP_M * np.stack([np.sin(heading), np.cos(heading)], axis=1)
    return Path(np.concatenate([[[0.0, 0.0]], np.cumsum(steps, axis=0)]), name=name)


def random_curve(seed: int = 1, length: float = 25.0, radius: float = 1.5) -> Path:
    """A path that bends this way and that, nowhere tighter than the radius."""
    from scipy.ndimage import gaussian_filter1d

    bend = gaussian_filter1d(np.random.default_rng(seed).normal(size=round(length / _STEP_M)), 0.6 / _STEP_M)
    return from_headings(np.cumsum(bend / np.abs(bend).max() / radius) * _STEP_M, "random")


def find_paths() -> dict[str, Path]:
    paths = {name: named_path(name) for name in ("line", "circle", "eight", "s", "square", "spiral", "zigzag")}
    z = np.arange(0.0, 21.0, _STEP_M)
    paths["slalom"] = Path(np.stack([np.sin(2 * np.pi * z / 7), z], axis=1))
    paths["random"] = random_curve()
    paths["L"] = Path(np.array([(0.0, 0.0), (0.0, 5.0), (5.0, 5.0)]))
    paths["back"] = Path(np.array([(0.0, 0.0), (0.0, 6.0), (0.0, 0.0)]))
    paths["circle1"] = named_path("circle", radius=1)
    paths["meander"] = from_headings(1.9 * np.sin(2 * np.pi * np.arange(0.0, 200.0, _STEP_M) / 14), "meander")
    return paths


def find_graph(name: str) -> MotionGraph:
    if name == "demo":
        return build_graph(demo_clips(60.0), workers=1)
    folder = find_recordings() / ("cmu" if name in ("full", "three") else "cmu_more")
    with (folder / "trials.tsv").open() as file:
        said = {row["trial"]: row["description"] for row in csv.DictReader(file, delimiter="\t")}
    subject = name if name.isdigit() else "16"
    trials = [file.stem for file in sorted((folder / subject).glob("*.amc"))]
    if name == "three":
        trials = ["16_15", "16_16", "16_47"]
    elif name == "full":
        trials = [trial for trial in trials if "jump" not in said[trial]]
    else:
        trials = [trial for trial in trials if "walk" in said[trial]]
    return build_graph(
        [read_clip(folder / subject / f"{trial}.amc").with_labels([said[trial]]) for trial in trials], workers=1
    )


class Feet:
    """How feet near the floor move."""

    def __init__(self, clip: Clip, floor: Floats | None = None) -> None:
        pos = clip.global_positions()[:, list(clip.skeleton.feet)]
        self.floor = np.percentile(pos[..., 1], 0.5, axis=0) if floor is None else floor
        height, speed = pos[1:, :, 1] - self.floor, np.linalg.norm(np.diff(pos[..., [0, 2]], axis=0), axis=2) * clip.fps
        near = 2 - 2 ** np.clip(height / _SOFT_M, 0, 1)
        self.slide = float((speed * near).sum() / max(near.sum(), 1e-9))
        self.wander: list[float] = []
        low = (height < _LOW_M) & (speed < 0.5)
        for k in range(low.shape[1]):
            for start, stop in runs(low[:, k]):
                if (stop - start) / clip.fps >= 0.1:
                    spot = pos[start + 1 : stop + 1, k][:, [0, 2]]
                    self.wander.append(float(np.linalg.norm(spot - spot.mean(axis=0), axis=1).max()))


def turning(clip: Clip) -> Floats:
    """Angular accelerations of all joints, rad/s²."""
    turn = quat.as_rotvec(quat.multiply(quat.inverse(clip.local_rot[:-1]), clip.local_rot[1:])) * clip.fps
    return np.linalg.norm(np.diff(turn, axis=0), axis=-1).ravel() * clip.fps


def novelty(clip: Clip, sources: list[Clip]) -> float:
    """95th percentile of the distance to the nearest recorded pose, on the floor aligned: metres, rms over joints."""

    def parts(pos: Floats) -> tuple[Floats, Complexes]:
        flat = pos[..., 0] + 1j * pos[..., 2]
        return pos[..., 1], flat - flat.mean(axis=1, keepdims=True)

    high, flat = parts(np.concatenate([source.global_positions() for source in sources]))
    size = (high**2).sum(axis=1) + (np.abs(flat) ** 2).sum(axis=1)
    found = []
    pos = clip.global_positions()
    for start in range(0, len(pos), 256):
        y, z = parts(pos[start : start + 256])
        both = y @ high.T + np.abs(z @ flat.conj().T)
        away = ((y**2).sum(axis=1) + (np.abs(z) ** 2).sum(axis=1))[:, None] + size - 2 * both
        found.append(np.sqrt(np.maximum(away.min(axis=1), 0.0) / pos.shape[1]))
    return float(np.percentile(np.concatenate(found), 95))


def measure(graph: MotionGraph, path: Path, name: str, few: bool) -> None:
    """One line of the table."""
    took = np.inf
    for _ in range(3):
        search = FollowSearch(graph, FollowRequest.of_path(path), tables=find_tables(graph))
        began = time.process_time()
        while search.step():
            pass
        took = min(took, time.process_time() - began)
    began = time.process_time()
    result = search.best()
    finishing = time.process_time() - began
    clip, runs_of = result.clip, result.best.motions[0].sources
    used = {run.clip for run in runs_of} | {run.other for run in runs_of if run.other}
    sources = [c for c in graph.clips if few or c.name in used]
    recorded = [Feet(source) for source in sources]
    feet = Feet(clip, np.median([one.floor for one in recorded], axis=0))
    slide = np.average([one.slide for one in recorded], weights=[len(source) for source in sources])
    wander = np.percentile([x for one in recorded for x in one.wander] or [1e-9], 95)
    peaks = np.percentile(turning(clip), 99.9) / np.percentile(np.concatenate([turning(c) for c in sources]), 99.9)
    m = {key: metric.value for key, metric in result.metrics.items()}
    print(
        f"{name:8} {100 * m['path_mean']:5.1f} {100 * m['path_worst']:5.1f} {m['path_reached']:6.3f}"
        f" {m['transitions_per_s']:6.2f} {np.percentile(feet.wander or [0.0], 95) / max(wander, 1e-9):7.2f}"
        f" {feet.slide / max(slide, 1e-9):7.2f} {peaks:7.2f} {100 * novelty(clip, sources):8.2f}"
        f" {clip.seconds / took:8.0f} {clip.seconds / finishing:8.0f}  {len(result.problems)}",
        flush=True,
    )


def stretches(graph: MotionGraph) -> None:
    """What is asked along a path: a label on its middle third, and speeds there."""
    path, labels = named_path("s"), {label.text for clip in graph.clips for label in clip.labels}
    low, high = path.length / 3, 2 * path.length / 3
    asked = [{"speed": 1.2}, {"speed": 1.5}]
    if any("run" in text for text in labels):
        asked += [{"label": "run"}, {"label": "run", "speed": 3.0}]
    for wanted in asked:
        result = FollowSearch(graph, FollowRequest.of_path(path.with_stretch(low, high, **wanted))).run()
        clip = result.clip
        # Progress by the nearest place of the path, which never goes back.
        points = path.sampled(0.02)
        near, at = np.empty(len(clip), int), 0
        for n, here in enumerate(clip.root_pos[:, [0, 2]]):
            at += int(np.linalg.norm(points[at : at + 50] - here, axis=1).argmin())
            near[n] = at
        inside = (0.02 * near >= low) & (0.02 * near <= high)
        mask = np.zeros(len(clip), bool)
        for label in clip.labels:
            if "run" in label.text:
                mask[label.start : label.stop] = True
        speed = (high - low) * clip.fps / max(inside.sum(), 1)
        share = f"{mask[inside].mean():.0%} of the frames are labelled run (bar 90 %)" if "label" in wanted else ""
        off = ""
        if "speed" in wanted:
            off = f"{speed:.2f} m/s, {abs(speed / wanted['speed'] - 1):.0%} off (bar 10 %)"
        print(f"  {wanted}: {share} {off} {len(result.problems)} problems", flush=True)


def main() -> None:
    words = sys.argv[1:]
    wanted = words[words.index("--paths") + 1].split(",") if "--paths" in words else None
    for name in [word for word in words if word in ("full", "three", "demo") or word.isdigit()] or [
        "full",
        "three",
        "demo",
    ]:
        graph = find_graph(name)
        print(f"\n{name}: {graph!r}")
        FollowSearch(graph, FollowRequest(path="line:length=3")).run()  # compiles
        print("path      mean   max  reach  tr/s  wander   slide   peaks  novelty  × real  finish ×  problems")
        for label, path in find_paths().items():
            if wanted is None or label in wanted:
                measure(graph, path, label, name == "three")
        if wanted is None:
            stretches(graph)


if __name__ == "__main__":
    main()
