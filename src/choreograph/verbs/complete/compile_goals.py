"""What a request asks of a model's body: its goals as terms for the solver, and as targets to be met and measured."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from choreograph.base import quat
from choreograph.base.arrays import Floats, Ints
from choreograph.base.errors import RequestError
from choreograph.base.floor import FloorTransform
from choreograph.motion.clip import Clip
from choreograph.motion.retarget import retarget
from choreograph.motion.roles import ROLES
from choreograph.motion.skeleton import Skeleton
from choreograph.verbs.complete import residual_terms as kinds
from choreograph.verbs.complete.goals import BodyGoal, JointGoal, KeyPose, Timed
from choreograph.verbs.complete.inputs import camera_matrix, picture_point, read_track
from choreograph.verbs.complete.model import MotionModel
from choreograph.verbs.complete.request import CompleteRequest
from choreograph.verbs.complete.residual_terms import PlaceTerm, PoseTerm, Term, Terms
from choreograph.verbs.complete.solver import PLACE_M

TOLERATED_M, TOLERATED_M_S, TOLERATED_RAD, TOLERATED_SEEN = 0.01, 0.05, math.radians(2.0), 0.01
"""What the most likely motion may miss at a weight of 1; what is asked exactly is met exactly behind."""
_FOOT_M_S = 0.05
_ANCHOR_M = 10.0

Find = Callable[[KeyPose, str], Clip]


@dataclass(frozen=True, eq=False)
class Target:
    """A goal as it can be met and measured: the way of a quantity over an interval."""

    where: str
    kind: str
    """position, velocity, pose, place, facing, turn, angle, distance, offset, view, contact."""
    start_s: float
    stop_s: float
    joints: tuple[int, ...] = ()
    values: Floats = field(default_factory=lambda: np.zeros((1, 3)))
    """Spread evenly over the interval, (N, …); NaN for what does not matter."""
    exact: bool = False
    camera: Floats | None = None
    pose: Clip | None = None
    """One frame, for poses."""
    weight: float = 1.0
    """How much it counts."""

    def at(self, times: Floats) -> Floats:
        """What is wanted at times within the interval."""
        if len(self.values) == 1:
            return np.repeat(self.values, len(times), axis=0)
        place = (times - self.start_s) / (self.stop_s - self.start_s) * (len(self.values) - 1)
        before = np.clip(np.floor(place).astype(int), 0, len(self.values) - 2)
        share = (place - before).reshape(-1, *(1,) * (self.values.ndim - 1))
        return np.asarray(self.values[before] * (1 - share) + self.values[before + 1] * share)

    def frames(self, rate: float, count: int) -> Ints:
        """The frames that it is about, at a rate: one, or those within the interval."""
        if self.stop_s <= self.start_s:
            return np.array([min(round(self.start_s * rate), count - 1)])
        first, last = math.ceil(self.start_s * rate - 1e-6), math.floor(self.stop_s * rate + 1e-6)
        return np.arange(min(first, count - 1), max(min(last, count - 1), min(first, count - 1)) + 1)


def find_joint(skeleton: Skeleton, name: str, where: str) -> int:
    """A joint by its name or role.

    Raises:
        RequestError: If there is none; the message lists those there are.
    """
    if name in skeleton.names:
        return skeleton.index(name)
    found = skeleton.find(name) if name in ROLES else None
    if found is None:
        roles = sorted({role for role in skeleton.roles if role != "other"})
        raise RequestError(
            f"{where} is {name!r}, which is no joint; there are {', '.join(skeleton.names)}, or by role "
            f"{', '.join(roles) or 'none'}",
            where=where,
        )
    return found


def find_targets(request: CompleteRequest, skeleton: Skeleton, find: Find, rate: float = 30.0) -> list[Target]:
    """The goals of a request as targets, each checked against the body.

    Args:
        request: What is asked.
        skeleton: Whose joints it names.
        find: The clip of a key pose.
        rate: Poses a second of those that are asked for during an interval.

    Raises:
        RequestError: If a joint, clip, frame or track is not there.
    """
    made = [one for n, pose in enumerate(request.poses) for one in _pose_targets(n, pose, skeleton, find, rate)]
    for n, body in enumerate(request.body):
        made += _place_targets(f"body[{n}]", body, skeleton)
    for n, goal in enumerate(request.joints):
        made += _joint_targets(f"joints[{n}]", goal, skeleton)
    for name in ("turns", "angles", "distances", "offsets", "views"):
        for n, one in enumerate(getattr(request, name)):
            made.append(_other_target(name, f"{name}[{n}]", one, skeleton))
    for n, contact in enumerate(request.contacts):
        sides = ("left", "right") if contact.foot == "both" else (contact.foot,)
        parts = ("foot", "toe") if contact.part == "all" else ("foot",) if contact.part == "heel" else ("toe",)
        joints = [skeleton.find(f"{side}_{part}") for side in sides for part in parts]
        known = tuple(j for j in joints if j is not None)
        if not known:
            skeleton.need(f"{sides[0]}_{parts[0]}")
        made.append(Target(f"contacts[{n}]", "contact", contact.start_s, contact.stop_s, known))
    return [replace(target, weight=_weight_of(request, target.where)) for target in made]


def _weight_of(request: CompleteRequest, where: str) -> float:
    name, _, rest = where.partition("[")
    return float(getattr(request, name)[int(rest.partition("]")[0])].weight)


def _pose_targets(n: int, pose: KeyPose, skeleton: Skeleton, find: Find, rate: float) -> list[Target]:
    """A key pose, or the poses of an interval: the first is where the key says, the others as they were recorded."""
    where = f"poses[{n}]"
    clip = own_pose(pose, skeleton, rate, where) if pose.rotations else retarget(find(pose, where), skeleton)
    start, stop = pose.span
    times = start + np.arange(math.floor((stop - start) * rate + 1e-6) + 1) / rate
    frames = pose.frame + np.round((times - start) * clip.fps).astype(int)
    if frames[-1] >= len(clip):
        field, found = (
            ("frame", pose.frame) if len(frames) == 1 else ("stop_s", f"{stop:g}, which is frame {frames[-1]}")
        )
        raise RequestError(
            f"{where}.{field} is {found}; {clip.name!r} has frames 0 to {len(clip) - 1}", where=f"{where}.{field}"
        )
    own = clip[pose.frame : int(frames[-1]) + 1]
    frames -= pose.frame
    if pose.in_place or len(frames) == 1:
        moved = own
    else:
        hips = own.global_positions()[0, skeleton.hips]
        turn = 0.0 if pose.facing is None else pose.facing - float(own.facing()[0])
        moved = own.moved(FloorTransform(0.0, -float(hips[0]), -float(hips[2]))).moved(FloorTransform(turn))
        if pose.position is not None:
            moved = moved.moved(FloorTransform(0.0, *pose.position))
    hips, facing = moved.global_positions()[frames, skeleton.hips], moved.facing()[frames]
    places = np.stack([hips[:, 0], hips[:, 2], facing], axis=1)
    if not pose.in_place:
        # Of one pose, what is not given does not matter; of several, they are moved as one where both are given.
        if len(frames) == 1:
            places[0] = np.nan
            if pose.position is not None:
                places[0, :2] = pose.position
            if pose.facing is not None:
                places[0, 2] = pose.facing
        elif pose.position is None or pose.facing is None:
            places[1:] = np.nan
            if pose.position is None:
                places[0, :2] = np.nan
            if pose.facing is None:
                places[0, 2] = np.nan
    return [
        Target(
            where,
            "pose",
            float(at),
            float(at),
            (skeleton.hips,),
            place[None],
            pose.exact,
            pose=own[int(k) : int(k) + 1],
        )
        for at, k, place in zip(times, frames, places, strict=True)
    ]


def own_pose(pose: KeyPose, skeleton: Skeleton, rate: float, where: str) -> Clip:
    """The one frame of a key pose that has rotations of its own."""
    if len(pose.rotations) != len(skeleton):
        raise RequestError(
            f"{where}.rotations has {len(pose.rotations)}; the skeleton has {len(skeleton)} joints",
            where=f"{where}.rotations",
        )
    rot = quat.normalise(np.array(pose.rotations, float))
    return Clip(skeleton, rate, np.array([pose.root], float), rot[None], "pose")


def _place_targets(where: str, goal: BodyGoal, skeleton: Skeleton) -> list[Target]:
    made, (start, stop) = [], goal.span
    way = goal.points or ((goal.position,) if goal.position is not None else ())
    if way:
        values = np.array([[x, np.nan, z] for x, z in way])
        made.append(Target(f"{where}.position", "place", start, stop, (skeleton.hips,), values, goal.exact))
    if goal.facing is not None:
        made.append(Target(f"{where}.facing_deg", "facing", start, stop, (), np.array([[goal.facing]]), goal.exact))
    return made


def _joint_targets(where: str, goal: JointGoal, skeleton: Skeleton) -> list[Target]:
    joints = (find_joint(skeleton, goal.joint, f"{where}.joint"),)
    start, stop = goal.span
    made = []
    values: Floats | None = None
    if goal.track:
        values = read_track(goal.track, stop - start, f"{where}.track")
    elif goal.points:
        values = np.array(goal.points, float)
    elif any(value is not None for value in goal.position):
        values = np.array([[np.nan if value is None else value for value in goal.position]])
    if values is not None:
        made.append(Target(f"{where}.position", "position", start, stop, joints, values, goal.exact))
    if any(value is not None for value in goal.velocity):
        wanted = np.array([[np.nan if value is None else value for value in goal.velocity]])
        made.append(Target(f"{where}.velocity", "velocity", start, stop, joints, wanted))
    return made


def _other_target(name: str, where: str, goal: Timed, skeleton: Skeleton) -> Target:
    start, stop = goal.span
    names = getattr(goal, "joints", None) or [goal.joint]  # type: ignore[attr-defined]
    joints = [find_joint(skeleton, one, f"{where}.joint{'s' if name == 'distances' else ''}") for one in names]
    camera, values = None, np.zeros((1, 1))
    if name == "turns":
        values = np.array([goal.rotation]) / np.linalg.norm(goal.rotation)  # type: ignore[attr-defined]
    elif name == "angles":
        values = np.radians([[goal.bend_deg]])  # type: ignore[attr-defined]
        children = skeleton.children(joints[0])
        if joints[0] == 0 or not children:
            raise RequestError(
                f"{where}.joint is {names[0]!r}, which has no bone on both sides", where=f"{where}.joint"
            )
        # Of several bones that lead on, the longest chain's is meant: the spine, not a hip.
        below = max(children, key=lambda j: float(skeleton.bone_lengths[j]))
        joints = [joints[0], _above(skeleton, joints[0]), below]
    elif name == "distances":
        values = np.array([[goal.distance_m]])  # type: ignore[attr-defined]
    elif name == "offsets":
        joints.append(find_joint(skeleton, goal.of, f"{where}.of"))  # type: ignore[attr-defined]
        values = np.array([[np.nan if v is None else v for v in goal.offset]])  # type: ignore[attr-defined]
    else:
        camera, values = camera_matrix(goal.camera), np.array([picture_point(goal.camera, goal.seen)])  # type: ignore[attr-defined]
    return Target(where, name.removesuffix("s"), start, stop, tuple(joints), values, goal.exact, camera)


def _above(skeleton: Skeleton, joint: int) -> int:
    """The joint above that is some way off: helper joints lie at the same place."""
    above = int(skeleton.parents[joint])
    while above > 0 and skeleton.bone_lengths[joint] < 1e-3:
        joint, above = above, int(skeleton.parents[above])
    return above


# ------------------------------------------------------------------ terms for the solver

KINDS = {
    "position": (kinds.POSITION, TOLERATED_M),
    "place": (kinds.POSITION, PLACE_M),
    "velocity": (kinds.MOVE, TOLERATED_M_S),
    "turn": (kinds.ORIENTATION, TOLERATED_RAD),
    "angle": (kinds.BEND, TOLERATED_RAD),
    "distance": (kinds.DISTANCE, TOLERATED_M),
    "offset": (kinds.OFFSET, TOLERATED_M),
    "view": (kinds.PROJECTION, TOLERATED_SEEN),
}


def find_terms(targets: Sequence[Target], model: MotionModel, frames: int, standing: Floats) -> Terms:
    """Targets as terms, at the model's rate.

    Args:
        targets: What is asked.
        model: Whose rate and body.
        frames: F.
        standing: Height of each joint where it stands on the floor, (J,); NaN where it never does.
    """
    terms, rate = Terms(), model.encoding.rate_hz
    for number, target in enumerate(targets):
        firm = math.sqrt(target.weight)
        at = target.frames(rate, frames)
        if target.kind == "pose":
            assert target.pose is not None
            row, place = pose_row(model, target)
            terms.poses.append(PoseTerm(int(at[0]), row, firm, place, number))
        elif target.kind == "facing":
            yaw = np.array([np.nan, np.nan, target.values[0, 0]])
            terms.places += [PlaceTerm(frame, yaw, firm / PLACE_M, number) for frame in at.tolist()]
        elif target.kind == "contact":
            _add_contact(terms, target, at, firm, frames, standing, number)
        else:
            kind, tolerated = KINDS[target.kind]
            values = target.at(at / rate) if target.stop_s > target.start_s else target.values
            for frame, value in zip(at.tolist(), values, strict=True):
                if kind == kinds.MOVE and frame >= frames - 1:
                    frame = frames - 2
                wanted = tuple(float(v) for v in value)
                terms.points.append(Term(kind, frame, target.joints, wanted, firm / tolerated, target.camera, number))
    _anchor(terms)
    return terms


def _add_contact(
    terms: Terms, target: Target, at: Ints, firm: float, frames: int, standing: Floats, number: int
) -> None:
    for joint in target.joints:
        for frame in at.tolist():
            if frame < min(at[-1], frames - 1):
                still = (0.0, 0.0, 0.0)
                terms.points.append(Term(kinds.MOVE, frame, (joint,), still, firm / _FOOT_M_S, None, number))
            if np.isfinite(standing[joint]):
                wanted = (math.nan, float(standing[joint]), math.nan)
                terms.points.append(Term(kinds.POSITION, frame, (joint,), wanted, firm / TOLERATED_M, None, number))


def pose_row(model: MotionModel, target: Target) -> tuple[Floats, Floats]:
    """A key pose's row (k,), and where its root is: x, z and yaw, NaN where that does not matter."""
    assert target.pose is not None
    track = model.encoding.encode(target.pose)
    place = np.array(target.values[0])
    if np.isfinite(place[:2]).all():
        # The torso's place is asked for; the root's differs from it where the root is not the hips.
        hips = target.pose.global_positions()[0, target.joints[0]]
        away = complex(track.place[0, 0] - hips[0], track.place[0, 1] - hips[2])
        turn = place[2] - track.place[0, 2] if np.isfinite(place[2]) else 0.0
        away *= np.exp(-1j * turn)
        place[:2] += away.real, away.imag
    return track.rows[0], place


def _anchor(terms: Terms) -> None:
    """Hold the motion somewhere on the floor where the request leaves it free."""
    placed = any(np.isfinite(pose.place[:2]).all() for pose in terms.poses)
    placed = placed or any(
        term.kind == kinds.POSITION and math.isfinite(term.target[0]) and math.isfinite(term.target[2])
        for term in terms.points
    )
    turned = any(np.isfinite(pose.place[2]) for pose in terms.poses)
    turned = turned or any(np.isfinite(place.place[2]) for place in terms.places)
    first = terms.poses[0].frame if terms.poses else 0
    loose, firm = 1 / (100 * _ANCHOR_M), 1 / PLACE_M
    where = np.array([0.0, 0.0, np.nan])
    terms.places.append(PlaceTerm(first, where, loose if placed else firm))
    terms.places.append(PlaceTerm(first, np.array([np.nan, np.nan, 0.0]), loose if turned or placed else firm))
