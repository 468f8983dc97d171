"""What verbs work on in the studio: the graph, a motion of the project, the library as recorded examples."""

from __future__ import annotations

import os
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from choreograph.base.errors import RequestError
from choreograph.contract.request import Request
from choreograph.contract.verb import CLIP, EXAMPLES, FACES, GRAPH
from choreograph.studio.document import ClipEntry, Draft
from choreograph.studio.library import clip_key, digest, file_stem

if TYPE_CHECKING:
    from choreograph.motion.face import Face
    from choreograph.studio.context import WorkerContext

FOLDERS_KEPT = 16
"""Folders of examples that stay on disk; the commands of results name them."""


OwnMotion = ClipEntry | tuple[str, int]
"""A clip of the library, or a result and a person in it."""


@dataclass(frozen=True)
class VerbSubject:
    """What a verb shall work on, as the server says it to a worker."""

    kind: str
    graph: str | None = None
    """The graph's file; of recorded examples, that of the archive that they are chosen from."""
    motion: OwnMotion | None = None
    clips: tuple[ClipEntry, ...] = ()

    def load(self, context: WorkerContext) -> tuple[Hashable, Any]:
        """What it is made of, and the thing itself.

        Raises:
            RequestError: If it is not there yet; the sentence says what to do.
        """
        if self.kind == GRAPH.name or (self.kind == EXAMPLES.name and self.graph is not None):
            graph = context.graph(self.graph)
            return (self.graph, id(graph)), graph
        if self.kind == CLIP.name:
            if self.motion is None:
                raise RequestError("no motion is chosen to work on; choose a clip or a result", where="subject")
            if isinstance(self.motion, ClipEntry):
                return clip_key(self.motion), context.clip(self.motion)
            return self.motion, context.result(*self.motion)
        if self.kind == FACES.name:
            return context.faces()
        if not self.clips:
            raise RequestError("there are no clips yet; drop recordings into the window")
        return self._examples_key(), context.examples(self._examples_key(), self.clips)

    def file(self, context: WorkerContext, result: str, value: Any, request: Request) -> str:
        """A file or folder that the command line can read the same from; made if need be."""
        if self.graph is not None:
            return str(self.graph)
        from choreograph.formats.npz import write_npz

        if self.kind == CLIP.name:
            path = context.places.result(result, ".subject.npz")
            write_npz(path, value, overwrite=True)
            return str(path)
        if self.kind == FACES.name:
            return self._face_folder(context, value)
        named = _named(request)
        used = [clip for clip in value if not named or clip.name in named]
        folder = context.places.examples(digest([self._examples_key(), sorted(named)]))
        if not folder.is_dir():
            _make_room(folder.parent)
            folder.mkdir(parents=True)
            for clip in used:
                write_npz(folder / f"{file_stem(clip.name)}.npz", clip, overwrite=True)
        folder.touch()
        return str(folder)

    def _face_folder(self, context: WorkerContext, faces: Sequence[Face]) -> str:
        from choreograph.formats.face import write_face

        folder = context.places.examples(digest([[face.name, face.weights.tobytes().hex()] for face in faces]))
        if not folder.is_dir():
            _make_room(folder.parent)
            folder.mkdir(parents=True)
            for face in faces:
                write_face(folder / f"{file_stem(face.name)}.csv", face, overwrite=True)
        folder.touch()
        return str(folder)

    def _examples_key(self) -> str:
        return digest([[clip_key(entry), entry.name] for entry in self.clips])


@dataclass(frozen=True)
class VerbAsk:
    """A request to a verb, as the server hands it to a worker."""

    verb: str
    draft: Draft
    subject: VerbSubject
    named: str | None = None
    """What the page calls the subject."""
    motions: Mapping[str, OwnMotion] = field(default_factory=dict)
    """Clips and results that the request names, by their names there: "clip:ID", "result:ID"."""
    arrived: float = 0.0
    """Seconds since the epoch."""
    passing: bool = False
    """Whether another request follows soon, as while something is dragged."""


def motion_file(context: WorkerContext, motion: OwnMotion) -> Path:
    """A file that a motion of the project can be read from, also once it has left the project."""
    whole = [clip_key(motion), motion.name] if isinstance(motion, ClipEntry) else ["result", *motion]
    path = context.places.clip(digest(whole), ".npz")
    if not path.is_file():
        from choreograph.formats.npz import write_npz

        clip = context.clip(motion) if isinstance(motion, ClipEntry) else context.result(*motion)
        write_npz(path, clip, overwrite=True)
    else:
        os.utime(path)  # in use: no result names it yet
    return path


def _named(request: Request) -> set[str]:
    """The clips that a request names, where it says which ones it is about; none where it is about all."""
    plain = request.as_document()
    chosen = {*plain.get("examples", ()), *(name for pair in plain.get("pairs", ()) for name in pair)}
    return chosen | {plain.get("leader", "")} if chosen else set()


def _make_room(folder: Path) -> None:
    import shutil

    known: Sequence[Path] = sorted(folder.glob("*"), key=lambda path: path.stat().st_mtime)
    for old in known[: 1 - FOLDERS_KEPT]:
        shutil.rmtree(old, ignore_errors=True)


__all__ = ["CLIP", "EXAMPLES", "FACES", "GRAPH", "OwnMotion", "VerbAsk", "VerbSubject", "motion_file"]
