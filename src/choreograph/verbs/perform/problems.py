"""What was asked of a performance and is not so in the finished motion: speed, way, segments, hands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from choreograph.base.arrays import Flags
from choreograph.contract.problem import Problem, ProblemKind, moment
from choreograph.goals.model import SegmentGoal
from choreograph.motion.clip import Clip
from choreograph.motion.contacts import runs
from choreograph.verbs.path_problems import path_missed
from choreograph.verbs.perform.control import PEAK_S, Control
from choreograph.verbs.perform.examples import SegmentDatabase, smoothed_speeds
from choreograph.verbs.perform.measure import TrajectoryErrors
from choreograph.verbs.perform.sequence import SegmentSequence
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


def way_problems(errors: TrajectoryErrors, where: str, clip: Clip) -> Iterator[Problem]:
    """A trajectory that is missed."""
    at = int(errors.off.argmax())
    yield from path_missed(where, errors.mean, errors.worst, ("way_mean", "way_worst"), **moment(clip, at))


def segment_problems(goals: Sequence[SegmentGoal], sequence: SegmentSequence, clip: Clip) -> Iterator[Problem]:
    """Segments that are not played when they have to be, by the pieces' final times."""
    frame = 1 / clip.fps
    for n, goal in enumerate(goals):
        first, last = goal.span
        inside = frame if goal.at_s is None else -frame  # at a moment, either of two neighbours plays
        playing = [p for p in sequence.pieces if p.start_s + inside <= last and p.stop_s - inside >= first]
        others = [piece for piece in playing if piece.segment not in goal.segments]
        if playing and (not others or (goal.at_s is not None and len(others) < len(playing))):
            continue
        at = first if goal.at_s is not None or not others else max(first, others[0].start_s)
        names = " or ".join(map(str, goal.segments[:4])) + (" …" if len(goal.segments) > 4 else "")
        near = [p for p in sequence.pieces if p.segment in goal.segments]
        more = ""
        if near:
            nearest = min(near, key=lambda p: max(p.start_s - at, at - p.stop_s))
            more = f"It plays from {nearest.start_s:.2f} to {nearest.stop_s:.2f} s."
        yield Problem.of(
            ProblemKind.SEGMENT_MISSED, f"goals[{n}]", more=more, names=names,
            playing=f"Segment {others[0].segment} plays" if others else "Nothing plays any more",
            asked=goal.segments[0] if len(goal.segments) == 1 else None,
            got=others[0].segment if others else None, tolerance=frame, **moment(clip, round(at * clip.fps)),
        )  # fmt: skip


def hand_problems(wanted: Flags, held: Flags, clip: Clip) -> Iterator[Problem]:
    """Hands that the examples hold and the finished motion does not.

    Args:
        wanted: Whether each of the two hands is held in the recordings that are shown, (F, 2).
        held: Whether it is in the finished motion, (F, 2).
        clip: That motion.
    """
    wanted_s, got = wanted.sum() / clip.fps, (wanted & held).sum() / clip.fps
    if got < HELD_SHARE * wanted_s - 1 / clip.fps:
        lost = [(stop - start, start) for k in range(2) for start, stop in runs(wanted[:, k] & ~held[:, k])]
        longest, start = max(lost)
        yield Problem.of(
            ProblemKind.HANDS_APART, "leader", asked=wanted_s, got=got, unit="s", tolerance=(1 - HELD_SHARE) * wanted_s,
            lost=f"held for {got:.1f} of {wanted_s:.1f} s; longest gap from {start / clip.fps:.1f} to "
            f"{(start + longest) / clip.fps:.1f} s",
            **moment(clip, start + longest // 2),
        )  # fmt: skip


def _too_fast(
    where: str, what: str, fast: float, database: SegmentDatabase, clip: Clip, at_s: float,
    place: tuple[float, float, float],
) -> Iterator[Problem]:  # fmt: skip
    fastest = database.fastest
    if fast <= FASTER * fastest:
        return
    speeds = smoothed_speeds(clip.root_pos[:, None], clip.fps)
    frame = min(max(round(at_s * clip.fps) - (len(clip) - len(speeds)) // 2, 0), len(speeds) - 1)
    yield Problem.of(
        ProblemKind.TOO_FAST, where, what=what, speed=f"{fast:.1f} m/s", asked=fast,
        got=float(speeds[frame]) if len(speeds) else None, nearest=fastest,
        tolerance=(FASTER - 1) * fastest, unit="m/s", at_s=at_s, place=place,
        more=f"Slow it down to {100 * fastest / fast:.0f} % there.",
    )  # fmt: skip
