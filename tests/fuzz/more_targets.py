"""Requests of every verb, and the files that requests name: scenes, scripts, obstacles, tracks, faces, models."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from tests.fuzz import mutate as m

Read = Callable[[Path, int], Any]

PATH = {
    **{"points": [[0, 0], [1, 2.5], [3, 4], [5, 1]], "name": "a", "unit": "cm", "closed": True, "smooth": 0.2},
    "stretches": [{"start": 0, "stop": 2, "speed": 1.5, "label": "walk", "pause": 0.5}],
}
PLACES = [[0.0, 0.0], [1.0, 2.5], [3.0, 4.0]]
REQUESTS: dict[str, dict[str, Any]] = {
    "follow": {
        **{"path": "eight:radius=2", "count": 2, "seed": 3, "smooth_m": 0.3},
        "goals": [{"start_m": 0, "end_m": 2, "speed_m_s": 1.2}],
    },
    "solve": {
        **{"duration_s": 4.0, "count": 2, "time_limit_s": 1.0, "seed": 3},
        "goals": [{"at_s": 0, "place": [0, 0], "facing_deg": 0}, {"at_s": 3, "place": [0, 2]}],
        "scene": {"obstacles": [{"centre": [3, 2], "radius_m": 0.3, "clearance_m": 0.1, "of": "hips"}]},
    },
    "plan": {
        "start": {"place": [0, 0], "facing_deg": 10},
        "goals": [
            {"place": [0.2, 2], "tolerance_m": 0.5},
            {"place": [0, 4], "tolerance_m": 0.3, "facing_deg": 90, "tolerance_deg": 20},
        ],
        "scene": {
            "obstacles": [
                {"centre": [0, 2], "radius_m": 0.3, "height_m": 1.1, "clearance_m": 0.1},
                {"ends": [[-1, 3], [1, 3]], "base_m": 1.4},
            ],
            "gaps": [{"low": [-1, 1], "high": [1, 1.4]}],
            "stones": [{"centre": [0, 1.2], "radius_m": 0.2}],
            "keep_off": [{"corners": PLACES}],
            "step_over": [{"low": [-1, 3.4], "high": [1, 3.5], "height_m": 0.2}],
        },
        "path": {"points": PLACES, "tolerance_m": 0.8},
        "advanced": {"lattice_m": 0.2, "margin_m": 0.03},
    },
    "perform": {"samples": [[0, 0, 0], [1, 0, 1.2], [2, 0.4, 2.1]], "smooth_s": 0.1, "cut_at": "plants"},
    "steer": {
        "goals": [{"place": [0, 0], "heading_deg": 30}, {"label": "walk"}, {"at_s": 2, "points": PLACES}],
        "scene": {"obstacles": [{"centre": [0, 3], "radius_m": 0.6, "moves": [{"at_s": 1, "velocity": [0, -1]}]}]},
        **{"duration_s": 4.0, "start": {"place": [0, 0]}, "advanced": {"discount_s": 3.0}},
    },
    "complete": {
        "duration_s": 2.0,
        "goals": [
            {"at_s": 0, "pose": {"clip": "walk", "frame": 0}},
            {"at_s": 2, "place": [0, 1], "facing_deg": 20},
            {"joint": "left_hand", "start_s": 0.5, "end_s": 1, "track": "track.csv"},
            {"label": "walk", "start_s": 0, "end_s": 1},
        ],
        "advanced": {"model": {"order": 2}, "knots_s": 0.2},
    },
    "retime": {"duration_s": 1.2, "keys": {"10": 0.5, "20": 0.9}, "spline_share": 0.25, "finish": {"rate_hz": 30}},
    "bend": {"path": "circle:radius=3", "max_stretch": 0.2},
    "physics": {
        **{"farther_m": 0.3, "higher_m": 0.1, "turn_deg": 30, "start_s": 0.2, "end_s": 1.5, "nearest": 3},
        "goals": [
            {"at_s": 0.5, "pose": {"file": "walk.bvh", "frame": 3}},
            {"foot": "left", "start_s": 0, "end_s": 0.4, "position": [0.1, 0, 0.2], "facing_deg": 5},
        ],
        "advanced": {"weights": {"torque": 1.0}, "limits": {"friction": 0.8}},
    },
    "face": {
        "duration_s": 2,
        "goals": [
            {"at_s": 0, "pose": {"clip": "face", "frame": 3}},
            {"at_s": 2, "shapes": {"JawOpen": 0.6}},
            {"at_s": 1, "landmark": 8, "position_mm": [None, -85, None]},
        ],
    },
    "retarget": {"to": "hero.glb", "roles": {"left_foot": "L"}, "clean": True},
    "dynamics": {"cutoff_hz": 8.0, "friction": 0.8, "body": {"height_m": 1.7, "mass_kg": 60}},
    "loop": {"min_s": 0.5, "max_s": 2.0, "cycles": 3},
    "layer": {"upper": "wave.bvh", "weight": 0.5, "joints": {"head": 0.2}, "fade_s": 0.4, "start_s": 0.5, "speed": 2.0},
}
"""A request of each verb, with as much in it as there is room for."""

GOAL = {"type": "goal", "character": 0, "x": 1.0, "z": 2.0, "heading_deg": 30, "speed": 1.2, "points": PLACES}
MESSAGES: list[dict[str, Any]] = [
    {**GOAL, "gait": "walk", "torso_deg": 5, "spin_deg_s": 3},
    {"type": "obstacles", "obstacles": [{"x": 0, "z": 2, "radius": 0.5, "vx": 0.1, "vz": 0}]},
    *({"type": kind, "character": 0, "x": 1, "z": 2, "on": True} for kind in ("add", "record", "plan", "restart")),
]
SCRIPT = b"t,x,z,heading_deg,speed,gait\n0,0,0,0,1.2,walk\n2,1,1,90,,\n4,,,180,2,run\n"
OBSTACLES = b"t,id,x,z,radius\n0,a,0,3,0.5\n1,a,0.5,3,0.5\n0,b,2,2,0.4\n"
TRACK = b"seconds,x,y,z\n0,0,1,0\n0.2,0.1,1,\n0.5,0.2,1.1,0.3\n"
FACES = [
    b"Timecode,BlendShapeCount,JawOpen,MouthSmileLeft,HeadYaw\n00:00:01:00.0,3,0.1,0.2,0.3\n00:00:01:02.0,3,0.2,0.2,0.1\n"
    b"00:00:01:04.0,3,0.4,0.1,0.1\n",
    b"frame,JawOpen\n0,0.1\n1,0.2\n",
]
SHAPES = b"shape,landmark,x_mm,y_mm,z_mm\nneutral,0,0,0,0\nneutral,1,5,0,0\nJawOpen,0,0,-20,0\nJawOpen,1,0,-2,0\n"
MARKERS = b"frame,seconds,A.x,A.y,A.z,B.x,B.y,B.z\n0,0,0,0,0,1,1,1\n1,0.033,0.1,0,0,1,1,1.1\n"
TRIALS = b"trial\tframes\tfps\tdescription\nsmall\t12\t30\twalk\nother\t5\t120\trun, then stand\n"
PLAN = b"""<svg xmlns="http://www.w3.org/2000/svg" xmlns:inkscape="http://www.inkscape.org" width="6m"
viewBox="0 0 600 600">
<g inkscape:label="obstacles"><circle cx="100" cy="200" r="30" data-height="1.2"/><path d="M10 10 L 60 10 60 60 z"/></g>
<g id="bars"><path d="M0 300 H 200" data-height="1.4"/></g><g id="through"><path d="M0 350 H 90"/></g>
<g id="stones"><rect x="1" y="2" width="30" height="40"/></g>
<g id="step_over"><rect width="9" height="9" data-height="0.2"/></g>
<g id="path"><path d="M0 0 C 40 10 65 10 95 80"/></g><g id="start"><path d="M0 0 L 0 10"/></g>
<g id="goal"><circle cx="50" cy="400" r="20" data-facing="90" data-label="sit"/></g></svg>"""


def use_request(name: str, path: Path, _: int) -> None:
    from choreograph.contract.document import read_request_file
    from choreograph.verbs import find_verb

    read_request_file(find_verb(name).request, path).as_document()


def use_script(path: Path, _: int) -> None:
    from choreograph.verbs.steer.moments import read_script

    assert all(np.isfinite(moment.at_s) for moment in read_script(path))


def use_obstacles(path: Path, _: int) -> None:
    from choreograph.scene.obstacle_file import read_tracks
    from choreograph.verbs.steer.goals import obstacle_at

    for track in read_tracks(path).values():
        for t in (0.0, 0.5, 100.0):
            obstacle_at(track, t)


def use_track(path: Path, _: int) -> None:
    from choreograph.goals.inputs import read_track

    assert not np.isinf(read_track(path, 0.5, "goals[0].track")).any()


def use_drawing(path: Path, _: int) -> None:
    from choreograph.verbs.plan.request import PlanRequest

    PlanRequest(scene={"drawing": str(path)}).resolved(path.parent)


def use_face(path: Path, _: int) -> None:
    from choreograph.formats.face import read_face

    assert np.isfinite(read_face(path).weights).all()


def use_shapes(path: Path, _: int) -> None:
    from choreograph.formats.face import read_shapes

    assert np.isfinite(read_shapes(path).neutral).all()


def use_markers(path: Path, _: int) -> None:
    from choreograph.formats.face import read_markers

    assert np.isfinite(read_markers(path).global_positions()).all()


def use_face_glb(path: Path, _: int) -> None:
    from choreograph.formats.face_glb import read_face_glb

    assert np.isfinite(read_face_glb(path).weights).all()


def use_character(path: Path, _: int) -> None:
    from choreograph.formats.character import read_character

    character = read_character(path)
    assert np.isfinite(character.skeleton.rest_positions()).all() and np.isfinite(character.sole_m)


def use_model(path: Path, _: int) -> None:
    from choreograph.verbs.complete.store import open_model, pack

    model = open_model(path)
    json.dumps(dict(pack(model).facts), allow_nan=False)
    assert np.isfinite(model.encoding.skeleton.rest_positions()).all()


def use_trials(path: Path, _: int) -> None:
    from choreograph.formats.trials import TRIALS_FILE, find_trial

    folder = path.parent / "trials"
    folder.mkdir(exist_ok=True)
    path.replace(folder / TRIALS_FILE)
    find_trial(folder / "small.amc")


def use_messages(path: Path, _: int) -> None:
    """What a client says to a character that is steered, as the studio reads it."""
    from choreograph.verbs.steer.stream import SteerStream, read_message

    stream = SteerStream.__new__(SteerStream)
    stream.crowd, stream._recorded, stream._obstacles = _Nobody(), None, {}  # type: ignore[assignment]
    stream._restart = lambda place: None  # type: ignore[method-assign]
    stream.plan = lambda number, poses=False: {}  # type: ignore[method-assign,assignment,misc]
    stream.policy, stream.number, stream.rate_hz = SimpleNamespace(values={}), 0, 60.0  # type: ignore[assignment]
    json.dumps(stream.hear(read_message(path.read_text("utf-8", errors="replace"))), allow_nan=False)


class _Nobody:
    """Characters that take any goal."""

    @property
    def characters(self) -> list[_Nobody]:
        return [self]

    @property
    def goal(self) -> Any:
        from choreograph.verbs.steer.goals import SteerGoal

        return SteerGoal()

    def set_goal(self, goal: Any) -> None:
        if goal.path is not None:
            assert np.isfinite(goal.path.points).all()

    def add(self, x: float, z: float, heading: float) -> None:
        assert np.isfinite([x, z, heading]).all()

    def place_at_cut(self) -> Any:
        return np.zeros(3)


def face_head(folder: Path) -> bytes:
    """A small animated head."""
    from choreograph.formats.face_glb import write_face_glb
    from choreograph.motion.face import Face
    from choreograph.motion.head import simple_head

    write_face_glb(folder / "head.glb", Face(("JawOpen",), [[0.0], [0.4], [1.0]], 30.0), simple_head(), overwrite=True)
    return (folder / "head.glb").read_bytes()


def learned(folder: Path, clip: Any) -> bytes:
    """A small model."""
    from choreograph.verbs.complete.model import learn
    from choreograph.verbs.complete.settings import LearnSettings
    from choreograph.verbs.complete.store import save_model

    settings = LearnSettings(rate_hz=30.0, order=1, controls=2, dimensions=3)
    save_model(folder / "small.model", learn([clip], settings), overwrite=True)
    return (folder / "small.model").read_bytes()


def avatar(character: bytes) -> bytes:
    """The same character as a VRM file describes itself."""
    import struct

    size = struct.unpack_from("<I", character, 12)[0]
    document = json.loads(character[20 : 20 + size])
    bones = [{"bone": name, "node": k} for k, name in enumerate(("hips", "head", "leftFoot", "rightFoot"))]
    document["extensions"] = {
        "VRM": {"humanoid": {"humanBones": bones}},
        "VRMC_vrm": {"humanoid": {"humanBones": {one["bone"]: {"node": one["node"]} for one in bones}}},
    }
    text = json.dumps(document).encode()
    text += b" " * (-len(text) % 4)
    rest = character[20 + size :]
    head = struct.pack("<4sIII4s", b"glTF", 2, 20 + len(text) + len(rest), len(text), b"JSON")
    return head + text + rest


def listed(folder: Path, clip: Any) -> Mapping[str, tuple[str, list[bytes], Any, Read]]:
    """Suffix, whole files, how they are broken and how they are read, by name."""
    body = (folder / "small.glb").read_bytes()
    table, drawn = (partial(m.mutate_text, words=m.WORDS[kind]) for kind in ("csv", "svg"))
    found: dict[str, tuple[str, list[bytes], Any, Read]] = {
        "scene-svg": (".svg", [PLAN], drawn, use_drawing),
        "steer-script": (".csv", [SCRIPT], table, use_script),
        "obstacles": (".csv", [OBSTACLES], table, use_obstacles),
        "track": (".csv", [TRACK], table, use_track),
        "face-csv": (".csv", FACES, table, use_face),
        "face-shapes": (".csv", [SHAPES], table, use_shapes),
        "face-markers": (".csv", [MARKERS], table, use_markers),
        "face-glb": (".glb", [face_head(folder)], m.mutate_glb, use_face_glb),
        "character": (".glb", [body, avatar(body)], m.mutate_glb, use_character),
        "model": (".model", [learned(folder, clip)], m.mutate_archive, use_model),
        "trials": (".tsv", [TRIALS], table, use_trials),
        "messages": (".json", [json.dumps(one).encode() for one in MESSAGES], m.mutate_json, use_messages),
    }
    for n, (verb, request) in enumerate(REQUESTS.items()):
        kind = ("yaml", "json")[n % 2]
        text = m.dump_yaml(request) if kind == "yaml" else json.dumps(request).encode()
        change = m.mutate_yaml if kind == "yaml" else m.mutate_json
        found[f"{verb}-{kind}"] = (f".{kind}", [text], change, partial(use_request, verb))
    return found
