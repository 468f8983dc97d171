"""Retiming a clip from end to end: warp, render, measure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from choreograph.base.arrays import Floats
from choreograph.base.progress import Progress, silent
from choreograph.contract.problem import Problem, ProblemKind
from choreograph.finishing.foot_contacts import foot_slide
from choreograph.motion.clip import Clip
from choreograph.verbs.retime.curve import TimeWarp
from choreograph.verbs.retime.keys import KeyTime, check_keys
from choreograph.verbs.retime.measure import gravity_kept
from choreograph.verbs.retime.references import Reference
from choreograph.verbs.retime.render import render_warp
from choreograph.verbs.retime.request import RetimeRequest
from choreograph.verbs.retime.warp import GuidedWarp, Retimer

_KEY_S = 0.001
"""Seconds by which a key time may be missed without being a problem."""
_GRAVITY = 0.05
"""Share by which gravity in flight may change without being a problem."""


@dataclass(frozen=True)
class RetimeMetrics:
    """Numbers about a retiming."""

    recorded_s: float
    """From the first to the last frame, before."""
    seconds: float
    """The same, after."""
    slowest_rate: float
    """Least rate against the recording, over the frames of the result."""
    fastest_rate: float
    cost: float
    """Mean distance of the result's steps to the references; 1 is the length of a typical velocity and acceleration."""
    slide_before_m: float
    """How far planted feet wander, before."""
    slide_m: float
    """The same, after."""
    gravity: tuple[tuple[float, float], ...]
    """For each jump, gravity as recorded and as it is now, m/s²; NaN where it is too short to be measured."""


@dataclass(frozen=True, eq=False)
class Retimed:
    """A retimed motion, and what is known about it."""

    clip: Clip
    warp: TimeWarp
    keys: tuple[KeyTime, ...]
    source_frames: Floats
    """The frame of the motion that each frame of the result shows, (F,)."""
    still: tuple[tuple[int, int], ...]
    """Stretches of the motion, [start, stop), that were kept at a rate of their own."""
    metrics: RetimeMetrics
    problems: tuple[Problem, ...]


def retime_clip(
    clip: Clip,
    keys: Sequence[KeyTime | tuple[int, float]],
    references: Sequence[Reference] = (),
    request: RetimeRequest | None = None,
    progress: Progress | None = None,
) -> Retimed:
    """The motion with the same poses, in order, at the key times, with the references' timing between them.

    Args:
        clip: The motion.
        keys: Frames and the seconds at which they are shown; the first frame at 0, and the last, at least.
            `length_keys` makes them from a length.
        references: Motions whose timing is liked, or parts of motions; none for the motion's own timing.
        request: What the warp may do and how frames are made; its own key times do not count.
        progress: Hears how far the work is.

    Raises:
        RequestError: If key times or references do not fit the motion; the message says what would.

    >>> from choreograph.demo import demo_clip
    >>> from choreograph.verbs.retime.keys import length_keys
    >>> jump = demo_clip("jump", 60.0)
    >>> result = retime_clip(jump, length_keys(jump, 2.2))
    >>> len(result.clip), result.problems
    (132, ())
    """
    return retime_prepared(Retimer(clip, references, request), keys, progress)


def retime_prepared(
    retimer: Retimer, keys: Sequence[KeyTime | tuple[int, float]], progress: Progress | None = None
) -> Retimed:
    """The same with a motion and references that are prepared: for key times that are dragged."""
    report, clip, request = progress or silent, retimer.clip, retimer.request
    checked = check_keys(clip, keys)
    guided = retimer.solve(checked, progress)
    report("making frames", 0, 1)
    clip_out = render_warp(clip, guided.warp, request)
    report("making frames", 1, 1)
    rates = guided.warp.rates_at(np.linspace(0, guided.warp.length_s, len(clip_out.clip)))
    feet = bool(clip.skeleton.feet)
    metrics = RetimeMetrics(
        recorded_s=(len(clip) - 1) / clip.fps,
        seconds=guided.warp.length_s,
        slowest_rate=float(rates.min()),
        fastest_rate=float(rates.max()),
        cost=guided.cost,
        slide_before_m=foot_slide(clip) if feet else 0.0,
        slide_m=foot_slide(clip_out.clip) if feet else 0.0,
        gravity=tuple(gravity_kept(clip, clip_out.clip, guided.warp)) if feet else (),
    )
    problems = (
        *_key_problems(guided.warp, checked),
        *_still_problems(guided, request.advanced.still_rate),
        *_gravity_problems(metrics, retimer.as_recorded, request.spline_share),
    )
    return Retimed(clip_out.clip, guided.warp, checked, clip_out.source_frames, guided.still, metrics, problems)


def _key_problems(warp: TimeWarp, keys: Sequence[KeyTime]) -> list[Problem]:
    problems = []
    for key in keys:
        off = float(warp.frames_at(key.seconds)) - key.frame
        if abs(off) > _KEY_S * warp.fps:
            facts = {"asked": key.seconds, "got": float(warp.seconds_at(key.frame)), "tolerance": _KEY_S, "unit": "s"}
            problems.append(Problem.of(ProblemKind.KEY_TIME_MISSED, f"keys.{key.frame}", frame=str(key.frame), **facts))
    return problems


def _still_problems(guided: GuidedWarp, wanted: float | None) -> list[Problem]:
    """Still stretches that could not have the rate that was given for them."""
    problems = []
    for start, stop in guided.released if wanted else ():
        begin, end = guided.warp.seconds_at([start, stop - 1])
        got = float((stop - 1 - start) / guided.warp.fps / max(end - begin, 1e-6))
        facts = {"asked": wanted, "got": got, "unit": "×", "at_s": float(begin)}
        frames = f"{start} to {stop}, which stand still,"
        problems.append(Problem.of(ProblemKind.RATE_MISSED, "advanced.still_rate", frames=frames, **facts))
    return problems


def _gravity_problems(metrics: RetimeMetrics, as_recorded: bool, spline_share: float) -> list[Problem]:
    """Jumps that float or drop; with another motion's timing that may be what was wanted."""
    if not as_recorded:
        return []
    if spline_share:
        why = f"The spline has a share of {spline_share:g} in the warp; give it less (spline_share)."
    elif metrics.seconds < metrics.recorded_s:
        why = "There is too little time around it; allow more time (duration_s), or a larger largest_rate."
    else:
        why = (
            "There is too much time for the motion around it; allow less time (duration_s), or a smaller smallest_rate."
        )
    problems = []
    for n, (before, after) in enumerate(metrics.gravity):
        if abs(after / before - 1) <= _GRAVITY:
            continue
        over = math.isnan(after)
        what = f"Jump {n + 1} " + ("is too short to see how it falls" if over else f"falls at {-after:.1f} m/s²")
        what += f", recorded {-before:.1f} m/s²"
        problems.append(
            Problem.of(
                ProblemKind.GRAVITY_CHANGED, "spline_share" if spline_share else "duration_s", what=what,
                asked=before, got=None if over else after, tolerance=_GRAVITY * abs(before), unit="m/s²", more=why,
            )
        )  # fmt: skip
    return problems
