"""The distance between two windows of motion: what it is, said once plainly and once in closed form.

A window is L consecutive frames of J joint positions. Point k of it weighs w = (frame weight) x (joint weight), scaled
so that all weights sum to 1. The distance of window p from window q is

    d(p, q) = sqrt D,    D = min over yaw and floor shift of  sum w |p - T q|^2,

root-mean-square metres per joint after q was laid on p as well as the floor allows (Kovar, Gleicher & Pighin 2002,
section 3.1). With heights y, floor positions c = x + iz and means taken with the weights, the minimum is

    D = E_p + E_q - 2 sum w y y' - 2 |S|,    S = sum w c conj(c') - mean c conj(mean c'),
    E = sum w (y^2 + |c|^2) - |mean c|^2,    yaw = -arg S,

so a pair costs two inner products. Since floor transforms are isometries, d obeys the triangle inequality.

`WindowedClip` keeps what the closed form needs of one clip, with the weights folded in as square roots, so that inner
products are plain ones. Each frame's points are kept relative to the frame's centroid, and the centroid apart:
numbers stay small wherever the motion went.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from choreograph.base.arrays import Complexes, Floats, Ints
from choreograph.base.errors import RequestError

QUANTUM = 2.0**-40
"""D is a multiple of this (m^2): equal windows tie exactly, whatever the rounding did. Near 0 it is 1 micrometre."""

TAPERS = ("triangle", "uniform")
"""How frame weights run through a window."""


@dataclass(frozen=True)
class Window:
    """The shape of the windows that are compared."""

    length: int
    """Frames."""
    taper: str = "triangle"
    """How frames weigh: "triangle" is largest in the middle and never 0 at an end, "uniform" is all the same."""

    def __post_init__(self) -> None:
        if self.length < 1:
            raise RequestError(f"a window of {self.length} frames was asked for; it needs at least 1")
        if self.taper not in TAPERS:
            raise RequestError(f"no window taper is called {self.taper!r}; there are {', '.join(TAPERS)}")

    @property
    def boxes(self) -> tuple[int, int]:
        """Lengths of two box filters whose convolution is the taper: what makes running sums possible."""
        half = (self.length + 1) // 2 if self.taper == "triangle" else self.length
        return half, self.length + 1 - half

    @property
    def weights(self) -> Floats:
        """Weight of each frame, (length,), summing to 1."""
        first, second = self.boxes
        return np.convolve(np.ones(first), np.ones(second)) / (first * second)


@dataclass(frozen=True)
class WindowedClip:
    """All windows of one clip, ready for comparison."""

    heights: Floats
    """(F, J), times the root of the joint weight, metres; joints that weigh nothing are left out."""
    floor: Floats
    """(F, 2, J): x and z relative to the frame's centroid, times the root of the joint weight, metres."""
    centroid: Floats
    """(F, 2): x and z of the frame's weighted centroid relative to `origin`, metres."""
    origin: Floats
    """(2,): mean of the frames' centroids, x and z, metres."""
    window: Window
    """Length and taper."""
    centre: Floats
    """(N, 2): weighted centroid of each window, relative to `origin`, metres; window n begins at frame n."""
    energy: Floats
    """(N,): E of each window, m^2."""

    @property
    def count(self) -> int:
        """How many windows there are; none if the clip is shorter than a window."""
        return len(self.energy)

    def part(self, first: int, stop: int) -> WindowedClip:
        """The windows [first, stop) alone, as they are."""
        frames, windows = slice(first, stop + self.window.length - 1), slice(first, stop)
        return replace(
            self,
            heights=self.heights[frames],
            floor=self.floor[frames],
            centroid=self.centroid[frames],
            centre=self.centre[windows],
            energy=self.energy[windows],
        )


def windowed_clip(positions: ArrayLike, joint_weights: ArrayLike, window: Window) -> WindowedClip:
    """The windows of a clip.

    Args:
        positions: Global joint positions, (F, J, 3), metres, y up.
        joint_weights: (J,), not negative, not all 0; any scale.
        window: Length and taper of the windows.

    Raises:
        RequestError: If positions are not finite, or shapes or weights do not fit.
    """
    positions, joint_weights = np.asarray(positions, float), np.asarray(joint_weights, float)
    _check(positions, joint_weights)
    from choreograph.distance import _compiled_window

    heavy = np.flatnonzero(joint_weights > 0)
    share = joint_weights[heavy] / joint_weights.sum()
    parts = _compiled_window.measure_windows(np.ascontiguousarray(positions), heavy, share, window.weights)
    heights, floor, centroid, origin, centre, energy = parts
    return WindowedClip(heights, floor, centroid, origin, window, centre, energy)


def measure_windows_numpy(
    positions: Floats, heavy: Ints, share: Floats, weights: Floats
) -> tuple[Floats, Floats, Floats, Floats, Floats, Floats]:
    """Heights, floor, centroid, origin, centre and energy of a `WindowedClip`: the plain twin of the compiled kernel.

    Args:
        positions: (F, J, 3).
        heavy: Joints that weigh anything.
        share: Their weights, summing to 1.
        weights: Of the window's frames.
    """
    floor = np.ascontiguousarray(positions[:, heavy][..., [0, 2]].transpose(0, 2, 1))
    centroid = floor @ share
    origin = centroid.mean(axis=0)
    floor -= centroid[..., None]
    centroid -= origin
    floor *= np.sqrt(share)
    heights = np.ascontiguousarray(positions[:, heavy, 1] * np.sqrt(share))
    centre = window_sum(centroid, weights)
    # The spread of the centroids about their mean, not the difference of two large numbers.
    spread = sum(
        w * np.square(centroid[k : k + len(centre)] - centre).sum(axis=1) for k, w in enumerate(weights)
    )  # fmt: skip
    inner = np.square(heights).sum(axis=1) + np.square(floor).sum(axis=(1, 2))
    return heights, floor, centroid, origin, centre, window_sum(inner, weights) + spread


