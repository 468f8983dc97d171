"""Archives of any size, made from recordings: so that growth is seen without owning a large one.

    CHOREOGRAPH_DATA=<folder with cmu/> python -m benchmarks.archives FOLDER --windows 50000 [--share 0.25] [--fps 120]
    CHOREOGRAPH_DATA=<folder with cmu/> python -m benchmarks.archives NAME.mog --windows 200000
    python -m benchmarks.archives LARGER.mog --repeat 5 --of NAME.mog
    python -m benchmarks.archives NAME.mog --use
    CHOREOGRAPH_DATA=<folder with cmu/> python -m benchmarks.archives FOLDER --growth 50000,100000,200000 [--fps 120]

The first gives files, the second a motion graph, the third one that has all of another several times, each time
joined to the last, without comparing anything: for what comes after building. The fourth tells what it takes to use
one: opening it, and the first answer of every verb, each in a process of its own, without and with what the cache
keeps. The fifth builds archives of several sizes, adds a clip to each, and prints what that takes. Recordings and
demo motion are carried onto one skeleton; once all have been told, they are told again, by turns mirrored, faster or
slower, and in another manner: every joint is held a little differently throughout and sways slowly. The manner is
strong enough that two tellings of one recording lie mostly farther apart than the threshold, as two people do, so
that the distances of a larger archive are spread like those of a smaller one. The n-th clip depends on n alone: a
smaller archive is the beginning of a larger one.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from choreograph.base import quat
from choreograph.graph.lazy import PickedClips
from choreograph.graph.model import MotionGraph
from choreograph.graph.store import open_graph, save_graph
from choreograph.graph.tables import Minima
from choreograph.motion.clip import Clip
from choreograph.motion.skeleton import Skeleton

if TYPE_CHECKING:
    from choreograph.build.staging import ClipStream

# What makes archives is imported where it is used: it is no part of what using one takes.
SEED = 19
ONTO = "cmu/16/16_15.amc"
HELD_RAD, SWAY_RAD = 0.035, 0.02
"""How differently joints are held in another telling, and how far they sway: standard deviations, each axis."""
WINDOW = 10
"""Frames of a window at 30 Hz; a clip of n frames has n - 9."""


def skeleton() -> Skeleton:
    """The skeleton that every clip of an archive has."""
    from benchmarks.datasets import find_recordings
    from choreograph.formats import read_clip

    return read_clip(find_recordings() / ONTO).skeleton


@cache
def sources() -> tuple[Path | str, ...]:
    """What archives are made of, shuffled: recordings by path, demo motion by name."""
    from benchmarks.datasets import find_recordings

    folder = find_recordings()
    found: list[Path | str] = [*sorted(folder.glob("cmu/*/*.amc")), *sorted(folder.glob("cmu_more/*/*.amc"))]
    found += sorted(_demo())
    return tuple(found[n] for n in np.random.default_rng(SEED).permutation(len(found)))


@cache
def _demo() -> dict[str, Clip]:
    from choreograph.demo import demo_clips

    return {clip.name: clip for clip in demo_clips(30.0)}


@cache
def _carried(number: int, fps: float) -> Clip:
    """A source on the common skeleton at a rate; kept, for it is told many times."""
    from choreograph.formats import read_clip
    from choreograph.motion.retarget import retarget

    source = sources()[number]
    if isinstance(source, Path):
        clip = read_clip(source)
        name = f"{source.parent.name}_{source.stem.split('_', 1)[-1]}"
    else:
        clip, name = _demo()[source], f"demo_{source}"
    return replace(retarget(clip.resampled(fps), skeleton()), name=name, source=None, contacts=None)


def archive_clip(number: int, fps: float = 30.0) -> Clip:
    """The n-th clip of the endless archive."""
    count = len(sources())
    told = number // count
    clip = _carried(number % count, fps)
    if not told:
        return clip
    rng = np.random.default_rng((SEED, number))
    tempo = float(np.exp(rng.uniform(-0.22, 0.22)))
    name = f"{clip.name}.{told}"
    # Played at another rate and sampled anew: faster or slower.
    clip = replace(clip, fps=fps * tempo).resampled(fps)
    if told % 2:
        clip = clip.mirrored()
    frames, joints = clip.local_rot.shape[:2]
    held = rng.normal(0, HELD_RAD, (joints, 3))
    held[0, 1] = 0  # another heading is no other motion
    times = np.arange(frames)[:, None, None] / fps
    speed, phase = rng.uniform(0.6, 3.0, (joints, 3)), rng.uniform(0, 2 * np.pi, (joints, 3))
    turns = held + np.sqrt(2) * SWAY_RAD * rng.uniform(0, 1, (joints, 3)) * np.sin(speed * times + phase)
    rotations = quat.make_continuous(quat.multiply(clip.local_rot, quat.from_rotvec(turns)))
    return replace(clip.with_poses(clip.root_pos, rotations), name=name)


def archive_clips(windows: int, fps: float = 30.0) -> Iterator[Clip]:
    """Clips, one at a time, that have about this many windows at 30 Hz together."""
    have, number = 0, 0
    while have < windows:
        clip = archive_clip(number, fps)
        have += max(0, round(len(clip) * 30 / fps) - WINDOW + 1)
        number += 1
        yield clip


def archive_stream(windows: int, fps: float = 30.0) -> ClipStream:
    """The same for a build that reads one clip at a time."""
    from choreograph.build.staging import ClipStream

    count = sum(1 for _ in archive_clips(windows))
    return ClipStream([f"{SEED} {n} {fps}" for n in range(count)], lambda n: [archive_clip(n, fps)])


def write_files(folder: Path, windows: int, *, share: float = 1.0, fps: float = 120.0, suffix: str = ".bvh") -> int:
    """Write an archive as files; of each clip, whether it belongs to the share depends on its name alone.

    Returns:
        How many were written.
    """
    from choreograph.formats import write_clip

    folder.mkdir(parents=True, exist_ok=True)
    wrote = have = number = 0
    while have < windows:
        slow = archive_clip(number, 30.0)
        have += max(0, len(slow) - WINDOW + 1)
        if zlib.crc32(slow.name.encode()) < share * 2**32:
            path = folder / f"{slow.name}{suffix}"
            if not path.exists():
                write_clip(path, archive_clip(number, fps))
            wrote += 1
        number += 1
    return wrote


def _first_step(verb: str, path: Path, request: dict[str, Any]) -> str:
    """Open a graph and have a verb's first answer, shown: what somebody waits for."""
    import choreograph as cg
    from choreograph.contract.search import Budget
    from choreograph.verbs import find_verb

    graph = cg.open_graph(path)
    if verb == "complete":
        name = graph.infos[0].name
        request = {"poses": [{"at_s": t, "clip": name, "frame": round(30 * t)} for t in (0.0, 1.5)], **request}
    search = find_verb(verb).search(graph, find_verb(verb).request(**request))
    search.step(Budget(steps=1, seconds=0.1))
    found = search.first()
    return f"{len(found.clip)} frames" + "".join(f"; {problem.text[:60]}…" for problem in found.notes[:1])


