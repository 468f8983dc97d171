"""Sketches from requests: footprints on floors, steps and stones, hands that carry, and poses in between."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from choreograph.base.arrays import Flags, Floats
from choreograph.base.errors import RequestError
from choreograph.dynamics.contacts import GROUPS, PARTS, ContactPoints
from choreograph.dynamics.dofs import Dofs
from choreograph.motion.clip import Clip
from choreograph.motion.contacts import runs
from choreograph.verbs.physics.contacts import LIMBS, Legs, Stance, find_stances, limb_groups
from choreograph.verbs.physics.request import FootprintRequest, HandprintRequest, KeyPoseRequest
from choreograph.verbs.physics.sketch import KeyPose, Sketch

_SHARES = (0.65, 0.88, 1.0)
"""Of a stance, after which heel, ball and toe lift, where the foot goes on."""
_PALM_M = 0.02
"""How high the middle of a hand's bones lies above what it rests on."""


def with_footprints(sketch: Sketch, prints: Sequence[FootprintRequest], dofs: Dofs, points: ContactPoints) -> Sketch:
    """The sketch with other footprints, all of them; first and last pose are carried along to where their feet stand.

    Raises:
        RequestError: If a foot's stances overlap, or its parts do not follow each other.
    """
    legs = Legs(dofs, points)
    flags = np.array(sketch.flags)
    flags[:, : len(GROUPS)] = False
    spots: dict[tuple[int, int], Floats] = {
        (stance.side, stance.start): spot
        for stance, spot in zip(sketch.stances, sketch.footprints, strict=True)
        if stance.side > 1
    }
    shapes = {stance.side: spot for stance, spot in zip(sketch.stances, sketch.footprints, strict=True)}
    for number, one in enumerate(prints):
        side = ("left", "right").index(one.foot)
        mine = _part_flags(sketch, one)
        down = runs(np.asarray(mine.any(axis=1)))
        where = f"footprints[{number}]"
        if len(down) != 1:
            raise RequestError(f"the {one.foot} foot does not stand all the time: its parts leave a gap", where=where)
        start, stop = down[0]
        if flags[start:stop, limb_groups(side)].any():
            raise RequestError(f"the {one.foot} foot stands twice at {one.start_s:g} s", where=where)
        flags[:, limb_groups(side)] |= mine
        # Shaped as where it stands in the motion; a foot in the air may bend into another shape.
        flat = shapes.get(side)
        flat = legs.flat(sketch.poses[0].q, side, one.position[1]) if flat is None else flat
        spots[side, start] = _put(flat, np.array(one.position), float(np.radians(one.facing_deg)))
    return _carried(_standing(sketch, flags, spots), legs)


def _part_flags(sketch: Sketch, one: FootprintRequest) -> Flags:
    """Which parts of a foot stand at which nodes, (K, 3): as given, or lifting one after the other as in a step."""
    out = np.zeros((sketch.nodes, len(PARTS)), bool)
    start, stop = sketch.node(one.start_s), sketch.node(one.stop_s)
    last = [part for part in PARTS if part in one.parts][-1]
    for k, (part, share) in enumerate(zip(PARTS, _SHARES, strict=True)):
        if part not in one.parts:
            continue
        span = one.span(part)
        if span is not None:
            out[sketch.node(span[0]) : sketch.node(span[1]) + 1, k] = True
        elif part == last or stop == sketch.nodes - 1:
            out[start : stop + 1, k] = True
        else:
            out[start : start + max(1, round(share * (stop + 1 - start))), k] = True
    return out


