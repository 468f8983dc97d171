"""Motion handed out in batches, of which each is worked out anew from a little before where the last one ended."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from choreograph.maths import quat

Array = NDArray[np.float64]

_FADE_S = 0.3
"""Seconds over which a correction of what is to come is faded in."""


class Handover:
    """Lets each batch begin where the last one promised that it would, so that no joint jumps."""

    def __init__(self, rate_hz: float) -> None:
        self._rate_hz = rate_hz
        self._promised: tuple[int, Array, Array] | None = None

    def take(self, first: int, begin: int, stop: int, root: Array, rot: Array) -> tuple[Array, Array]:
        """The batch as it is to be shown: the same, with what is to be made up for at its start faded out.

        Args:
            first: Number of the first frame given.
            begin: Index of the first frame to show.
            stop: Index after the last one.
            root: Root positions, (F, 3).
            rot: Rotations, (F, J, 4).
        """
        root, rot = np.array(root), np.array(rot)
        if self._promised is not None and self._promised[0] == first + begin:
            _, promised_root, promised_rot = self._promised
            length = max(1, round(_FADE_S * self._rate_hz))
            count = min(length, len(root) - begin)
            t = np.arange(count) / length
            fade = 1 - t * t * (3 - 2 * t)
            here = slice(begin, begin + count)
            root[here] += fade[:, None] * (promised_root - root[begin])
            turn = quat.as_rotvec(quat.multiply(promised_rot, quat.inverse(rot[begin])))
            eased = quat.from_rotvec(fade[:, None, None] * turn)
            rot[here] = quat.multiply(eased, rot[here])
            rot = quat.make_continuous(rot)
        # The frame after the last one, as it looks now: the next batch must begin there.
        self._promised = (first + stop, root[stop].copy(), rot[stop].copy()) if stop < len(root) else None
        return root, rot