def _open(path: Path) -> str:
    import choreograph as cg

    graph = cg.open_graph(path)
    return f"{len(graph.infos)} clips, {int(graph.clip_frames.sum())} frames"


def _read_edges(path: Path) -> str:
    import choreograph as cg

    graph = cg.open_graph(path)
    return f"{len(graph.nodes)} nodes, {len(graph.edges)} edges"


def _only(path: Path) -> str:
    import choreograph as cg

    part = cg.open_graph(path).only("walk or run")
    return f"{len(part.infos)} clips, {len(part.nodes)} nodes, {len(part.edges)} edges"


_GOES = {
    "duration_s": 3.0,
    "goals": [{"at_s": 0.0, "place": (0.0, 0.0), "facing_deg": 0.0}, {"at_s": 3.0, "place": (0.0, 3.0)}],
}
ASKS: dict[str, Callable[[Path], str]] = {
    "open": _open,
    "edges": _read_edges,
    "only": _only,
    "follow": lambda path: _first_step("follow", path, {"path": "eight:radius=3"}),
    "follow, label": lambda path: _first_step("follow", path, {"path": "eight:radius=3", "label": "run"}),
    "solve": lambda path: _first_step("solve", path, {**_GOES, "count": 1, "time_limit_s": 0.5}),
    "perform": lambda path: _first_step("perform", path, {"samples": [(k / 10, 0.0, 0.12 * k) for k in range(40)]}),
    "complete": lambda path: _first_step("complete", path, {"duration_s": 1.5}),
    "plan": lambda path: _first_step("plan", path, {"goal": {"position": (0.0, 2.0)}, "evaluations": 200}),
    "steer": lambda path: _first_step("steer", path, {"path": "circle:radius=4", "duration_s": 2.0}),
}
"""What is asked of an archive."""


