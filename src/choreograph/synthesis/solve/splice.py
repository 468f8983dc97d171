"""Splice: pieces of clips one after another, cut from frame to frame, each laid on the floor."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from choreograph.graph.model import MotionGraph
from choreograph.maths.floor import FloorTransform
from choreograph.motion.arrays import frozen
from choreograph.motion.montage import Cuts, Layer, Montage, Poses

if TYPE_CHECKING:
    from choreograph.finishing.settings import FinishSettings


@dataclass(frozen=True, eq=False)
class Splice:
    """K pieces, each the frames [start, stop) of a clip at the graph's rate.

    The first frame of a piece takes the place of frame `stop` of the piece before it; how far the two are apart is
    what finishing has to smooth.
    """

    graph: MotionGraph
    clip: NDArray[np.int32]
    start: NDArray[np.int32]
    stop: NDArray[np.int32]
    placements: FloorTransform
    """How each piece's clip lies on the floor, a batch of K."""
    exact: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    """Frames whose pose finishing is to leave as it was recorded, from 0 to `len(self)` - 1."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "exact", frozen(self.exact, np.int64))
        for name in ("clip", "start", "stop"):
            object.__setattr__(self, name, frozen(getattr(self, name), np.int32))
        last = self.graph.clip_frames[self.clip]
        if len(self.clip) == 0 or (self.start < 0).any() or (self.stop <= self.start).any() or (self.stop > last).any():
            raise ValueError("a splice needs pieces of one frame or more, each within its clip")

    @property
    def piece_frames(self) -> NDArray[np.int32]:
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
        first = np.concatenate([[0], np.cumsum(self.piece_frames)])
        count = math.floor((len(self) - 1) * rate / graph.rate_hz + 1e-6) + 1
        moment = np.arange(count) * (graph.rate_hz / rate)
        piece = np.minimum(np.searchsorted(first, moment + 1e-9, side="right") - 1, len(self.clip) - 1)
        into = self.start[piece] + np.maximum(moment - first[piece], 0.0)
        layer = Layer(
            at=np.arange(count),
            clip=self.clip[piece],
            frame=graph.own_frames(self.clip[piece], into),
            place=self.placements.as_rows().reshape(-1, 3)[piece],
        )
        last = len(self.clip) - 1
        cuts = Cuts(
            first[1:-1] / graph.rate_hz,
            self._poses(np.arange(last), self.stop[:last]),
            self._poses(np.arange(1, last + 1), self.start[1:]),
        )
        exact = np.unique(np.round(self.exact * (rate / graph.rate_hz)).astype(np.int64))
        names = tuple(info.name for info in graph.infos)
        return Montage(graph.clips, names, graph.skeleton, rate, (layer,), cuts=cuts, exact=exact)

    def _poses(self, piece: NDArray[np.int64], frame: NDArray[np.int32]) -> Poses:
        """Frames of the clips of some pieces, as they lie on the floor."""
        clip = self.clip[piece]
        place = self.placements.as_rows().reshape(-1, 3)[piece]
        return Poses(clip=clip, frame=self.graph.own_frames(clip, frame.astype(float)), place=place)
