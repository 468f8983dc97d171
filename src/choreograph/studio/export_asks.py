"""What can be asked of files made of motions and results."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from choreograph.studio.document import Draft, Id, Message, Name


class ExportAsk(Message):
    """A file to be made of a motion."""

    motion: Name
    """"clip:ID" or "result:ID"."""
    suffix: Annotated[str, Field(pattern=r"^\.[a-z0-9]{2,5}$")]
    """Of a motion file, or ".mp4", ".gif", ".png"."""
    export: Draft = {}  # noqa: RUF012 - models copy it
    """ExportSettings of a motion file."""
    width: Annotated[int, Field(ge=64, le=7680)] | None = None
    """Pixels across of a film or a picture; else as is usual."""
    frame: Annotated[int, Field(ge=0)] | None = None
    """Of a picture; a sheet of the whole motion if None."""
    transparent: bool = False
    """Whether the picture of a frame shows the figures alone, on nothing."""
    character: bool = True
    """Whether it is the project's character who moves, where there is one."""


class OutputAsk(Message):
    """A file besides the motion, of a result."""

    result: Id
    output: Name
    """One of its verb's `outputs`."""
    suffix: Annotated[str, Field(pattern=r"^\.[a-z0-9]{2,5}$")]
