"""The goals of a request as moments: what holds from each time on, from a list or a CSV file."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path as FilePath
from typing import Any, NamedTuple

import numpy as np

from choreograph.base.errors import FormatError, RequestError
from choreograph.contract.request import Wrong
from choreograph.goals.base import Goal
from choreograph.goals.check import check_goals
from choreograph.scene.obstacle_file import read_number, read_rows
from choreograph.scene.path import Path
from choreograph.verbs.steer.goals import SteerGoal

HEADER = ("t", "x", "z", "heading_deg", "speed")
MORE = ("gait", "torso_deg", "spin_deg_s")
_HEEDED = {
    "place": "line", "points": "line", "heading_deg": "heading", "speed_m_s": "speed", "label": "label",
    "torso_deg": "torso", "turn_deg_s": "turn",
}  # fmt: skip
"""What steering heeds of goals: by field, the part of a `SteerGoal` that it sets."""
_TIMES = ("at_s", "start_s", "end_s")


class Moment(NamedTuple):
    """What holds from a time on."""

    at_s: float
    goal: SteerGoal
    fields: Mapping[str, str] = {}
    """The request's field by the part of the goal: line, heading, speed, label, torso, turn."""


def join_goals(goals: Sequence[Goal]) -> list[Moment]:
    """Join goals into moments, in order of time.

    Goals without an interval hold until the next time that one of them has, the first also before their time. A goal
    with an interval counts before those, from its start to its end; what no goal says then is open.

    Raises:
        Wrong: If steering cannot heed a goal, or two goals contradict each other.
    """
    check_goals(goals, "steer")
    parts = [_parts(goal, f"goals[{n}]") for n, goal in enumerate(goals)]
    begin, start = defaultdict(list), defaultdict(list)
    latest = -1.0
    for n, goal in enumerate(goals):
        if goal.start_s is not None:
            start[goal.start_s].append(n)
            continue
        at = goal.at_s or 0.0
        if at < latest:
            raise Wrong(f"goals[{n}].at_s", f"is {at:g}, before {latest:g}; give goals in order of time")
        latest = at
        begin[at].append(n)
    ends = {goal.end_s for goal in goals if goal.end_s is not None}
    free = start and 0 < min(start) < min(begin, default=math.inf)
    moments = [Moment(0.0, SteerGoal())] if free else []
    lasting: list[int] = []
    during: list[int] = []
    for at in sorted({*begin, *start, *ends}):
        lasting = begin.get(at, lasting)
        during = [n for n in during if (goals[n].end_s or 0.0) > at] + start.get(at, [])
        values: dict[str, Any] = {}
        fields: dict[str, str] = {}
        for group in (lasting, during):
            own: dict[str, Any] = {}
            for n in group:
                for name, (value, where) in parts[n].items():
                    if name in own:
                        raise Wrong(where, f"is given beside {own[name]} for the same time; give one of them")
                    own[name] = where
                    values[name] = value
            fields |= own
        moments.append(Moment(at, _as_goal(values), fields))
    return moments


def _parts(goal: Goal, where: str) -> dict[str, tuple[Any, str]]:
    """What a goal sets: value and field by part."""
    for name in goal.as_document():
        if name not in _HEEDED and name not in _TIMES:
            raise Wrong(f"{where}.{name}", f"is nothing that steer heeds; a goal can have {', '.join(_HEEDED)}")
    parts = {}
    for name, part in _HEEDED.items():
        value = getattr(goal, name, None)
        if value is not None and value != ():
            value = Path(np.array(value)) if name == "points" else math.radians(value) if "_deg" in name else value
            parts[part] = value, f"{where}.{name}"
    return parts


def _as_goal(parts: Mapping[str, Any]) -> SteerGoal:
    line = parts.get("line")
    path = line if isinstance(line, Path) else None
    x, z = (None, None) if line is None or path is not None else line
    rest = {name: value for name, value in parts.items() if name != "line"}
    return SteerGoal(x, z, path=path, **rest)


def read_script(path: str | FilePath) -> list[Moment]:
    """Read the moments of a CSV file, in order.

    Its header is t,x,z,heading_deg,speed and optionally gait,torso_deg,spin_deg_s; what is blank is left open.

    Raises:
        FormatError: Names the line.
    """
    moments: list[Moment] = []
    for line, row in read_rows(path, HEADER, MORE):
        numbers = [
            read_number(row, name, path, line) if row.get(name, "").strip() else None
            for name in (*HEADER[1:], *MORE[1:])
        ]
        x, z, heading, speed, torso, turn = numbers
        t = read_number(row, "t", path, line)
        label = row.get("gait", "").strip() or None
        try:
            goal = SteerGoal(x, z, _radians(heading), speed, label, _radians(torso), _radians(turn))
        except RequestError as error:
            raise FormatError(str(error), path=path, line=line) from None
        if moments and t < moments[-1].at_s:
            raise FormatError(f"t is {t:g}, before {moments[-1].at_s:g} in the line above", path=path, line=line)
        moments.append(Moment(t, goal, dict.fromkeys(_HEEDED.values(), "goals")))
    if not moments:
        raise FormatError("there is no goal in it", path=path)
    return moments


def as_goals(moments: Sequence[tuple[float, SteerGoal]], until_s: float) -> list[dict[str, Any]]:
    """Moments as the `goals` of a request document; the last of those at one time counts.

    Args:
        moments: Times and goals, in order.
        until_s: When the last of them ends.
    """
    rows = [(at, list(_documents(goal))) for at, goal in dict(moments).items()]
    # Goals hold until others begin, and the first from the beginning: where one is open, all need an end.
    free = not all(documents for _, documents in rows)
    ends = [at for at, _ in rows[1:]] + [until_s]
    return [
        ({"start_s": at, "end_s": end} if free else {"at_s": at}) | document
        for (at, documents), end in zip(rows, ends, strict=True)
        for document in documents
    ]


def _documents(goal: SteerGoal) -> Iterator[dict[str, Any]]:
    """The goals of a request that say the same, without their time."""
    if goal.path is not None:
        yield {"points": goal.path.points.tolist()}
    elif goal.x is not None or goal.heading is not None:
        line = {} if goal.x is None else {"place": [goal.x, goal.z]}
        yield line | ({} if goal.heading is None else {"heading_deg": math.degrees(goal.heading)})
    degrees = {"torso_deg": goal.torso, "turn_deg_s": goal.turn}
    body = {name: math.degrees(value) for name, value in degrees.items() if value is not None}
    if body or goal.speed is not None:
        yield body if goal.speed is None else {"speed_m_s": goal.speed, **body}
    if goal.label is not None:
        yield {"label": goal.label}


def _radians(degrees: float | None) -> float | None:
    return None if degrees is None else math.radians(degrees)
