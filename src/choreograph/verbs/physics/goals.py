"""Sketches from goals: feet on floors, steps and stones, hands that carry, poses and places in between."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from choreograph.base.arrays import Flags, Floats
from choreograph.base.errors import RequestError
from choreograph.dynamics.contacts import GROUPS, PARTS, ContactPoints
from choreograph.dynamics.dofs import Dofs
from choreograph.goals.model import ContactGoal, Goal, PlaceGoal, PoseGoal
from choreograph.goals.target import own_pose
from choreograph.motion.clip import Clip
from choreograph.motion.contacts import runs
from choreograph.verbs.physics.contacts import LIMBS, Legs, find_stances, limb_groups
from choreograph.verbs.physics.sketch import KeyPose, Sketch

LIMB_KINDS: tuple[Literal["foot", "hand"], ...] = ("foot", "hand")
"""Limbs that carry, as contacts name them."""
_SHARES = (0.65, 0.88, 1.0)
"""Of a stance, after which heel, ball and toe lift, where the foot goes on."""
_PALM_M = 0.02
"""How high the middle of a hand's bones lies above what it rests on."""


def with_contacts(
    sketch: Sketch,
    limb: Literal["foot", "hand"],
    goals: Sequence[tuple[int, ContactGoal]],
    dofs: Dofs,
    points: ContactPoints,
) -> Sketch:
    """The sketch with other contacts of both feet or both hands; whole key poses are carried to where their feet stand.

    Args:
        sketch: Of the motion.
        limb: Whose contacts they are.
        goals: All of them, each with its number in the request: goals of one foot that meet in time make one stance.
        dofs: Of the body.
        points: That may touch the floor.

    Raises:
        RequestError: If a part of a foot, or a hand, is in two places at once.
    """
    legs, first = Legs(dofs, points), 2 * (limb == "hand")
    flags = np.array(sketch.flags)
    flags[:, len(GROUPS) :] &= limb == "foot"
    flags[:, : len(GROUPS)] &= limb == "hand"
    spots = {
        (stance.side, stance.start): spot
        for stance, spot in zip(sketch.stances, sketch.footprints, strict=True)
        if (stance.side < 2) == (limb == "hand")
    }
    # Shaped as where it stands in the motion; a foot in the air may bend into another shape.
    shapes = {stance.side: spot for stance, spot in zip(sketch.stances, sketch.footprints, strict=True)}
    for side in (first, first + 1):
        mine = [(n, goal) for n, goal in goals if (goal.foot or goal.hand) == ("left", "right")[side - first]]
        for start, goal in _stances(sketch, side, mine, flags).items():
            assert goal.position is not None
            if limb == "hand":
                spots[side, start] = np.array([goal.position]) + np.array([0.0, _PALM_M, 0.0])
                continue
            flat = shapes.get(side)
            flat = legs.flat(sketch.poses[0].q, side, goal.position[1]) if flat is None else flat
            facing = None if goal.facing_deg is None else float(np.radians(goal.facing_deg))
            spots[side, start] = _put(flat, np.array(goal.position), facing)
    stances = tuple(find_stances(flags))
    footprints = tuple(spots[stance.side, stance.start] for stance in stances)
    changed = replace(sketch, flags=flags, stances=stances, footprints=footprints)
    return _carried(changed, legs) if limb == "foot" else changed


def _stances(
    sketch: Sketch, side: int, goals: Sequence[tuple[int, ContactGoal]], flags: Flags
) -> Mapping[int, ContactGoal]:
    """Set a limb's flags (K, …) as its goals say; return one goal of each stance, by the stance's first node."""
    columns, nodes = flags[:, limb_groups(side)], []
    for number, goal in goals:
        down = _part_flags(sketch, goal) if side < 2 else _hand_flags(sketch, goal)
        if (columns & down).any():
            what = "stands" if side < 2 else "carries"
            raise RequestError(
                f"the {LIMBS[side]} {what} twice at {goal.span[0]:g} s", where=f"goals[{number}].start_s"
            )
        columns |= down
        nodes.append(np.asarray(down.any(axis=1)))
    flags[:, limb_groups(side)] = columns
    firsts: dict[int, ContactGoal] = {}
    for start, stop in runs(np.asarray(columns.any(axis=1))):
        inside = [one for one, at in zip(goals, nodes, strict=True) if at[start:stop].any()]
        firsts[start] = inside[0][1]
        for number, goal in inside[1:]:
            if (goal.position, goal.facing_deg) != (firsts[start].position, firsts[start].facing_deg):
                raise RequestError(
                    f"two contacts of the {LIMBS[side]} follow each other without a step between them",
                    where=f"goals[{number}].start_s",
                )
    return firsts


