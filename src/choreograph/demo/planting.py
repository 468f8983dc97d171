"""Planting feet: where each foot stands, and how it rolls and swings in between, smooth to the second derivative.

A stance is heel strike (or toe strike), foot flat, heel off, toe off. While it lasts the foot has one place and one
direction on the floor: it rolls over its heel until it is flat, stands, then rolls over the ball of the foot. In
between the foot follows the model's pose plus a quintic correction, which meets position, speed and acceleration
of the stances at both ends.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.interpolate import CubicSpline

from choreograph.base import quat
from choreograph.base.arrays import Flags, Floats
from choreograph.demo.body import HEEL, TOE, TOE_HEIGHT, demo_skeleton
from choreograph.demo.contact_phases import FAR, ContactPhase
from choreograph.demo.curves import bump, jet, jet_times, quintic, smoothstep

Foot = tuple[Floats, Floats, Floats]
"""Ankle positions (F, 3), foot rotations (F, 4) and the toes' pitch against the foot (F,)."""

CATCH_UP_S = 0.12
"""Seconds in which a foot takes up the speed of the model's foot after toe off, and gives it up before it strikes."""
PROBE_AT = np.linspace(0.2, 0.8, 24)
"""Shares of a swing at which the foot's height over the floor is looked at, whatever the frame rate."""
HOVER_S = 0.13
"""Seconds before a strike in which a running foot comes down steeply, when it has given up most of its speed."""
FREE_S = 0.06
"""Seconds after toe off and before a strike in which a foot is not yet, or no longer, free to be pulled in."""
TOE_FIRST = 0.15
"""Pitch in radians from which on a foot lands on its toes rather than on its sole."""
CLEARANCE = 0.012
"""Least height of the sole over the floor in the middle of a swing, metres."""
_TIP = demo_skeleton().tip_offsets[demo_skeleton().tip_parents.tolist().index(demo_skeleton().index("LeftToeBase"))]


@dataclass(frozen=True, eq=False)
class FootTrack:
    """Where a foot is to be, frame by frame."""

    ankle_pos: Floats
    """(F, 3), metres."""
    foot_rot: Floats
    """Global rotation of the foot, (F, 4)."""
    toe_pitch: Floats
    """Turn of the toes against the foot about x, (F,), radians."""
    heel_down: Flags
    """Whether the ankle stands still, (F,)."""
    toe_down: Flags
    """Whether the ball of the foot stands still, (F,)."""
    weight: Floats
    """How much of the body the foot carries, 0 to 1, smooth; (F,)."""
    free: Floats
    """1 in the middle of a swing, 0 from just before it strikes until just after it left; (F,)."""


class _Raw:
    """The foot as the model's pose has it, at any time: one spline through all its numbers."""

    def __init__(self, times: Floats, ankle_pos: Floats, foot_rot: Floats, toe_pitch: Floats) -> None:
        ahead = quat.rotate(foot_rot, (0.0, 0.0, 1.0))
        pitch = np.unwrap(np.arctan2(-ahead[:, 1], np.hypot(ahead[:, 0], ahead[:, 2])))
        yaw = np.unwrap(np.arctan2(ahead[:, 0], ahead[:, 2]))
        ball = ankle_pos + quat.rotate(foot_rot, TOE)
        columns = [ankle_pos, quat.make_continuous(foot_rot), np.stack([toe_pitch, pitch, yaw], 1), ball[:, [0, 2]]]
        self._spline = CubicSpline(times, np.concatenate(columns, axis=1))

    def at(self, t: Floats) -> Foot:
        """Ankle position, foot rotation, pitch of the toes."""
        row = self._spline(t)
        return row[:, :3], quat.normalise(row[:, 3:7]), row[:, 7]

    def pitch(self, t: Floats) -> Floats:
        """Pitch of the foot, heel up positive, (F,)."""
        return np.asarray(self._spline(t)[:, 8])

    def place(self, t: Floats) -> Floats:
        """Direction of the foot on the floor, radians, and where its ball is, x and z, (F, 3)."""
        return np.asarray(self._spline(t)[:, 9:])


