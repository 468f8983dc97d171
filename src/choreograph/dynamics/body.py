"""Body: the mass, centre of mass and inertia of every joint's bone, from anthropometric tables.

The tables are de Leva's ("Adjustments to Zatsiorsky-Seluyanov's segment inertia parameters", 1996), means of both
sexes, scaled to a person's height and weight. Inertias are axisymmetric about a segment's long axis.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from choreograph.base.arrays import Floats, frozen
from choreograph.base.errors import RequestError, RoleError
from choreograph.motion.facts import GRAVITY_M_S2
from choreograph.motion.skeleton import Skeleton

BODY_MASS_INDEX = 23.0
"""Weight over squared height where no weight is given, kg/m²: the middle of what is healthy."""
LEG_SHARE = 0.492
"""Thigh and shin as a share of a person's height."""


@dataclass(frozen=True)
class Segment:
    """A row of the table."""

    mass: float
    """As a share of the body's."""
    centre: float
    """Of mass: as a share of the segment's length, from its proximal end."""
    across: float
    """Radius of gyration about axes across the segment, as a share of its length."""
    along: float
    """About its long axis."""


SEGMENTS: Mapping[str, Segment] = {
    "head": Segment(0.0681, 0.499, 0.309, 0.261),
    "upper_trunk": Segment(0.1571, 0.497, 0.407, 0.465),
    "middle_trunk": Segment(0.1549, 0.451, 0.432, 0.468),
    "pelvis": Segment(0.1182, 0.449, 0.553, 0.591),
    "upper_arm": Segment(0.0263, 0.577, 0.273, 0.153),
    "forearm": Segment(0.0150, 0.457, 0.264, 0.108),
    "hand": Segment(0.00585, 0.355, 0.238, 0.168),
    "thigh": Segment(0.1447, 0.385, 0.347, 0.156),
    "shin": Segment(0.0457, 0.443, 0.259, 0.098),
    "foot": Segment(0.0133, 0.42, 0.27, 0.13),
}
_TRUNK = (("pelvis", 0.2415), ("middle_trunk", 0.3572), ("upper_trunk", 0.4013))
"""Parts of the trunk from the hip joints upwards, and their shares of its length."""
_TOE_SHARE, _HEEL_SHARE = 0.15, 0.25
"""Share of a foot's mass in front of the ball; how far the heel lies behind the ankle, as a share of the foot."""


@dataclass(frozen=True, eq=False)
class Body:
    """A skeleton with masses: one rigid body per joint, in the joint's own frame."""

    skeleton: Skeleton
    height: float
    """Of the person, metres."""
    masses: Floats
    """(J,), kg; zero for joints without a body of their own."""
    centres: Floats
    """Centres of mass in the joints' frames, (J, 3), metres."""
    inertias: Floats
    """About the centres of mass, (J, 3, 3), kg·m²."""

    def __post_init__(self) -> None:
        for name in ("masses", "centres", "inertias"):
            object.__setattr__(self, name, frozen(getattr(self, name)))
        if not np.isfinite(self.masses).all() or (self.masses < 0).any() or self.masses.sum() <= 0:
            raise RequestError("masses must be zero or more, and not all zero", where="masses_kg")

    @cached_property
    def mass(self) -> float:
        """Of the whole body, kg."""
        return float(self.masses.sum())

    @property
    def weight(self) -> float:
        """Force by which it is pulled down, newtons: the unit "BW" of ground forces."""
        return self.mass * GRAVITY_M_S2

    def with_masses(self, masses: Mapping[str, float]) -> Body:
        """A copy in which the named joints have other masses, kg; their inertias change alike.

        Raises:
            RequestError: If a mass is not above zero, or a joint has no body.
        """
        changed, inertias = np.array(self.masses), np.array(self.inertias)
        for name, mass in masses.items():
            joint = self.skeleton.index(name)
            if not (np.isfinite(mass) and mass > 0):
                raise RequestError(f"the mass of {name} is {mass:g} kg; it must be above 0", where=f"masses_kg.{name}")
            if changed[joint] <= 0:
                carrying = ", ".join(n for n, m in zip(self.skeleton.names, self.masses, strict=True) if m > 0)
                raise RequestError(
                    f"{name} carries no body of its own; these do: {carrying}", where=f"masses_kg.{name}"
                )
            inertias[joint] *= mass / changed[joint]
            changed[joint] = mass
        return replace(self, masses=changed, inertias=inertias)


