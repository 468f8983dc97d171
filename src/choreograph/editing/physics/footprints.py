"""Sketches from requests: footprints on floors, steps and stones, and poses in between."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from choreograph.dynamics.contacts import PARTS, ContactPoints
from choreograph.dynamics.dofs import Dofs
from choreograph.editing.physics.contacts import Legs, Stance, find_stances
from choreograph.editing.physics.request import FootprintRequest, KeyPoseRequest
from choreograph.editing.physics.sketch import KeyPose, Sketch
from choreograph.errors import RequestError
from choreograph.motion.clip import Clip

Array = NDArray[np.float64]

_HEEL_SHARE, _BALL_SHARE = 0.65, 0.88
"""Shares of a stance after which heel and ball lift, where the foot goes on."""


def with_footprints(sketch: Sketch, prints: Sequence[FootprintRequest], dofs: Dofs, points: ContactPoints) -> Sketch:
    """The sketch with other footprints, all of them.

    Raises:
        RequestError: If a foot's stances overlap.
    """
    legs = Legs(dofs, points)
    flags = np.zeros_like(sketch.flags)
    spots: dict[tuple[int, int], Array] = {}
    for number, one in enumerate(prints):
        side = ("left", "right").index(one.foot)
        start = int(np.clip(round(one.start_s / sketch.h), 0, sketch.nodes - 1))
        stop = int(np.clip(round(one.stop_s / sketch.h) + 1, start + 1, sketch.nodes))
        mine = slice(len(PARTS) * side, len(PARTS) * (side + 1))
        if flags[start:stop, mine].any():
            raise RequestError(f"the {one.foot} foot stands twice at {one.start_s:g} s", where=f"footprints[{number}]")
        length, last = stop - start, stop == sketch.nodes
        for part, share in enumerate((_HEEL_SHARE, _BALL_SHARE, 1.0)):
            until = stop if last else start + max(1, round(share * length))
            flags[start:until, len(PARTS) * side + part] = True
        flat = legs.flat(sketch.poses[0].q, side, one.position[1])
        spots[side, start] = _put(flat, np.array(one.position), float(np.radians(one.facing_deg)))
    stances = find_stances(flags)
    return replace(
        sketch, flags=flags, stances=tuple(stances), footprints=tuple(spots[_key(one, spots)] for one in stances)
    )


def _key(stance: Stance, spots: dict[tuple[int, int], Array]) -> tuple[int, int]:
    if (stance.side, stance.start) in spots:
        return stance.side, stance.start
    raise RequestError(
        f"two stances of the {('left', 'right')[stance.side]} foot follow each other without a step between them",
        where="footprints",
    )


def _put(spot: Array, middle: Array, facing: float) -> Array:
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
        node = round(one.at_s / sketch.h)
        if not 0 < node < sketch.nodes - 1:
            raise RequestError(
                f"a pose at {one.at_s:g} s is not within the motion, which lasts {(sketch.nodes - 1) * sketch.h:.2f} s",
                where=f"poses[{number}].at_s",
            )
        q = dofs.angles(shown.with_skeleton(clip.skeleton)[one.frame : one.frame + 1])[0]
        added.append(KeyPose(node, q, joints_only=True))
    return replace(sketch, poses=tuple(sorted([*sketch.poses, *added], key=lambda pose: pose.node)))
