"""Steps that keyframes ask for without saying so: a foot that stands at two of them, at two places."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from choreograph.base.arrays import Flags, Floats
from choreograph.goals.target import Target
from choreograph.motion.clip import Clip
from choreograph.verbs.complete.feet import leg_side

APART_M = 0.02
"""How far apart a foot may stand at two keyframes and be the same plant: about what recorded feet wander."""
_STEP_S, _SPEED_M_S, _REST_S = 0.3, 1.0, 0.1
"""How long a step takes at least, how fast it gets, and how long the foot stands before and behind."""
_LIFT_M, _LIFT = 0.05, 0.2
"""How high a foot is lifted: at least, and as a share of the step's length."""


def take_steps(clip: Clip, stands: Flags, contacts: Flags, keys: Sequence[int]) -> tuple[list[Target], Flags]:
    """The ways of feet that stand from one keyframe to the next but not at one place, and which feet stand then.

    A foot steps where the motion moves it most while the other one stands, lifted, instead of gliding all the time.

    Args:
        clip: The motion, whose feet glide.
        stands: Which feet stand when, (F, feet).
        contacts: Which feet do what they are asked to when, (F, feet): these do not step.
        keys: Frames of key poses that are met exactly.
    """
    stands, targets = stands.copy(), []
    pos, feet = clip.global_positions()[:, list(clip.skeleton.feet)], list(clip.skeleton.feet)
    sides = [leg_side(clip.skeleton.roles[joint]) for joint in feet]
    for first, last in pairwise(sorted(keys)):
        for side in ("left", "right"):
            own = [n for n, known in enumerate(sides) if known == side]
            other = [n for n, known in enumerate(sides) if known not in (None, side)]
            within = slice(first, last + 1)
            if not own or contacts[within, own].any() or not stands[within, own].any(axis=1).all():
                continue
            way = pos[last, own] - pos[first, own]
            far = float(np.linalg.norm(way[:, [0, 2]], axis=1).min())
            frames = round((_STEP_S + far / _SPEED_M_S) * clip.fps)
            held = np.asarray(stands[:, other].any(axis=1), np.bool_)
            begin = _best_begin(pos[:, own].mean(axis=1), held, (first, last), frames, round(_REST_S * clip.fps))
            if far < APART_M or begin is None:
                continue
            stands[begin : begin + frames + 1, own] = False
            share = np.linspace(0.0, 1.0, frames + 1)[:, None]
            high = np.sin(np.pi * share) ** 2 * (max(_LIFT_M, _LIFT * far) * np.array([0.0, 1.0, 0.0]))
            eased = share**2 * (3 - 2 * share)
            for n, column in enumerate(own):
                values = pos[first, column] + eased * way[n] + high
                span = begin / clip.fps, (begin + frames) / clip.fps
                targets.append(Target("feet", "position", *span, (feet[column],), values, True))
    return targets, stands


def _best_begin(way: Floats, held: Flags, span: tuple[int, int], frames: int, rest: int) -> int | None:
    """Where a step of so many frames begins: where the foot moves most, the other one standing; None where it never
    stands so long."""
    begins = np.arange(span[0] + rest, span[1] - rest - frames + 1)
    begins = begins[[bool(held[n : n + frames + 1].all()) for n in begins]]
    if not len(begins):
        return None
    return int(begins[np.linalg.norm(way[begins + frames] - way[begins], axis=1).argmax()])
