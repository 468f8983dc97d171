"""Where roots of clips go: places, facing, labels and faults of the capture, of all clips one after another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from choreograph.base import quat
from choreograph.base.arrays import Complexes, Flags, Floats, Ints
from choreograph.motion.clip import Clip

TREMBLE_S = 0.012
"""Width (standard deviation) of the low-pass under which the root's way is summed. At 120 Hz the tremble of recorded
hips adds up to 1 % to their way; clean-up takes it out of the motion, so the search must not count on it."""
_IMPOSSIBLE_RAD_S2 = 6000.0
"""Angular acceleration that no large joint reaches: recorded runs and jumps stay below 4,000, slips of the capture
begin at 9,000."""
_SURE_PARTS = ("hips", "spine", "hip", "upper_leg", "lower_leg", "clavicle", "upper_arm")
"""Parts whose recorded rotations are smooth; hands, feet and heads tremble even in good recordings."""
_USUAL = 0.999
"""Quantile of all joints' accelerations in the graph's clips beyond which one is abrupt."""


_ARRAYS = ("offsets", "last", "ratio", "place", "facing", "faults", "words", "abrupt", "height")
"""What tracks hold; all but the first three have an entry for every frame."""
_MANY_VALUES = 20_000_000
"""Accelerations from which on they are kept in single precision until all are known."""


class RootTracks:
    """Root positions (x + iz), facing, labels and faults of clips, one after another at their own rates."""

    def __init__(self, clips: Sequence[Clip], frames: Sequence[int], rate_hz: float, smooth_s: float) -> None:
        """Read the clips, each once.

        Args:
            clips: Of one skeleton.
            frames: How many each has.
            rate_hz: At which frames are asked for later.
            smooth_s: Width of the low-pass under which roots are taken, seconds; `TREMBLE_S` takes out their tremble.
        """
        from choreograph.features import _compiled

        self.offsets = np.concatenate([[0], np.cumsum(frames)])
        self.last = self.offsets[1:] - 1
        self.ratio = np.ones(len(clips))
        self.place = np.empty(self.offsets[-1], complex)
        self.facing = np.empty(self.offsets[-1])
        self.faults = np.zeros(self.offsets[-1], np.int64)
        self.sets: dict[frozenset[str], int] = {frozenset(): 0}
        self.words = np.zeros(self.offsets[-1], np.int32)
        self.abrupt = np.zeros(self.offsets[-1], np.int64)
        """How many joints turn abruptly in each frame."""
        self.height = np.empty(self.offsets[-1])
        """Of the highest joint above the lowest in each frame, metres."""
        turning: list[Floats] = []
        for c, clip in enumerate(clips):
            here = slice(self.offsets[c], self.offsets[c + 1])
            self.ratio[c] = clip.fps / rate_hz
            self.place[here] = _calm(clip.root_pos[:, 0] + 1j * clip.root_pos[:, 2], smooth_s * clip.fps)
            self.facing[here] = clip.facing()
            self.height[here] = _compiled.heights(clip.global_positions())
            rates = accelerations(clip)
            self.faults[here] = find_faults(clip, rates)
            turning.append(rates if self.offsets[-1] * rates.shape[1] < _MANY_VALUES else rates.astype(np.float32))
            cuts = sorted({0, len(clip), *(x.start for x in clip.labels), *(x.stop for x in clip.labels)})
            for a, b in pairwise(cuts):
                labels = frozenset(x.text for x in clip.labels if x.start <= a < x.stop)
                self.words[self.offsets[c] + a : self.offsets[c] + b] = self.sets.setdefault(labels, len(self.sets))

        usual = _quantile(turning, _USUAL) if sum(x.size for x in turning) else 0.0
        for start, x in zip(self.offsets, turning, strict=False):
            self.abrupt[start + 1 : start + 1 + len(x)] = _compiled.count_above(x, usual)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All that it holds but the sets of labels, by name; `from_arrays` is the reverse."""
        return {name: getattr(self, name) for name in _ARRAYS}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]], sets: Sequence[frozenset[str]]) -> RootTracks:
        """What `arrays` gave, without reading clips; a ValueError where it contradicts itself."""
        tracks = cls.__new__(cls)
        for name in _ARRAYS:
            setattr(tracks, name, arrays[name])
        frames = int(tracks.offsets[-1])
        if any(len(arrays[name]) != frames for name in _ARRAYS[3:]) or len(tracks.ratio) != len(tracks.last):
            raise ValueError("the tracks have different lengths")
        if frames and not 0 <= tracks.words.min() <= tracks.words.max() < len(sets):
            raise ValueError("a frame has labels that are not there")
        tracks.sets = {labels: number for number, labels in enumerate(sets)}
        return tracks

    @cached_property
    def usual_height(self) -> float:
        """Of the highest joint above the lowest, metres: in the median of all frames."""
        return float(np.median(self.height)) if len(self.height) else 1.0

    @cached_property
    def faults_before(self) -> Ints:
        """Frames with a fault before each frame, and all of them."""
        return np.concatenate([[0], np.cumsum(self.faults, dtype=np.int64)])

    @cached_property
    def abrupt_before(self) -> Ints:
        """Joints that turn abruptly before each frame, and all of them."""
        return np.concatenate([[0], np.cumsum(self.abrupt, dtype=np.int64)])

    def own(self, clip: NDArray[Any], frame: Floats) -> Floats:
        """Where a frame at the rate stands among all clips' own frames."""
        return np.minimum(self.offsets[clip] + frame * self.ratio[clip], self.last[clip])

    def at(self, clip: NDArray[Any], frame: Floats) -> Complexes:
        """Root at a fractional frame."""
        own = self.own(clip, frame)
        low = own.astype(np.int64)
        high = np.minimum(low + 1, self.last[clip])
        return np.asarray(self.place[low] + (own - low) * (self.place[high] - self.place[low]))