class _Planted:
    """One stance with its place on the floor: the foot as a function of time from strike to toe off."""

    def __init__(self, stance: ContactPhase, raw: _Raw, toe_place: Floats, yaw: float) -> None:
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
            tilt, *before_flat = raw.pitch(np.concatenate([[s.strike], jet_times(s.flat, -1.0)]))
            self.on_heel = bool(tilt < TOE_FIRST)
            # Nearly level already: the whole sole comes down at once.
            self.level = bool(0.0 <= tilt < TOE_FIRST)
            self._landing = (zero, -jet(np.array(before_flat), -1.0))
        if s.toe_off < FAR:
            self._leaving = (-jet(raw.pitch(jet_times(s.heel_off, 1.0)), 1.0), zero)

    def pitch(self, t: Floats) -> Floats:
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

    def at(self, t: Floats) -> Foot:
        """Ankle position, foot rotation, pitch of the toes, which stay level while the heel is up."""
        pitch = self.pitch(t)
        rot = quat.multiply(self.yaw_rot, quat.from_axis_angle((1.0, 0.0, 0.0), pitch))
        ankle = self.ball - quat.rotate(rot, TOE)
        early = t < self.stance.flat
        if self.on_heel and early.any():
            ankle[early] = self.heel - quat.rotate(rot[early], HEEL)
        return ankle, rot, -np.maximum(pitch, 0.0)


def _gaps(planted: _Planted, raw: _Raw) -> tuple[Floats, Floats]:
    """How far the planted foot is from the model's at strike and at toe off, as jets (3, 7).

    The seven numbers are ankle position, foot rotation vector and the toes' pitch.
    """
    s = planted.stance
    # A stance that lasts for ever on one side has no swing there; any time will do.
    strike, toe_off = s.strike if s.strike > -FAR else 0.0, s.toe_off if s.toe_off < FAR else 0.0
    t = np.concatenate([jet_times(strike, 1.0), jet_times(toe_off, -1.0)])
    (ankle_to, rot_to, toe_to), (ankle_from, rot_from, toe_from) = planted.at(t), raw.at(t)
    turn = quat.as_rotvec(quat.multiply(quat.inverse(rot_from), rot_to))
    gap = np.concatenate([ankle_to - ankle_from, turn, (toe_to - toe_from)[:, None]], axis=1)
    return jet(gap[:4], 1.0), jet(gap[4:], -1.0)


def _put_down(stance: ContactPhase, raw: _Raw, times: Floats, stand: Floats) -> _Planted:
    """A stance where the model's foot is on average while it is flat.

    Where the pose stands it counts most, as it knows where a foot belongs. Taken at times of its own, not at frames, so
    that a foot stands in the same place at any frame rate.
    """
    t = np.clip(np.linspace(max(stance.flat, times[0]), min(stance.heel_off, times[-1]), 32), times[0], times[-1])
    share = 1e-3 + np.interp(t, times, stand) ** 6
    yaw, *place = (share / share.sum()) @ raw.place(t)
    return _Planted(stance, raw, np.array(place), float(yaw))


