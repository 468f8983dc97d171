"""Skeleton: which joints there are, how they hang together, and what part of the body each one is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from choreograph.base.arrays import Floats, Ints32, frozen
from choreograph.base.errors import RoleError, SkeletonMismatch
from choreograph.motion.anatomy import roles_by_shape
from choreograph.motion.roles import FOOT_ROLES, ROLES, mirror_role, recognise_roles, split_side


@dataclass(frozen=True, eq=False)
class JointAxes:
    """How a motion file writes a joint's rotation: kept so that the file can be written back as it was."""

    frames: Floats
    """Rotation of each joint's own axes against the world's in the rest pose, (J, 4); ASF calls it `axis`."""
    orders: tuple[str, ...]
    """Axes in which each joint may turn, intrinsic order, such as "zyx", "zx" or ""."""
    limits: Floats | None = None
    """Lowest and highest angle per joint and axis x, y, z, (J, 3, 2), radians; NaN where the file has none."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "frames", frozen(self.frames))
        if self.limits is not None:
            object.__setattr__(self, "limits", frozen(self.limits))


@dataclass(frozen=True, eq=False)
class Skeleton:
    """Joints of a body in topological order (every parent before its children), in metres, y up, facing +z."""

    names: tuple[str, ...]
    """Joint names, unique; the root first."""
    parents: Ints32
    """Index of each joint's parent, (J,); -1 for the root."""
    offsets: Floats
    """Rest position of each joint in its parent's frame, (J, 3), metres. The root's is where it rests."""
    tip_parents: Ints32 = None  # type: ignore[assignment]
    """Joints that carry an end site (the tip of a toe, a finger, the head), (T,)."""
    tip_offsets: Floats = None  # type: ignore[assignment]
    """Position of each end site in its joint's frame, (T, 3), metres."""
    roles: tuple[str, ...] = None  # type: ignore[assignment]
    """Body part of each joint, from `ROLES`; recognised from the names unless given."""
    axes: JointAxes | None = None
    """How the file that this skeleton came from wrote its rotations."""

    def __post_init__(self) -> None:
        def put(field: str, value: object) -> None:
            object.__setattr__(self, field, value)

        put("names", tuple(self.names))
        put("parents", frozen(self.parents, np.int32))
        put("offsets", frozen(self.offsets))
        put("tip_parents", frozen(() if self.tip_parents is None else self.tip_parents, np.int32))
        tips = np.zeros((0, 3)) if self.tip_offsets is None else self.tip_offsets
        put("tip_offsets", frozen(np.asarray(tips, float).reshape(-1, 3)))
        count = len(self.names)
        if count == 0:
            raise ValueError("a skeleton needs at least one joint")
        if len(set(self.names)) != count:
            twice = sorted({n for n in self.names if self.names.count(n) > 1})
            raise ValueError(f"joint names must be unique; repeated: {', '.join(twice)}")
        if self.parents.shape != (count,) or self.offsets.shape != (count, 3):
            raise ValueError(f"{count} names, parents {self.parents.shape} and offsets {self.offsets.shape} do not fit")
        if self.parents[0] != -1 or any(not 0 <= p < j for j, p in enumerate(self.parents) if j):
            raise ValueError("the root comes first with parent -1, and every other joint after its parent")
        if len(self.tip_parents) != len(self.tip_offsets) or (
            len(self.tip_parents) and not (0 <= self.tip_parents.min() <= self.tip_parents.max() < count)
        ):
            raise ValueError("each tip needs an offset and a joint of the skeleton")
        if not (np.isfinite(self.offsets).all() and np.isfinite(self.tip_offsets).all()):
            raise ValueError("offsets must be finite")
        put("roles", tuple(self.roles) if self.roles is not None else _find_roles(self))
        unknown = sorted(set(self.roles) - set(ROLES))
        if unknown or len(self.roles) != count:
            raise RoleError(f"unknown roles {unknown}; there are: {', '.join(ROLES)}")
        if self.axes is not None and (self.axes.frames.shape != (count, 4) or len(self.axes.orders) != count):
            raise ValueError("the axes describe another number of joints")

    def __len__(self) -> int:
        """Number of joints."""
        return len(self.names)

    def __repr__(self) -> str:
        return f"Skeleton({len(self)} joints, root {self.names[0]!r}, about {self.height:.2f} m tall)"

    def index(self, name: str) -> int:
        """Index of the joint with this name."""
        try:
            return self.names.index(name)
        except ValueError:
            raise RoleError(f"no joint is called {name!r}; there are: {', '.join(self.names)}") from None

    def find(self, role: str) -> int | None:
        """Index of the first joint with this role, or None."""
        if role not in ROLES:
            raise RoleError(f"unknown role {role!r}; there are: {', '.join(ROLES)}")
        return self._first_of_role.get(role)

    @cached_property
    def _first_of_role(self) -> dict[str, int]:
        return {role: j for j, role in reversed(list(enumerate(self.roles)))}

    def need(self, role: str) -> int:
        """Index of the first joint with this role; a RoleError that says what to do where there is none."""
        joint = self.find(role)
        if joint is None:
            raise RoleError(
                f"no joint is known to be the {role.replace('_', ' ')}; say which is, as "
                f"{role} (with_roles), out of: {', '.join(self.names)}"
            )
        return joint

    @property
    def hips(self) -> int:
        """The joint that carries the body: the one recognised as hips, else the root."""
        joint = self.find("hips")
        return 0 if joint is None else joint

    @cached_property
    def feet(self) -> tuple[int, ...]:
        """Heel and toe joints that touch the floor: left heel, left toe, right heel, right toe, where known."""
        return tuple(j for j in (self.find(role) for role in FOOT_ROLES) if j is not None)

    @cached_property
    def mirror_pairs(self) -> Ints32:
        """For every joint its left/right twin, (J,); joints of the middle are their own."""
        return _pair_up(self)

    def children(self, joint: int) -> tuple[int, ...]:
        """Direct children of a joint."""
        return tuple(int(j) for j in np.flatnonzero(self.parents == joint))

    @cached_property
    def bone_lengths(self) -> Floats:
        """Distance of each joint from its parent, (J,), metres; zero for the root."""
        lengths = np.linalg.norm(self.offsets, axis=1)
        lengths[0] = 0.0
        return frozen(lengths)

    @cached_property
    def height(self) -> float:
        """Stature in metres: from the lowest to the highest point of the rest pose, laid out along y."""
        points = self.rest_positions()
        tips = points[self.tip_parents] + self.tip_offsets
        heights = np.concatenate([points[:, 1], tips[:, 1]])
        return float(heights.max() - heights.min())

    def rest_positions(self) -> Floats:
        """Joint positions with no rotation and the root at the origin, (J, 3), metres; computed once and kept."""
        return self._rest_positions

    @cached_property
    def _rest_positions(self) -> Floats:
        points = [(0.0, 0.0, 0.0)]
        for parent, (x, y, z) in zip(self.parents[1:].tolist(), self.offsets[1:].tolist(), strict=True):
            px, py, pz = points[parent]
            points.append((px + x, py + y, pz + z))
        return frozen(points)

    @cached_property
    def leg_length(self) -> float:
        """Mean length of thigh plus shin, metres."""
        legs = []
        for side in ("left", "right"):
            ankle = self.find(f"{side}_foot")
            top = self.find(f"{side}_upper_leg")
            if ankle is None or top is None:
                continue
            length, joint = 0.0, ankle
            while joint > top:
                length += float(self.bone_lengths[joint])
                joint = int(self.parents[joint])
            legs.append(length)
        if not legs:
            self.need("left_upper_leg"), self.need("left_foot")
        return float(np.mean(legs))

    def with_roles(self, roles: Mapping[str, str | int | Iterable[str | int]]) -> Skeleton:
        """A copy in which the named joints have the given roles: {"left_foot": "L_Ankle", ...}.

        A role that is given is taken from the joints that had it before.
        """
        changed = list(self.roles)
        for role, joints in roles.items():
            if role not in ROLES:
                raise RoleError(f"unknown role {role!r}; there are: {', '.join(ROLES)}")
            several = [joints] if isinstance(joints, str | int) else list(joints)
            picked = [j if isinstance(j, int) else self.index(j) for j in several]
            changed = ["other" if r == role else r for r in changed]
            for j in picked:
                changed[j] = role
        return replace(self, roles=tuple(changed))

    def scaled(self, factor: float) -> Skeleton:
        """A copy with every bone `factor` times as long."""
        return replace(self, offsets=self.offsets * factor, tip_offsets=self.tip_offsets * factor)

    def same_joints(self, other: Skeleton) -> bool:
        """Whether names and hierarchy agree (bone lengths may differ)."""
        return self.names == other.names and np.array_equal(self.parents, other.parents)

    def matches(self, other: Skeleton, tolerance: float = 1e-4) -> bool:
        """Whether joints agree and every bone agrees to `tolerance` metres; the root's rest place is ignored."""
        return self is other or (
            self.same_joints(other) and bool(np.allclose(self.offsets[1:], other.offsets[1:], rtol=0, atol=tolerance))
        )

    def check_matches(
        self,
        other: Skeleton,
        what: str = "the clips",
        advice: str = "Carry them onto one skeleton first (onto)",
    ) -> None:
        """Raise a SkeletonMismatch that says where the two differ, unless they match.

        Args:
            other: The other skeleton.
            what: Whose skeletons these are.
            advice: What to do about bones of different length.
        """
        if self.matches(other):
            return
        if not self.same_joints(other):
            only_here = [n for n in self.names if n not in other.names]
            only_there = [n for n in other.names if n not in self.names]
            how = "other joints"
            if only_here or only_there:
                how += f": {_some(only_here)} only in the first, {_some(only_there)} only in the second"
            else:
                how += ": the same names in another order or under other parents"
            raise SkeletonMismatch(f"{what} have different skeletons ({how})")
        gap = np.linalg.norm(self.offsets - other.offsets, axis=1)
        gap[0] = 0
        worst = int(gap.argmax())
        raise SkeletonMismatch(
            f"{what} have different bone lengths ({int((gap > 1e-4).sum())} joints differ, most "
            f"{self.names[worst]!r} by {100 * gap[worst]:.1f} cm): other people or other units. {advice}"
        )


