"""`choreograph face`: faces converted, solved from landmarks, and completed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from annotated_types import Gt, Lt

from choreograph.base.errors import RequestError
from choreograph.cli.common import console, progress_bar
from choreograph.cli.tool import Force, Output, add_tool
from choreograph.cli.verb import EXIT_MISSED
from choreograph.contract.request import Hertz, Option, Request

if TYPE_CHECKING:
    from choreograph.contract.problem import Problem
    from choreograph.motion.face import Face, FaceShapes
    from choreograph.verbs.complete.face_goals import FaceRequest


class FaceOptions(Request):
    """Which faces, what becomes of them, and where it is written."""

    files: Annotated[tuple[str, ...], Option(metavar="FACES")]
    """Blend shape weights as Live Link Face writes them (.csv), morph tracks (.glb), or marker tracks (.csv)."""
    output: Output
    """Where to: .csv of weights (of markers, where only markers are given), or .glb of a head with the morph track."""
    request: Annotated[Path, Option(("--request", "-r"))] | None = None
    """Complete a face: a YAML or JSON file with keys and points; FACES are learned from. Without, the first of FACES
    is converted."""
    shapes: Path | None = None
    """Landmarks and how shapes move them, a CSV file of shape, landmark, x_mm, y_mm, z_mm; a simple head's if not
    given."""
    head: Path | None = None
    """A .glb file of a head with named shapes, to write the face on; a simple head's if not given."""
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

      choreograph face recorded.csv --head facecap.glb -o performed.glb

      choreograph face markers.csv --shapes landmarks.csv -o weights.csv

      choreograph face markers.csv --request keys.yaml -o completed.csv
    """
    from choreograph.contract.document import read_request_file
    from choreograph.formats.face import read_shapes
    from choreograph.motion.head import simple_head
    from choreograph.verbs.complete.face import face_error
    from choreograph.verbs.complete.face_goals import FaceRequest
    from choreograph.verbs.complete.face_search import complete_face

    if asked.output.suffix.lower() not in (".csv", ".glb"):
        raise RequestError(f"--output is {asked.output}; a face is written as .csv or .glb", where="output")
    if not asked.files:
        raise RequestError("give a face to read", where="files")
    request = None if asked.request is None else read_request_file(FaceRequest, asked.request)
    missed: tuple[Problem, ...] = ()
    with progress_bar():
        if request is not None and asked.shapes is None and all(is_markers(Path(path)) for path in asked.files):
            said, missed = _complete_markers(asked, request)
        else:
            shapes = read_shapes(asked.shapes) if asked.shapes is not None else simple_head()
            faces = [read_any(Path(path), shapes, asked.fps) for path in asked.files]
            for one in faces:
                for note in one.notes:
                    console.print(f"{one.name}: {note}", style="yellow", markup=False, highlight=False, soft_wrap=True)
            if request is None:
                made, said = faces[0], f"{len(faces[0])} frames at {faces[0].fps:g} Hz of {len(faces[0].names)} shapes"
            else:
                result = complete_face(faces, shapes, request)
                made, missed = result.face, result.problems
                said = (
                    f"{len(made)} frames at {made.fps:g} Hz; one step of the model is "
                    f"{face_error(result.model, faces):.2f} mm from the recordings, the "
                    f"weights {result.off_mm:.2f} mm from the completed landmarks"
                )
            write_any(asked.output, made, shapes, head=asked.head, overwrite=asked.force)
            if lost := _lost_shapes(asked, made, shapes):
                said += f"; the head has no {', '.join(lost)}"
    console.print(f"{asked.output}: {said}", highlight=False, markup=False, soft_wrap=True)
    for problem in missed:
        console.print(problem.text, style="yellow", markup=False, highlight=False, soft_wrap=True)
    if missed:
        raise typer.Exit(EXIT_MISSED)


def _lost_shapes(asked: FaceOptions, face: Face, shapes: FaceShapes) -> list[str]:
    """Shapes that a face shows and the head it is written on does not have."""
    from choreograph.motion.face import shape_key

    if asked.output.suffix.lower() != ".glb":
        return []
    if asked.head is not None:
        from choreograph.formats.head_glb import read_head

        shapes = read_head(asked.head).shapes
    known = {shape_key(name) for name in shapes.names}
    return [name for n, name in enumerate(face.names) if shape_key(name) not in known and face.weights[:, n].any()]


def _complete_markers(asked: FaceOptions, request: FaceRequest) -> tuple[str, tuple[Problem, ...]]:
    """Markers without shapes, completed and written as markers."""
    from choreograph.formats import write_clip
    from choreograph.formats.face import read_markers
    from choreograph.verbs.complete.face import points_error
    from choreograph.verbs.complete.face_search import complete_markers, marker_points

    if asked.output.suffix.lower() != ".csv":
        raise RequestError(f"--output is {asked.output}; markers without --shapes are written as .csv", where="output")
    clips = [read_markers(path) for path in asked.files]
    result = complete_markers(clips, request)
    write_clip(asked.output, result.clip, overwrite=asked.force)
    error = points_error(result.model, [marker_points(clip.resampled(result.model.rate_hz)) for clip in clips])
    said = f"{len(result.clip)} frames at {result.clip.fps:g} Hz of {len(result.clip.skeleton) - 1} markers"
    return f"{said}; one step of the model is {error:.2f} mm from the recordings", result.problems


def is_markers(path: Path) -> bool:
    """Whether a file has marker tracks, as `convert` writes them."""
    if path.suffix.lower() == ".glb":
        return False
    with path.open(encoding="utf-8-sig", errors="replace") as file:
        return file.readline(200).lower().startswith("frame,seconds,")


def read_any(path: Path, shapes: FaceShapes, fps: float | None) -> Face:
    """A face of any file: weights, morph tracks, or marker tracks, whose weights are solved."""
    from choreograph.formats.face import read_face, read_markers
    from choreograph.formats.face_glb import read_face_glb
    from choreograph.motion.face import Face

    if path.suffix.lower() == ".glb":
        return read_face_glb(path, fps=fps)
    if not is_markers(path):
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


def write_any(path: Path, face: Face, shapes: FaceShapes, *, head: Path | None = None, overwrite: bool) -> None:
    """Write a face by its file's name; on a head of the user's own if there is one."""
    from choreograph.formats.face import write_face
    from choreograph.formats.face_glb import write_face_glb

    if head is not None and path.suffix.lower() == ".glb":
        from choreograph.formats.head_glb import write_face_on_head

        write_face_on_head(path, face, head, overwrite=overwrite)
    elif path.suffix.lower() == ".glb":
        write_face_glb(path, face, shapes, overwrite=overwrite)
    else:
        write_face(path, face, overwrite=overwrite)


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    add_tool(app, "face", FaceOptions, face)
