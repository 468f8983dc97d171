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

RENAMED = {
    "start_clip": "start.clip",
    "start_frame": "start.frame",
    "start_heading_deg": "start.facing_deg",
    "before": "after.request",
    "before_answer": "after.answer",
    "stretches[].stop_m": "stretches[].end_m",
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
    """Drop which answer a walk goes on from where it goes on from none."""
    after = plain.get("after")
    if isinstance(after, dict) and "request" not in after:
        del plain["after"]
    return []
