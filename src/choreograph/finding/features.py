"""What is looked at when places are sought: a few points of the body, speed, facing and feet, of all clips in a row.

Everything is at one rate, in flat arrays of many clips: 180 bytes a frame, so that a million frames are searched in
memory. Of a graph they are computed once, a clip at a time, and kept in the cache.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from choreograph.base.arrays import Bytes, Flags, Floats, Floats32, Ints, Ints32
from choreograph.base.progress import Progress, silent
from choreograph.features.weights import joint_weights
from choreograph.motion import kinematics
from choreograph.motion.bend import find_way
from choreograph.motion.clip import Clip
from choreograph.motion.contacts import detect_contacts, runs
from choreograph.motion.skeleton import Skeleton

if TYPE_CHECKING:
    from choreograph.graph.model import MotionGraph

RATE_HZ = 30.0
"""Frames a second of the features: steps and turns are far slower."""
METHOD = 3
"""Version of what is computed here."""

POINTS: tuple[tuple[str, ...], ...] = (
    ("hips",),
    ("head", "neck", "spine"),
    *(
        roles
        for side in ("left", "right")
        for roles in (
            (f"{side}_upper_arm", f"{side}_clavicle", "neck"),
            (f"{side}_forearm", f"{side}_upper_arm"),
            (f"{side}_hand", f"{side}_forearm", f"{side}_upper_arm"),
            (f"{side}_lower_leg", f"{side}_upper_leg"),
            (f"{side}_foot", f"{side}_lower_leg"),
            (f"{side}_toe", f"{side}_foot", f"{side}_lower_leg"),
        )
    ),
)
"""The points, each by its role, and by the roles that stand in where a skeleton has none of it: bodies of different
skeletons can be compared by them."""

LEFT, RIGHT, AIR = 1, 2, 4
"""Bits of `Features.feet`."""
_OFF_FLOOR_M = 0.02
"""How far above where they stand all foot joints are at least of somebody in the air: who slides or drags is not."""
_FALLING_M_S2 = 5.0
"""How fast whoever is in the air falls faster, at least; half of gravity. Whoever crawls, sits or hangs does not."""


@dataclass(frozen=True, eq=False)
class Features:
    """Frames of many clips one after another."""

    points: Floats32
    """(N, P, 3), metres on a body whose legs are 1 m long."""
    speed: Floats32
    """Of the smoothed way of the hips, (N,), m/s as recorded."""
    facing: Floats32
    """Yaw of the hips, (N,), radians, not wrapped within a clip."""
    feet: Bytes
    """Which feet stand, (N,): `LEFT`, `RIGHT` or both; or `AIR`. None of these where feet slide, or other parts hold
    the body up."""
    first: Ints
    """Number of each clip's first frame, (C + 1,)."""

    @cached_property
    def clip(self) -> Ints32:
        """The clip of each frame, (N,)."""
        return np.repeat(np.arange(len(self.first) - 1, dtype=np.int32), np.diff(self.first))


def point_weights() -> Floats:
    """How much each point counts, (P,): as in the distance that graphs are built with."""
    return joint_weights([roles[0] for roles in POINTS])


def body_scale(skeleton: Skeleton) -> float:
    """Length of the legs, metres, by which bodies are compared; of what has none, half its height."""
    legs = [[skeleton.find(f"{side}_{part}") for part in ("foot", "upper_leg")] for side in ("left", "right")]
    if any(None not in leg for leg in legs):
        return max(skeleton.leg_length, 1e-3)
    return max(0.5 * skeleton.height, 1e-3)


