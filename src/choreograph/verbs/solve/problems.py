"""The goals of one person that a finished motion misses, each with the nearest possible value where that is known."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from choreograph.contract.problem import Advice, Problem, ProblemKind, amount
from choreograph.finishing.body import RootTarget
from choreograph.finishing.finish import Finished
from choreograph.goals.model import PoseGoal
from choreograph.goals.target import find_joint
from choreograph.goals.tolerance import TOLERANCE
from choreograph.graph.model import MotionGraph
from choreograph.verbs.solve.cut_costs import joining_cut_costs, say_cut_cost
from choreograph.verbs.solve.hierarchy import Hierarchy
from choreograph.verbs.solve.measure import (
    TorsoTrack,
    body_gap,
    joint_at,
    joint_velocity,
    least_clearance,
    pose_gaps,
    pose_turns,
    seconds_without,
)
from choreograph.verbs.solve.person import Located
from choreograph.verbs.solve.reach import OutOfReach
from choreograph.verbs.solve.solution import PersonSolution

MISS_M, MISS_DEG = TOLERANCE["position"].most, TOLERANCE["facing"].most
GLIDE_M_S = 0.06
"""Speed from which on a body is seen to glide."""
_NAMES = 5
"""The most clips that a note names."""


def find_problems(
    part: PersonSolution, track: TorsoTrack, finished: Finished, limits: Sequence[OutOfReach]
) -> tuple[Problem, ...]:
    """List the goals that one character's finished motion misses.

    Args:
        part: What is asked for, and the solution.
        track: The finished motion.
        finished: How finishing went.
        limits: What is known to be out of reach.
    """
    problems = [
        *_places(part, track, finished),
        *_joints(part, track),
        *(problem for goal in part.person.exact for problem in _exact(part, track, goal)),
        *_poses(part, track),
        *_labels(part, track),
        *_obstacles(part, track),
        *_meetings(part, track),
        *_glides(part, track, finished),
    ]
    return tuple(_with_limit(problem, part, track, limits) for problem in problems)


def _whose(part: PersonSolution, thing: str = "torso") -> str:
    """The subject of a sentence: of several characters, with the character's name."""
    return f"{part.name}'s {thing}" if part.name else f"The {thing}"


def _at(track: TorsoTrack, frame: int) -> dict[str, Any]:
    return {"at_s": frame / track.clip.fps, "place": track.place(frame)}


def _gap(got: float, tolerance: float = MISS_M, unit: str = "m") -> dict[str, Any]:
    """A distance that should be 0."""
    return {"asked": 0.0, "got": got, "tolerance": tolerance, "unit": unit}


def _places(part: PersonSolution, track: TorsoTrack, finished: Finished) -> Iterator[Problem]:
    for n, ((where, goal), target) in enumerate(zip(part.person.places, part.person.body, strict=True)):
        # With meetings, finishing counts by every frame of them.
        missed = 0.0 if part.meetings else max(finished.missed_m[n], finished.missed_rad[n])
        bent = finished.settings.bend_body
        why = "Its steps cannot be bent and stretched that far." if bent else "It would have to glide there."
        limits = (goal.tolerance_m or MISS_M, goal.tolerance_deg or MISS_DEG)
        more = why if missed > 1e-6 else ""
        yield from _place(part, track, target, (f"{where}.place", f"{where}.facing_deg"), limits, more)


def _place(
    part: PersonSolution,
    track: TorsoTrack,
    target: RootTarget,
    wheres: tuple[str, str],
    limits: tuple[float, float],
    more: str = "",
) -> Iterator[Problem]:
    metres, radians = body_gap(track, target)
    facts = {"what": _whose(part), "more": more, **_at(track, track.frame(target.at_s))}
    if metres > limits[0]:
        kind, gap = ProblemKind.POSITION_MISSED, _gap(metres, limits[0])
        yield Problem.of(kind, wheres[0], metric="body_worst", **gap, **facts)
    off = math.degrees(radians)
    if abs(off) > limits[1] and target.facing is not None:
        # At a meeting no facing is a field of the request: the difference stands for it.
        asked, got = (0.0, abs(off)) if wheres[0] == wheres[1] else (math.degrees(target.facing), None)
        yield Problem.of(
            ProblemKind.FACING_MISSED, wheres[1], asked=asked, got=asked + off if got is None else got, off=abs(off),
            tolerance=limits[1], unit="°", metric="facing_worst", **facts,
        )  # fmt: skip


