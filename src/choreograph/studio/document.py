"""The document of a project: all that a person can change in the studio, and undo.

Lengths are metres, angles radians, times seconds, unless a name says otherwise; ranges are [start, stop).
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field


class Message(BaseModel):
    """What all messages share: unknown fields are errors, numbers are finite."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False, json_schema_serialization_defaults_required=True)


Name = Annotated[str, Field(min_length=1, max_length=200)]
Id = Annotated[str, Field(pattern=r"^[a-z0-9_-]{1,64}$")]
Point = tuple[float, float]
Sample = tuple[float, float, float]
"""A moment of a performance: seconds, then x and z."""
Draft = dict[str, Any]
"""A request as plain values; see `choreograph.studio.requests`."""


class LabelRange(Message):
    """A word said about frames [start, stop) of a clip."""

    text: Name
    start: Annotated[int, Field(ge=0)]
    stop: Annotated[int, Field(ge=1)]


class ClipEntry(Message):
    """A clip of the library: a recording, and what is done to it before it is used."""

    id: Id
    source: Id
    """The recording; `Recording.id`."""
    name: Name
    trim: tuple[int, int] | None = None
    """Frames of the recording that are used."""
    mirrored: bool = False
    labels: Annotated[list[LabelRange], Field(max_length=1000)] | None = None
    """Instead of the recording's own, counted after trimming; None keeps those."""


class GraphAsk(Message):
    """How the graph is built; see `GraphSettings`."""

    rate_hz: Annotated[float, Field(ge=1, le=240)] = 30.0
    window_s: Annotated[float, Field(ge=0.05, le=2)] = 1 / 3
    threshold_m: Annotated[float, Field(ge=0, le=1)] = 0.05
    goal: Annotated[float, Field(gt=0, le=1)] | Literal["everything"] | None = None
    ceiling_m: Annotated[float, Field(ge=0, le=1)] = 0.40
    taper: Literal["triangle", "uniform"] = "triangle"
    mirror: bool = False
    max_blend_s: Annotated[float, Field(ge=0, le=2)] | None = None


class View(Message):
    """What is shown and how; kept with the project, but not undone."""

    verb: Name = "follow"
    theme: Literal["dark", "light"] = "dark"
    ghosts: bool = False
    ghost_every: Annotated[int, Field(ge=1, le=1000)] = 20
    paths: bool = True
    contacts: bool = True
    follow_camera: bool = True
    loop: bool = True
    speed: Annotated[float, Field(ge=0.05, le=8)] = 1.0
    lag_s: Annotated[float, Field(ge=0.5, le=10)] = 1.5
    """How far the figure is behind the hand while that performs."""
    character: Id | None = None
    """Who is seen on the stage and in exports instead of the mannequin."""
    character_name: Annotated[str, Field(max_length=200)] = ""
    shown: Annotated[list[Name], Field(max_length=24)] = []
    """Motions on the stage, as "clip:ID" or "result:ID"; the first is the one that the timeline shows."""


class ProjectDocument(Message):
    """The project as its user made it. Undo and redo go through whole documents; the server keeps them."""

    name: Name = "Untitled"
    clips: Annotated[list[ClipEntry], Field(max_length=20_000)] = []
    graph: GraphAsk = GraphAsk()
    requests: Annotated[dict[Name, Draft], Field(max_length=200)] = {}
    """What is asked of each verb, as its request files have it. What is still missing in a draft may be missing."""
    subjects: Annotated[dict[Name, Name], Field(max_length=200)] = {}
    """The motion that each verb works on which changes one: "clip:ID" or "result:ID"."""
    kept: Annotated[list[Id], Field(max_length=1000)] = []
    """Results that were marked to be kept; the others go when there are too many."""
    removed: Annotated[list[Id], Field(max_length=1000)] = []
    """Results that are not listed any more; undoing lists them again."""
    names: Annotated[dict[Name, Name], Field(max_length=1000)] = {}
    """Names given to results, instead of their own."""
