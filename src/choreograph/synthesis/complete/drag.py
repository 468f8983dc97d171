"""Dragging under the model: a point is pulled, and the whole motion follows within one iteration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from choreograph.errors import RequestError
from choreograph.motion.clip import Clip
from choreograph.synthesis.complete import start
from choreograph.synthesis.complete.asked import TOLERATED_M, Target, find_joint, find_terms
from choreograph.synthesis.complete.encode import Array, Track
from choreograph.synthesis.complete.estimate import Estimate
from choreograph.synthesis.complete.exact import find_offset, meet, reach_poses
from choreograph.synthesis.complete.feet import foot_terms, led_feet, leg_side, standing_feet
from choreograph.synthesis.complete.measure import measure, pose_off_m
from choreograph.synthesis.complete.model import MotionModel
from choreograph.synthesis.complete.solver import MapSolver, SolverSettings
from choreograph.synthesis.complete.terms import POSITION, Term, Terms

STANDS_M = 0.045
"""How near a foot is to where it stands, in height, so that it stays there while another joint is pulled."""
MET_M = 2e-3
"""How far joints may be from where they are dragged to before inverse kinematics closes the rest."""
_ROUNDS = 2
"""Iterations for a request that has changed: what is asked may be far from linear."""


class Pull(NamedTuple):
    """A joint of a key pose that is pulled."""

    pose: int
    """Which of the request's poses."""
    joint: str
    """A name or role."""
    position: tuple[float, float, float]
    """Where to, (x, y, z), metres."""

    def applied(self, model: MotionModel, targets: Sequence[Target]) -> list[Target]:
        """The targets, with the key pose as it is with the joint there, in place."""
        made = []
        for target in targets:
            if target.where == f"poses[{self.pose}]" and target.pose is not None:
                pose = pulled_pose(model, target.pose, self.joint, self.position)
                hips = pose.global_positions()[0, pose.skeleton.hips]
                place = np.array([[hips[0], hips[2], pose.facing()[0]]])
                target = replace(target, pose=pose, values=place)
            made.append(target)
        return made


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
        behaviours: NDArray[np.int64] | None = None,
        feet: bool = False,
        guide: Array | None = None,
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
        self._standing = np.full(len(model.encoding.skeleton), np.nan) if model.standing is None else model.standing
        self._feet: list[Term] = []
        self._terms = find_terms(targets, model, frames, self._standing)
        self._solver = MapSolver(model, frames, self._terms, settings, behaviours=behaviours)
        self._solver.guide, self._solver.splined = guide, begin is not None and begin.splined and guide is not None
        self._held: dict[tuple[int, int], Term] = {}
        self._now = self._solver.solve(begin or start.straight(model, frames, self._terms), warm=begin is not None)
        self._solver.offset = find_offset(model, self._now, targets)
        if feet and model.encoding.skeleton.feet:
            likely = self.clip()
            self._feet = foot_terms(likely, standing_feet(likely, targets), self._standing, self._terms.points)

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
                raise RequestError(f"the key {frame} is not within {len(clip)} frames")
            place = np.array([[hips[frame, 0], hips[frame, 2], facing[frame]]])
            at = frame / clip.fps
            pose = clip[frame : frame + 1]
            targets.append(Target("keys", "pose", at, at, (clip.skeleton.hips,), place, True, pose=pose))
        begin = Estimate(model.states(track.rows), np.array(track.place))
        return cls(model, targets, len(clip), begin=begin, feet=True)

    def pull(self, joint: str, at_s: float, position: tuple[float, float, float], iterations: int = 1) -> Clip:
        """The motion with a joint pulled to a position (x, y, z), metres, at a time; it is held there until let go.

        Args:
            joint: A name or role.
            at_s: When.
            position: Where to.
            iterations: More of them settle what is left.
        """
        number = find_joint(self.model.encoding.skeleton, joint, "joint")
        frame = round(at_s * self.model.encoding.rate_hz)
        if not 0 <= frame < self._solver.frames:
            last = (self._solver.frames - 1) / self.model.encoding.rate_hz
            raise RequestError(f"at_s is {at_s:g}; the motion lasts from 0 to {last:g} s", where="at_s")
        wanted = (float(position[0]), float(position[1]), float(position[2]))
        self._held[frame, number] = Term(POSITION, frame, (number,), wanted, 1 / TOLERATED_M)
        self._settle(iterations)
        return self._met([])

    def ask(self, targets: Sequence[Target], iterations: int = _ROUNDS) -> Clip:
        """The motion with something else asked of it, as while a goal is dragged: what is exact is met.

        Args:
            targets: All that is asked now.
            iterations: More of them settle what is left.
        """
        terms = find_terms(targets, self.model, self._solver.frames, self._standing)
        self._terms = terms
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
        asked = [target for target in every if target.kind == "position" and target.exact]
        poses = [target for target in targets if target.kind == "pose" and target.exact]
        away = [*(miss.amount for miss in measure(clip, asked)), *(pose_off_m(clip, target) for target in poses)]
        if not any(off > MET_M for off in away):
            return clip
        feet = bool(clip.skeleton.feet)
        return meet(self.model, clip, every, standing_feet(clip, every) & ~led_feet(clip, every) if feet else None)

    def let_go(self, joint: str | None = None, at_s: float | None = None) -> Clip:
        """The motion with points that were pulled free again: all, or those of a joint, or of a time."""
        number = None if joint is None else find_joint(self.model.encoding.skeleton, joint, "joint")
        frame = None if at_s is None else round(at_s * self.model.encoding.rate_hz)
        self._held = {
            place: term
            for place, term in self._held.items()
            if (number is not None and place[1] != number) or (frame is not None and place[0] != frame)
        }
        self._settle(3)
        return self._met([])

    @property
    def held(self) -> Mapping[tuple[int, int], tuple[float, ...]]:
        """Frame and joint of each point that is held, and where it is."""
        return {place: term.target for place, term in self._held.items()}

    def _settle(self, iterations: int) -> None:
        asked = {(term.frame, term.joints[0]) for term in self._terms.points if term.kind == POSITION}
        feet = [term for term in self._feet if (term.frame, term.joints[0]) not in asked]
        points = [*self._terms.points, *feet, *self._held.values()]
        terms = Terms(points, self._terms.poses, self._terms.places)
        self._solver.terms = terms
        now = self._now.anew()
        for _ in range(iterations):
            now = self._solver.iterate(now)
        self._now = now

    def clip(self) -> Clip:
        """The motion as it is now, at the model's rate."""
        rows: Array = self.model.lifted(self._now.states)
        if self._solver.offset is not None:
            rows = rows + self._solver.offset
        return self.model.encoding.decode(Track(rows, self._now.place), "dragged")


