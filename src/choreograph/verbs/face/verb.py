"""Faces, declared for all interfaces."""

from __future__ import annotations

from pathlib import Path

from choreograph.base.errors import RequestError
from choreograph.contract.result import Result
from choreograph.contract.verb import FACES, Output, Verb
from choreograph.verbs.face.request import FaceRequest
from choreograph.verbs.face.search import FaceResult, FaceSearch


def _write(path: Path, result: Result, overwrite: bool) -> None:
    from choreograph.formats import write_clip
    from choreograph.formats.face import write_face
    from choreograph.formats.face_glb import write_face_glb
    from choreograph.formats.head_glb import write_face_on_head

    assert isinstance(result, FaceResult) and isinstance(result.request, FaceRequest)
    if result.shapes is None and path.suffix.lower() != ".csv":
        raise RequestError(f"{path}: markers without shapes are written as .csv; name a file of them (shapes)")
    if result.shapes is None:
        write_clip(path, result.clip, overwrite=overwrite)
    elif path.suffix.lower() == ".csv":
        write_face(path, result.face, overwrite=overwrite)
    elif result.request.head is not None:
        write_face_on_head(path, result.face, result.request.head, overwrite=overwrite)
    else:
        write_face_glb(path, result.face, result.shapes, overwrite=overwrite)


def _draw(path: Path, result: Result, overwrite: bool) -> None:
    from choreograph.pictures.plots import write_plot
    from choreograph.verbs.face.picture import plot_face

    assert isinstance(result, FaceResult)
    write_plot(path, plot_face(result), overwrite=overwrite)


VERB = Verb(
    name="face",
    about="""Complete a face: the most likely one through a few expressions and tracked landmarks; or convert it.

    FACES are learned from, and poses in the request name frames of them. Without a request, the first one is converted:
    to weights, from markers too, or to a head that plays them.""",
    request=FaceRequest,
    subject=FACES,
    search=FaceSearch,
    trial=FaceRequest(duration_s=1.0, goals=[{"at_s": 0.0, "shapes": {}}, {"at_s": 1.0, "shapes": {"JawOpen": 0.5}}]),
    draw=_draw,
    picture_suffixes=(".png", ".svg", ".pdf"),
    writes=Output(
        "face", "Weights (.csv; of markers, their tracks), or a head that plays them (.glb)", (".csv", ".glb"), _write
    ),
    examples=(
        "face recorded.csv --request keys.yaml -o completed.csv --picture completed.png",
        "face recorded.csv -o head.glb",
        "face recorded.csv --head facecap.glb -o performed.glb",
        "face markers.csv --shapes landmarks.csv -o weights.csv",
        "face markers.csv --request keys.yaml -o completed.csv",
    ),
    guide="docs/face.md",
)