def make_body(
    skeleton: Skeleton,
    *,
    height_m: float | None = None,
    mass_kg: float | None = None,
    masses_kg: Mapping[str, float] | None = None,
) -> Body:
    """The body of a person with this skeleton.

    >>> from choreograph.demo import demo_clip
    >>> body = make_body(demo_clip("walk", 30.0).skeleton, mass_kg=70.0)
    >>> round(body.mass, 6)
    70.0

    Args:
        skeleton: Its legs, at least, must be known by their roles.
        height_m: Of the person; else from the skeleton's bones.
        mass_kg: Of the person; else that of a slim person of this height.
        masses_kg: Of single joints' bodies, by joint name, instead of the table's.

    Raises:
        RequestError: If a height or mass is not above zero.
        RoleError: If hips or legs are not known.
    """
    for name, value in (("height_m", height_m), ("mass_kg", mass_kg)):
        if value is not None and not (np.isfinite(value) and value > 0):
            raise RequestError(f"{name} is {value:g}; it must be above 0", where=name)
    height = stature(skeleton) if height_m is None else height_m
    mass = BODY_MASS_INDEX * height**2 if mass_kg is None else mass_kg
    maker = _Maker(skeleton, height)
    maker.add_legs()
    maker.add_trunk_and_head()
    maker.add_arms()
    shares = maker.masses
    # A body without arms or head has the mass of one with them: what is missing is spread over the rest.
    scale = mass / shares.sum()
    body = Body(skeleton, height, shares * scale, maker.centres, maker.inertias * scale)
    return body.with_masses(masses_kg) if masses_kg else body


def stature(skeleton: Skeleton) -> float:
    """How tall a person with these bones stands, metres: along the bones, so that any rest pose does."""
    points = skeleton.rest_positions()
    legs = skeleton.leg_length
    by_legs = legs / LEG_SHARE
    head = skeleton.find("head")
    tips = [k for k, joint in enumerate(skeleton.tip_parents.tolist()) if head is not None and joint == head]
    if head is None or not tips:
        return by_legs
    hips = 0.5 * (points[skeleton.need("left_upper_leg")] + points[skeleton.need("right_upper_leg")])
    length, joint = float(np.linalg.norm(skeleton.tip_offsets[tips[0]])), head
    while joint > 0 and int(skeleton.parents[joint]) > 0:
        length += float(skeleton.bone_lengths[joint])
        joint = int(skeleton.parents[joint])
    along_bones = 0.045 * by_legs + legs + length + float(np.linalg.norm(points[joint] - hips))
    return along_bones if abs(along_bones / by_legs - 1) < 0.12 else by_legs