def plant_foot(
    times: Floats,
    stances: list[ContactPhase],
    ankle_pos: Floats,
    foot_rot: Floats,
    toe_pitch: Floats,
    stand: Floats,
    lift: Floats,
    hover: Floats,
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
        hover: Extra height shortly before a strike, (F,), metres.
    """
    raw = _Raw(times, ankle_pos, foot_rot, toe_pitch)
    planted = [_put_down(s, raw, times, stand) for s in stances]
    ankle, rot, toes = np.array(ankle_pos), np.array(foot_rot), np.array(toe_pitch)
    heel_down, toe_down = np.zeros(len(times), bool), np.zeros(len(times), bool)
    weight, free = np.zeros(len(times)), np.zeros(len(times))
    for p in planted:
        s = p.stance
        inside = (times >= s.strike) & (times <= s.toe_off)
        t = times[inside]
        ankle[inside], rot[inside], toes[inside] = p.at(t)
        heel_down |= (times >= (s.strike if p.level else s.flat)) & (times <= s.heel_off)
        toe_down |= (times >= (s.flat if p.on_heel and not p.level else s.strike)) & (times <= s.toe_off)
        ramp = np.minimum((times - s.strike) / 0.1, (s.toe_off - times) / 0.1)
        weight = np.maximum(weight, np.clip(ramp, 0, 1))
    gaps = [_gaps(p, raw) for p in planted]
    for (before, (_, leave)), (after, (meet, _)) in pairwise(zip(planted, gaps, strict=True)):
        t0, t1 = before.stance.toe_off, after.stance.strike
        inside = (times > t0) & (times < t1)
        free[inside] = smoothstep(np.minimum(times[inside] - t0, t1 - times[inside]) / FREE_S)
        if inside.any():
            t = np.concatenate([times[inside], t0 + (t1 - t0) * PROBE_AT])
            foot = _swing(raw, t0, t1, leave, meet, t, np.interp(t, times, lift), np.interp(t, times, hover))
            ankle[inside], rot[inside], toes[inside] = (part[: -len(PROBE_AT)] for part in foot)
    return FootTrack(ankle, rot, toes, heel_down, toe_down, weight, free)


def _swing(
    raw: _Raw, t0: float, t1: float, leave: Floats, meet: Floats, t: Floats, lift: Floats, hover: Floats
) -> Foot:
    """One swing: the model's foot, corrected to leave one stance and meet the next.

    Args:
        raw: The model's foot.
        t0: Toe off, seconds.
        t1: The next strike.
        leave: Jet of the gap to the stance that ends, see `_gaps`.
        meet: Jet of the gap to the stance that begins.
        t: Times to make, the last of them being those of `PROBE_AT`.
        lift: Extra height in the middle of the swing at these times, metres.
        hover: Extra height shortly before the strike.
    """
    mend = _mend(leave, meet, t0, t1, t)
    ankle, rot, toes = raw.at(t)
    ankle = ankle + mend[:, :3]
    rot = quat.multiply(rot, quat.from_rotvec(mend[:, 3:6]))
    arch = bump((t - t0) / (t1 - t0))
    ankle[:, 1] += arch * lift + bump((t1 - t) / HOVER_S) * hover
    toes = _off_floor(ankle, rot, toes + mend[:, 6])
    low = sole_height(ankle, rot, toes)
    short = float(((CLEARANCE - low) / np.maximum(arch, 0.1))[-len(PROBE_AT) :].max())
    ankle[:, 1] += np.maximum(arch * max(short, 0.0), -low)
    return ankle, rot, toes


def _mend(start: Floats, stop: Floats, t0: float, t1: float, times: Floats) -> Floats:
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


def _off_floor(ankle_pos: Floats, foot_rot: Floats, toe_pitch: Floats) -> Floats:
    """The toes' pitch, bent up where their tips would go through the floor, (F,)."""
    ball = ankle_pos[:, 1] + quat.rotate(foot_rot, TOE)[:, 1]
    down = -quat.rotate(foot_rot, (0.0, 0.0, 1.0))[:, 1]
    up = quat.rotate(foot_rot, (0.0, 1.0, 0.0))[:, 1]
    length = float(np.hypot(_TIP[1], _TIP[2]))
    slant = float(np.arctan2(-_TIP[1], _TIP[2]))
    room = np.arcsin(np.clip((ball - (TOE_HEIGHT + _TIP[1])) / length, -1.0, 1.0))
    return np.asarray(np.minimum(toe_pitch, room - slant - np.arctan2(down, up)))


def sole_height(ankle_pos: Floats, foot_rot: Floats, toe_pitch: Floats) -> Floats:
    """Height of the lowest point of the sole over the floor, (F,), metres."""
    heel = ankle_pos + quat.rotate(foot_rot, HEEL)
    ball = ankle_pos + quat.rotate(foot_rot, TOE)
    toe_rot = quat.multiply(foot_rot, quat.from_axis_angle((1.0, 0.0, 0.0), toe_pitch))
    tip = ball + quat.rotate(toe_rot, _TIP)
    thickness = TOE_HEIGHT + _TIP[1]
    return np.asarray(np.minimum(np.minimum(heel[:, 1], ball[:, 1] - TOE_HEIGHT), tip[:, 1] - thickness))
