"""`choreograph face`: faces converted, solved from landmarks, and completed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from annotated_types import Gt, Lt

from choreograph.cli.common import console, progress_bar
from choreograph.cli.tool import Force, Output, add_tool
from choreograph.contract.request import Hertz, Option, Request
from choreograph.errors import RequestError

if TYPE_CHECKING:
    from choreograph.motion.face import Face, FaceShapes


class FaceOptions(Request):
    """Which faces, what becomes of them, and where it is written."""

    files: Annotated[tuple[str, ...], Option(metavar="FACES")]
    """Blend shape weights as Live Link Face writes them (.csv), morph tracks (.glb), or marker tracks (.csv)."""
    output: Output
    """Where to: .csv of weights, or .glb of a simple head with the morph track."""
    request: Annotated[Path, Option(("--request", "-r"))] | None = None
    """Complete a face: a YAML or JSON file with keys and points; FACES are learned from. Without, the first of FACES
    is converted."""
    shapes: Path | None = None
    """Landmarks and how shapes move them, a CSV file of shape, landmark, x_mm, y_mm, z_mm; a simple head's if not
    given."""
    fps: Annotated[Hertz, Gt(0), Lt(1e4)] | None = None
    """Frames per second of the input, where timecodes are wrong or missing."""
    force: Force = False
    """Overwrite what exists."""


def face(asked: FaceOptions) -> None:
    """Complete a face from keys and a few tracked points, convert it, or solve its weights from landmarks.

    A request has length_s, keys (weights by name, or a frame of a recording) and points (landmarks in millimetres).

    Examples:

      choreograph face recorded.csv --request keys.yaml -o completed.csv

      choreograph face recorded.csv -o head.glb

      choreograph face markers.csv --shapes landmarks.csv -o weights.csv
    """
    from choreograph.contract.document import read_request_file
    from choreograph.formats.face import read_shapes
    from choreograph.motion.head import simple_head
    from choreograph.synthesis.complete.face import complete_face, face_error
    from choreograph.synthesis.complete.face_goals import FaceRequest

    if asked.output.suffix.lower() not in (".csv", ".glb"):
        raise RequestError(f"--output is {asked.output}; a face is written as .csv or .glb", where="output")
    shapes = read_shapes(asked.shapes) if asked.shapes is not None else simple_head()
    with progress_bar():
        faces = [read_any(Path(path), shapes, asked.fps) for path in asked.files]
        if not faces:
            raise RequestError("give a face to read", where="files")
        for one in faces:
            for note in one.notes:
                console.print(f"{one.name}: {note}", style="yellow", markup=False, highlight=False, soft_wrap=True)
        if asked.request is None:
            made, said = faces[0], f"{len(faces[0])} frames at {faces[0].fps:g} Hz of {len(faces[0].names)} shapes"
        else:
            result = complete_face(faces, shapes, read_request_file(FaceRequest, asked.request))
            made = result.face
            said = (
                f"{len(made)} frames at {made.fps:g} Hz; one step of the model is "
                f"{face_error(result.model, faces):.2f} mm from the recordings, the "
                f"weights {result.off_mm:.2f} mm from the completed landmarks"
            )
        write_any(asked.output, made, shapes, overwrite=asked.force)
    console.print(f"{asked.output}: {said}", highlight=False, markup=False, soft_wrap=True)


def read_any(path: Path, shapes: FaceShapes, fps: float | None) -> Face:
    """A face of any file: weights, morph tracks, or marker tracks, whose weights are solved."""
    from choreograph.formats.face import read_face, read_markers
    from choreograph.formats.face_glb import read_face_glb
    from choreograph.motion.face import Face

    if path.suffix.lower() == ".glb":
        return read_face_glb(path, fps=fps)
    with path.open(encoding="utf-8-sig", errors="replace") if path.is_file() else path.open() as file:
        begins = file.readline(200).lower()
    if not begins.startswith("frame,seconds,"):
        return read_face(path, fps=fps)
    clip = read_markers(path)
    if len(clip.skeleton) - 1 != len(shapes):
        raise RequestError(
            f"{path} has {len(clip.skeleton) - 1} markers, the shapes {len(shapes)} landmarks; give --shapes of the "
            "same landmarks",
            where="shapes",
        )
    marks = clip.global_positions()[:, 1:] * 1e3
    return Face(shapes.names, shapes.solve_weights(marks), fps or clip.fps, path.stem)


def write_any(path: Path, face: Face, shapes: FaceShapes, *, overwrite: bool) -> None:
    """Write a face by its file's name."""
    from choreograph.formats.face import write_face
    from choreograph.formats.face_glb import write_face_glb

    if path.suffix.lower() == ".glb":
        write_face_glb(path, face, shapes, overwrite=overwrite)
    else:
        write_face(path, face, overwrite=overwrite)


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    add_tool(app, "face", FaceOptions, face)
