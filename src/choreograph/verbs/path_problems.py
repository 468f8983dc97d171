"""How a motion misses its path, in the same words for every verb that has one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from choreograph.contract.problem import Problem, ProblemKind, amount, moment
from choreograph.finishing.foot_contacts import longest_slide
from choreograph.goals.tolerance import TOLERANCE
from choreograph.motion.clip import Clip

REACHED = 0.99
"""Share of a path from which on it counts as completed."""
UNPLANTED_S = 0.3
"""Seconds without a planted foot, though one is planted in the recordings, from which on that is a problem."""


def path_missed(
    where: str, mean: float, worst: float, metrics: tuple[str, str], at_m: float | None = None, **facts: Any
) -> Iterator[Problem]:
    """A problem if the root's distance from a path is too large, on average or at most.

    >>> next(path_missed("path", 0.02, 0.31, ("path_mean", "path_worst"), at_m=4.0)).text
    'Path error 31 cm at 4.0 m, 2 cm on average; limit 20 cm.'

    Args:
        where: The field of the request that has the path.
        mean: Distance from the path, metres.
        worst: Largest distance, metres.
        metrics: Keys of the metrics that have mean and largest distance.
        at_m: How far along the path the largest distance is.
        facts: Other fields of the problem.
    """
    usual, most = TOLERANCE["path_mean"].most, TOLERANCE["path_worst"].most
    over = worst > most
    if not over and mean <= usual:
        return
    at = f"{at_m:.1f} m" if at_m is not None else f"{facts['at_s']:.1f} s" if "at_s" in facts else ""
    yield Problem.of(
        ProblemKind.PATH_MISSED,
        where,
        error=f"{amount(worst, 'm')}{' at ' if at else ' at most'}{at}, {amount(mean, 'm')} on average",
        limit=amount(most, "m") if over else f"{amount(usual, 'm')} on average",
        asked=0.0,
        got=worst if over else mean,
        tolerance=most if over else usual,
        unit="m",
        metric=metrics[over],
        **facts,
    )


def path_incomplete(path_m: float, reached: float, clip: Clip, more: str = "") -> Iterator[Problem]:
    """A problem if a motion ends before its path of so many metres does, by the share of it that it has reached."""
    if reached < REACHED:
        yield Problem.of(
            ProblemKind.PATH_INCOMPLETE, "path", left=(1 - reached) * path_m, length=path_m, asked=1.0, got=reached,
            tolerance=1 - REACHED, metric="path_reached", more=more, **moment(clip, len(clip) - 1),
        )  # fmt: skip


def feet_unplanted(clip: Clip, raw: Clip, along: Any) -> Iterator[Problem]:
    """A problem if no foot is planted for a while, though one is in the recordings.

    Args:
        clip: The finished motion.
        raw: The motion before its feet were cleaned.
        along: How far along the path each frame is, (F,), metres.
    """
    start, stop = longest_slide(raw, clip)
    seconds, middle = (stop - start) / clip.fps, (start + stop) // 2
    if seconds > UNPLANTED_S:
        yield Problem.of(
            ProblemKind.FEET_UNPLANTED, "path", asked=0.0, got=seconds, tolerance=UNPLANTED_S, unit="s",
            at_m=along[middle], **moment(clip, middle),
        )  # fmt: skip
