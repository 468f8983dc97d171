"""One world for every file: metres, y up, rest pose facing +z. What a file says in other words is turned here, once.

Neither BVH nor ASF states its unit of length or its up-axis, so both are judged: the unit by how tall the body would
be, the axis by where the head is from the feet. Callers can overrule either; a clip's `source` says
what was taken.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from choreograph.base import quat
from choreograph.base.arrays import Floats, frozen
from choreograph.base.errors import RequestError
from choreograph.motion import kinematics
from choreograph.motion.clip import Clip, Note
from choreograph.motion.helper_root import fold_poses, fold_skeleton
from choreograph.motion.skeleton import Skeleton

CMU_INCHES = 0.0254 / 0.45
"""Metres per unit of CMU's recordings: inches, divided by the scale of 0.45 that their ASF files state."""

_UNITS = {
    "metres": 1.0,
    "centimetres": 0.01,
    "millimetres": 0.001,
    "inches": 0.0254,
    "CMU units (inches / 0.45)": CMU_INCHES,
    "decimetres": 0.1,
    "feet": 0.3048,
}
UNIT_NAMES = {"m": 1.0, "cm": 0.01, "mm": 0.001, "in": 0.0254, "inch": 0.0254, "ft": 0.3048, "cmu": CMU_INCHES}
"""Units a user may name."""

_STATURE = 1.7  # metres, of a usual person
_PLAUSIBLE = (1.0, 2.5)
"""Metres from sole to crown that a person may measure; children and tall adults are well inside."""

UP_AXES = ("x", "y", "z", "-x", "-y", "-z")


@dataclass(frozen=True)
class FileUnit:
    """Metres per unit of length in a file, and why it was taken for that."""

    metres: float
    reason: str
    sure: bool = True


def unit_name(metres: float) -> str:
    """The short name of a unit, or its length where it has none."""
    for name, length in UNIT_NAMES.items():
        if abs(length - metres) < 1e-9:
            return name
    return f"{metres:.4g} m"


def parse_unit(text: str | float) -> float:
    """Metres per unit from a number or a name such as "cm"."""
    try:
        metres = float(UNIT_NAMES.get(text, text) if isinstance(text, str) else text)
    except ValueError:
        raise RequestError(f"unknown unit {text!r}; give metres per unit or one of {', '.join(UNIT_NAMES)}") from None
    if not (np.isfinite(metres) and metres > 0):
        raise RequestError(f"metres per unit must be a positive number, not {text!r}")
    return metres


def stature(skeleton: Skeleton) -> float | None:
    """Body height along the bones, whatever the rest pose, in the skeleton's own unit; None for what is no body."""
    foot, head = skeleton.find("left_foot"), skeleton.find("head")
    foot = skeleton.find("right_foot") if foot is None else foot
    if foot is None or head is None:
        return None
    tops = [
        float(np.linalg.norm(o)) for p, o in zip(skeleton.tip_parents, skeleton.tip_offsets, strict=True) if p == head
    ]
    to_foot, to_head = _chain(skeleton, foot), _chain(skeleton, head)
    shared = set(to_foot) & set(to_head)
    bones = sorted({*to_foot, *to_head} - shared)
    # Hip joints lie beside the spine rather than above the leg, and ankles above the sole: the two nearly cancel.
    return float(skeleton.bone_lengths[bones].sum() + (max(tops) if tops else 0.0)) or None


def _chain(skeleton: Skeleton, joint: int) -> list[int]:
    chain = []
    while joint >= 0:
        chain.append(joint)
        joint = int(skeleton.parents[joint])
    return chain


def makes_person(skeleton: Skeleton, metres_per_unit: float) -> bool:
    """Whether the body has a person's height under this unit; what is no body can have any."""
    tall = stature(skeleton)
    return tall is None or _PLAUSIBLE[0] <= tall * metres_per_unit <= _PLAUSIBLE[1]


def judge_unit(skeleton: Skeleton) -> FileUnit:
    """The unit under which the skeleton is nearest to a person's height."""
    tall = stature(skeleton)
    if tall is None:
        return FileUnit(0.01, "assumed: no legs and head to judge by", sure=False)
    low, high = _PLAUSIBLE
    fitting = {name: metres for name, metres in _UNITS.items() if low <= tall * metres <= high}
    if not fitting:
        return FileUnit(0.01, f"assumed: no usual unit makes a body of {tall:.4g} units a person", sure=False)
    name, metres = min(fitting.items(), key=lambda unit: abs(np.log(tall * unit[1] / _STATURE)))
    return FileUnit(metres, f"{name}: the body is then {tall * metres:.2f} m along its bones")


