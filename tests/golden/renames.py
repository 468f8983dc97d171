"""What is called otherwise since the answers were recorded: the one place to change where words change.

Nothing but words goes here. A number that changes is recorded again, by `python -m tests.golden.cases`, in a commit
that says why.
"""

from __future__ import annotations

import re

PROBLEM = {name: name for name in ("where", "asked", "got", "nearest", "unit", "place")}
"""Fields of problems in `as_json`: recorded name → today's."""
VERBS: dict[str, str] = {}
"""Names of verbs: recorded → today's."""
METRICS: dict[tuple[str, str], str] = {("solve", "functions[0]"): "goals[1]"}
"""Keys of metrics: (verb, or "" for all; recorded key) → today's."""
UNITS: dict[str, str] = {}
"""Units: recorded → today's."""
DETAILS: dict[tuple[str, str], str] = {}
"""Names of what only one verb knows: (verb, or "" for all; recorded name) → today's; "" for what is no longer there."""
WHERE: tuple[tuple[str, str, str], ...] = (
    ("plan", r"((?:obstacles|gaps|stones|keep_off|step_over)\[\d+\])", r"scene.\1"),
    ("plan", r"bars(\[\d+\])", r"scene.obstacles\1"),
    ("plan", r"through(\[\d+\])", r"goals\1"),
    ("plan", r"goal\.position", "goals[0].place"),
    ("plan", r"goal\.facing_deg", "goals[0].facing_deg"),
    ("solve", r"(.*)body\[(\d)\]\.position", r"\1goals[\2].place"),
    ("solve", r"(.*)body\[(\d)\]\.facing_deg", r"\1goals[\2].facing_deg"),
    ("solve", r"body", "goals"),
    ("solve", r"(.*)joints\[0\](.*)", r"\1goals[0]\2"),
    ("solve", r"joints\[1\](.*)", r"goals[2]\1"),
    ("solve", r"poses\[0\]", "goals[0]"),
    ("solve", r"labels\[0\]", "goals[1]"),
    ("solve", r"frames\[0\]", "goals[0]"),
    ("solve", r"frames\[1\](.*)lasts_s", r"goals[1]\1duration_s"),
    ("solve", r"(obstacles\[\d\])", r"scene.\1"),
    ("solve", "max_cut_cost", "advanced.max_cut_cost"),
    ("complete", r"poses(\[\d+\])?", r"goals\1"),
    ("retime", "seconds", "duration_s"),
    ("retime", r"warp\.(.*)", r"advanced.\1"),
    ("retime", "blend", "spline_share"),
    ("physics", r"limits\.(.*)", r"advanced.limits.\1"),
    ("physics", "examples", "like"),
    ("steer", r"goals\[0\]\.speed", "goals[1].speed_m_s"),
    ("steer", r"goals\[0\]\.torso", "goals[1].torso_deg"),
    ("steer", r"goals\[0\]\.spin_deg_s", "goals[1].turn_deg_s"),
    ("steer", r"goals\[1\]\.spin_deg_s", "goals[3].turn_deg_s"),
    ("steer", r"(goals\[\d+\])\.heading", r"\1.heading_deg"),
    ("steer", r"(goals\[\d+\])", r"\1.place"),
    ("steer", r"moving(\[\d+\])", r"scene.obstacles\1"),
    ("steer", r"path\..*", "path"),
    ("steer", r"\w+\.(curvature|rate)", ""),
    ("perform", r"constraints(\[\d+\])", r"goals\1"),
    ("perform", "examples", "only"),
    ("face", r"points\[(\d+)\]", r"goals[\1]"),
    ("follow", r"stretches(\[\d+\].*)", r"goals\1"),
)
"""Places in requests: verb, or "" for all; pattern of the whole recorded place; today's. Every row is applied in turn,
such as ("solve", r"body\\[(\\d+)\\]\\.position", r"goals[\\1].place")."""
KERNELS: dict[str, str] = {}
"""Arrays that kernels are given, as `kernels.json` names them: recorded → today's."""


def metric(verb: str, key: str) -> str:
    """Today's key of a metric."""
    return METRICS.get((verb, key), METRICS.get(("", key), key))


def detail(verb: str, name: str) -> str:
    """Today's name of a detail."""
    return DETAILS.get((verb, name), DETAILS.get(("", name), name))


def where(verb: str, place: str) -> str:
    """Today's name of a place in a request."""
    for owner, pattern, today in WHERE:
        if owner in ("", verb) and (found := re.fullmatch(pattern, place)):
            place = found.expand(today)
    return place
