"""Requests by their parts: what is passed, where it ends, and what the scene holds."""

from __future__ import annotations

from typing import Any

from choreograph.scene.model import Scene
from choreograph.verbs.plan.request import PlanRequest

PARTS = ("obstacles", "gaps", "stones", "keep_off", "step_over")


def request_of(
    goal: Any = None, *, through: tuple[Any, ...] = (), bars: tuple[Any, ...] = (), **more: Any
) -> PlanRequest:
    """A request whose scene has the parts that are named among the fields."""
    parts = {name: tuple(more.pop(name)) for name in PARTS if name in more}
    parts["obstacles"] = (*parts.get("obstacles", ()), *bars)
    goals = (*through, *((goal,) if goal is not None else ()))
    return PlanRequest(goals=goals, scene=Scene(**parts), **more)