def measure(path: Path, ask: str) -> dict[str, Any]:
    """CPU seconds and most memory of this process, imports and all, once it has done what is asked."""
    said = ASKS[ask](path)
    spent = resource.getrusage(resource.RUSAGE_SELF)
    return {"cpu_s": spent.ru_utime + spent.ru_stime, "gib": spent.ru_maxrss / 2**20, "said": said}


def _spent() -> float:
    own = resource.getrusage(resource.RUSAGE_SELF)
    return own.ru_utime + own.ru_stime


def build_once(path: Path, windows: int, workers: int, fps: float) -> dict[str, Any]:
    """Build an archive, and tell what it took: CPU seconds of all, and of comparing windows."""
    from choreograph.build.files import build_file

    stream = archive_stream(windows, fps)
    began, compared = _spent(), [0.0, 0.0]

    def hear(stage: str, done: int, total: int) -> None:
        compared[0] = compared[0] or (_spent() if stage == "measuring windows" else 0.0)
        compared[1] = _spent() if stage == "comparing windows" else compared[1]

    graph = build_file(path, stream, workers=workers, overwrite=True, progress=hear)
    return {
        "windows": sum(max(0, info.frames - WINDOW + 1) for info in graph.infos),
        "build_s": _spent() - began,
        "search_s": compared[1] - compared[0],
        "gib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
        "evaluated": graph.evaluated_share,
        "minima": graph.count_rows("minima"),
        "edges": graph.count_rows("edges"),
        "mb": path.stat().st_size / 1e6,
    }


def add_once(path: Path) -> dict[str, Any]:
    """Add a clip that the archive does not have, and tell what it took; the file grows by it."""
    from choreograph.build.files import add_to_file

    clip = archive_clip(len(open_graph(path).infos) + 1)
    began = _spent()
    add_to_file(path, [clip], workers=1)
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return {"clip_s": clip.seconds, "add_s": _spent() - began, "add_gib": most}


