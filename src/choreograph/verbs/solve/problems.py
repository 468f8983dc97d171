"""What was asked for and is not so in the finished motion, and the nearest that can be had, each constraint in turn."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from choreograph.contract.problem import Advice, Problem, ProblemKind, amount
from choreograph.finishing.finish import Finished
from choreograph.goals.tolerance import TOLERANCE
from choreograph.graph.model import MotionGraph
from choreograph.verbs.solve.constraints import HardFrame
from choreograph.verbs.solve.cut_costs import joining_cut_costs, say_cut_cost
from choreograph.verbs.solve.hierarchy import Hierarchy
from choreograph.verbs.solve.measure import (
    Track,
    body_gap,
    joint_at,
    joint_velocity,
    least_clearance,
    pose_gaps,
    pose_turns,
    seconds_without,
)
from choreograph.verbs.solve.reach import OutOfReach
from choreograph.verbs.solve.solution import Part

MISS_M, MISS_DEG = TOLERANCE["position"].most, TOLERANCE["facing"].most
GLIDE_M_S = 0.06
"""Speed from which on a body is seen to glide."""
_NAMES = 5
"""The most clips that a note names."""


def find_problems(part: Part, track: Track, finished: Finished, limits: Sequence[OutOfReach]) -> tuple[Problem, ...]:
    """Everything one person is asked for that his finished motion does not do.

    Args:
        part: What he is asked for, and what was found.
        track: The finished motion.
        finished: How finishing went.
        limits: What is known to be out of reach, by places in the whole request.
    """
    found = [
        *_body(part, track, finished),
        *_joints(part, track),
        *_frames(part, track),
        *_poses(part, track),
        *_labels(part, track),
        *_obstacles(part, track),
        *_meetings(part, track),
        *_glides(part, track, finished),
    ]
    return tuple(_with_limits(replace(one, where=_whole(part, one.where)), part, track, limits) for one in found)


def _whose(part: Part, thing: str = "torso") -> str:
    """The subject of a sentence: of several characters, with the character's name."""
    name = part.where.removeprefix("characters.").removesuffix(".")
    return f"{name}'s {thing}" if name else f"The {thing}"


def _at(track: Track, frame: int) -> dict[str, Any]:
    return {"at_s": frame / track.clip.fps, "place": track.place(frame)}


def _gap(got: float, tolerance: float = MISS_M, unit: str = "m") -> dict[str, Any]:
    """A distance that should be 0."""
    return {"asked": 0.0, "got": got, "tolerance": tolerance, "unit": unit}


def _body(part: Part, track: Track, finished: Finished) -> Iterator[Problem]:
    held = part.meetings == ()
    for n, target in enumerate(part.request.body):
        metres, radians = body_gap(track, target)
        here = _at(track, track.frame(target.at_s))
        # With meetings, finishing counts by every frame of them.
        missed = max(finished.missed_m[n], finished.missed_rad[n]) if held else 0.0
        bent = finished.settings.bend_body
        why = "Its steps cannot be bent and stretched that far." if bent else "It would have to glide there."
        facts = {"what": _whose(part), "more": why if missed > 1e-6 else "", **here}
        if metres > MISS_M:
            kind = ProblemKind.POSITION_MISSED
            yield Problem.of(kind, f"body[{n}].position", metric="body_worst", **_gap(metres), **facts)
        off = math.degrees(radians)
        if abs(off) > MISS_DEG and target.facing_deg is not None:
            yield Problem.of(
                ProblemKind.FACING_MISSED, f"body[{n}].facing_deg", asked=target.facing_deg, off=abs(off),
                got=target.facing_deg + off, tolerance=MISS_DEG, unit="°", metric="facing_worst", **facts,
            )  # fmt: skip


def _joints(part: Part, track: Track) -> Iterator[Problem]:
    over_s = 1 / part.solution.splice.graph.rate_hz
    for n, target in enumerate(part.request.joints):
        here = joint_at(track, target.joint, target.at_s)
        facts: dict[str, Any] = {"what": _whose(part, target.joint), "at_s": target.at_s}
        facts["place"] = (round(float(here[0]), 3), round(float(here[1]), 3), round(float(here[2]), 3))
        gap = _distance(here, target.position)
        if gap > MISS_M:
            yield Problem.of(ProblemKind.JOINT_MISSED, f"joints[{n}].position", **_gap(gap), **facts)
        off = _distance(joint_velocity(track, target.joint, target.at_s, over_s), target.velocity)
        most = TOLERANCE["velocity"].limit(math.hypot(*(value for value in target.velocity if value is not None)))
        if off > most:
            yield Problem.of(ProblemKind.VELOCITY_MISSED, f"joints[{n}].velocity", **_gap(off, most, "m/s"), **facts)


def _frames(part: Part, track: Track) -> Iterator[Problem]:
    for n, wanted in enumerate(part.request.frames):
        yield from _hard(part, track, wanted, f"frames[{n}]")


