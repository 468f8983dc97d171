"""What a worker process keeps between tasks, so that the next one is quick: clips, the graph, its tables."""

from __future__ import annotations

from collections import OrderedDict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from choreograph.base.errors import RequestError
from choreograph.contract.search import Search
from choreograph.formats.npz import read_npz
from choreograph.studio.archive import clip_number, file_stamp
from choreograph.studio.document import ClipEntry
from choreograph.studio.library import apply_entry
from choreograph.studio.project_paths import ProjectPaths

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from choreograph.contract.request import Request
    from choreograph.contract.verb import Verb
    from choreograph.graph.model import MotionGraph
    from choreograph.motion.clip import Clip
    from choreograph.motion.face import Face
    from choreograph.studio.tasks.performing import LivePerformance
    from choreograph.verbs.complete.interactive import Dragging

_RECORDINGS_KEPT = 64  # in memory, those used last
_SEARCHES_KEPT = 24  # for one subject, the latest
_SUBJECTS_KEPT = 2  # whose searches stay in memory


class WorkerContext:
    """A worker's tools and what lies on its bench."""

    def __init__(self, places: ProjectPaths) -> None:
        self.places = places
        self._recordings: OrderedDict[str, Clip] = OrderedDict()
        self._graph: tuple[tuple[str, int, int], MotionGraph] | None = None
        self._examples: tuple[str, list[Clip]] | None = None
        self._faces: list[Face] | None = None
        self._searches: OrderedDict[tuple[str, Hashable], list[Search]] = OrderedDict()
        """Searches by verb and subject, the newest last, from which the next request goes on."""
        self.performances: OrderedDict[str, LivePerformance] = OrderedDict()
        """Performances in progress, by page."""
        self.drags: OrderedDict[str, tuple[int, Dragging]] = OrderedDict()
        """Drags in progress, by page, with their numbers."""

    # ------------------------------------------------------------------ clips

    def recording(self, recording: str) -> Clip:
        """A recording of the project."""
        if (number := clip_number(recording)) is not None:
            return self._placed(recording, number)
        if recording not in self._recordings:
            self._recordings[recording] = read_npz(self.places.recording(recording))
        self._recordings.move_to_end(recording)
        while len(self._recordings) > _RECORDINGS_KEPT:
            self._recordings.popitem(last=False)
        return self._recordings[recording]

    def _placed(self, recording: str, number: int) -> Clip:
        """A clip that stays in the .mog file that was opened; the graph keeps those that were read lately."""
        path = self.places.given_graph
        if path is None or not path.is_file() or clip_number(recording, file_stamp(path)) is None:
            raise RequestError(f"{path or 'the motion graph'} has changed since it was opened; start the studio again")
        return self.graph(str(path)).clips[number]

    def clip(self, entry: ClipEntry) -> Clip:
        """A clip of the library."""
        return apply_entry(self.recording(entry.source), entry)

    def result(self, result: str, person: int = 0) -> Clip:
        """A person's motion in a result."""
        return read_npz(self.places.result(result, ".npz", person))

    # ------------------------------------------------------------------ the graph

    def graph(self, path: str | None) -> MotionGraph:
        """The project's graph, opened once.

        Raises:
            RequestError: If there is none.
        """
        if path is None:
            raise RequestError("there is no motion graph yet; build one first (panel Graph)")
        state = Path(path).stat()
        key = (path, state.st_mtime_ns, state.st_size)
        if self._graph is None or self._graph[0] != key:
            from choreograph.graph.store import open_graph

            self._graph = (key, open_graph(path))
        return self._graph[1]

    def examples(self, key: str, entries: Sequence[ClipEntry]) -> list[Clip]:
        """Clips of the library as recorded examples; the same list for the same key."""
        if self._examples is None or self._examples[0] != key:
            self._examples = (key, [self.clip(entry) for entry in entries])
        return self._examples[1]

    def faces(self) -> tuple[Hashable, list[Face]]:
        """The project's recorded faces, with what tells them from others; the same list as long as they stay."""
        from choreograph.studio.project_faces import find_faces

        faces = list(find_faces(self.places).values())
        if self._faces is None or [id(one) for one in self._faces] != [id(one) for one in faces]:
            self._faces = faces
        return tuple((id(one), one.name) for one in self._faces), self._faces

    # ------------------------------------------------------------------ searches

    def search(self, verb: Verb, key: Hashable, subject: Any, request: Request) -> Search:
        """The search for a request.

        A search that betters its answers goes on with those it has. One whose answer grows begins anew, since what has
        grown is the answer to another request, and so does one by steps, which finds the same everywhere; they take
        over what both need.
        """
        searches = self._searches.pop((verb.name, key), [])
        latest = searches[-1] if searches else None
        limit = type(request).model_fields.get("work_limit")
        by_steps = limit is not None and limit.default is None and getattr(request, "work_limit", None) is not None
        if latest is not None and not latest.grows and not by_steps and type(latest).change is not Search.change:
            latest.change(request)
        else:
            latest = verb.search(subject, request)
            for earlier in searches:
                latest.reuse(earlier)
            searches = [*searches, latest][-_SEARCHES_KEPT:]
        self._searches[verb.name, key] = searches
        while len(self._searches) > _SUBJECTS_KEPT:
            self._searches.popitem(last=False)
        return latest


def write_bytes(path: Path, data: bytes) -> None:
    """Write a file whole or not at all, over whatever was there."""
    from choreograph.formats.atomic import atomic_write

    with atomic_write(path, overwrite=True) as temporary:
        temporary.write_bytes(data)
