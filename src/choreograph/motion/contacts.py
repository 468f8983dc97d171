"""Foot plants: in which frames heels and toes stand on the floor."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from choreograph.base.arrays import Flags, Floats
from choreograph.base.errors import RoleError
from choreograph.base.quantiles import medians, quantile
from choreograph.motion import kinematics
from choreograph.motion.clip import Clip

_STEP_M = 0.10
"""Plants this much apart in height stand on different floors: a stair is 15 to 20 cm, a slipping marker 3."""
_RESTING_M_S = 0.15  # speed below which a foot rests
_RESTING_SECONDS = 0.15  # for which it rests at least
_MOST_SLOPE = 0.05
"""Of a floor that a capture was calibrated badly to, metres of height for each of way; what rises more is no floor."""
_SLOPE_WAY_M = 0.5
"""Way that feet have to rest along before they say much about a slope."""
_SLOPE_REST_M_S, _SLOPE_REST_S = 0.2, 0.1
"""A foot that is slower for so long rests for the slope's sake: those of somebody who strides out rest no longer."""
_SLOPE_FOUND = 1e-6
"""Change of heights, metres, and slope after which neither is looked for any longer."""
_SLOPE_NOISE_M = 0.005
"""Height by which a resting foot may be off its floor; farther off, it says less about a slope."""


@dataclass(frozen=True)
class ContactSettings:
    """When a foot joint counts as planted. It lands below the lower pair of limits and leaves above the higher."""

    land_height_m: float = 0.03
    """Height above its own standing height at which a joint may land."""
    leave_height_m: float = 0.045
    land_speed_m_s: float = 0.5
    """Speed over the floor, smoothed, below which a joint may land."""
    leave_speed_m_s: float = 0.75
    min_seconds: float = 0.06
    """Shorter plants, and shorter gaps between plants, are noise."""
    smooth_seconds: float = 0.05
    """Width of the moving average under which speed is measured."""


@dataclass(frozen=True)
class FootPlants:
    """What `find_foot_contacts` found."""

    planted: Flags
    """(F, feet), a column per joint of `skeleton.feet`."""
    standing_heights: Floats
    """Height of each foot joint when it stands on the floor, (feet,), metres."""
    floor_height: float
    """Height of the floor under the feet, metres: what the lowest foot joint stands on, in the middle of its way where
    the floor slopes."""
    floor_slope: tuple[float, float]
    """How much the floor rises along x and z, metres a metre: captures are calibrated to a degree or so."""
    moving_floor: bool
    """Whether plants lie at clearly different heights: steps, boxes, a slope. Then one floor does not hold."""


def detect_contacts(clip: Clip, settings: ContactSettings | None = None) -> Flags:
    """Which foot joints are planted in which frames, (F, len(clip.skeleton.feet)).

    >>> from choreograph.demo import demo_clip
    >>> walk = demo_clip("walk", 60.0)
    >>> detect_contacts(walk).shape == (len(walk), len(walk.skeleton.feet))
    True
    """
    return find_foot_contacts(clip, settings).planted


def with_detected_contacts(clip: Clip, settings: ContactSettings | None = None) -> Clip:
    """The clip with its foot plants; those it already has are kept."""
    return clip if clip.contacts is not None else clip.with_contacts(detect_contacts(clip, settings))


def find_foot_contacts(clip: Clip, settings: ContactSettings | None = None) -> FootPlants:
    """Foot plants by height and speed with hysteresis, the floor estimated from the feet themselves.

    >>> from choreograph.demo import demo_clip
    >>> find_foot_contacts(demo_clip("walk", 60.0)).moving_floor
    False

    Raises:
        RoleError: the skeleton has no known feet.
    """
    settings = settings or ContactSettings()
    feet = clip.skeleton.feet
    if not feet:
        raise RoleError(
            f"{clip.name!r} has no joint known to be a foot; say which are (with_roles): "
            "left_foot, left_toe, right_foot and right_toe"
        )
    pos = clip.global_positions()[:, feet]
    speed = _smooth_speed(pos, clip.fps, settings.smooth_seconds)
    slope = _floor_slope(pos, speed, clip.fps)
    flat = pos[..., [0, 2]]
    heights = pos[..., 1] - (flat - flat.mean(axis=(0, 1))) @ slope
    standing = _standing_heights(heights, speed, settings)
    planted = _hysteresis(heights - standing, speed, clip.fps, settings)
    levels = _support_levels(heights - standing, speed, clip.fps)
    floor = float(min(standing)) if len(standing) else 0.0
    moving = len(levels) > 1 and float(np.ptp(levels)) > _STEP_M
    return FootPlants(planted, standing, floor, (float(slope[0]), float(slope[1])), moving)


