"""How far every window of many frames is from one example: the window distance as a running product.

For one example the closed form of `window` needs, for every frame, its inner products with the example's frames: a
matrix product, whose diagonals are then summed.
"""

from __future__ import annotations

import numpy as np

from choreograph.base.arrays import Floats
from choreograph.distance.window import WindowedClip, quantise


def distances_from(clip: WindowedClip, example: WindowedClip) -> Floats:
    """The distance of each of a clip's windows from the first window of an example, (N,), metres.

    The plain twin is `align_windows` with window 0 of the example.

    Args:
        clip: Many frames; they may be of several recordings one after another.
        example: As many frames as a window has, at least, with the same joints and the same window.
    """
    weights, length, count = clip.window.weights, clip.window.length, clip.count
    if not count:
        return np.zeros(0)
    heights, floor = example.heights[:length], example.floor[:length]
    track = example.centroid[:length] - example.centre[0]
    x, z = clip.floor[:, 0], clip.floor[:, 1]
    common = _diagonals(heights @ clip.heights.T, weights, count)
    real = _diagonals(floor[:, 0] @ x.T + floor[:, 1] @ z.T, weights, count)
    imaginary = _diagonals(floor[:, 0] @ z.T - floor[:, 1] @ x.T, weights, count)
    # The centroids: sum w (c - mean c) conj(c'), and the mean takes no part, since sum w c' is 0.
    for k, w in enumerate(weights):
        here = clip.centroid[k : k + count] - clip.centre
        real += w * (here @ track[k])
        imaginary += w * (here[:, 1] * track[k, 0] - here[:, 0] * track[k, 1])
    squared = clip.energy + example.energy[0] - 2 * common - 2 * np.hypot(real, imaginary)
    return np.sqrt(quantise(squared))


def _diagonals(products: Floats, weights: Floats, count: int) -> Floats:
    """Sums of weight k times row k from place k on, (count,)."""
    total = np.zeros(count)
    for k, w in enumerate(weights):
        total += w * products[k, k : k + count]
    return total
