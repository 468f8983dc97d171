"""What the face panel and the server say to each other. Numbers of many values travel as base64 of little-endian
float32 or uint32."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from choreograph.studio.document import Message

FaceName = Annotated[str, Field(min_length=1, max_length=200)]
Packed = str


class FaceFacts(Message):
    """A face of the project: a recording, a head, or both."""

    name: FaceName
    """Of its file."""
    file: str = ""
    """The file as requests name it."""
    clip: str = ""
    """The recording as requests name it."""
    frames: int
    """0 for a head without a track."""
    fps: float
    shapes: int
    head: bool
    """Whether faces can be shown on it."""
    notes: list[str] = Field(default_factory=list)
    """What was odd in the file."""


class FaceFile(Message):
    """A file of a face that a page sends."""

    name: FaceName
    data: Packed
    """Its bytes."""


class StillPart(Message):
    """A part of a head that no shape moves."""

    vertices: Packed
    """x, y, z of each, float32."""
    triangles: Packed
    """uint32."""


class FaceSurface(Message):
    """A head to be shown: vertices, and how shapes move them."""

    shapes: list[str]
    vertices: Packed
    """x, y, z of each, float32."""
    triangles: Packed
    """uint32."""
    moves: Packed
    """x, y, z of each vertex for each shape, float32."""
    still: list[StillPart] = Field(default_factory=list)
    """Teeth, eyes, neck …"""
    landmarks: bool
    """Whether its vertices are the landmarks that points are asked of, in millimetres."""
