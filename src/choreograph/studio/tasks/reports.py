"""How well a motion meets the constraints it was solved for, and which of them nothing could meet."""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from choreograph.studio.facts import ConstraintReport, Problem

if TYPE_CHECKING:
    from choreograph.motion.clip import Clip
    from choreograph.synthesis.solve.reach import OutOfReach
    from choreograph.synthesis.solve.search import Answer, ConstraintError, Solver

MET_CM, MET_DEG = 10.0, 10.0
"""What may be missing at most where a constraint counts as met; finishing makes up for that without being seen."""
MET_LABEL_S = 0.25
"""Seconds without a label."""


def report(solver: Solver, answer: Answer, clip: Clip) -> list[ConstraintReport]:
    """One report for each constraint; obstacles share one. `clip` is the finished motion."""
    return [_one(solver, error, clip) for error in answer.errors]


def _one(solver: Solver, error: ConstraintError, clip: Clip) -> ConstraintReport:
    kind, _, rest = error.constraint.partition("[")
    number, request = int(rest[:-1] or 0) if rest else 0, solver.request
    if kind in ("body", "joints"):
        if kind == "joints":
            metres = joint_gap(clip, request.joints[number])
        else:
            metres = error.metres
        cm = None if metres is None else 100 * metres
        degrees = None if error.radians is None else math.degrees(error.radians)
        words = [f"{cm:.1f} cm"] if cm is not None else [f"{error.cost:.2f} off"]
        words += [f"{degrees:.1f}°"] if degrees is not None else []
        met = (cm or 0.0) <= MET_CM and (degrees or 0.0) <= MET_DEG and (cm is not None or error.cost < 1)
        return ConstraintReport(where=error.constraint, text=", ".join(words), met=met, cm=cm, degrees=degrees)
    if kind == "poses":
        unlike = error.cost / request.poses[number].weight
        text = f"{unlike:.1f} × as unlike as a cut" if unlike > 1 else "alike"
        return ConstraintReport(where=error.constraint, text=text, met=unlike <= 1)
    if kind == "labels":
        without = error.cost / request.labels[number].weight
        text = f"{without:.1f} s without" if without >= 0.05 else "throughout"
        return ConstraintReport(where=error.constraint, text=text, met=without <= MET_LABEL_S)
    # The sum over all times is at least the worst of them.
    near_cm = 30 * math.sqrt(error.cost)
    text = "clear" if near_cm < 1 else f"≤ {near_cm:.0f} cm too near"
    return ConstraintReport(where=error.constraint, text=text, met=near_cm <= MET_CM)


def joint_at(clip: Clip, name: str, at_s: float) -> tuple[float, float, float]:
    """Where a joint, by name or role, is at a time."""
    skeleton = clip.skeleton
    joint = skeleton.names.index(name) if name in skeleton.names else skeleton.roles.index(name)
    frame = min(round(at_s * clip.fps), len(clip) - 1)
    x, y, z = clip[frame : frame + 1].global_positions()[0, joint]
    return float(x), float(y), float(z)


def joint_gap(clip: Clip, target: Any) -> float | None:
    """How far a joint is from where it was asked to be; None where no place was."""
    place = joint_at(clip, target.joint, target.at_s)
    gaps = [here - there for here, there in zip(place, target.position, strict=True) if there is not None]
    return math.hypot(*gaps) if gaps else None


class ReachCheck:
    """Looks which constraints no motion can meet, beside the search: its kernels let the interpreter go meanwhile."""

    def __init__(self, solver: Solver) -> None:
        self.solver = solver
        self._found: Sequence[OutOfReach] = ()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def _look(self) -> None:
        self._found = self.solver.out_of_reach()

    def wait(self, seconds: float) -> bool:
        """Wait a while; whether it is known now."""
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def problems(self, clip: Clip) -> list[Problem]:
        """What is out of reach, once it is known, and where the nearest would be; `clip` is the best motion."""
        return [_problem(self.solver, entry, clip) for entry in self._found]


def _problem(solver: Solver, entry: OutOfReach, clip: Clip) -> Problem:
    kind, _, rest = entry.constraint.partition("[")
    number, request = int(rest[:-1]), solver.request
    place: tuple[float, float, float] | None = None
    distance: float | None = None
    if kind == "joints" and request.joints[number].position[1] == entry.asked:
        target = request.joints[number]
        x, _, z = joint_at(clip, target.joint, target.at_s)
        there = [here if wanted is None else wanted for here, wanted in zip((x, 0.0, z), target.position, strict=True)]
        place = (there[0], entry.nearest, there[2])
        distance = abs(entry.asked - entry.nearest)
    elif kind == "body":
        before, here = np.array(request.body[number - 1].position), np.array(request.body[number].position)
        x, z = before + (here - before) * (entry.nearest / entry.asked)
        place, distance = (float(x), 0.0, float(z)), entry.asked - entry.nearest
    return Problem(text=entry.message, where=entry.constraint, place=place, distance_m=distance)
