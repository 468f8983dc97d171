"""Everything that the studio's page and server say to each other, defined once.

The page's TypeScript types are generated from these models (`python -m choreograph.studio.typescript`), and both sides
tell their `PROTOCOL` when they meet, so that a page left open over an upgrade asks to be reloaded instead of guessing.

REST carries what is asked for once; the socket carries what happens by itself: jobs, changes made in another tab, and
frames. Lengths are metres, angles radians, times seconds, unless a name says otherwise; ranges are [start, stop).
"""

from __future__ import annotations

import hashlib
import json
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter


class Message(BaseModel):
    """What all messages share: unknown fields are errors, numbers are finite."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


Name = Annotated[str, Field(min_length=1, max_length=200)]
Id = Annotated[str, Field(pattern=r"^[a-z0-9_-]{1,64}$")]
Point = tuple[float, float]
Sample = tuple[float, float, float]
"""A moment of a performance: seconds, then x and z."""

# ---------------------------------------------------------------- the document: all that a person can change


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


# ---------------------------------------------------------------- what the server knows


class Recording(Message):
    """A motion file that was read into the project."""

    id: Id
    name: str
    file: str
    """Its file name, without folders."""
    format: str
    frames: int
    fps: float
    skeleton: Id
    joints: list[str]
    labels: list[LabelRange]
    notes: list[str]
    """What was odd about the file."""


class Motion(Message):
    """What the stage needs to know of a motion beside its frames."""

    id: str
    """"clip:ID" or "result:ID", followed by "/1" and so on where several people move."""
    name: str
    frames: int
    fps: float
    skeleton: Id
    """Whose figure it moves: `/api/figures/{skeleton}.glb`."""
    joints: list[str]
    """Names of the figure's bones, in the order in which frames have them."""
    parents: list[int]
    feet: list[str]
    """Names of the foot joints that `contacts` is about."""
    contacts: list[list[tuple[int, int]]]
    """For each foot, the frames [start, stop) during which it stands."""
    labels: list[LabelRange]
    sources: list[SourceRun]
    """Where frames come from, in order and without gaps; one run for a recording."""
    leads: bool = False
    """Whether it is the body that was followed, and not the answer."""


class SourceRun(Message):
    """Frames [start, stop) of a motion, and the clip that they show."""

    start: int
    stop: int
    clip: str
    """The clip's name."""
    clip_frame: float
    """Its frame at `start`."""
    blend: str | None = None
    """The clip that it is mixed with, during a transition."""


class ClipReport(Message):
    """What the graph made of a clip."""

    name: str
    state: str
    frames: int
    shown: int
    transitions: int
    why: str
    """A sentence, for clips that fell out."""
    joins_at_m: float | None


class GraphSummary(Message):
    """The graph of the project."""

    built_from: str
    """Hash of the clips and settings that it was built from."""
    current: bool
    """Whether those are still what the document says."""
    settings: GraphAsk
    threshold_m: float
    rate_hz: float
    clips: list[ClipReport]
    transitions: int
    frames: int
    shown: int
    labels: list[str]
    notes: list[str]


class Curve(Message):
    """Connectivity against the threshold."""

    threshold_m: list[float]
    shown_share: list[float]
    clip_share: list[float]
    transitions: list[int]


class Minimum(Message):
    """A place where two clips are alike: frames at the graph's rate, where windows start."""

    frame_a: int
    frame_b: int
    distance_m: float


class Matrix(Message):
    """Distances between all windows of two clips; the values themselves are at `values`, as a picture at `picture`."""

    clip_a: str
    clip_b: str
    rows: int
    columns: int
    rate_hz: float
    threshold_m: float
    largest_m: float
    minima: list[Minimum]


class Figures(Message):
    """How good a result is, in the units it is shown in."""

    seconds: float
    mean_cm: float | None = None
    worst_cm: float | None = None
    end_cm: float | None = None
    transitions_per_s: float | None = None
    slide_cm_s: float | None = None
    """Mean speed of planted feet."""
    cost: float | None = None
    proved: bool | None = None
    status: str = "complete"
    search_ms: float = 0.0
    total_ms: float = 0.0
    """From the request's arrival to the finished motion."""
    fit_cm: float | None = None
    """How far what led is from the recorded controls that it was explained by, root-mean-square."""
    partner_cm: float | None = None
    """How far hands and feet are from those of whoever was recorded with the leader, root-mean-square."""
    partner_root_cm: float | None = None
    """The same for the root over the floor, median."""


class Problem(Message):
    """A constraint that could not be met, for the stage to draw in red."""

    text: str
    place: tuple[float, float, float] | None = None
    """The nearest that there is."""
    distance_m: float | None = None
    where: str | None = None
    """The constraint's place in the request: "body[1]"."""


