"""Planting feet: when each foot stands, where, and how it rolls and swings in between, smooth to the second derivative.

A stance is heel strike (or toe strike), foot flat, heel off, toe off. While it lasts the foot has one place and one
direction on the floor: it rolls over its heel until it is flat, stands, then rolls over the ball of the foot. In
between the foot follows the model's pose plus a quintic correction, which meets position, speed and acceleration
of the stances at both ends.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline

from choreograph.demo.body import HEEL, TOE, TOE_HEIGHT, demo_skeleton
from choreograph.maths import quat

Array = NDArray[np.float64]
Foot = tuple[Array, Array, Array]
"""Ankle positions (F, 3), foot rotations (F, 4) and the toes' pitch against the foot (F,)."""

FAR = 1e9
"""Seconds that stand for ever."""
MOST_ROLL_S = 0.35
"""Longest time from heel off to toe off: a foot that stood for long stays flat until shortly before it goes."""
CATCH_UP_S = 0.12
"""Seconds in which a foot takes up the speed of the model's foot after toe off, and gives it up before it strikes."""
TOE_FIRST = 0.15
"""Pitch in radians from which on a foot lands on its toes rather than on its sole."""
CLEARANCE = 0.012
"""Least height of the sole over the floor in the middle of a swing, metres."""
_TIP = demo_skeleton().tip_offsets[demo_skeleton().tip_parents.tolist().index(demo_skeleton().index("LeftToeBase"))]


@dataclass(frozen=True)
class Stance:
    """When one foot stands, in seconds."""

    strike: float
    flat: float
    heel_off: float
    toe_off: float


@dataclass(frozen=True, eq=False)
class FootTrack:
    """Where a foot is to be, frame by frame."""

    ankle_pos: Array
    """(F, 3), metres."""
    foot_rot: Array
    """Global rotation of the foot, (F, 4)."""
    toe_pitch: Array
    """Turn of the toes against the foot about x, (F,), radians."""
    heel_down: NDArray[np.bool_]
    """Whether the ankle stands still, (F,)."""
    toe_down: NDArray[np.bool_]
    """Whether the ball of the foot stands still, (F,)."""
    weight: Array
    """How much of the body the foot carries, 0 to 1, smooth; (F,)."""


def find_stances(times: Array, cycles: Array, contact_phases: Array) -> list[Stance]:
    """Stances of one foot from its phase in cycles and the contact phases (F, 4) over time.

    A foot that is down when the steps begin, or does not leave the floor any more, stands for ever on that side.
    """
    events: list[tuple[float, str, int]] = []
    for kind, k in (("strike", 0), ("toe_off", 3)):
        progress = cycles - contact_phases[:, k]
        for n in range(int(np.ceil(progress[0])), int(np.floor(progress[-1])) + 1):
            events.append((_crossing(times, progress, n), kind, n))
    events.sort()
    if not events:
        return [Stance(-FAR, -FAR, FAR, FAR)]
    stances: list[Stance] = []
    down_at: tuple[float, int] | None = (-FAR, 0) if cycles[0] == cycles[1] or events[0][1] == "toe_off" else None
    for at, kind, n in events:
        if kind == "strike" and down_at is None:
            down_at = (at, n)
        elif kind == "toe_off" and down_at is not None:
            stances.append(_stance(times, cycles, contact_phases, *down_at, at, n))
            down_at = None
    if down_at is not None:
        stances.append(_stance(times, cycles, contact_phases, *down_at, FAR, 0))
    return stances


def _stance(times: Array, cycles: Array, phases: Array, strike: float, n: int, toe_off: float, m: int) -> Stance:
    flat, heel_off = -FAR, FAR
    if strike > -FAR:
        progress = cycles - phases[:, 1]
        flat = _crossing(times, progress, n) if progress[-1] >= n else strike + 0.12
        flat = min(max(flat, strike + 0.045), strike + 0.16)
    if toe_off < FAR:
        heel_off = max(_crossing(times, cycles - phases[:, 2], m), toe_off - MOST_ROLL_S, flat + 0.02)
    return Stance(strike, flat, heel_off, toe_off)


