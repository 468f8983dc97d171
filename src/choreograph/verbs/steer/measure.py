"""What a steered motion does of what was asked, measured on the finished motion."""

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
"""How far one may come from where one turns: the step or two that turning takes."""


class Stage(NamedTuple):
    """A goal and the frames in which it holds."""

    goal: SteerGoal
    where: str
    start: int
    stop: int
    line: tuple[float, float, float]
    """Heading, x and z of the line as the character took it."""

    def field(self, name: str = "") -> str:
        """The request's field that a number of the goal is from."""
        if not self.where.startswith("goals["):
            return self.where.partition(",")[0]
        return f"{self.where}.{name}" if name else self.where


def offsets(clip: Clip, way: Way, stage: Stage) -> tuple[Floats, Floats]:
    """How far the way is from the line in each of the stage's frames, metres, and the angle of travel against it."""
    heading, x, z = stage.line
    goal = stage.goal if stage.goal.path is not None else SteerGoal(x, z, heading)
    line = Line(goal)
    at = range(stage.start, stage.stop)
    states = np.array([line.state(np.array([way.heading[f], *way.places[f]])) for f in at]).reshape(-1, 3)
    return states[:, 0], states[:, 1]


def find_problems(clip: Clip, stages: Sequence[Stage], tracks: Mapping[str, Floats]) -> Iterator[Problem]:
    """What the goals ask for and the motion does not do."""
    way, facing = way_of(clip), np.unwrap(clip.facing())
    settle = round(SETTLE_S * clip.fps)
    for stage in stages:
        low, high = stage.start + settle, stage.stop
        if high - low < clip.fps / 2:
            continue
        settled = slice(low, high)
        yield from _line_problems(clip, way, stage, settle)
        seconds = (high - low) / clip.fps
        goal, facts = stage.goal, {**moment(clip, (low + high) // 2), "span": f"from {low / clip.fps:.1f} s on"}
        if goal.speed is not None:
            got = float(way.length[high - 1] - way.length[low]) / max(seconds - 1 / clip.fps, 1e-9)
            most = TOLERANCE["velocity"].limit(goal.speed)
            if abs(got - goal.speed) > most:
                facts |= {"asked": goal.speed, "got": got, "tolerance": most, "unit": "m/s"}
                yield Problem.of(ProblemKind.SPEED_MISSED, stage.field("speed_m_s"), **facts)
        if goal.gait is not None:
            share, need = float(_is_gait(clip, way, goal.gait)[settled].mean()), 1 - TOLERANCE["label"].most
            if share < need:
                facts |= {"asked": 1.0, "got": share, "tolerance": 1 - need, "unit": ""}
                where = stage.field("gait")
                yield Problem.of(ProblemKind.LABEL_MISSED, where, label=goal.gait, share=share, need=need, **facts)
        if goal.torso is not None:
            off = math.degrees(_mean_angle(facing[settled] - way.heading[settled] - goal.torso))
            if abs(off) > (most := TOLERANCE["facing"].most):
                asked = math.degrees(goal.torso)
                facts |= {"asked": asked, "got": asked + off, "tolerance": most, "unit": "°"}
                where = stage.field("torso_deg")
                yield Problem.of(ProblemKind.FACING_MISSED, where, what="The torso", off=abs(off), **facts)
        if goal.spin is not None:
            asked, got = math.degrees(goal.spin), math.degrees(float(facing[high - 1] - facing[low]) / seconds)
            most = max(TOLERANCE["turn_rate"].share * abs(asked), _SPIN_DEG_S)
            if abs(got - asked) > most:
                facts |= {"asked": asked, "got": got, "tolerance": most, "unit": "°/s"}
                yield Problem.of(ProblemKind.TURN_RATE_MISSED, stage.field("spin_deg_s"), **facts)
            yield from _drift_problems(clip, stage._replace(start=low))
    yield from _collisions(clip, tracks)


def _line_problems(clip: Clip, way: Way, stage: Stage, settle: int) -> Iterator[Problem]:
    goal = stage.goal
    if goal.spin is not None or (goal.heading is None and goal.path is None) or goal.speed == 0:
        return
    whole, angle = offsets(clip, way, stage)
    offset, angle, low = whole[settle:], angle[settle:], stage.start + settle
    facts = {**moment(clip, (low + stage.stop) // 2), "asked": 0.0}
    mean, since = float(np.abs(offset).mean()), f"from {low / clip.fps:.1f} s on"
    if mean > (most := TOLERANCE["path_mean"].most):
        error = f"{amount(mean, 'm')} on average, {amount(float(np.abs(offset).max()), 'm')} at most, {since}"
        yield Problem.of(
            ProblemKind.PATH_MISSED, stage.field(), error=error, limit=f"{amount(most, 'm')} on average", got=mean,
            tolerance=most, unit="m", metric="line_mean", more=_far_away(np.abs(whole), clip.fps), **facts,
        )  # fmt: skip
    off = math.degrees(_mean_angle(angle))
    if abs(off) > (most := TOLERANCE["facing"].most):
        facts |= {"got": off, "tolerance": most, "unit": "°", "span": since, "what": "The character", "off": abs(off)}
        yield Problem.of(ProblemKind.HEADING_MISSED, stage.field("heading_deg"), **facts)


def _far_away(away: Floats, fps: float) -> str:
    """A sentence on a line that was far away when it was given, by how far it was in each frame."""
    if away.max() <= NEAR_M:
        return ""
    far = np.flatnonzero(away > _THERE_M)
    reached = f"reached after {(far[-1] + 1) / fps:.1f} s" if far[-1] + 1 < len(away) else "not reached yet"
    return f"The line was up to {away.max():.1f} m away, {reached}."


def _drift_problems(clip: Clip, stage: Stage) -> Iterator[Problem]:
    """Whoever turns stays where he is to turn."""
    _, x, z = stage.line
    away = np.hypot(*(clip.root_pos[stage.start : stage.stop, [0, 2]] - (x, z)).T) - stage.goal.circle_m
    worst = float(away.max())
    if worst > _DRIFT_M:
        facts = {"asked": 0.0, "got": worst, "tolerance": _DRIFT_M, "unit": "m"}
        at = stage.start + int(away.argmax())
        yield Problem.of(ProblemKind.OFF_SPOT, stage.field("spin_deg_s"), **facts, **moment(clip, at))


def _collisions(clip: Clip, tracks: Mapping[str, Floats]) -> Iterator[Problem]:
    for name, track in tracks.items():
        gap = clearances(clip, track)
        worst = int(gap.argmin())
        if gap[worst] < 0:
            where = name if name.startswith("moving[") else "obstacles"
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


def _is_gait(clip: Clip, way: Way, gait: str) -> Flags:
    from choreograph.motion.labels import matches_label

    mask = np.zeros(len(clip), bool)
    for label in clip.labels:
        if matches_label(gait, label.text):
            mask[label.start : label.stop] = True
    bands = {"stand": (-1.0, STAND_M_S), "walk": (STAND_M_S, RUN_M_S), "run": (RUN_M_S, np.inf)}
    if gait in bands:
        low, high = bands[gait]
        mask |= (way.speed > low) & (way.speed <= high)
    return mask


def _mean_angle(angle: Floats) -> float:
    return float(np.angle(np.exp(1j * angle).mean()))