class ConstraintReport(Message):
    """How well a result meets one constraint."""

    where: str
    """Its place in the request: "body[1]"."""
    text: str
    """For people: "2.1 cm, 0.4°"."""
    met: bool
    cm: float | None = None
    """Distance from the position asked for. Of arrows before finishing, which makes up for it along the way."""
    degrees: float | None = None


class Piece(Message):
    """A recorded segment that a performance is made of: when, which, and how sure."""

    start_s: float
    stop_s: float
    recording: str
    recording_start_s: float
    recording_stop_s: float
    labels: list[str]
    residual_m: float
    """How far its control is from the one given, root-mean-square."""
    gap_m: float
    """How far it begins from where the piece before it ends."""
    sure: float
    """0 where another segment does as well, near 1 where none comes near."""
    rival: str | None
    """The next best segment."""


class Hold(Message):
    """Frames [start, stop) in which a hand of the first person holds one of the second."""

    start: int
    stop: int
    joint: int
    other: int


class Result(Message):
    """A motion that was asked for."""

    id: Id
    verb: str
    name: str
    created: str
    request: dict[str, Any]
    """What was asked, enough to ask it again."""
    figures: Figures
    problems: list[Problem] = []
    errors: list[ConstraintReport] = []
    """Of solve: one for each constraint."""
    motions: list[Motion]
    path: list[Point] = []
    """The path that was followed, after smoothing."""
    pieces: list[Piece] = []
    """What a performance was understood as."""
    holds: list[Hold] = []
    kept: bool = False
    command: str
    """The command line that gives the same."""
    python: str
    """The program that gives the same."""


class Job(Message):
    """Work that takes a while."""

    id: Id
    kind: Name
    title: str
    state: Literal["waiting", "running", "done", "failed", "cancelled"]
    stage: str = ""
    done: int = 0
    total: int = 0
    error: str | None = None
    results: list[str] = []
    """Ids of what it made: results, recordings or files, by kind."""
    started: float = 0.0
    """Seconds since the epoch."""
    seconds: float = 0.0


class Project(Message):
    """All that a page needs to begin."""

    protocol: str
    package: str
    folder: str
    version: int
    """Of the document."""
    document: Document
    view: View
    undo: str | None
    """Name of what Undo would undo."""
    redo: str | None
    recordings: list[Recording]
    clips: list[Motion]
    """One for each entry of the document, in its order."""
    graph: GraphSummary | None
    results: list[Result]
    jobs: list[Job]
    formats: list[str]
    """Suffixes that results can be downloaded as."""
    readable: list[str]
    """Suffixes that can be dropped in."""
    presets: list[str]
    verbs: list[str]


# ---------------------------------------------------------------- REST bodies


class DocumentChange(Message):
    """A new document; refused with 409 if `base` is not the present version."""

    base: int
    label: Name
    """What was done, for the Undo button: "Draw path"."""
    document: Document


class DocumentState(Message):
    """Answer to every change of the document."""

    version: int
    document: Document
    undo: str | None
    redo: str | None
    clips: list[Motion]
    graph: GraphSummary | None


class JobAsk(Message):
    """Work to be started. `follow`, `solve` and `perform` may also be asked over the socket, where newer ones replace
    older ones."""

    kind: Literal["build", "joins", "follow", "solve", "perform", "export"]
    ask: dict[str, Any] = {}
    """A FollowAsk, SolveAsk …; for `build`, a GraphAsk; for `export`, an ExportAsk; the document's if empty."""


class ExportAsk(Message):
    """A file to be made of a motion."""

    motion: str
    """"clip:ID" or "result:ID"."""
    suffix: Annotated[str, Field(pattern=r"^\.[a-z0-9]{2,5}$")]
    """Of a motion file, or ".mp4", ".gif", ".png"."""


class Code(Message):
    """How the same is done without the studio."""

    command: str
    """Command lines; comments say what they leave out."""
    python: str


class PreviewAsk(Message):
    """A transition to be looked at."""

    clip_a: Name
    frame_a: Annotated[int, Field(ge=0)]
    clip_b: Name
    frame_b: Annotated[int, Field(ge=0)]


class ExampleFacts(Message):
    """A recording that performances are made of."""

    clip: Id
    leader: Id | None
    """Who led it, where that is somebody else."""
    name: str
    seconds: float
    segments: int
    usual_m_s: float
    """Median speed of what leads it over the floor."""
    top_m_s: float


class Examples(Message):
    """What performances are made of, as an ask says."""

    examples: list[ExampleFacts]
    segments: int
    longest_s: float
    """Of the segments."""
    fastest_m_s: float
    stretch_s: float
    """What suits these examples, where the ask does not say."""
    continuity_s: float


class Kept(Message):
    """Whether a result is to be kept."""

    kept: bool


class Failure(Message):
    """Answer to whatever could not be done."""

    error: str
    """A sentence: what, where, what was found, what to try."""
    where: str | None = None
    """The field of the request that it is about."""


# ---------------------------------------------------------------- the socket, page to server