_LEGS = tuple(f"{side}_{part}" for side in ("left", "right") for part in ("upper_leg", "lower_leg", "foot"))


_MIDDLE = ("hips", "spine", "neck", "head")
_STUB_SHARE = 0.08
"""Share of the leg's length that a foot has at least: what is nearer to the ankle is no ball of a foot."""
_TWIN_SHARE = 0.05
"""Share of the body's height by which a joint may miss its twin's mirror image."""


_BACKWARD = 0.5
"""How nearly a foot points straight back, as a cosine, where sides must have been mistaken."""


def _find_roles(skeleton: Skeleton) -> tuple[str, ...]:
    """Roles by names; by the tree's shape where names do not tell the legs, as far as names tell nothing else."""
    by_name = recognise_roles(skeleton.names, skeleton.parents)
    legs = sum(role in by_name for role in _LEGS)
    if legs == len(_LEGS):
        return _with_sides_by_feet(skeleton, _without_stubs(skeleton, by_name))
    if len(skeleton) < 8:
        return by_name
    by_shape = roles_by_shape(
        skeleton.names, skeleton.parents, skeleton.offsets, skeleton.tip_parents, skeleton.tip_offsets
    )
    if by_shape is None:
        return by_name
    # Names that tell some of the legs count where the shape does not say the same of half of these.
    agreed = sum(one == other for one, other in zip(by_name, by_shape, strict=True) if one in _LEGS)
    return by_name if legs > 2 and 2 * agreed < legs else by_shape