def pulled_pose(model: MotionModel, pose: Clip, joint: str, position: tuple[float, float, float]) -> Clip:
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
        position: Where to, (x, y, z), metres; as near as the body reaches.
    """
    skeleton = model.encoding.skeleton
    number = find_joint(skeleton, joint, "joint")
    encoding = replace(model.encoding, rate_hz=pose.fps)
    track, pos = encoding.encode(pose), pose.global_positions()[0]
    wanted = (float(position[0]), float(position[1]), float(position[2]))
    terms = [Term(POSITION, 0, (number,), wanted, 1.0)]
    own = leg_side(skeleton.roles[number])
    for foot in skeleton.feet:
        level = np.nan if model.standing is None else model.standing[foot]
        if abs(pos[foot, 1] - level) < STANDS_M and (own is None or leg_side(skeleton.roles[foot]) != own):
            terms.append(
                Term(POSITION, 0, (foot,), (float(pos[foot, 0]), float(pos[foot, 1]), float(pos[foot, 2])), 1.0)
            )
    change = reach_poses(model, track.rows, track.place, terms)
    k = track.rows.shape[1]
    made = encoding.decode(Track(track.rows + change[:, :k], track.place + change[:, k:]), pose.name)
    rot = np.array(made.local_rot)
    still = encoding.columns < 0
    rot[:, still] = pose.local_rot[:, still]
    return made.with_frames(np.array(made.root_pos), rot)