def _hard(part: Part, track: Track, wanted: HardFrame, where: str) -> Iterator[Problem]:
    graph = part.solution.splice.graph
    recorded = graph.clips[graph.find_clip(wanted.clip)]
    gaps = pose_gaps(track, recorded, wanted.at_s, wanted.frame, wanted.lasts_s).max(axis=1)
    turned = float(np.degrees(pose_turns(track, recorded, wanted.at_s, wanted.frame).max(initial=0.0)))
    first = track.frame(wanted.at_s)
    if gaps[0] > MISS_M or turned > MISS_DEG:
        facts = _gap(float(gaps[0])) if gaps[0] > MISS_M else _gap(turned, MISS_DEG, "°")
        of = f"frame {wanted.frame} of {wanted.clip!r}"
        yield Problem.of(ProblemKind.POSE_MISSED, where, what=_whose(part, "pose"), of=of, **facts, **_at(track, first))
    worst = int(gaps.argmax())
    if worst and gaps[worst] > MISS_M:
        yield Problem.of(
            ProblemKind.POSE_MISSED, f"{where}.lasts_s", what=_whose(part, "pose"), of=repr(wanted.clip),
            more="Motion before and after is smoothed there; increase it (lasts_s).",
            **_gap(float(gaps[worst])), **_at(track, first + worst),
        )  # fmt: skip


def _poses(part: Part, track: Track) -> Iterator[Problem]:
    graph = part.solution.splice.graph
    for n, wanted in enumerate(part.request.poses):
        recorded = graph.clips[graph.find_clip(wanted.clip)]
        gaps = pose_gaps(track, recorded, wanted.at_s, wanted.frame)
        off = float(np.sqrt((gaps**2).mean()))
        if off > MISS_M:
            facts = {**_gap(off), **_at(track, track.frame(wanted.at_s)), "what": _whose(part, "pose")}
            yield Problem.of(
                ProblemKind.POSE_MISSED, f"poses[{n}]", of=f"frame {wanted.frame} of {wanted.clip!r}", **facts
            )


def _labels(part: Part, track: Track) -> Iterator[Problem]:
    most = TOLERANCE["label"].most
    for n, wanted in enumerate(part.request.labels):
        without, length = seconds_without(track, wanted), wanted.stop_s - wanted.start_s
        if without > max(most * length, 1 / track.clip.fps):
            yield Problem.of(
                ProblemKind.LABEL_MISSED, f"labels[{n}]", label=wanted.label, share=1 - without / max(length, 1e-9),
                need=1 - most, span=f"from {wanted.start_s:g} to {wanted.stop_s:g} s", asked=length,
                got=length - without, tolerance=most * length, unit="s",
                **_at(track, track.frame((wanted.start_s + wanted.stop_s) / 2)),
            )  # fmt: skip


def _obstacles(part: Part, track: Track) -> Iterator[Problem]:
    for n, obstacle in enumerate(part.request.obstacles):
        kept, frame = least_clearance(track, obstacle)
        if kept < obstacle.clearance - MISS_M:
            clearance = amount(obstacle.clearance, "m")
            yield Problem.of(
                ProblemKind.COLLISION, f"obstacles[{n}]", what=_whose(part), item=f"obstacle {n + 1}",
                how=f"{amount(abs(kept), 'm')} {'from' if kept >= 0 else 'inside'}", tolerance=MISS_M,
                asked=obstacle.clearance, got=kept, unit="m", more=f"Its clearance is {clearance}.",
                **_at(track, frame),
            )  # fmt: skip


def _meetings(part: Part, track: Track) -> Iterator[Problem]:
    for meeting in part.meetings:
        yield from _hard(part, track, meeting.frame, meeting.where)
        metres, radians = body_gap(track, meeting.place)
        here = _at(track, track.frame(meeting.place.at_s))
        if metres > MISS_M:
            facts = {**_gap(metres), **here, "metric": "body_worst"}
            yield Problem.of(ProblemKind.POSITION_MISSED, meeting.where, what=_whose(part), **facts)
        turned = abs(math.degrees(radians))
        if turned > MISS_DEG:
            facts = {**_gap(turned, MISS_DEG, "°"), **here, "metric": "facing_worst", "off": turned}
            yield Problem.of(ProblemKind.FACING_MISSED, meeting.where, what=_whose(part), **facts)