def _without_stubs(skeleton: Skeleton, roles: tuple[str, ...]) -> tuple[str, ...]:
    """The roles without toes that are none: joints right at the ankle, as some programs put one on the sole."""
    lengths = np.linalg.norm(skeleton.offsets, axis=1)
    roles_left = list(roles)
    for side in ("left", "right"):
        leg = sum(lengths[roles.index(f"{side}_{part}")] for part in ("lower_leg", "foot"))
        for joint, role in enumerate(roles):
            at_ankle = skeleton.parents[joint] == roles.index(f"{side}_foot")
            if role == f"{side}_toe" and at_ankle and lengths[joint] < _STUB_SHARE * leg:
                roles_left[joint] = "other"
    return tuple(roles_left)


def _with_sides_by_feet(skeleton: Skeleton, roles: tuple[str, ...]) -> tuple[str, ...]:
    """The roles with left and right exchanged where both feet would point backward.

    Some rigs name sides as one sees them from the front, and coordinates that were mirrored on their way leave names as
    they were.
    """
    rest = skeleton.rest_positions()
    sides = ("left", "right")
    if any(f"{side}_toe" not in roles for side in sides):
        return roles
    thighs, ankles, toes = (
        np.array([rest[roles.index(f"{side}_{part}")] for side in sides]) for part in ("upper_leg", "foot", "toe")
    )
    ahead = np.cross(thighs[0] - thighs[1], (thighs - ankles).mean(axis=0))
    ways = (toes - ankles) @ ahead
    backward = bool((ways < -_BACKWARD * np.linalg.norm(toes - ankles, axis=1) * np.linalg.norm(ahead)).all())
    return tuple(mirror_role(role) for role in roles) if backward else roles


