"""Retime."""

from typing import Any

RENAMED = {
    "seconds": "duration_s",
    "blend": "spline_share",
    "rate_hz": "finish.rate_hz",
    "warp.replant": "finish.clean",
    "warp.repair": "finish.repair",
    "warp.pace_weight": "advanced.weights.pace",
    "warp.change_weight": "advanced.weights.change",
    "warp": "advanced",
}
OPTIONS = {
    "--seconds": "--duration",
    "--like-from": "--like",
    "--blend": "--spline-share",
    "--replant": "--clean",
    "--no-replant": "--no-clean",
    **{
        f"--{option}": f"--advanced {field}"
        for option, field in {
            "program": "program_hz",
            "samples-per-step": "samples_per_step",
            "neighbours": "neighbours",
            "largest-rate": "largest_rate",
            "smallest-rate": "smallest_rate",
            "pace-weight": "weights.pace",
            "change-weight": "weights.change",
            "still-speed": "still_m_s",
            "still-seconds": "still_s",
            "still-rate": "still_rate",
            "band": "band_s",
            "reference": "reference_hz",
            "direction": "direction",
            "smoothing": "smoothing",
            "uniform": "uniform_s",
        }.items()
    },
}


def convert(plain: dict[str, Any]) -> list[str]:
    """Blend and rate were said twice; those of the request counted. A folder to choose from is one more to be like."""
    advanced = plain.get("advanced")
    if isinstance(advanced, dict):
        for name in ("blend", "fps"):
            advanced.pop(name, None)
    if "like_from" not in plain:
        return []
    source = plain.pop("like_from")
    if source:
        plain["like"] = [source]
    return ["like_from is now like"]
