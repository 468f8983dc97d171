"""Dragging under the model: a point is pulled, and the whole motion follows within one iteration."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from choreograph.base.arrays import Floats, Ints
from choreograph.base.errors import RequestError
from choreograph.goals.measure import measure, pose_places
from choreograph.goals.target import Target, find_joint
from choreograph.motion.clip import Clip
from choreograph.verbs.complete import start
from choreograph.verbs.complete.compile_goals import TOLERATED_M, find_terms
from choreograph.verbs.complete.encode import EncodedMotion
from choreograph.verbs.complete.estimate import Estimate
from choreograph.verbs.complete.exact import FIRM, find_offset, meet, reach_poses
from choreograph.verbs.complete.feet import foot_terms, led_feet, leg_side, standing_feet
from choreograph.verbs.complete.floor_limits import Floor, is_upper, knows_floor, stand_levels, without_upper
from choreograph.verbs.complete.model import MotionModel
from choreograph.verbs.complete.residual_terms import POSITION, Term, Terms
from choreograph.verbs.complete.solver import MapSolver, SolverSettings

Place = Sequence[float | None]
"""Where a joint is pulled to: x, y and z, metres; None for what does not matter."""
STANDS_M = 0.045
"""How near a foot is to where it stands, in height, so that it stays there while another joint is pulled."""
MET_M = 2e-3
"""How far joints may be from where they are dragged to before inverse kinematics closes the rest."""
_ROUNDS = 2
"""Iterations for a request that has changed: what is asked may be far from linear."""


class Pull(NamedTuple):
    """A joint of a key pose that is pulled."""

    goal: int
    """Which of the request's goals."""
    joint: str
    """A name or role."""
    position: tuple[float, float, float]
    """Where to, (x, y, z), metres."""

    def applied(self, model: MotionModel, targets: Sequence[Target]) -> list[Target]:
        """The targets, with the key pose as it is with the joint there, in place."""
        pulled = []
        for target in targets:
            if target.where == f"goals[{self.goal}]" and target.pose is not None:
                pose = pulled_pose(model, target.pose, self.joint, self.position)
                hips = pose.global_positions()[0, pose.skeleton.hips]
                place = np.array([[hips[0], hips[2], pose.facing()[0]]])
                target = replace(target, pose=pose, values=place)
            pulled.append(target)
        return pulled


