"""Recorded faces: read from files of weights, morph tracks and markers, and seen as landmarks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from choreograph.base.arrays import Floats
from choreograph.base.errors import FormatError, RequestError
from choreograph.formats.face import read_face, read_markers
from choreograph.formats.face_glb import read_face_glb
from choreograph.formats.inputs import find_motion_files
from choreograph.motion.clip import Clip
from choreograph.motion.face import Face, FaceShapes, marker_points, named_weights
from choreograph.motion.head import simple_head

SUFFIXES = (".csv", ".glb")
Recording = Face | Clip
"""Weights of shapes, or markers without any."""


def open_faces(names: Sequence[str], fps: float | None = None) -> list[Recording]:
    """The recordings of files, folders and patterns; in folders, files that hold no face are passed over.

    >>> import choreograph as cg
    >>> cg.write_face("talk.csv", cg.Face(("JawOpen",), [[0.0], [0.5]], 30.0))
    >>> [len(one) for one in open_faces(["talk.csv"])]
    [2]

    Args:
        names: Of weights as Live Link Face writes them (.csv), morph tracks (.glb), marker tracks (.csv), or folders.
        fps: Frames per second, where timecodes are wrong or missing.

    Raises:
        ChoreographError: If there is none, or a file that is named cannot be read.
    """
    recordings: list[Recording] = []
    for path in find_motion_files(names, SUFFIXES):
        try:
            recordings.append(read_recording(path, fps))
        except FormatError:
            if str(path) in names:
                raise
    if not recordings:
        raise RequestError(f"{', '.join(names)} holds no face")
    return recordings


def read_recording(path: Path, fps: float | None = None) -> Recording:
    """The weights or markers of a file.

    Raises:
        FormatError: If it holds no face.
    """
    if path.suffix.lower() == ".glb":
        return read_face_glb(path, fps=fps)
    try:
        with path.open(encoding="utf-8-sig", errors="replace") as file:
            markers = file.readline(200).lower().startswith("frame,seconds,")
    except OSError as error:
        raise FormatError(f"cannot be read: {error.strerror}", path=path) from None
    if not markers:
        return read_face(path, fps=fps)
    clip = read_markers(path)
    return clip if fps is None else replace(clip, fps=fps)


def solve_face(recording: Recording, shapes: FaceShapes) -> Face:
    """A recording as weights; those of markers are solved.

    Raises:
        RequestError: If there are other markers than landmarks.
    """
    if isinstance(recording, Face):
        return recording
    points = marker_points(recording)
    if points.shape[1] != len(shapes):
        raise RequestError(
            f"{recording.name} has {points.shape[1]} markers, the face {len(shapes)} landmarks; name a file of the "
            "same landmarks (shapes)",
            where="shapes",
        )
    return Face(shapes.names, shapes.solve_weights(points), recording.fps, recording.name)


@dataclass(frozen=True, eq=False)
class RecordedFaces:
    """Recordings as landmarks: of weights by shapes, or markers as they are."""

    recordings: Sequence[Recording]
    shapes: FaceShapes | None
    """None for markers."""

    @classmethod
    def of(cls, recordings: Sequence[Recording], shapes: FaceShapes | None, *, convert: bool = False) -> RecordedFaces:
        """Recordings with their shapes: a simple head's if they need some and have none.

        Args:
            recordings: Of one kind, or of several where there are shapes.
            shapes: Landmarks and how shapes move them, if given.
            convert: Whether weights are wanted in any case.
        """
        if shapes is None and not convert and recordings and all(isinstance(one, Clip) for one in recordings):
            return cls(recordings, None)
        own = shapes or simple_head()
        return cls([solve_face(one, own) for one in recordings], own)

    @property
    def rate_hz(self) -> float:
        """Of the first one."""
        if not self.recordings:
            raise RequestError("there are no faces to learn from")
        return self.recordings[0].fps

    @property
    def names(self) -> tuple[str, ...]:
        """Of the first one's shapes or markers."""
        first = self.recordings[0]
        return first.names if isinstance(first, Face) else first.skeleton.names[1:]

    @cached_property
    def tracks(self) -> Mapping[str, Floats]:
        """Landmarks by the recording's name, (F, L, 3), millimetres, at its own rate."""
        return {one.name: self._landmarks(one) for one in self.recordings}

    def resampled(self) -> list[Floats]:
        """Landmarks of each at the first one's rate.

        Raises:
            RequestError: If markers differ.
        """
        for one in self.recordings:
            if isinstance(one, Clip) and one.skeleton.names[1:] != self.names:
                first = self.recordings[0].name
                raise RequestError(f"{one.name} has other markers than {first}; give tracks of the same markers")
        return [self._landmarks(one.resampled(self.rate_hz)) for one in self.recordings]

    def expression(self, weights: Mapping[str, float], where: str) -> Floats:
        """Landmarks (L, 3) of weights by name.

        Raises:
            RequestError: If a shape is not there, or markers have none.
        """
        if self.shapes is None:
            raise RequestError(f"{where}: markers have no shapes; give a frame of a recording as a pose", where=where)
        row = named_weights(self.shapes.names, weights)[None]
        return np.asarray(self.shapes.landmarks(Face(self.shapes.names, row, self.rate_hz))[0])

    def frame(self, name: str, frame: int, where: str) -> Floats:
        """Landmarks (L, 3) of a recording's frame.

        Raises:
            RequestError: If it is not there.
        """
        if name not in self.tracks:
            raise RequestError(f"{where}.clip is {name!r}; there are {', '.join(self.tracks)}", where=f"{where}.clip")
        track = self.tracks[name]
        if frame >= len(track):
            text = f"{where}.frame is {frame}; {name!r} has frames 0 to {len(track) - 1}"
            raise RequestError(text, where=f"{where}.frame")
        return np.asarray(track[frame])

    def _landmarks(self, one: Recording) -> Floats:
        if isinstance(one, Clip):
            return marker_points(one)
        assert self.shapes is not None
        return self.shapes.landmarks(one)
