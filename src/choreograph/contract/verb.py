"""Verb: the one declaration from which every face offers it. Each stands in its room's `verb.py` as `VERB`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from choreograph.base.progress import Progress
from choreograph.contract.request import Request
from choreograph.contract.result import Answer, Metric, Result
from choreograph.contract.search import Search

if TYPE_CHECKING:
    from numpy.typing import NDArray


File = str | Path
"""A file by its name."""


@dataclass(frozen=True)
class Subject:
    """What a verb works on, and how it is read where a file is named instead."""

    name: str
    metavar: str
    help: str
    reader: str
    """The function that reads a file, as "module:function"; imported with the first file, since it stands above."""
    several: bool = False
    """Whether several files are one subject: then the reader gets their names in a list."""
    reading: tuple[str, ...] = ()
    """What the reader takes besides, of what commands know better than files."""

    def read(self, given: Any, **options: Any) -> Any:
        """What a verb's function works on: what it is given, or, of a file's name, what is in the file.

        >>> from choreograph.demo import demo_clip
        >>> from choreograph.formats import write_clip
        >>> walk = demo_clip("walk", 30.0)
        >>> write_clip("walk.npz", walk)
        >>> len(CLIP.read("walk.npz")) == len(walk), CLIP.read(walk) is walk
        (True, True)

        Args:
            given: A subject, the name of its file or names of its files, or several subjects by name.
            **options: What the reader takes besides.

        Raises:
            ChoreographError: If the file cannot be read; says why.
        """
        if isinstance(given, Mapping):
            return {name: self.read(one, **options) for name, one in given.items()}
        names = given if self.several and isinstance(given, list | tuple) else [given]
        if not names or not all(isinstance(name, File) for name in names):
            return given
        module, _, function = self.reader.partition(":")
        read = getattr(import_module(module), function)
        return read([str(name) for name in names], **options) if self.several else read(str(given), **options)


GRAPH = Subject("graph", "GRAPH", "A motion graph (.mog), made by build.", "choreograph.graph.store:open_graph")
CLIP = Subject("clip", "MOTION", "A motion file: BVH, ASF/AMC, NPZ, GLB, USD, FBX.", "choreograph.formats:read_clip")
EXAMPLES = Subject(
    "examples",
    "EXAMPLES",
    "Recorded examples: a folder, a pattern such as 'walks/*.bvh', or a motion graph (.mog).",
    "choreograph.verbs.examples:open_examples",
)
FACES = Subject(
    "faces",
    "FACES",
    "Recorded faces: blend shape weights as Live Link Face writes them (.csv), morph tracks (.glb), marker tracks "
    "(.csv), or folders of these.",
    "choreograph.verbs.face.sources:open_faces",
    several=True,
    reading=("fps",),
)


@dataclass(frozen=True)
class Output:
    """A file besides the motion that a verb can write."""

    name: str
    """Also of the option: "transcription"."""
    help: str
    suffixes: tuple[str, ...]
    write: Callable[[Path, Result, bool], None]
    """Gets the file, the result, of which the first answer counts, and whether it may overwrite."""


@dataclass(frozen=True)
class Preparation:
    """What a verb computes once for a subject and keeps in the cache, so that later requests begin at once."""

    name: str
    """As the cache lists it: "edge tables"."""
    text: str
    make: Callable[[Any, Progress], Any]
    """Gets the subject; computes, or reads what the cache holds."""


@dataclass(frozen=True)
class Verb:
    """A way to ask for motion."""

    name: str
    about: str
    """What help says below the summary: a few sentences."""
    request: type[Request]
    subject: Subject
    search: Callable[[Any, Any], Search]
    """Gets the subject and the request."""
    arguments: tuple[str, ...] = ()
    """Fields that the command line takes as arguments behind the subject."""
    takes_file: bool = False
    """Whether a request file is such an argument, since options alone cannot say what is wanted."""
    prepares: tuple[Preparation, ...] = ()
    trial: Request | None = None
    """A small request that any subject can answer: run before the first real one, it warms a process and compiles."""
    draw: Callable[[Path, Result, bool], None] | None = None
    """Writes a picture of a result: gets the file, the result, and whether it may overwrite."""
    picture_suffixes: tuple[str, ...] = (".png",)
    strokes: Callable[[Request, Answer], Sequence[tuple[NDArray[Any], float]]] | None = None
    """What was asked for as lines on the floor, for films: points (N, 2) and width, metres."""
    blocks: Callable[[Request], Sequence[tuple[NDArray[Any], float, float, str]]] | None = None
    """What stands there, for films: outline (N, 2), heights of lower and upper face, metres, and an sRGB hex string."""
    remeasure: Callable[[Request, Answer], Mapping[str, Metric]] | None = None
    """What an answer's metrics are once its motion was changed: those that may differ, by name."""
    outputs: tuple[Output, ...] = ()
    writes: Output | None = None
    """How its motion is written where that is no body's; else as all motion files are."""
    changes_motion: bool = True
    """Whether its answer is another motion than it got; else a command need not name a motion file to write."""
    runs_code: bool = False
    """Whether its requests may name Python functions, which a face lets run only where the user allows it."""
    examples: tuple[str, ...] = ()
    """Commands that help shows, without the program's name."""
    guide: str = ""
    """Page of the documentation."""

    @property
    def title(self) -> str:
        """As headings have it."""
        return self.name.capitalize()
