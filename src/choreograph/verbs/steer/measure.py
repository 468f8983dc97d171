"""What a finished motion misses of its goals."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from choreograph.base.arrays import Flags, Floats
from choreograph.contract.problem import Problem, ProblemKind, amount, moment
from choreograph.goals.tolerance import TOLERANCE
from choreograph.motion.bend import Way, way_of
from choreograph.motion.clip import Clip
from choreograph.verbs.steer.goals import Line, SteerGoal, obstacle_at
from choreograph.verbs.steer.navigate import NEAR_M
from choreograph.verbs.steer.steps import RUN_M_S, STAND_M_S

SETTLE_S = 4.0
"""Time that a character has to come to a new line, speed or gait before what it misses counts."""
_SPIN_DEG_S = 5.0
"""Difference in turning that does not count, degrees per second."""
_THERE_M = 0.2
"""Distance below which the character counts as having reached the line, metres."""
_DRIFT_M = 1.0
"""Largest distance from the place to turn at: the step or two that turning takes."""


class GoalSpan(NamedTuple):
    """A goal and the frames in which it holds."""

    goal: SteerGoal
    fields: Mapping[str, str]
    """The request's fields by parts of the goal."""
    start: int
    stop: int
    line: tuple[float, float, float]
    """Heading, x and z of the line as the character took it."""

    def field(self, part: str) -> str:
        """The request's field that a part of the goal is from."""
        return next((self.fields[name] for name in (part, "line", "heading") if name in self.fields), "")


def offsets(clip: Clip, way: Way, span: GoalSpan) -> tuple[Floats, Floats]:
    """How far the way is from the line in each of the span's frames, metres, and the angle of travel against it."""
    heading, x, z = span.line
    goal = span.goal if span.goal.path is not None else SteerGoal(x, z, heading)
    line = Line(goal)
    at = range(span.start, span.stop)
    states = np.array([line.state(np.array([way.heading[f], *way.places[f]])) for f in at]).reshape(-1, 3)
    return states[:, 0], states[:, 1]


