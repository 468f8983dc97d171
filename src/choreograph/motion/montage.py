"""Montage: what a search chose, output frame by output frame, as plain data that finishing makes a motion of.

Each output frame shows one or more weighted layers, and a layer reads a clip at a fractional frame and lays it on the
floor. A cut is one layer whose clip changes, a blend is two layers with changing weights, an interpolation is two
layers with constant weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from choreograph.base.arrays import Flags, Floats, Ints, Ints32, frozen, seal
from choreograph.base.errors import RequestError
from choreograph.motion.clip import Clip
from choreograph.motion.skeleton import Skeleton


@dataclass(frozen=True, eq=False, kw_only=True)
class Poses:
    """N poses of clips, each laid on the floor."""

    clip: Ints32
    """The clip of each, by its number in the montage, (N,); one number is the same for all."""
    frame: Floats
    """The place in that clip, in frames at its own rate, (N,)."""
    place: Floats = field(default_factory=lambda: np.zeros(3))
    """Floor transform of each as yaw, x, z, (N, 3), radians and metres; where the clip was recorded if left out."""

    def __post_init__(self) -> None:
        frame = frozen(self.frame)
        if frame.ndim != 1:
            raise ValueError(f"frames of a clip come as (N,), not {frame.shape}")
        object.__setattr__(self, "frame", frame)
        object.__setattr__(self, "clip", _spread(self.clip, (len(frame),), np.int32))
        object.__setattr__(self, "place", _spread(self.place, (len(frame), 3), np.float64))

    def __len__(self) -> int:
        """Number of poses."""
        return len(self.frame)


@dataclass(frozen=True, eq=False, kw_only=True)
class Layer(Poses):
    """The poses that some output frames show, and how much each counts."""

    at: Ints
    """Which output frames, (N,), ascending; the others do without this layer, and it costs nothing there."""
    weight: Floats = field(default_factory=lambda: np.ones(()))
    """How much it counts against the other layers of the same frame, 0 or more: one number, one for each frame (N,), or
    one for each frame and joint group (N, G)."""

    def __post_init__(self) -> None:
        super().__post_init__()
        at = frozen(self.at, np.int64)
        weight = np.asarray(self.weight, float)
        weight = weight[:, None] if weight.ndim == 1 else weight
        weight = _spread(weight, (len(at), weight.shape[1] if weight.ndim == 2 else 1), np.float64)
        object.__setattr__(self, "at", at)
        object.__setattr__(self, "weight", weight)
        if at.shape != (len(self),) or (np.diff(at) <= 0).any() or (at < 0).any():
            raise ValueError("a layer names its output frames in order, one for each pose")
        if not (np.isfinite(weight).all() and (weight >= 0).all()):
            raise ValueError("a layer's weights must be numbers of 0 or more")


@dataclass(frozen=True, eq=False)
class Cuts:
    """K moments at which the motion jumps from one pose to another, to be smoothed."""

    at_s: Floats
    """(K,), seconds, ascending: the first moment that shows the pose behind the cut."""
    before: Poses
    """The pose that would have come at each cut, K of them."""
    behind: Poses
    """The pose that comes instead."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "at_s", frozen(self.at_s))
        if not len(self.at_s) == len(self.before) == len(self.behind):
            raise ValueError("each cut needs a moment, a pose before it and a pose behind it")

    def __len__(self) -> int:
        """Number of cuts."""
        return len(self.at_s)

    @classmethod
    def none(cls) -> Cuts:
        """No cuts."""
        empty = Poses(clip=np.zeros(0, np.int32), frame=np.zeros(0))
        return cls(np.zeros(0), empty, empty)


@dataclass(frozen=True, eq=False)
class Origins:
    """Where each frame of a motion came from, (F,) each."""

    source_clip: Ints32
    """The clip that counts most, by its number in the montage; of two that count alike, the lower layer's."""
    source_frame: Floats
    """The place in that clip, in frames at its own rate; whole where the rates divide."""
    weight: Floats
    """How much the clip counts for the root's position, from 0 to 1; 1 where it is alone."""
    other_clip: Ints32
    """The clip that counts most after it; -1 where there is none."""
    other_frame: Floats
    """The place in that clip; NaN where there is none."""
    names: tuple[str, ...] = ()
    """Of all clips, by number."""

    def __post_init__(self) -> None:
        for name in ("source_clip", "other_clip"):
            object.__setattr__(self, name, frozen(getattr(self, name), np.int32))
        for name in ("source_frame", "weight", "other_frame"):
            object.__setattr__(self, name, frozen(getattr(self, name)))

    def __len__(self) -> int:
        """Number of frames."""
        return len(self.source_clip)


