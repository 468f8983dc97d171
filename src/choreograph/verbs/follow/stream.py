"""Motion as it is found: frames are handed out at once while another thread searches and finishes what comes next.

The search runs ahead of what is shown by a few seconds. Frames that are finished wait in a buffer; `next` takes them
out of it and does nothing else. See `producer.py` for what the thread does.
"""

from __future__ import annotations

import threading
import weakref
from collections import deque
from collections.abc import Iterator
from pathlib import Path as FilePath
from types import TracebackType
from typing import Self

from choreograph.base.errors import RequestError
from choreograph.contract.verb import GRAPH, File
from choreograph.finishing.inertialisation import fade_frames
from choreograph.finishing.settings import FinishSettings
from choreograph.graph.model import MotionGraph
from choreograph.scene.path import Path
from choreograph.scene.path_files import load_path
from choreograph.verbs.clip_selection import narrow
from choreograph.verbs.follow.follower import PathFollower
from choreograph.verbs.follow.long_blend_graph import graph_for
from choreograph.verbs.follow.producer import LAG_S, PathChange, Producer
from choreograph.verbs.follow.request import FollowRequest
from choreograph.verbs.follow.tables import EdgeTables
from choreograph.verbs.streaming import Frame

__all__ = ["AHEAD_S", "KEEP_S", "LAG_S", "MotionStream"]

AHEAD_S = 2.0
"""Seconds of finished motion below which the thread makes more: it makes about one at a time."""
KEEP_S = 0.6
"""Seconds after the newest frame handed out that stay as they are when the path changes: time to search anew."""


class MotionStream:
    """A walk along a path, frame by frame: iterate over it, or call `next` whenever a frame is due.

    A thread searches ahead; it ends with the path, with `close`, at the end of a `with` block, or when nobody has the
    stream any more. Which frames come depends on the calls alone, never on how fast the thread is.

    >>> import choreograph as cg
    >>> from choreograph.demo import demo_clip
    >>> graph = cg.build_graph([demo_clip(name, 30.0) for name in ("walk", "walk_veer_left", "walk_veer_right")])
    >>> with cg.MotionStream(graph, cg.load_path("line:length=4")) as stream:
    ...     next(stream).number
    0
    """

    def __init__(
        self,
        graph: MotionGraph | File,
        path: Path | str | FilePath,
        request: FollowRequest | None = None,
        finish_settings: FinishSettings | None = None,
        *,
        tables: EdgeTables | None = None,
    ) -> None:
        """Begin to search.

        Args:
            graph: Where walks come from, or the name of its file.
            path: The line to follow, or its file or shape: see `load_path`.
            request: How, and what is wanted along this path and those that it is changed to; its own does not count.
            finish_settings: How the walk becomes motion, if not as the request says; its rate must be a multiple of
                the graph's.
            tables: The graph's tables, if they are at hand; streams and searches on one graph can share them.

        Raises:
            RequestError: If the request does not fit the graph, or the rate does not.
        """
        self._request = request or FollowRequest()
        given, line = GRAPH.read(graph), self._asked(path)
        graph = graph_for(narrow(given, self._request).subject, self._request, line.stretches)
        follower = PathFollower(graph, line, self._request, tables=tables if graph is given else None)
        wanted = finish_settings or self._request.finish
        self.rate_hz = wanted.rate_hz or max(info.fps for info in graph.infos)
        """Frames per second."""
        ratio = self.rate_hz / graph.rate_hz
        if abs(ratio - round(ratio)) > 1e-9:
            raise RequestError(
                f"a stream's rate must be a multiple of the graph's ({graph.rate_hz:g} Hz), not {self.rate_hz:g} Hz; "
                "give rate_hz in the finish settings"
            )
        producer = Producer(follower, wanted.with_(rate_hz=self.rate_hz), round(ratio))
        self._buffer = _Buffer(producer, round(AHEAD_S * self.rate_hz), fade_frames(self.rate_hz))
        self._keep = round(KEEP_S * self.rate_hz)
        # The thread knows the buffer only, so it does not keep a stream alive that nobody has.
        weakref.finalize(self, _Buffer.close, self._buffer)
        self._buffer.start()

    def change_path(self, path: Path | str | FilePath) -> None:
        """Follow another path from `KEEP_S` after the newest frame handed out, or up to a planning step later.

        The frames up to there stay; the character joins the path at the point nearest to where it is then. A stream
        that has come to its end goes on.
        """
        self._buffer.change(self._asked(path), self._keep)

    def _asked(self, path: Path | str | FilePath) -> Path:
        """A path with what the request asks along it."""
        if isinstance(path, str | FilePath):
            path = load_path(path)
        elif not isinstance(path, Path):
            raise RequestError(
                f"a stream follows a path, or what load_path takes, not {type(path).__name__}", where="path"
            )
        return self._request.asked_along(path)

    def __iter__(self) -> Iterator[Frame]:
        """The stream itself: frames in order, until the path's end."""
        return self

    def __next__(self) -> Frame:
        """The next frame; waits for it only where none is finished, as at the start.

        Raises:
            StopIteration: At the path's end, until the path is changed; or after `close`.
            ChoreographError: What went wrong while the thread searched, once all finished frames were handed out.
        """
        return self._buffer.take()

    @property
    def frames_ahead(self) -> int:
        """Finished frames that wait to be handed out: how many depends on how fast the thread is."""
        return len(self._buffer.frames)

    def close(self) -> None:
        """Stop searching and wait for the thread to end, which takes a planning step at the most."""
        self._buffer.close()
        self._buffer.join()

    def __enter__(self) -> Self:
        """The stream; it is closed when the block ends."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the stream."""
        self.close()