class Dragging:
    """A motion whose joints can be pulled about, frame by frame, while the rest follows as is most likely.

    >>> import choreograph as cg
    >>> from choreograph.demo import demo_clip
    >>> walk = demo_clip("walk", 30.0)
    >>> model = cg.learn([walk])
    >>> drag = Dragging.of_clip(model, walk[:60], keys=(0, 59))
    >>> hand = walk.skeleton.need("right_hand")
    >>> x, y, z = walk.global_positions()[30, hand]
    >>> moved = drag.pull("right_hand", 1.0, (x, y + 0.05, z))
    >>> bool(abs(moved.global_positions()[30, hand, 1] - y - 0.05) < 0.005)
    True
    """

    def __init__(
        self,
        model: MotionModel,
        targets: list[Target],
        frames: int,
        *,
        begin: Estimate | None = None,
        settings: SolverSettings | None = None,
        behaviours: Ints | None = None,
        feet: bool = False,
        guide: Floats | None = None,
    ) -> None:
        """Settle the motion that is asked for, before anything is pulled.

        Args:
            model: What is likely.
            targets: What is asked besides what is pulled.
            frames: At the model's rate.
            begin: Where to begin, if that is known.
            settings: How firmly model and goals count.
            behaviours: Which dynamics hold at each frame; the first throughout if None.
            feet: Whether feet that nearly stand then stay.
            guide: The recorded motion (F, d) that it is near, if there is one.
        """
        self.model = model
        self._levels = stand_levels(model)
        self._feet: list[Term] = []
        self._terms = find_terms(targets, model, frames, self._levels)
        self._solver = MapSolver(model, frames, self._terms, settings, behaviours=behaviours)
        self._solver.guide, self._solver.splined = guide, begin is not None and begin.splined and guide is not None
        self._held: dict[tuple[int, int], Term] = {}
        self._missed: dict[tuple[int, int], float] = {}
        self._now = self._solver.solve(begin or start.straight(model, frames, self._terms), warm=begin is not None)
        self._solver.offset = find_offset(model, self._now, targets)
        if feet and model.encoding.skeleton.feet:
            likely = self.clip()
            self._feet = foot_terms(likely, standing_feet(likely, targets), self._levels, self._terms.points)
        self._floor: Floor | None = None
        self._grounded = feet and knows_floor(model)
        self._without: tuple[MapSolver, Estimate] | None = None

    @property
    def frames(self) -> int:
        """How many the motion has, at the model's rate."""
        return self._solver.frames

    @classmethod
    def of_clip(cls, model: MotionModel, clip: Clip, keys: tuple[int, ...]) -> Dragging:
        """A recorded motion to pull at; some of its poses stay.

        Args:
            model: Of the clip's skeleton.
            clip: The motion.
            keys: Frames, at the model's rate, whose poses stay as they are.
        """
        clip = clip.resampled(model.encoding.rate_hz)
        track = model.encoding.encode(clip)
        hips, facing = clip.global_positions()[:, clip.skeleton.hips], clip.facing()
        targets = []
        for frame in keys:
            if not 0 <= frame < len(clip):
                raise RequestError(
                    f"the key {frame} is not within the motion: keys are frames at the model's rate, {clip.fps:g} a "
                    f"second, at which it has frames 0 to {len(clip) - 1}",
                    where="keys",
                )
            place = np.array([[hips[frame, 0], hips[frame, 2], facing[frame]]])
            at = frame / clip.fps
            pose = clip[frame : frame + 1]
            targets.append(Target("keys", "pose", at, at, (clip.skeleton.hips,), place, True, pose=pose))
        begin = Estimate(model.states(track.rows), np.array(track.place))
        return cls(model, targets, len(clip), begin=begin, feet=True)

    def pull(self, joint: str, at_s: float, position: Place, iterations: int = 1) -> Clip:
        """The motion with a joint pulled to a position (x, y, z), metres, at a time; it is held there until let go.

        Feet stay on the floor; by how much a joint falls short of where it is pulled is in `missed`.

        Args:
            joint: A name or role.
            at_s: When.
            position: Where to; None for a coordinate that does not matter.
            iterations: More of them settle what is left.

        Raises:
            RequestError: If there is no such joint or time, or the position is not three finite numbers or None.
        """
        number = find_joint(self.model.encoding.skeleton, joint, "joint")
        rate = self.model.encoding.rate_hz
        frame = round(at_s * rate) if math.isfinite(at_s) else -1
        if not 0 <= frame < self._solver.frames:
            last = (self._solver.frames - 1) / rate
            raise RequestError(f"at_s is {at_s:g}; the motion lasts from 0 to {last:g} s", where="at_s")
        wanted = _read_place(position)
        self._held[frame, number] = Term(POSITION, frame, (number,), wanted, 1 / TOLERATED_M)
        self._settle(iterations)
        return self._met([])

    def ask(self, targets: Sequence[Target], iterations: int = _ROUNDS) -> Clip:
        """The motion with something else asked of it, as while a goal is dragged: what is exact is met.

        Args:
            targets: All that is asked now.
            iterations: More of them settle what is left.
        """
        self._terms = find_terms(targets, self.model, self._solver.frames, self._levels)
        self._see_floor()
        for _ in range(iterations):
            # Joints are met by the motion as it is shown, with what key poses have beside the model.
            self._solver.offset = find_offset(self.model, self._now, targets)
            self._settle(1)
        self._solver.offset = find_offset(self.model, self._now, targets)
        return self._met(targets)

    def _met(self, targets: Sequence[Target]) -> Clip:
        """The motion with what is exact met by inverse kinematics, where the model does not go all the way by itself;
        feet that stand stay."""
        clip, rate = self.clip(), self.model.encoding.rate_hz
        pulled = [
            Target("pulled", "position", frame / rate, frame / rate, (joint,), np.array([term.target]), True)
            for (frame, joint), term in self._held.items()
        ]
        every = [*targets, *pulled]
        exact_targets = [target for target in every if target.kind == "position" and target.exact]
        poses = [target for target in targets if target.kind == "pose" and target.exact]
        if any(one.off > MET_M for one in measure(clip, [*exact_targets, *pose_places(poses)])):
            feet = bool(clip.skeleton.feet)
            held = standing_feet(clip, every) & ~led_feet(clip, every) if feet else None
            clip = meet(self.model, clip, every, held)
        off = [one.off for one in measure(clip, pulled)]
        self._missed = {place: away for place, away in zip(self._held, off, strict=True) if away > MET_M}
        return clip

    def let_go(self, joint: str | None = None, at_s: float | None = None) -> Clip:
        """The motion with points that were pulled free again: all, or those of a joint, or of a time."""
        number = None if joint is None else find_joint(self.model.encoding.skeleton, joint, "joint")
        frame = None if at_s is None else round(at_s * self.model.encoding.rate_hz)
        self._held = {
            place: term
            for place, term in self._held.items()
            if (number is not None and place[1] != number) or (frame is not None and place[0] != frame)
        }
        self._floor = None
        self._settle(3)
        return self._met([])

    @property
    def held(self) -> Mapping[tuple[int, int], tuple[float | None, ...]]:
        """Frame and joint of each point that is held, and where it is; None for coordinates that do not matter."""
        return {
            place: tuple(value if math.isfinite(value) else None for value in term.target)
            for place, term in self._held.items()
        }

    @property
    def missed(self) -> Mapping[tuple[int, int], float]:
        """Frame and joint of each point that is held where the motion does not reach, and by how much, metres."""
        return self._missed

    def _settle(self, iterations: int) -> None:
        if self._floor is None:
            self._see_floor()
        places = {(term.frame, term.joints[0]) for term in self._terms.points if term.kind == POSITION}
        feet = [term for term in self._feet if (term.frame, term.joints[0]) not in places]
        points = [*self._terms.points, *feet, *self._held.values()]
        for again in (False, True):
            down = [] if self._floor is None else self._floor.terms
            self._solver.terms = Terms([*points, *down], self._terms.poses, self._terms.places)
            now = self._now.anew()
            for _ in range(iterations):
                now = self._solver.iterate(now)
            self._now = now
            if again or self._floor is None or not self._floor.hold(self.clip()):
                break

    def _see_floor(self) -> None:
        """See how high feet are without goals of joints above the hips, where there are any."""
        solver, skeleton = self._solver, self.model.encoding.skeleton
        points = [*self._terms.points, *self._held.values()]
        if not self._grounded or not any(is_upper(skeleton, term.joints[0]) for term in points):
            self._floor = None
            return
        rest = without_upper(self._terms, skeleton)
        if self._without is None:
            plain = MapSolver(self.model, solver.frames, rest, solver.settings, behaviours=solver.behaviours)
            plain.guide, plain.splined = solver.guide, solver.splined
            now = plain.solve(self._now.anew(), warm=True) if self._terms.points else self._now
        else:
            plain, now = self._without
            plain.terms = rest
            now = plain.iterate(now.anew())
        self._without = plain, now
        rows = self.model.lifted(now.states)
        clip = self.model.encoding.decode(
            EncodedMotion(rows if solver.offset is None else rows + solver.offset, now.place)
        )
        terms = Terms(points, self._terms.poses, self._terms.places)
        if self._floor is None:
            self._floor = Floor(clip, self._levels, terms)
        else:
            self._floor.allow(clip, terms)

    def clip(self) -> Clip:
        """The motion as it is now, at the model's rate."""
        rows: Floats = self.model.lifted(self._now.states)
        if self._solver.offset is not None:
            rows = rows + self._solver.offset
        return self.model.encoding.decode(EncodedMotion(rows, self._now.place), "dragged")


