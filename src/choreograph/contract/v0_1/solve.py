"""Requests of `solve` of version 0.1."""

from __future__ import annotations

from typing import Any

RENAMED = {
    "length_s": "duration_s",
    "seconds": "time_limit_s",
    "evaluations": "work_limit",
    "max_cut_cost": "advanced.max_cut_cost",
    "cut_weight": "advanced.weights.cut",
    "search": "advanced",
    "obstacles": "scene.obstacles",
    "characters.*.cut_weight": "characters.*.weights.cut",
    "characters.*.obstacles": "characters.*.scene.obstacles",
    "meet[].lasts_s": "meet[].duration_s",
    "meet[].position": "meet[].place",
    "meet[].offset.left": "meet[].offset.left_m",
    "meet[].offset.ahead": "meet[].offset.ahead_m",
}
OPTIONS = {
    "--length": "--duration",
    "--seconds": "--time-limit",
    "--evaluations": "--work-limit",
    "--max-cut-cost": "--advanced max_cut_cost",
    "--cut-weight": "--advanced weights.cut",
    "--draws": "--advanced draws",
    "--sample": "--advanced sample",
}
_LISTS = ("body", "joints", "poses", "frames", "labels", "functions")
_SOURCE = ("clip", "frame")
_RENAMED = {"stop_s": "end_s", "lasts_s": "duration_s", "clearance": "clearance_m", "radius": "radius_m"}
CLEARANCE_M = 0.3
"""What hips kept clear of an obstacle by, where its clearance was left out."""


def convert(plain: dict[str, Any]) -> list[str]:
    """Put lists of goals into one, flatten obstacles, and give the poses of a meeting as poses."""
    notes: list[str] = []
    characters = plain.get("characters")
    people = [one for one in characters.values() if isinstance(one, dict)] if isinstance(characters, dict) else []
    for holder in (plain, *people):
        _goals(holder, notes)
        scene = holder.get("scene")
        if isinstance(scene, dict) and isinstance(scene.get("obstacles"), list):
            scene["obstacles"] = [_obstacle(one) for one in scene["obstacles"]]
    for meeting in plain["meet"] if isinstance(plain.get("meet"), list) else ():
        if isinstance(meeting, dict) and isinstance(meeting.get("clips"), list):
            _meeting(meeting)
            notes.append("clips and frames of meet are now poses")
    return list(dict.fromkeys(notes))


def _goals(holder: dict[str, Any], notes: list[str]) -> None:
    """Make one list of several, in their order; what stands in `goals` already comes first."""
    goals = []
    for kind in _LISTS:
        if isinstance(holder.get(kind), list):
            goals += [_goal(kind, one) for one in holder.pop(kind)]
            notes.append(f"{kind} are now in goals")
    if goals:
        holder["goals"] = [*holder.get("goals", ()), *goals]


def _goal(kind: str, goal: Any) -> Any:
    """Change it in place, so that mistakes in it are named where it stood."""
    if not isinstance(goal, dict):
        return goal
    _rename(goal)
    if kind == "body" and "position" in goal:
        goal["place"] = goal.pop("position")
    if kind in ("poses", "frames"):
        goal["pose"] = {name: goal.pop(name) for name in _SOURCE if name in goal}
    if kind == "frames":
        goal["exact"] = True
    return goal


def _obstacle(one: Any) -> Any:
    forms = ("circle", "box", "polygon")
    shapes = [name for name in forms if isinstance(one, dict) and isinstance(one.get(name), dict)]
    if not shapes:
        return one
    for name in shapes:
        one.update(one.pop(name))
    _rename(one)
    return {"of": "hips", "clearance_m": CLEARANCE_M, **one}


def _meeting(meeting: dict[str, Any]) -> None:
    clips, frames = meeting.pop("clips"), meeting.pop("frames", None)
    each = frames if isinstance(frames, list) else [frames] * len(clips)
    meeting["poses"] = [
        {"clip": clip, **({} if frame is None else {"frame": frame})}
        for clip, frame in zip(clips, [*each, *clips][: len(clips)], strict=True)
    ]


def _rename(part: dict[str, Any]) -> None:
    for old, new in _RENAMED.items():
        if old in part:
            part[new] = part.pop(old)