def clip_features(clip: Clip) -> Features:
    """The features of one clip.

    >>> from choreograph.demo import demo_clip
    >>> features = clip_features(demo_clip("walk"))
    >>> features.points.shape[1:], float(features.speed.mean().round()), bool(features.feet.any())
    ((14, 3), 1.0, True)
    """
    if clip.contacts is None and clip.skeleton.feet:
        # A copy, so that the positions worked out for this are not kept with a clip that may be one of thousands.
        clip = clip.with_contacts(detect_contacts(replace(clip)))
    clip = clip.resampled(RATE_HZ)
    skeleton = clip.skeleton
    offsets = skeleton.offsets[None] if clip.local_pos is None else clip.local_pos
    positions, rotations = kinematics.forward(clip.root_pos, clip.local_rot, offsets, skeleton.parents)
    joints = [next((j for j in map(skeleton.find, roles) if j is not None), skeleton.hips) for roles in POINTS]
    hips = skeleton.hips
    ahead = _ahead(rotations[:, hips])
    feet = np.zeros(len(clip), np.uint8)
    if clip.contacts is not None:
        for column, joint in enumerate(skeleton.feet):
            side = LEFT if skeleton.roles[joint].startswith("left") else RIGHT
            feet |= np.where(clip.contacts[:, column], side, 0).astype(np.uint8)
        off = (feet == 0) & _off_floor(positions[:, skeleton.feet, 1], clip.contacts)
        feet[_falling(off, positions[:, joints, 1].mean(axis=1))] |= AIR
    way = find_way(positions[:, hips][:, [0, 2]], RATE_HZ) if len(clip) > 1 else None
    return Features(
        points=(positions[:, joints] / body_scale(skeleton)).astype(np.float32),
        speed=(np.zeros(len(clip)) if way is None else way.speed).astype(np.float32),
        facing=np.unwrap(np.arctan2(ahead[:, 0], ahead[:, 2])).astype(np.float32),
        feet=feet,
        first=np.array([0, len(clip)], np.int64),
    )


def _off_floor(heights: Floats, planted: Flags) -> Flags:
    """Frames in which every foot joint is above where it stood before and will stand, (N,)."""
    frames = np.arange(len(heights))
    off = np.full(len(heights), heights.shape[1] > 0)
    for height, down in zip(heights.T, planted.T, strict=True):
        level = np.interp(frames, frames[down], height[down]) if down.any() else height.min()
        off &= height > level + _OFF_FLOOR_M
    return off


def _falling(off: Flags, height: Floats) -> Flags:
    """Of the frames in which no foot stands, those of stretches in which nothing else holds the body up, (N,)."""
    falls = np.zeros(len(off), bool)
    for start, stop in runs(off):
        around = height[max(start - 1, 0) : stop + 1]
        if len(around) < 3:
            continue
        times = (np.arange(len(around)) - 0.5 * (len(around) - 1)) / RATE_HZ
        falls[start:stop] = 2 * np.polyfit(times, around, 2)[0] < -_FALLING_M_S2
    return falls


def _ahead(rotations: Floats) -> Floats:
    from choreograph.base import quat

    return np.asarray(quat.rotate(rotations, (0.0, 0.0, 1.0)))


def join_features(parts: Iterable[Features]) -> Features:
    """The features of several clips one after another."""
    parts = list(parts)
    lengths = [n for part in parts for n in np.diff(part.first).tolist()]
    empty = (np.zeros((0, len(POINTS), 3), np.float32), np.zeros(0, np.float32), np.zeros(0, np.uint8))
    return Features(
        points=np.concatenate([empty[0], *(part.points for part in parts)]),
        speed=np.concatenate([empty[1], *(part.speed for part in parts)]),
        facing=np.concatenate([empty[1], *(part.facing for part in parts)]),
        feet=np.concatenate([empty[2], *(part.feet for part in parts)]),
        first=np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
    )


def stream_features(clips: Sequence[Clip], progress: Progress | None = None) -> Features:
    """The features of clips that are read one at a time."""
    progress = progress or silent
    parts = []
    for done, clip in enumerate(clips, 1):
        parts.append(clip_features(clip))
        progress("looking at clips", done, len(clips))
    return join_features(parts)


def graph_features(graph: MotionGraph, progress: Progress | None = None) -> Features:
    """The features of a graph's clips, from the cache where it has them."""
    from choreograph.graph.cache import Content, find_key, find_or_build

    names = ("points", "speed", "facing", "feet", "first")
    # What is computed depends on the clips alone, whatever their transitions are.
    key = find_key(graph, "finding features", METHOD, ("motion", "contacts"))
    return find_or_build(
        key,
        lambda: stream_features(graph.clips, progress),
        lambda features: Content({}, {name: getattr(features, name) for name in names}),
        lambda content: Features(**{name: content.arrays[name] for name in names}),  # type: ignore[arg-type]
    )
