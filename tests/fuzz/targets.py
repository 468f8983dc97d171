"""Who reads files from outside: for each reader whole files to break, how they are broken, and how they are read."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from tests.fuzz import mutate as m
from tests.fuzz.more_targets import PATH, listed, use_request
from tests.fuzz.own_targets import listed as own_listed

from choreograph.base import quat
from choreograph.formats import read_clip, write_clip
from choreograph.motion.clip import Clip
from choreograph.motion.skeleton import Skeleton

ROOT = Path(__file__).parents[2]


@dataclass
class Target:
    """A reader."""

    suffix: str
    seeds: list[bytes]
    mutate: Callable[[bytes, np.random.Generator], bytes]
    read: Callable[[Path, int], Any]
    """Reads a file that was made of the seed of this number, and uses what came of it."""
    growth: int = 64
    """Bytes of memory that a byte of file may take."""
    share: float = 1.0
    """Of the cases, against other readers."""
    warm: list[Path] = field(default_factory=list)


def small_clip() -> Clip:
    """A body of four joints that moves for twelve frames."""
    skeleton = Skeleton(
        ("Hips", "Head", "LeftFoot", "RightFoot"), np.array([-1, 0, 0, 0]),
        np.array([[0, 0.9, 0], [0, 0.7, 0], [0.1, -0.9, 0], [-0.1, -0.9, 0]]),
        np.array([1]), np.array([[0, 0.1, 0]]),
    )  # fmt: skip
    rng = np.random.default_rng(3)
    turns = np.cumsum(rng.normal(0, 0.05, (12, 4, 3)), axis=0)
    root = np.array([0, 0.9, 0]) + np.cumsum(rng.normal(0, 0.02, (12, 3)), axis=0)
    return Clip(skeleton, 30, root, quat.from_rotvec(turns), name="small").with_labels(["walk"])


def use_clip(clip: Clip) -> None:
    """What everything else relies on: finite places for every joint and tip."""
    assert np.isfinite(clip.global_positions()).all() and np.isfinite(clip.tip_positions()).all()
    assert np.allclose(np.linalg.norm(clip.local_rot, axis=-1), 1, atol=1e-3)


def use_graph(path: Path, _: int) -> None:
    from choreograph.graph.report import report_graph
    from choreograph.graph.store import open_graph
    from choreograph.graph.tables import TABLES
    from choreograph.verbs.perform.prepare import chosen_settings

    graph = open_graph(path)
    for part in TABLES:
        getattr(graph, part)
    for clip in graph.clips:
        clip.global_positions()
    json.dumps(report_graph(graph).as_dict(), allow_nan=False)
    chosen_settings(graph)
    _ = graph.fingerprint


def use_path(path: Path, _: int) -> None:
    from choreograph.scene.path_files import read_path

    assert np.isfinite(read_path(path).points).all()


def use_trajectory(path: Path, _: int) -> None:
    from choreograph.verbs.perform.trajectory import read_trajectory

    assert np.isfinite(read_trajectory(path).places).all()


def use_usd(path: Path, _: int) -> None:
    from choreograph.formats import usd_read

    usd_read.ask_child = fork_child
    use_clip(usd_read.read_usd(path))


def fork_child(module: str, arguments: list[str], *, memory: int, seconds: int, output: int) -> Any:
    """`ask_child` by a fork of this process, which has USD loaded: ten times as fast."""
    from choreograph.formats import _usd_child, child

    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as said:
        process = os.fork()
        if process == 0:
            code = 1
            try:
                signal.setitimer(signal.ITIMER_PROF, 0)
                signal.signal(signal.SIGPROF, signal.SIG_DFL)
                os.dup2(out.fileno(), 1)
                os.dup2(said.fileno(), 2)
                sys.argv = [module, str(memory), str(seconds), str(output), *arguments]
                _usd_child.main()
                code = 0
            except BaseException as error:
                os.write(2, repr(error).encode())
            os._exit(code)
        end = time.monotonic() + 4 * seconds
        while not (ended := os.waitpid(process, os.WNOHANG))[0]:
            if time.monotonic() > end:
                os.kill(process, signal.SIGKILL)
            time.sleep(0.002)
        if code := os.waitstatus_to_exitcode(ended[1]):
            said.seek(0)
            text = said.read(100_000).decode(errors="replace")
            raise child.FormatError(child._what_happened(code, text, memory, seconds))
        out.seek(0)
        return child._parse(out.read(output + 1))


def motion_targets(folder: Path, recordings: Path | None) -> dict[str, Target]:
    """Motion files, our own and, where there are any, recorded ones."""
    for suffix in (".bvh", ".amc", ".npz", ".glb"):
        write_clip(folder / f"small{suffix}", small_clip(), overwrite=True)

    def seeds(suffix: str, *more: Path) -> list[bytes]:
        most = 40_000 if suffix in (".bvh", ".amc") else None
        return [path.read_bytes()[:most] for path in (folder / f"small{suffix}", *more)]

    bodies, motions, texts, skeletons = [], [folder / "small.amc"], [], [folder / "small.asf"]
    amcs: list[Path] = []
    if recordings is not None:
        bodies = sorted((recordings / "odd_files").glob("*.bvh")) + sorted((recordings / "cmu_bvh").glob("*.bvh"))[:2]
        for subject, trial in (("16", "16_45"), ("60", "60_10")):
            amcs.append(recordings / "cmu" / subject / f"{trial}.amc")
            texts.append(recordings / "cmu" / subject / f"{subject}.asf")
            skeletons.append(texts[-1])
            motions.append(folder / f"{trial}.amc")
            motions[-1].write_bytes(amcs[-1].read_bytes()[:40_000])
    words = m.WORDS
    return {
        "bvh": Target(
            ".bvh",
            seeds(".bvh", *bodies),
            partial(m.mutate_text, words=words["bvh"]),
            lambda p, k: use_clip(read_clip(p)),
            share=2,
        ),
        "amc": Target(
            ".amc",
            seeds(".amc", *amcs),
            partial(m.mutate_text, words=words["amc"]),
            lambda p, k: use_clip(read_clip(p, asf=skeletons[k])),
        ),
        "asf": Target(
            ".asf",
            seeds(".asf", *texts),
            partial(m.mutate_text, words=words["asf"]),
            lambda p, k: use_clip(read_clip(motions[k], asf=p)),
        ),
        "npz": Target(".npz", seeds(".npz"), m.mutate_archive, lambda p, k: use_clip(read_clip(p))),
        "glb": Target(".glb", seeds(".glb"), m.mutate_glb, lambda p, k: use_clip(read_clip(p)), share=2),
        "fbx": fbx_target(),
    }


def fbx_target() -> Target:
    """FBX, binary and as text."""
    from tests.unit.formats import fbx_files as fbx

    places = [(0.0, 95.0, 0.0), (0.0, 70.0, 0.0), (9.0, -90.0, 0.0), (-9.0, -90.0, 0.0)]
    names = ("Hips", "Head", "LeftFoot", "RightFoot")
    joints = [
        {"name": name, "parent": 0 if k else None, "props": {"Lcl Translation": list(places[k]), "RotationActive": [1]}}
        for k, name in enumerate(names)
    ]
    times = np.arange(12) / 30
    turns = {(k, "Lcl Rotation", "X"): {"t": times, "v": 9 * k + 30 * times, "flags": [0x108]} for k in range(4)}
    records = fbx.scene(joints, [{"name": "a", "curves": turns}], {"UpAxis": [1], "UnitScaleFactor": [1.0]})
    words = [b"KeyTime:", b"*3 { a: 1,2,3 }", b'C: "OO",1000,1001', b"}", b"{", b"Properties70:", b'"Lcl Rotation"']
    seeds = [fbx.binary(records), fbx.binary(records, 7500, zipped=False), fbx.text(records)]

    def change(data: bytes, rng: np.random.Generator) -> bytes:
        return m.mutate_text(data, rng, words) if data.startswith(b";") else m.mutate_bytes(data, rng)

    return Target(".fbx", seeds, change, lambda p, k: use_clip(read_clip(p)), share=2)


def usd_targets(folder: Path) -> dict[str, Target]:
    """USD as text and as binary; none where USD is not installed."""
    try:
        import pxr.UsdSkel  # noqa: F401 - and loaded before the forks
    except ImportError:
        return {}
    write = "import sys; from pathlib import Path; from tests.fuzz.targets import small_clip; from choreograph.formats "
    write += "import write_clip\nfor name in sys.argv[1:]: write_clip(Path(name), small_clip(), overwrite=True)"
    names = [folder / "small.usda", folder / "small.usdc"]
    subprocess.run([sys.executable, "-c", write, *map(str, names)], check=True, cwd=ROOT)
    text, binary = (path.read_bytes() for path in names)
    change = partial(m.mutate_text, words=m.WORDS["usda"])
    return {
        "usda": Target(".usda", [text], change, use_usd, share=0.5),
        "usdc": Target(".usdc", [binary], m.mutate_bytes, use_usd, share=0.5),
    }


CSVS = [b"x,z\n0,0\n1,2\n3,4\n", b"t;x;z\n0;0,5;1\n1;2,5;3\n", b"0 0\n1 2\n3 4\n"]


def other_targets(folder: Path) -> dict[str, Target]:
    """Graphs, requests, paths and trajectories."""
    examples, compat = ROOT / "examples", ROOT / "tests" / "compat"
    paths = [json.dumps(one).encode() for one in (PATH, PATH["points"])]
    drawings = [(examples / "sketch.svg").read_bytes(), SVG]
    table, drawn = (partial(m.mutate_text, words=m.WORDS[kind]) for kind in ("csv", "svg"))
    graphs = [path.read_bytes() for path in sorted(compat.glob("*.mog"))]
    made = {
        "path-json": Target(".json", paths, m.mutate_json, use_path),
        "path-csv": Target(".csv", CSVS, table, use_path),
        "path-svg": Target(".svg", drawings, drawn, use_path),
        "trajectory": Target(".csv", [(examples / "hand.csv").read_bytes()], table, use_trajectory),
        "solve-example": Target(
            ".yaml", [(examples / "request.yaml").read_bytes()], m.mutate_yaml, partial(use_request, "solve")
        ),
    }
    others = {**listed(folder, small_clip()), **own_listed()}
    for name, (suffix, seeds, change, read) in others.items():
        made[name] = Target(suffix, seeds, change, read, share=0.5)
    for target in made.values():
        target.growth = 200  # a point of four bytes becomes objects
    database = partial(m.mutate_database, folder=folder)
    return {"mog": Target(".mog", graphs, database, use_graph, share=2), **made}


SVG = b"""<svg xmlns="http://www.w3.org/2000/svg" width="40cm" height="30cm" viewBox="0 0 400 300">
<g transform="translate(10 20) rotate(15) scale(1 2)"><path id="kerb" d="M10,80 C 40,10 65,10 95,80 S 150,150 180,80
Q 5 6 7 8 T 9 9 A 25 15 30 0 1 200 100 h 5 v -3 z"/><polyline points="0,0 5,5 10 0"/><circle cx="5" cy="5" r="3"/>
<rect x="1" y="2" width="3" height="4" rx="1"/><ellipse rx="3" ry="2"/></g></svg>"""


def find_targets(folder: Path) -> dict[str, Target]:
    """All readers, by name; the files that they need are in the folder."""
    told = os.environ.get("CHOREOGRAPH_DATA")
    recordings = Path(told) if told else None
    return {**motion_targets(folder, recordings), **usd_targets(folder), **other_targets(folder)}
