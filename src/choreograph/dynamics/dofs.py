"""Degrees of freedom: a body as a tree of single axes, as solvers and robotics programs want it.

Joints turn about the axes that their file gives them (ASF), or about three axes chosen so that no recorded pose comes
near a lock. The root shifts along x, y, z and then turns about y, z, x (yaw, lean, pitch): so turns and flips are
regular, and only a body that lies on its side is not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from choreograph.base import quat
from choreograph.base.arrays import Flags, Floats, Ints32, frozen
from choreograph.dynamics.body import Body
from choreograph.motion.clip import Clip
from choreograph.motion.skeleton import Skeleton

_FREE = np.radians(12.0)
"""How far beyond the angles of the examples a joint may go where its file sets no limit there."""
_ORDERS = ("zyx", "xyz", "yzx", "zxy", "xzy", "yxz")
_ROOT = 6  # degrees of freedom of the root, before those of the joints
_STEEP = np.radians(75.0)
"""Middle angle from which on a rotation's other triple may be the nearer one."""


@dataclass(frozen=True)
class _Joint:
    """How one joint turns: local rotation = frame · (turns in `order`) · frame⁻¹ · rest."""

    order: str
    frame: Floats
    rest: Floats


@dataclass(frozen=True, eq=False)
class Dofs:
    """The degrees of freedom of a body: six of the root, then one per axis of each joint, parents first."""

    body: Body
    names: tuple[str, ...]
    """Such as "root.ty" or "lfemur.z"."""
    joints: Ints32
    """The joint that each moves, (n,)."""
    parents: Ints32
    """(n,), -1 for the first."""
    turns: Flags
    """Whether it turns rather than shifts, (n,)."""
    axes: Floats
    """In the frame of its parent, (n, 3), unit."""
    offsets: Floats
    """From its parent's origin, in the parent's frame, (n, 3), metres."""
    masses: Floats
    """Of what moves with it and with none of its children, (n,), kg."""
    centres: Floats
    """In its own frame, (n, 3)."""
    inertias: Floats
    """About the centres, (n, 3, 3)."""
    lower: Floats
    """Least angle, (n,), radians; −inf for the root."""
    upper: Floats
    holders: Ints32
    """For each joint of the skeleton, the last degree of freedom that moves it, (J,)."""
    seats: Floats
    """Pose of each joint in that one's frame: offset, (J, 3)."""
    seat_rots: Floats
    """And rotation, (J, 4)."""
    recipe: tuple[_Joint, ...]
    still: Floats
    """Local rotations of joints without degrees of freedom, (J, 4)."""

    def __len__(self) -> int:
        """Their number."""
        return len(self.names)

    @property
    def skeleton(self) -> Skeleton:
        """Of the body."""
        return self.body.skeleton

    @cached_property
    def ancestors(self) -> Flags:
        """Whether i is an ancestor of j, or j itself, (n, n)."""
        count = len(self)
        out = np.eye(count, dtype=bool)
        for j in range(count):
            if self.parents[j] >= 0:
                out[:, j] |= out[:, self.parents[j]]
        return out

    def angles(self, clip: Clip) -> Floats:
        """The motion's coordinates, (F, n): metres and radians, without jumps of whole turns."""
        from choreograph.dynamics import _compiled_angles

        joints, axes, frames, rests, picks, free = self._turning
        turned = _compiled_angles.euler(clip.local_rot, joints, axes, frames, rests)
        for k in np.flatnonzero(free & (np.abs(turned[:, :, 1]).max(axis=0, initial=0.0) >= _STEEP)):
            turned[:, k] = _nearer_branch(turned[:, k])
        out = np.empty((len(clip), len(self)))
        out[:, :3], out[:, 3:] = clip.root_pos, turned.reshape(len(clip), -1)[:, picks]
        out[:, 3:] = np.unwrap(out[:, 3:], axis=0)
        # Angles of joints, other than a turning root's, belong into the range around zero.
        out[:, _ROOT:] -= 2 * np.pi * np.round(np.median(out[:, _ROOT:], axis=0) / (2 * np.pi))
        return out

    @cached_property
    def _turning(self) -> tuple[NDArray[Any], ...]:
        """Joints that turn, their three axes, frames, rests; which of these angles are theirs; who has all three."""
        joints = [j for j, how in enumerate(self.recipe) if how.order]
        orders = [self.recipe[j].order for j in joints]
        full = [_three_axes(order) for order in orders]
        picks = [3 * k + full[k].index(axis) for k, order in enumerate(orders) for axis in order]
        return (
            np.array(joints), np.array([["xyz".index(axis) for axis in order] for order in full]),
            np.array([self.recipe[j].frame for j in joints]), np.array([self.recipe[j].rest for j in joints]),
            np.array(picks), np.array([len(order) == 3 for order in orders]),
        )  # fmt: skip

    def rotations(self, q: Floats) -> tuple[Floats, Floats]:
        """Root positions (F, 3) and local rotations (F, J, 4) at coordinates (F, n)."""
        rot = np.tile(self.still, (len(q), 1, 1))
        at = 3
        for j, how in enumerate(self.recipe):
            if how.order:
                turns = quat.from_euler(how.order, q[:, at : at + len(how.order)])
                turned = quat.multiply(quat.multiply(how.frame, turns), quat.inverse(how.frame))
                rot[:, j] = quat.multiply(turned, how.rest)
                at += len(how.order)
        return np.array(q[:, :3]), quat.make_continuous(rot)

    def clip(self, q: Floats, fps: float, name: str) -> Clip:
        """The motion with these coordinates, (F, n)."""
        root, rot = self.rotations(q)
        return Clip(self.skeleton, fps, root, rot, name)