def _read_place(position: Place) -> tuple[float, float, float]:
    """A position as numbers, NaN for None.

    Raises:
        RequestError: If it is not three finite numbers or None, one of them a number at least.
    """
    try:
        places = [math.nan if value is None else float(value) for value in position]
        known = [value for value, given in zip(places, position, strict=True) if given is not None]
    except (TypeError, ValueError):
        places, known = [], []
    if len(places) != 3 or not known or not all(map(math.isfinite, known)):
        raise RequestError(
            f"position is {position!r}; it is three finite numbers (x, y, z) in metres, or None for a coordinate that "
            "does not matter",
            where="position",
        )
    return places[0], places[1], places[2]


def pulled_pose(model: MotionModel, pose: Clip, joint: str, position: Place) -> Clip:
    """A pose with a joint pulled to a position: the body follows as is most natural, and feet that stand stay.

    >>> import choreograph as cg
    >>> from choreograph.demo import demo_clip
    >>> walk = demo_clip("walk", 30.0)
    >>> hand = walk.skeleton.need("right_hand")
    >>> x, y, z = walk.global_positions()[30, hand]
    >>> made = pulled_pose(cg.learn([walk]), walk[30:31], "right_hand", (x, y + 0.2, z))
    >>> bool(abs(made.global_positions()[0, hand, 1] - y - 0.2) < 1e-3)
    True

    Args:
        model: Whose spread of poses says how a body follows.
        pose: One frame, of the model's skeleton.
        joint: A name or role.
        position: Where to, (x, y, z), metres, None for a coordinate that does not matter; as near as the body reaches.
    """
    skeleton = model.encoding.skeleton
    number = find_joint(skeleton, joint, "joint")
    encoding = replace(model.encoding, rate_hz=pose.fps)
    track, pos = encoding.encode(pose), pose.global_positions()[0]
    terms = [Term(POSITION, 0, (number,), _read_place(position), 1.0)]
    own = leg_side(skeleton.roles[number])
    for foot in skeleton.feet:
        level = np.nan if model.standing is None else model.standing[foot]
        if abs(pos[foot, 1] - level) < STANDS_M and (own is None or leg_side(skeleton.roles[foot]) != own):
            terms.append(
                Term(POSITION, 0, (foot,), (float(pos[foot, 0]), float(pos[foot, 1]), float(pos[foot, 2])), FIRM)
            )
    change = reach_poses(model, track.rows, track.place, terms)
    k = track.rows.shape[1]
    pose_out = encoding.decode(EncodedMotion(track.rows + change[:, :k], track.place + change[:, k:]), pose.name)
    rot = np.array(pose_out.local_rot)
    still = encoding.columns < 0
    rot[:, still] = pose.local_rot[:, still]
    return pose_out.with_frames(np.array(pose_out.root_pos), rot)
