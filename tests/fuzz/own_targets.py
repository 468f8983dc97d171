"""What Choreograph writes itself and reads again (roles, kept searches, projects), and what is typed or said to it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.fuzz import mutate as m
from tests.fuzz.more_targets import REQUESTS, Read

ROLES = {"left_foot": "LeftFoot", "right_foot": "RightFoot", "head": "", "hips": "Hips"}
REPORT = {"request": {"length_s": 4.0, "seed": 3}, "answers": [{"files": ["answer_1.bvh"]}, {"files": []}]}
STATE = {
    "format": 2, "motion": "m", "primitives": [0, 1], "places": [[0, 0, 0], [0, 0, 1]], "end": [0, 0, 2],
    "cost": 1.0, "bound": 0.5, "whole": False,
}  # fmt: skip
PATH = {"points": [[0, 0], [1, 2]], "smooth_m": 0.3}
DOCUMENT = {
    "name": "a", "clips": [], "graph": {"rate_hz": 30.0, "goal": 0.9}, "requests": {"follow": PATH},
    "subjects": {"bend": "clip:c1"}, "kept": ["r1"], "names": {"r1": "best"},
}  # fmt: skip
PROJECT = {
    "format": 2, "version": 3, "document": DOCUMENT, "view": {"verb": "follow", "shown": ["clip:c1"]},
    "files": {"walk.bvh": [100, 5, "c1"]}, "undo": [["Draw", json.dumps(DOCUMENT)]], "redo": [],
}  # fmt: skip
QUERIES = [
    b'person:16 (walk or "turn left") not clip:16_* and label:veer?',
    b"folder:cmu/16 not (stop or [jh]*) 16_17",
    "person:\u00b2\u00b2 not \u0663 or w\u00e4lk*".encode(),
]
WORDS = [b"and", b"or", b"not", b"(", b")", b'"', b"person:", b"label:", b"clip:", b"folder:", b"*", b"?", b"[",
         b"[!a-z]", "\u00b2".encode(), "\u0663".encode(), b"16"]  # fmt: skip
SAID: list[dict[str, Any]] = [
    {"type": "ask", "verb": "follow", "number": 1, "ask": PATH, "subject": "clip:c1", "passing": True},
    {"type": "moved", "number": 1, "begin": {"smooth_s": 0.1}, "lag_s": 1.5, "samples": [[0, 0, 0], [1, 0, 1.2]]},
    {
        "type": "drag",
        "number": 2,
        "ask": REQUESTS["complete"],
        "pull": {"pose": 0, "joint": "a", "position": [0, 1, 2]},
    },
    {"type": "play", "motion": "result:r1/0", "rate_hz": 60, "start": 3, "loop": True},
]


def use_roles(path: Path, _: int) -> None:
    from tests.fuzz.targets import small_clip

    from choreograph.formats.character_roles import read_roles, roles_file, single_roles, with_named_roles

    beside = path.with_name("hero.glb")
    shutil.copy(path, roles_file(beside))
    single_roles(with_named_roles(small_clip().skeleton, read_roles(beside)))


def use_report(path: Path, _: int) -> None:
    """answers.json of a folder that is written to again, and gone on from."""
    from choreograph.verbs import writing

    folder = path.parent / "answers"
    folder.mkdir(exist_ok=True)
    shutil.copy(path, folder / writing.REPORT)
    (folder / writing.STATE).write_text("{}1")
    writing._named_files(folder)
    (folder / writing.STATE).write_text('{"format": 2, "a": 1}')
    state = writing.read_state(folder)
    assert state is not None and isinstance(state[1], dict)


def use_state(path: Path, _: int) -> None:
    """search.json of a plan that is gone on with."""
    from types import SimpleNamespace

    from choreograph.cli.verb import _resume
    from choreograph.verbs.plan.request import PlanRequest
    from choreograph.verbs.plan.search import PlanSearch
    from choreograph.verbs.writing import STATE, read_state

    folder = path.parent / "search"
    folder.mkdir(exist_ok=True)
    shutil.copy(path, folder / STATE)
    search = PlanSearch.__new__(PlanSearch)
    request = PlanRequest(goals=[{"place": [0, 2]}])
    search.request, search.graph = request, SimpleNamespace(fingerprint=SimpleNamespace(motion="m"))  # type: ignore
    search._plans = SimpleNamespace(every=range(9), kept=range(5))  # type: ignore[assignment]
    if (state := read_state(folder)) is not None:
        _resume(search, request, None, state[0], folder)


def use_project(path: Path, _: int) -> None:
    from choreograph.studio.project import Project
    from choreograph.studio.project_paths import find_places

    folder = path.parent / "project"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    places = find_places(folder)
    shutil.copy(path, places.project)
    project = Project(places)
    project.save()
    json.loads(places.project.read_text())


def use_query(path: Path, _: int) -> None:
    from choreograph.motion.clip import Label
    from choreograph.motion.query import ClipText, parse_query

    asked = parse_query(path.read_text("utf-8", errors="replace"))
    for name, folder in (("16_17", "cmu/16"), ("walk", ""), ("\u00b2", "\u0663")):
        clip = ClipText(name, folder, (Label("walk, veer left", 0, 60), Label("stop", 50, 100)), frames=100)
        assert all(0 <= start < stop <= 100 for start, stop in asked.frame_ranges(clip))
        asked.unmatched([clip])


def use_said(path: Path, _: int) -> None:
    """What a page says over the socket, as far as it is looked at before it is done."""
    from pydantic import ValidationError

    from choreograph.base.errors import RequestError
    from choreograph.studio import messages
    from choreograph.studio.live import _first_fault
    from choreograph.studio.requests import check_drafts

    try:
        said = messages.TO_SERVER.validate_json(path.read_bytes())
    except ValidationError as error:
        raise RequestError(_first_fault(error)) from None
    if said.type in ("ask", "drag"):
        check_drafts({said.verb if said.type == "ask" else "complete": said.ask}, {})


def listed() -> Mapping[str, tuple[str, list[bytes], Any, Read]]:
    """Suffix, whole files, how they are broken and how they are read, by name."""

    def as_json(*values: Any) -> list[bytes]:
        return [json.dumps(value).encode() for value in values]

    return {
        "roles": (".json", as_json(ROLES), m.mutate_json, use_roles),
        "report": (".json", as_json(REPORT), m.mutate_json, use_report),
        "plan-state": (".json", as_json(STATE), m.mutate_json, use_state),
        "project": (".json", as_json(PROJECT), m.mutate_json, use_project),
        "query": (".txt", QUERIES, lambda data, rng: m.mutate_text(data, rng, WORDS), use_query),
        "page": (".json", as_json(*SAID), m.mutate_json, use_said),
    }
