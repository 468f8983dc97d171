"""Faces of a project: files that were sent, and those of its folder."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from choreograph.base.errors import ChoreographError, FormatError, RequestError
from choreograph.motion.demo_face import demo_face
from choreograph.motion.face import Face
from choreograph.motion.head import simple_head
from choreograph.studio.project_paths import KEEP, ProjectPaths
from choreograph.verbs.face.sources import SUFFIXES, read_recording, solve_face

_MOST_FILES = 200  # of faces that the page lists
_MOST_BYTES = 64 << 20  # of a file that it lists


def face_files(places: ProjectPaths) -> dict[str, Path]:
    """Files of a project that may be faces, by name."""
    files: dict[str, Path] = {}
    home = places.folder.resolve()
    inside = [
        path
        for path in sorted(places.folder.rglob("*"))
        if not any(part.startswith(KEEP) for part in path.relative_to(places.folder).parts)
        and path.resolve().is_relative_to(home)
    ]
    for path in [*sorted((places.keep / "faces").glob("*")), *inside]:
        if path.suffix.lower() in SUFFIXES and path.is_file() and path.stat().st_size <= _MOST_BYTES:
            files.setdefault(path.name, path)
        if len(files) >= _MOST_FILES:
            break
    return files


def find_faces(places: ProjectPaths) -> dict[str, Face]:
    """Recordings by the names of their files; the demo face where there is none."""
    faces = {name: face for name, path in face_files(places).items() if (face := face_in(path)) is not None}
    return faces or {_demo().name: _demo()}


def find_face_file(places: ProjectPaths, name: str) -> Path:
    """The file of this name.

    Raises:
        RequestError: If there is none.
    """
    files = face_files(places)
    if name not in files:
        raise RequestError(f"there is no face {name!r}; there are {', '.join(files) or 'none'}")
    return files[name]


def read_face_file(path: Path) -> Face:
    """The recording in a file.

    Raises:
        ChoreographError: If there is none.
    """
    face = solve_face(read_recording(path), simple_head())
    if path.suffix.lower() == ".csv" and not (simple_head().order(face.names) >= 0).any():
        raise FormatError("has no shape that ARKit's faces have", path=path)
    return face


def face_in(path: Path) -> Face | None:
    """The recording in a file; None where there is none."""
    state = path.stat()
    return _face(path, state.st_size, state.st_mtime_ns)


def has_head(path: Path) -> bool:
    """Whether a file holds a head with named shapes."""
    state = path.stat()
    return path.suffix.lower() == ".glb" and _head(path, state.st_size, state.st_mtime_ns)


@lru_cache(maxsize=1)
def _demo() -> Face:
    return demo_face()


@lru_cache(maxsize=64)
def _face(path: Path, size: int, time_ns: int) -> Face | None:
    try:
        return read_face_file(path)
    except ChoreographError:
        return None


@lru_cache(maxsize=64)
def _head(path: Path, size: int, time_ns: int) -> bool:
    from choreograph.formats.head_glb import read_head

    try:
        return len(read_head(path).shapes) > 0
    except ChoreographError:
        return False
