"""What the server knows and the page shows: recordings, motions, the graph, results and jobs."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from choreograph.studio.document import Document, Draft, GraphAsk, Id, LabelRange, Message, Name, Point, View


class CharacterFacts(Message):
    """A character that is in the project."""

    id: Id
    name: Name
    joints: list[str]
    missing: list[str]
    """Joints of the legs that were not found; with any, it cannot walk."""
    animated: bool
    """Whether its file has motion, too."""
    own: bool
    """Whether it is somebody's character, not the mannequin that Choreograph writes into its own files."""
    roles: dict[str, str]
    """The joint of each part of the body, by its role; "" where none was found."""


class CharacterRoles(Message):
    """Which joints of a character are which parts of the body, as somebody says."""

    name: Name
    roles: Annotated[
        dict[Annotated[str, Field(max_length=40)], Annotated[str, Field(max_length=200)]], Field(max_length=64)
    ]
    """Joints by role; "" for none."""


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
    """A threshold that brings it in."""
    join: str = ""
    """What would bring it in, or that nothing does; empty where nobody has looked."""


class SpeedBand(Message):
    """What is recorded between two speeds, and the least radius of turns there."""

    said: str
    """The two speeds, as people say them."""
    seconds: float
    """In the graph."""
    outside_s: float
    """In what it left out."""
    left_m: float | None
    """None where all is straight."""
    right_m: float | None
    bent_m: float | None
    """What bending can make of it."""


class LabelTime(Message):
    """How long a label lasts."""

    label: str
    seconds: float
    """In the graph."""
    outside_s: float


class Coverage(Message):
    """What the recordings in the graph can do."""

    bands: list[SpeedBand]
    stops: str
    """A sentence on standing, stopping and starting."""
    labels: list[LabelTime]
    advice: list[str]
    """What would bring more, as sentences."""


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
    """All of them, or of an archive those that fell out, as many as people read."""
    clip_count: int = 0
    """How many clips there are, and how many take part."""
    kept_count: int = 0
    transitions: int
    frames: int
    shown: int
    labels: list[str]
    notes: list[str]
    coverage: Coverage | None = None


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


class Metric(Message):
    """A number that says how good a result is."""

    value: float
    unit: str
    text: str
    """What it measures, in a few words."""
    said: str
    """The value with its unit, as people say it."""


class Problem(Message):
    """Something that was asked for and is not so in the finished motion; the stage draws it in red."""

    text: str
    where: str = ""
    """Its place in the request: "body[1].position"; empty if it is about the whole."""
    asked: float | None = None
    got: float | None = None
    nearest: float | None = None
    """The nearest to what was asked that can be had, where that is known."""
    unit: str = ""
    place: tuple[float, float, float] | None = None
    """Where on the stage it shows."""


class Result(Message):
    """A motion that was asked for."""

    id: Id
    verb: str
    name: str
    created: str
    request: Draft
    """What was asked, enough to ask it again."""
    subject: str | None = None
    """The motion that was worked on: "clip:ID" or "result:ID"; None where it was the graph or the library."""
    answer: int = 1
    """Which of the request's answers it is."""
    metrics: dict[str, Metric] = {}
    problems: list[Problem] = []
    status: str = "complete"
    cost: float | None = None
    proved: bool = False
    """Whether nothing better can be had."""
    details: dict[str, Any] = {}
    """What only its verb knows."""
    mechanics: bool = False
    """Whether forces and torques are known: `/api/results/{id}/mechanics`."""
    search_s: float = 0.0
    total_s: float = 0.0
    """From the request's arrival to the finished motion."""
    motions: list[Motion]
    path: list[Point] = []
    """The line on the floor that belongs to it: the path that was asked for, or the way walked."""
    kept: bool = False
    passing: bool = False
    """Whether it was asked for while something was dragged, and makes room for the next."""
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


class ArchiveFacts(Message):
    """The clips of a .mog file, where there are too many to be listed one by one."""

    clips: int
    seconds: float
    first: Id
    """The clip that is shown before another is chosen."""
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
    from_s: Annotated[float, Field(ge=0)] | None = None
    to_s: Annotated[float, Field(ge=0)] | None = None
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
    archive: ArchiveFacts | None
    """Where a .mog file of very many clips was opened: they are asked for by the page at `/api/archive`."""
    graph: GraphSummary | None
    results: list[Result]
    jobs: list[Job]
    formats: list[str]
    """Suffixes that results can be downloaded as."""
    exporting: dict[str, Any]
    """JSON Schema of what can be asked of motion files."""
    readable: list[str]
    """Suffixes that can be dropped in."""


class OutputFacts(Message):
    """A file besides the motion that can be had of a verb's result."""

    name: Name
    """"picture", or as the verb calls it: "table"."""
    help: str
    suffixes: list[str]


class VerbFacts(Message):
    """A way of asking for motion: what the page makes its tab and its form of."""

    name: Name
    title: str
    summary: str
    subject: str
    """What it works on: "graph", "clip" or "examples"."""
    request: dict[str, Any]
    """JSON Schema of its requests."""
    guide: str
    outputs: list[OutputFacts] = []
    """Files besides the motion that can be had of its results."""
    changes_motion: bool = True
    """Whether its answer is another motion than it got."""
