"""Faces in the studio's worker: what there is, completing as any verb, and files that are no faces."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from choreograph.base.errors import RequestError
from choreograph.formats.face import write_face
from choreograph.formats.face_glb import write_face_glb
from choreograph.motion.demo_face import demo_face
from choreograph.motion.head import simple_head
from choreograph.studio.context import WorkerContext
from choreograph.studio.facts import Result
from choreograph.studio.project_paths import find_places
from choreograph.studio.subjects import VerbAsk, VerbSubject
from choreograph.studio.tasks import faces
from choreograph.studio.tasks.answer import answer
from choreograph.studio.tasks.output import output
from choreograph.studio.tasks.thumbnail import thumbnail


class Channel:
    keeps = False

    def progress(self, stage: str, done: float, total: float) -> None: ...

    def found(self, what: object, frames: bytes = b"") -> None: ...


NOBODY: Any = Channel()


@pytest.fixture
def context(tmp_path: Path) -> WorkerContext:
    places = find_places(tmp_path)
    for folder in (places.keep / "results", places.keep / "examples"):
        folder.mkdir(parents=True, exist_ok=True)
    return WorkerContext(places)


def ask(draft: dict[str, Any]) -> VerbAsk:
    return VerbAsk("face", draft, VerbSubject("faces"))


def complete(context: WorkerContext, draft: dict[str, Any]) -> tuple[Result, np.ndarray]:
    (result,) = answer(context, ask(draft), NOBODY)
    data = context.places.result(result.id, ".f32").read_bytes()
    return result, np.frombuffer(data, "<f4").reshape(result.motions[0].frames, -1)


def test_without_a_recording_there_is_the_demo_face(context: WorkerContext) -> None:
    (one,) = faces.listed(context, None, NOBODY)
    assert (one.name, one.clip, one.file, one.frames) == ("demo_face", "demo_face", "", 1200)
    surface = faces.surface(context, None, NOBODY)
    assert surface.landmarks and len(base64.b64decode(surface.vertices)) == 68 * 3 * 4
    result, rows = complete(context, {"duration_s": 0.5, "goals": [{"at_s": 0.0, "shapes": {"JawOpen": 0.5}}]})
    assert len(rows) == 16 and result.details["learned_from"] == ["demo_face"]


@pytest.mark.slow
def test_recordings_and_heads_are_kept_and_completed_with(context: WorkerContext, tmp_path: Path) -> None:
    made = demo_face(10.0)
    write_face(tmp_path / "talk.csv", made)
    write_face_glb(tmp_path / "sent.glb", made, simple_head())
    found = faces.received(context, ("own.glb", (tmp_path / "sent.glb").read_bytes()), NOBODY)
    assert {one.name: one.head for one in found} == {"own.glb": True, "talk.csv": False, "sent.glb": True}
    head = next(one.file for one in found if one.name == "own.glb")
    draft = {
        "duration_s": 1.0,
        "goals": [{"at_s": 0, "pose": {"clip": "talk", "frame": 30}}, {"at_s": 1, "shapes": {"JawOpen": 0.6}}],
        "head": head,
    }
    result, rows = complete(context, draft)
    motion = result.motions[0]
    assert not result.problems and motion.skeleton == "face"
    assert rows[-1, motion.joints.index("JawOpen")] == pytest.approx(0.6, abs=0.02)
    assert "choreograph face" in result.command and "cg.write_face" in result.python
    for suffix, begin in ((".csv", b"Timecode"), (".glb", b"glTF")):
        how = {"asked": ask(draft), "answer": 1, "output": "face", "folder": tmp_path / "out", "file": f"face{suffix}"}
        output(context, how, NOBODY)
        assert (tmp_path / "out" / f"face{suffix}").read_bytes().startswith(begin)
    thumbnail(context, (result.id, tmp_path / "small.png", "dark", None), NOBODY)
    assert (tmp_path / "small.png").read_bytes()[:4] == b"\x89PNG"


def test_a_model_is_learned_once_for_the_same_faces(context: WorkerContext, monkeypatch: pytest.MonkeyPatch) -> None:
    from choreograph.verbs.face import search

    learned: list[object] = []
    learn = search.learn_face
    monkeypatch.setattr(search, "learn_face", lambda *given, **how: learned.append(given) or learn(*given, **how))
    for weight in (0.3, 0.5):
        complete(context, {"duration_s": 0.5, "goals": [{"at_s": 0.0, "shapes": {"JawOpen": weight}}]})
    assert len(learned) == 1


@pytest.mark.parametrize(("name", "data"), [("bad.csv", b"hello,1\n2,3\n"), ("bad.glb", b"glTF")])
def test_files_that_are_no_faces_are_refused(context: WorkerContext, name: str, data: bytes) -> None:
    with pytest.raises(RequestError, match=f"^{name}"):
        faces.received(context, (name, data), NOBODY)
    assert [one.name for one in faces.listed(context, None, NOBODY)] == ["demo_face"]
