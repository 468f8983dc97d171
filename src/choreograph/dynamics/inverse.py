"""Inverse dynamics: centre of mass, momenta, ground forces and joint torques of a recorded motion.

Works on positions and rotations of rigid bodies, so it has no degrees of freedom that could lock, and any skeleton
whose legs are known will do. What no contact explains is the residual, a force and a moment at the root.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from choreograph.base import quat
from choreograph.base.arrays import Flags, Floats, Ints32
from choreograph.base.errors import RequestError
from choreograph.base.progress import Progress, silent
from choreograph.dynamics.body import Body
from choreograph.dynamics.contacts import ContactPoints, find_contacts, floor_height, measure_points, with_carriers
from choreograph.motion.clip import Clip
from choreograph.motion.facts import GRAVITY_M_S2

FRICTION = 0.8
"""Of shoes on a floor: sideways force over the force down."""
CUTOFF_HZ = 10.0
"""Of the low-pass under which a recording is differentiated."""
LEAST_FRAMES = 5  # that accelerations and their low-pass need


@dataclass(frozen=True, eq=False)
class Dynamics:
    """The mechanics of a motion, frame by frame; world axes, SI units."""

    fps: float
    com: Floats
    """Centre of mass, (F, 3), m."""
    com_velocity: Floats
    com_acceleration: Floats
    angular_momentum: Floats
    """About the centre of mass, (F, 3), kg·m²/s."""
    needed_force: Floats
    """What must act on the body from outside besides gravity, (F, 3), N."""
    needed_moment: Floats
    """The same about the centre of mass, (F, 3), N·m."""
    contacts: Flags
    """Which groups of contact points stand, (F, 6)."""
    points: Floats
    """Contact points, (F, P, 3), m."""
    forces: Floats
    """From the ground at each, (F, P, 3), N."""
    torques: Floats
    """At each joint upon its bone, in the parent's frame, (F, J, 3), N·m; those at the root are the residual."""
    turn_rates: Floats
    """Of each joint against its parent, in the parent's frame, (F, J, 3), rad/s."""
    residual_force: Floats
    """What the ground cannot give, (F, 3), N."""
    residual_moment: Floats
    """About the centre of mass, (F, 3), N·m."""
    weight: float
    """Of the body, N."""
    mass: float

    @property
    def momentum(self) -> Floats:
        """Linear, (F, 3), kg·m/s."""
        return self.mass * self.com_velocity

    @property
    def ground_force(self) -> Floats:
        """From the ground in all, (F, 3), N."""
        return np.asarray(self.forces.sum(axis=1))

    @property
    def powers(self) -> Floats:
        """Of each joint, (F, J), W."""
        return np.asarray((self.torques * self.turn_rates).sum(axis=-1))

    def foot_forces(self, side: int) -> tuple[Floats, Floats]:
        """The force on one foot (0 left, 1 right), (F, 3), N, and the centre of pressure, (F, 3), NaN without force."""
        half = self.forces.shape[1] // 2
        mine = slice(side * half, (side + 1) * half)
        down = self.forces[:, mine, 1:2]
        total = down.sum(axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            centre = np.where(total > 1.0, (self.points[:, mine] * down).sum(axis=1) / total, np.nan)
        return self.forces[:, mine].sum(axis=1), centre


class Analysis(NamedTuple):
    """The mechanics of a motion, and what they were measured with."""

    dynamics: Dynamics
    body: Body
    points: ContactPoints
    floor: float
    """Height of the floor, metres."""


def analyse(
    clip: Clip,
    body: Body,
    *,
    floor_m: float | None = None,
    cutoff_hz: float | None = CUTOFF_HZ,
    friction: float = FRICTION,
    progress: Progress = silent,
) -> Analysis:
    """The mechanics of a motion, its floor and contact points measured; the arguments are those of `compute_dynamics`.

    Args:
        floor_m: Height of the floor; None measures it.
    """
    floor = floor_height([clip]) if floor_m is None else floor_m
    points = measure_points([clip], body.height, floor)
    dynamics = compute_dynamics(
        clip, body, points, floor_m=floor, cutoff_hz=cutoff_hz, friction=friction, progress=progress
    )
    return Analysis(dynamics, body, points, floor)


def compute_dynamics(
    clip: Clip,
    body: Body,
    points: ContactPoints,
    *,
    floor_m: float = 0.0,
    cutoff_hz: float | None = CUTOFF_HZ,
    friction: float = FRICTION,
    progress: Progress = silent,
) -> Dynamics:
    """The mechanics of a motion.

    Args:
        clip: The motion.
        body: Whose it is.
        points: Where it may touch the floor.
        floor_m: Height of the floor, metres.
        cutoff_hz: Of the low-pass under which it is differentiated; None takes the frames as they are.
        friction: Sideways force over the force down, at most.
        progress: Hears how far the work has come.

    Raises:
        RequestError: If the motion has too few frames to be differentiated.
    """
    if len(clip) < LEAST_FRAMES:
        raise RequestError(
            f"{clip.name!r} has {len(clip)} frames; accelerations need {LEAST_FRAMES} or more: give a longer motion"
        )
    calm = low_passed(clip, cutoff_hz)
    h = 1.0 / clip.fps
    pos, rot = calm.global_positions(), calm.global_rotations()
    centres = pos + quat.rotate(rot, body.centres)
    velocity, acceleration = np.gradient(centres, h, axis=0), second_difference(centres, h)
    omega = angular_velocity(rot, h)
    alpha = np.gradient(omega, h, axis=0)
    matrices = quat.as_matrix(rot)
    inertia = matrices @ body.inertias @ np.swapaxes(matrices, -1, -2)
    spin = np.einsum("fjab,fjb->fja", inertia, omega)
    force = body.masses[:, None] * (acceleration + np.array([0.0, GRAVITY_M_S2, 0.0]))
    moment = np.einsum("fjab,fjb->fja", inertia, alpha) + quat.cross(omega, spin)

    share = body.masses / body.mass
    com = np.einsum("j,fja->fa", share, centres)
    com_v = np.einsum("j,fja->fa", share, velocity)
    off = centres - com[:, None]
    momentum = (quat.cross(off, body.masses[:, None] * (velocity - com_v[:, None])) + spin).sum(axis=1)
    needed_force, needed_moment = force.sum(axis=1), (moment + quat.cross(off, force)).sum(axis=1)
    at = points.positions(calm)
    contacts = with_carriers(
        find_contacts(clip, points, floor_m), needed_force[:, 1] / body.weight, at, points.groups, floor_m, clip.fps
    )
    active = contacts[:, points.groups]
    ground = distribute(needed_force, needed_moment, at - com[:, None], active, friction, body, progress)
    torques = _joint_torques(calm, pos, centres, (force, moment), (points.joints, at, ground))
    parents = calm.skeleton.parents
    to_parent = quat.inverse(np.where((parents >= 0)[None, :, None], rot[:, parents], quat.IDENTITY))
    relative = omega - np.where((parents >= 0)[None, :, None], omega[:, parents], 0.0)
    residual_force = needed_force - ground.sum(axis=1)
    residual_moment = needed_moment - quat.cross(at - com[:, None], ground).sum(axis=1)
    return Dynamics(
        clip.fps, com, com_v, np.einsum("j,fja->fa", share, acceleration), momentum, needed_force, needed_moment,
        contacts, at, ground, quat.rotate(to_parent, torques), quat.rotate(to_parent, relative),
        residual_force, residual_moment, body.weight, body.mass,
    )  # fmt: skip


def low_passed(clip: Clip, cutoff_hz: float | None) -> Clip:
    """The motion without what is faster than a frequency: a Butterworth filter of second order, forth and back."""
    if cutoff_hz is None or cutoff_hz >= 0.45 * clip.fps:
        return clip
    from scipy.signal import butter, sosfiltfilt

    sos = butter(2, cutoff_hz, fs=clip.fps, output="sos")
    pad = min(len(clip) - 1, round(3 * clip.fps / cutoff_hz))
    root = sosfiltfilt(sos, clip.root_pos, axis=0, padlen=pad)
    rot = quat.normalise(sosfiltfilt(sos, quat.make_continuous(clip.local_rot), axis=0, padlen=pad))
    return clip.with_frames(root, rot)


def second_difference(values: Floats, h: float) -> Floats:
    """Second derivative along axis 0; the first and last take their neighbours'."""
    out = np.empty_like(values)
    out[1:-1] = (values[2:] - 2 * values[1:-1] + values[:-2]) / h**2
    out[0], out[-1] = out[1], out[-2]
    return out


def angular_velocity(rot: Floats, h: float) -> Floats:
    """In world axes, (F, J, 3), rad/s, from rotations (F, J, 4): central differences, one-sided at the ends."""
    out = np.empty((*rot.shape[:-1], 3))
    out[1:-1] = quat.as_rotvec(quat.multiply(rot[2:], quat.inverse(rot[:-2]))) / (2 * h)
    out[0] = quat.as_rotvec(quat.multiply(rot[1], quat.inverse(rot[0]))) / h
    out[-1] = quat.as_rotvec(quat.multiply(rot[-1], quat.inverse(rot[-2]))) / h
    return out


def distribute(
    force: Floats, moment: Floats, arms: Floats, active: Flags, friction: float, body: Body, progress: Progress = silent
) -> Floats:
    """Ground forces (F, P, 3) at the points in contact that come nearest to what is needed, pushing only.

    Least squares over the edges of each point's friction pyramid, and a little towards small forces, so that the four
    points of a foot share what one could carry.

    Args:
        force: Needed, (F, 3), N.
        moment: Needed about the centre of mass, (F, 3), N·m.
        arms: From the centre of mass to the points, (F, P, 3), m.
        active: Which points are in contact, (F, P).
        friction: Sideways over downwards.
        body: For the scales.
        progress: Hears how far the work has come.
    """
    from scipy.optimize import nnls

    slope = friction / np.sqrt(2)  # a pyramid inside of the cone
    edges = np.array([[slope, 1, slope], [slope, 1, -slope], [-slope, 1, slope], [-slope, 1, -slope]])
    out = np.zeros(arms.shape)
    small = 0.02
    for f in range(len(force)):
        if f % 500 == 0:
            progress("distributing forces", f, len(force))
        on = np.flatnonzero(active[f])
        if not len(on):
            continue
        each = np.tile(edges, (len(on), 1))
        wrench = np.concatenate([each, np.cross(np.repeat(arms[f, on], 4, axis=0), each)], axis=1).T
        system = np.concatenate([wrench, small * np.eye(len(each))])
        target = np.concatenate([force[f], moment[f], np.zeros(len(each))]) / body.weight
        shares, _ = nnls(system, target)
        out[f, on] = body.weight * (shares[:, None] * each).reshape(len(on), 4, 3).sum(axis=1)
    return out


def _joint_torques(
    clip: Clip,
    pos: Floats,
    centres: Floats,
    inertial: tuple[Floats, Floats],
    ground: tuple[Ints32, Floats, Floats],
) -> Floats:
    """Moments at the joints, in world axes, (F, J, 3): what all beyond each needs, less what the ground gives."""
    force, moment = (np.array(part) for part in inertial)
    moment += quat.cross(centres - pos, force)  # about the joints
    joints, at, push = ground
    for k, joint in enumerate(joints.tolist()):
        force[:, joint] -= push[:, k]
        moment[:, joint] -= quat.cross(at[:, k] - pos[:, joint], push[:, k])
    for j in range(len(clip.skeleton) - 1, 0, -1):
        p = int(clip.skeleton.parents[j])
        force[:, p] += force[:, j]
        moment[:, p] += moment[:, j] + quat.cross(pos[:, j] - pos[:, p], force[:, j])
    return moment
