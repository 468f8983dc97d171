"""What a steered motion does of what was asked, measured on the finished motion."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from choreograph.base.arrays import Flags, Floats
from choreograph.contract.problem import Problem, ProblemKind
from choreograph.motion.bend import Way, way_of
from choreograph.motion.clip import Clip
from choreograph.verbs.steer.goals import Line, SteerGoal, obstacle_at
from choreograph.verbs.steer.navigate import NEAR_M
from choreograph.verbs.steer.steps import RUN_M_S, STAND_M_S

SETTLE_S = 4.0
"""Time that a character has to come to a new line, speed or gait before what it misses counts."""
_OFFSET_M, _ANGLE_RAD, _SHARE = 0.05, math.radians(5.0), 0.1
_SPEED_M_S = 0.1
_THERE_M = 0.2
"""How far off the line one is who has come to it."""
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
        goal, place = stage.goal, _place(clip, (low + high) // 2)
        if goal.speed is not None:
            got = float(way.length[high - 1] - way.length[low]) / max(seconds - 1 / clip.fps, 1e-9)
            if abs(got - goal.speed) > max(_SHARE * goal.speed, _SPEED_M_S):
                text = f"from {low / clip.fps:.1f} s on it goes at {got:.2f} m/s; {goal.speed:.2f} m/s are asked for"
                yield Problem(
                    ProblemKind.SPEED_MISSED,
                    text,
                    f"{stage.where}.speed",
                    goal.speed,
                    round(got, 3),
                    unit="m/s",
                    place=place,
                )
        if goal.gait is not None:
            share = float(_is_gait(clip, way, goal.gait)[settled].mean())
            if share < 1 - _SHARE:
                text = f"from {low / clip.fps:.1f} s on only {100 * share:.0f} % of the time is {goal.gait!r}"
                yield Problem(ProblemKind.LABEL_MISSED, text, f"{stage.where}.gait", 1.0, round(share, 3), place=place)
        if goal.torso is not None:
            off = _mean_angle(facing[settled] - way.heading[settled] - goal.torso)
            if abs(off) > _ANGLE_RAD:
                text = f"the torso is {abs(math.degrees(off)):.0f}° off its direction from {low / clip.fps:.1f} s on"
                got = math.degrees(goal.torso + off)
                asked = round(math.degrees(goal.torso), 1)
                yield Problem(
                    ProblemKind.FACING_MISSED, text, f"{stage.where}.torso", asked, round(got, 1), unit="°", place=place
                )
        if goal.spin is not None:
            got = float(facing[high - 1] - facing[low]) / seconds
            if abs(got - goal.spin) > max(_SHARE * abs(goal.spin), _ANGLE_RAD):
                asked, shown = math.degrees(goal.spin), math.degrees(got)
                text = f"it turns at {shown:.0f}°/s from {low / clip.fps:.1f} s on; {asked:.0f}°/s are asked for"
                yield Problem(
                    ProblemKind.TURN_RATE_MISSED,
                    text,
                    f"{stage.where}.spin",
                    round(asked, 1),
                    round(shown, 1),
                    unit="°/s",
                    place=place,
                )
            yield from _drift_problems(clip, stage._replace(start=low))
    yield from _collisions(clip, tracks)


def _line_problems(clip: Clip, way: Way, stage: Stage, settle: int) -> Iterator[Problem]:
    goal = stage.goal
    if goal.spin is not None or (goal.heading is None and goal.path is None) or goal.speed == 0:
        return
    whole, angle = offsets(clip, way, stage)
    offset, angle, low = whole[settle:], angle[settle:], stage.start + settle
    since, place = low / clip.fps, _place(clip, (low + stage.stop) // 2)
    mean = float(np.abs(offset).mean())
    if mean > _OFFSET_M:
        worst = 100 * float(np.abs(offset).max())
        text = f"from {since:.1f} s on it is {100 * mean:.0f} cm off the line on average, at most {worst:.0f} cm"
        text += _far_away(np.abs(whole), clip.fps)
        yield Problem(ProblemKind.PATH_MISSED, text, stage.where, 0.0, round(mean, 3), unit="m", place=place)
    off = _mean_angle(angle)
    if abs(off) > _ANGLE_RAD:
        text = f"from {since:.1f} s on it goes {abs(math.degrees(off)):.0f}° off the line's direction"
        yield Problem(
            ProblemKind.HEADING_MISSED,
            text,
            f"{stage.where}.heading",
            0.0,
            round(math.degrees(off), 1),
            unit="°",
            place=place,
        )


def _far_away(away: Floats, fps: float) -> str:
    """What to say of a line that was far away when it was asked for, by how far it was in each frame."""
    if away.max() <= NEAR_M:
        return ""
    far = np.flatnonzero(away > _THERE_M)
    came = f"it was there after {(far[-1] + 1) / fps:.1f} s" if far[-1] + 1 < len(away) else "it has not come there yet"
    return (
        f"; the line was up to {away.max():.1f} m away, {came}. Lay it nearer to where the character is, or wait longer"
    )


def _drift_problems(clip: Clip, stage: Stage) -> Iterator[Problem]:
    """Whoever turns stays where he is to turn."""
    _, x, z = stage.line
    away = np.hypot(*(clip.root_pos[stage.start : stage.stop, [0, 2]] - (x, z)).T) - stage.goal.circle_m
    worst = float(away.max())
    if worst > _DRIFT_M:
        text = f"turning, it comes {worst:.2f} m away from where it is to turn"
        at = stage.start + int(away.argmax())
        yield Problem(
            ProblemKind.OFF_SPOT, text, f"{stage.where}.spin", 0.0, round(worst, 3), unit="m", place=_place(clip, at)
        )


def _collisions(clip: Clip, tracks: Mapping[str, Floats]) -> Iterator[Problem]:
    for name, track in tracks.items():
        gap = clearances(clip, track)
        worst = int(gap.argmin())
        if gap[worst] < 0:
            text = f"at {worst / clip.fps:.1f} s it is {-100 * gap[worst]:.0f} cm within the obstacle {name}"
            yield Problem(
                ProblemKind.COLLISION,
                text,
                "obstacles",
                0.0,
                round(float(gap[worst]), 3),
                unit="m",
                place=_place(clip, worst),
            )


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


def _place(clip: Clip, frame: int) -> tuple[float, float, float]:
    x, _, z = clip.root_pos[min(frame, len(clip) - 1)]
    return round(float(x), 3), 0.0, round(float(z), 3)
