"""The REST part of faces: recordings and heads."""

from __future__ import annotations

import base64
import binascii
from typing import Annotated

from fastapi import APIRouter, Query
from starlette.exceptions import HTTPException

from choreograph.studio.api import FAILURES, Open
from choreograph.studio.face_facts import FaceFacts, FaceFile, FaceSurface
from choreograph.studio.uploads import safe_name

router = APIRouter(prefix="/api/faces", responses=FAILURES)

Named = Annotated[str | None, Query(min_length=1, max_length=200)]


@router.get("")
async def get_faces(session: Open) -> list[FaceFacts]:
    """The faces and heads of the project."""
    facts: list[FaceFacts] = await session.looks.submit("faces", None).answer()
    return facts


@router.post("")
async def post_face(session: Open, file: FaceFile) -> list[FaceFacts]:
    """Add a face or a head: a CSV file of Live Link Face, marker tracks, or a GLB file."""
    name = safe_name(file.name)
    if not name.lower().endswith((".csv", ".glb")):
        raise HTTPException(415, f"{name}: faces end in .csv or .glb")
    try:
        data = base64.b64decode(file.data, validate=True)
    except binascii.Error:
        raise HTTPException(400, "data is not base64") from None
    facts: list[FaceFacts] = await session.looks.submit("face_received", (name, data)).answer()
    return facts


@router.get("/surface")
async def get_surface(session: Open, name: Named = None) -> FaceSurface:
    """A head to show faces on; the simple one if none is named."""
    surface: FaceSurface = await session.looks.submit("face_surface", name).answer()
    return surface
