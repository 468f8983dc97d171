"""Verification on a grid eight times as fine as the solver's: what a solution does between the nodes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from choreograph.base.arrays import Flags, Floats, Indices
from choreograph.motion.contacts import runs
from choreograph.motion.facts import GRAVITY_M_S2
from choreograph.verbs.physics.program import TrajectoryProgram

FINER = 8
_NEARLY = 0.6
"""Share of what may be, above which a gap between nodes gets another node where some gap is beyond it."""
CLEAR_M = 2.5e-3
"""Height of feet above the floor while they do not stand, so that they stay above it between the nodes too."""
TOLERANCES = {
    "com_off_m": 1e-3, "spin_drift": 0.05, "slip_m": 3e-3, "residual": 0.25, "below_m": 2e-3, "joint_over_deg": 0.5,
    "torque_over": 0.05,
}  # fmt: skip
"""What must hold between the nodes: figures of a verification and the most that each may be."""
CHECK_TEXT = {
    "com_off_m": ("the centre of mass leaves its parabola", "mm", 1e3),
    "spin_drift": ("the angular momentum drifts in flight", "%", 1e2),
    "slip_m": ("standing feet slip", "mm", 1e3),
    "residual": ("forces that nothing gives remain", "BW", 1.0),
    "below_m": ("feet sink into the floor", "mm", 1e3),
    "joint_over_deg": ("a joint passes its limit", "°", 1.0),
    "torque_over": ("a torque passes its limit", "%", 1e2),
}
"""The same in words: what happens, in which unit, and that many of the unit in one of the figure's."""


@dataclass(frozen=True, eq=False)
class FinePath:
    """A solution between the nodes: coordinates and all that mechanics says about them; F frames."""

    times: Floats
    """Of the frames, (F,), seconds."""
    q: Floats
    v: Floats
    a: Floats
    com: Floats
    com_velocity: Floats
    angular_momentum: Floats
    """About the centre of mass, over the body's weight, (F, 3)."""
    points: Floats
    forces: Floats
    """(F, P, 3), BW, linear between nodes."""
    torques: Floats
    """(F, n), BW·m; the first six are the residual, in BW and BW·m."""


@dataclass(frozen=True)
class Verification:
    """How well a solution holds between the nodes."""

    com_off_m: float
    """Centre of mass off its parabola in flight."""
    spin_drift: float
    """Change of the angular momentum in flight, as a share of its size or of a slow tumble's."""
    slip_m: float
    """Way of a held point from its place."""
    residual: float
    """Force at the root that nothing gives, BW, at most; in flight and in contact."""
    peak_force: float
    """Of the ground in all, upwards, BW."""
    below_m: float
    """Depth of the lowest point under its floor."""
    joint_over_deg: float
    """Beyond a joint's limit."""
    torque_over: float
    """Beyond a torque's limit, as a share of it."""


def excess(checked: Verification) -> float:
    """How many times the worst figure is what it may be; 1 or less where everything holds between the nodes."""
    return max(getattr(checked, name) / most for name, most in TOLERANCES.items())


