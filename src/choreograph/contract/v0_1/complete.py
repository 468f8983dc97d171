"""Requests of `complete` of version 0.1."""

from __future__ import annotations

from typing import Any

RENAMED = {
    "length_s": "duration_s",
    "label": "advanced.labelled",
    "model": "advanced.model",
    "solve.iterations": "work_limit",
    "solve.knots_s": "advanced.knots_s",
    "solve.guided": "advanced.guided",
    "solve.dynamics": "advanced.weights.dynamics",
    "solve.goals": "advanced.weights.goals",
}
OPTIONS: dict[str, Any] = {
    "--length": "--duration",
    "--frames": lambda value: _seconds("--gap", value, 1),
    "--past": lambda value: _seconds("--before", value, -1),
    "--future": lambda value: _seconds("--after", value, -1),
    "--in-place": "--as-recorded",
    "--no-in-place": "--no-as-recorded",
    "--examples": None,
    "--objective": "--objective-picture",
    "--learned": "--model",
    "--guided": "--advanced guided=true",
    "--label": "--advanced labelled",
    "--iterations": "--work-limit",
    "--knots": "--advanced knots_s",
    "--no-guided": "--advanced guided=false",
    "--alpha": "--advanced weights.dynamics",
    "--beta": "--advanced weights.goals",
    "--model-rate": "--advanced model.rate_hz",
    "--order": "--advanced model.order",
    "--controls": "--advanced model.controls",
    "--dimensions": "--advanced model.dimensions",
    "--variance": "--advanced model.variance",
    "--components": "--advanced model.components",
    "--behaviours": "--advanced model.behaviours",
}
_LISTS = ("poses", "body", "joints", "turns", "angles", "distances", "offsets", "views", "contacts", "labels")
_SOURCE = ("clip", "frame", "file", "root", "rotations")


def _seconds(option: str, value: str, more: int) -> list[str]:
    """An option in seconds for one in frames of a model of 30 Hz."""
    return [option, f"{(int(value) + more) / 30!r}" if value.isdecimal() else value]


def convert(plain: dict[str, Any]) -> list[str]:
    """Put lists of goals into one, examples into a query, and frames between two motions into seconds."""
    notes: list[str] = []
    goals = [_goal(kind, goal) for kind in _LISTS for goal in _list(plain, kind, notes)]
    if goals:
        plain["goals"] = [*plain.get("goals", ()), *goals]
    examples = plain.pop("examples", None)
    if examples:
        named = " or ".join(f'name:"{name}"' for name in examples)
        plain["only"] = f"({plain['only']}) and ({named})" if plain.get("only") else named
        notes.append("examples are now a query, only")
    if isinstance(plain.get("between"), list):
        plain["between"] = _between(plain)
        notes.append("between has the two motions now, and seconds instead of frames")
    return notes


def _list(plain: dict[str, Any], kind: str, notes: list[str]) -> list[Any]:
    goals = plain.get(kind)
    if not isinstance(goals, list):
        return []
    del plain[kind]
    notes.append(f"{kind} are now in goals")
    return goals


def _goal(kind: str, old: Any) -> Any:
    if not isinstance(old, dict):
        return old
    goal = dict(old)
    if "stop_s" in goal:
        goal["end_s"] = goal.pop("stop_s")
    if kind == "poses":
        goal["pose"] = {name: goal.pop(name) for name in _SOURCE if name in goal}
        if "in_place" in goal:
            goal["as_recorded"] = goal.pop("in_place")
    if kind in ("poses", "body") and "position" in goal:
        goal["place"] = goal.pop("position")
    if kind == "contacts":
        part = goal.pop("part", "all")
        if part != "all":
            goal["parts"] = [part]
    return goal


def _between(plain: dict[str, Any]) -> dict[str, Any]:
    """Frames of the model's rate as seconds: the gap counts from the one motion's last frame to the other's first."""
    rate = plain.get("advanced", {}).get("model", {}).get("rate_hz", 30)
    between: dict[str, Any] = {"motions": plain["between"]}
    if "frames" in plain:
        between["duration_s"] = (plain.pop("frames") + 1) / rate
    for old, new in (("past", "before_s"), ("future", "after_s")):
        between[new] = (plain.pop(old, 10) - 1) / rate
    if "in_place" in plain:
        between["as_recorded"] = plain.pop("in_place")
    if "joined" in plain:
        between["joined"] = plain.pop("joined")
    return between