def _some(names: list[str]) -> str:
    if not names:
        return "nothing"
    return ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")


def _pair_up(skeleton: Skeleton) -> Ints32:
    """Left/right twins by name ("LeftArm" and "RightArm"), then by role for joints that found none."""
    pairs = np.arange(len(skeleton), dtype=np.int32)
    sides = [split_side(name) for name in skeleton.names]
    left = {stem: j for j, (side, stem) in enumerate(sides) if side == "left"}
    right = {stem: j for j, (side, stem) in enumerate(sides) if side == "right"}
    twins = [(left[stem], right[stem]) for stem in left if stem in right]
    for role in sorted({r for r in skeleton.roles if r.startswith("left_")}):
        a, b = skeleton.find(role), skeleton.find(mirror_role(role))
        if a is not None and b is not None and not {a, b} & set(sum(twins, ())):
            twins.append((a, b))
    for a, b in twins:
        pairs[a], pairs[b] = b, a
    _pair_by_place(skeleton, pairs)
    return frozen(pairs, np.int32)


def _pair_by_place(skeleton: Skeleton, pairs: Ints32) -> None:
    """Pair joints that neither name nor role tells: they hang from twins, each where the other's mirror image is."""
    rest = skeleton.rest_positions() - skeleton.rest_positions()[0]
    room = _TWIN_SHARE * skeleton.height
    for a in range(1, len(skeleton)):
        holder = pairs[skeleton.parents[a]]
        if pairs[a] != a or skeleton.roles[a] in _MIDDLE:
            continue
        free = [b for b in np.flatnonzero(skeleton.parents == holder) if b != a and pairs[b] == b]
        gaps = [float(np.linalg.norm(rest[b] - rest[a] * [-1.0, 1.0, 1.0])) for b in free]
        if gaps and min(gaps) < min(room, float(np.linalg.norm(rest[a] - rest[a] * [-1.0, 1.0, 1.0]))):
            b = free[int(np.argmin(gaps))]
            pairs[a], pairs[b] = b, a