def _joints(part: PersonSolution, track: TorsoTrack) -> Iterator[Problem]:
    over_s = 1 / part.solution.splice.graph.rate_hz
    for where, goal in part.person.joints:
        joint = find_joint(track.clip.skeleton, goal.joint, f"{where}.joint")
        x, y, z = (round(float(value), 3) for value in joint_at(track, joint, goal.at_s))
        facts: dict[str, Any] = {"what": _whose(part, goal.joint), "at_s": goal.at_s, "place": (x, y, z)}
        limit = goal.tolerance_m or MISS_M
        gap = _distance(joint_at(track, joint, goal.at_s), goal.position)
        if gap > limit:
            yield Problem.of(ProblemKind.JOINT_MISSED, f"{where}.position", **_gap(gap, limit), **facts)
        off = _distance(joint_velocity(track, joint, goal.at_s, over_s), goal.velocity)
        limit = TOLERANCE["velocity"].limit(math.hypot(*(value for value in goal.velocity if value is not None)))
        if off > limit:
            yield Problem.of(ProblemKind.VELOCITY_MISSED, f"{where}.velocity", **_gap(off, limit, "m/s"), **facts)


def _exact(part: PersonSolution, track: TorsoTrack, located: Located[PoseGoal]) -> Iterator[Problem]:
    where, goal = located
    graph, (start, end), frame = part.solution.splice.graph, goal.span, goal.pose.frame
    recorded = graph.clips[graph.find_clip(goal.pose.clip or "")]
    gaps = pose_gaps(track, recorded, frame, (start, end)).max(axis=1)
    turned = float(np.degrees(pose_turns(track, recorded, start, frame)).max(initial=0.0))
    most_m, most_deg = goal.tolerance_m or MISS_M, goal.tolerance_deg or MISS_DEG
    first, whose = track.frame(start), _whose(part, "pose")
    if gaps[0] > most_m or turned > most_deg:
        facts = _gap(float(gaps[0]), most_m) if gaps[0] > most_m else _gap(turned, most_deg, "°")
        of = f"frame {frame} of {goal.pose.clip!r}"
        yield Problem.of(ProblemKind.POSE_MISSED, where, what=whose, of=of, **facts, **_at(track, first))
    worst = int(gaps.argmax())
    if worst and gaps[worst] > most_m:
        field = "end_s" if goal.end_s is not None else "duration_s"
        yield Problem.of(
            ProblemKind.POSE_MISSED, f"{where}.{field}", what=whose, of=repr(goal.pose.clip),
            more=f"Motion before and after is smoothed there; increase it ({field}).",
            **_gap(float(gaps[worst]), most_m), **_at(track, first + worst),
        )  # fmt: skip


def _poses(part: PersonSolution, track: TorsoTrack) -> Iterator[Problem]:
    graph = part.solution.splice.graph
    for where, goal in part.person.poses:
        recorded = graph.clips[graph.find_clip(goal.pose.clip or "")]
        gaps = pose_gaps(track, recorded, goal.pose.frame, goal.span)
        off, limit = float(np.sqrt((gaps**2).mean())), goal.tolerance_m or MISS_M
        if off > limit:
            facts = {**_gap(off, limit), **_at(track, track.frame(goal.at_s)), "what": _whose(part, "pose")}
            of = f"frame {goal.pose.frame} of {goal.pose.clip!r}"
            yield Problem.of(ProblemKind.POSE_MISSED, where, of=of, **facts)


def _labels(part: PersonSolution, track: TorsoTrack) -> Iterator[Problem]:
    most = TOLERANCE["label"].most
    for where, goal in part.person.labels:
        start, end = goal.span
        without, length = seconds_without(track, goal), end - start
        if without > max(most * length, 1 / track.clip.fps):
            yield Problem.of(
                ProblemKind.LABEL_MISSED, where, label=goal.label, share=1 - without / max(length, 1e-9),
                need=1 - most, span=f"from {start:g} to {end:g} s", asked=length, got=length - without,
                tolerance=most * length, unit="s", **_at(track, track.frame((start + end) / 2)),
            )  # fmt: skip


def _obstacles(part: PersonSolution, track: TorsoTrack) -> Iterator[Problem]:
    for n, (where, obstacle) in enumerate(part.person.obstacles):
        distance, frame = least_clearance(track, obstacle)
        if distance < obstacle.hips_m - MISS_M:
            yield Problem.of(
                ProblemKind.COLLISION, where, what=_whose(part), item=f"obstacle {n + 1}",
                how=f"{amount(abs(distance), 'm')} {'from' if distance >= 0 else 'inside'}", tolerance=MISS_M,
                asked=obstacle.hips_m, got=distance, unit="m",
                more=f"Its clearance is {amount(obstacle.hips_m, 'm')}.", **_at(track, frame),
            )  # fmt: skip


def _meetings(part: PersonSolution, track: TorsoTrack) -> Iterator[Problem]:
    for meeting in part.meetings:
        where = meeting.pose.where
        yield from _exact(part, track, meeting.pose)
        yield from _place(part, track, meeting.place, (where, where), (MISS_M, MISS_DEG))


