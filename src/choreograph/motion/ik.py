"""Two-bone inverse kinematics of legs and arms, in closed form, over all frames at once.

A limb is hip, knee and ankle, or shoulder, elbow and wrist; joints that a skeleton has between them move rigidly with
the bone that they are on. The middle joint is a hinge whose axis is the recorded pose's, so it never flips, and bones
keep their length to the last digit. Names are a leg's; an arm is solved alike.
"""

from __future__ import annotations

import numpy as np

from choreograph.base import quat
from choreograph.base.arrays import Floats, Ints32

SOFT_SHARE = 0.97
"""Share of the limb's length beyond which reaching on is resisted: about 28 degrees of flexion. Near full extension a
knee turns by degrees for every millimetre of reach, which shows as a pop (Kovar, Schreiner & Gleicher 2002, sec. 4)."""
HINGE_SHARE = 0.17
"""Sine of the flexion, ten degrees, below which the leg is so straight that its pose says little about the hinge."""
UNDO_RAD = 0.3
"""Flexion beyond the recorded one over which a knee bent the wrong way comes right."""


def hinge_axes(hip: Floats, knee: Floats, ankle: Floats, thigh_rot: Floats) -> Floats:
    """Axis of the knee in each frame, (F, 3), unit: a positive turn of the shin about it bends the leg.

    It is the normal of the leg's plane; where the leg is nearly straight it goes over into the axis that the knee has
    in the clip as a whole, and for a leg that never bends into the thigh's sideways axis.

    Args:
        hip: Positions of the hip, (F, 3), metres.
        knee: Positions of the knee, (F, 3).
        ankle: Positions of the ankle, (F, 3).
        thigh_rot: Global rotations of the thigh, (F, 4).
    """
    from choreograph.motion import _compiled_limb

    places = (np.ascontiguousarray(values, float) for values in (hip, knee, ankle, thigh_rot))
    return _compiled_limb.hinge_axes(*places, HINGE_SHARE)  # type: ignore[no-any-return]


def hinge_axes_numpy(hip: Floats, knee: Floats, ankle: Floats, thigh_rot: Floats) -> Floats:
    """What `hinge_axes` computes, in NumPy: the definition that the compiled kernel is held to."""
    return hinge_axes_near(usual_hinge(hip, knee, ankle, thigh_rot), hip, knee, ankle, thigh_rot)


def usual_hinge(hip: Floats, knee: Floats, ankle: Floats, thigh_rot: Floats) -> Floats:
    """Axis that a knee has in a clip as a whole, in the thigh's frame, (3,), unit."""
    own = quat.rotate(quat.inverse(thigh_rot), _normals(hip, knee, ankle)).mean(axis=0)
    own[0] += 1e-6
    return np.asarray(own / np.linalg.norm(own))


def hinge_axes_near(own: Floats, hip: Floats, knee: Floats, ankle: Floats, thigh_rot: Floats) -> Floats:
    """See `hinge_axes`; the axis that the knee has as a whole is given."""
    normal = _normals(hip, knee, ankle)
    usual = quat.rotate(thigh_rot, own)
    # A knee that is bent the wrong way has the same hinge: its normal is turned round.
    bent = np.where(np.sum(normal * usual, axis=1) < 0, -1.0, 1.0)[:, None]
    axis = bent * normal + HINGE_SHARE * usual
    return np.asarray(axis / np.maximum(np.linalg.norm(axis, axis=1, keepdims=True), 1e-12))


def _normals(hip: Floats, knee: Floats, ankle: Floats) -> Floats:
    """Normals of a leg's plane, (F, 3): as long as the sine of its flexion."""
    thigh, shin = knee - hip, ankle - knee
    size = np.linalg.norm(thigh, axis=1) * np.linalg.norm(shin, axis=1)
    return np.asarray(np.cross(thigh, shin) / np.maximum(size, 1e-12)[:, None])


def soft_reach(wanted: Floats, recorded: Floats, longest: Floats, soft_share: float = SOFT_SHARE) -> Floats:
    """How far the ankle may be from the hip, (F,), metres: what is wanted, held back as the leg grows straight.

    A reach up to that of the recorded pose is always granted; beyond it and `soft_share` of the longest, the leg comes
    ever more slowly towards its full length and never gets there.

    Args:
        wanted: Distance from hip to target, (F,), metres.
        recorded: Distance from hip to ankle in the recorded pose, (F,).
        longest: Length of the stretched leg, (F,).
        soft_share: Where the resistance begins, as a share of the longest.
    """
    start = np.minimum(np.maximum(soft_share * longest, recorded), longest)
    room = np.maximum(longest - start, 1e-9)
    over = np.maximum(wanted - start, 0.0)
    return np.where(wanted > start, start + room * -np.expm1(-over / room), wanted)


