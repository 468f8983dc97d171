"""Faces in the studio: which there are, and heads to show them on."""

from __future__ import annotations

import base64
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from choreograph.base.errors import ChoreographError, RequestError
from choreograph.motion.head import simple_head
from choreograph.studio.context import WorkerContext
from choreograph.studio.face_facts import FaceFacts, FaceSurface, StillPart
from choreograph.studio.project_faces import (
    face_files,
    face_in,
    find_face_file,
    find_faces,
    has_head,
    read_face_file,
)
from choreograph.studio.worker import TaskChannel


def listed(context: WorkerContext, ask: None, channel: TaskChannel) -> list[FaceFacts]:
    """The faces and heads of the project, and the demo face where there is no recording."""
    files, faces = face_files(context.places), []
    own = {name: face_in(path) for name, path in files.items()}
    for name, face in {**own, **find_faces(context.places)}.items():
        head = name in files and has_head(files[name])
        if face is None and not head:
            continue
        facts = FaceFacts(name=name, frames=0, fps=30.0, shapes=0, head=head)
        if face is not None:
            notes = [str(note) for note in face.notes]
            recorded = {"clip": face.name, "frames": len(face), "fps": face.fps, "shapes": len(face.names)}
            facts = facts.model_copy(update={**recorded, "notes": notes})
        if name in files:
            facts = facts.model_copy(update={"file": str(files[name].relative_to(context.places.folder))})
        faces.append(facts)
    return faces


def received(context: WorkerContext, ask: tuple[str, bytes], channel: TaskChannel) -> list[FaceFacts]:
    """Keep a file that was sent, if it is a face or a head."""
    name, data = ask
    folder = context.places.keep / "faces"
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as temporary:
        tried = Path(temporary) / name
        tried.write_bytes(data)
        try:
            read_face_file(tried)
        except ChoreographError as error:
            if not has_head(tried):
                raise RequestError(str(error).replace(f"{temporary}/", "")) from None
        tried.replace(folder / name)
    return listed(context, None, channel)


def surface(context: WorkerContext, ask: str | None, channel: TaskChannel) -> FaceSurface:
    """A head to show faces on, by the name of its file; the simple one if none is named."""
    from choreograph.formats.face_glb import front_triangles
    from choreograph.formats.head_glb import read_head

    if ask is None:
        shapes, triangles, still = simple_head(), front_triangles(simple_head().neutral), []
    else:
        head = read_head(find_face_file(context.places, ask))
        shapes, triangles = head.shapes, head.triangles
        still = [StillPart(vertices=_packed(points), triangles=_packed(parts, "<u4")) for points, parts in head.still]
    return FaceSurface(
        shapes=list(shapes.names),
        vertices=_packed(shapes.neutral),
        triangles=_packed(triangles, "<u4"),
        moves=_packed(shapes.moves),
        still=still,
        landmarks=ask is None,
    )


def _packed(values: NDArray[Any], kind: str = "<f4") -> str:
    return base64.b64encode(np.ascontiguousarray(values, kind).tobytes()).decode()
