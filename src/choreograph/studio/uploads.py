"""Motion files that a page sends: taken within limits, under names that no system reads anything into."""

from __future__ import annotations

import asyncio
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fastapi import APIRouter, Request
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException

from choreograph.formats.registry import suffixes
from choreograph.studio.api import FAILURES, Open
from choreograph.studio.facts import Job
from choreograph.studio.importing import import_uploads
from choreograph.studio.session import Session

MOST_FILES = 5000
"""Files in one upload."""
FILE_BYTES = 512 << 20
"""Largest single file."""
MOST_UPLOADS = 4
"""Uploads at a time: each may fill the disk with 2 GB before it is looked at."""

router = APIRouter(prefix="/api", responses=FAILURES)

_UPLOAD = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["files"],
                    "properties": {
                        "files": {"type": "array", "minItems": 1, "items": {"type": "string", "format": "binary"}}
                    },
                }
            }
        },
    }
}


@router.post("/recordings", openapi_extra=_UPLOAD)
async def post_recordings(session: Open, request: Request) -> Job:
    """Read motion files into the project: many at once, ASF and AMC together. The job adds them to the library."""
    if not request.headers.get("content-type", "").startswith("multipart/form-data"):
        raise HTTPException(415, "files come as multipart/form-data, in fields called files")
    folder = session.places.incoming / secrets.token_hex(8)
    with receiving(session, folder):
        paths = await _take(request, folder)
    return import_uploads(session, folder, paths)


@contextmanager
def receiving(session: Session, folder: Path) -> Iterator[None]:
    """While files are received into a folder, which goes if there is no room for them: so many at a time."""
    if session.uploading >= MOST_UPLOADS:
        raise HTTPException(429, f"{MOST_UPLOADS} uploads are under way already; wait for one to end")
    session.uploading += 1
    try:
        yield
    except OSError as error:
        shutil.rmtree(folder, ignore_errors=True)
        raise HTTPException(507, f"the files cannot be kept here: {error.strerror or error}") from error
    finally:
        session.uploading -= 1


async def _take(request: Request, folder: Path) -> list[Path]:
    """The motion files of a form, written into a folder."""
    try:
        form = await request.form(max_files=MOST_FILES, max_fields=10)
    except HTTPException as error:
        many = "Too many files" in str(error.detail)
        text = f"at most {MOST_FILES} files are taken at once" if many else str(error.detail)
        raise HTTPException(413 if many else 400, text) from error
    try:
        uploads = [part for _, part in form.multi_items() if isinstance(part, UploadFile)]
        return await asyncio.to_thread(_receive, uploads, folder)
    finally:
        await form.close()


def _receive(uploads: list[UploadFile], folder: Path) -> list[Path]:
    """Write what was sent into a new folder; the motion files among it."""
    readable = suffixes(readable=True)
    named: dict[str, UploadFile] = {}
    for upload in uploads:
        name = safe_name(upload.filename or "")
        suffix = Path(name).suffix.lower()
        if suffix not in (*readable, ".asf", ".tsv"):
            raise HTTPException(
                415, f"{name}: {_archive(suffix)}motion files end in {', '.join(readable)} (and .asf, for .amc)"
            )
        if (upload.size or 0) > FILE_BYTES:
            raise HTTPException(413, f"{name} is larger than the {FILE_BYTES >> 20} MB that are taken")
        if upload.file.read(4) == b"PK\x03\x04" and suffix != ".npz":
            raise HTTPException(415, f"{name} is an archive; unpack it and drop the motion files in it")
        upload.file.seek(0)
        number = 1
        while name in named:  # folders dropped together may have files of the same name
            number += 1
            name = f"{Path(safe_name(upload.filename or '')).stem}~{number}{suffix}"
        named[name] = upload
    motions = [name for name in named if Path(name).suffix.lower() in readable]
    if not motions:
        what = "a skeleton alone is no motion: drop its .amc files with it" if named else "there were no files in it"
        raise HTTPException(422, what)
    folder.mkdir(parents=True)
    for name, upload in named.items():
        with (folder / name).open("xb") as file:
            shutil.copyfileobj(upload.file, file)
    return sorted(folder / name for name in motions)


def safe_name(name: str) -> str:
    """The last part of a file's name, of letters, digits and marks that no system reads anything into."""
    last = re.split(r"[/\\]", name)[-1]
    return re.sub(r"[^\w.() +=,@~-]", "_", last).lstrip(". ")[-120:] or "unnamed"


def _archive(suffix: str) -> str:
    packed = suffix in (".zip", ".gz", ".tar", ".tgz", ".bz2", ".xz", ".7z", ".rar", ".zst")
    return "archives are not taken, unpack it first; " if packed else ""
