"""How recorded feet stand and swing, and where ankles of another body are to be for that.

Feet are flat while heel and ball stand, turn about the ball while the heel rises, and swing between where they stood
and where bones lead them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from choreograph.base import quat
from choreograph.base.arrays import Flags, Floats, Indices
from choreograph.base.quantiles import medians, quantile
from choreograph.motion.clip import Clip
from choreograph.motion.contacts import runs
from choreograph.motion.foot_geometry import columns, leg_length

Limb = tuple[Floats, Floats, Floats]
"""Where hip, knee and ankle are, (F, 3) each."""

_SETTLE_S = 0.06
"""Time in which a foot that comes down becomes level: it is when heel and ball stand."""
_RISE_SHARES = (0.025, 0.05)
"""How high an ankle rises, as a share of thigh and shin, from where it stands until its foot begins to leave the floor,
and until it has."""
_HAND_OVER_S = 0.1
"""Time over which a foot goes from its own place to standing on its ball, and back."""
_SWING_S = 0.15
"""Time over which a foot that was lifted is led by its bones, and before it comes down by its place."""


@dataclass(frozen=True, eq=False)
class Flat:
    """When a foot of the source stands flat, and how high its ankle then is."""

    weight: Floats
    """How surely it does, (F,), 0 to 1: it comes to rest and rises again over a short time."""
    low: Floats
    """Height of its ankle while it stands there, (F,), metres."""


def stands_flat(clip: Clip, side: str) -> Flat:
    """A foot is flat while heel and ball stand and the ankle is as low as it gets there.

    Heels count as standing when they already rise, and throughout a turn on the ball.
    """
    heel, ball = columns(clip, side)
    height = clip.global_positions()[:, clip.skeleton.need(f"{side}_foot"), 1]
    begins, ends = (share * leg_length(clip.skeleton) for share in _RISE_SHARES)
    weight, total, low = np.zeros(len(heel)), np.zeros(len(heel)), np.zeros(len(heel))
    width = _SETTLE_S * clip.fps + 1
    at = np.arange(len(heel))
    for start, stop in runs(heel & ball):
        lowest = quantile(height[start:stop], 0.2)
        near = slice(max(0, start - round(width)), stop + round(width))
        gap = np.maximum(np.maximum(start - at[near], at[near] - stop + 1), 0)
        raised = np.clip((lowest + ends - height[near]) / (ends - begins), 0.0, 1.0)
        share = _smooth(np.clip(1 - gap / width, 0.0, 1.0)) * _smooth(raised)
        low[near] += share * lowest
        total[near] += share
        weight[near] = np.maximum(weight[near], share)
    return Flat(weight, np.where(total > 0, low / np.maximum(total, 1e-12), height))


def _smooth(share: Floats) -> Floats:
    return share * share * (3 - 2 * share)


def _frames_to(known: Indices, frames: Indices) -> Indices:
    """How many frames each is away from the nearest of those known."""
    after = np.searchsorted(known, frames)
    before = np.abs(frames - known[np.clip(after - 1, 0, len(known) - 1)])
    return np.asarray(np.minimum(before, np.abs(known[np.clip(after, 0, len(known) - 1)] - frames)))


def plant_headings(clip: Clip, side: str, heading: Floats) -> Floats:
    """A heading, (F,), as one for each time a foot stands, and from one to the next between.

    A heel that rises turns the foot a little, and hips turn on; what lies to its side must not move for that.
    """
    heel, ball = columns(clip, side)
    whole = np.unwrap(heading)
    frames, values = [], []
    for start, stop in runs(heel | ball):
        flat = (heel & ball)[start:stop]
        usual = quantile(whole[start:stop][flat] if flat.any() else whole[start:stop], 0.5)
        frames += [start, stop - 1]
        values += [usual, usual]
    return np.interp(np.arange(len(heading)), frames, values) if frames else whole


def let_swing(clip: Clip, side: str, stands_at: Floats, led: Limb, lowest: float) -> Floats:
    """Where an ankle is to be, (F, 3): at its place while it stands, between that and its bones' end while it swings.

    Both are the same on legs of the same proportions. On others it is where least squares have it: what the ends of
    thigh and shin are off by for being turned, and the ankle off its place, all in metres. At a flexion f, an ankle
    moved across the leg by d moves both ends by d / (1 + cos f) together: it is best 1 / (2 + cos f) of the way from
    its place to the bones' end.
    """
    heel, ball = columns(clip, side)
    stands = heel | ball
    if not stands.any():
        return stands_at
    frames = np.arange(len(stands))
    known = np.flatnonzero(stands)
    gap = _frames_to(known, frames)
    share = np.clip(gap / max(1.0, _SWING_S * clip.fps), 0.0, 1.0)
    hip, knee, swings_at = led
    share = (_smooth(share) / (2 + _cosine(knee - hip, swings_at - knee)))[:, None]
    low = np.minimum(stands_at[:, 1], lowest)
    bones = np.column_stack([swings_at[:, 0], np.maximum(swings_at[:, 1], low), swings_at[:, 2]])
    return np.asarray((1 - share) * stands_at + share * bones)


def _cosine(one: Floats, other: Floats) -> Floats:
    """Cosines of the angles between vectors, (F,)."""
    size = np.linalg.norm(one, axis=1) * np.linalg.norm(other, axis=1)
    return np.asarray(np.sum(one * other, axis=1) / np.maximum(size, 1e-12))


def by_ball(clip: Clip, side: str, places: tuple[Floats, Floats, Floats, Floats], flat: Indices) -> Floats:
    """Where an ankle is to be, (F, 3): as the source's, or so that the ball of a raised heel stays where it stands."""
    wanted, ball_at, reach, heading = places
    heel, ball = columns(clip, side)
    # Feet of other lengths: at rest on the floor both ways agree.
    gap = wanted + reach - ball_at
    yaw = quat.from_yaw(heading)
    gaps = quat.rotate(yaw, medians(quat.rotate(quat.inverse(yaw), gap)[flat]))
    by_ball = ball_at + gaps - reach
    weight = within(ball & ~heel, _HAND_OVER_S * clip.fps)[:, None]
    return np.asarray((1 - weight) * wanted + weight * by_ball)


def within(flags: Flags, ramp: float) -> Floats:
    """How much each frame is among those that are set, (F,): 1 in them, less up to so many frames before and after."""
    at = np.arange(len(flags))
    weight = np.zeros(len(flags))
    for start, stop in runs(flags):
        near = slice(max(0, start - round(ramp)), stop + round(ramp))
        gap = np.maximum(np.maximum(start - at[near], at[near] - stop + 1), 0)
        weight[near] = np.maximum(weight[near], _smooth(np.clip(1 - gap / max(ramp, 1.0), 0.0, 1.0)))
    return weight
