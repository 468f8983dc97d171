"""Splice: pieces of clips one after another, cut from frame to frame, each laid on the floor."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from choreograph.base.arrays import Floats, Ints, Ints32, frozen
from choreograph.base.floor import FloorTransform
from choreograph.graph.model import MotionGraph
from choreograph.motion.montage import Cuts, Layer, Montage, Poses

if TYPE_CHECKING:
    from choreograph.finishing.settings import FinishSettings


_EASE_S = 0.25
"""Seconds on either side of a hard frame over which its piece is played a little faster or slower, so that the frame
comes at its time; a piece that begins or ends sooner does so with other frames."""
_KEPT_EVERY_S = 0.1
"""Within a hard stretch the recorded pose is kept so often."""


class HardFrames(NamedTuple):
    """Frames of recordings that are to be shown at given times, N of them, in order of time."""

    at_s: Floats
    """When, (N,), seconds."""
    frame: Floats
    """Which, (N,), at the recording's own rate."""
    duration_s: Floats
    """How long the recording goes on from there, (N,)."""

    @classmethod
    def none(cls) -> HardFrames:
        """No frames."""
        return cls(np.zeros(0), np.zeros(0), np.zeros(0))


@dataclass(frozen=True, eq=False)
class Splice:
    """K pieces, each the frames [start, stop) of a clip at the graph's rate.

    The first frame of a piece takes the place of frame `stop` of the piece before it; how far the two are apart is
    what finishing has to smooth.
    """

    graph: MotionGraph
    clip: Ints32
    start: Ints32
    stop: Ints32
    placements: FloorTransform
    """How each piece's clip lies on the floor, a batch of K."""
    hard: HardFrames = field(default_factory=HardFrames.none)
    """Frames that are shown exactly, though times and frames lie between those of the graph; each in one piece."""
    length_s: float | None = None
    """How long it lasts; from its first to its last frame if not given."""

    def __post_init__(self) -> None:
        for name in ("clip", "start", "stop"):
            object.__setattr__(self, name, frozen(getattr(self, name), np.int32))
        last = self.graph.clip_frames[self.clip]
        if len(self.clip) == 0 or (self.start < 0).any() or (self.stop <= self.start).any() or (self.stop > last).any():
            raise ValueError("a splice needs pieces of one frame or more, each within its clip")

    @property
    def piece_frames(self) -> Ints32:
        """Frames of each piece, (K,)."""
        return np.asarray(self.stop - self.start)

    def __len__(self) -> int:
        """Frames at the graph's rate."""
        return int(self.piece_frames.sum())

    def as_montage(self, settings: FinishSettings | None = None) -> Montage:
        """The splice as one layer with cuts; its last output frame shows the splice's last frame.

        Args:
            settings: The output's rate.
        """
        graph = self.graph
        rate = settings.rate_hz if settings is not None else None
        rate = rate or max(graph.infos[clip].fps for clip in np.unique(self.clip))
        lasts_s = (len(self) - 1) / graph.rate_hz if self.length_s is None else self.length_s
        count = math.floor(lasts_s * rate + (0.5 if self.length_s is not None else 1e-6)) + 1
        timing = _Timing(self, rate, count)
        moment = np.arange(count, dtype=float) * (graph.rate_hz / rate)
        piece = np.searchsorted(timing.cuts, moment + 1e-9, side="right")
        layer = Layer(
            at=np.arange(count),
            clip=self.clip[piece],
            frame=timing.own_frames(piece, moment),
            place=self.placements.as_rows().reshape(-1, 3)[piece],
        )
        last = len(self.clip) - 1
        cuts = Cuts(
            timing.cuts / graph.rate_hz,
            self._poses(timing, np.arange(last), timing.cuts),
            self._poses(timing, np.arange(1, last + 1), timing.cuts),
        )
        names = tuple(info.name for info in graph.infos)
        return Montage(graph.clips, names, graph.skeleton, rate, (layer,), cuts=cuts, exact=timing.exact)

    def _poses(self, timing: _Timing, piece: Ints, moment: Floats) -> Poses:
        """What some pieces show at some moments, as it lies on the floor."""
        place = self.placements.as_rows().reshape(-1, 3)[piece]
        return Poses(clip=self.clip[piece], frame=timing.own_frames(piece, moment), place=place)


class _Timing:
    """Which frame of its clip a splice's piece shows when; moments are frames of the graph from the splice's first."""

    def __init__(self, splice: Splice, rate: float, count: int) -> None:
        self.splice = splice
        self.first = np.concatenate([[0], np.cumsum(splice.piece_frames)]).astype(float)
        self.cuts = self.first[1:-1].copy()
        """When each piece but the first begins, (K - 1,)."""
        steps = splice.graph.rate_hz / rate
        at = np.minimum(np.round(splice.hard.at_s * rate), count - 1)
        ends = np.minimum(np.round((splice.hard.at_s + splice.hard.duration_s) * rate), count - 1)
        every = max(1, round(_KEPT_EVERY_S * rate))
        kept = [np.append(np.arange(a, b, every), b) for a, b in zip(at, ends, strict=True)]
        self.exact = np.unique(np.concatenate([np.zeros(0), *kept])).astype(np.int64)
        """Output frames that keep their recorded pose."""
        self._known: dict[int, list[tuple[float, float]]] = {}
        whole = np.searchsorted(self.first, np.round(splice.hard.at_s * splice.graph.rate_hz) + 1e-9, side="right") - 1
        for n, piece in enumerate(np.clip(whole, 0, len(splice.clip) - 1).tolist()):
            begin, end = at[n] * steps, ends[n] * steps
            if piece > 0:
                self.cuts[piece - 1] = min(self.cuts[piece - 1], begin)
            if piece < len(self.cuts) and self.cuts[piece] <= end:
                self.cuts[piece] = end + steps
            late = splice.hard.frame[n] - self._plain(np.array([piece]), np.array([begin]))[0]
            self._known.setdefault(piece, []).extend([(begin, late), (end, late)])

    def own_frames(self, piece: Ints, moment: Floats) -> Floats:
        """Frames at the clips' own rates that some pieces show at some moments, (N,)."""
        own = self._plain(piece, moment)
        ease = _EASE_S * self.splice.graph.rate_hz
        for number, known in self._known.items():
            rows = np.flatnonzero(piece == number)
            times, late = (np.array(column) for column in zip(*sorted(known), strict=True))
            begin, end = self.first[number], self.first[number + 1]
            before = 0.0 if number and times[0] - begin >= ease else late[0]
            behind = 0.0 if number + 1 < len(self.first) - 1 and end - times[-1] >= ease else late[-1]
            times = np.concatenate([[min(begin, times[0])], times, [max(end, times[-1])]])
            own[rows] += np.interp(moment[rows], times, np.concatenate([[before], late, [behind]]))
        last = np.array([info.own_frames - 1 for info in self.splice.graph.infos])[self.splice.clip[piece]]
        return np.clip(own, 0.0, last)

    def _plain(self, piece: Ints, moment: Floats) -> Floats:
        """The same where no frame has to be shown exactly, also before a clip's first frame."""
        clip = self.splice.clip[piece]
        return self.splice.graph.own_frames(clip, self.splice.start[piece] + (moment - self.first[piece]))