def remove_once(path: Path) -> dict[str, Any]:
    """Remove the clip in the middle, and tell what it took; the file shrinks by it."""
    from choreograph.build.files import remove_from_file

    infos = open_graph(path).infos
    began = _spent()
    remove_from_file(path, [infos[len(infos) // 2].name])
    return {"remove_s": _spent() - began, "remove_gib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20}


def growth(folder: Path, sizes: Sequence[int], workers: int, fps: float) -> None:
    """Print what archives of several sizes, of clips of some rate, take, each in processes of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    print("| windows | build | of it search | memory | evaluated | minima | edges | file | add one clip |")
    print("|" + "---|" * 9)
    for windows in sizes:
        path, found = folder / f"{windows}.mog", dict[str, Any]()
        for ask in ("build", "add"):
            command = [sys.executable, "-m", "benchmarks.archives", str(path), "--ask", ask]
            command += ["--windows", str(windows), "--workers", str(workers), "--fps", str(fps)]
            found |= json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        print(
            f"| {found['windows']:,} | {found['build_s']:.0f} s | {found['search_s']:.0f} s | {found['gib']:.2f} GiB "
            f"| {100 * found['evaluated']:.2g} % | {found['minima']:,} | {found['edges']:,} | {found['mb']:,.0f} MB "
            f"| {found['add_s']:.1f} s, of {found['clip_s']:.1f} s |",
            flush=True,
        )


def use(path: Path) -> None:
    """Print what it takes to use an archive; the first round, which compiles, does not count."""
    print(f"{'':14} {'cold':>8} {'kept':>8} {'most memory':>12}")
    for ask in ASKS:
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, "-m", "benchmarks.archives", str(path), "--ask", ask]
            found = list[dict[str, Any]]()
            for cache in ("compiling", "cold", "cold"):
                environment = {**os.environ, "CHOREOGRAPH_CACHE": str(Path(folder) / cache)}
                environment.pop("PYTHONDONTWRITEBYTECODE", None)  # users have their modules compiled
                if cache == "compiling" and ask in ("open", "edges", "only"):
                    continue
                made = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
                if made.returncode:
                    found.append({"cpu_s": np.nan, "gib": np.nan, "said": made.stderr.strip().splitlines()[-1]})
                else:
                    found.append(json.loads(made.stdout))
            cold, kept = found[-2:]
            most = max(one["gib"] for one in found[-2:])
            print(f"{ask:14} {cold['cpu_s']:6.1f} s {kept['cpu_s']:6.1f} s {most:8.2f} GiB  {kept['said']}", flush=True)


def repeat(graph: MotionGraph, times: int) -> MotionGraph:
    """A graph with all clips of another several times; each is as near to the next copies of all others as to these."""
    from choreograph.graph.connect import connect

    count, infos, clips, parts = len(graph.infos), [], [], []
    for copy in range(times):
        infos += [replace(info, name=f"{info.name}.copy{copy}", mirror_of=None) for info in graph.infos]
        clips += [(_Renamed(graph.clips, f".copy{copy}"), number) for number in range(count)]
        parts.append((copy, copy))
        parts += [(copy, copy + 1)] * (copy + 1 < times)
    own = graph.minima.columns()
    made = {name: np.concatenate([column] * len(parts)) for name, column in own.items()}
    for name, side in (("clip_a", 0), ("clip_b", 1)):
        made[name] = np.concatenate([own[name] + count * part[side] for part in parts]).astype(np.int32)
    order = np.lexsort([made[name] for name in ("frame_b", "frame_a", "clip_b", "clip_a")])
    minima = Minima(**{name: column[order] for name, column in made.items()})
    joined = connect(minima, graph.settings, graph.threshold_m, infos)
    tables = {"minima": minima, "nodes": joined.nodes, "edges": joined.edges}
    return MotionGraph(
        graph.settings, graph.threshold_m, PickedClips(clips), infos, tables, searched_m=graph.searched_m
    )  # fmt: skip


class _Renamed(Sequence[Clip]):
    """Clips under other names."""

    def __init__(self, clips: Sequence[Clip], ending: str) -> None:
        self._clips, self._ending = clips, ending

    def __len__(self) -> int:
        return len(self._clips)

    def __getitem__(self, index: Any) -> Any:
        clip = self._clips[index]
        return clip.with_name(clip.name + self._ending)


def main() -> None:
    """Write what the command line asks for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("output", type=Path, help="a folder for files, or a .mog file")
    parser.add_argument("--windows", type=int, default=50_000, help="windows at 30 Hz")
    parser.add_argument("--share", type=float, default=1.0, help="share of the clips to write as files")
    parser.add_argument("--fps", type=float, help="rate of the clips; 120 in files, 30 in graphs, if not given")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--repeat", type=int, help="how often to have all of another graph")
    parser.add_argument("--of", type=Path, help="that graph")
    parser.add_argument("--use", action="store_true", help="measure what it takes to use the .mog file")
    parser.add_argument("--growth", help="sizes of archives to build in a folder, in windows: 50000,100000")
    parser.add_argument("--ask", choices=["build", "add", "remove", *ASKS], help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.ask == "build":
        print(json.dumps(build_once(asked.output, asked.windows, asked.workers, asked.fps or 30.0)))
        return
    if asked.ask in ("add", "remove"):
        print(json.dumps((add_once if asked.ask == "add" else remove_once)(asked.output)))
        return
    if asked.growth:
        growth(asked.output, [int(size) for size in asked.growth.split(",")], asked.workers, asked.fps or 30.0)
        return
    if asked.ask is not None:
        print(json.dumps(measure(asked.output, asked.ask)))
        return
    if asked.use:
        use(asked.output)
        return
    if asked.repeat:
        save_graph(repeat(open_graph(asked.of), asked.repeat), asked.output, overwrite=True)
        return
    if asked.output.suffix != ".mog":
        wrote = write_files(asked.output, asked.windows, share=asked.share, fps=asked.fps or 120.0)
        sys.exit(f"{wrote} files in {asked.output}" if not wrote else None)
    from choreograph.build.files import build_file

    build_file(asked.output, archive_stream(asked.windows, asked.fps or 30.0), workers=asked.workers, overwrite=True)


if __name__ == "__main__":
    main()