def misses(problem: TrajectoryProgram, checked: Verification, path: FinePath) -> Flags:
    """Gaps between nodes, (K − 1,), in which something does not hold that does at the nodes, and their neighbours."""
    gap = np.minimum(np.arange(len(path.q)) // FINER, problem.nodes - 2)
    out = np.zeros(problem.nodes - 1, bool)
    over = {name for name, most in TOLERANCES.items() if getattr(checked, name) > most}
    for name, size in _by_frame(problem, path).items():
        if name in over:
            np.logical_or.at(out, gap, size > _NEARLY * TOLERANCES[name])
    if over & {"com_off_m", "spin_drift"}:
        out |= np.asarray(~problem.held[:-1].any(axis=1) & ~problem.held[1:].any(axis=1))
    wide = np.array(out)
    wide[1:] |= out[:-1]
    wide[:-1] |= out[1:]
    return wide


def fine(problem: TrajectoryProgram, x: Floats, finer: int = FINER) -> FinePath:
    """A solution on a finer grid."""
    from choreograph.dynamics import _compiled
    from choreograph.verbs.physics import _compiled_verify

    times = problem.spline.finer(finer)
    q, qv, qa = problem.coordinates(x, times)
    tree: Any = problem.tree
    com, speed, spin = _compiled.momenta(tree, q, qv)
    tau = _compiled.trajectory(tree, GRAVITY_M_S2, q, qv, qa)
    points = _compiled.points(tree, q, problem.holders, problem.offsets)
    nodes = problem.forces(x)
    at = np.linspace(0, problem.nodes - 1, len(q))
    low = np.minimum(at.astype(int), problem.nodes - 2)
    share = (at - low)[:, None, None]
    forces = (1 - share) * nodes[low] + share * nodes[low + 1]
    tau -= _compiled_verify.contact_torques(tree, q, problem.holders, problem.offsets, forces)
    return FinePath(times, q, qv, qa, com, speed, spin, points, forces, tau)


def verify(problem: TrajectoryProgram, x: Floats, path: FinePath | None = None) -> Verification:
    """What a solution does on the finer grid."""
    path = path or fine(problem, x)
    before, after = _nodes_beside(problem, len(path.q))
    air = np.asarray(~problem.held[before].any(axis=1) & ~problem.held[after].any(axis=1))
    com_off = drift = 0.0
    for start, stop in runs(air):
        if stop - start < 4:
            continue
        com_off = max(com_off, _parabola_error(path.com[start:stop], path.times[start:stop]))
        spin = path.angular_momentum[start:stop]
        # A slow tumble, 0.05 of a body's mass times m²/s, is the least that a drift is measured against.
        size = max(float(np.linalg.norm(spin, axis=1).mean()), 0.05 / GRAVITY_M_S2)
        drift = max(drift, float(np.linalg.norm(spin - spin.mean(axis=0), axis=1).max()) / size)
    peak = float(path.forces[..., 1].sum(axis=1).max(initial=0.0))
    worst = {name: float(size.max()) for name, size in _by_frame(problem, path).items()}
    return Verification(com_off_m=com_off, spin_drift=drift, peak_force=peak, **worst)


def _nodes_beside(problem: TrajectoryProgram, count: int) -> tuple[Indices, Indices]:
    """The nodes before and behind each frame of the finer grid, (F,); a node's own frame has it twice."""
    node = np.linspace(0, problem.nodes - 1, count)
    return np.floor(node + 1e-9).astype(int), np.ceil(node - 1e-9).astype(int)


def _by_frame(problem: TrajectoryProgram, path: FinePath) -> dict[str, Floats]:
    """Those figures of a verification that are the worst of all frames, in each of them, (F,)."""
    before, after = _nodes_beside(problem, len(path.q))
    held = problem.held[before] & problem.held[after]
    off = np.linalg.norm(path.points - problem.targets[before], axis=2)
    floor = np.minimum(problem.floor[before], problem.floor[after])
    floor = np.where(floor > problem.level, floor - CLEAR_M, floor)
    over = np.maximum(problem.dofs.lower - path.q, path.q - problem.dofs.upper)[:, 6:]
    return {
        "slip_m": np.where(held, off, 0.0).max(axis=1),
        "residual": np.linalg.norm(path.torques[:, :3], axis=1),
        "below_m": np.where(held, 0.0, floor - path.points[..., 1]).max(axis=1, initial=0.0),
        "joint_over_deg": np.degrees(over.max(axis=1, initial=0.0)),
        "torque_over": (np.abs(path.torques[:, 6:]) / problem.torque_limits[6:]).max(axis=1, initial=0.0) - 1.0,
    }


def _parabola_error(com: Floats, times: Floats) -> float:
    t = times - times[0]
    fall = np.zeros_like(com)
    fall[:, 1] = -0.5 * GRAVITY_M_S2 * t**2
    rest = com - fall
    line = np.stack([np.ones_like(t), t], axis=1)
    fit, *_ = np.linalg.lstsq(line, rest, rcond=None)
    return float(np.abs(rest - line @ fit).max())