def with_handprints(sketch: Sketch, prints: Sequence[HandprintRequest]) -> Sketch:
    """The sketch with other places at which hands carry, all of them.

    Raises:
        RequestError: If a hand's stances overlap.
    """
    flags = np.array(sketch.flags)
    flags[:, len(GROUPS) :] = False
    spots = {
        (stance.side, stance.start): spot
        for stance, spot in zip(sketch.stances, sketch.footprints, strict=True)
        if stance.side < 2
    }
    for number, one in enumerate(prints):
        side = 2 + ("left", "right").index(one.hand)
        start, stop = sketch.node(one.start_s), sketch.node(one.stop_s) + 1
        if flags[start:stop, limb_groups(side)].any():
            raise RequestError(f"the {one.hand} hand carries twice at {one.start_s:g} s", where=f"handprints[{number}]")
        flags[start:stop, limb_groups(side)] = True
        spots[side, start] = np.array([one.position]) + np.array([0.0, _PALM_M, 0.0])
    return _standing(sketch, flags, spots)


def _standing(sketch: Sketch, flags: Flags, spots: dict[tuple[int, int], Floats]) -> Sketch:
    stances = find_stances(flags)
    return replace(
        sketch, flags=flags, stances=tuple(stances), footprints=tuple(spots[_key(one, spots)] for one in stances)
    )


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


def _key(stance: Stance, spots: dict[tuple[int, int], Floats]) -> tuple[int, int]:
    if (stance.side, stance.start) in spots:
        return stance.side, stance.start
    raise RequestError(
        f"two stances of the {LIMBS[stance.side]} follow each other without a step between them",
        where="footprints" if stance.side < 2 else "handprints",
    )


def _put(spot: Floats, middle: Floats, facing: float) -> Floats:
    """A flat foot's points (4, 3) with their middle at a place, pointing somewhere."""
    ahead = spot[3] - spot[0]
    turn = facing - np.arctan2(ahead[0], ahead[2])
    c, s = np.cos(turn), np.sin(turn)
    off = spot - spot.mean(axis=0)
    return np.asarray(
        middle + np.stack([c * off[:, 0] + s * off[:, 2], off[:, 1], -s * off[:, 0] + c * off[:, 2]], axis=1)
    )


def with_poses(sketch: Sketch, poses: Sequence[KeyPoseRequest], clip: Clip, dofs: Dofs) -> Sketch:
    """The sketch with poses in between.

    Raises:
        RequestError: If one is outside of the motion, or shows another skeleton.
    """
    from choreograph.formats import read_clip

    added = []
    for number, one in enumerate(poses):
        shown = read_clip(one.clip) if one.clip else clip
        if not shown.skeleton.same_joints(clip.skeleton):
            raise RequestError(f"{one.clip} has other joints than {clip.name!r}", where=f"poses[{number}].clip")
        if one.frame >= len(shown):
            raise RequestError(
                f"there is no frame {one.frame}; {shown.name!r} has {len(shown)}", where=f"poses[{number}].frame"
            )
        node = sketch.node(one.at_s)
        if not 0 < node < sketch.nodes - 1 or one.at_s > sketch.seconds:
            raise RequestError(
                f"a pose at {one.at_s:g} s is not within the motion, which lasts {sketch.seconds:.2f} s",
                where=f"poses[{number}].at_s",
            )
        q = dofs.angles(shown.with_skeleton(clip.skeleton)[one.frame : one.frame + 1])[0]
        near = sketch.poses[0].q + (sketch.poses[-1].q - sketch.poses[0].q) * sketch.times[node] / sketch.seconds
        q[:6] = near[:6]
        if not one.joints:
            q = near
        if one.position is not None:
            q[:3] = one.position
        if one.height_m is not None:
            q[1] = one.height_m
        if one.facing_deg is not None:  # the nearest of all the turns that face there
            q[3] += np.remainder(np.radians(one.facing_deg) - near[3] + np.pi, 2 * np.pi) - np.pi
        place, high = one.position is not None, one.height_m is not None
        added.append(
            KeyPose(node, q, one.joints, (place, place or high, place, one.facing_deg is not None, False, False))
        )
    return replace(sketch, poses=tuple(sorted([*sketch.poses, *added], key=lambda pose: pose.node)))
