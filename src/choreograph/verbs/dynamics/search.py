"""Inverse dynamics as a search of one step."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from choreograph.base.errors import RequestError
from choreograph.base.progress import Progress, silent
from choreograph.contract.problem import Problem, ProblemKind
from choreograph.contract.result import Answer, Metric, Motion, Result, Run
from choreograph.contract.search import Budget, Search
from choreograph.contract.verb import CLIP, File
from choreograph.dynamics.body import Body
from choreograph.dynamics.contacts import GROUPS, ContactPoints
from choreograph.dynamics.dofs import make_dofs
from choreograph.dynamics.gravity_check import doubt_rate, falls_at
from choreograph.dynamics.inverse import Analysis, Dynamics, analyse
from choreograph.dynamics.strength import joint_strength
from choreograph.motion.clip import Clip
from choreograph.motion.contacts import runs
from choreograph.motion.mechanics import Mechanics, gather_limbs
from choreograph.verbs.dynamics.request import DynamicsRequest

EDGE_S = 0.05
"""Seconds at both ends of a motion whose accelerations count for no metric: a filter knows one side only there."""


@dataclass(frozen=True, eq=False)
class DynamicsResult(Result):
    """A motion's mechanics."""

    dynamics: Dynamics | None = None
    body: Body | None = None
    points: ContactPoints | None = None


class DynamicsSearch(Search):
    """The mechanics of one motion."""

    def __init__(self, clip: Clip, request: DynamicsRequest) -> None:
        """Prepare it.

        Args:
            clip: The motion.
            request: Whose it is, and how it is differentiated.
        """
        super().__init__(request)
        self.request: DynamicsRequest = request
        self._clip = clip
        self._measured: Analysis | None = None
        self._seconds = 0.0

    @property
    def done(self) -> bool:
        """Whether it is measured."""
        return self._measured is not None

    def step(self, budget: Budget = Budget(), progress: Progress = silent) -> bool:
        """Measure it."""
        if self._measured is None:
            began, request, clip = time.monotonic(), self.request, self._clip
            self._measured = analyse(
                clip, request.body.of(clip.skeleton), floor_m=request.floor_m, cutoff_hz=request.cutoff_hz or None,
                friction=request.friction, progress=progress,
            )  # fmt: skip
            self._seconds = time.monotonic() - began
        return False

    def change(self, request: Any) -> None:
        """Ask about another body or filter."""
        self.request, self._measured = request, None

    def best(self) -> DynamicsResult:
        """The motion unchanged, with its mechanics."""
        if self._measured is None:
            raise RequestError("nothing was measured yet")
        dynamics, body, points, floor = self._measured
        clip = self._clip
        answer = Answer(
            (Motion(clip, (Run(0, len(clip), clip.name, 0.0),)),),
            f"{clip.name}, {body.mass:.0f} kg, {body.height:.2f} m",
            measure(dynamics, clip),
            tuple(_problems(dynamics, clip, falls_at(clip, body, points, floor))),
            details={
                "contacts": {
                    name: [[a / clip.fps, b / clip.fps] for a, b in runs(dynamics.contacts[:, g])]
                    for g, name in enumerate(GROUPS)
                },
                "masses_kg": {
                    name: round(float(mass), 4)
                    for name, mass in zip(clip.skeleton.names, body.masses, strict=True)
                    if mass > 0
                },
            },
            mechanics=_mechanics(dynamics, body, points, clip),
        )
        return DynamicsResult(
            "dynamics", self.request, (answer,), seconds=self._seconds, dynamics=dynamics, body=body, points=points
        )


def _mechanics(dynamics: Dynamics, body: Body, points: ContactPoints, clip: Clip) -> Mechanics:
    limbs, centres, forces = gather_limbs(points.names, dynamics.points, dynamics.forces / dynamics.weight)
    torques = np.linalg.norm(dynamics.torques, axis=-1)
    torques[:, 0] = 0.0  # the root's are the residual
    strength = joint_strength(make_dofs(body, []))
    return Mechanics(
        clip.fps, limbs, dynamics.com, centres, forces, dynamics.residual_force / dynamics.weight, torques, strength
    )


def inner(clip: Clip) -> slice:
    """The frames that count for metrics: without the edges, where there are enough."""
    edge = max(1, round(EDGE_S * clip.fps))
    return slice(edge, -edge) if len(clip) > 4 * edge else slice(0, len(clip))


def measure(dynamics: Dynamics, clip: Clip) -> dict[str, Metric]:
    """What is worth knowing about a motion's mechanics at a glance."""
    at = inner(clip)
    weight = dynamics.weight
    residual = np.linalg.norm(dynamics.residual_force[at], axis=1) / weight
    turning = np.linalg.norm(dynamics.residual_moment[at], axis=1) / weight
    torque = np.linalg.norm(dynamics.torques[at, 1:], axis=-1)
    flight = float((~dynamics.contacts.any(axis=1)).mean() * clip.seconds)
    metrics = {
        "ground_force_peak": Metric(float(dynamics.ground_force[at, 1].max() / weight), "BW", "ground pushes at up to"),
        "flight": Metric(flight, "s", "in the air for"),
        "com_rise": Metric(float(np.ptp(dynamics.com[:, 1])), "m", "centre of mass moves up and down by"),
        "residual_mean": Metric(float(residual.mean()), "BW", "the ground leaves unexplained"),
        "residual_worst": Metric(float(residual.max()), "BW", "unexplained at most"),
        "residual_moment_mean": Metric(float(turning.mean()), "BW·m", "unexplained turning"),
    }
    if torque.size:
        worst = int(torque.max(axis=0).argmax()) + 1
        text = f"largest torque, at {clip.skeleton.names[worst]},"
        metrics["torque_peak"] = Metric(float(torque.max()), "N·m", text)
    return metrics


def _problems(dynamics: Dynamics, clip: Clip, gravity: float | None) -> Iterator[Problem]:
    """What makes the numbers doubtful."""
    if not dynamics.contacts.any() and clip.seconds > 1.5:
        more = "Give the floor's height (floor_m)."
        yield Problem.of(ProblemKind.NO_GROUND, "floor_m", duration=clip.seconds, more=more)
    yield from doubt_rate(gravity, clip.fps)


def inverse_dynamics(
    clip: Clip | File, request: DynamicsRequest | None = None, *, progress: Progress | None = None
) -> DynamicsResult:
    """The mechanics of a motion: centre of mass, momenta, ground forces, joint torques.

    >>> from choreograph.demo import demo_clip
    >>> result = inverse_dynamics(demo_clip("walk", 60.0), DynamicsRequest(body={"mass_kg": 70.0}))
    >>> 1.0 < result.metrics["ground_force_peak"].value < 1.7
    True
    >>> result.dynamics.torques.shape == (len(result.clip), len(result.clip.skeleton), 3)
    True

    Args:
        clip: The motion, or its file's name.
        request: Whose it is, and how it is differentiated.
        progress: Hears how far the work has come.

    Raises:
        RequestError: If the motion is too short, or a mass or height is not above zero.
        RoleError: If feet or legs are not known.
    """
    search = DynamicsSearch(CLIP.read(clip), request or DynamicsRequest())
    search.step(progress=progress or silent)
    return search.best()
