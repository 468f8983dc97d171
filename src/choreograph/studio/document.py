"""The document of a project: all that a person can change in the studio, and undo.

Lengths are metres, angles radians, times seconds, unless a name says otherwise; ranges are [start, stop).
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field


class Message(BaseModel):
    """What all messages share: unknown fields are errors, numbers are finite."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


Name = Annotated[str, Field(min_length=1, max_length=200)]
Id = Annotated[str, Field(pattern=r"^[a-z0-9_-]{1,64}$")]
Point = tuple[float, float]
Sample = tuple[float, float, float]
"""A moment of a performance: seconds, then x and z."""


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


class StretchAsk(Message):
    """What is wanted between two places of a path."""

    start: Annotated[float, Field(ge=0)]
    stop: Annotated[float, Field(ge=0)]
    speed: Annotated[float, Field(gt=0, le=20)] | None = None
    label: Name | None = None
    pause: Annotated[float, Field(gt=0, le=3600)] | None = None


class FollowAsk(Message):
    """A path to be followed, and how."""

    points: Annotated[list[Point], Field(max_length=20_000)] = []
    """As drawn, x and z; empty while nothing is drawn."""
    smooth_m: Annotated[float, Field(ge=0, le=5)] = 0.3
    rounded_m: Annotated[float, Field(ge=0, le=5)] = 0.0
    stretches: Annotated[list[StretchAsk], Field(max_length=200)] = []
    final_facing: float | None = None
    blend: Literal["linear", "cubic", "anticipation"] = "cubic"
    preset: Name = "even"
    clean: bool = True
    margins: Annotated[dict[str, float], Field(max_length=1000)] = {}
    """Preference of clips by name, m²·s."""
    start_clip: Name | None = None
    start_frame: Annotated[int, Field(ge=0)] | None = None
    continue_from: Id | None = None
    """Walk on from the end of this result: its walk is kept, and the path begins where it ends."""
    count: Annotated[int, Field(ge=1, le=12)] = 1
    seed: Annotated[int, Field(ge=0, le=2**31)] = 0


class PerformAsk(Message):
    """What leads, which recordings show how it is answered, and how it is read; see `PerformSettings`."""

    lead: Literal["path", "body"] = "path"
    """A way over the floor with its timing, or a body that somebody follows."""
    examples: Annotated[list[Id], Field(max_length=2000)] | None = None
    """Clips that answer the tracks of their own hips; None are the walks of the library."""
    samples: Annotated[list[Sample], Field(max_length=20_000)] = []
    """The way as it was performed: times, x and z; empty while nothing was."""
    smooth_s: Annotated[float, Field(ge=0, le=5)] = 0.2
    lag_s: Annotated[float, Field(ge=0.5, le=10)] = 1.5
    """How far the figure is behind the hand while that performs."""
    pairs: Annotated[list[tuple[Id, Id]], Field(max_length=2000)] | None = None
    """Clips of two who moved together, leader first; None are those that their names pair."""
    leader: Id | None = None
    """The clip that leads."""
    cut: bool = False
    """Whether the longer clip of a pair is cut to the shorter."""
    stretch_s: Annotated[float, Field(ge=0, le=2)] | None = None
    """None is what suits the examples, here and below."""
    continuity_s: Annotated[float, Field(ge=0, le=100)] | None = None
    beam_m2_s: Annotated[float, Field(gt=0, le=1000)] | None = None
    """None is exact."""
    clean: bool = True
    """Whether planted feet are kept still and hands are held."""


class BodyAsk(Message):
    """Where the body is on the floor at a time, and where it looks."""

    at_s: float
    position: Point
    facing_deg: float | None = None
    """0 looks along +z, 90 along +x; None for anywhere."""
    weight: float = 1.0


Coordinates = tuple[float | None, float | None, float | None]
"""x, y and z; None for one that does not matter."""


class JointAsk(Message):
    """Where a joint is at a time, and how it moves."""

    at_s: float
    joint: Name
    position: Coordinates = (None, None, None)
    velocity: Coordinates = (None, None, None)
    weight: float = 1.0


class PoseAsk(Message):
    """A pose like that of a clip's frame at a time."""

    at_s: float
    clip: Name
    frame: int
    weight: float = 1.0


class HardFrameAsk(Message):
    """Exactly this frame of this clip at a time, and what follows it for so long."""

    at_s: float
    clip: Name
    frame: int
    lasts_s: float = 0.0


class LabelAsk(Message):
    """Motion with a label from one time to another."""

    start_s: float
    stop_s: float
    label: Name
    weight: float = 1.0


class Circle(Message):
    """Round, on the floor."""

    centre: Point
    radius: float


class Box(Message):
    """A rectangle along the axes."""

    low: Point
    high: Point


class Polygon(Message):
    """Corners in order."""

    corners: Annotated[list[Point], Field(max_length=200)]


class ObstacleAsk(Message):
    """Something to keep clear of: one of the three shapes."""

    circle: Circle | None = None
    box: Box | None = None
    polygon: Polygon | None = None
    clearance: float = 0.3
    weight: float = 1.0


class SolveAsk(Message):
    """Constraints on a motion, as request files of `choreograph solve` have them, and how to search.

    What the numbers may be, the request itself says: its sentences name the constraint by its place.
    """

    length_s: float = 8.0
    body: Annotated[list[BodyAsk], Field(max_length=200)] = []
    joints: Annotated[list[JointAsk], Field(max_length=200)] = []
    poses: Annotated[list[PoseAsk], Field(max_length=200)] = []
    frames: Annotated[list[HardFrameAsk], Field(max_length=200)] = []
    labels: Annotated[list[LabelAsk], Field(max_length=200)] = []
    obstacles: Annotated[list[ObstacleAsk], Field(max_length=200)] = []
    min_piece_s: float = 0.33
    count: Annotated[int, Field(ge=1, le=12)] = 4
    seconds: Annotated[float, Field(gt=0, le=600)] = 3.0
    """How long to search; asked once more, the search goes on for as long again."""
    seed: Annotated[int, Field(ge=0, le=2**31)] = 0


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
    shown: Annotated[list[str], Field(max_length=24)] = []
    """Motions on the stage, as "clip:ID" or "result:ID"; the first is the one that the timeline shows."""


class Document(Message):
    """The project as its user made it. Undo and redo go through whole documents; the server keeps them."""

    name: Name = "Untitled"
    clips: Annotated[list[ClipEntry], Field(max_length=20_000)] = []
    graph: GraphAsk = GraphAsk()
    follow: FollowAsk = FollowAsk()
    solve: SolveAsk = SolveAsk()
    perform: PerformAsk = PerformAsk()
    kept: Annotated[list[Id], Field(max_length=1000)] = []
    """Results that were marked to be kept; the others go when there are too many."""
    removed: Annotated[list[Id], Field(max_length=1000)] = []
    """Results that are not listed any more; undoing lists them again."""
    names: Annotated[dict[str, Name], Field(max_length=1000)] = {}
    """Names given to results, instead of their own."""
