"""What was asked of a performance and is not so in the finished motion: speed, way, segments, hands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from choreograph.base.arrays import Flags
from choreograph.contract.result import Problem
from choreograph.motion.clip import Clip
from choreograph.motion.contacts import runs
from choreograph.verbs.perform.control import PEAK_S, Control
from choreograph.verbs.perform.examples import SegmentDatabase, smoothed_speeds
from choreograph.verbs.perform.measure import WayErrors
from choreograph.verbs.perform.program import SegmentSequence
from choreograph.verbs.perform.request import SegmentConstraint
from choreograph.verbs.perform.trajectory import Trajectory

MEAN_M, WORST_M = 0.05, 0.20
"""Distances from the way from which on it counts as missed."""
FASTER = 1.1
"""How many times faster than any example a control may be before that is a problem."""
HELD_SHARE = 0.9
"""Share of the time that hands shall be held, below which that counts as missed."""


def speed_problems(way: Trajectory, where: str, database: SegmentDatabase, clip: Clip) -> Iterator[Problem]:
    """A way that is faster somewhere than any example."""
    speeds, fastest = way.smoothed(PEAK_S).speeds, database.fastest
    top = int(speeds.argmax())
    if speeds[top] > FASTER * fastest:
        x, z = way.places[top]
        text = (
            f"{speeds[top]:.1f} m/s at {top / way.fps:.1f} s is faster than any example ({fastest:.1f} m/s): "
            "the figure falls behind there; perform it more slowly, or add examples as fast"
        )
        yield _too_fast(text, where, float(speeds[top]), fastest, clip, top / way.fps, (float(x), 0.0, float(z)))


def leader_problems(control: Control, database: SegmentDatabase, clip: Clip) -> Iterator[Problem]:
    """A leader who is faster somewhere than any example's."""
    speeds, fastest = smoothed_speeds(control.points, control.fps), database.fastest
    if len(speeds) and speeds.max() > FASTER * fastest:
        top = int(speeds.argmax())
        at = top + (len(control.points) - len(speeds)) // 2
        x, _, z = control.points[at].mean(axis=0)
        text = (
            f"the leader goes at {speeds[top]:.1f} m/s at {at / control.fps:.1f} s, faster than any example "
            f"({fastest:.1f} m/s): the answer falls behind there; add examples as fast"
        )
        place = (float(x), 0.0, float(z))
        yield _too_fast(text, "leader", float(speeds[top]), fastest, clip, at / control.fps, place)


def way_problems(errors: WayErrors, where: str, clip: Clip) -> Iterator[Problem]:
    """A way that is missed."""
    if errors.mean > MEAN_M or errors.worst > WORST_M:
        at = int(errors.off.argmax())
        text = (
            f"it is {100 * errors.mean:.0f} cm off the way on average and {100 * errors.worst:.0f} cm at "
            f"{at / clip.fps:.1f} s: no example moves so; add some that do, or perform it more gently"
        )
        got = errors.worst if errors.worst > WORST_M else errors.mean
        yield Problem(text, where, 0.0, round(got, 4), unit="m", place=_place(clip, at))


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
        wanted = " or ".join(map(str, constraint.segments[:4])) + (" …" if len(constraint.segments) > 4 else "")
        text = f"at {at:.2f} s segment {wanted} shall be played, and the performance is over by then"
        got = None
        if playing:
            got = float(playing[0].segment)
            text = f"at {at:.2f} s segment {playing[0].segment} is played, not {wanted}"
        near = [p for p in sequence.pieces if p.segment in constraint.segments]
        if near:
            nearest = min(near, key=lambda p: max(p.start_s - at, at - p.stop_s))
            text += f", which is played from {nearest.start_s:.2f} to {nearest.stop_s:.2f} s"
        asked = float(constraint.segments[0]) if len(constraint.segments) == 1 else None
        spot = _place(clip, min(round(at * clip.fps), len(clip) - 1))
        yield Problem(text, f"constraints[{n}]", asked, got, place=spot)


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
        text = (
            f"hands that are held for {asked:.1f} s in the recordings are for {got:.1f} s here: the leader's are out "
            f"of reach, longest from {start / clip.fps:.1f} to {(start + longest) / clip.fps:.1f} s"
        )
        place = _place(clip, start + longest // 2)
        yield Problem(text, "leader", round(float(asked), 2), round(float(got), 2), unit="s", place=place)


def _too_fast(
    text: str, where: str, asked: float, fastest: float, clip: Clip, at_s: float, place: tuple[float, float, float]
) -> Problem:
    speeds = smoothed_speeds(clip.root_pos[:, None], clip.fps)
    frame = min(max(round(at_s * clip.fps) - (len(clip) - len(speeds)) // 2, 0), len(speeds) - 1)
    got = round(float(speeds[frame]), 3) if len(speeds) else None
    return Problem(text, where, round(asked, 3), got, round(fastest, 3), "m/s", place)


def _place(clip: Clip, frame: int) -> tuple[float, float, float]:
    x, _, z = clip.root_pos[frame]
    return round(float(x), 3), 0.0, round(float(z), 3)
