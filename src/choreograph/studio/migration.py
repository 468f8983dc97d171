"""Projects of earlier versions, brought to the present one when they are opened; nothing is written until a change is.

Format 1 had types of its own for what is asked of follow, solve and perform, angles in radians, and errors of results
in centimetres under fixed names.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from choreograph.base.errors import RequestError
from choreograph.contract.migrate import is_current, marked, migrate
from choreograph.contract.problem import ProblemKind
from choreograph.contract.result import Metric
from choreograph.formats.atomic import atomic_write
from choreograph.studio.project_paths import ProjectPaths

Plain = dict[str, Any]

FORMAT = 3
"""Of project.json: 1 had a type of its own for what is asked of each verb, 2 requests in the words of version 0.1."""

_METRICS = {
    "seconds": ("seconds", 1.0, "s", "lasts"),
    "mean_cm": ("path_mean", 0.01, "m", "off the path on average"),
    "worst_cm": ("path_worst", 0.01, "m", "at most"),
    "end_cm": ("end", 0.01, "m", "from its end"),
    "transitions_per_s": ("transitions_per_s", 1.0, "1/s", "transitions"),
    "slide_cm_s": ("foot_slide", 0.01, "m/s", "standing feet slide at"),
    "fit_cm": ("fit", 0.01, "m", "between controls"),
    "partner_cm": ("partner", 0.01, "m", "hands and feet from the partner's"),
    "partner_root_cm": ("partner_root", 0.01, "m", "root from the partner's"),
}
"""What format 1 called a figure: the metric, its scale, its unit and what it measures."""


def migrate_project(plain: Plain, places: ProjectPaths) -> Plain:
    """Return a project file of an earlier format as one of today's, one format after another."""
    for number, change in enumerate((_to_requests, _to_todays_words), 2):
        if plain["format"] < number:
            lag_s = plain["document"].get("perform", {}).get("lag_s", 1.5)
            plain = {
                **plain,
                "format": number,
                "view": {**plain["view"], **({"lag_s": lag_s} if number == 2 else {})},
                "document": change(plain["document"], places.keep / "results"),
                **{
                    history: [
                        [label, json.dumps(change(json.loads(text), places.keep / "results"))]
                        for label, text in plain[history]
                    ]
                    for history in ("undo", "redo")
                },
            }
    return plain


def _kind(problem: Plain) -> str:
    """The kind of a problem that was written before problems had one."""
    if problem.get("where") == "count":
        return ProblemKind.FEWER_ANSWERS
    kinds = {"m/s": ProblemKind.SPEED_MISSED, "°": ProblemKind.FACING_MISSED, "s": ProblemKind.PAUSE_SHORT}
    return kinds.get(problem.get("unit", ""), ProblemKind.POSITION_MISSED)


def migrate_result(plain: Plain, path: Path) -> Plain:
    """Return what is known of a result of an earlier format as of today's; `path` is its file."""
    if is_current(plain):
        return {name: value for name, value in plain.items() if name != "format"}
    plain = _result_of_figures(plain, path) if "figures" in plain else plain
    plain = {**plain, "problems": [{"kind": _kind(one), **one} for one in plain.get("problems", ())]}
    return {**plain, "request": migrate(plain["verb"], plain["request"])[0]}


