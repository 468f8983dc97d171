"""Requests of `steer` of version 0.1."""

from __future__ import annotations

from typing import Any

_WEIGHTS = {
    **{f"{name}_weight": name for name in ("deviation", "direction", "blend", "speed", "torso", "obstacle", "idle")},
    **{"gait_weight": "label", "spin_weight": "turn", "bend_weight": "bend"},
}
RENAMED = {
    "length_s": "duration_s",
    "obstacles": "scene.obstacles",
    "costs.horizon_s": "advanced.discount_s",
    **{f"costs.{old}": f"advanced.weights.{new}" for old, new in _WEIGHTS.items()},
}
OPTIONS = {
    "--seconds": "--duration",
    "--script": "--goals",
    "--start-heading": "--start-facing",
    "--horizon": "--advanced discount_s",
    **{"--scale": "path:scale", "--flip": "path:flip=yes", "--no-flip": "path:flip=no"},
    **{"--smooth": "path:smooth", "--round": "path:round"},
    **{f"--{old.replace('_', '-')}": f"--advanced weights.{new}" for old, new in _WEIGHTS.items()},
}
_PATH = {"scale": "scale", "flip": "flip", "smooth_m": "smooth_m", "rounded_m": "round_m"}
_FIELDS = {"at_s", "position", "heading_deg", "speed_m_s", "gait", "torso_deg", "spin_deg_s", "points"}
_SUFFIXES = (".csv", ".json", ".svg")


def convert(plain: dict[str, Any]) -> list[str]:
    """Take goals apart by what they are about, and join all about the path, the obstacles and the start."""
    notes = []
    if isinstance(plain.get("start"), list):
        plain["start"] = {"place": plain["start"]}
        notes.append("start is now start.place")
    if "start_heading_deg" in plain:
        plain["start"] = {"facing_deg": plain.pop("start_heading_deg"), **(plain.get("start") or {})}
        notes.append("start_heading_deg is now start.facing_deg")
    goals = plain.get("goals")
    if "script" in plain and not goals:
        plain["goals"] = plain.pop("script")
        notes.append("script is now goals")
    elif isinstance(goals, list) and any(_is_old(goal) for goal in goals):
        plain["goals"] = _goals(goals)
        notes.append("each of the goals is now about one thing")
    if isinstance(plain.get("moving"), list):
        scene = plain.setdefault("scene", {})
        scene["obstacles"] = [_obstacle(one) for one in plain.pop("moving")]
        notes.append("moving is now scene.obstacles")
    changes = {new: plain.pop(old) for old, new in _PATH.items() if old in plain}
    path, points = plain.get("path"), plain.pop("points", None)
    if points:
        plain["path"] = {"points": points, **changes}
        notes.append("points are now path.points")
    elif isinstance(path, str) and changes:
        plain["path"] = {"file" if path.partition("#")[0].lower().endswith(_SUFFIXES) else "shape": path, **changes}
        notes.append(f"{', '.join(changes)} are now in path")
    if plain.get("path") == "":
        del plain["path"]
    return notes


def _is_old(goal: Any) -> bool:
    """Whether it has names of 0.1 only, and is about several things, or nothing, or what has another name today."""
    if not isinstance(goal, dict) or not set(goal) <= _FIELDS:
        return False
    return bool({"position", "gait", "spin_deg_s"} & set(goal)) or len(_about(goal)) != 1


def _goals(old: list[Any]) -> list[Any]:
    """Of goals at one time the last counted. Goals hold until others begin: if one is about nothing, all have ends."""
    rows = [(goal.get("at_s", 0), _about(goal)) if isinstance(goal, dict) else (0, [goal]) for goal in old]
    rows = [row for n, row in enumerate(rows) if n + 1 == len(rows) or rows[n + 1][0] != row[0]]
    free = not all(parts for _, parts in rows)
    goals: list[Any] = []
    for (at, parts), end in zip(rows, [*(at for at, _ in rows[1:]), 1e6], strict=True):
        when = {"start_s": at, "end_s": end} if free else {"at_s": at} if at else {}
        goals += [{**when, **part} if isinstance(part, dict) else part for part in parts]
    return goals


def _about(goal: dict[str, Any]) -> list[Any]:
    """What a goal is about, a goal of today each."""
    names = {"position": "place", "spin_deg_s": "turn_deg_s", "gait": "label"}
    new = {names.get(name, name): value for name, value in goal.items() if name != "at_s" and value is not None}
    line = {name: new.pop(name) for name in ("points", "place", "heading_deg") if name in new}
    if line.get("points"):
        line = {"points": line["points"]}
    else:
        line.pop("points", None)
    label = {name: new.pop(name) for name in ("label",) if name in new}
    return [part for part in (line, new, label) if part]


def _obstacle(old: Any) -> Any:
    if not isinstance(old, dict):
        return old
    rows = old.get("dragged") or [
        [0, *old.get("position", (0, 0)), old.get("radius_m", 0.6), *old.get("velocity", (0, 0))]
    ]
    if not all(isinstance(row, list) and len(row) == 6 for row in rows):
        return old
    here = next((row for row in rows if row[3]), [0, 0, 0, 0.6, 0, 0])
    obstacle = {"centre": here[1:3], "radius_m": max(row[3] for row in rows) or 0.6, "of": "hips"}
    if len(rows) > 1 or rows[0][0] or rows[0][4] or rows[0][5]:
        obstacle["moves"] = [
            {"at_s": t, **({"place": [x, z], "velocity": [vx, vz], "radius_m": radius} if radius else {})}
            for t, x, z, radius, vx, vz in rows
        ]
    return obstacle
