"""Choreograph turns a folder of motion capture into new motion on demand."""

from choreograph._version import __version__
from choreograph.errors import (
    Cancelled,
    ChoreographError,
    DownloadError,
    FormatError,
    GraphFileError,
    MissingExtra,
    OutputExists,
    RequestError,
    RoleError,
    SkeletonMismatch,
)
from choreograph.formats import read_clip, write_clip
from choreograph.maths.floor import FloorTransform
from choreograph.motion.clip import Clip, Label, concatenate
from choreograph.motion.contacts import detect_contacts, find_plants
from choreograph.motion.skeleton import Skeleton

__all__ = [
    "Cancelled",
    "ChoreographError",
    "Clip",
    "DownloadError",
    "FloorTransform",
    "FormatError",
    "GraphFileError",
    "Label",
    "MissingExtra",
    "OutputExists",
    "RequestError",
    "RoleError",
    "Skeleton",
    "SkeletonMismatch",
    "__version__",
    "concatenate",
    "detect_contacts",
    "find_plants",
    "read_clip",
    "write_clip",
]
