"""Helper roots: joints above the hips that are no part of the body, such as a scene's or a trajectory's node.

One program writes the hips as the root, another hangs them from a node that stands still or travels along. Folding
the helper into the hips keeps where every joint of the body is, and makes both skeletons one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from choreograph.base import quat
from choreograph.base.arrays import Floats, seal
from choreograph.motion import kinematics
from choreograph.motion.clip import Clip, Note
from choreograph.motion.skeleton import JointAxes, Skeleton

_STILL_M = 1e-10
"""Inner joints that stay within this of the bone have no need of positions of their own."""


def helper_depth(skeleton: Skeleton) -> int:
    """How many joints stand above the hips, each with the next as its only child and none of them with a tip."""
    hips = skeleton.hips
    alone = all(
        skeleton.children(j) == (j + 1,) and skeleton.roles[j] == "other" and not (skeleton.tip_parents == j).any()
        for j in range(hips)
    )
    return hips if alone else 0


def fold_skeleton(skeleton: Skeleton, depth: int) -> Skeleton:
    """The skeleton without its first `depth` joints, which are a chain; where its new root rests stays the same."""
    if depth == 0:
        return skeleton
    axes = skeleton.axes
    if axes is not None:
        limits = None if axes.limits is None else axes.limits[depth:]
        # The hips turn as freely now as they and what carried them did together.
        order = next((order for order in axes.orders[depth::-1] if len(order) == 3), "zyx")
        axes = JointAxes(axes.frames[depth:], (order, *axes.orders[depth + 1 :]), limits)
    offsets = np.array(skeleton.offsets[depth:])
    offsets[0] = skeleton.offsets[: depth + 1].sum(axis=0)
    return Skeleton(
        skeleton.names[depth:],
        np.maximum(skeleton.parents[depth:] - depth, -1),
        offsets,
        skeleton.tip_parents - depth,
        skeleton.tip_offsets,
        skeleton.roles[depth:],
        axes,
    )


def fold_poses(
    skeleton: Skeleton, root_pos: Floats, local_rot: Floats, local_pos: Floats | None, depth: int
) -> tuple[Floats, Floats, Floats | None]:
    """Root positions, rotations and joint positions of the same motion without the first `depth` joints."""
    top = slice(0, depth + 1)
    offsets = skeleton.offsets[None, top] if local_pos is None else local_pos[:, top]
    world_pos, world_rot = kinematics.forward(root_pos, local_rot[:, top], offsets, skeleton.parents[top])
    root, rot = world_pos[:, depth].copy(), np.array(local_rot[:, depth:])
    rot[:, 0] = quat.make_continuous(world_rot[:, depth])
    if local_pos is not None:
        local_pos = np.array(local_pos[:, depth:])
        local_pos[:, 0] = root
    return root, rot, local_pos


def fold_helper_root(clip: Clip) -> Clip:
    """The same motion with the hips as its root; the clip itself where they are.

    >>> from choreograph.demo import demo_clip
    >>> walk = demo_clip("walk", 30.0)
    >>> fold_helper_root(walk) is walk
    True
    """
    depth = helper_depth(clip.skeleton)
    if depth == 0:
        return clip
    skeleton = fold_skeleton(clip.skeleton, depth)
    root, rot, local_pos = fold_poses(clip.skeleton, clip.root_pos, clip.local_rot, clip.local_pos, depth)
    if local_pos is not None:
        # Mostly it was only the hips that moved against what carried them.
        bones = local_pos[:, 1:].mean(axis=0)
        if len(bones) == 0 or np.abs(local_pos[:, 1:] - bones).max() <= _STILL_M:
            skeleton = replace(skeleton, offsets=np.concatenate([skeleton.offsets[:1], bones]))
            local_pos = None
    return replace(
        clip,
        skeleton=skeleton,
        root_pos=seal(root),
        local_rot=seal(rot),
        local_pos=None if local_pos is None else seal(local_pos),
    )


def unite_roots(clips: Sequence[Clip], like: Skeleton | None = None) -> tuple[list[Clip], list[Note]]:
    """The clips with helper roots folded where others do without, and a note that says so.

    Clips that all have the same joints stay as they are, and so do clips that would differ all the same.

    Args:
        clips: As they were read.
        like: The skeleton that they are to have, if not one of their own.
    """
    which, notes = find_helpers([clip.skeleton for clip in clips], like)
    clips_out = list(clips)
    for number in which:
        clips_out[number] = fold_helper_root(clips_out[number])
    return clips_out, notes


def find_helpers(skeletons: Sequence[Skeleton], like: Skeleton | None = None) -> tuple[list[int], list[Note]]:
    """Which clips' helper roots are to be folded, see `unite_roots`, by the skeletons of all, and a note of it."""
    kinds = {skeleton.names: helper_depth(skeleton) for skeleton in skeletons}
    if like is not None:
        bare = {like.names}
    else:
        # Joints that several kinds of skeletons have, with or without their helpers.
        counts = Counter(joints for names, depth in kinds.items() for joints in {names, names[depth:]})
        bare = {joints for joints, count in counts.items() if count > 1}
    folded = {names: depth for names, depth in kinds.items() if depth and names[depth:] in bare}
    which = [number for number, skeleton in enumerate(skeletons) if skeleton.names in folded]
    if not which:
        return [], []
    helpers = dict.fromkeys(name for n in which for name in skeletons[n].names[: folded[skeletons[n].names]])
    first = skeletons[which[0]].names
    text = (
        f"{', '.join(map(repr, helpers))} above {first[folded[first]]!r} is a helper that {len(which)} of "
        f"{len(skeletons)} clips have: it was folded in"
    )
    return which, [Note("folded-root", text)]
