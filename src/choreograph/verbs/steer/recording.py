"""Recording steered characters: what was shown, tick by tick, as a montage that finishing makes a motion of."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from choreograph.base.arrays import Floats, Ints
from choreograph.base.errors import RequestError
from choreograph.motion.clip import Clip
from choreograph.motion.montage import Layer, Montage
from choreograph.verbs.steer.crowd import CrowdPoses


class SteerRecording:
    """The poses of a crowd at an even rate."""

    def __init__(self, clips: Sequence[Clip], rate_hz: float) -> None:
        """Begin.

        Args:
            clips: The recordings that characters show.
            rate_hz: Ticks per second.
        """
        self.clips, self.rate_hz = clips, rate_hz
        self._clip: list[Ints] = []
        self._layers: list[Floats] = []

    def __len__(self) -> int:
        """Number of frames."""
        return len(self._clip)

    def take(self, poses: CrowdPoses) -> None:
        """Keep what is shown."""
        self._clip.append(poses.clip)
        self._layers.append(poses.layers)

    def montage(self, character: int = 0) -> Montage:
        """What one character did.

        Raises:
            RequestError: If nothing was recorded.
        """
        if not self._clip:
            raise RequestError("nothing was recorded yet")
        clip = np.array([frame[character] for frame in self._clip])
        slots = np.array([frame[character] for frame in self._layers])
        layers = []
        for slot in (0, 1):
            at = np.flatnonzero(slots[:, slot, 4] > 1e-9)
            if len(at):
                rows = slots[at, slot]
                layers.append(
                    Layer(at=at, clip=clip[at, slot], frame=rows[:, 0], place=rows[:, 1:4], weight=rows[:, 4])
                )
        names = tuple(one.name for one in self.clips)
        return Montage(self.clips, names, self.clips[0].skeleton, self.rate_hz, layers)
