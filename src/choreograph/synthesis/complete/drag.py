"""Dragging under the model: a point is pulled, and the whole motion follows within one iteration."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from choreograph.errors import RequestError
from choreograph.motion.clip import Clip
from choreograph.synthesis.complete import start
from choreograph.synthesis.complete.asked import Target, find_joint, find_terms
from choreograph.synthesis.complete.encode import Array, Track
from choreograph.synthesis.complete.exact import find_offset
from choreograph.synthesis.complete.model import MotionModel
from choreograph.synthesis.complete.solver import Estimate, MapSolver, SolverSettings
from choreograph.synthesis.complete.terms import POSITION, Term, Terms

HELD_M = 1e-3
"""What is tolerated of a point that is held: a weight of 1e6. With a fifteenth of it a hand lags 5 cm behind."""


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
    ) -> None:
        """Settle the motion that is asked for, before anything is pulled.

        Args:
            model: What is likely.
            targets: What is asked besides what is pulled.
            frames: At the model's rate.
            begin: Where to begin, if that is known.
            settings: How firmly model and goals count.
        """
        self.model, self._targets = model, targets
        standing = np.full(len(model.encoding.skeleton), np.nan) if model.standing is None else model.standing
        self._terms = find_terms(targets, model, frames, standing)
        self._solver = MapSolver(model, frames, self._terms, settings)
        self._held: dict[tuple[int, int], Term] = {}
        self._now = self._solver.solve(begin or start.straight(model, frames, self._terms), warm=begin is not None)
        self._solver.offset = find_offset(model, model.lifted(self._now.states), targets)

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
        return cls(model, targets, len(clip), begin=Estimate(model.states(track.rows), np.array(track.place)))

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
        self._held[frame, number] = Term(POSITION, frame, (number,), wanted, 1 / HELD_M)
        return self._settle(iterations)

    def let_go(self, joint: str | None = None, at_s: float | None = None) -> Clip:
        """The motion with points that were pulled free again: all, or those of a joint, or of a time."""
        number = None if joint is None else find_joint(self.model.encoding.skeleton, joint, "joint")
        frame = None if at_s is None else round(at_s * self.model.encoding.rate_hz)
        self._held = {
            place: term
            for place, term in self._held.items()
            if (number is not None and place[1] != number) or (frame is not None and place[0] != frame)
        }
        return self._settle(3)

    @property
    def held(self) -> Mapping[tuple[int, int], tuple[float, ...]]:
        """Frame and joint of each point that is held, and where it is."""
        return {place: term.target for place, term in self._held.items()}

    def _settle(self, iterations: int) -> Clip:
        terms = Terms([*self._terms.points, *self._held.values()], self._terms.poses, self._terms.places)
        self._solver.terms = terms
        now = Estimate(self._now.states, self._now.place)
        for _ in range(iterations):
            now = self._solver.iterate(now)
        self._now = now
        return self.clip()

    def clip(self) -> Clip:
        """The motion as it is now, at the model's rate."""
        rows: Array = self.model.lifted(self._now.states)
        if self._solver.offset is not None:
            rows = rows + self._solver.offset
        return self.model.encoding.decode(Track(rows, self._now.place), "dragged")