def _crossing(times: Array, rising: Array, level: float) -> float:
    """The time at which a rising curve passes a level."""
    k = int(np.searchsorted(rising, level))
    if k == 0:
        return float(times[0])
    low, high = rising[k - 1], rising[min(k, len(rising) - 1)]
    return float(times[k - 1] + (times[min(k, len(times) - 1)] - times[k - 1]) * (level - low) / max(high - low, 1e-12))


def quintic(start: Array, stop: Array, t0: float, t1: float, times: Array) -> Array:
    """The quintic through value, first and second derivative at both ends, (F, ...).

    Args:
        start: Value, slope and bend at t0, (3, ...).
        stop: The same at t1.
        t0: Seconds.
        t1: Seconds, later than t0.
        times: Where to evaluate, (F,).
    """
    span = t1 - t0
    u = ((times - t0) / span).reshape(-1, *([1] * (np.ndim(start) - 1)))
    a0, a1, a2 = start[0], start[1] * span, start[2] * span**2 / 2
    b0, b1, b2 = stop[0], stop[1] * span, stop[2] * span**2
    gap, slope, bend = b0 - a0 - a1 - a2, b1 - a1 - 2 * a2, b2 - 2 * a2
    c3 = 10 * gap - 4 * slope + bend / 2
    c4 = -15 * gap + 7 * slope - bend
    c5 = 6 * gap - 3 * slope + bend / 2
    return np.asarray(a0 + u * (a1 + u * (a2 + u * (c3 + u * (c4 + u * c5)))))


def jet(curve: Callable[[Array], Array], at: float, side: float) -> Array:
    """Value, slope and bend of a curve at a time, by differences taken on one side of it (+1 after, -1 before)."""
    h = 2e-3
    y = curve(np.asarray(at + side * h * np.arange(4), float))
    slope = side * (-11 * y[0] + 18 * y[1] - 9 * y[2] + 2 * y[3]) / (6 * h)
    bend = (2 * y[0] - 5 * y[1] + 4 * y[2] - y[3]) / h**2
    return np.stack([y[0], slope, bend])


class _Raw:
    """The foot as the model's pose has it, at any time: one spline through all its numbers."""

    def __init__(self, times: Array, ankle_pos: Array, foot_rot: Array, toe_pitch: Array) -> None:
        ahead = quat.rotate(foot_rot, (0.0, 0.0, 1.0))
        pitch = np.unwrap(np.arctan2(-ahead[:, 1], np.hypot(ahead[:, 0], ahead[:, 2])))
        columns = [ankle_pos, quat.make_continuous(foot_rot), toe_pitch[:, None], pitch[:, None]]
        self._spline = CubicSpline(times, np.concatenate(columns, axis=1))

    def at(self, t: Array) -> Foot:
        """Ankle position, foot rotation, pitch of the toes."""
        row = self._spline(t)
        return row[:, :3], quat.normalise(row[:, 3:7]), row[:, 7]

    def pitch(self, t: Array) -> Array:
        """Pitch of the foot, heel up positive, (F,)."""
        return np.asarray(self._spline(t)[..., 8])