def migrate_files(places: ProjectPaths, *, check: bool = False) -> list[str]:
    """Write a project and its results in today's form; the names of the files that were not.

    Args:
        places: Of the project, which no studio has open.
        check: Whether to write nothing.
    """
    files: list[tuple[Path, Plain]] = []
    with closing(places.claim()):
        try:
            project = json.loads(places.project.read_text("utf-8"))
            if project["format"] < FORMAT:
                files.append((places.project, migrate_project(project, places)))
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise RequestError(f"{places.project} cannot be read ({type(error).__name__})") from None
        for path in sorted((places.keep / "results").glob("*.json")):
            with suppress(OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
                plain = json.loads(path.read_bytes())
                if "." not in path.stem and not is_current(plain):
                    files.append((path, marked(migrate_result(plain, path))))
        for path, plain in () if check else files:
            with atomic_write(path, overwrite=True) as temporary:
                temporary.write_text(json.dumps(plain, ensure_ascii=False), encoding="utf-8")
    return [path.name for path, _ in files]


def _to_todays_words(document: Plain, results: Path) -> Plain:
    requests = document.get("requests", {})
    return {**document, "requests": {verb: migrate(verb, draft)[0] for verb, draft in requests.items()}}


def _result_of_figures(plain: Plain, path: Path) -> Plain:
    figures = plain["figures"]
    ask = plain["request"]
    with suppress(KeyError, TypeError, ValueError):  # what was asked may be told no more; the motion is there
        asks = {"follow": lambda: _follow(ask, path.parent), "solve": lambda: _solve(ask)}
        asks["perform"] = lambda: _perform(ask, {})
        plain = {**plain, "request": asks.get(plain["verb"], lambda: ask)()}
    fields = ("id", "verb", "name", "created", "request", "motions", "path", "kept", "command", "python")
    return {
        **{name: plain[name] for name in fields if name in plain},
        "metrics": {
            name: _metric(float(figures[old]) * scale, unit, text)
            for old, (name, scale, unit, text) in _METRICS.items()
            if figures.get(old) is not None
        },
        "problems": [
            {"text": one["text"], "where": one.get("where") or "", "place": one.get("place")}
            for one in plain.get("problems", [])
        ],
        "status": figures.get("status", "complete"),
        "cost": figures.get("cost"),
        "proved": bool(figures.get("proved")),
        "search_s": figures.get("search_ms", 0.0) / 1000,
        "total_s": figures.get("total_ms", 0.0) / 1000,
        "details": {
            name: plain[name] for name in ("pieces", "holds") if plain.get(name)
        },
    }  # fmt: skip


def _metric(value: float, unit: str, text: str) -> Plain:
    return {"value": value, "unit": unit, "text": text, "said": Metric(value, unit, text).said}


def _to_requests(old: Plain, results: Path) -> Plain:
    names = {entry["id"]: entry["name"] for entry in old.get("clips", [])}
    requests = {
        "follow": _follow(old.get("follow", {}), results),
        "solve": _solve(old.get("solve", {})),
        "perform": _perform(old.get("perform", {}), names),
    }
    rest = {name: value for name, value in old.items() if name not in requests}
    return {**rest, "requests": {verb: request for verb, request in requests.items() if request}}


def _rest(plain: Mapping[str, Any], usual: Mapping[str, Any]) -> Plain:
    """What is not as usual."""
    return {name: value for name, value in plain.items() if value is not None and value != usual.get(name)}


def _follow(old: Plain, results: Path) -> Plain:
    facing = old.get("final_facing")
    request = _rest(
        {
            "points": old.get("points", []),
            "smooth_m": old.get("smooth_m", 0.3),
            "rounded_m": old.get("rounded_m"),
            "facing_deg": None if facing is None else math.degrees(facing),
            "stretches": [
                _rest({"start_m": s["start"], "stop_m": s["stop"], "speed_m_s": s.get("speed"), "label": s.get("label"),
                       "pause_s": s.get("pause")}, {})
                for s in old.get("stretches", [])
            ],
            "prefer": {name: margin for name, margin in old.get("margins", {}).items() if margin},
            "start_clip": old.get("start_clip"),
            "start_frame": old.get("start_frame"),
            "count": old.get("count"),
            "seed": old.get("seed"),
            "finish": _rest(
                {"blend": old.get("blend"), "preset": old.get("preset"), "clean": old.get("clean")},
                {"blend": "cubic", "preset": "even", "clean": True},
            ),
        },
        {"points": [], "rounded_m": 0, "stretches": [], "prefer": {}, "count": 1, "seed": 0, "finish": {}},
    )  # fmt: skip
    if old.get("continue_from"):
        with suppress(OSError, ValueError, KeyError, TypeError):  # a walk that is gone is walked on from no more
            request |= _walked(results / f"{old['continue_from']}.legs.json")
    return request


def _walked(file: Path) -> Plain:
    """The walk that format 1 went on from, leg by leg, as the request that this one goes on from."""
    before: Plain = {}
    for leg in json.loads(file.read_text("utf-8")):
        request = _follow({**leg["ask"], "continue_from": None}, file.parent)
        before = {"before": {**request, **before}, **({"before_answer": leg["number"]} if leg["number"] > 1 else {})}
    return before


def _solve(old: Plain) -> Plain:
    lists = {}
    for name in ("body", "joints", "poses", "frames", "labels", "obstacles"):
        usual = {"weight": 1.0, "clearance": 0.3, "lasts_s": 0.0}
        free = [None, None, None]
        entries = [
            {key: value for key, value in _rest(entry, usual).items() if value != free} for entry in old.get(name, [])
        ]
        lists[name] = entries or None
    usual = {"min_piece_s": 0.33, "count": 4, "seconds": 3.0, "seed": 0}
    numbers = {name: old.get(name) for name in ("min_piece_s", "count", "seconds", "seed")}
    changes = _rest({**lists, **numbers}, usual)
    return {"length_s": old.get("length_s", 8.0), **changes} if changes or "length_s" in old else {}


def _perform(old: Plain, names: Mapping[str, str]) -> Plain:
    """`names` are the clips' by their ids."""
    body = old.get("lead") == "body"
    pairs, examples = old.get("pairs"), old.get("examples")
    request = {
        "samples": None if body else old.get("samples") or None,
        "leader": names.get(old.get("leader") or "") if body else None,
        "examples": None if body or examples is None else [names[clip] for clip in examples if clip in names] or None,
        "pairs": [[names[a], names[b]] for a, b in pairs or [] if a in names and b in names] or None,
        "finish": None if old.get("clean", True) else {"clean": False},
        **{name: old.get(name) for name in ("smooth_s", "cut", "stretch_s", "continuity_s", "beam_m2_s")},
    }
    return _rest(request, {"smooth_s": 0.2, "cut": False})
