"""Motion as it is found: frames can be shown while the rest of the walk is still being searched for.

The search runs ahead of what is shown by a second or two. Each time it has found more, the last few seconds are
finished anew (blended, feet cleaned), and frames are handed out up to a short lag behind the end, where nothing that is
still to come can move them much. What little it does is faded in, so that no joint jumps.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from choreograph.errors import RequestError
from choreograph.finishing.finish import Finished, finish
from choreograph.finishing.inertialisation import Inertialisation
from choreograph.finishing.settings import FinishSettings
from choreograph.graph.model import MotionGraph
from choreograph.maths.floor import FloorTransform
from choreograph.synthesis.follow.follower import PathFollower
from choreograph.synthesis.follow.request import FollowRequest
from choreograph.synthesis.follow.tables import EdgeTables
from choreograph.synthesis.path import Path
from choreograph.synthesis.streaming import Frame, as_frames
from choreograph.synthesis.walk import Walk

LAG_S = 1.2
"""Seconds between the newest frame found and the newest handed out: a step, so that each plant is known whole."""
_CONTEXT_S = 6.0
"""Seconds of motion before the newest frame that are finished anew each time."""


class MotionStream:
    """A walk along a path, frame by frame: iterate over it.

    `change_path` takes effect for all that has not been searched yet.
    """

    def __init__(
        self,
        graph: MotionGraph,
        path: Path,
        request: FollowRequest | None = None,
        finish_settings: FinishSettings | None = None,
        *,
        tables: EdgeTables | None = None,
    ) -> None:
        self.follower = PathFollower(graph, path, request, tables=tables)
        fastest = max(info.fps for info in graph.infos)
        wanted = finish_settings or FinishSettings()
        self.rate_hz = wanted.rate_hz or fastest
        """Frames per second."""
        ratio = self.rate_hz / graph.rate_hz
        if abs(ratio - round(ratio)) > 1e-9:
            raise RequestError(
                f"a stream's rate must be a multiple of the graph's ({graph.rate_hz:g} Hz), not {self.rate_hz:g} Hz; "
                "give rate_hz in the finish settings"
            )
        self._per_frame = round(ratio)
        self._settings = wanted.with_(rate_hz=self.rate_hz)
        self._shown = 0
        self._inertialisation = Inertialisation(feet=self._settings.clean)

    def change_path(self, path: Path) -> None:
        """Follow another path from where the search has come to."""
        self.follower.change_path(path)

    def __iter__(self) -> Iterator[Frame]:
        """Frames in order, until the path's end."""
        while True:
            gained = self.follower.step()
            if self.follower.edges:
                yield from self._hand_out(self.follower.status != "searching")
            # Asked again, because the path may have been changed while the last frames were shown.
            if self.follower.status != "searching" or not gained:
                return

    def _hand_out(self, over: bool) -> Iterator[Frame]:
        first, made = self._finish_tail()
        clip, origins = made.clip, made.origins
        stop = len(clip) if over else len(clip) - round(LAG_S * self.rate_hz)
        begin = self._shown - first
        if stop <= begin:
            return
        shown = self._inertialisation.take(self._shown, clip[begin:], stop - begin)
        self._shown = first + stop
        yield from as_frames(shown, first + begin, origins, begin)

    def _finish_tail(self) -> tuple[int, Finished]:
        """The last seconds of the walk as motion, and the number of their first frame."""
        whole = self.follower.walk()
        lengths = np.concatenate([[0], np.cumsum(whole.edge_frames)])
        graph = self.follower.graph
        # So much that what has not been handed out is in it, with enough before it.
        since = min(self._shown / self._per_frame, len(whole)) - _CONTEXT_S * graph.rate_hz
        edge = max(0, int(np.searchsorted(lengths, since, side="right")) - 1)
        places = whole.placements
        start = FloorTransform(*(float(column[edge]) for column in (places.yaw, places.x, places.z)))
        bends = None if whole.bends is None else whole.bends[edge:]
        tail = Walk(graph, whole.edges[edge:], start, len(whole) - int(lengths[edge]), bends)
        return int(lengths[edge]) * self._per_frame, finish(tail, self._settings)
