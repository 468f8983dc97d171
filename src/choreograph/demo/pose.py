"""The model's pose along a course: gaits, standing and jumps blended, and the slow sway of a living body."""

from __future__ import annotations

import numpy as np

from choreograph.base.arrays import Floats
from choreograph.demo.body import demo_skeleton
from choreograph.demo.curves import smoothstep
from choreograph.demo.model import CHANNELS, load_model
from choreograph.demo.plan import SHUFFLE_HZ, ClipPlan, Course, Jumping

SETTLE_S = 0.2
"""Seconds over which a jump's pose is blended with standing at either end."""
SHIFT_M, SHIFT_ROLL = 0.035, 0.035
"""How far the hips move over the standing foot in side steps, metres, and how far they list, radians."""


def pose_rows(plan: ClipPlan, course: Course) -> tuple[Floats, Floats]:
    """The point on the floor that carries the body, (F, 2), and the pose rows about it, (F, CHANNELS)."""
    model = load_model()
    args = (course.phase, course.speed, course.turn, course.accel)
    run = course.run[:, None]
    rows = np.zeros((len(course.times), CHANNELS))
    if (course.run < 1).any():
        rows += (1 - run) * model.walk.channels(*args)
    if (course.run > 0).any():
        rows += run * model.run.channels(*args)
    stand = course.stand[:, None]
    rows = (1 - stand) * rows + stand * model.stand
    place = np.array(course.place)
    for jump in plan.jumps:
        kind = model.jumps[jump.kind]
        leap = kind.channels((course.times - jump.start) / kind.times[-1])
        # Where the jump carries the body is part of the path, not of the pose.
        ahead = np.stack([np.sin(course.heading), np.cos(course.heading)], 1)
        place += (leap[:, 2] - leap[0, 2])[:, None] * ahead
        leap[:, 2] = 0.0
        blend = in_jump(jump, course.times)[:, None]
        rows = (1 - blend) * rows + blend * leap
    if plan.shuffle:
        # The weight goes over to the foot that stays: the left foot steps in the first half of a cycle.
        lean = stepping(course) * np.sin(course.phase)
        rows[:, 0] -= SHIFT_M * lean
        rows[:, 5] += SHIFT_ROLL * lean
    return place, rows + _sway(plan, course)


def stepping(course: Course) -> Floats:
    """1 while a figure that shuffles is stepping, 0 while it stands, (F,)."""
    return smoothstep(np.abs(np.gradient(course.phase, course.times)) / (np.pi * SHUFFLE_HZ))


def in_jump(jump: Jumping, times: Floats) -> Floats:
    """How much of the pose the jump has, 0 to 1, (F,)."""
    stop = jump.start + float(load_model().jumps[jump.kind].times[-1])
    return smoothstep((times - jump.start) / SETTLE_S) * smoothstep((stop - times) / SETTLE_S)


# Slow movement of a living body: channel, size when standing, size when moving (metres, radians), seconds per wave.
_SWAY = (
    *(("x", 0, 0.009, 0.0, 5.2), ("z", 2, 0.005, 0.0, 3.7)),
    *(("Hips", 2, 0.010, 0.004, 5.2), ("Hips", 1, 0.020, 0.008, 7.1)),
    *(("Spine1", 0, 0.010, 0.006, 3.9), ("Spine2", 0, 0.012, 0.006, 3.9), ("Spine2", 1, 0.015, 0.012, 6.3)),
    *(("Neck", 1, 0.030, 0.020, 6.7), ("Head", 1, 0.035, 0.020, 4.3), ("Head", 0, 0.020, 0.015, 5.9)),
    *(("LeftArm", 0, 0.015, 0.015, 4.7), ("RightArm", 0, 0.015, 0.015, 5.5)),
    *(("LeftForeArm", 1, 0.020, 0.025, 6.1), ("RightForeArm", 1, 0.020, 0.025, 5.0)),
)


def _sway(plan: ClipPlan, course: Course) -> Floats:
    """Small slow additions to the pose, (F, CHANNELS), from the plan's seed."""
    rng = np.random.default_rng(plan.seed)
    names = demo_skeleton().names
    out = np.zeros((len(course.times), CHANNELS))
    for name, axis, standing, moving, period in _SWAY:
        size = course.stand * standing + (1 - course.stand) * moving
        starts = rng.uniform(0, 2 * np.pi, 2)
        waves = np.sin(2 * np.pi * course.times / period + starts[0])
        waves += 0.5 * np.sin(2 * np.pi * course.times / (0.618 * period) + starts[1])
        column = axis if name in ("x", "z") else 3 + 3 * names.index(name) + axis
        out[:, column] += size * waves / 1.5
    return out