def window_sum(values: Floats, weights: Floats) -> Floats:
    """Weighted sums over each window, (N, ...), of values given by frame, (F, ...)."""
    count = max(0, len(values) - len(weights) + 1)
    total = np.zeros((count, *values.shape[1:]))
    # Term by term rather than by a product: equal windows get equal bits wherever they lie.
    for k, w in enumerate(weights):
        total += w * values[k : k + count]
    return total


def _check(positions: Floats, joint_weights: Floats) -> None:
    if positions.ndim != 3 or positions.shape[2] != 3 or not len(positions):
        raise RequestError(
            f"joint positions must be (frames, joints, 3) with at least one frame, not {positions.shape}"
        )
    if joint_weights.shape != positions.shape[1:2]:
        raise RequestError(f"{positions.shape[1]} joints need as many weights, not {joint_weights.shape}")
    if not (np.isfinite(joint_weights).all() and (joint_weights >= 0).all() and joint_weights.any()):
        raise RequestError("joint weights must be finite, not negative, and not all 0")
    if not np.isfinite(positions).all():
        frame, joint, _ = np.argwhere(~np.isfinite(positions))[0]
        raise RequestError(f"joint {joint} has no finite position in frame {frame}; leave the clip out or repair it")


class WindowAlignment(NamedTuple):
    """Distances of window pairs, and the floor transforms that lay the second window on the first; equal shapes."""

    distance: Floats
    """Metres RMS per joint."""
    yaw: Floats
    """Radians about +y."""
    x: Floats
    """Metres, after the turn."""
    z: Floats
    """Metres, after the turn."""


def quantise(squared: Floats) -> Floats:
    """D rounded to a multiple of `QUANTUM`, and never negative."""
    return np.maximum(np.rint(squared / QUANTUM), 0.0) * QUANTUM


def align_windows(p: WindowedClip, a: ArrayLike, q: WindowedClip, b: ArrayLike) -> WindowAlignment:
    """Closed form: distance and floor transform from windows `b` of clip `q` onto windows `a` of clip `p`."""
    a, b = np.broadcast_arrays(np.asarray(a, np.int64), np.asarray(b, np.int64))
    weights = p.window.weights
    k = np.arange(len(weights))
    fa, fb = a[..., None] + k, b[..., None] + k
    common = np.einsum("k,...kj,...kj->...", weights, p.heights[fa], q.heights[fb])
    cp, cq = _complex(p.floor), _complex(q.floor)
    rp = _complex(p.centroid)[fa] - _complex(p.centre)[a][..., None]
    rq = _complex(q.centroid)[fb] - _complex(q.centre)[b][..., None]
    turned = np.einsum("k,...kj,...kj->...", weights, cp[fa], cq[fb].conj())
    turned = turned + np.einsum("k,...k,...k->...", weights, rp, rq.conj())
    squared = quantise(p.energy[a] + q.energy[b] - 2 * common - 2 * np.abs(turned))
    turned_parts = np.stack([turned.real, turned.imag], axis=-1)
    return WindowAlignment(
        np.sqrt(squared), *floor_transform(turned_parts, p.origin + p.centre[a], q.origin + q.centre[b])
    )


def floor_transform(turned: Floats, onto: Floats, source: Floats) -> tuple[Floats, Floats, Floats]:
    """Yaw, x and z of the best floor transform, (...,), from the parts of S and the windows' centroids, (..., 2)."""
    yaw = -np.arctan2(turned[..., 1], turned[..., 0])
    cos, sin = np.cos(yaw), np.sin(yaw)
    x, z = source[..., 0], source[..., 1]
    return yaw, onto[..., 0] - (x * cos + z * sin), onto[..., 1] - (z * cos - x * sin)


def _complex(floor: Floats) -> Complexes:
    """x + iz of floor coordinates: (F, 2) -> (F,), (F, 2, J) -> (F, J)."""
    return np.asarray(floor[:, 0] + 1j * floor[:, 1])


def align_plainly(window_p: Floats, window_q: Floats, joint_weights: Floats, weights: Floats) -> tuple[float, ...]:
    """The definition itself, for one pair of windows (L, J, 3): distance, yaw, x, z. Slow, and the judge of the rest.

    Lays q on p by the best turn and shift, then measures what is left between the points.
    """
    w = np.outer(weights, joint_weights)
    w = w / w.sum()
    cp, cq = (window[..., 0] + 1j * window[..., 2] for window in (window_p, window_q))
    mean_p, mean_q = (w * cp).sum(), (w * cq).sum()
    yaw = -np.angle((w * (cp - mean_p) * (cq - mean_q).conj()).sum())
    shift = mean_p - np.exp(-1j * yaw) * mean_q
    apart = np.abs(cp - np.exp(-1j * yaw) * cq - shift) ** 2 + (window_p[..., 1] - window_q[..., 1]) ** 2
    return float(np.sqrt(quantise((w * apart).sum()))), float(yaw), float(shift.real), float(shift.imag)
