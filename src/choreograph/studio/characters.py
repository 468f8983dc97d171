"""Somebody's own character in the studio: sent by a page, seen on the stage and in exports instead of the mannequin."""

from __future__ import annotations

import asyncio
import secrets
import shutil
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Request, Response
from fastapi import Path as InPath
from fastapi.responses import FileResponse
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException

from choreograph.studio.api import FAILURES, Id, Kind, Open
from choreograph.studio.character_facts import CharacterFacts, CharacterRoles, LiveFacts
from choreograph.studio.facts import Motion
from choreograph.studio.library import clip_key
from choreograph.studio.project import NotThere
from choreograph.studio.session import Session
from choreograph.studio.uploads import receiving, safe_name

router = APIRouter(prefix="/api/characters", responses=FAILURES)

_BINARY: dict[int | str, dict[str, Any]] = {200: {"content": {"application/octet-stream": {}}}}
_UPLOAD = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["file"],
                    "properties": {"file": {"type": "string", "format": "binary"}},
                }
            }
        },
    }
}
Person = Annotated[int, InPath(ge=0, le=999)]


@router.post("", openapi_extra=_UPLOAD)
async def post_character(session: Open, request: Request) -> CharacterFacts:
    """Take a skinned character into the project: a .glb, .vrm or .fbx file."""
    if not request.headers.get("content-type", "").startswith("multipart/form-data"):
        raise HTTPException(415, "a character comes as multipart/form-data, in a field called file")
    folder = session.places.incoming / secrets.token_hex(8)
    try:
        with receiving(session, folder):
            path = await _take(request, folder)
        facts: CharacterFacts = await session.looks.submit("character", path).answer()
        return facts
    finally:
        await asyncio.to_thread(shutil.rmtree, folder, True)


async def _take(request: Request, folder: Path) -> Path:
    form = await request.form(max_files=1, max_fields=4)
    try:
        sent = [part for _, part in form.multi_items() if isinstance(part, UploadFile)]
        if not sent:
            raise HTTPException(422, "there was no file in it")
        return await asyncio.to_thread(_receive, sent[0], folder)
    finally:
        await form.close()


def _receive(sent: UploadFile, folder: Path) -> Path:
    from choreograph.formats.character import SUFFIXES

    name = safe_name(sent.filename or "")
    if Path(name).suffix.lower() not in SUFFIXES:
        raise HTTPException(415, f"{name}: characters end in {', '.join(SUFFIXES)}")
    folder.mkdir(parents=True)
    with (folder / name).open("xb") as file:
        shutil.copyfileobj(sent.file, file)
    return folder / name


@router.get("/{character}")
async def get_character(session: Open, character: Id) -> CharacterFacts:
    """What is known of a character: its joints, and which part of the body each is."""
    return await _roles(session, {"character": character, "name": "", "roles": None})


@router.post("/{character}/roles")
async def post_character_roles(session: Open, character: Id, ask: CharacterRoles) -> CharacterFacts:
    """The character with other roles of its joints: another one of the project."""
    return await _roles(session, {"character": character, "name": ask.name, "roles": ask.roles})


async def _roles(session: Session, ask: dict[str, Any]) -> CharacterFacts:
    if not session.places.character(ask["character"]).is_file():
        raise NotThere(f"there is no character {ask['character']!r} in the project")
    facts: CharacterFacts = await session.looks.submit("character_roles", ask).answer()
    return facts


@router.get("/{character}/figure.glb", responses=_BINARY, response_class=FileResponse)
async def get_character_figure(session: Open, character: Id) -> FileResponse:
    """The character, its bones in the order of its joints and unturned at rest."""
    path = session.places.worn(character, ".glb")
    if not path.is_file():
        raise NotThere(f"there is no character {character!r} in the project")
    return FileResponse(path, media_type="model/gltf-binary", headers={"cache-control": "max-age=86400"})


@router.get("/{character}/live/{skeleton}")
async def get_live(session: Open, character: Id, skeleton: Id) -> LiveFacts:
    """How poses of a body are put on the character while they come."""
    if not session.places.character(character).is_file():
        raise NotThere(f"there is no character {character!r} in the project")
    ask = {"character": character, "body": session.somebody(skeleton)}
    facts: LiveFacts = await session.looks.submit("wear_live", ask).answer()
    return facts


@router.get("/{character}/{kind}/{name}/{person}")
async def get_worn(session: Open, character: Id, kind: Kind, name: Id, person: Person) -> Motion:
    """What the stage needs to know of a motion on the character."""
    return (await _worn(session, character, kind, name, person))[0]


@router.get("/{character}/{kind}/{name}/{person}/frames", responses=_BINARY, response_class=Response)
async def get_worn_frames(session: Open, character: Id, kind: Kind, name: Id, person: Person) -> Response:
    """Its frames, as those of other motions."""
    _, path = await _worn(session, character, kind, name, person)
    data = await asyncio.to_thread(path.read_bytes)
    return Response(data, media_type="application/octet-stream", headers={"cache-control": "no-cache"})


async def _worn(session: Session, character: str, kind: str, name: str, person: int) -> tuple[Motion, Path]:
    """A motion on the character, made when it is first asked for."""
    if not session.places.character(character).is_file():
        raise NotThere(f"there is no character {character!r} in the project")
    await session.motion(kind, name, person)  # whether there is such a motion
    entry = session.entry(name) if kind == "clip" else None
    key = f"{clip_key(entry) if entry is not None else f'{name}.{person}'}-{character}"
    path = session.places.worn(key, ".f32")
    if path.is_file() and session.places.worn(key, ".json").is_file():
        return Motion.model_validate_json(session.places.worn(key, ".json").read_bytes()), path
    ask = {"character": character, "which": entry or name, "person": person, "key": key}
    motion: Motion = await session.looks.submit("wear", ask).answer()
    return motion, path
