"""All the windows of several clips end to end in flat arrays, as the compiled kernels want them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from choreograph.distance.window import WindowedClip, window_sum
from choreograph.errors import RequestError

Array = NDArray[np.float64]
Array32 = NDArray[np.float32]


class Library(NamedTuple):
    """Windows of many clips in one numbering: frame f and the window that begins with it share a number.

    Arrays by frame or window are those of `WindowedClip`. Rows of windows that no clip has are never read.
    A named tuple, since compiled functions take those as they are.
    """

    heights: Array
    floor: Array
    centroid: Array
    centre: Array
    energy: Array
    moment: Array
    """(N, 2): sum of weight x (frame - the window's middle) x centroid, metres x frames: the way the window travels."""
    lowered: Array
    """(N,): energy with `level` taken off the heights, m^2."""
    level: Array
    """(J,): mean height of each joint, times the root of its weight; near it, float32 loses least."""
    low: Array32
    """(F, J): heights with `level` taken off."""
    plane: Array32
    """(F, 2, 2J): x then z of `floor`, and the same turned by a quarter: -z then x."""
    size: Array
    """(F,): squared norm of a frame in `low` and `floor`, m^2."""
    origin: Array
    """(clips, 2): where each clip's centroids are measured from."""
    weights: Array
    """(L,): frame weights, the same for every clip."""
    boxes: tuple[int, int]
    """Lengths of the box filters that make the window."""
    bounds: NDArray[np.int64]
    """(clips, 2): number of each clip's first window, and one past its last."""

    @property
    def counts(self) -> NDArray[np.int64]:
        """How many windows each clip has, (clips,)."""
        return self.bounds[:, 1] - self.bounds[:, 0]


def build_library(clips: Sequence[WindowedClip]) -> Library:
    """The clips' windows end to end, in the order given.

    Raises:
        RequestError: If clips differ in joints or window.
    """
    if not clips:
        raise RequestError("there are no clips to compare; give at least one")
    window, joints = clips[0].window, clips[0].heights.shape[1]
    for n, clip in enumerate(clips):
        if clip.heights.shape[1] != joints or clip.window != window:
            raise RequestError(f"clip {n} differs from clip 0 in its number of joints or its window")
    level = np.mean([clip.heights.mean(axis=0) for clip in clips], axis=0)
    first = np.cumsum([0, *(len(clip.heights) for clip in clips)])
    bounds = np.array([(f, f + clip.count) for f, clip in zip(first[:-1], clips, strict=True)], np.int64)
    frames = int(first[-1])
    centre, moment = np.zeros((frames, 2)), np.zeros((frames, 2))
    energy, lowered = np.full(frames, np.inf), np.full(frames, np.inf)
    lever = window.weights * (np.arange(window.length) - (window.length - 1) / 2)
    for (start, stop), clip in zip(bounds, clips, strict=True):
        centre[start:stop], energy[start:stop] = clip.centre, clip.energy
        moment[start:stop] = window_sum(clip.centroid, lever)
        lowered[start:stop] = clip.energy + window_sum((level - 2 * clip.heights) @ level, window.weights)
    heights = np.concatenate([clip.heights for clip in clips])
    floor = np.concatenate([clip.floor for clip in clips])
    low = np.ascontiguousarray(heights - level, np.float32)
    plane = np.empty((frames, 2, 2 * joints), np.float32)
    plane[:, 0] = floor.reshape(frames, -1)
    plane[:, 1, :joints], plane[:, 1, joints:] = -floor[:, 1], floor[:, 0]
    return Library(
        heights=heights,
        floor=floor,
        centroid=np.concatenate([clip.centroid for clip in clips]),
        centre=centre,
        energy=energy,
        moment=moment,
        lowered=lowered,
        level=level,
        low=low,
        plane=plane,
        size=np.square(low).sum(axis=1, dtype=float) + np.square(plane[:, 0]).sum(axis=1, dtype=float),
        origin=np.array([clip.origin for clip in clips]),
        weights=window.weights,
        boxes=window.boxes,
        bounds=bounds,
    )
