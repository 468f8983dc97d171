"""Faces in the studio's worker: what there is, completing, and files that are no faces."""

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
from choreograph.studio.project_paths import find_places
from choreograph.studio.tasks import faces

NOBODY: Any = None


@pytest.fixture
def context(tmp_path: Path) -> WorkerContext:
    return WorkerContext(find_places(tmp_path))


def test_without_a_recording_there_is_the_demo_face(context: WorkerContext) -> None:
    assert [one.name for one in faces.listed(context, None, NOBODY)] == ["demo_face"]
    surface = faces.surface(context, None, NOBODY)
    assert surface.landmarks and len(base64.b64decode(surface.vertices)) == 68 * 3 * 4
    assert faces.weights(context, "demo_face", NOBODY).frames == 1200


@pytest.mark.slow
def test_recordings_and_heads_are_kept_and_completed_with(context: WorkerContext, tmp_path: Path) -> None:
    made = demo_face(10.0)
    write_face(tmp_path / "talk.csv", made)
    write_face_glb(tmp_path / "sent.glb", made, simple_head())
    found = faces.received(context, ("own.glb", (tmp_path / "sent.glb").read_bytes()), NOBODY)
    assert {one.name: one.head for one in found} == {"own.glb": True, "talk.csv": False, "sent.glb": True}
    ask = {
        "length_s": 1.0,
        "keys": [{"at_s": 0, "clip": "talk", "frame": 30}, {"at_s": 1, "weights": {"JawOpen": 0.6}}],
    }
    answer = faces.completed(context, ask, NOBODY)
    rows = np.frombuffer(base64.b64decode(answer.face.weights), "<f4").reshape(answer.face.frames, -1)
    assert not answer.problems and rows[-1, answer.face.shapes.index("JawOpen")] == pytest.approx(0.6, abs=0.02)
    assert faces.written(context, {"request": ask, "kind": "csv", "head": None}, NOBODY).startswith(b"Timecode")
    assert faces.written(context, {"request": ask, "kind": "glb", "head": "own.glb"}, NOBODY).startswith(b"glTF")


@pytest.mark.parametrize(("name", "data"), [("bad.csv", b"hello,1\n2,3\n"), ("bad.glb", b"glTF")])
def test_files_that_are_no_faces_are_refused(context: WorkerContext, name: str, data: bytes) -> None:
    with pytest.raises(RequestError, match=f"^{name}"):
        faces.received(context, (name, data), NOBODY)
    assert [one.name for one in faces.listed(context, None, NOBODY)] == ["demo_face"]
