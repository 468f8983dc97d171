"""What was asked for and is not so in the finished motion, and the nearest that can be had, each constraint in turn."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from choreograph.contract.problem import Problem, ProblemKind
from choreograph.finishing.finish import Finished
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

MISS_M, MISS_DEG, MISS_SHARE, MISS_M_S = 0.05, 5.0, 0.10, 0.1
"""From where on something counts as missed: metres, degrees, shares of what was asked, metres per second."""
GLIDE_M_S = 0.06
"""Speed from which on a body is seen to glide."""


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


def _body(part: Part, track: Track, finished: Finished) -> Iterator[Problem]:
    held = part.meetings == ()
    for n, target in enumerate(part.request.body):
        metres, radians = body_gap(track, target)
        frame = track.frame(target.at_s)
        # With meetings, finishing counts by every frame of them.
        missed = max(finished.missed_m[n], finished.missed_rad[n]) if held else 0.0
        bent = finished.settings.bend_body
        why = ": its steps cannot be bent and stretched that far" if bent else ": it would have to glide there"
        why = why if missed > 1e-6 else ""
        if metres > MISS_M:
            text = f"at {target.at_s:g} s the torso is {_say(metres)} from where it should be{why}"
            yield Problem(
                ProblemKind.POSITION_MISSED,
                text,
                f"body[{n}].position",
                0.0,
                round(metres, 4),
                unit="m",
                place=track.place(frame),
            )
        if abs(math.degrees(radians)) > MISS_DEG and target.facing_deg is not None:
            got = target.facing_deg + math.degrees(radians)
            text = (
                f"at {target.at_s:g} s it faces {abs(math.degrees(radians)):.0f}° away from the facing asked for{why}"
            )
            yield Problem(
                ProblemKind.FACING_MISSED,
                text,
                f"body[{n}].facing_deg",
                target.facing_deg,
                round(got, 2),
                unit="°",
                place=track.place(frame),
            )


def _joints(part: Part, track: Track) -> Iterator[Problem]:
    over_s = 1 / part.solution.splice.graph.rate_hz
    for n, target in enumerate(part.request.joints):
        here = joint_at(track, target.joint, target.at_s)
        place = (round(float(here[0]), 3), round(float(here[1]), 3), round(float(here[2]), 3))
        gap = _distance(here, target.position)
        if gap > MISS_M:
            text = f"at {target.at_s:g} s {target.joint!r} is {_say(gap)} from where it should be"
            yield Problem(
                ProblemKind.JOINT_MISSED, text, f"joints[{n}].position", 0.0, round(gap, 4), unit="m", place=place
            )
        moves = joint_velocity(track, target.joint, target.at_s, over_s)
        off = _distance(moves, target.velocity)
        asked = math.hypot(*(value for value in target.velocity if value is not None))
        if off > max(MISS_SHARE * asked, MISS_M_S):
            text = f"at {target.at_s:g} s {target.joint!r} moves {off:.2f} m/s otherwise than it should"
            yield Problem(
                ProblemKind.VELOCITY_MISSED, text, f"joints[{n}].velocity", 0.0, round(off, 3), unit="m/s", place=place
            )


def _frames(part: Part, track: Track) -> Iterator[Problem]:
    for n, wanted in enumerate(part.request.frames):
        yield from _hard(part, track, wanted, f"frames[{n}]")


def _hard(part: Part, track: Track, wanted: HardFrame, where: str) -> Iterator[Problem]:
    graph = part.solution.splice.graph
    recorded = graph.clips[graph.find_clip(wanted.clip)]
    gaps = pose_gaps(track, recorded, wanted.at_s, wanted.frame, wanted.lasts_s).max(axis=1)
    turned = float(np.degrees(pose_turns(track, recorded, wanted.at_s, wanted.frame).max(initial=0.0)))
    here = track.place(track.frame(wanted.at_s))
    if gaps[0] > MISS_M or turned > MISS_DEG:
        by = _say(gaps[0]) if gaps[0] > MISS_M else f"{turned:.0f}°"
        text = f"at {wanted.at_s:g} s a joint is {by} from where frame {wanted.frame} of {wanted.clip!r} has it"
        got, unit = (gaps[0], "m") if gaps[0] > MISS_M else (turned, "°")
        yield Problem(ProblemKind.POSE_MISSED, text, where, 0.0, round(float(got), 4), unit=unit, place=here)
    worst = int(gaps.argmax())
    if worst and gaps[worst] > MISS_M:
        frame = track.frame(wanted.at_s) + worst
        text = (
            f"at {frame / track.clip.fps:.2f} s a joint is {_say(gaps[worst])} from where {wanted.clip!r} has it: what "
            "comes before and behind is smoothed there; let it last longer"
        )
        got = round(float(gaps[worst]), 4)
        yield Problem(ProblemKind.POSE_MISSED, text, f"{where}.lasts_s", 0.0, got, unit="m", place=track.place(frame))


def _poses(part: Part, track: Track) -> Iterator[Problem]:
    graph = part.solution.splice.graph
    for n, wanted in enumerate(part.request.poses):
        recorded = graph.clips[graph.find_clip(wanted.clip)]
        gaps = pose_gaps(track, recorded, wanted.at_s, wanted.frame)
        off = float(np.sqrt((gaps**2).mean()))
        if off > MISS_M:
            text = (
                f"at {wanted.at_s:g} s joints are {_say(off)} from those of frame {wanted.frame} of {wanted.clip!r}, "
                "on average"
            )
            place = track.place(track.frame(wanted.at_s))
            yield Problem(ProblemKind.POSE_MISSED, text, f"poses[{n}]", 0.0, round(off, 4), unit="m", place=place)


def _labels(part: Part, track: Track) -> Iterator[Problem]:
    for n, wanted in enumerate(part.request.labels):
        without, length = seconds_without(track, wanted), wanted.stop_s - wanted.start_s
        if without > max(MISS_SHARE * length, 1 / track.clip.fps):
            text = f"from {wanted.start_s:g} to {wanted.stop_s:g} s it is not {wanted.label!r} for {without:.1f} s"
            middle = track.place(track.frame((wanted.start_s + wanted.stop_s) / 2))
            yield Problem(
                ProblemKind.LABEL_MISSED,
                text,
                f"labels[{n}]",
                length,
                round(length - without, 3),
                unit="s",
                place=middle,
            )


def _obstacles(part: Part, track: Track) -> Iterator[Problem]:
    for n, obstacle in enumerate(part.request.obstacles):
        kept, frame = least_clearance(track, obstacle)
        if kept < obstacle.clearance - MISS_M:
            near = f"comes as near as {_say(kept)}" if kept >= 0 else f"goes {_say(-kept)} into it"
            text = f"at {frame / track.clip.fps:.1f} s the torso {near}; {_say(obstacle.clearance)} should be kept"
            yield Problem(
                ProblemKind.COLLISION,
                text,
                f"obstacles[{n}]",
                obstacle.clearance,
                round(kept, 4),
                unit="m",
                place=track.place(frame),
            )


def _meetings(part: Part, track: Track) -> Iterator[Problem]:
    for meeting in part.meetings:
        yield from _hard(part, track, meeting.frame, meeting.where)
        metres, radians = body_gap(track, meeting.place)
        place = track.place(track.frame(meeting.place.at_s))
        if metres > MISS_M:
            text = f"at {meeting.frame.at_s:g} s the torso is {_say(metres)} from where they meet; allow more time"
            yield Problem(
                ProblemKind.POSITION_MISSED, text, meeting.where, 0.0, round(metres, 4), unit="m", place=place
            )
        turned = abs(math.degrees(radians))
        if turned > MISS_DEG:
            text = f"at {meeting.frame.at_s:g} s it faces {turned:.0f}° away from how they meet; allow more time"
            yield Problem(ProblemKind.FACING_MISSED, text, meeting.where, 0.0, round(turned, 2), unit="°", place=place)


def _glides(part: Part, track: Track, finished: Finished) -> Iterator[Problem]:
    if finished.glide_m_s > GLIDE_M_S:
        where = part.meetings[0].where if part.meetings else "body"
        to = "they meet" if part.meetings else "it should be"
        text = f"it glides at up to {finished.glide_m_s:.2f} m/s to be where {to}; allow more time"
        yield Problem(
            ProblemKind.ROOT_GLIDE,
            text,
            where,
            0.0,
            round(finished.glide_m_s, 3),
            unit="m/s",
            place=track.place(len(track.clip) // 2),
        )


def _with_limits(problem: Problem, part: Part, track: Track, limits: Sequence[OutOfReach]) -> Problem:
    """The same, with the nearest that can be had where that is known, and named by its place."""
    constraint = _constraint(problem.where)
    found = [entry for entry in limits if entry.constraint in (constraint, part.where + constraint)]
    entry = next((entry for entry in found if _concerns(entry, problem.where)), None)
    if entry is None:
        return replace(problem, text=f"{problem.where}: {problem.text}")
    said = entry.message.removeprefix(f"{part.where.removesuffix('.')}: ").removeprefix(
        f"{constraint.removeprefix(part.where)}: "
    )
    text = f"{problem.where}: {problem.text}; {said}"
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
    names = ", ".join(graph.infos[clip].name for clip in lost)
    enough = float(joining_cut_costs(hierarchy.frames, hierarchy.max_cut_cost)[lost].max())
    text = (
        f"{len(lost)} of {len(graph.infos)} clips cannot be cut into the others and back: {names} (max_cut_cost is "
        f"{hierarchy.max_cut_cost:.3g}; {say_cut_cost(enough)} would connect them, with rougher cuts)"
    )
    return Problem(
        ProblemKind.CLIPS_EXCLUDED, text, "max_cut_cost", hierarchy.max_cut_cost, nearest=float(say_cut_cost(enough))
    )


def _distance(here: np.ndarray, wanted: tuple[float | None, ...]) -> float:
    return math.hypot(*(float(a) - b for a, b in zip(here, wanted, strict=True) if b is not None))


def _say(metres: float) -> str:
    return f"{100 * metres:.1f} cm" if metres < 1 else f"{metres:.2f} m"