class Hello(Message):
    """First message of a page."""

    type: Literal["hello"] = "hello"
    protocol: str


class Ask(Message):
    """Ask for motion, now: replaces what this page last asked of the same verb."""

    type: Literal["ask"] = "ask"
    verb: Literal["follow", "solve", "perform"]
    number: int
    """Counts this page's requests; answers carry it."""
    ask: dict[str, Any]


class Moved(Message):
    """Places of a way that is being performed, as they come; frames come back as `partial`, a fixed time later.

    When it is over, the whole of it is asked for like anything else.
    """

    type: Literal["moved"] = "moved"
    number: int
    """Of the performance; counts with this page's requests."""
    begin: PerformAsk | None = None
    """With the first places: what they are answered by."""
    samples: Annotated[list[Sample], Field(max_length=1000)]


class Cancel(Message):
    """Stop a job."""

    type: Literal["cancel"] = "cancel"
    job: Id


class Play(Message):
    """Send a motion's frames as time goes by: for players that keep nothing."""

    type: Literal["play"] = "play"
    motion: str
    rate_hz: Annotated[float, Field(ge=1, le=240)] = 60.0
    start: Annotated[int, Field(ge=0)] = 0
    loop: bool = False


class Stop(Message):
    """Stop sending frames."""

    type: Literal["stop"] = "stop"


ToServer = Annotated[Hello | Ask | Moved | Cancel | Play | Stop, Field(discriminator="type")]

# ---------------------------------------------------------------- the socket, server to page


class Welcome(Message):
    """Answer to Hello."""

    type: Literal["welcome"] = "welcome"
    protocol: str
    page: Id


class JobChanged(Message):
    """A job began, went on or ended."""

    type: Literal["job"] = "job"
    job: Job


class DocumentChanged(Message):
    """Another page, or a job, changed the document."""

    type: Literal["document"] = "document"
    state: DocumentState


class LibraryChanged(Message):
    """Recordings came."""

    type: Literal["library"] = "library"
    recordings: list[Recording]


class GraphChanged(Message):
    """The graph was built."""

    type: Literal["graph"] = "graph"
    graph: GraphSummary


class Partial(Message):
    """Frames found so far of what was asked; a binary message with the frames follows at once.

    The binary message is float32, little-endian, `count` rows of 3 + 4·J numbers as `/frames` has them.
    """

    type: Literal["partial"] = "partial"
    number: int
    verb: str
    motion: Motion
    start: int
    """First frame in the binary message; frames before it stay as sent before."""
    count: int


class Answer(Message):
    """What was asked for is here: fetch its frames. For `solve`, may come again, better, with the same number."""

    type: Literal["answer"] = "answer"
    number: int
    verb: str
    final: bool = True
    results: list[Result]


class Refused(Message):
    """What was asked for cannot be had."""

    type: Literal["refused"] = "refused"
    number: int
    verb: str
    failure: Failure


class ResultsChanged(Message):
    """Results came, went or were renamed."""

    type: Literal["results"] = "results"
    results: list[Result]


class Frame(Message):
    """Announces the binary message after it: one frame, for `play`."""

    type: Literal["frame"] = "frame"
    motion: str
    frame: float
    due: float
    """When it was to be shown, seconds since the first."""


class Over(Message):
    """The motion that was played has ended."""

    type: Literal["over"] = "over"
    motion: str


class Trouble(Message):
    """A message was not understood; the socket stays open."""

    type: Literal["trouble"] = "trouble"
    failure: Failure


ToPage = Annotated[
    Welcome
    | JobChanged
    | DocumentChanged
    | LibraryChanged
    | GraphChanged
    | Partial
    | Answer
    | Refused
    | ResultsChanged
    | Frame
    | Over
    | Trouble,
    Field(discriminator="type"),
]

TO_SERVER: TypeAdapter[Any] = TypeAdapter(ToServer)
TO_PAGE: TypeAdapter[Any] = TypeAdapter(ToPage)
REST: tuple[type[Message], ...] = (
    Project,
    DocumentChange,
    DocumentState,
    JobAsk,
    ExportAsk,
    Code,
    PreviewAsk,
    Kept,
    Failure,
    Curve,
    Matrix,
    FollowAsk,
    SolveAsk,
    PerformAsk,
    Examples,
)
"""Models that travel over REST; what they are made of comes with them."""


def schema() -> dict[str, Any]:
    """JSON Schema of every message, under its name."""
    named: list[tuple[str, TypeAdapter[Any]]] = [(model.__name__, TypeAdapter(model)) for model in REST]
    named += [("ToServer", TO_SERVER), ("ToPage", TO_PAGE)]
    _, whole = TypeAdapter.json_schemas([(name, "serialization", adapter) for name, adapter in named])
    return dict(whole["$defs"])


PROTOCOL = hashlib.sha256(json.dumps(schema(), sort_keys=True).encode()).hexdigest()[:12]
"""Changes whenever a message does."""
