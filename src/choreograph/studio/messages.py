"""Everything that the studio's page and server say to each other, defined once.

The page's TypeScript types are generated from these models (`python -m choreograph.studio.typescript`), and both sides
tell their `PROTOCOL` when they meet, so that a page left open over an upgrade asks to be reloaded instead of guessing.

REST carries what is asked for once; the socket carries what happens by itself: jobs, changes made in another tab, and
frames. Lengths are metres, angles radians, times seconds, unless a name says otherwise; ranges are [start, stop).
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter

from choreograph.studio.character_facts import CharacterFacts, CharacterRoles, LiveFacts
from choreograph.studio.document import Draft, Id, Message, Name, ProjectDocument, Sample
from choreograph.studio.draft_asks import DraftAsk, Examples, FileAsk
from choreograph.studio.drag_messages import Drag
from choreograph.studio.export_asks import ExportAsk
from choreograph.studio.face_facts import FaceFacts, FaceFile, FaceSurface
from choreograph.studio.facts import (
    Curve,
    GraphSummary,
    Job,
    Matrix,
    Motion,
    Project,
    Recording,
    Result,
)
from choreograph.studio.find_facts import ArchivePage, FindAnswer, FindAsk
from choreograph.studio.verb_facts import VerbFacts

# ---------------------------------------------------------------- REST bodies


class DocumentChange(Message):
    """A new document; refused with 409 if `base` is not the present version."""

    base: int
    label: Name
    """What was done, for the Undo button: "Draw path"."""
    document: ProjectDocument


class DocumentState(Message):
    """Answer to every change of the document."""

    version: int
    document: ProjectDocument
    undo: str | None
    redo: str | None
    clips: list[Motion] | None
    """None where the change left the clips as they were: a library may be large, and edits are many."""
    graph: GraphSummary | None


class JobAsk(Message):
    """Work to be started. Verbs may also be asked over the socket, where newer requests replace older ones."""

    kind: Name
    """"build", "joins", "export", "output", or a verb."""
    ask: dict[str, Any] = {}
    """A verb's request; for `build`, a GraphAsk; for `export`, an ExportAsk, for `output`, an OutputAsk; the
    document's if empty."""
    subject: Name | None = None
    """The motion that the verb works on, if it changes one; the document's if None."""


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
    verb: Name
    number: int
    """Counts this page's requests; answers carry it."""
    ask: Draft
    subject: Name | None = None
    """The motion that the verb works on, if it changes one; the document's if None."""
    passing: bool = False
    """Whether another request follows soon, as while something is dragged: its results take the place of these."""


class Moved(Message):
    """Places of a way that is being performed, as they come; frames come back as `partial`, a fixed time later.

    When it is over, the whole of it is asked for like anything else.
    """

    type: Literal["moved"] = "moved"
    number: int
    """Of the performance; counts with this page's requests."""
    begin: Draft | None = None
    """With the first places: the request that they are answered by."""
    lag_s: Annotated[float, Field(ge=0.5, le=10)] = 1.5
    """How far the figure is behind the hand."""
    samples: Annotated[list[Sample], Field(max_length=1000)]


class Cancel(Message):
    """Stop a job."""

    type: Literal["cancel"] = "cancel"
    job: Id


class Play(Message):
    """Send a motion's frames as time goes by: for players that keep nothing."""

    type: Literal["play"] = "play"
    motion: Name
    rate_hz: Annotated[float, Field(ge=1, le=240)] = 60.0
    start: Annotated[int, Field(ge=0)] = 0
    loop: bool = False


class Stop(Message):
    """Stop sending frames."""

    type: Literal["stop"] = "stop"


ToServer = Annotated[Hello | Ask | Moved | Drag | Cancel | Play | Stop, Field(discriminator="type")]

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
    """What was asked for is here: fetch its frames. May come again, better, with the same number."""

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
REST: tuple[type[Message], ...] = (
    Project,
    ArchivePage,
    FindAsk,
    FindAnswer,
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
    DraftAsk,
    FileAsk,
    Examples,
    VerbFacts,
    FaceFacts,
    FaceFile,
    FaceSurface,
    CharacterFacts,
    CharacterRoles,
    LiveFacts,
)
"""Models that travel over REST; what they are made of comes with them."""
SAID_BY_PAGES = ("JobAsk", "FindAsk", "ExportAsk", "PreviewAsk", "DraftAsk", "FileAsk", "ToServer")
"""What pages may leave out where a default does; in all else every field is there."""


def schemas() -> tuple[dict[str, Any], dict[str, Any]]:
    """JSON Schema of every message under its name, and of what either side of the socket may say."""
    named: list[tuple[str, TypeAdapter[Any]]] = [(model.__name__, TypeAdapter(model)) for model in REST]
    named += [("ToServer", TO_SERVER), ("ToPage", TypeAdapter(ToPage))]
    modes: dict[str, Any] = {name: "validation" if name in SAID_BY_PAGES else "serialization" for name, _ in named}
    roots, whole = TypeAdapter.json_schemas([(name, modes[name], adapter) for name, adapter in named])
    return dict(whole["$defs"]), {name: roots[name, modes[name]] for name in ("ToServer", "ToPage")}
