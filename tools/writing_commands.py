"""Commands that write, for kill_writers.py: how each is called, what it replaces, and how to tell a whole file."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from choreograph.motion.clip import Clip


@dataclass
class Command:
    """A command that writes."""

    name: str
    words: list[str]
    """Its arguments; `{}` stands for the folder."""
    writes: tuple[str, ...]
    """Files that it writes, which were there before; a folder stands for the files in it."""
    apart: bool = False
    """Whether it runs in a process of its own from the beginning, because what it loads cannot be forked."""
    seconds: float = 0.0
    """How long it takes, measured."""


COMMANDS = [
    Command("build", ["build", "{}/clips", "-o", "{}/g.mog", "--force"], ("g.mog",)),
    Command("add", ["add", "{}/g.mog", "{}/more"], ("g.mog",)),
    Command("remove", ["remove", "{}/g.mog", "walk"], ("g.mog",)),
    Command("segment", ["segment", "{}/clips", "-o", "{}/s.mog", "--force"], ("s.mog",)),
    Command(
        "follow",
        ["follow", "{}/g.mog", "-p", "line:length=3", "-o", "{}/a.bvh", "--result", "{}/a.json", "--force"],
        ("a.bvh", "a.json"),
    ),
    Command("solve", ["solve", "{}/g.mog", "{}/ask.yaml", "-o", "{}/a.glb", "--count", "1", "--force"], ("a.glb",)),
    Command("bend", ["bend", "{}/clips/walk.npz", "-p", "circle:radius=3", "-o", "{}/a.bvh", "--force"], ("a.bvh",)),
    Command("loop", ["loop", "{}/clips/walk.npz", "-o", "{}/a.bvh", "--force"], ("a.bvh",)),
    Command("perform", ["perform", "{}/s.mog", "--trajectory", "{}/way.csv", "-o", "{}/a.npz", "--force"], ("a.npz",)),
    Command("convert-glb", ["convert", "{}/clips/walk.npz", "-o", "{}/a.glb", "--force"], ("a.glb",)),
    Command("convert-usd", ["convert", "{}/clips/walk.npz", "-o", "{}/a.usdc", "--force"], ("a.usdc",), apart=True),
    Command("convert-many", ["convert", "{}/clips", "-o", "{}/out", "--to", "bvh", "--force"], ("out",)),
    Command("render", ["render", "{}/clips/walk.npz", "-o", "{}/a.png", "--size", "200", "--force"], ("a.png",)),
    Command("render-gif", ["render", "{}/clips/walk.npz", "-o", "{}/a.gif", "--size", "80", "--force"], ("a.gif",)),
    Command("demo", ["demo", "{}/demo", "--formats", "bvh,npz", "--fps", "10", "--force"], ("demo",)),
    Command("complete", ["complete", "{}/clips", "{}/keys.yaml", "-o", "{}/a.bvh", "--learned", "{}/a.model",
                         "--force"], ("a.bvh", "a.model")),
    Command("learn", ["learn", "{}/clips", "-o", "{}/a.model", "--force"], ("a.model",)),
    Command("face", ["face", "{}/face.csv", "-o", "{}/head.glb", "--force"], ("head.glb",)),
    Command("face-csv", ["face", "{}/head.glb", "-o", "{}/face.csv", "--force"], ("face.csv",)),
    Command("plan", ["plan", "{}/g.mog", "{}/scene.yaml", "-o", "{}/a.bvh", "--evaluations", "500", "--force"],
            ("a.bvh",), apart=True),
    Command("steer", ["steer", "{}/g.mog", "-p", "line:length=3", "--seconds", "2", "-o", "{}/a.bvh", "--force"],
            ("a.bvh",)),
    Command("physics", ["physics", "{}/hop.npz", "--farther", "0.1", "--iterations", "5", "-o", "{}/a.bvh", "--force"],
            ("a.bvh",)),
    Command("retarget", ["retarget", "{}/clips/walk.npz", "--to", "{}/a.glb", "-o", "{}/hero.glb", "--map", "{}/a.json",
                         "--force"], ("hero.glb", "a.json")),
    Command("dynamics", ["dynamics", "{}/clips/walk.npz", "--table", "{}/a.csv", "--model", "{}/body.urdf", "--result",
                         "{}/a.json", "--force"], ("a.csv", "body.urdf", "a.json")),
    Command("retime", ["retime", "{}/clips/walk.npz", "-s", "3", "-o", "{}/a.bvh", "--force"], ("a.bvh",)),
    Command("plot", ["plot", "{}/clips/walk.npz", "-o", "{}/a.png", "--force"], ("a.png",)),
    Command("clean", ["clean", "{}/clips/walk.npz", "-o", "{}/a.npz", "--force"], ("a.npz",)),
    Command("layer", ["layer", "{}/clips/walk.npz", "--upper", "{}/clips/walk_veer_left.npz", "-o", "{}/a.bvh",
                      "--force"], ("a.bvh",)),
    Command("solve-folder", ["solve", "{}/g.mog", "{}/ask.yaml", "-o", "{}/answers", "--count", "2", "--force"],
            ("answers",)),
    Command("convert-takes", ["convert", "{}/clips/walk.npz", "{}/clips/walk_veer_left.npz", "-o", "{}/a.glb",
                              "--takes", "--force"], ("a.glb",)),
    Command("convert-amc", ["convert", "{}/clips/walk.npz", "-o", "{}/a.amc", "--force"], ("a.amc", "a.asf")),
    Command("render-mp4", ["render", "{}/clips/walk.npz", "-o", "{}/a.mp4", "--size", "160x90", "--force"], ("a.mp4",)),
    Command("face-keys", ["face", "{}/head.glb", "--request", "{}/face.yaml", "-o", "{}/face.csv", "--force"],
            ("face.csv",)),
    Command("find", ["find", "{}/g.mog", "--speed", "0.5..", "--picture", "{}/a.png", "--force"], ("a.png",)),
]  # fmt: skip
"""`fetch`, which needs the network, has its own tests of interrupted downloads."""


def prepare(folder: Path) -> None:
    """Files that commands read, and those that they are going to replace."""
    from choreograph.build.graph import build_graph
    from choreograph.demo import demo_clip
    from choreograph.formats import write_clip
    from choreograph.graph.store import save_graph

    for place, names in (("clips", ("walk", "walk_veer_left", "walk_veer_right")), ("more", ("walk_turn_90_left",))):
        for name in names:
            write_clip(folder / place / f"{name}.npz", demo_clip(name, 15.0))
    walk = demo_clip("walk", 15.0)
    save_graph(
        build_graph([demo_clip(n, 15.0) for n in ("walk", "walk_veer_left", "walk_veer_right")]), folder / "g.mog"
    )
    shutil.copy(folder / "g.mog", folder / "s.mog")
    for name in (
        "a.bvh",
        "a.glb",
        "a.npz",
        "a.amc",
        "a.usdc",
        "out/walk.bvh",
        "demo/npz/walk.npz",
        "demo/bvh/walk.bvh",
    ):
        write_clip(folder / name, walk[:20])
    write_clip(folder / "hop.npz", demo_clip("jump_high", 20.0))
    write_clip(folder / "hero.glb", walk[:20])
    _prepare_others(folder, walk)
    (folder / "a.json").write_text("{}")
    for name in ("a.png", "a.gif", "demo/demo.png"):
        from PIL import Image

        Image.new("RGB", (40, 30)).save(folder / name)
    ask = "length_s: 3\nbody:\n  - {at_s: 0, position: [0, 0], facing_deg: 0}\n  - {at_s: 3, position: [0, 2]}\n"
    (folder / "ask.yaml").write_text(ask)
    rows = "\n".join(f"{k / 10},0,{k * 0.12}" for k in range(40))
    (folder / "way.csv").write_text(f"t,x,z\n{rows}\n")


def _prepare_others(folder: Path, walk: Clip) -> None:
    """Requests, faces, a model, a table and a body."""
    import numpy as np

    from choreograph.formats.face import write_face
    from choreograph.formats.face_glb import write_face_glb
    from choreograph.motion.face import Face
    from choreograph.motion.head import simple_head
    from choreograph.verbs.complete.model import learn
    from choreograph.verbs.complete.store import save_model

    face = Face(("JawOpen", "BrowInnerUp"), np.linspace(0, 1, 120).reshape(60, 2), 30.0)
    write_face(folder / "face.csv", face)
    write_face_glb(folder / "head.glb", face, simple_head())
    save_model(folder / "a.model", learn([walk]))
    (folder / "a.csv").write_text("frame,seconds\n0,0\n")
    (folder / "body.urdf").write_text("<robot/>")
    (folder / "face.yaml").write_text("length_s: 1\nkeys: [{at_s: 0, weights: {JawOpen: 0.1}}]\n")
    (folder / "answers").mkdir()
    (folder / "a.mp4").write_bytes(b"\0\0\0\x08moov")
    goals = "[{at_s: 0, pose: {clip: walk}}, {at_s: 1, pose: {clip: walk, frame: 15}}]"
    (folder / "keys.yaml").write_text(f"duration_s: 1\ngoals: {goals}\n")
    solid = "{circle: {centre: [0.8, 1.2], radius: 0.2}}"
    (folder / "scene.yaml").write_text(f"goal: {{position: [0, 2.5]}}\nobstacles: [{solid}]\n")


def is_whole(path: Path) -> bool:
    """Whether a file can be read from its beginning to its end."""
    try:
        if path.suffix == ".mog":
            from choreograph.graph.store import open_graph
            from choreograph.graph.tables import TABLES

            graph = open_graph(path)
            for part in TABLES:
                getattr(graph, part)
            return all(len(clip) > 0 for clip in graph.clips)
        if path.suffix == ".json":
            return isinstance(json.loads(path.read_text("utf-8")), dict | list)
        if path.suffix in (".csv", ".urdf", ".model"):
            return _is_whole_table(path)
        if path.suffix == ".mp4":
            return _is_whole_film(path.read_bytes())
        if path.name == "head.glb":
            from choreograph.formats.face_glb import read_face_glb

            return len(read_face_glb(path)) > 0
        if path.suffix in (".png", ".gif"):
            from PIL import Image

            with Image.open(path) as image:
                image.seek(getattr(image, "n_frames", 1) - 1)
                image.load()
            return True
        from choreograph.formats import read_clip

        return len(read_clip(path)) > 0
    except Exception:
        return False


def _is_whole_film(data: bytes) -> bool:
    """Whether boxes follow each other to the end of a film, its index among them."""
    at, names = 0, []
    while at + 8 <= len(data):
        size = int.from_bytes(data[at : at + 4], "big")
        if size < 8:
            return False
        names.append(data[at + 4 : at + 8])
        at += size
    return at == len(data) and b"moov" in names


def _is_whole_table(path: Path) -> bool:
    if path.suffix == ".urdf":
        from xml.etree import ElementTree

        return bool(ElementTree.fromstring(path.read_text("utf-8")).tag == "robot")
    if path.suffix == ".model":
        from choreograph.verbs.complete.store import open_model

        return open_model(path).dimensions > 0
    if path.name == "face.csv":
        from choreograph.formats.face import read_face

        return len(read_face(path)) > 0
    rows = path.read_text("utf-8").split("\n")
    return rows[-1] == "" and len({row.count(",") for row in rows[:-1]}) == 1
