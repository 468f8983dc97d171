"""Two-bone inverse kinematics of a leg, in closed form, over all frames at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from choreograph.demo.body import SHIN, THIGH
from choreograph.maths import quat

Array = NDArray[np.float64]


def reach_leg(thigh_rot: Array, hip_pos: Array, ankle_pos: Array) -> tuple[Array, Array]:
    """Rotations of thigh and shin that bring the ankle exactly to its place.

    The knee is a hinge about the thigh's x axis and bends backwards only. The thigh turns from where it was by the
    shortest way, so the knee keeps pointing where the given pose had it.

    Args:
        thigh_rot: Global rotations of the thigh to start from, (F, 4).
        hip_pos: Positions of the hip joint, (F, 3), metres.
        ankle_pos: Wanted positions of the ankle, (F, 3), metres, within the leg's reach.

    Returns:
        thigh: Global rotations of the thigh, (F, 4).
        knee: Flexion of the knee, (F,), radians.
    """
    away = ankle_pos - hip_pos
    length = np.linalg.norm(away, axis=1)
    cosine = (length**2 - THIGH**2 - SHIN**2) / (2 * THIGH * SHIN)
    knee = np.arccos(np.clip(cosine, -1.0, 1.0))
    # Hip to ankle in the thigh's frame at this flexion; a positive turn about x takes the shin backwards.
    bent = np.stack([np.zeros_like(knee), -THIGH - SHIN * np.cos(knee), -SHIN * np.sin(knee)], 1)
    now = quat.rotate(thigh_rot, bent)
    thigh = quat.multiply(quat.between_vectors(now, away), thigh_rot)
    return thigh, knee