class _Planted:
    """One stance with its place on the floor: the foot as a function of time from strike to toe off."""

    def __init__(self, stance: Stance, raw: _Raw, toe_place: Array, yaw: float) -> None:
        self.stance = stance
        self.raw = raw
        self.yaw_rot = quat.from_yaw(yaw)
        self.ball = np.array([toe_place[0], TOE_HEIGHT, toe_place[1]])
        ankle = self.ball - quat.rotate(self.yaw_rot, TOE)
        self.heel = ankle + quat.rotate(self.yaw_rot, HEEL)
        s = stance
        self.on_heel, self.level = True, False
        zero = np.zeros(3)
        if s.strike > -FAR:
            tilt = float(raw.pitch(np.array(s.strike)))
            self.on_heel = tilt < TOE_FIRST
            # Nearly level already: the whole sole comes down at once.
            self.level = 0.0 <= tilt < TOE_FIRST
            self._landing = (zero, -jet(raw.pitch, s.flat, -1.0))
        if s.toe_off < FAR:
            self._leaving = (-jet(raw.pitch, s.heel_off, 1.0), zero)

    def pitch(self, t: Array) -> Array:
        """Pitch of the foot, heel up positive, (F,)."""
        s = self.stance
        out = np.zeros_like(t)
        early = t < s.flat
        if early.any() and not self.level:
            value = self.raw.pitch(t[early]) + quintic(*self._landing, s.strike, s.flat, t[early])
            out[early] = np.minimum(value, 0.0) if self.on_heel else np.maximum(value, 0.0)
        late = t > s.heel_off
        if late.any():
            value = self.raw.pitch(t[late]) + quintic(*self._leaving, s.heel_off, s.toe_off, t[late])
            out[late] = np.maximum(value, 0.0)
        return out

    def at(self, t: Array) -> Foot:
        """Ankle position, foot rotation, pitch of the toes, which stay level while the heel is up."""
        pitch = self.pitch(t)
        rot = quat.multiply(self.yaw_rot, quat.from_axis_angle((1.0, 0.0, 0.0), pitch))
        ankle = self.ball - quat.rotate(rot, TOE)
        early = t < self.stance.flat
        if self.on_heel and early.any():
            ankle[early] = self.heel - quat.rotate(rot[early], HEEL)
        return ankle, rot, -np.maximum(pitch, 0.0)


def plant_foot(
    times: Array,
    stances: list[Stance],
    ankle_pos: Array,
    foot_rot: Array,
    toe_pitch: Array,
    stand: Array,
    lift: Array,
) -> FootTrack:
    """The foot's track through its stances.

    Args:
        times: Seconds, (F,).
        stances: In order of time, not overlapping.
        ankle_pos: Ankle of the pose to follow, (F, 3), metres.
        foot_rot: Global rotation of its foot, (F, 4).
        toe_pitch: Turn of its toes about x, (F,), radians.
        stand: Where the pose stands, 0 to 1, (F,): there a foot's place is taken from.
        lift: Extra height in the middle of a swing, (F,), metres.
    """
    raw = _Raw(times, ankle_pos, foot_rot, toe_pitch)
    ball = ankle_pos + quat.rotate(foot_rot, TOE)
    ahead = quat.rotate(foot_rot, (0.0, 0.0, 1.0))
    yaw = np.unwrap(np.arctan2(ahead[:, 0], ahead[:, 2]))
    planted = []
    for s in stances:
        inside = (times >= s.flat) & (times <= s.heel_off)
        if not inside.any():
            inside[np.abs(times - 0.5 * (s.flat + s.heel_off)).argmin()] = True
        # Standing poses know where the foot belongs; steps under way take the middle of what the model does.
        share = inside * (1e-3 + np.maximum(stand, 0.0) ** 6)
        share /= share.sum()
        planted.append(_Planted(s, raw, share @ ball[:, [0, 2]], float(share @ yaw)))

    ankle, rot, toes = np.array(ankle_pos), np.array(foot_rot), np.array(toe_pitch)
    heel_down, toe_down = np.zeros(len(times), bool), np.zeros(len(times), bool)
    weight = np.zeros(len(times))
    for p in planted:
        s = p.stance
        inside = (times >= s.strike) & (times <= s.toe_off)
        t = times[inside]
        ankle[inside], rot[inside], toes[inside] = p.at(t)
        heel_down |= (times >= (s.strike if p.level else s.flat)) & (times <= s.heel_off)
        toe_down |= (times >= (s.flat if p.on_heel and not p.level else s.strike)) & (times <= s.toe_off)
        ramp = np.minimum((times - s.strike) / 0.1, (s.toe_off - times) / 0.1)
        weight = np.maximum(weight, np.clip(ramp, 0, 1))
    for before, after in pairwise(planted):
        t0, t1 = before.stance.toe_off, after.stance.strike
        inside = (times > t0) & (times < t1)
        if inside.any():
            _swing(times, inside, raw, before, after, lift, ankle, rot, toes)
    return FootTrack(ankle, rot, toes, heel_down, toe_down, weight)