class _Maker:
    """Puts the table's segments onto a skeleton's joints; masses are shares of the whole."""

    def __init__(self, skeleton: Skeleton, height: float) -> None:
        self.skeleton, self.height = skeleton, height
        self.points = skeleton.rest_positions()
        count = len(skeleton)
        self.masses, self.centres = np.zeros(count), np.zeros((count, 3))
        self.inertias = np.zeros((count, 3, 3))

    def put(self, joint: int, centre: Floats, mass: float, length: float, row: Segment, axis: Floats) -> None:
        """Add a rigid part to a joint's body: `centre` in the rest pose's world, `axis` along the segment."""
        size = np.linalg.norm(axis)
        axis = axis / size if size > 1e-9 else np.array([0.0, 1.0, 0.0])
        across, along = mass * (row.across * length) ** 2, mass * (row.along * length) ** 2
        inertia = across * np.eye(3) + (along - across) * np.outer(axis, axis)
        local = centre - self.points[joint]
        total = self.masses[joint] + mass
        mean = (self.masses[joint] * self.centres[joint] + mass * local) / total
        for part_mass, part in ((self.masses[joint], self.centres[joint]), (mass, local)):
            off = part - mean
            self.inertias[joint] += part_mass * (off @ off * np.eye(3) - np.outer(off, off))
        self.inertias[joint] += inertia
        self.masses[joint], self.centres[joint] = total, mean

    def bone(self, start: int, end: Floats, name: str) -> None:
        """A segment from a joint to a point of the rest pose."""
        row, begin = SEGMENTS[name], self.points[start]
        axis = end - begin
        self.put(start, begin + row.centre * axis, row.mass, float(np.linalg.norm(axis)), row, axis)

    def add_legs(self) -> None:
        """Thighs, shins, feet and toes."""
        skeleton, points = self.skeleton, self.points
        for side in ("left", "right"):
            hip, knee, ankle = (skeleton.need(f"{side}_{part}") for part in ("upper_leg", "lower_leg", "foot"))
            self.bone(hip, points[knee], "thigh")
            self.bone(knee, points[ankle], "shin")
            self._add_foot(side, ankle)

    def _add_foot(self, side: str, ankle: int) -> None:
        toe, row = self.skeleton.find(f"{side}_toe"), SEGMENTS["foot"]
        end = self._far_end(ankle)
        ahead = end - self.points[ankle]
        length = 0.152 * self.height
        if np.linalg.norm(ahead) < 0.3 * length:  # a foot that ends at its ankle: one of the usual length, ahead
            ahead = np.array([0.0, -0.25 * length, (1 - _HEEL_SHARE) * length])
        unit = ahead / np.linalg.norm(ahead)
        heel = self.points[ankle] - _HEEL_SHARE * length * unit
        rest = row.mass * (1 - _TOE_SHARE if toe is not None else 1.0)
        self.put(ankle, heel + row.centre * length * unit, rest, length, row, unit)
        if toe is not None:
            tip = self._far_end(toe)
            bone = tip - self.points[toe]
            bone = bone if np.linalg.norm(bone) > 0.01 else 0.25 * length * unit
            self.put(toe, self.points[toe] + 0.5 * bone, row.mass * _TOE_SHARE, float(np.linalg.norm(bone)), row, bone)

    def add_trunk_and_head(self) -> None:
        """Pelvis, two parts of the trunk, and the head with the neck."""
        skeleton, points = self.skeleton, self.points
        bottom = 0.5 * (points[skeleton.need("left_upper_leg")] + points[skeleton.need("right_upper_leg")])
        necks = [j for j, role in enumerate(skeleton.roles) if role == "neck"]
        head = skeleton.find("head")
        top_joint = necks[0] if necks else head
        shoulders = [skeleton.find(f"{side}_upper_arm") for side in ("left", "right")]
        if top_joint is None and None in shoulders:
            raise RoleError(
                "no joint is known to be neck, head or shoulders, so the trunk's length is not known; say which "
                f"is the head (with_roles), out of: {', '.join(skeleton.names)}"
            )
        top = points[top_joint] if top_joint is not None else points[[j for j in shoulders if j is not None]].mean(0)
        above = skeleton.parents[top_joint] if top_joint is not None else skeleton.parents[shoulders[0] or 0]
        chain, joint = [], int(above)
        while joint > 0:
            chain.append(joint)
            joint = int(skeleton.parents[joint])
        chain = [skeleton.hips, *[j for j in reversed(chain) if j != skeleton.hips]]
        axis = top - bottom
        length = float(np.linalg.norm(axis))
        heights = [float((points[j] - bottom) @ axis) / length**2 for j in chain]
        start = 0.0
        for name, share in _TRUNK:
            row = SEGMENTS[name]
            at = start + row.centre * share
            holder = max((h, j) for h, j in zip([-1e9, *heights[1:]], chain, strict=True) if h <= max(at, 0) + 1e-9)[1]
            self.put(holder, bottom + at * axis, row.mass, share * length, row, axis)
            start += share
        row, size = SEGMENTS["head"], 0.1395 * self.height
        if head is None:
            self.put(chain[-1], top + 0.5 * size * axis / length, row.mass, size, row, axis)
            return
        tip = self._far_end(head)
        known = bool(np.linalg.norm(tip - points[head]) > 0.02)
        up = (tip - points[head]) if known else axis
        top_of_head = tip if known else points[head] + 0.6 * size * axis / length
        # The table's head reaches down to the seventh vertebra, where necks of skeletons begin.
        centre = 0.5 * (top + top_of_head)
        self.put(head, centre, row.mass, size, row, up)

    def add_arms(self) -> None:
        """Arms, as far as they are known."""
        skeleton, points = self.skeleton, self.points
        for side in ("left", "right"):
            shoulder, elbow, wrist = (skeleton.find(f"{side}_{part}") for part in ("upper_arm", "forearm", "hand"))
            if shoulder is None or elbow is None:
                continue
            self.bone(shoulder, points[elbow], "upper_arm")
            end = points[wrist] if wrist is not None else self._far_end(elbow)
            self.bone(elbow, end, "forearm")
            if wrist is not None:
                row, tip = SEGMENTS["hand"], self._far_end(wrist)
                axis = tip - points[wrist]
                length = 0.108 * self.height
                axis = axis if np.linalg.norm(axis) > 0.01 else end - points[elbow]
                unit = axis / max(float(np.linalg.norm(axis)), 1e-9)
                self.put(wrist, points[wrist] + row.centre * length * unit, row.mass, length, row, unit)

    def _far_end(self, joint: int) -> Floats:
        """The point of a joint's limb, tips among them, that is farthest from it in the rest pose."""
        skeleton, points = self.skeleton, self.points
        below = {joint}
        for j in range(joint + 1, len(skeleton)):
            if int(skeleton.parents[j]) in below:
                below.add(j)
        ends = [points[j] for j in sorted(below)]
        ends += [
            points[j] + offset
            for j, offset in zip(skeleton.tip_parents.tolist(), skeleton.tip_offsets, strict=True)
            if j in below
        ]
        return np.asarray(max(ends, key=lambda end: float(np.linalg.norm(end - points[joint]))))
