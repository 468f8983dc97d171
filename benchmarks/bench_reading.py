"""How fast motion files are read, how the work grows, how much memory it takes, and whether the result is right.

    CHOREOGRAPH_DATA=<folder with cmu/ and cmu_bvh/> python -m benchmarks reading

Every line reads files from disk (warm in the system's cache) and computes world positions of all joints and end
sites. Times are CPU seconds of one thread, the best of several runs taken in turns, so that a busy machine counts
for neither side. Memory is how far a fresh process's high-water mark rises over a warm reader's.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

from benchmarks.datasets import describe_machine, find_recordings
from choreograph.formats import read_clip

REPEATS = 7


def ours(path: Path) -> np.ndarray:
    clip = read_clip(path)
    return np.concatenate([clip.global_positions(), clip.tip_positions()], axis=1)


def theirs(path: Path) -> np.ndarray:
    """pybvh at its fastest: told which way is up, it need not find out."""
    import pybvh

    return np.asarray(pybvh.read_bvh_file(path, world_up="+y").node_positions())


def race(*runners: Callable[[], Any], repeats: int = REPEATS) -> list[float]:
    """CPU seconds of each runner, the best of several, in turns."""
    best = [np.inf] * len(runners)
    for _ in range(repeats):
        for k, run in enumerate(runners):
            start = time.process_time()
            run()
            best[k] = min(best[k], time.process_time() - start)
    return best


def read_each(read: Callable[[Path], Any], paths: Iterable[Path]) -> None:
    for path in paths:
        read(path)


def difference_mm(path: Path) -> float:
    """How far apart the two readers put the joints, in mm, each joint found by its name."""
    import pybvh

    other, clip = pybvh.read_bvh_file(path, world_up="+y"), read_clip(path)
    assert clip.source is not None
    positions = dict(zip([node.name for node in other.nodes], np.moveaxis(other.node_positions(), 1, 0), strict=True))
    pairs = [(clip.global_positions()[:, j], positions[name]) for j, name in enumerate(clip.skeleton.names)]
    return max(1e3 * float(np.abs(a - b * clip.source.metres_per_unit).max()) for a, b in pairs)


def against_pybvh(recordings: Path) -> None:
    warnings.simplefilter("ignore")
    files = sorted((recordings / "cmu_bvh").glob("*.bvh"))
    print("\nBVH, read and world positions, against pybvh 0.9.0: µs of CPU per frame")
    print(f"  {'file':24} {'frames':>7} {'points':>7} {'pybvh':>8} {'ours':>8} {'ratio':>7} {'difference':>12}")
    for paths, name in [*(([path], path.name) for path in files), (files, "all of them")]:
        frames = sum(len(read_clip(path)) for path in paths)
        slow, fast = race(lambda p=paths: read_each(theirs, p), lambda p=paths: read_each(ours, p))
        gap = max(difference_mm(path) for path in paths)
        points = ours(paths[0]).shape[1]
        print(f"  {name:24} {frames:7} {points:7} {1e6 * slow / frames:8.1f} {1e6 * fast / frames:8.1f} "
              f"{slow / fast:6.1f}x {gap:9.6f} mm")  # fmt: skip


def amc(recordings: Path) -> None:
    print("\nASF/AMC, read and world positions: µs of CPU per frame (aim: 20 at most)")
    for folder in sorted((recordings / "cmu").iterdir()):
        paths = sorted(folder.glob("*.amc")) if folder.is_dir() else []
        if paths:
            frames = sum(len(read_clip(path)) for path in paths)
            (seconds,) = race(lambda p=paths: read_each(ours, p), repeats=5)
            print(f"  subject {folder.name:4} {len(paths):4} files {frames:7} frames {1e6 * seconds / frames:8.1f}")


def repeated(path: Path, times: int, target: Path) -> Path:
    """The file with its frames several times over."""
    text = path.read_text()
    if path.suffix == ".bvh":
        head, body = text.split("Frame Time:")
        step, rows = body.split("\n", 1)
        count = rows.count("\n") * times
        head = "\n".join(line if "Frames:" not in line else f"Frames: {count}" for line in head.split("\n"))
        target.write_text(f"{head}Frame Time:{step}\n{rows.rstrip()}\n" + (rows.rstrip() + "\n") * (times - 1))
    else:
        start = text.index("\n1\n") + 1
        target.write_text(text[:start] + text[start:] * times)
    return target


MEASURE = """
import json, re, sys
from pathlib import Path
from choreograph.formats import read_clip

def peak():  # of this very process; getrusage would count its parent's as well
    return 1024 * int(re.search(r"VmHWM:\\s*(\\d+)", Path("/proc/self/status").read_text())[1])

warm, path, asf = sys.argv[1:]
read_clip(warm)
before = peak()
clip = read_clip(path, asf=asf or None)
print(json.dumps([len(clip), clip.root_pos.nbytes + clip.local_rot.nbytes, peak() - before]))
"""


def growth(recordings: Path) -> None:
    print("\nGrowth: the same file with its frames repeated")
    print(
        f"  {'file':10} {'times':>6} {'frames':>8} {'MB':>7} {'µs/frame':>9} {'arrays MB':>10} "
        f"{'peak MB':>8} {'peak/arrays':>12}"
    )
    with tempfile.TemporaryDirectory() as folder:
        for path in (recordings / "cmu/60/60_08.amc", recordings / "cmu_bvh/16_17.bvh"):
            asf = path.with_name("60.asf") if path.suffix == ".amc" else None
            base = 1 if path.suffix == ".amc" else 8
            for times in (1, 2, 4, 8):
                target = repeated(path, base * times, Path(folder) / f"long{path.suffix}")
                (seconds,) = race(lambda p=target, a=asf: read_clip(p, asf=a).global_positions(), repeats=3)
                answer = subprocess.run(
                    [sys.executable, "-c", MEASURE, str(path), str(target), str(asf or "")],
                    capture_output=True, text=True, check=True,
                )  # fmt: skip
                frames, arrays, peak = json.loads(answer.stdout)
                print(f"  {path.stem + path.suffix:10} {base * times:6} {frames:8} {target.stat().st_size / 1e6:7.1f} "
                      f"{1e6 * seconds / frames:9.2f} {arrays / 1e6:10.1f} {peak / 1e6:8.1f} "
                      f"{peak / arrays:12.2f}")  # fmt: skip


def main() -> None:
    recordings = find_recordings()
    print(describe_machine())
    against_pybvh(recordings)
    amc(recordings)
    growth(recordings)


if __name__ == "__main__":
    main()