def _swing(
    times: Array,
    inside: NDArray[np.bool_],
    raw: _Raw,
    before: _Planted,
    after: _Planted,
    lift: Array,
    ankle: Array,
    rot: Array,
    toes: Array,
) -> None:
    """Fill in the frames of one swing: the model's foot, corrected to leave one stance and meet the next."""
    t0, t1, t = before.stance.toe_off, after.stance.strike, times[inside]

    def gap(planted: _Planted) -> Callable[[Array], Array]:
        def at(when: Array) -> Array:
            (ankle_to, rot_to, toe_to), (ankle_from, rot_from, toe_from) = planted.at(when), raw.at(when)
            turn = quat.as_rotvec(quat.multiply(quat.inverse(rot_from), rot_to))
            return np.concatenate([ankle_to - ankle_from, turn, (toe_to - toe_from)[:, None]], axis=1)

        return at

    mend = _mend(jet(gap(before), t0, -1.0), jet(gap(after), t1, 1.0), t0, t1, t)
    ankle[inside] += mend[:, :3]
    rot[inside] = quat.multiply(rot[inside], quat.from_rotvec(mend[:, 3:6]))
    toes[inside] += mend[:, 6]
    u = (t - t0) / (t1 - t0)
    bump = 64 * (u * (1 - u)) ** 3
    ankle[inside, 1] += bump * lift[inside]
    toes[inside] = _off_floor(ankle[inside], rot[inside], toes[inside])
    low = sole_height(ankle[inside], rot[inside], toes[inside])
    middle = (u > 0.2) & (u < 0.8)
    if middle.any():
        short = ((CLEARANCE - low) / np.maximum(bump, 1e-9))[middle].max()
        if short > 0:
            ankle[inside, 1] += short * bump
            low = low + short * bump
    ankle[inside, 1] += np.maximum(-low, 0.0)


def _mend(start: Array, stop: Array, t0: float, t1: float, times: Array) -> Array:
    """A curve with these jets at its ends: places change over the whole span, speeds and forces near the ends only.

    A foot that is let go while the body is under way catches up at once; a single quintic would trail it behind.
    """
    place, rest = np.zeros_like(start), np.zeros_like(start)
    place[0], rest[0] = start[0], stop[0]
    out = quintic(place, rest, t0, t1, times)
    window = min(CATCH_UP_S, t1 - t0)
    nothing = np.zeros_like(start)
    for end, first, last in ((start, t0, t0 + window), (stop, t1 - window, t1)):
        inside = (times > first) & (times < last)
        motion = np.array(end)
        motion[0] = 0.0
        ends = (motion, nothing) if end is start else (nothing, motion)
        out[inside] += quintic(*ends, first, last, times[inside])
    return out


def _off_floor(ankle_pos: Array, foot_rot: Array, toe_pitch: Array) -> Array:
    """The toes' pitch, bent up where their tips would go through the floor, (F,)."""
    ball = ankle_pos[:, 1] + quat.rotate(foot_rot, TOE)[:, 1]
    down = -quat.rotate(foot_rot, (0.0, 0.0, 1.0))[:, 1]
    up = quat.rotate(foot_rot, (0.0, 1.0, 0.0))[:, 1]
    length = float(np.hypot(_TIP[1], _TIP[2]))
    slant = float(np.arctan2(-_TIP[1], _TIP[2]))
    room = np.arcsin(np.clip((ball - (TOE_HEIGHT + _TIP[1])) / length, -1.0, 1.0))
    return np.asarray(np.minimum(toe_pitch, room - slant - np.arctan2(down, up)))


def sole_height(ankle_pos: Array, foot_rot: Array, toe_pitch: Array) -> Array:
    """Height of the lowest point of the sole over the floor, (F,), metres."""
    heel = ankle_pos + quat.rotate(foot_rot, HEEL)
    ball = ankle_pos + quat.rotate(foot_rot, TOE)
    toe_rot = quat.multiply(foot_rot, quat.from_axis_angle((1.0, 0.0, 0.0), toe_pitch))
    tip = ball + quat.rotate(toe_rot, _TIP)
    thickness = TOE_HEIGHT + _TIP[1]
    return np.asarray(np.minimum(np.minimum(heel[:, 1], ball[:, 1] - TOE_HEIGHT), tip[:, 1] - thickness))
