"""What a stream's thread does: search a step further, finish the last seconds anew, say which frames are final.

Frames are final up to a short lag behind the end of what was found, where nothing that is still to come can move them
much. What little it does is faded in, so that no joint jumps. A changed path cuts off what comes after a given frame;
the search goes back to the first planning step that ends behind it, and on along the new path. All of that follows
from the order of the calls, so the frames do too.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from choreograph.finishing.finish import Finished, finish
from choreograph.finishing.inertialisation import Inertialisation, fade_frames
from choreograph.finishing.settings import FinishSettings
from choreograph.motion.clip import Clip
from choreograph.scene.path import Path
from choreograph.verbs.follow.follower import PathFollower
from choreograph.verbs.streaming import Frame, as_frames

LAG_S = 1.2
"""Seconds between the newest frame found and the newest that is final: a step, so that each plant is known whole."""
_CONTEXT_S = 4.0
"""Seconds of motion before the newest final frame that are finished anew each time."""


class PathChange(NamedTuple):
    """Another path."""

    cut: int
    """Frames before this one stay."""
    path: Path


class _Batch(NamedTuple):
    """Frames that were made at once."""

    first: int
    """Number of the first."""
    clip: Clip


class Producer:
    """Makes the frames of a walk, some at a time."""

    def __init__(self, follower: PathFollower, settings: FinishSettings, per_frame: int) -> None:
        """Prepare it.

        Args:
            follower: The search, not yet begun.
            settings: How the walk becomes motion, with a rate.
            per_frame: Frames of the stream for each frame of the search.
        """
        self._follower, self._settings, self._per_frame = follower, settings, per_frame
        assert settings.rate_hz is not None
        self._rate_hz = float(settings.rate_hz)
        self._inertialisation = Inertialisation(feet=settings.clean)
        self._batches: list[_Batch] = []
        self._steps: list[PathFollower] = []  # the search as it was after each planning step
        self.made = 0
        """Frames that are final."""
        self.over = False
        """Whether the path's end is reached and all frames are final."""

    def make(self, taken: int) -> list[Frame]:
        """Search a step further; the frames that are final now.

        Args:
            taken: Frames before this one are not asked for any more, nor is the path changed before it.
        """
        gained = self._follower.step()
        self.over = self._follower.status != "searching" or not gained
        if not self._follower.edges:
            self._follower.walk()  # says why there is none
        self._steps = [step for step in self._steps if step.frames * self._per_frame >= taken]
        self._steps.append(self._follower.copied())
        self._batches = [batch for batch in self._batches if batch.first + len(batch.clip) > taken]
        first, motion = self._finish_tail()
        stop = len(motion.clip) if self.over else len(motion.clip) - round(LAG_S * self._rate_hz)
        begin = self.made - first
        if stop <= begin:
            return []
        clip = self._inertialisation.take(self.made, motion.clip[begin:], stop - begin)
        self._batches.append(_Batch(self.made, clip))
        self.made = first + stop
        return as_frames(clip, first + begin, motion.origins, begin)

    def change(self, change: PathChange) -> None:
        """Turn to another path; frames from the cut on are made anew."""
        cut = min(change.cut, self.made)
        # Where the walk is over before, it goes on from its end.
        keep = next((k for k, s in enumerate(self._steps) if s.frames * self._per_frame >= cut), len(self._steps) - 1)
        del self._steps[keep + 1 :]
        self._follower = self._steps[keep].copied()
        self._follower.change_path(change.path)
        if cut < self.made:
            self._inertialisation.expect(cut, self._shown(cut))
        self._batches = [
            _Batch(first, clip if first + len(clip) <= cut else clip[: cut - first])
            for first, clip in self._batches
            if first < cut
        ]
        self.made = cut
        self.over = False

    def _shown(self, first: int) -> Clip:
        """What was made from a frame on, as far as it counts."""
        last = first + fade_frames(self._rate_hz)
        parts = []
        for begin, clip in self._batches:
            low, high = max(first - begin, 0), min(last - begin, len(clip))
            if low < high:
                parts.append(clip[low:high])
        root, rot = (np.concatenate([getattr(part, name) for part in parts]) for name in ("root_pos", "local_rot"))
        return Clip(parts[0].skeleton, self._rate_hz, root, rot)

    def _finish_tail(self) -> tuple[int, Finished]:
        """The last seconds of the walk as motion, and the number of their first frame."""
        graph = self._follower.graph
        edges = np.array(self._follower.edges)
        ends = np.concatenate([[0], np.cumsum(graph.edges.stop[edges] - graph.edges.start[edges], dtype=np.int64)])
        # So much that what is not yet final is in it, with enough before it.
        since = min(self.made / self._per_frame, self._follower.frames) - _CONTEXT_S * graph.rate_hz
        edge = max(0, int(np.searchsorted(ends, since, side="right")) - 1)
        return int(ends[edge]) * self._per_frame, finish(self._follower.walk(edge), self._settings)
