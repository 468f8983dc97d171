"""Targets: goals as numbers for one body, the only form between a request and what kernels read."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from choreograph.base import quat
from choreograph.base.arrays import Floats, Ints
from choreograph.base.errors import RequestError
from choreograph.base.floor import FloorTransform
from choreograph.goals.base import Goal
from choreograph.goals.inputs import camera_matrix, picture_point, read_track
from choreograph.goals.joints import AngleGoal, DistanceGoal, JointGoal, OffsetGoal, TurnGoal, ViewGoal
from choreograph.goals.model import ContactGoal, LabelGoal, PlaceGoal, PoseGoal, PoseSource, SpeedGoal
from choreograph.motion.clip import Clip
from choreograph.motion.retarget import retarget
from choreograph.motion.roles import ROLES
from choreograph.motion.skeleton import Skeleton

FindClip = Callable[[PoseSource, str], Clip]
"""Gets where a pose is from and its place in the request; gives that clip."""


@dataclass(frozen=True, eq=False)
class Target:
    """A goal as it can be met and measured: the value of a quantity over an interval."""

    where: str
    """Its place in the request: "goals[3].position"."""
    kind: str
    """A row of `choreograph.goals.kinds.KINDS`."""
    start_s: float
    end_s: float
    joints: tuple[int, ...] = ()
    values: Floats = field(default_factory=lambda: np.zeros((1, 3)))
    """Spread evenly over the interval, (N, …); NaN for what does not matter."""
    exact: bool = False
    camera: Floats | None = None
    pose: Clip | None = None
    """One frame, for poses."""
    weight: float = 1.0
    tolerance: float | None = None
    """The goal's own, in the unit of its kind; None for the table's."""
    name: str = ""
    """What messages call what is wanted: a label, or "frame 40 of walk"."""

    def at(self, times: Floats) -> Floats:
        """What is wanted at times within the interval."""
        if len(self.values) == 1:
            return np.repeat(self.values, len(times), axis=0)
        place = (times - self.start_s) / (self.end_s - self.start_s) * (len(self.values) - 1)
        before = np.clip(np.floor(place).astype(int), 0, len(self.values) - 2)
        share = (place - before).reshape(-1, *(1,) * (self.values.ndim - 1))
        return np.asarray(self.values[before] * (1 - share) + self.values[before + 1] * share)

    def frames(self, rate_hz: float, count: int) -> Ints:
        """The frames that it is about, of so many at a rate: one, or those within the interval."""
        if self.end_s <= self.start_s:
            return np.array([min(round(self.start_s * rate_hz), count - 1)])
        first, last = math.ceil(self.start_s * rate_hz - 1e-6), math.floor(self.end_s * rate_hz + 1e-6)
        return np.arange(min(first, count - 1), max(min(last, count - 1), min(first, count - 1)) + 1)


@dataclass(frozen=True)
class _Of:
    """A goal of a request, and the body that it is for."""

    goal: Goal
    where: str
    span: tuple[float, float]
    body: Skeleton
    find: FindClip
    rate_hz: float
    exact: bool

    def target(self, part: str, kind: str, joints: Sequence[int], values: Floats, **more: object) -> Target:
        """A target of the goal; `part` is the field that it comes from."""
        where = f"{self.where}.{part}" if part else self.where
        exact = self.exact if self.goal.exact is None else self.goal.exact
        settings = {"exact": exact, "tolerance": getattr(self.goal, "tolerance_m", None), **more}
        return Target(where, kind, *self.span, tuple(joints), values, weight=self.goal.weight, **settings)  # type: ignore[arg-type]

    def joint(self, name: str, part: str = "joint") -> int:
        return find_joint(self.body, name, f"{self.where}.{part}")


def find_targets(
    goals: Sequence[Goal],
    body: Skeleton,
    find: FindClip,
    rate_hz: float = 30.0,
    *,
    exact: bool = True,
    where: str = "goals",
    when: Callable[[Goal], tuple[float, float]] = lambda goal: goal.span,
) -> list[Target]:
    """Return goals as targets, each checked against the body; of goals that no body shows, there are none.

    Args:
        goals: What is wanted.
        body: Whose joints they name.
        find: The clip of a pose.
        rate_hz: Poses a second of those that are wanted during an interval.
        exact: Whether goals count as exact that leave it open.
        where: The list's place in the request.
        when: First and last second of a goal: of those along a path, or without a time, only the verb knows it.

    Raises:
        RequestError: If a joint, clip, frame or track is missing.
    """
    targets: list[Target] = []
    for number, goal in enumerate(goals):
        make = _MAKERS.get(type(goal))
        if make is not None:
            targets += make(_Of(goal, f"{where}[{number}]", when(goal), body, find, rate_hz, exact))
    return targets


def find_joint(body: Skeleton, name: str, where: str) -> int:
    """A joint by its name or role.

    Raises:
        RequestError: If there is none; the message lists those there are.
    """
    if name in body.names:
        return body.index(name)
    joint = body.find(name) if name in ROLES else None
    if joint is None:
        roles = sorted({role for role in body.roles if role != "other"})
        raise RequestError(
            f"{where} is {name!r}, which is no joint; there are {', '.join(body.names)}, or by role "
            f"{', '.join(roles) or 'none'}",
            where=where,
        )
    return joint


def _place_targets(of: _Of) -> list[Target]:
    goal, targets = of.goal, []
    assert isinstance(goal, PlaceGoal)
    line = goal.points or ((goal.place,) if goal.place is not None else ())
    if line:
        values = np.array([[x, np.nan, z] for x, z in line])
        targets.append(of.target("points" if goal.points else "place", "place", (of.body.hips,), values))
    if goal.facing is not None:
        values = np.array([[goal.facing]])
        targets.append(of.target("facing_deg", "facing", (), values, tolerance=goal.tolerance_deg))
    return targets


def _joint_targets(of: _Of) -> list[Target]:
    goal, targets = of.goal, []
    assert isinstance(goal, JointGoal)
    joints = (of.joint(goal.joint),)
    values: Floats | None = None
    part = "track" if goal.track else "points" if goal.points else "position"
    if goal.track:
        values = read_track(goal.track, of.span[1] - of.span[0], f"{of.where}.track")
    elif goal.points:
        values = np.array(goal.points, float)
    elif any(value is not None for value in goal.position):
        values = _numbers(goal.position)
    if values is not None:
        targets.append(of.target(part, "position", joints, values))
    if any(value is not None for value in goal.velocity):
        targets.append(of.target("velocity", "velocity", joints, _numbers(goal.velocity), exact=False, tolerance=None))
    return targets


def _turn_targets(of: _Of) -> list[Target]:
    goal = of.goal
    assert isinstance(goal, TurnGoal)
    values = np.array([goal.rotation]) / np.linalg.norm(goal.rotation)
    return [of.target("", "turn", (of.joint(goal.joint),), values, tolerance=goal.tolerance_deg)]


def _angle_targets(of: _Of) -> list[Target]:
    goal = of.goal
    assert isinstance(goal, AngleGoal)
    joint = of.joint(goal.joint)
    children = of.body.children(joint)
    if joint == 0 or not children:
        where = f"{of.where}.joint"
        raise RequestError(f"{where} is {goal.joint!r}, which has no bone on both sides", where=where)
    # Of several bones that lead on, the longest chain's is meant: the spine, not a hip.
    below = max(children, key=lambda j: float(of.body.bone_lengths[j]))
    joints = (joint, _above(of.body, joint), below)
    return [of.target("", "angle", joints, np.radians([[goal.bend_deg]]), tolerance=goal.tolerance_deg)]


def _distance_targets(of: _Of) -> list[Target]:
    goal = of.goal
    assert isinstance(goal, DistanceGoal)
    joints = [of.joint(name, "joints") for name in goal.joints]
    return [of.target("", "distance", joints, np.array([[goal.distance_m]]))]


def _offset_targets(of: _Of) -> list[Target]:
    goal = of.goal
    assert isinstance(goal, OffsetGoal)
    return [of.target("", "offset", (of.joint(goal.joint), of.joint(goal.of, "of")), _numbers(goal.offset))]


def _view_targets(of: _Of) -> list[Target]:
    goal = of.goal
    assert isinstance(goal, ViewGoal)
    values = np.array([picture_point(goal.camera, goal.seen)])
    return [of.target("", "view", (of.joint(goal.joint),), values, camera=camera_matrix(goal.camera))]


def _contact_targets(of: _Of) -> list[Target]:
    goal = of.goal
    assert isinstance(goal, ContactGoal)
    which = goal.foot or goal.hand
    sides = ("left", "right") if which == "both" else (which,)
    if goal.hand is not None:
        parts: tuple[str, ...] = ("hand",)
    else:
        parts = tuple(dict.fromkeys("foot" if part == "heel" else "toe" for part in goal.parts))
    joints = [of.body.find(f"{side}_{part}") for side in sides for part in parts]
    known = tuple(joint for joint in joints if joint is not None)
    if not known:
        of.body.need(f"{sides[0]}_{parts[0]}")
    return [of.target("", "contact", known, np.zeros((1, 3)), exact=False)]


def _label_targets(of: _Of) -> list[Target]:
    goal = of.goal
    assert isinstance(goal, LabelGoal)
    return [of.target("", "label", (), np.ones((1, 1)), exact=False, name=goal.label)]


def _speed_targets(of: _Of) -> list[Target]:
    goal, targets = of.goal, []
    assert isinstance(goal, SpeedGoal)
    if goal.speed_m_s is not None:
        targets.append(of.target("speed_m_s", "speed", (), np.array([[goal.speed_m_s]]), exact=False))
    if goal.turn_deg_s is not None:
        targets.append(of.target("turn_deg_s", "turn_rate", (), np.array([[goal.turn_deg_s]]), exact=False))
    return targets


def _pose_targets(of: _Of) -> list[Target]:
    """A pose, or the poses of an interval: the first is where the goal says, the others as they were recorded."""
    goal, body, rate_hz = of.goal, of.body, of.rate_hz
    assert isinstance(goal, PoseGoal)
    source, where = goal.pose, f"{of.where}.pose"
    clip = own_pose(source, body, rate_hz, where) if source.rotations else retarget(of.find(source, where), body)
    start, end = of.span
    times = start + np.arange(math.floor((end - start) * rate_hz + 1e-6) + 1) / rate_hz
    frames = source.frame + np.round((times - start) * clip.fps).astype(int)
    if frames[-1] >= len(clip):
        part, value = "pose.frame", str(source.frame)
        if len(frames) > 1:
            part = "duration_s" if goal.duration_s else "end_s"
            value = f"{getattr(goal, part):g}, which is frame {frames[-1]}"
        raise RequestError(
            f"{of.where}.{part} is {value}; {clip.name!r} has frames 0 to {len(clip) - 1}", where=f"{of.where}.{part}"
        )
    own = clip[source.frame : int(frames[-1]) + 1]
    frames -= source.frame
    places = _pose_places(goal, own, frames)
    return [
        Target(
            of.where, "pose", float(at), float(at), (body.hips,), place[None],
            of.exact if goal.exact is None else goal.exact, pose=own[int(k) : int(k) + 1], weight=goal.weight,
            tolerance=goal.tolerance_deg, name=f"frame {source.frame + k} of {clip.name}",
        )
        for at, k, place in zip(times, frames, places, strict=True)
    ]  # fmt: skip


def _pose_places(goal: PoseGoal, own: Clip, frames: Ints) -> Floats:
    """Where poses are: x, z and yaw, NaN for what does not matter, (N, 3)."""
    hips = own.skeleton.hips
    moved = own
    if not goal.as_recorded and len(frames) > 1:
        x, _, z = own.global_positions()[0, hips].tolist()
        turn = 0.0 if goal.facing is None else goal.facing - float(own.facing()[0])
        moved = own.moved(FloorTransform(0.0, -x, -z)).moved(FloorTransform(turn))
        if goal.place is not None:
            moved = moved.moved(FloorTransform(0.0, *goal.place))
    at, facing = moved.global_positions()[frames, hips], moved.facing()[frames]
    places = np.stack([at[:, 0], at[:, 2], facing], axis=1)
    if goal.as_recorded:
        return places
    # Of one pose, what is not given does not matter; of several, they are moved as one where both are given.
    if len(frames) == 1:
        places[0] = np.nan
        if goal.place is not None:
            places[0, :2] = goal.place
        if goal.facing is not None:
            places[0, 2] = goal.facing
    elif goal.place is None or goal.facing is None:
        places[1:] = np.nan
        if goal.place is None:
            places[0, :2] = np.nan
        if goal.facing is None:
            places[0, 2] = np.nan
    return places


def own_pose(pose: PoseSource, body: Skeleton, rate_hz: float, where: str) -> Clip:
    """The one frame of a pose that has rotations of its own."""
    if len(pose.rotations) != len(body):
        raise RequestError(
            f"{where}.rotations has {len(pose.rotations)}; the skeleton has {len(body)} joints",
            where=f"{where}.rotations",
        )
    rot = quat.normalise(np.array(pose.rotations, float))
    return Clip(body, rate_hz, np.array([pose.root], float), rot[None], "pose")


def _numbers(values: Sequence[float | None]) -> Floats:
    return np.array([[np.nan if value is None else value for value in values]])


def _above(body: Skeleton, joint: int) -> int:
    """The joint above that is some way off: helper joints lie at the same place."""
    above = int(body.parents[joint])
    while above > 0 and body.bone_lengths[joint] < 1e-3:
        joint, above = above, int(body.parents[above])
    return above


_MAKERS: dict[type[Goal], Callable[[_Of], list[Target]]] = {
    PlaceGoal: _place_targets,
    PoseGoal: _pose_targets,
    JointGoal: _joint_targets,
    TurnGoal: _turn_targets,
    AngleGoal: _angle_targets,
    DistanceGoal: _distance_targets,
    OffsetGoal: _offset_targets,
    ViewGoal: _view_targets,
    ContactGoal: _contact_targets,
    LabelGoal: _label_targets,
    SpeedGoal: _speed_targets,
}
"""Goals of a cost, a segment, a face or a pause have no target: only their verbs measure them."""
