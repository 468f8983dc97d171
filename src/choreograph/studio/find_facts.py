"""What the page is told of archives and of what is found in them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from choreograph.studio.document import Id, Message


class ArchiveFacts(Message):
    """The clips of a .mog file, where there are too many to be listed one by one."""

    clips: int
    seconds: float
    first: Id
    """The clip that is shown before another is chosen."""
    skeleton: str
    joints: list[str]


class ArchiveFolder(Message):
    """A folder, or a person where files are not known, and how many clips of it were asked for."""

    name: str
    clips: int


class ArchiveClip(Message):
    """What a list tells of a clip of an archive."""

    id: Id
    name: str
    folder: str
    seconds: float
    fps: float
    labels: list[str]


class ArchivePage(Message):
    """Clips of an archive that were asked for by words."""

    total: int
    """How many there are in all folders."""
    folders: list[ArchiveFolder]
    start: int
    """Of the folder's clips, or of all where none was named, those from this one on."""
    clips: list[ArchiveClip]
    hint: str
    """What may be the reason where nothing was found."""


class FindAsk(Message):
    """Places that are sought in the library; see `FindRequest`."""

    only: Annotated[str, Field(max_length=2000)] = ""
    like: Annotated[str, Field(max_length=200)] | None = None
    """A motion of the project as the example: "clip:ID" or "result:ID"."""
    start_s: Annotated[float, Field(ge=0)] | None = None
    end_s: Annotated[float, Field(ge=0)] | None = None
    speed: Annotated[str, Field(max_length=40)] | None = None
    turn: Annotated[str, Field(max_length=40)] | None = None
    contact: Literal["left", "right", "both", "none", "any"] | None = None


class FoundPlace(Message):
    """A place in a clip of the library."""

    clip: Id
    name: str
    start_s: float
    stop_s: float
    distance_m: float | None
    speed_m_s: float | None
    turn_deg: float | None


class FindAnswer(Message):
    """Places that were found, the best first."""

    places: list[FoundPlace]
    total: int
    hint: str
