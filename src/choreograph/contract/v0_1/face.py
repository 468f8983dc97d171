"""Face."""

from __future__ import annotations

from typing import Any

RENAMED = {"length_s": "duration_s", "order": "advanced.order", "controls": "advanced.controls"}


def convert(plain: dict[str, Any]) -> list[str]:
    """Join keys and points in the list of goals."""
    notes = []
    for name, change in (("keys", _expression), ("points", _landmark)):
        if isinstance(plain.get(name), list):
            plain["goals"] = [*plain.get("goals", ()), *(change(one) for one in plain.pop(name))]
            notes.append(f"{name} are now goals")
    return notes


def _expression(key: Any) -> Any:
    """A key as a goal of shapes, or of a frame of a recording."""
    if not isinstance(key, dict):
        return key
    rest = {name: value for name, value in key.items() if name not in ("clip", "frame", "weights")}
    if key.get("clip") is None:
        return {**rest, "shapes": key.get("weights", {})}
    return {**rest, "pose": {name: key[name] for name in ("clip", "frame") if name in key}}


def _landmark(point: Any) -> Any:
    """A point as a goal of a landmark."""
    renamed = {"stop_s": "end_s", "position": "position_mm", "track": "points_mm"}
    return {renamed.get(name, name): value for name, value in point.items()} if isinstance(point, dict) else point
