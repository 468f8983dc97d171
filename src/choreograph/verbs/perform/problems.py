"""What was asked of a performance and is not so in the finished motion: speed, way, segments, hands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from choreograph.base.arrays import Flags
from choreograph.contract.problem import Problem, ProblemKind, moment
from choreograph.motion.clip import Clip
from choreograph.motion.contacts import runs
from choreograph.verbs.path_problems import path_missed
from choreograph.verbs.perform.control import PEAK_S, Control
from choreograph.verbs.perform.examples import SegmentDatabase, smoothed_speeds
from choreograph.verbs.perform.measure import WayErrors
from choreograph.verbs.perform.program import SegmentSequence
from choreograph.verbs.perform.request import SegmentConstraint
from choreograph.verbs.perform.trajectory import Trajectory

FASTER = 1.1
"""How many times faster than any example a control may be before that is a problem."""
HELD_SHARE = 0.9
"""Share of the time that hands shall be held, below which that counts as missed."""


def speed_problems(way: Trajectory, where: str, database: SegmentDatabase, clip: Clip) -> Iterator[Problem]:
    """A trajectory that is faster somewhere than any example."""
    speeds = way.smoothed(PEAK_S).speeds
    top = int(speeds.argmax())
    x, z = way.places[top]
    yield from _too_fast(where, "The trajectory", speeds[top], database, clip, top / way.fps, (float(x), 0.0, float(z)))


def leader_problems(control: Control, database: SegmentDatabase, clip: Clip) -> Iterator[Problem]:
    """A leader who is faster somewhere than any example's."""
    speeds = smoothed_speeds(control.points, control.fps)
    if len(speeds):
        top = int(speeds.argmax())
        at = top + (len(control.points) - len(speeds)) // 2
        x, _, z = control.points[at].mean(axis=0)
        place = (float(x), 0.0, float(z))
        yield from _too_fast("leader", "The leader", speeds[top], database, clip, at / control.fps, place)


def way_problems(errors: WayErrors, where: str, clip: Clip) -> Iterator[Problem]:
    """A trajectory that is missed."""
    at = int(errors.off.argmax())
    yield from path_missed(where, errors.mean, errors.worst, ("way_mean", "way_worst"), **moment(clip, at))


def constraint_problems(
    constraints: Sequence[SegmentConstraint], sequence: SegmentSequence, clip: Clip
) -> Iterator[Problem]:
    """Segments that are not played when they have to be, by the pieces' final times."""
    frame = 1 / clip.fps
    for n, constraint in enumerate(constraints):
        at = constraint.time_s
        playing = [p for p in sequence.pieces if p.start_s - frame <= at <= p.stop_s + frame]
        if any(piece.segment in constraint.segments for piece in playing):
            continue
        names = " or ".join(map(str, constraint.segments[:4])) + (" …" if len(constraint.segments) > 4 else "")
        near = [p for p in sequence.pieces if p.segment in constraint.segments]
        more = ""
        if near:
            nearest = min(near, key=lambda p: max(p.start_s - at, at - p.stop_s))
            more = f"It plays from {nearest.start_s:.2f} to {nearest.stop_s:.2f} s."
        yield Problem.of(
            ProblemKind.SEGMENT_MISSED, f"constraints[{n}]", more=more, names=names,
            playing=f"Segment {playing[0].segment} plays" if playing else "Nothing plays any more",
            asked=constraint.segments[0] if len(constraint.segments) == 1 else None,
            got=playing[0].segment if playing else None, tolerance=frame, **moment(clip, round(at * clip.fps)),
        )  # fmt: skip


def hand_problems(wanted: Flags, held: Flags, clip: Clip) -> Iterator[Problem]:
    """Hands that the examples hold and the finished motion does not.

    Args:
        wanted: Whether each of the two hands is held in the recordings that are shown, (F, 2).
        held: Whether it is in the finished motion, (F, 2).
        clip: That motion.
    """
    asked, got = wanted.sum() / clip.fps, (wanted & held).sum() / clip.fps
    if got < HELD_SHARE * asked - 1 / clip.fps:
        lost = [(stop - start, start) for k in range(2) for start, stop in runs(wanted[:, k] & ~held[:, k])]
        longest, start = max(lost)
        yield Problem.of(
            ProblemKind.HANDS_APART, "leader", asked=asked, got=got, unit="s", tolerance=(1 - HELD_SHARE) * asked,
            lost=f"held for {got:.1f} of {asked:.1f} s; longest gap from {start / clip.fps:.1f} to "
            f"{(start + longest) / clip.fps:.1f} s",
            **moment(clip, start + longest // 2),
        )  # fmt: skip


def _too_fast(
    where: str, what: str, asked: float, database: SegmentDatabase, clip: Clip, at_s: float,
    place: tuple[float, float, float],
) -> Iterator[Problem]:  # fmt: skip
    fastest = database.fastest
    if asked <= FASTER * fastest:
        return
    speeds = smoothed_speeds(clip.root_pos[:, None], clip.fps)
    frame = min(max(round(at_s * clip.fps) - (len(clip) - len(speeds)) // 2, 0), len(speeds) - 1)
    yield Problem.of(
        ProblemKind.TOO_FAST, where, what=what, speed=f"{asked:.1f} m/s", asked=asked,
        got=float(speeds[frame]) if len(speeds) else None, nearest=fastest,
        tolerance=(FASTER - 1) * fastest, unit="m/s", at_s=at_s, place=place,
        more=f"Slow it down to {100 * fastest / asked:.0f} % there.",
    )  # fmt: skip
