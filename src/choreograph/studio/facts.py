"""What the server knows and the page shows: recordings, motions, the graph, results and jobs."""

from __future__ import annotations

from typing import Any, Literal

from choreograph.studio.document import Document, GraphAsk, Id, LabelRange, Message, Name, Point, View


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
