"""The REST part: resources by address. Every answer that is not what was asked for is a `Failure`."""

from __future__ import annotations

import asyncio
import urllib.parse
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi import Path as InPath
from fastapi.responses import FileResponse
from pydantic import ValidationError

from choreograph.base.errors import RequestError
from choreograph.contract.request import LONGEST_QUOTE
from choreograph.motion.packed import row_bytes
from choreograph.studio import messages as m
from choreograph.studio.document import GraphAsk, Name, Point, View
from choreograph.studio.export_asks import ExportAsk, OutputAsk
from choreograph.studio.exports import export
from choreograph.studio.facts import Curve, GraphSummary, Job, Matrix, Motion, Project, Result
from choreograph.studio.find_facts import ArchivePage, FindAnswer, FindAsk
from choreograph.studio.finding import find_places, matching_clips
from choreograph.studio.project import NotThere
from choreograph.studio.session import Session

Id = Annotated[str, InPath(pattern=r"^[a-z0-9_-]{1,64}$")]
Theme = Annotated[Literal["dark", "light"], Query()]
Kind = Literal["clip", "result"]


def session_of(request: Request) -> Session:
    """The open project."""
    session: Session = request.app.state.session
    return session


Open = Annotated[Session, Depends(session_of)]

# By its name instead of as a model, which would be made ready for every address and status anew.
_FAILURE = {"application/json": {"schema": {"$ref": "#/components/schemas/Failure"}}}
FAILURES: dict[int | str, dict[str, Any]] = {
    code: {"content": _FAILURE, "description": text}
    for code, text in {
        400: "The request is broken",
        401: "The token is missing",
        403: "The request is not from here",
        404: "There is nothing of that name",
        409: "Something else has come between",
        413: "Too much at once",
        415: "A type of file that is not taken",
        422: "It cannot be done as asked",
        429: "Too many at once",
        503: "The work was interrupted",
        507: "There is no room to keep it",
    }.items()
}
router = APIRouter(prefix="/api", responses=FAILURES)

