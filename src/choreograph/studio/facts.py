"""What the server knows and the page shows: recordings, motions, the graph, results and jobs."""

from __future__ import annotations

from typing import Any, Literal

from choreograph.contract.problem import Problem
from choreograph.contract.result import Metric
from choreograph.studio.document import Draft, GraphAsk, Id, LabelRange, Message, Name, Point, ProjectDocument, View
from choreograph.studio.find_facts import ArchiveFacts


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
    """Whose figure it moves: `/api/figures/{skeleton}.glb`; "face" for a face, whose joints are blend shapes and whose
    frames are rows of their weights."""
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
    measured: bool = True
    """False of a file that was just opened: how much of it takes part, and what it can do, is told later."""
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


class Project(Message):
    """All that a page needs to begin."""

    protocol: str
    package: str
    folder: str
    version: int
    """Of the document."""
    document: ProjectDocument
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
