"""The demo clips: what each one does, and making them.

Every walk begins and ends in the same steady gait, most of them at one speed, so that a motion graph finds its way from
each to each; starts and stops lead to standing, and the runs are reached through walking.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from choreograph.base.errors import RequestError
from choreograph.base.progress import Progress
from choreograph.demo.curves import Keys
from choreograph.demo.model import load_model
from choreograph.demo.plan import ClipPlan, Jumping
from choreograph.demo.synthesis import synthesise
from choreograph.motion.clip import Clip

WALK, SLOW, FAST, JOG, RUN = 1.3, 0.95, 1.65, 2.4, 3.7
"""The common speeds, metres a second."""
_STEADY_S = 1.0
"""Seconds of steady gait before and after a manoeuvre."""


def _turning(degrees: float, seconds: float, ramp: float = 0.5) -> Keys:
    """Keys of a turning rate that comes to so many degrees in so many seconds, both ramps included."""
    rate = float(np.radians(degrees)) / (seconds - ramp)
    start, stop = _STEADY_S, _STEADY_S + seconds
    return ((start, 0.0), (start + ramp, rate), (stop - ramp, rate), (stop, 0.0))


def _veer(name: str, rate: float, seconds: float, speed: float, run: float = 0.0) -> tuple[ClipPlan, ...]:
    """A long bend to either side."""
    gait = "walk" if run == 0 else "jog" if speed < 3 else "run"
    plans = []
    for sign, side in ((1, "left"), (-1, "right")):
        degrees = sign * float(np.degrees(rate)) * (seconds - 0.8)
        plans.append(
            ClipPlan(
                f"{name}_{side}",
                seconds + 2 * _STEADY_S,
                speed=((0, speed),),
                turn=_turning(degrees, seconds, 0.8),
                run=((0, run),),
                tags=(gait,),
                labels=((f"veer {side}", _STEADY_S, _STEADY_S + seconds),),
            )
        )
    return tuple(plans)


def _turn(
    name: str, degrees: float, seconds: float, speed: float, through: float, run: float = 0.0
) -> tuple[ClipPlan, ...]:
    """A turn to either side in a few steps, slower in the middle."""
    gait = "walk" if run == 0 else "jog" if speed < 3 else "run"
    start, stop = _STEADY_S, _STEADY_S + seconds
    plans = []
    for sign, side in ((1, "left"), (-1, "right")):
        plans.append(
            ClipPlan(
                f"{name}_{side}",
                seconds + 2 * _STEADY_S + 0.4,
                speed=((start - 0.5, speed), (start + 0.45 * seconds, through), (stop + 0.4, speed)),
                turn=_turning(sign * degrees, seconds, 0.45 * seconds),
                run=((0, run),),
                tags=(gait,),
                labels=((f"turn {side}", start, stop),),
            )
        )
    return tuple(plans)


def _aside(name: str, word: str, side_speed: float, rate: float) -> tuple[ClipPlan, ...]:
    """Steps to the side, or on the spot to turn, between two moments of standing."""
    plans = []
    for sign, side in ((1, "left"), (-1, "right")):
        keys = ((0.8, 0.0), (1.3, 1.0), (3.7, 1.0), (4.2, 0.0))
        plans.append(
            ClipPlan(
                f"{name}_{side}",
                5.0,
                side=tuple((t, sign * side_speed * v) for t, v in keys),
                turn=tuple((t, sign * rate * v) for t, v in keys),
                go=0.75,
                halt=4.15,
                strides=3.0,
                first=side,
                shuffle=True,
                labels=((f"{word} {side}", 0.8, 4.2), ("stand", 0.0, 0.8), ("stand", 4.2, 5.0)),
            )
        )
    return tuple(plans)


def _starts_and_stops() -> tuple[ClipPlan, ...]:
    plans = []
    for foot in ("left", "right"):
        plans.append(
            ClipPlan(
                f"start_{foot}_foot",
                4.5,
                speed=((0.85, 0.0), (2.1, WALK)),
                go=0.8,
                first=foot,
                labels=(("stand", 0.0, 0.8), ("start", 0.8, 2.1), ("walk", 0.8, 4.5)),
            )
        )
        plans.append(
            ClipPlan(
                f"stop_{foot}_foot",
                4.5,
                speed=((1.4, WALK), (2.9, 0.0)),
                halt=2.8,
                first=foot,
                labels=(("walk", 0.0, 2.8), ("stop", 1.4, 2.9), ("stand", 2.9, 4.5)),
            )
        )
    return tuple(plans)


def _jump(name: str, kind: str) -> ClipPlan:
    """A jump between two moments of standing."""
    start = 0.7
    stop = start + float(load_model().jumps[kind].times[-1])
    return ClipPlan(
        name,
        stop + 0.8,
        jumps=(Jumping(kind, start),),
        labels=(("stand", 0.0, start), ("jump", start, stop), ("stand", stop, stop + 0.8)),
    )


def _number(plans: tuple[ClipPlan, ...]) -> tuple[ClipPlan, ...]:
    """Each plan with its own seed, so that no two clips sway alike."""
    return tuple(replace(plan, seed=k) for k, plan in enumerate(plans))


PLANS: tuple[ClipPlan, ...] = _number(
    (
        ClipPlan("stand", 6.0, tags=("stand",)),
        *_starts_and_stops(),
        ClipPlan("walk", 6.0, speed=((0, WALK),), tags=("walk",)),
        ClipPlan("walk_slow", 5.0, speed=((0, SLOW),), tags=("walk",)),
        ClipPlan("walk_fast", 5.0, speed=((0, FAST),), tags=("walk",)),
        ClipPlan(
            "walk_changing_speed",
            9.0,
            speed=((1, WALK), (2.5, SLOW), (3.5, SLOW), (5.5, FAST), (6.5, FAST), (8, WALK)),
            tags=("walk",),
        ),
        *_veer("walk_veer_gentle", 0.25, 5.5, WALK),
        *_veer("walk_veer", 0.45, 6.0, WALK),
        *_veer("walk_veer_tight", 0.75, 5.0, WALK),
        ClipPlan(
            "walk_weave",
            8.0,
            speed=((0, WALK),),
            turn=((1, 0.0), (2, 0.5), (2.5, 0.5), (4, -0.5), (5.5, -0.5), (6.4, 0.4), (7, 0.0)),
            tags=("walk",),
        ),
        *_turn("walk_turn_90", 90, 1.7, WALK, 1.0),
        *_turn("walk_turn_about", 180, 2.5, WALK, 0.62),
        ClipPlan(
            "walk_to_jog",
            4.5,
            speed=((1, WALK), (2.6, JOG)),
            run=((1.55, 0.0), (2.15, 1.0)),
            labels=(("walk", 0.0, 1.85), ("jog", 1.85, 4.5)),
        ),
        ClipPlan(
            "jog_to_walk",
            4.5,
            speed=((1, JOG), (2.8, WALK)),
            run=((1.6, 1.0), (2.2, 0.0)),
            labels=(("jog", 0.0, 1.9), ("walk", 1.9, 4.5)),
        ),
        ClipPlan("jog", 5.0, speed=((0, JOG),), run=((0, 1.0),), tags=("jog",)),
        ClipPlan(
            "jog_run_jog",
            7.0,
            speed=((1, JOG), (2.5, RUN), (4.5, RUN), (6, JOG)),
            run=((0, 1.0),),
            labels=(("jog", 0.0, 1.8), ("run", 1.8, 5.2), ("jog", 5.2, 7.0)),
        ),
        ClipPlan("run", 4.0, speed=((0, RUN),), run=((0, 1.0),), tags=("run",)),
        *_veer("jog_veer", 0.5, 4.0, JOG, 1.0),
        *_turn("jog_turn_90", 90, 1.5, JOG, 2.1, 1.0),
        *_turn("run_turn_90", 90, 2.0, RUN, 2.6, 1.0),
        ClipPlan(
            "jog_to_stand",
            4.5,
            speed=((1.0, JOG), (2.7, 0.0)),
            run=((1.2, 1.0), (1.7, 0.0)),
            halt=2.6,
            labels=(("jog", 0.0, 1.5), ("stop", 1.0, 2.7), ("stand", 2.7, 4.5)),
        ),
        ClipPlan(
            "stand_to_jog",
            4.5,
            speed=((0.85, 0.0), (2.4, JOG)),
            run=((1.5, 0.0), (2.0, 1.0)),
            go=0.8,
            labels=(("stand", 0.0, 0.8), ("start", 0.8, 2.4), ("jog", 1.8, 4.5)),
        ),
        *(_jump(name, kind) for name, kind in (("jump", "place"), ("jump_high", "high"), ("jump_forward", "forward"))),
        ClipPlan(
            "walk_jump_walk",
            8.0,
            speed=((1.2, WALK), (2.6, 0.0), (4.75, 0.0), (6.0, WALK)),
            halt=2.5,
            go=4.7,
            jumps=(Jumping("forward", 2.6),),
            labels=(("walk", 0.0, 2.5), ("jump", 2.5, 4.7), ("walk", 4.7, 8.0)),
        ),
        *_aside("side_step", "side step", 0.27, 0.0),
        *_aside("pivot", "turn", 0.0, float(np.radians(90) / 2.9)),
    )
)


def demo_names() -> tuple[str, ...]:
    """Names of the demo clips, in order."""
    return tuple(plan.name for plan in PLANS)


def demo_clip(name: str, fps: float = 60.0) -> Clip:
    """One demo clip.

    Args:
        name: One of `demo_names()`.
        fps: Frames per second; the motion is the same at any rate.
    """
    for plan in PLANS:
        if plan.name == name:
            return synthesise(plan, _checked(fps))
    raise RequestError(f"there is no demo clip {name!r}; there are: {', '.join(demo_names())}")


def demo_clips(fps: float = 60.0, progress: Progress | None = None) -> list[Clip]:
    """All demo clips: the same every time, on one skeleton, with labels and true foot plants.

    Args:
        fps: Frames per second.
        progress: Told about every clip made.
    """
    rate = _checked(fps)
    clips = []
    for k, plan in enumerate(PLANS):
        if progress is not None:
            progress("making motion", k, len(PLANS))
        clips.append(synthesise(plan, rate))
    if progress is not None:
        progress("making motion", len(PLANS), len(PLANS))
    return clips


def _checked(fps: float) -> float:
    if not 10 <= fps <= 1000:
        raise RequestError(f"demo motion is made at 10 to 1000 frames per second, not {fps:g}")
    return float(fps)
