"""Plan."""

from __future__ import annotations

import math
from typing import Any

RENAMED = {
    "start.position": "start.place",
    "seconds": "time_limit_s",
    "evaluations": "work_limit",
    "within": "bound_ratio",
    "search": "advanced",
    "path.within": "path.tolerance_m",
    "obstacles": "scene.obstacles",
    "gaps": "scene.gaps",
    "stones": "scene.stones",
    "keep_off": "scene.keep_off",
    "step_over": "scene.step_over",
    "drawing": "scene.drawing",
}
OPTIONS = {
    "--facing": "--goal-facing",
    "--radius": "--goal-tolerance",
    "--tolerance": "--goal-tolerance-deg",
    "--standing": "--goal-standing",
    "--no-standing": "--no-goal-standing",
    "--label": "--goal-label",
    "--clip": None,
    "--frame": None,
    "--seconds": "--time-limit",
    "--evaluations": "--work-limit",
    "--within": "--bound-ratio",
    "--lattice": "--advanced lattice_deg",
    "--first-weight": "--advanced first_weight",
    "--compression": "--advanced compression",
    "--no-refine": "--advanced refine=false",
    "--no-no-interpolation": "--interpolation",
    "--no-no-refine": "--advanced refine=true",
    "--margin": "--advanced margin_m",
    "--repairs": "--advanced repairs",
    "--memory-mb": "--advanced memory_mb",
}
_SHAPES = {"radius": "radius_m", "height": "height_m", "clearance": "clearance_m", "thickness": "thickness_m"}


def convert(plain: dict[str, Any]) -> list[str]:
    """Flatten shapes, hang bars among the obstacles, and list what is passed and where it ends as goals."""
    notes = []
    scene = plain.get("scene", {})
    if isinstance(scene, dict):
        for name in ("obstacles", "gaps", "stones", "keep_off", "step_over"):
            if isinstance(scene.get(name), list):
                scene[name] = [_shape(one) for one in scene[name]]
    if isinstance(plain.get("bars"), list):
        bars = [_bar(one) for one in plain.pop("bars")]
        scene["obstacles"] = [*scene.get("obstacles", []), *bars]
        plain["scene"] = scene
        notes.append("bars are now scene.obstacles with a base_m")
    if "goal" in plain or "through" in plain:
        passed, end = plain.pop("through", []), plain.pop("goal", None)
        goals = [*passed, *([end] if end is not None else [])] if isinstance(passed, list) else [passed]
        plain["goals"] = [_goal(one) for one in goals]
        notes.append("goal and through are now goals")
    return notes


def _shape(one: Any) -> Any:
    if not isinstance(one, dict):
        return one
    inner: dict[str, Any] = next(
        (one[name] for name in ("circle", "box", "polygon") if isinstance(one.get(name), dict)), {}
    )
    flat = {name: value for name, value in one.items() if name not in ("circle", "box", "polygon") or value != inner}
    return {_SHAPES.get(name, name): value for name, value in {**inner, **flat}.items()}


def _bar(one: Any) -> Any:
    return {{"height": "base_m"}.get(n, _SHAPES.get(n, n)): v for n, v in one.items()} if isinstance(one, dict) else one


def _goal(one: Any) -> Any:
    names, usual = {"position": "place", "radius": "tolerance_m"}, {"radius": 0.3, "tolerance_deg": 15}
    if not isinstance(one, dict):
        return one
    return {names.get(name, name): value for name, value in one.items() if usual.get(name, math.nan) != value}