class _Buffer:
    """Finished frames between the thread that makes them and the one that takes them."""

    def __init__(self, producer: Producer, ahead: int, fade: int) -> None:
        self._producer, self._ahead, self._fade = producer, ahead, fade
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._taken = 0
        self._changes: list[PathChange] = []
        self._closed = False
        self._error: BaseException | None = None
        self.frames: deque[Frame] = deque()

    # ------------------------------------------------------------------ for those who take frames

    def start(self) -> None:
        """Let a thread make frames until there is nothing more to make."""
        self._thread = threading.Thread(target=self._run, name="choreograph stream", daemon=True)
        self._thread.start()

    def take(self) -> Frame:
        # Without the lock: whoever waits for it waits for the interpreter too, which the thread may have for 5 ms.
        try:
            frame = self.frames.popleft()
        except IndexError:
            frame = self._wait()
        self._taken = frame.number + 1
        # Nobody is woken while enough is made: a thread that wakes wants the interpreter, and so does the caller.
        # Where the thread has the lock it is awake; if it just goes to sleep, the next frame wakes it.
        if self._wants_more() and self._changed.acquire(blocking=False):
            self._changed.notify_all()
            self._changed.release()
        return frame

    def _wait(self) -> Frame:
        """The next frame, once it is made."""
        with self._changed:
            while not self.frames:
                if self._error is not None:
                    raise self._error
                if self._closed or self._thread is None:
                    raise StopIteration
                self._changed.notify_all()
                self._changed.wait()
            return self.frames.popleft()

    def change(self, path: Path, keep: int) -> None:
        with self._changed:
            cut = self._taken + keep
            self._changes.append(PathChange(cut, path))
            while self.frames and self.frames[-1].number >= cut:
                self.frames.pop()
            if self._thread is None and not self._closed and self._error is None:
                self.start()
            self._changed.notify_all()

    def close(self) -> None:
        with self._changed:
            self._closed = True
            self.frames.clear()
            self._changed.notify_all()

    def join(self) -> None:
        thread = self._thread
        if thread is not None:
            thread.join()

    def _wants_more(self) -> bool:
        """Whether fewer frames wait than should."""
        return self._producer.made - self._taken < self._ahead

    # ------------------------------------------------------------------ the thread

    def _run(self) -> None:
        try:
            while self._work():
                pass
        except BaseException as error:  # whatever it is, it is raised where frames are taken
            with self._changed:
                self._error, self._thread = error, None
                self._changed.notify_all()

    def _work(self) -> bool:
        """Make the next frames, or turn to another path; whether there is more to do."""
        change = None
        with self._changed:
            while True:
                if self._closed or (self._producer.over and not self._changes):
                    self._thread = None
                    self._changed.notify_all()
                    return False
                # All that stays must be there, with what was expected after it, before it is cut off.
                if self._changes and (self._producer.over or self._producer.made >= self._changes[0].cut + self._fade):
                    change = self._changes.pop(0)
                    break
                if self._changes or self._wants_more():
                    break
                self._changed.wait()
            taken = self._taken
        if change is not None:
            self._producer.change(change)
            return True
        made = self._producer.make(taken)
        with self._changed:
            cut = self._changes[0].cut if self._changes else made[-1].number + 1 if made else 0
            if not self._closed:
                self.frames.extend(frame for frame in made if frame.number < cut)
            self._changed.notify_all()
        return True
