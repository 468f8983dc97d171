"""What a solved motion misses: constraints, torques that it would take, what does not hold between the nodes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from choreograph.contract.problem import Problem, ProblemKind, amount
from choreograph.verbs.physics.newton import NewtonSolver
from choreograph.verbs.physics.program import TrajectoryProgram
from choreograph.verbs.physics.solve_stages import Solved, solve_in_stages
from choreograph.verbs.physics.verify import CHECK_TEXT, TOLERANCES, Verification, fine


def find_problems(solved: Solved, checked: Verification) -> Iterator[Problem]:
    """What is missing of a solution: at the nodes, and where it holds there, between them."""
    if solved.converged or solved.solution.status == "feasible":
        yield from off_grid_problems(checked)
        return
    question = solved.problem
    now = NewtonSolver(question).values(solved.solution.x)
    parts = {
        "ground forces do not carry the motion": (float(np.abs(now.root).max()), "BW"),
        "feet are off their footprints": (float(np.abs(now.places).max(initial=0.0)), "m"),
        "key poses are missed": (float(np.abs(now.poses).max(initial=0.0)), "rad"),
        "limits of joints, torques or friction are broken": (float(-now.bounds.min(initial=0.0)), ""),
    }
    text, (size, unit) = max(parts.items(), key=lambda part: part[1][0])
    yield Problem.of(
        ProblemKind.NOT_CONVERGED, count=solved.iterations, broken=f"; {text} by {amount(size, unit)}",
        got=solved.solution.violation,
    )  # fmt: skip
    stronger = _needs(question)
    if stronger is not None:
        name, torque, most = stronger
        facts = {"asked": most, "got": torque, "unit": "N·m"}
        yield Problem.of(ProblemKind.TORQUE_LIMIT, "advanced.limits.strength", joint=name, **facts)


def _needs(question: TrajectoryProgram) -> tuple[str, float, float] | None:
    """The torque that a motion would take of a body without limits, where it is too much: joint, N·m, limit."""
    free = np.where(np.isfinite(question.torque_limits), 1e3, np.inf)
    loose = replace(question, torque_limits=free, most_force=20.0, most_alone=80.0, most_together=np.inf)
    unlimited = solve_in_stages(loose, 60, tries=2)
    if unlimited.solution.status == "not converged":
        return None
    path = fine(loose, unlimited.solution.x)
    weight = question.dofs.body.weight
    share = np.abs(path.torques[:, 6:]).max(axis=0) / question.torque_limits[6:]
    worst = int(share.argmax())
    most = float(question.torque_limits[6 + worst]) * weight
    return (question.dofs.names[6 + worst], float(share[worst]) * most, most) if share[worst] > 1 else None


def off_grid_problems(checked: Verification) -> Iterator[Problem]:
    """What does not hold between the nodes, though it does at them."""
    for name, most in TOLERANCES.items():
        got, (text, unit, scale) = getattr(checked, name), CHECK_TEXT[name]
        if got > most:
            facts = {"asked": scale * most, "got": scale * got, "tolerance": scale * most, "unit": unit}
            yield Problem.of(ProblemKind.PHYSICS_VIOLATED, what=text, **facts)