def _glides(part: Part, track: Track, finished: Finished) -> Iterator[Problem]:
    if finished.glide_m_s > GLIDE_M_S:
        where = part.meetings[0].where if part.meetings else "body" if not part.where else part.where.rstrip(".")
        facts = {**_gap(finished.glide_m_s, GLIDE_M_S, "m/s"), "place": track.place(len(track.clip) // 2)}
        yield Problem.of(ProblemKind.ROOT_GLIDE, where, what=_whose(part, "root"), metric="glide", **facts)


def _with_limits(problem: Problem, part: Part, track: Track, limits: Sequence[OutOfReach]) -> Problem:
    """The same, with the nearest possible value where that is known."""
    constraint = _constraint(problem.where)
    found = [entry for entry in limits if entry.constraint in (constraint, part.where + constraint)]
    entry = next((entry for entry in found if _concerns(entry, problem.where)), None)
    if entry is None:
        return problem
    reason = entry.message.removeprefix(f"{part.where.removesuffix('.')}: ").removeprefix(
        f"{constraint.removeprefix(part.where)}: "
    )
    text = f"{problem.text} {reason[0].upper()}{reason[1:]}."
    if entry.quantity in ("parts", "pose") or constraint.startswith("meet["):
        return replace(problem, text=text)
    number = int(constraint[constraint.rindex("[") + 1 : -1])
    if entry.quantity == "label":
        return replace(problem, text=text, nearest=round(entry.nearest, 3))
    if entry.quantity in ("way", "turn"):
        return replace(_body_limit(problem, entry, part, track, number), text=text)
    return replace(_joint_limit(problem, entry, part, track, number), text=text)


def _body_limit(problem: Problem, entry: OutOfReach, part: Part, track: Track, number: int) -> Problem:
    """With the nearest place or facing, seen from the body constraint before."""
    before, here = part.request.body[number - 1 : number + 1]
    if entry.quantity == "turn":
        turned = math.radians((here.facing_deg or 0.0) - (before.facing_deg or 0.0))
        left = math.copysign(entry.nearest, math.sin(turned)) if abs(math.sin(turned)) > 1e-9 else entry.nearest
        return replace(problem, nearest=round((before.facing_deg or 0.0) + math.degrees(left), 2))
    start = complex(*before.position)
    spot = start + (complex(*here.position) - start) * (entry.nearest / entry.asked)
    got = float(abs(track.torso[track.frame(here.at_s)] - start))
    place = (round(spot.real, 3), 0.0, round(spot.imag, 3))
    return replace(problem, asked=entry.asked, got=round(got, 4), nearest=round(entry.nearest, 4), place=place)


def _joint_limit(problem: Problem, entry: OutOfReach, part: Part, track: Track, number: int) -> Problem:
    """With the nearest height or speed."""
    target = part.request.joints[number]
    nearest = round(entry.nearest, 4)
    if entry.quantity == "height":
        here = joint_at(track, target.joint, target.at_s)
        x, _, z = (float(v) if w is None else w for v, w in zip(here, target.position, strict=True))
        place = (round(x, 3), nearest, round(z, 3))
        return replace(problem, asked=entry.asked, got=round(float(here[1]), 4), nearest=nearest, place=place)
    x, y, z = joint_velocity(track, target.joint, target.at_s, 1 / part.solution.splice.graph.rate_hz)
    got = float(y) if entry.quantity == "rise" else math.hypot(x, z)
    return replace(problem, asked=entry.asked, got=round(got, 3), nearest=nearest)


_OF_FIELD = {"way": "position", "turn": "facing_deg", "height": "position", "rise": "velocity", "speed": "velocity"}


def _concerns(entry: OutOfReach, where: str) -> bool:
    """Whether what is out of reach is the field that a problem is about."""
    return where.startswith("meet[") or where.endswith(_OF_FIELD.get(entry.quantity, ""))


def _constraint(where: str) -> str:
    """The constraint that a place in the request is in: "body[1]" for "body[1].position"."""
    return where[: where.rindex("]") + 1] if where.endswith("]") or "]." in where else where


def _whole(part: Part, where: str) -> str:
    """A place in one's own request as one in the whole."""
    return where if where.startswith("meet[") else part.where + where


def find_lost_clips(graph: MotionGraph, hierarchy: Hierarchy) -> Problem | None:
    """What is said of clips that cannot be cut into the others and back, if there are some."""
    lost = hierarchy.lost_clips()
    if not lost:
        return None
    names = ", ".join([*(graph.infos[clip].name for clip in lost[:_NAMES]), *(["…"] if len(lost) > _NAMES else [])])
    enough = say_cut_cost(float(joining_cut_costs(hierarchy.frames, hierarchy.max_cut_cost)[lost].max()))
    return Problem.of(
        ProblemKind.CLIPS_EXCLUDED, "max_cut_cost", number=len(lost), total=len(graph.infos), names=names,
        asked=hierarchy.max_cut_cost, nearest=float(enough), advice=(Advice("max_cut_cost", float(enough)),),
        more=f"{enough} connects them, with rougher cuts (max_cut_cost is {hierarchy.max_cut_cost:.3g}).",
    )  # fmt: skip


def _distance(here: np.ndarray, wanted: tuple[float | None, ...]) -> float:
    return math.hypot(*(float(a) - b for a, b in zip(here, wanted, strict=True) if b is not None))
