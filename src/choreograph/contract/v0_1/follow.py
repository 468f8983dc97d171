"""What was called otherwise in version 0.1: following."""

from __future__ import annotations

from typing import Any

_WEIGHTS = {
    "heuristic_weight": "heuristic", "metre_cost": "metre", "transition_cost": "transition", "fault_cost": "fault",
    "rough_cost": "rough", "speed_weight": "speed", "label_weight": "label", "idle_weight": "idle",
    "end_weight_s": "end_s", "facing_weight": "facing", "bend_cost": "bend", "style_change_cost": "style_change",
    "end_pose_cost": "end_pose", "reuse_penalty": "reuse",
}  # fmt: skip
_SETTINGS = (
    "method", "horizon_s", "retain_s", "beam_width", "continuation_s", "forced_progress_m_s", "starts",
    "max_lateral_m_s2", "max_stretch",
)  # fmt: skip

_ASKED = ("label", "speed_m_s", "pause_s")

RENAMED = {
    "start_clip": "start.clip",
    "start_frame": "start.frame",
    "start_heading_deg": "start.facing_deg",
    "before": "after.request",
    "before_answer": "after.answer",
    "search.max_seconds": "time_limit_s",
    "search.budget_frames": "work_limit",
    "search.bend": "bend",
    **{f"search.{old}": f"advanced.weights.{new}" for old, new in _WEIGHTS.items()},
    **{f"search.{name}": f"advanced.{name}" for name in _SETTINGS},
}
INSIDE = {"after.request": "follow"}
OPTIONS = {
    "--start-heading": "--start-facing",
    "--max-seconds": "--time-limit",
    "--budget": "--work-limit",
    "--beam": "--advanced beam_width",
    "--gamma": "--advanced forced_progress_m_s",
    "--end-weight": "--advanced weights.end_s",
    "--max-lateral-m-s2": "--advanced max_lateral_m_s2",
    **{f"--{old.replace('_', '-')}": f"--advanced weights.{new}" for old, new in _WEIGHTS.items() if new != "end_s"},
    **{f"--{name}": f"--advanced {name}{unit}" for name, unit in (("method", ""), ("horizon", "_s"), ("retain", "_s"))},
    **{"--continuation": "--advanced continuation_s", "--starts": "--advanced starts"},
    "--max-stretch": "--advanced max_stretch",
}


def convert(plain: dict[str, Any]) -> list[str]:
    """Make goals of stretches, one for each thing they ask for; drop which answer a walk goes on from if from none."""
    after = plain.get("after")
    if isinstance(after, dict) and "request" not in after:
        del plain["after"]
    stretches = plain.pop("stretches", None)
    if not isinstance(stretches, list | tuple):
        return []
    goals = [goal for stretch in stretches for goal in _goals(stretch)]
    if goals:
        plain["goals"] = [*plain.get("goals", ()), *goals]
    return ["stretches are now in goals"]


def _goals(stretch: Any) -> list[Any]:
    if not isinstance(stretch, dict):
        return [stretch]
    where = {name: value for name, value in stretch.items() if name not in _ASKED and value is not None}
    if "stop_m" in where and "end_m" not in where:
        where["end_m"] = where.pop("stop_m")
    if where.get("end_m") in (None, where.get("start_m")) and "start_m" in where:
        where = {"at_m": where.pop("start_m")} | {n: value for n, value in where.items() if n != "end_m"}
    return [{**where, name: stretch[name]} for name in _ASKED if stretch.get(name) is not None] or [where]
