"""What was called otherwise in version 0.1: physics."""

from __future__ import annotations

from typing import Any

_WEIGHTS = ("torque", "acceleration", "prior", "slack", "rate")
_LIMITS = ("friction", "most_force", "most_alone", "most_together", "strength", "force_rate")
_LIFTS = {"heel": 0.65, "ball": 0.88}
"""Share of a footprint after which the part of the foot lifted that had no times of its own."""

RENAMED = {
    "longer": "duration_share",
    "examples": "like",
    "choose": "nearest",
    "hands": "hands_carry",
    "iterations": "work_limit",
    **{name: f"advanced.{name}" for name in ("time_range", "dimensions", "mean", "ipopt", "weights", "limits")},
}
OPTIONS: dict[str, Any] = {
    "--finish": "--smallest-change",
    "--no-finish": "--no-smallest-change",
    "--longer": "--duration-share",
    "--examples": "--like",
    "--choose": "--nearest",
    "--hands": "--hands-carry",
    "--no-hands": "--no-hands-carry",
    "--iterations": "--work-limit",
    "--dimensions": "--advanced dimensions",
    "--mean": "--advanced mean",
    "--ipopt": "--advanced ipopt=true",
    "--no-ipopt": "--advanced ipopt=false",
    **{f"--{name.replace('_', '-')}": f"--advanced limits.{name}" for name in _LIMITS[:-1]},
    "--most-force-rate": "--advanced limits.force_rate",
    **{f"--{name}": f"--advanced weights.{name}" for name in _WEIGHTS[:-1]},
    "--force-rate": "--advanced weights.rate",
}


def convert(plain: dict[str, Any]) -> list[str]:
    """Put poses and prints into goals; `finish`, once a yes or no, is how the motion becomes frames."""
    notes = []
    if isinstance(plain.get("finish"), bool):
        plain["smallest_change"] = plain.pop("finish")
        notes.append("finish is now smallest_change")
    if "rate_hz" in plain:
        plain["finish"] = {"rate_hz": plain.pop("rate_hz")}
        notes.append("rate_hz is now finish.rate_hz")
    goals: list[Any] = []
    for name, make in (("poses", _pose), ("footprints", _footprint), ("handprints", _handprint)):
        if isinstance(plain.get(name), list):
            goals += [goal for old in plain.pop(name) for goal in (make(dict(old)) if isinstance(old, dict) else [old])]
            notes.append(f"{name} are now in goals")
    if goals:
        plain["goals"] = [*plain.get("goals", ()), *goals]
    return notes


def _pose(old: dict[str, Any]) -> list[Any]:
    pose = {new: old.pop(name) for name, new in (("clip", "file"), ("frame", "frame")) if name in old}
    position = old.pop("position", None)
    if position is not None and len(position) == 3:
        old.update(place=[position[0], position[2]], height_m=position[1])
    return [{**old, "pose": pose} if old.pop("joints", True) else old]


def _handprint(old: dict[str, Any]) -> list[Any]:
    return [{("end_s" if name == "stop_s" else name): value for name, value in old.items()}]


def _footprint(old: dict[str, Any]) -> list[Any]:
    """A goal for each part of the foot that had times of its own, and one for the others together."""
    spans = {part: old.pop(f"{part}_s") for part in ("heel", "ball", "toe") if old.get(f"{part}_s") is not None}
    goal = {"facing_deg": 0, **_handprint(old)[0]}
    parts = goal.get("parts") or ["heel", "ball", "toe"]
    others = [part for part in parts if part not in spans]
    if others and parts[-1] in spans:  # these lifted before the last part, which tells no more when
        start, end = goal["start_s"], goal["end_s"]
        spans.update({part: [start, start + _LIFTS.get(part, 1.0) * (end - start)] for part in others})
        others = []
    made = [{**goal, "parts": [part], "start_s": span[0], "end_s": span[1]} for part, span in spans.items()]
    return [*made, *([{**goal, "parts": others} if spans else goal] if others else [])]