def make_dofs(body: Body, examples: Sequence[Clip] = (), *, fingers: bool = False) -> Dofs:
    """The degrees of freedom of a body.

    Args:
        body: Masses on a skeleton.
        examples: Motions on it: their angles widen the limits that the file gives, and give those that it does not.
        fingers: Whether fingers move; else they stay as they are at the first example's beginning.
    """
    skeleton = body.skeleton
    recipe = tuple(_recipe(skeleton, j, examples, fingers) for j in range(len(skeleton)))
    still = np.tile(quat.IDENTITY, (len(skeleton), 1))
    if examples:
        still = np.array([examples[0].local_rot[0, j] for j in range(len(skeleton))])
    dofs = _lay_out(body, recipe, still)
    lower, upper = _limits(dofs, examples)
    return replace(dofs, lower=frozen(lower), upper=frozen(upper))


def _recipe(skeleton: Skeleton, joint: int, examples: Sequence[Clip], fingers: bool) -> _Joint:
    if joint == 0:
        return _Joint("yzx", quat.IDENTITY, _upright_rest(examples))
    if not fingers and skeleton.roles[joint].endswith("_fingers"):
        return _Joint("", quat.IDENTITY, quat.IDENTITY)
    axes = skeleton.axes
    if axes is not None and axes.limits is not None:
        return _Joint(axes.orders[joint], axes.frames[joint], quat.IDENTITY)
    if not examples:
        return _Joint("zyx", quat.IDENTITY, quat.IDENTITY)
    rows = np.concatenate([clip.local_rot[:, joint] for clip in examples])
    rest = _mean_rotation(rows)
    turned = quat.multiply(rows, quat.inverse(rest))
    bends = [float(np.abs(quat.as_euler(order, turned)[:, 1]).max()) for order in _ORDERS]
    return _Joint(_ORDERS[int(np.argmin(np.round(bends, 6)))], quat.IDENTITY, rest)


def _upright_rest(examples: Sequence[Clip]) -> Floats:
    """The root's rotation when a person stands upright and faces +z: some rigs' roots lie on their backs then."""
    if not examples:
        return np.array(quat.IDENTITY)
    rows = np.concatenate([clip.local_rot[:, 0] for clip in examples])
    without_yaw = quat.multiply(quat.from_yaw(-quat.yaw_of(rows)), rows)
    mean = _mean_rotation(without_yaw)
    tilt = 2 * np.arccos(min(1.0, abs(float(mean[0]))))
    return mean if tilt > np.radians(45) else np.array(quat.IDENTITY)


def _mean_rotation(rows: Floats) -> Floats:
    """The rotation nearest to all of them: the first axis of their products."""
    _, vectors = np.linalg.eigh(rows.T @ rows)
    best = vectors[:, -1]
    return np.asarray(best if best[0] >= 0 else -best)


def _three_axes(order: str) -> str:
    """An order with the axes that a joint does not have in the middle, where their angle is zero and nothing locks."""
    missing = [axis for axis in "xyz" if axis not in order]
    return order if not missing else order[0] + missing[0] + (order[1:] or missing[1])


def _nearer_branch(angles: Floats) -> Floats:
    """The same rotations with, in each frame, the one of two possible triples that is nearer to the frame before."""
    other = np.stack([angles[:, 0] + np.pi, np.pi - angles[:, 1], angles[:, 2] + np.pi], axis=1)
    out = np.array(angles)
    for f in range(1, len(out)):
        options = [a - 2 * np.pi * np.round((a - out[f - 1]) / (2 * np.pi)) for a in (angles[f], other[f])]
        out[f] = min(options, key=lambda a: float(((a - out[f - 1]) ** 2).sum()))
    return out


