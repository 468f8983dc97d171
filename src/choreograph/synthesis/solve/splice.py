"""Splice: pieces of clips one after another, cut from frame to frame, each laid on the floor."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from choreograph.graph.model import MotionGraph
from choreograph.maths.floor import FloorTransform
from choreograph.motion.arrays import frozen


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