def _smooth_speed(pos: Floats, fps: float, seconds: float) -> Floats:
    """Speed of the joints over the floor and up and down, averaged over a short window, (F, feet), m/s."""
    speed = kinematics.speeds(pos, fps)
    width = max(1, round(seconds * fps)) | 1
    half = width // 2
    sums = np.zeros((len(pos) + width, pos.shape[1]))
    sums[1:] = np.concatenate([np.repeat(speed[:1], half, axis=0), speed, np.repeat(speed[-1:], half, axis=0)])
    np.cumsum(sums, axis=0, out=sums)
    return np.asarray((sums[width:] - sums[:-width]) / width)


def _floor_slope(pos: Floats, speed: Floats, fps: float) -> Floats:
    """How much the floor rises along x and z, (2,): by where feet rest; 0 where that does not explain their heights.

    All joints share the slope, and each has a height of its own above the floor. Rests at other heights, as on the toes
    or on a box, count the less the farther they are off.
    """
    shortest = max(2, round(_SLOPE_REST_S * fps))
    rests = [
        (k, *medians(pos[a:b, k]))
        for k in range(pos.shape[1])
        for a, b in runs(speed[:, k] < _SLOPE_REST_M_S)
        if b - a >= shortest
    ]
    joint = np.array([rest[0] for rest in rests], int)
    places, level = np.array([rest[1:] for rest in rests]).reshape(-1, 3), np.zeros(2)
    if len(rests) < pos.shape[1] + 2:
        return level
    heights, way = places[:, 1], places[:, [0, 2]] - places[:, [0, 2]].mean(axis=0)
    terms = np.concatenate([np.eye(pos.shape[1])[joint], way], axis=1)
    check = np.diag([1e-9] * pos.shape[1] + [_SLOPE_WAY_M**2] * 2)
    trust = np.ones(len(rests))
    slope = np.zeros(terms.shape[1])
    for _ in range(20):
        before = slope
        slope = np.linalg.solve(terms.T @ (trust[:, None] * terms) + check, terms.T @ (trust * heights))
        off = np.abs(heights - terms @ slope)
        trust = _SLOPE_NOISE_M / np.maximum(off, _SLOPE_NOISE_M)
        if np.abs(slope - before).max() < _SLOPE_FOUND:
            break
    usual = {k: quantile(heights[joint == k], 0.5) for k in set(joint.tolist())}
    apart = np.abs(heights - [usual[k] for k in joint.tolist()])
    explains = quantile(off, 0.5) < 0.5 * quantile(apart, 0.5)
    return np.asarray(slope[-2:]) if explains and np.hypot(*slope[-2:]) < _MOST_SLOPE else level


def _standing_heights(heights: Floats, speed: Floats, settings: ContactSettings) -> Floats:
    """Where each joint is when it stands: low among the frames in which it hardly moves."""
    out = np.empty(heights.shape[1])
    for k in range(heights.shape[1]):
        slow = speed[:, k] < settings.land_speed_m_s
        low = heights[slow, k] if slow.sum() >= 5 else heights[:, k]
        # Low, but not the single lowest frame: a marker slips now and then.
        out[k] = quantile(low, 0.05)
    return out


def _hysteresis(heights: Floats, speed: Floats, fps: float, settings: ContactSettings) -> Flags:
    land = (heights < settings.land_height_m) & (speed < settings.land_speed_m_s)
    stay = (heights < settings.leave_height_m) & (speed < settings.leave_speed_m_s)
    shortest = max(1, round(settings.min_seconds * fps))
    out = np.zeros(land.shape, bool)
    for k in range(land.shape[1]):
        for start, stop in runs(stay[:, k]):
            seeds = np.flatnonzero(land[start:stop, k])
            if len(seeds):  # from the first moment it may land until it leaves
                out[start + seeds[0] : stop, k] = True
        for start, stop in runs(~out[:, k]):
            if start > 0 and stop < len(out) and stop - start < shortest:
                out[start:stop, k] = True
        for start, stop in runs(out[:, k]):
            # A plant cut off by the clip's end may be the rest of a long one.
            if stop - start < shortest and start > 0 and stop < len(out):
                out[start:stop, k] = False
    return out


def _support_levels(heights: Floats, speed: Floats, fps: float) -> Floats:
    """Heights, above standing, of whatever foot joint is lowest while it rests: on one floor all near zero."""
    lowest = heights.argmin(axis=1)
    every = np.arange(len(heights))
    level, still = heights[every, lowest], speed[every, lowest] < _RESTING_M_S
    shortest = max(2, round(_RESTING_SECONDS * fps))
    return np.array([quantile(level[a:b], 0.5) for a, b in runs(still) if b - a >= shortest])


def runs(flags: Flags) -> list[tuple[int, int]]:
    """Ranges [start, stop) in which a row of flags is set."""
    padded = np.zeros(len(flags) + 2, bool)
    padded[1:-1] = flags
    edges = np.flatnonzero(padded[1:] != padded[:-1]).tolist()
    return list(zip(edges[::2], edges[1::2], strict=True))
