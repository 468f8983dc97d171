"""Faces in the studio: which there are, heads to show them on, completing, files."""

from __future__ import annotations

import base64
import tempfile
import time
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from choreograph.base.errors import ChoreographError, FormatError, RequestError
from choreograph.contract.request import read_request
from choreograph.motion.demo_face import demo_face
from choreograph.motion.face import Face
from choreograph.motion.head import simple_head
from choreograph.studio.context import WorkerContext
from choreograph.studio.face_facts import FaceAnswer, FaceFacts, FaceProblem, FaceSurface, FaceWeights, StillPart
from choreograph.studio.project_paths import KEEP, ProjectPaths
from choreograph.studio.worker import TaskChannel

_MOST_FILES = 200
_MOST_BYTES = 64 << 20
DEMO = "demo_face"


def listed(context: WorkerContext, ask: None, channel: TaskChannel) -> list[FaceFacts]:
    """The faces of the project, and the demo face where there is no recording."""
    made = []
    for name, path in face_files(context.places).items():
        face, head = _face(path), _has_head(path)
        if face is None and not head:
            continue
        notes = [] if face is None else [str(note) for note in face.notes]
        frames, fps, shapes = (0, 30.0, 0) if face is None else (len(face), face.fps, len(face.names))
        made.append(FaceFacts(name=name, frames=frames, fps=fps, shapes=shapes, head=head, notes=notes))
    if not any(one.frames for one in made):
        demo = demo_face()
        made.insert(0, FaceFacts(name=DEMO, frames=len(demo), fps=demo.fps, shapes=len(demo.names), head=False))
    return made


def received(context: WorkerContext, ask: tuple[str, bytes], channel: TaskChannel) -> list[FaceFacts]:
    """Keep a file that was sent, if it is a face or a head."""
    name, data = ask
    folder = context.places.keep / "faces"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    with tempfile.TemporaryDirectory(dir=folder) as temporary:
        tried = Path(temporary) / name
        tried.write_bytes(data)
        try:
            _read(tried)
        except FormatError as error:
            if not _has_head(tried):
                raise RequestError(str(error).replace(f"{temporary}/", "")) from None
        tried.replace(path)
    return listed(context, None, channel)


def surface(context: WorkerContext, ask: str | None, channel: TaskChannel) -> FaceSurface:
    """A head to show faces on; the simple one if none is named."""
    from choreograph.formats.face_glb import front_triangles
    from choreograph.formats.head_glb import read_head

    if ask is None:
        shapes = simple_head()
        return _surface(shapes.names, shapes.neutral, front_triangles(shapes.neutral), shapes.moves, landmarks=True)
    head = read_head(_path(context, ask))
    still = [StillPart(vertices=_packed(points), triangles=_packed(corners, "<u4")) for points, corners in head.still]
    own = head.shapes
    return _surface(own.names, own.neutral, head.triangles, own.moves).model_copy(update={"still": still})


def weights(context: WorkerContext, ask: str, channel: TaskChannel) -> FaceWeights:
    """A recording's weights."""
    return _weights(_recording(context, ask))


def completed(context: WorkerContext, ask: dict[str, Any], channel: TaskChannel) -> FaceAnswer:
    """A face completed from all recordings of the project."""
    from choreograph.verbs.complete.face import face_error

    began = time.monotonic()
    faces, result = _complete(context, ask)
    return FaceAnswer(
        face=_weights(result.face),
        problems=[FaceProblem(text=one.text, where=one.where) for one in result.problems],
        learned_from=[face.name for face in faces],
        step_mm=round(face_error(result.model, faces), 4),
        off_mm=round(result.off_mm, 4),
        seconds=round(time.monotonic() - began, 4),
    )


def written(context: WorkerContext, ask: dict[str, Any], channel: TaskChannel) -> bytes:
    """A completed face as a file's bytes."""
    from choreograph.formats.face import write_face
    from choreograph.formats.face_glb import write_face_glb
    from choreograph.formats.head_glb import write_face_on_head

    _, result = _complete(context, ask["request"])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"face.{ask['kind']}"
        if ask["kind"] == "csv":
            write_face(path, result.face)
        elif ask["head"] is None:
            write_face_glb(path, result.face, simple_head())
        else:
            write_face_on_head(path, result.face, _path(context, ask["head"]))
        return path.read_bytes()