@dataclass(frozen=True)
class UpAxes:
    """Which way is up in a file."""

    rest: str
    """In the rest pose."""
    motion: str
    """In the motion; another one in files whose world is z-up while the bones were laid out y-up."""
    reason: str
    sure: bool = True


def judge_up(skeleton: Skeleton, root_pos: Floats, local_rot: Floats, local_pos: Floats | None) -> UpAxes:
    """The up-axes of rest pose and motion, by where the head is from the feet."""
    rest = _nearest_axis(_head_above_feet(skeleton, skeleton.rest_positions()[None]))
    some = slice(None, None, 1 + len(root_pos) // 30)
    offsets = skeleton.offsets[None] if local_pos is None else local_pos[some]
    posed, _ = kinematics.forward(root_pos[some], local_rot[some], offsets, skeleton.parents)
    motion = _nearest_axis(_head_above_feet(skeleton, posed))
    if (
        motion is not None
        and rest is not None
        and motion != rest
        and _lies_on_floor(posed, floor=rest, standing=motion)
    ):
        return UpAxes(rest, rest, "judged by the rest pose: the body lies on the floor")
    if motion is not None:
        return UpAxes(rest or motion, motion, "judged by the motion: head above feet")
    if rest is not None:
        return UpAxes(rest, rest, "judged by the rest pose: head above feet")
    return UpAxes("y", "y", "assumed: no head and feet to judge by", sure=False)


def _lies_on_floor(posed: Floats, *, floor: str, standing: str) -> bool:
    """Whether a body stretched along one axis is rather lying on the floor under another.

    The floor of a recording is at height zero. Somebody who lies touches it from above all along the body, while
    along the axis of the body its end is anywhere.
    """
    low = {axis: float(np.median((posed @ _direction(axis)).min(axis=1))) for axis in (floor, standing)}
    size = float(np.median(np.ptp(posed @ _direction(standing), axis=1)))
    touches = {axis: -0.05 * size < height < 0.15 * size for axis, height in low.items()}
    return touches[floor] and not touches[standing]


def _head_above_feet(skeleton: Skeleton, positions: Floats) -> Floats | None:
    feet = [j for j in (skeleton.find("left_foot"), skeleton.find("right_foot")) if j is not None]
    head = skeleton.find("head")
    if head is None or not feet:
        return None
    ups = positions[:, head] - positions[:, feet].mean(axis=1)
    lengths = np.linalg.norm(ups, axis=1)
    return (ups[lengths > 0] / lengths[lengths > 0, None]).mean(axis=0) if (lengths > 0).any() else None


def _nearest_axis(direction: Floats | None) -> str | None:
    # A person who tumbles has no clear answer; 0.7 of full height is one.
    if direction is None or np.abs(direction).max() < 0.7:
        return None
    k = int(np.abs(direction).argmax())
    return ("" if direction[k] > 0 else "-") + "xyz"[k]


@cache
def to_y_up(axis: str) -> Floats:
    """The rotation that turns the named axis up, onto +y."""
    if axis not in UP_AXES:
        raise RequestError(f"unknown up-axis {axis!r}; choose from {', '.join(UP_AXES)}")
    if axis == "-y":
        return frozen(quat.from_axis_angle((0.0, 0.0, 1.0), np.pi))
    return frozen(quat.between_vectors(_direction(axis), (0.0, 1.0, 0.0)))


def _direction(axis: str) -> Floats:
    return np.eye(3)["xyz".index(axis[-1])] * (-1.0 if axis.startswith("-") else 1.0)


def quarter_turn_to_front(skeleton: Skeleton, points: Floats) -> Floats:
    """The turn about y, by a multiple of 90°, that makes an upright rest pose (J, 3) look along +z."""
    left, right = skeleton.find("left_upper_leg"), skeleton.find("right_upper_leg")
    if left is None or right is None:
        return quat.IDENTITY
    across = points[left] - points[right]
    if np.hypot(across[0], across[2]) < 1e-9 * max(1.0, float(np.abs(points).max())):
        return quat.IDENTITY
    # Seen from above, what has its left at +x looks along +z.
    quarters = round(float(np.arctan2(-across[2], across[0])) / (np.pi / 2))
    return quat.from_yaw(-quarters * np.pi / 2) if quarters else quat.IDENTITY


def fold_still_root(
    skeleton: Skeleton, root_pos: Floats, local_rot: Floats, local_pos: Floats | None
) -> tuple[Skeleton, Floats, Floats, Floats | None, Note | None]:
    """The same motion without leading joints that never move, when the body hangs from a single chain of them.

    Some programs put a world or scene node above the hips; then the root would stand still while the body walks.
    """

    def still(values: Floats) -> bool:
        return bool((np.ptp(values, axis=0) < 1e-9).all())

    depth = 0
    while (
        depth + 1 < len(skeleton)
        and skeleton.roles[depth] != "hips"
        and "hips" in skeleton.roles[depth + 1 :]
        and skeleton.children(depth) == (depth + 1,)
        and not np.any(skeleton.tip_parents == depth)
        and still(local_rot[:, depth])
        and still(root_pos if depth == 0 else skeleton.offsets[None, 0] if local_pos is None else local_pos[:, depth])
    ):
        depth += 1
    if depth == 0:
        return skeleton, root_pos, local_rot, local_pos, None
    folded = fold_skeleton(skeleton, depth)
    root, rot, local_pos = fold_poses(skeleton, root_pos, local_rot, local_pos, depth)
    names = ", ".join(repr(n) for n in skeleton.names[:depth])
    note = Note("folded-root", f"{names} never moves and was folded into {folded.names[0]!r}", depth)
    return folded, root, rot, local_pos, note


def turn_world(
    skeleton: Skeleton, root_pos: Floats, local_rot: Floats, local_pos: Floats | None, up: UpAxes
) -> tuple[Skeleton, Floats, Floats, Floats | None]:
    """Skeleton and motion turned so that y is up in both, and the rest pose faces +z."""
    upright = to_y_up(up.rest)
    front = quarter_turn_to_front(skeleton, quat.rotate(upright, skeleton.rest_positions()))
    if up.rest == up.motion == "y" and front is quat.IDENTITY:
        return skeleton, root_pos, local_rot, local_pos
    rest, world = quat.multiply(front, upright), to_y_up(up.motion)
    back = quat.inverse(rest)
    turned = np.empty_like(local_rot)
    turned[:, 0] = quat.multiply(quat.multiply(world, local_rot[:, 0]), back)
    for j in range(1, len(skeleton)):  # joint by joint, so that no second copy of all frames is in the way
        turned[:, j] = quat.multiply(quat.multiply(rest, local_rot[:, j]), back)
    root = quat.rotate(world, root_pos)
    if local_pos is not None:
        local_pos = quat.rotate(rest, local_pos)
        local_pos[:, 0] = root
    axes = skeleton.axes
    if axes is not None:
        frames = quat.multiply(rest, axes.frames)
        frames[0] = axes.frames[0]
        axes = type(axes)(frames, axes.orders, axes.limits)
    skeleton = Skeleton(
        skeleton.names,
        skeleton.parents,
        quat.rotate(rest, skeleton.offsets),
        skeleton.tip_parents,
        quat.rotate(rest, skeleton.tip_offsets),
        skeleton.roles,
        axes,
    )
    return skeleton, root, quat.make_continuous(turned), local_pos


def turn_to_front(
    skeleton: Skeleton, root_pos: Floats, local_rot: Floats, local_pos: Floats | None
) -> tuple[Skeleton, Floats, Floats, Floats | None]:
    """Skeleton and motion of a file that is y-up by its format, with a rest pose that faces +z."""
    return turn_world(skeleton, root_pos, local_rot, local_pos, UpAxes("y", "y", "stated by the format"))


def with_z_up(clip: Clip) -> Clip:
    """The motion laid out for a world whose z-axis is up, rest pose and all; only for writing files."""
    turn = quat.from_axis_angle((1.0, 0.0, 0.0), np.pi / 2)
    back, skeleton = quat.inverse(turn), clip.skeleton
    rot = quat.multiply(turn, quat.multiply(clip.local_rot, back))
    stood = replace(
        skeleton,
        offsets=quat.rotate(turn, skeleton.offsets),
        tip_offsets=quat.rotate(turn, skeleton.tip_offsets),
    )
    local_pos = None if clip.local_pos is None else quat.rotate(turn, clip.local_pos)
    return replace(clip, skeleton=stood, root_pos=quat.rotate(turn, clip.root_pos), local_rot=rot, local_pos=local_pos)