def _lay_out(body: Body, recipe: Sequence[_Joint], still: Floats) -> Dofs:
    skeleton = body.skeleton
    rows: list[tuple[str, int, int, bool, Floats, Floats]] = []
    holders = np.zeros(len(skeleton), np.int32)
    seats, seat_rots = np.zeros((len(skeleton), 3)), np.tile(quat.IDENTITY, (len(skeleton), 1))

    def add(name: str, joint: int, parent: int, turn: bool, axis: Floats, offset: Floats) -> int:
        rows.append((name, joint, parent, turn, axis, offset))
        return len(rows) - 1

    for j, how in enumerate(recipe):
        if j == 0:
            last, seat, rot = -1, np.zeros(3), np.array(quat.IDENTITY)
            for letter, axis in zip("xyz", np.eye(3), strict=True):
                last = add(f"{skeleton.names[0]}.t{letter}", 0, last, False, axis, np.zeros(3))
        else:
            p = int(skeleton.parents[j])
            last, rot = int(holders[p]), seat_rots[p]
            seat = seats[p] + quat.rotate(rot, skeleton.offsets[j])
        if not how.order:
            holders[j], seats[j] = last, seat
            seat_rots[j] = quat.multiply(rot, still[j])
            continue
        for k, letter in enumerate(how.order):
            # Frames of a joint's axes keep the rotation in which the parent joint sits in its own.
            axis = quat.rotate(rot, quat.rotate(how.frame, np.eye(3)["xyz".index(letter)]))
            last = add(f"{skeleton.names[j]}.{letter}", j, last, True, axis, seat if k == 0 else np.zeros(3))
        holders[j], seats[j], seat_rots[j] = last, 0.0, quat.multiply(rot, how.rest)
    names, joints, parents, turns, axes, offsets = (list(column) for column in zip(*rows, strict=True))
    masses, centres, inertias = _attach(body, len(names), holders, seats, seat_rots)
    bounds = np.full(len(names), np.inf)
    return Dofs(
        body, tuple(names), frozen(joints, np.int32), frozen(parents, np.int32), frozen(turns, np.bool_),
        frozen(axes), frozen(offsets), frozen(masses), frozen(centres), frozen(inertias), frozen(-bounds),
        frozen(bounds), frozen(holders, np.int32), frozen(seats), frozen(seat_rots), tuple(recipe), frozen(still),
    )  # fmt: skip


def _attach(body: Body, count: int, holders: Ints32, seats: Floats, seat_rots: Floats) -> tuple[Floats, Floats, Floats]:
    """Masses of the joints gathered at the degrees of freedom that carry them."""
    masses, centres, inertias = np.zeros(count), np.zeros((count, 3)), np.zeros((count, 3, 3))
    at = seats + quat.rotate(seat_rots, body.centres)
    turned = quat.as_matrix(seat_rots)
    for j in np.flatnonzero(body.masses > 0):
        k, mass = int(holders[j]), float(body.masses[j])
        total = masses[k] + mass
        mean = (masses[k] * centres[k] + mass * at[j]) / total
        for part, place in ((masses[k], centres[k]), (mass, at[j])):
            off = place - mean
            inertias[k] += part * (off @ off * np.eye(3) - np.outer(off, off))
        inertias[k] += turned[j] @ body.inertias[j] @ turned[j].T
        masses[k], centres[k] = total, mean
    return masses, centres, inertias


def _limits(dofs: Dofs, examples: Sequence[Clip]) -> tuple[Floats, Floats]:
    lower, upper = np.full(len(dofs), -np.inf), np.full(len(dofs), np.inf)
    axes = dofs.skeleton.axes
    for k in range(_ROOT, len(dofs)):
        if axes is not None and axes.limits is not None:
            low, high = axes.limits[int(dofs.joints[k]), "xyz".index(dofs.names[k][-1])]
            lower[k], upper[k] = (low if np.isfinite(low) else -np.inf), (high if np.isfinite(high) else np.inf)
    if not examples:
        return lower, upper
    angles = np.concatenate([dofs.angles(clip.resampled(min(clip.fps, 60.0))) for clip in examples])
    least, most = angles.min(axis=0) - _FREE, angles.max(axis=0) + _FREE
    given = np.isfinite(lower)
    lower[_ROOT:] = np.where(given, np.minimum(lower, least), least)[_ROOT:]
    upper[_ROOT:] = np.where(np.isfinite(upper), np.maximum(upper, most), most)[_ROOT:]
    return lower, upper


def tree_of(dofs: Dofs) -> tuple[Floats, ...]:
    """The body as the compiled recursion takes it: parents, turns, axes, offsets, masses, centres, inertias."""
    return (
        np.array(dofs.parents, np.int32), np.array(dofs.turns, np.bool_), np.array(dofs.axes), np.array(dofs.offsets),
        np.array(dofs.masses), np.array(dofs.centres), np.array(dofs.inertias),
    )  # type: ignore[return-value]  # fmt: skip
