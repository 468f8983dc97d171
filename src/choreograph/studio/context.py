"""What a worker process keeps between tasks, so that the next one is quick: clips, the graph, its tables."""

from __future__ import annotations

from collections import OrderedDict
from pathlib import Path
from typing import TYPE_CHECKING

from choreograph.errors import RequestError
from choreograph.formats.npz import read_npz
from choreograph.studio.document import ClipEntry
from choreograph.studio.library import apply_entry
from choreograph.studio.places import Places

if TYPE_CHECKING:
    from choreograph.graph.model import MotionGraph
    from choreograph.motion.clip import Clip
    from choreograph.studio.tasks.performing import Performance
    from choreograph.studio.tasks.solve import Solving
    from choreograph.synthesis.follow.search import PathFollower
    from choreograph.synthesis.follow.tables import EdgeTables
    from choreograph.synthesis.perform.examples import SegmentDatabase

_RECORDINGS_KEPT = 64
_WALKS_KEPT = 24
_BASES_KEPT = 4


class WorkerContext:
    """A worker's tools and what lies on its bench."""

    def __init__(self, places: Places) -> None:
        self.places = places
        self._recordings: OrderedDict[str, Clip] = OrderedDict()
        self._graph: tuple[tuple[str, int, int], MotionGraph] | None = None
        self._tables: EdgeTables | None = None
        self.walks: OrderedDict[str, PathFollower] = OrderedDict()
        """Searches that ended, by result: to walk on from."""
        self.solving: Solving | None = None
        """The graph's cuts, and the search that the next request goes on from."""

        self.bases: OrderedDict[str, SegmentDatabase] = OrderedDict()
        """Segment databases of examples, by what they were made of."""
        self.performances: OrderedDict[str, Performance] = OrderedDict()
        """Performances in progress, by page."""

    # ------------------------------------------------------------------ clips

    def recording(self, recording: str) -> Clip:
        """A recording of the project."""
        if recording not in self._recordings:
            self._recordings[recording] = read_npz(self.places.recording(recording))
        self._recordings.move_to_end(recording)
        while len(self._recordings) > _RECORDINGS_KEPT:
            self._recordings.popitem(last=False)
        return self._recordings[recording]

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

            self._graph, self._tables = (key, open_graph(path)), None
            self.walks.clear()
        return self._graph[1]

    def tables(self, path: str | None) -> EdgeTables:
        """The tables that searches on the graph share."""
        graph = self.graph(path)
        if self._tables is None:
            from choreograph.synthesis.follow.prepare import find_edge_tables

            if len(graph.nodes) == 0:
                raise RequestError(
                    "the motion graph is empty: nothing in its clips connects; raise the threshold or set a goal "
                    "(panel Graph)"
                )
            self._tables = find_edge_tables(graph)
        return self._tables

    def keep_walk(self, result: str, follower: PathFollower) -> None:
        """Keep a search that ended, to walk on from."""
        self.walks[result] = follower
        while len(self.walks) > _WALKS_KEPT:
            self.walks.popitem(last=False)

    def keep_base(self, key: str, base: SegmentDatabase) -> None:
        """Keep a segment database at hand."""
        self.bases[key] = base
        while len(self.bases) > _BASES_KEPT:
            self.bases.popitem(last=False)


def write_bytes(path: Path, data: bytes) -> None:
    """Write a file whole or not at all, over whatever was there."""
    from choreograph.formats.atomic import atomic_write

    with atomic_write(path, overwrite=True) as temporary:
        temporary.write_bytes(data)