def face_files(places: ProjectPaths) -> dict[str, Path]:
    """Files of a project that may be faces, by name: those that were sent, and those of its folder."""
    found: dict[str, Path] = {}
    home = places.folder.resolve()
    own = sorted((places.keep / "faces").glob("*")) if (places.keep / "faces").is_dir() else []
    inside = [
        path
        for path in sorted(places.folder.rglob("*"))
        if not any(part.startswith(KEEP) for part in path.relative_to(places.folder).parts)
        and path.resolve().is_relative_to(home)
    ]
    for path in [*own, *inside]:
        if path.suffix.lower() in (".csv", ".glb") and path.is_file() and path.stat().st_size <= _MOST_BYTES:
            found.setdefault(path.name, path)
        if len(found) >= _MOST_FILES:
            break
    return found


def _path(context: WorkerContext, name: str) -> Path:
    found = face_files(context.places)
    if name not in found:
        raise RequestError(f"there is no face {name!r}; there are {', '.join(found) or 'none'}")
    return found[name]


def _recording(context: WorkerContext, name: str) -> Face:
    if name == DEMO:
        return demo_face()
    face = _face(_path(context, name))
    if face is None:
        raise RequestError(f"{name} has no face that moves")
    return face


def _complete(context: WorkerContext, draft: dict[str, Any]) -> tuple[list[Face], Any]:
    from choreograph.verbs.complete.face_goals import FaceRequest
    from choreograph.verbs.complete.face_search import complete_face

    request = read_request(FaceRequest, draft)
    names = [one.name for one in listed(context, None, None) if one.frames]  # type: ignore[arg-type]
    faces = [_recording(context, name) for name in names]
    model = _model(tuple(names), tuple(len(face) for face in faces), request.order, request.controls or 0, context)
    return faces, complete_face(faces, simple_head(), request, model=model)


_MODELS: dict[tuple[Any, ...], Any] = {}


def _model(names: tuple[str, ...], sizes: tuple[int, ...], order: int, controls: int, context: WorkerContext) -> Any:
    """The model of all recordings, kept for the next request."""
    from choreograph.verbs.complete.face import learn_face

    key = (names, sizes, order, controls)
    if key not in _MODELS:
        _MODELS.clear()
        faces = [_recording(context, name) for name in names]
        _MODELS[key] = learn_face(faces, simple_head(), order=order, controls=controls or None)
    return _MODELS[key]


def _face(path: Path) -> Face | None:
    state = path.stat()
    return _read_kept(path, state.st_size, state.st_mtime_ns)


@lru_cache(maxsize=64)
def _read_kept(path: Path, size: int, time_ns: int) -> Face | None:
    try:
        return _read(path)
    except ChoreographError:
        return None


def _read(path: Path) -> Face:
    from choreograph.formats.face import read_face, read_markers
    from choreograph.formats.face_glb import read_face_glb

    if path.suffix.lower() == ".glb":
        return read_face_glb(path)
    with path.open(encoding="utf-8-sig", errors="replace") as file:
        markers = file.readline(200).lower().startswith("frame,seconds,")
    if not markers:
        face = read_face(path)
        if not (simple_head().order(face.names) >= 0).any():
            raise FormatError("has no shape that ARKit's faces have", path=path)
        return face
    clip, shapes = read_markers(path), simple_head()
    if len(clip.skeleton) - 1 != len(shapes):
        raise FormatError(f"has {len(clip.skeleton) - 1} markers; {len(shapes)} landmarks are a face's", path=path)
    return Face(shapes.names, shapes.solve_weights(clip.global_positions()[:, 1:] * 1e3), clip.fps, path.stem)


def _has_head(path: Path) -> bool:
    state = path.stat()
    return path.suffix.lower() == ".glb" and _head_kept(path, state.st_size, state.st_mtime_ns)


@lru_cache(maxsize=64)
def _head_kept(path: Path, size: int, time_ns: int) -> bool:
    from choreograph.formats.head_glb import read_head

    try:
        return len(read_head(path).shapes) > 0
    except ChoreographError:
        return False


def _weights(face: Face) -> FaceWeights:
    return FaceWeights(fps=face.fps, frames=len(face), shapes=list(face.names), weights=_packed(face.weights))


def _surface(
    names: tuple[str, ...], points: NDArray[Any], triangles: NDArray[Any], moves: NDArray[Any], landmarks: bool = False
) -> FaceSurface:
    return FaceSurface(
        shapes=list(names),
        vertices=_packed(points),
        triangles=_packed(triangles, "<u4"),
        moves=_packed(moves),
        landmarks=landmarks,
    )


def _packed(values: NDArray[Any], kind: str = "<f4") -> str:
    return base64.b64encode(np.ascontiguousarray(values, kind).tobytes()).decode()
