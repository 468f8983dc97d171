"""All the windows of several clips end to end in flat arrays, as the compiled kernels want them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from choreograph.base.arrays import Floats, Floats32, Ints
from choreograph.base.errors import RequestError
from choreograph.distance.window import WindowedClip, window_sum

Array32 = Floats32


class Library(NamedTuple):
    """Windows of many clips in one numbering: frame f and the window that begins with it share a number.

    Arrays by frame or window are those of `WindowedClip`. Rows of windows that no clip has are never read.
    A named tuple, since compiled functions take those as they are.
    """

    heights: Floats
    floor: Floats
    centroid: Floats
    centre: Floats
    energy: Floats
    moment: Floats
    """(N, 2): sum of weight x (frame - the window's middle) x centroid, metres x frames: the way the window travels."""
    lowered: Floats
    """(N,): energy with `level` taken off the heights, m^2."""
    level: Floats
    """(J,): mean height of each joint, times the root of its weight; near it, float32 loses least."""
    low: Array32
    """(F, J): heights with `level` taken off."""
    plane: Array32
    """(F, 2, 2J): x then z of `floor`, and the same turned by a quarter: -z then x."""
    size: Floats
    """(F,): squared norm of a frame in `low` and `floor`, m^2."""
    origin: Floats
    """(clips, 2): where each clip's centroids are measured from."""
    weights: Floats
    """(L,): frame weights, the same for every clip."""
    boxes: tuple[int, int]
    """Lengths of the box filters that make the window."""
    bounds: Ints
    """(clips, 2): number of each clip's first window, and one past its last."""

    @property
    def counts(self) -> Ints:
        """How many windows each clip has, (clips,)."""
        return self.bounds[:, 1] - self.bounds[:, 0]


def build_library(
    clips: Iterable[WindowedClip], frames: Sequence[int] | None = None, level: Floats | None = None
) -> Library:
    """The clips' windows end to end, in the order given.

    Args:
        clips: The clips. With `frames` given they are taken one at a time, and need not be in memory together.
        frames: Frames of each clip.
        level: Another library's, if the two are to be joined; the mean of these clips if not given.

    Raises:
        RequestError: If clips differ in joints or window.
    """
    if frames is None:
        clips = list(clips)
        frames = [len(clip.heights) for clip in clips]
    if not len(frames):
        raise RequestError("there are no clips to compare; give at least one")
    first = np.concatenate([[0], np.cumsum(frames, dtype=np.int64)])
    total = int(first[-1])
    bounds = np.stack([first[:-1], first[:-1]], axis=1)
    centre, centroid = np.zeros((total, 2)), np.empty((total, 2))
    energy, origin = np.full(total, np.inf), np.empty((len(frames), 2))
    means: list[Floats] = []
    heights, floor, window = np.empty((0, 0)), np.empty((0, 2, 0)), None
    for n, clip in enumerate(clips):
        if window is None:
            window, joints = clip.window, clip.heights.shape[1]
            heights, floor = np.empty((total, joints)), np.empty((total, 2, joints))
        if clip.heights.shape[1] != heights.shape[1] or clip.window != window:
            raise RequestError(f"clip {n} differs from clip 0 in its number of joints or its window")
        here, windows = slice(first[n], first[n + 1]), slice(first[n], first[n] + clip.count)
        bounds[n, 1] += clip.count
        heights[here], floor[here], centroid[here], origin[n] = clip.heights, clip.floor, clip.centroid, clip.origin
        centre[windows], energy[windows] = clip.centre, clip.energy
        means.append(clip.heights.mean(axis=0))
    assert window is not None
    level = np.mean(means, axis=0) if level is None else level
    from choreograph.distance import _compiled_window

    lowered, moment, low, plane, size = _compiled_window.lower(
        heights, floor, centroid, energy, level, window.weights, bounds
    )
    return Library(
        heights=heights,
        floor=floor,
        centroid=centroid,
        centre=centre,
        energy=energy,
        moment=moment,
        lowered=lowered,
        level=level,
        low=low,
        plane=plane,
        size=size,
        origin=origin,
        weights=window.weights,
        boxes=window.boxes,
        bounds=bounds,
    )


BY_FRAME = ("heights", "floor", "centroid", "centre", "energy", "moment", "lowered", "low", "plane", "size")
"""Arrays of a library that have a row for each frame."""


def join_libraries(first: Library, second: Library) -> Library:
    """The windows of two libraries of one level, end to end."""
    names = (*BY_FRAME, "origin")
    both: dict[str, Any] = {name: np.concatenate([getattr(first, name), getattr(second, name)]) for name in names}
    bounds = np.concatenate([first.bounds, second.bounds + len(first.heights)])
    return first._replace(**both, bounds=bounds)


def part_of(library: Library, clips: range) -> Library:
    """The windows of some clips that follow each other, where they are."""
    start = library.bounds[clips.start, 0]
    stop = library.bounds[clips.stop, 0] if clips.stop < len(library.bounds) else len(library.heights)
    own = {name: getattr(library, name)[start:stop] for name in BY_FRAME}
    some = slice(clips.start, clips.stop)
    return library._replace(**own, origin=library.origin[some], bounds=library.bounds[some] - start)


def lower_numpy(
    heights: Floats, floor: Floats, centroid: Floats, energy: Floats, level: Floats, weights: Floats, bounds: Ints
) -> tuple[Floats, Floats, Array32, Array32, Floats]:
    """What a library has of frames and windows once `level` is known: the plain twin of the compiled kernel.

    Returns:
        `lowered`, `moment`, `low`, `plane` and `size` of a `Library`.
    """
    lever = weights * (np.arange(len(weights)) - (len(weights) - 1) / 2)
    lowered, moment = np.full(len(heights), np.inf), np.zeros((len(heights), 2))
    for start, stop in bounds:
        here = slice(start, stop + len(weights) - 1)
        lowered[start:stop] = energy[start:stop] + window_sum((level - 2 * heights[here]) @ level, weights)
        moment[start:stop] = window_sum(centroid[here], lever)
    low, turned = (heights - level).astype(np.float32), np.stack([-floor[:, 1], floor[:, 0]], axis=1)
    plane = np.stack([floor, turned], axis=1).reshape(len(floor), 2, -1).astype(np.float32)
    size = np.square(low, dtype=float).sum(axis=1) + np.square(plane[:, 0], dtype=float).sum(axis=1)
    return lowered, moment, low, plane, size