_BINARY: dict[int | str, dict[str, Any]] = {
    200: {"content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}}
}
_PNG: dict[int | str, dict[str, Any]] = {200: {"content": {"image/png": {}}}}
_JSON: dict[int | str, dict[str, Any]] = {200: {"content": {"application/json": {}}}}

_GLB: dict[int | str, dict[str, Any]] = {200: {"content": {"model/gltf-binary": {}}}}


# ---------------------------------------------------------------- the document


@router.get("/project", responses={422: {"model": m.Failure}})  # where the name is from
async def get_project(session: Open) -> Project:
    """All that a page needs to begin."""
    return await session.describe()


@router.put("/document")
async def put_document(session: Open, change: m.DocumentChange) -> m.DocumentState:
    """Change the document; 409 if it has changed since the version that the change was made to."""
    return await session.change(change.label, change.document, change.base)


@router.put("/view")
async def put_view(session: Open, view: View) -> View:
    """Keep what is shown and how."""
    await session.set_view(view)
    return view


@router.post("/undo")
async def undo(session: Open) -> m.DocumentState:
    """Undo the last change."""
    return await session.undo()


@router.post("/redo")
async def redo(session: Open) -> m.DocumentState:
    """Do again what was undone."""
    return await session.redo()


@router.get("/archive")
async def get_archive(
    session: Open,
    query: Annotated[str, Query(max_length=2000)] = "",
    folder: Annotated[str | None, Query(max_length=4096)] = None,
    start: Annotated[int, Query(ge=0)] = 0,
    count: Annotated[int, Query(ge=0, le=500)] = 100,
) -> ArchivePage:
    """Clips of the .mog file that was opened, by words: how many in which folder, and some of them."""
    archive = session.project.archive
    if archive is None:
        raise NotThere("no .mog file is open here; the project's clips are in the document")
    return await asyncio.to_thread(archive.page, query, folder, start, count)


@router.get("/library/matches")
async def get_matches(session: Open, query: Annotated[str, Query(max_length=2000)]) -> list[str]:
    """Ids of the document's clips that a query asks for."""
    return matching_clips(session, query)


@router.post("/find")
async def post_find(session: Open, ask: FindAsk) -> FindAnswer:
    """Places in the library, by words, by example, by speed, turn and feet."""
    return await find_places(session, ask)


# ---------------------------------------------------------------- motions


@router.get("/motions/{kind}/{name}")
async def get_motion(session: Open, kind: Kind, name: Id) -> Motion:
    """What the stage needs to know of a motion."""
    return (await session.motion(kind, name))[0]


@router.get("/motions/{kind}/{name}/frames", responses=_BINARY, response_class=Response)
async def get_frames(
    session: Open,
    kind: Kind,
    name: Id,
    start: Annotated[int, Query(ge=0)] = 0,
    stop: Annotated[int | None, Query(ge=0)] = None,
) -> Response:
    """Frames [start, stop): rows of root x, y, z, then x, y, z, w of each joint; float32, little-endian."""
    return await _frames(session, kind, name, 0, start, stop)


@router.get("/motions/{kind}/{name}/{person}")
async def get_person(session: Open, kind: Kind, name: Id, person: Annotated[int, InPath(ge=0, le=999)]) -> Motion:
    """What the stage needs to know of one person's motion."""
    return (await session.motion(kind, name, person))[0]


@router.get("/motions/{kind}/{name}/{person}/frames", responses=_BINARY, response_class=Response)
async def get_person_frames(
    session: Open,
    kind: Kind,
    name: Id,
    person: Annotated[int, InPath(ge=0, le=999)],
    start: Annotated[int, Query(ge=0)] = 0,
    stop: Annotated[int | None, Query(ge=0)] = None,
) -> Response:
    """Frames [start, stop) of one person."""
    return await _frames(session, kind, name, person, start, stop)


async def _frames(session: Session, kind: str, name: str, person: int, start: int, stop: int | None) -> Response:
    motion, path = await session.motion(kind, name, person)
    size = row_bytes(len(motion.joints))
    start, stop = (min(at, motion.frames) for at in (start, motion.frames if stop is None else stop))

    def read() -> bytes:
        with path.open("rb") as file:
            file.seek(start * size)
            return file.read(max(0, stop - start) * size)

    headers = {"cache-control": "no-cache"}
    return Response(await asyncio.to_thread(read), media_type="application/octet-stream", headers=headers)


@router.get("/clips/{name}/thumbnail.png", responses=_PNG, response_class=FileResponse)
async def get_clip_thumbnail(session: Open, name: Id, theme: Theme = "dark") -> FileResponse:
    """A small picture of a clip."""
    path = await session.thumbnail("clip", name, theme)
    return FileResponse(path, media_type="image/png", headers={"cache-control": "no-cache"})


@router.get("/results/{name}/thumbnail.png", responses=_PNG, response_class=FileResponse)
async def get_result_thumbnail(
    session: Open, name: Id, theme: Theme = "dark", character: Id | None = None
) -> FileResponse:
    """A small picture of a result, on a character where one is named."""
    path = await session.thumbnail("result", name, theme, character)
    return FileResponse(path, media_type="image/png", headers={"cache-control": "max-age=86400"})


@router.get("/figures/{skeleton}.glb", responses=_GLB, response_class=FileResponse)
async def get_figure(session: Open, skeleton: Id) -> FileResponse:
    """The skinned mannequin of a skeleton; its bones are called as `Motion.joints` says."""
    path = await session.figure(skeleton)
    return FileResponse(path, media_type="model/gltf-binary", headers={"cache-control": "max-age=86400"})


# ---------------------------------------------------------------- jobs


@router.post("/jobs")
async def post_job(session: Open, ask: m.JobAsk) -> Job:
    """Begin work that takes a while."""
    with _refusals():
        if ask.kind == "build":
            return session.build(GraphAsk.model_validate(ask.ask) if ask.ask else None)
        if ask.kind == "joins":
            return session.find_joins()
        if ask.kind == "export":
            return await export(session, ExportAsk.model_validate(ask.ask))
        if ask.kind == "output":
            return session.asking.output(OutputAsk.model_validate(ask.ask))
    if ask.kind not in session.asking.lanes:
        known = ", ".join(["build", "joins", "export", "output", *session.asking.lanes])
        raise RequestError(f"kind is {ask.kind!r}; it can be {known}", where="kind")
    draft = ask.ask or session.project.document.requests.get(ask.kind, {})
    return session.asking.ask(ask.kind, draft, subject=ask.subject)


@router.post("/code")
async def post_code(session: Open, ask: m.JobAsk) -> m.Code:
    """The command and the program that build or export the same; results have their own."""
    from choreograph.studio import recipes

    with _refusals():
        if ask.kind == "build":
            return await recipes.of_build(session, GraphAsk.model_validate(ask.ask) if ask.ask else None)
        if ask.kind == "export":
            return await recipes.of_export(session, ExportAsk.model_validate(ask.ask))
    raise RequestError(f"builds and exports are shown as code here, not {ask.kind}; results carry their own")


@contextmanager
def _refusals() -> Iterator[None]:
    """Say which field of a job's `ask` is wrong, if one is."""
    try:
        yield
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        where = ".".join(["ask", *(str(part) for part in first["loc"])])[:LONGEST_QUOTE]
        raise RequestError(f"{where}: {first['msg'][: 3 * LONGEST_QUOTE]}") from None


@router.get("/jobs")
async def get_jobs(session: Open) -> list[Job]:
    """Jobs that run, wait, or ended not long ago."""
    return session.jobs.list()


@router.get("/jobs/{name}")
async def get_job(session: Open, name: Id) -> Job:
    """One job."""
    job = session.jobs.find(name)
    if job is None:
        raise NotThere(f"there is no job {name!r}")
    return job


@router.delete("/jobs/{name}")
async def delete_job(session: Open, name: Id) -> Job:
    """Cancel a job; one that has ended stays as it is."""
    session.jobs.cancel(name, keep=True)
    return await get_job(session, name)


# ---------------------------------------------------------------- the graph


@router.get("/graph")
async def get_graph(session: Open) -> GraphSummary:
    """The graph."""
    if session.project.graph is None:
        raise NotThere("there is no motion graph yet; build one first")
    return session.project.graph


@router.get("/graph/curve")
async def get_curve(session: Open) -> Curve:
    """Connectivity against the threshold."""
    curve = await session.curve()
    if curve is None:
        raise NotThere("there is no motion graph yet; build one first")
    return curve


@router.get("/graph/matrix")
async def get_matrix(session: Open, a: Name, b: Name) -> Matrix:
    """Distances between the windows of two clips: size and minima."""
    return (await session.matrix(a, b))[0]


@router.get("/graph/matrix.png", responses=_PNG, response_class=Response)
async def get_matrix_picture(session: Open, a: Name, b: Name, theme: Theme = "dark") -> Response:
    """The same as a picture without a frame: clip a down, clip b across; bright is near."""
    return Response((await session.matrix(a, b))[1][theme], media_type="image/png")


@router.post("/graph/preview")
async def post_preview(session: Open, ask: m.PreviewAsk) -> Result:
    """A transition as motion, with a second before and after; it is not kept for long."""
    return await session.preview(ask)


# ---------------------------------------------------------------- results


@router.get("/results")
async def get_results(session: Open) -> list[Result]:
    """Results, the newest first."""
    return session.project.result_list()


@router.get("/results/{name}")
async def get_result(session: Open, name: Id) -> Result:
    """One result."""
    return session.result(name)


@router.get("/results/{name}/mechanics", responses=_JSON, response_class=FileResponse)
async def get_mechanics(session: Open, name: Id) -> FileResponse:
    """Centre of mass, ground forces and torques of a result's motion, for the stage."""
    path = session.places.result(session.result(name).id, ".mechanics.json")
    if not path.is_file():
        raise NotThere("forces and torques of this result are not known; measure it with Dynamics")
    return FileResponse(path, media_type="application/json", headers={"cache-control": "max-age=86400"})


@router.delete("/results/{name}", status_code=204)
async def delete_result(session: Open, name: Id) -> None:
    """Delete a result."""
    await session.remove_result(name)


@router.put("/results/{name}/kept")
async def put_kept(session: Open, name: Id, mark: m.Kept) -> Result:
    """Mark a result to be kept, or let it go."""
    return await session.keep_result(name, mark.kept)


@router.get("/exports/{job}/{file}", responses=_BINARY, response_class=FileResponse)
async def get_export(session: Open, job: Id, file: Annotated[str, InPath(max_length=200)]) -> FileResponse:
    """A file that an export made."""
    folder = session.places.exports / job
    # Looked up among what is there: a name is never made into a path.
    there = {path.name: path for path in folder.iterdir()} if folder.is_dir() else {}
    if file not in there:
        raise NotThere(f"there is no file {file!r} of job {job!r}; export it again")
    quoted = urllib.parse.quote(file)
    headers = {"content-disposition": f"attachment; filename*=utf-8''{quoted}"}
    return FileResponse(there[file], media_type="application/octet-stream", headers=headers)


@router.get("/path")
async def get_path(session: Open, text: Annotated[str, Query(min_length=1, max_length=200)]) -> list[Point]:
    """Points of a named shape, such as "eight:radius=3"."""
    return await session.shape(text)
