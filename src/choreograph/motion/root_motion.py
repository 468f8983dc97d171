"""How a motion travels: with its hips, not at all, or on a bone of its own at the floor, as game engines want it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from choreograph.base import quat
from choreograph.base.arrays import seal
from choreograph.motion.bend import SMOOTH_S, low_pass, way_of
from choreograph.motion.clip import Clip
from choreograph.motion.helper_root import fold_helper_root
from choreograph.motion.skeleton import JointAxes, Skeleton

ROOT_BONE = "root"
"""What the bone at the floor is called, unless a joint has that name."""


def in_place(clip: Clip) -> Clip:
    """The motion without its travel: the hips sway and rise above the origin as they did above their way.

    >>> from choreograph.demo import demo_clip
    >>> bool(abs(in_place(demo_clip("walk", 30.0)).root_pos[:, [0, 2]]).max() < 0.1)
    True
    """
    clip = fold_helper_root(clip)
    root = np.array(clip.root_pos)
    root[:, [0, 2]] -= way_of(clip).places
    return clip.with_poses(root, np.array(clip.local_rot))


def with_root_bone(clip: Clip, name: str = ROOT_BONE) -> Clip:
    """The same motion on a skeleton with one joint more: a root at the floor that travels and turns with the body.

    Its way and its heading are those of the hips without their sway, which stays with the hips. Every joint is where
    it was.

    >>> from choreograph.demo import demo_clip
    >>> walk = demo_clip("walk", 30.0)
    >>> moved = with_root_bone(walk)
    >>> moved.skeleton.names[0], bool(abs(moved.global_positions()[:, 1:] - walk.global_positions()).max() < 1e-9)
    ('root', True)

    Args:
        clip: A motion; a helper above the hips that it has already is replaced.
        name: Of the bone.
    """
    clip = fold_helper_root(clip)
    names = clip.skeleton.names
    while name in names:
        name += "_"
    heading = low_pass(np.unwrap(clip.facing()), SMOOTH_S * clip.fps)
    places = way_of(clip).places
    at = np.stack([places[:, 0], np.zeros(len(clip)), places[:, 1]], axis=1)
    turn = quat.from_yaw(heading)
    rot = np.concatenate([turn[:, None], clip.local_rot], axis=1)
    rot[:, 1] = quat.multiply(quat.inverse(turn), clip.local_rot[:, 0])
    bones = clip.skeleton.offsets[None] if clip.local_pos is None else clip.local_pos
    pos = np.concatenate([at[:, None], np.broadcast_to(bones, (len(clip), len(names), 3))], axis=1)
    pos[:, 1] = quat.rotate(quat.inverse(turn), clip.root_pos - at)
    return replace(
        clip,
        skeleton=_below_bone(clip.skeleton, name),
        root_pos=seal(at),
        local_rot=seal(quat.make_continuous(rot)),
        local_pos=seal(pos),
    )


def _below_bone(skeleton: Skeleton, name: str) -> Skeleton:
    axes = skeleton.axes
    if axes is not None:
        frames = np.concatenate([np.array([quat.IDENTITY]), axes.frames])
        limits = None if axes.limits is None else np.concatenate([np.full((1, 3, 2), np.nan), axes.limits])
        axes = JointAxes(frames, ("zyx", *axes.orders), limits)
    return Skeleton(
        (name, *skeleton.names),
        np.concatenate([[-1], skeleton.parents + 1]),
        np.concatenate([np.zeros((1, 3)), skeleton.offsets]),
        skeleton.tip_parents + 1,
        skeleton.tip_offsets,
        ("other", *skeleton.roles),
        axes,
    )