def _part_flags(sketch: Sketch, goal: ContactGoal) -> Flags:
    """Which parts of a foot stand at which nodes, (K, 3): lifting one after the other as in a step."""
    out = np.zeros((sketch.nodes, len(PARTS)), bool)
    start, stop = (sketch.node(time) for time in goal.span)
    last = [part for part in PARTS if part in goal.parts][-1]
    for k, (part, share) in enumerate(zip(PARTS, _SHARES, strict=True)):
        whole = part == last or stop == sketch.nodes - 1
        if part in goal.parts:
            out[start : stop + 1 if whole else start + max(1, round(share * (stop + 1 - start))), k] = True
    return out


def _hand_flags(sketch: Sketch, goal: ContactGoal) -> Flags:
    out = np.zeros((sketch.nodes, 1), bool)
    start, stop = (sketch.node(time) for time in goal.span)
    out[start : stop + 1] = True
    return out


def _carried(sketch: Sketch, legs: Legs) -> Sketch:
    """The sketch with whole key poses shifted so that their feet are over the footprints that they stand on."""
    poses = []
    for pose in sketch.poses:
        off = [
            spot.mean(axis=0) - legs.positions(pose.q[None])[0, legs.sides[stance.side]].mean(axis=0)
            for stance, spot in zip(sketch.stances, sketch.footprints, strict=True)
            if stance.side < 2 and stance.start <= pose.node < stance.stop
        ]
        q = np.array(pose.q)
        if off and pose.whole:
            q[:3] += np.mean(off, axis=0)
        poses.append(replace(pose, q=q))
    first, last = (after.q[:3] - before.q[:3] for before, after in ((sketch.poses[i], poses[i]) for i in (0, -1)))
    source = sketch.source
    if source is not None:
        share = (sketch.times / sketch.seconds)[:, None]
        source = np.array(source)
        source[:, :3] += (1 - share) * first + share * last
    return replace(sketch, poses=tuple(poses), source=source)


def _put(spot: Floats, middle: Floats, facing: float | None) -> Floats:
    """A flat foot's points (4, 3) with their middle at a place, pointing somewhere; None as it points."""
    ahead = spot[3] - spot[0]
    turn = 0.0 if facing is None else facing - np.arctan2(ahead[0], ahead[2])
    c, s = np.cos(turn), np.sin(turn)
    off = spot - spot.mean(axis=0)
    return np.asarray(
        middle + np.stack([c * off[:, 0] + s * off[:, 2], off[:, 1], -s * off[:, 0] + c * off[:, 2]], axis=1)
    )


def with_poses(sketch: Sketch, goals: Sequence[Goal], clip: Clip, dofs: Dofs) -> Sketch:
    """The sketch with the poses and places of goals in between.

    Raises:
        RequestError: If one is outside of the motion, or of another skeleton.
    """
    added = []
    for number, goal in enumerate(goals):
        if not isinstance(goal, PoseGoal | PlaceGoal) or goal.at_s is None:
            continue
        node, time = sketch.node(goal.at_s), goal.at_s
        if not 0 < node < sketch.nodes - 1 or time > sketch.seconds:
            raise RequestError(
                f"a goal at {time:g} s is not within the motion, which lasts {sketch.seconds:.2f} s",
                where=f"goals[{number}].at_s",
            )
        near = sketch.poses[0].q + (sketch.poses[-1].q - sketch.poses[0].q) * sketch.times[node] / sketch.seconds
        q = np.array(near)
        if isinstance(goal, PoseGoal):
            q[6:] = dofs.angles(_pose_clip(goal, clip, f"goals[{number}].pose"))[0, 6:]
        if goal.place is not None:
            q[[0, 2]] = goal.place
        if goal.height_m is not None:
            q[1] = goal.height_m
        if goal.facing is not None:  # the nearest of all the turns that face there
            q[3] += np.remainder(goal.facing - near[3] + np.pi, 2 * np.pi) - np.pi
        place, high = goal.place is not None, goal.height_m is not None
        root = (place, high, place, goal.facing is not None, False, False)
        added.append(KeyPose(node, q, isinstance(goal, PoseGoal), root))
    return replace(sketch, poses=tuple(sorted([*sketch.poses, *added], key=lambda pose: pose.node)))


def _pose_clip(goal: PoseGoal, clip: Clip, where: str) -> Clip:
    """The one frame that a goal's pose is, on the motion's skeleton; without a file, a frame of the motion itself."""
    from choreograph.formats import read_clip

    pose = goal.pose
    if pose.rotations:
        return own_pose(pose, clip.skeleton, clip.fps, where)
    source = read_clip(pose.file) if pose.file else clip
    if not source.skeleton.same_joints(clip.skeleton):
        raise RequestError(f"{pose.file} has other joints than {clip.name!r}", where=f"{where}.file")
    if pose.frame >= len(source):
        raise RequestError(f"there is no frame {pose.frame}; {source.name!r} has {len(source)}", where=f"{where}.frame")
    return source.with_skeleton(clip.skeleton)[pose.frame : pose.frame + 1]