@dataclass(frozen=True, eq=False)
class Montage:
    """Frames 0 … F - 1 of a motion at a rate, each made of weighted layers.

    Half of one clip and half of another, frame by frame:

    >>> from choreograph.demo import demo_clip
    >>> slow, fast = demo_clip("walk_slow")[:60], demo_clip("walk_fast")[:60]
    >>> every = np.arange(60)
    >>> halves = [Layer(at=every, clip=n, frame=every, weight=0.5) for n in (0, 1)]
    >>> len(Montage((slow, fast), ("slow", "fast"), slow.skeleton, slow.fps, halves))
    60
    """

    clips: Sequence[Clip]
    """What layers read; each is asked for only if a layer names it."""
    names: tuple[str, ...]
    """Of the clips."""
    skeleton: Skeleton
    rate_hz: float
    """Output frames per second."""
    layers: Sequence[Layer]
    """The lowest first: each is mixed into what those below it show, by its share of the weight so far."""
    groups: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    """Column of the weights for the root's position and then for each joint's rotation, (1 + J,); the first for all if
    left out."""
    contacts: Flags | None = None
    """Which of `skeleton.feet` stand when, (F, feet), where that is known better than from the clips."""
    cuts: Cuts = field(default_factory=Cuts.none)
    exact: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    """Output frames whose pose stays as it was recorded, ascending, (E,)."""
    repair: bool = True
    """Whether faults of the capture are looked for; without, what the clips show stays as it was recorded."""
    bend: Floats | None = None
    """Floor transform done to each frame as its layers show it, as yaw, x, z, (F, 3): a way bent to lead elsewhere. The
    motion is carried along smoothly, with feet that stand as they did."""
    on_floor: bool = True
    """Whether it is the motion of a body on a floor; a face's is not, and its feet need no cleaning."""

    def __post_init__(self) -> None:
        joints = len(self.skeleton)
        groups = self.groups if len(self.groups) else np.zeros(1 + joints, np.int64)
        object.__setattr__(self, "groups", frozen(groups, np.int64))
        object.__setattr__(self, "names", tuple(self.names))
        object.__setattr__(self, "layers", tuple(self.layers))
        object.__setattr__(self, "exact", frozen(self.exact, np.int64))
        if self.contacts is not None:
            object.__setattr__(self, "contacts", frozen(self.contacts, np.bool_))
        if self.bend is not None:
            object.__setattr__(self, "bend", frozen(self.bend))
        if not self.layers or not len(self):
            raise ValueError("a montage needs a layer with one frame or more")
        if not (np.isfinite(self.rate_hz) and self.rate_hz > 0):
            raise RequestError(f"the output's rate is {self.rate_hz}; it must be a positive number")
        if self.groups.shape != (1 + joints,) or self.groups.min() < 0:
            raise ValueError(f"joint groups {self.groups.shape} do not fit a root position and {joints} joints")
        columns = int(self.groups.max()) + 1
        if any(layer.weight.shape[1] not in (1, columns) for layer in self.layers):
            raise ValueError(f"each layer needs one weight for all joints or one for each of {columns} groups")
        empty = np.flatnonzero((self._total <= 0).any(axis=1))
        if len(empty):
            raise ValueError(f"{len(empty)} frames have no layer that counts, the first of them frame {empty[0]}")
        if self.bend is not None and self.bend.shape != (len(self), 3):
            raise ValueError(f"a bend of {self.bend.shape} does not fit {len(self)} frames")
        if len(self.exact) and not 0 <= self.exact.min() <= self.exact.max() < len(self):
            raise ValueError(f"exact frames are from 0 to {len(self) - 1}")

    @classmethod
    def of_clip(cls, clip: Clip, *, on_floor: bool = True) -> Montage:
        """The montage that shows one clip as it is, for verbs that make poses of their own: nothing is repaired in it.

        Args:
            clip: The motion.
            on_floor: Whether it is the motion of a body on a floor.

        >>> from choreograph.demo import demo_clip
        >>> len(Montage.of_clip(demo_clip("walk")[:30]))
        30
        """
        every = np.arange(len(clip))
        layers = (Layer(at=every, clip=np.zeros(len(clip), np.int32), frame=every.astype(float)),)
        return cls(
            (clip,),
            (clip.name,),
            clip.skeleton,
            clip.fps,
            layers,
            contacts=clip.contacts,
            repair=False,
            on_floor=on_floor,
        )

    def __len__(self) -> int:
        """Number of output frames."""
        return 1 + max((int(layer.at[-1]) for layer in self.layers if len(layer)), default=-1)

    @cached_property
    def _total(self) -> Floats:
        """Sum of the weights, (F, G)."""
        total = np.zeros((len(self), int(self.groups.max()) + 1))
        for layer in self.layers:
            total[layer.at] += layer.weight
        return total

    def shares(self) -> list[Floats]:
        """How much of each layer is mixed into what the layers below it show, (N, G) each: w_k / (w_1 + … + w_k).

        Mixed in this order, each layer counts in the end by its share of all weights.
        """
        below = np.zeros_like(self._total)
        shares = []
        for layer in self.layers:
            below[layer.at] += layer.weight
            so_far = below[layer.at]
            shares.append(layer.weight / np.where(so_far > 0, so_far, 1.0))
        return shares

    @cached_property
    def origins(self) -> Origins:
        """Which clips each frame shows, the one that counts most for the root's position first."""
        root, frames = int(self.groups[0]), len(self)
        weights = np.full((2, frames), -np.inf)
        clips, places = np.full((2, frames), -1, np.int32), np.full((2, frames), np.nan)
        for layer in self.layers:
            at = layer.at
            weight = layer.weight[:, min(root, layer.weight.shape[1] - 1)] / self._total[at, root]
            first = weight > weights[0, at]
            for table, values in ((weights, weight), (clips, layer.clip), (places, layer.frame)):
                table[1, at[first]] = table[0, at[first]]
                table[0, at[first]] = values[first]
            second = ~first & (weight > weights[1, at])
            for table, values in ((weights, weight), (clips, layer.clip), (places, layer.frame)):
                table[1, at[second]] = values[second]
        return Origins(clips[0], places[0], weights[0], clips[1], places[1], self.names)


def _spread(values: ArrayLike, shape: tuple[int, ...], dtype: type) -> NDArray[Any]:
    """A read-only array of the shape, the values repeated along it where there is only one."""
    values = np.asarray(values, dtype)
    if values.shape == shape:
        return frozen(values, dtype)
    try:
        return seal(np.array(np.broadcast_to(values, shape)))
    except ValueError:
        raise ValueError(f"{values.shape} values do not fit {shape}") from None
