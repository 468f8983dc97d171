"""What a control or a target looks like to the search: a handful of points in each frame."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from choreograph.base.arrays import Floats
from choreograph.base.errors import RequestError
from choreograph.motion.clip import Clip
from choreograph.motion.roles import ROLES

ENDS = ("left_hand", "right_hand", "left_foot", "right_foot")
"""Hands and feet, as roles."""
TRACK = ("track",)
"""Two points on the floor, a fixed distance apart: the hips of a body, or a trajectory and where it heads."""
TRACK_HALF_M = 0.15
"""Half that distance, metres: the wider, the more turning counts against travelling. A trajectory knows where it heads
but not how the pelvis turns with each step."""
BODY_TRACK_HALF_M = 0.6
"""The same where a body leads: how its pelvis turns tells which foot is in front. On walks that were held back, 0.4 to
1.2 do about as well, 0.25 loses the step now and then, and so does 0.5 under a trajectory."""


def find_points(clip: Clip, roles: Sequence[str]) -> Floats:
    """The points of every frame, (F, P, 3), metres, for a list of joint roles or `TRACK`.

    Raises:
        RoleError: If the skeleton has no joint with one of the roles.
        RequestError: If the list is empty or mixes joints and the track.
    """
    if not roles or ("track" in roles and tuple(roles) != TRACK):
        raise RequestError(f"points are 'track', or one or more of the roles {', '.join(ROLES)}; not {list(roles)}")
    if tuple(roles) == TRACK:
        return hip_track(clip)
    return np.array(clip.global_positions()[:, [clip.skeleton.need(role) for role in roles]])


def hip_track(clip: Clip) -> Floats:
    """The hip joints on the floor at a fixed distance, left before right, (F, 2, 3)."""
    joints = [clip.skeleton.need("left_upper_leg"), clip.skeleton.need("right_upper_leg")]
    left, right = np.moveaxis(clip.global_positions()[:, joints][..., [0, 2]], 1, 0)
    across = left - right
    across /= np.maximum(np.linalg.norm(across, axis=1, keepdims=True), 1e-9)
    return track((left + right) / 2, across)


def track(middle: Floats, across: Floats, half_m: float = TRACK_HALF_M) -> Floats:
    """The two points around a middle on the floor.

    Args:
        middle: Places (x, z), (F, 2), metres.
        across: Unit vectors to the left, (F, 2).
        half_m: How far each point is from the middle.
    """
    out = np.zeros((len(middle), 2, 3))
    for k, side in enumerate((1, -1)):
        out[:, k, ::2] = middle + side * half_m * across
    return out


def set_apart(points: Floats, half_m: float) -> Floats:
    """A track (F, 2, 3) with its points at another distance from their middle."""
    left, right = np.moveaxis(points[..., ::2], 1, 0)
    across = left - right
    return track((left + right) / 2, across / np.linalg.norm(across, axis=1, keepdims=True), half_m)
