"""Requests of `perform` of version 0.1; `segment` and `evaluate` have the same options."""

from __future__ import annotations

from typing import Any

_ADVANCED = ("alike_m", "stretch_s", "continuity_s", "search_rate_hz", "beam_m2_s")

RENAMED = {
    "cut": "cut_to_shorter",
    "control": "lead_joints",
    "constraints": "goals",
    "constraints[].time_s": "constraints[].at_s",
    **{name: f"advanced.{name}" for name in _ADVANCED},
}
OPTIONS = {
    "--cut": "--cut-to-shorter",
    "--no-cut": "--no-cut-to-shorter",
    "--control": "--lead-joints",
    "--example": "--only name:",
    "--alike": "--advanced alike_m",
    "--stretch": "--advanced stretch_s",
    "--continuity": "--advanced continuity_s",
    "--search-rate": "--advanced search_rate_hz",
    "--beam": "--advanced beam_m2_s",
}


def convert(plain: dict[str, Any]) -> list[str]:
    """Put the names of examples into a query."""
    examples = plain.pop("examples", None)
    if not examples:
        return []
    named = " or ".join(f'name:"{name}"' for name in examples)
    plain["only"] = f"({plain['only']}) and ({named})" if plain.get("only") else named
    return ["examples are now a query, only"]