def solve_limb(
    hip: Floats, knee: Floats, ankle: Floats, axis: Floats, target: Floats, soft_share: float = SOFT_SHARE
) -> tuple[Floats, Floats]:
    """Turns that bring a limb's end to its target, exactly unless the limb would be stretched.

    The shin is first turned about the knee's axis until the ankle is as far from the hip as the target is, then the
    whole leg by the shortest way: bones keep their length, and the knee points where the recorded pose had it.

    Args:
        hip: Positions of the hip, (F, 3), metres: where it is to be.
        knee: Positions of the knee in the recorded pose, carried along with the hip, (F, 3).
        ankle: Positions of the ankle, likewise.
        axis: Axes of the knee, (F, 3), unit, such as from `hinge_axes`.
        target: Wanted positions of the ankle, (F, 3).
        soft_share: See `soft_reach`; 1 grants all that the bones' lengths allow.

    Returns:
        swing: Global rotation of the whole leg about the hip, (F, 4); applied after `bend`.
        bend: Global rotation of the shin about the knee, (F, 4).
    """
    from choreograph.motion import _compiled_limb

    places = (np.ascontiguousarray(values, float) for values in (hip, knee, ankle, axis, target))
    return _compiled_limb.solve_limb(*places, soft_share, UNDO_RAD)  # type: ignore[no-any-return]


def solve_limb_numpy(
    hip: Floats, knee: Floats, ankle: Floats, axis: Floats, target: Floats, soft_share: float = SOFT_SHARE
) -> tuple[Floats, Floats]:
    """What `solve_limb` computes, in NumPy: the definition that the compiled kernel is held to."""
    thigh, shin = knee - hip, ankle - knee
    # |thigh + turned shin|^2 = a^2 + b^2 + 2 (fixed + even cos d + odd sin d) for a turn by d about the axis.
    along = np.sum(axis * shin, axis=1)
    fixed = np.sum(axis * thigh, axis=1) * along
    even = np.sum(thigh * shin, axis=1) - fixed
    odd = np.sum(thigh * np.cross(axis, shin), axis=1)
    swing_size = np.maximum(np.hypot(even, odd), 1e-12)
    squares = np.sum(thigh**2, axis=1) + np.sum(shin**2, axis=1) + 2 * fixed
    straight = np.arctan2(odd, even)
    away = target - hip
    distance = np.linalg.norm(away, axis=1)
    recorded = np.linalg.norm(ankle - hip, axis=1)
    longest = np.sqrt(np.maximum(squares + 2 * swing_size, 0.0))
    reach = soft_reach(distance, recorded, longest, soft_share)
    flexion = np.arccos(np.clip((reach**2 - squares) / (2 * swing_size), -1.0, 1.0))
    # A knee recorded bent the wrong way (some are, by a few degrees) stays so where nothing is asked of it.
    wrong = np.maximum(straight, 0.0)
    flexion -= 2 * wrong * np.clip(1 - (flexion - wrong) / UNDO_RAD, 0.0, 1.0)
    bend = _about(axis, straight + flexion)
    now = thigh + quat.rotate(bend, shin)
    far = (distance > 1e-9)[:, None]
    swing = quat.between_vectors(now, np.where(far, away, now))
    return swing, bend


def write_limb(
    local: Floats,
    rot: Floats,
    parents: Ints32,
    limb: tuple[int, int, int],
    turns: tuple[Floats, Floats],
    end_rot: Floats,
) -> None:
    """Write the local rotations of a limb's three joints, which the turns of `solve_limb` bring about.

    Args:
        local: Local rotations of all joints, (F, J, 4); changed.
        rot: Global rotations of all joints before the turns, (F, J, 4).
        parents: Parent of each joint, (J,).
        limb: Hip, knee and ankle, by number.
        turns: Swing and bend.
        end_rot: Global rotations that the ankle is to have, (F, 4).
    """
    swing, bend = turns
    shin = quat.multiply(swing, bend)
    hip, knee, ankle = limb
    above = rot[:, parents[hip]] if parents[hip] >= 0 else quat.IDENTITY
    local[:, hip] = quat.multiply(quat.inverse(above), quat.multiply(swing, rot[:, hip]))
    above = quat.multiply(swing, rot[:, parents[knee]])
    local[:, knee] = quat.multiply(quat.inverse(above), quat.multiply(shin, rot[:, knee]))
    above = quat.multiply(shin, rot[:, parents[ankle]])
    local[:, ankle] = quat.multiply(quat.inverse(above), end_rot)


def _about(axis: Floats, angle: Floats) -> Floats:
    half = angle[:, None] / 2
    return np.concatenate([np.cos(half), np.sin(half) * axis], axis=1)