def find_problems(clip: Clip, spans: Sequence[GoalSpan], tracks: Mapping[str, Floats]) -> Iterator[Problem]:
    """What the motion misses of its goals, and the obstacles that it runs into."""
    way, facing = way_of(clip), np.unwrap(clip.facing())
    settle = round(SETTLE_S * clip.fps)
    for span in spans:
        low, high = span.start + settle, span.stop
        if high - low < clip.fps / 2:
            continue
        settled = slice(low, high)
        yield from _line_problems(clip, way, span, settle)
        seconds = (high - low) / clip.fps
        goal, facts = span.goal, {**moment(clip, (low + high) // 2), "span": f"from {low / clip.fps:.1f} s on"}
        if goal.speed is not None:
            got = float(way.length[high - 1] - way.length[low]) / max(seconds - 1 / clip.fps, 1e-9)
            most = TOLERANCE["velocity"].limit(goal.speed)
            if abs(got - goal.speed) > most:
                facts |= {"asked": goal.speed, "got": got, "tolerance": most, "unit": "m/s"}
                yield Problem.of(ProblemKind.SPEED_MISSED, span.field("speed"), **facts)
        if goal.label is not None:
            share, need = float(_has_label(clip, way, goal.label)[settled].mean()), 1 - TOLERANCE["label"].most
            if share < need:
                facts |= {"asked": 1.0, "got": share, "tolerance": 1 - need, "unit": ""}
                where = span.field("label")
                yield Problem.of(ProblemKind.LABEL_MISSED, where, label=goal.label, share=share, need=need, **facts)
        if goal.torso is not None:
            off = math.degrees(_mean_angle(facing[settled] - way.heading[settled] - goal.torso))
            if abs(off) > (most := TOLERANCE["facing"].most):
                torso = math.degrees(goal.torso)
                facts |= {"asked": torso, "got": torso + off, "tolerance": most, "unit": "°"}
                where = span.field("torso")
                yield Problem.of(ProblemKind.FACING_MISSED, where, what="The torso", off=abs(off), **facts)
        if goal.turn is not None:
            rate, got = math.degrees(goal.turn), math.degrees(float(facing[high - 1] - facing[low]) / seconds)
            most = max(TOLERANCE["turn_rate"].share * abs(rate), _SPIN_DEG_S)
            if abs(got - rate) > most:
                facts |= {"asked": rate, "got": got, "tolerance": most, "unit": "°/s"}
                yield Problem.of(ProblemKind.TURN_RATE_MISSED, span.field("turn"), **facts)
            yield from _drift_problems(clip, span._replace(start=low))
    yield from _collisions(clip, tracks)


def _line_problems(clip: Clip, way: Way, span: GoalSpan, settle: int) -> Iterator[Problem]:
    goal = span.goal
    if goal.turn is not None or (goal.heading is None and goal.path is None) or goal.speed == 0:
        return
    whole, angle = offsets(clip, way, span)
    offset, angle, low = whole[settle:], angle[settle:], span.start + settle
    facts = {**moment(clip, (low + span.stop) // 2), "asked": 0.0}
    mean, since = float(np.abs(offset).mean()), f"from {low / clip.fps:.1f} s on"
    if mean > (most := TOLERANCE["path_mean"].most):
        error = f"{amount(mean, 'm')} on average, {amount(float(np.abs(offset).max()), 'm')} at most, {since}"
        yield Problem.of(
            ProblemKind.PATH_MISSED, span.field("line"), error=error, limit=f"{amount(most, 'm')} on average", got=mean,
            tolerance=most, unit="m", metric="line_mean", more=_far_away(np.abs(whole), clip.fps), **facts,
        )  # fmt: skip
    off = math.degrees(_mean_angle(angle))
    if abs(off) > (most := TOLERANCE["facing"].most):
        facts |= {"got": off, "tolerance": most, "unit": "°", "span": since, "what": "The character", "off": abs(off)}
        yield Problem.of(ProblemKind.HEADING_MISSED, span.field("heading"), **facts)


def _far_away(away: Floats, fps: float) -> str:
    """A sentence on a line that was far away when it was given, by how far it was in each frame."""
    if away.max() <= NEAR_M:
        return ""
    far = np.flatnonzero(away > _THERE_M)
    reached = f"reached after {(far[-1] + 1) / fps:.1f} s" if far[-1] + 1 < len(away) else "not reached yet"
    return f"The line was up to {away.max():.1f} m away, {reached}."


def _drift_problems(clip: Clip, span: GoalSpan) -> Iterator[Problem]:
    """A character that turns on the spot stays there."""
    _, x, z = span.line
    away = np.hypot(*(clip.root_pos[span.start : span.stop, [0, 2]] - (x, z)).T) - span.goal.circle_m
    worst = float(away.max())
    if worst > _DRIFT_M:
        facts = {"asked": 0.0, "got": worst, "tolerance": _DRIFT_M, "unit": "m"}
        at = span.start + int(away.argmax())
        yield Problem.of(ProblemKind.OFF_SPOT, span.field("turn"), **facts, **moment(clip, at))


def _collisions(clip: Clip, tracks: Mapping[str, Floats]) -> Iterator[Problem]:
    for name, track in tracks.items():
        gap = clearances(clip, track)
        worst = int(gap.argmin())
        if gap[worst] < 0:
            where = name if name.startswith("scene.obstacles[") else "scene.obstacles"
            facts = {"asked": 0.0, "got": float(gap[worst]), "unit": "m", **moment(clip, worst)}
            how = f"{amount(-float(gap[worst]), 'm')} inside"
            yield Problem.of(ProblemKind.COLLISION, where, what="The character", how=how, item=name, **facts)


def clearances(clip: Clip, track: Floats) -> Floats:
    """How far the root is from an obstacle's rim in each frame, (F,), metres; below 0 within it, infinite while it is
    not there."""
    gap = np.empty(len(clip))
    for f, (x, _, z) in enumerate(clip.root_pos):
        one = obstacle_at(track, f / clip.fps)
        gap[f] = np.inf if one is None else math.hypot(x - one.x, z - one.z) - one.radius
    return gap


def _has_label(clip: Clip, way: Way, wanted: str) -> Flags:
    from choreograph.motion.labels import matches_label

    mask = np.zeros(len(clip), bool)
    for label in clip.labels:
        if matches_label(wanted, label.text):
            mask[label.start : label.stop] = True
    bands = {"stand": (-1.0, STAND_M_S), "walk": (STAND_M_S, RUN_M_S), "run": (RUN_M_S, np.inf)}
    if wanted in bands:
        low, high = bands[wanted]
        mask |= (way.speed > low) & (way.speed <= high)
    return mask


def _mean_angle(angle: Floats) -> float:
    return float(np.angle(np.exp(1j * angle).mean()))