def _glides(part: PersonSolution, track: TorsoTrack, finished: Finished) -> Iterator[Problem]:
    if finished.glide_m_s > GLIDE_M_S:
        where = f"characters.{part.name}.goals" if part.name else "goals"
        where = part.meetings[0].pose.where if part.meetings else where
        facts = {**_gap(finished.glide_m_s, GLIDE_M_S, "m/s"), "place": track.place(len(track.clip) // 2)}
        yield Problem.of(ProblemKind.ROOT_GLIDE, where, what=_whose(part, "root"), metric="glide", **facts)


_OF_FIELD = {"way": "place", "turn": "facing_deg", "height": "position", "rise": "velocity", "speed": "velocity"}


def _with_limit(problem: Problem, part: PersonSolution, track: TorsoTrack, limits: Sequence[OutOfReach]) -> Problem:
    """The same, with the nearest possible value where that is known."""
    goal, _, field = problem.where.partition("].")
    goal = f"{goal}]" if field else goal
    inside = goal.startswith("meet[")
    of_goal = (entry for entry in limits if entry.where == goal)
    entry = next((one for one in of_goal if inside or field.endswith(_OF_FIELD.get(one.quantity, ""))), None)
    if entry is None:
        return problem
    changed = replace(problem, text=f"{problem.text} {entry.text[0].upper()}{entry.text[1:]}.")
    if entry.quantity in ("parts", "pose") or inside:
        return changed
    if entry.quantity == "label":
        return replace(changed, nearest=round(entry.nearest, 3))
    if entry.quantity in ("way", "turn"):
        return _with_place_limit(changed, entry, part, track)
    return _with_joint_limit(changed, entry, part, track)


def _with_place_limit(problem: Problem, entry: OutOfReach, part: PersonSolution, track: TorsoTrack) -> Problem:
    """With the nearest place or facing, seen from the place before."""
    number = [where for where, _ in part.person.places].index(entry.where)
    if number == 0:  # a meeting comes before it
        return problem
    before, here = part.person.body[number - 1 : number + 1]
    if entry.quantity == "turn":
        begin, turned = before.facing or 0.0, (here.facing or 0.0) - (before.facing or 0.0)
        left = math.copysign(entry.nearest, math.sin(turned)) if abs(math.sin(turned)) > 1e-9 else entry.nearest
        return replace(problem, nearest=round(math.degrees(begin + left), 2))
    start = complex(*before.position)
    spot = start + (complex(*here.position) - start) * (entry.nearest / entry.asked)
    got = float(abs(track.torso[track.frame(here.at_s)] - start))
    place = (round(spot.real, 3), 0.0, round(spot.imag, 3))
    return replace(problem, asked=entry.asked, got=round(got, 4), nearest=round(entry.nearest, 4), place=place)


def _with_joint_limit(problem: Problem, entry: OutOfReach, part: PersonSolution, track: TorsoTrack) -> Problem:
    """With the nearest height or speed."""
    goal, nearest = dict(part.person.joints)[entry.where], round(entry.nearest, 4)
    joint = find_joint(track.clip.skeleton, goal.joint, f"{entry.where}.joint")
    if entry.quantity == "height":
        here = joint_at(track, joint, goal.at_s)
        x, _, z = (float(v) if w is None else w for v, w in zip(here, goal.position, strict=True))
        place = (round(x, 3), nearest, round(z, 3))
        return replace(problem, asked=entry.asked, got=round(float(here[1]), 4), nearest=nearest, place=place)
    x, y, z = joint_velocity(track, joint, goal.at_s, 1 / part.solution.splice.graph.rate_hz)
    got = float(y) if entry.quantity == "rise" else math.hypot(x, z)
    return replace(problem, asked=entry.asked, got=round(got, 3), nearest=nearest)


def find_lost_clips(graph: MotionGraph, hierarchy: Hierarchy) -> Problem | None:
    """Note the clips that cannot be cut into the others and back, if there are some."""
    lost = hierarchy.lost_clips()
    if not lost:
        return None
    names = ", ".join([*(graph.infos[clip].name for clip in lost[:_NAMES]), *(["…"] if len(lost) > _NAMES else [])])
    enough = say_cut_cost(float(joining_cut_costs(hierarchy.frames, hierarchy.max_cut_cost)[lost].max()))
    where = "advanced.max_cut_cost"
    return Problem.of(
        ProblemKind.CLIPS_EXCLUDED, where, number=len(lost), total=len(graph.infos), names=names,
        asked=hierarchy.max_cut_cost, nearest=float(enough), advice=(Advice(where, float(enough)),),
        more=f"{enough} connects them, with rougher cuts (max_cut_cost is {hierarchy.max_cut_cost:.3g}).",
    )  # fmt: skip


def _distance(here: np.ndarray, wanted: tuple[float | None, ...]) -> float:
    return math.hypot(*(float(a) - b for a, b in zip(here, wanted, strict=True) if b is not None))