def _quantile(parts: Sequence[NDArray[np.floating]], share: float) -> float:
    """The value that this share of all numbers, none of them below 0, lies below; those of single precision stay apart.

    Of very many, only those are put together that begin with the same bits as the one that is looked for.
    """
    from choreograph.features import _compiled

    if parts[0].dtype != np.float32:
        return float(np.quantile(np.concatenate([part.ravel() for part in parts]), share, overwrite_input=True))
    words, counts = [part.view(np.uint32) for part in parts], np.zeros(1 << 16, np.int64)
    for part in words:
        _compiled.count_bins(part, counts)
    at = share * (int(counts.sum()) - 1)
    low = int(at)
    begin = np.cumsum(counts) - counts
    first, last = (
        int(np.searchsorted(begin, rank, side="right")) - 1 for rank in (low, min(low + 1, counts.sum() - 1))
    )
    near = [part[(part >> 16 >= first) & (part >> 16 <= last)] for part in words]
    values_near = np.sort(np.concatenate(near)).view(np.float32)[low - begin[first] :][:2].astype(float)
    return float(values_near[0] + (at - low) * (values_near[-1] - values_near[0]))


def _calm(place: Complexes, sigma: float) -> Complexes:
    """A curve under a narrow Gaussian of `sigma` frames; beyond its ends it goes on as it was, so it is not slowed."""
    width = min(round(4 * sigma), len(place) - 1)
    if width < 1:
        return place
    weights = np.exp(-0.5 * (np.arange(-width, width + 1) / sigma) ** 2)
    before, after = 2 * place[0] - place[width:0:-1], 2 * place[-1] - place[-2 : -width - 2 : -1]
    padded = np.concatenate([before, place, after])
    return np.convolve(padded, weights / weights.sum(), mode="valid")


def accelerations(clip: Clip) -> Floats:
    """Angular acceleration of every joint in all frames but the first and the last, (F - 2, J), rad/s²."""
    from choreograph.features import _compiled

    return np.asarray(_compiled.accelerations(clip.local_rot, float(clip.fps)))


def accelerations_numpy(clip: Clip) -> Floats:
    """The plain twin of `accelerations`."""
    spin = quat.as_rotvec(quat.multiply(quat.inverse(clip.local_rot[:-1]), clip.local_rot[1:])) * clip.fps
    return np.asarray(np.linalg.norm(np.diff(spin, axis=0), axis=2) * clip.fps)


def find_faults(clip: Clip, turning: Floats | None = None) -> Flags:
    """Frames at which a trunk, leg or upper arm turns as no body can: where the capture slipped, (F,).

    Args:
        clip: The recording.
        turning: Its `accelerations`, if they are known.
    """
    sure = [j for j, role in enumerate(clip.skeleton.roles) if role.endswith(_SURE_PARTS)]
    faults = np.zeros(len(clip), bool)
    if len(clip) < 3 or not sure:
        return faults
    turning = accelerations(clip) if turning is None else turning
    jerked = turning[:, sure].max(axis=1) > _IMPOSSIBLE_RAD_S2
    for shift in range(3):  # the fault is in one of the three frames that the difference was taken over
        faults[shift : len(clip) - 2 + shift] |= jerked
    return faults
