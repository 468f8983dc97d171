"""Compiled clean-up of feet as they are shown, without a look ahead: where a foot comes to stand it stays.

Recordings in the pool have clean feet already; what is left are the centimetres that blends and bends move a foot by.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from choreograph.base.arrays import Flags, Floats, Ints
from choreograph.base.compiling import njit

_JIT: dict[str, Any] = {"cache": True, "nogil": True, "error_model": "numpy"}

SPRING = 22.0
"""How fast a foot that is let go is back on its way, 1/s: a third of what is left after 0.1 s."""
ROOT_S = 0.12
"""Time in which the root follows its feet."""
FARTHEST_M = 0.2
"""A foot that would have to be held this far from where it is recorded is let go."""
_HINGE = 0.17
"""Sine of the flexion below which the leg's own plane says little about the knee's axis."""
_SOFT = 0.97
"""Share of a leg's length beyond which it resists being stretched."""

SHIFT, SPEED, YAW, HEEL, TOE, HEEL_ON, TOE_ON = 0, 3, 6, 7, 10, 13, 14
"""Where a leg's memory has the ankle's shift, its speed, the foot's turn, places of heel and toe, and what is held."""
MEMORY = 15


@njit(inline="always", **_JIT)
def _times(a: Floats, b: Floats, out: Floats) -> None:
    """The rotation that does b first, then a."""
    w = a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3]
    x = a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2]
    y = a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1]
    out[3] = a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0]
    out[0], out[1], out[2] = w, x, y


@njit(inline="always", **_JIT)
def _turned(q: Floats, v: Floats, out: Floats) -> None:
    """A vector turned."""
    cx = 2 * (q[2] * v[2] - q[3] * v[1])
    cy = 2 * (q[3] * v[0] - q[1] * v[2])
    cz = 2 * (q[1] * v[1] - q[2] * v[0])
    x = v[0] + q[0] * cx + q[2] * cz - q[3] * cy
    y = v[1] + q[0] * cy + q[3] * cx - q[1] * cz
    out[2] = v[2] + q[0] * cz + q[1] * cy - q[2] * cx
    out[0], out[1] = x, y


@njit(inline="always", **_JIT)
def _under(above: Floats, whole: Floats, out: Floats) -> None:
    """The local rotation that is `whole` in the world under a parent that is `above`."""
    out[0], out[1], out[2], out[3] = above[0], -above[1], -above[2], -above[3]
    _times(out, whole, out)


@njit(**_JIT)
def _place_foot(memory: Floats, ankle: Floats, toe: Floats, heel_on: bool, toe_on: bool, dt: float) -> None:
    """Bring a leg's memory to now: what is held, and the shift of the ankle that this asks for."""
    yaw = memory[YAW]
    cos, sin = math.cos(yaw), math.sin(yaw)
    sx, sz = toe[0] - ankle[0], toe[2] - ankle[2]
    if heel_on and memory[HEEL_ON] == 0:
        for k in range(3):
            memory[HEEL + k] = ankle[k] + memory[SHIFT + k]
    if toe_on and memory[TOE_ON] == 0:
        memory[TOE] = ankle[0] + memory[SHIFT] + sx * cos + sz * sin
        memory[TOE + 2] = ankle[2] + memory[SHIFT + 2] - sx * sin + sz * cos
    if heel_on and toe_on:
        hx, hz = memory[TOE] - memory[HEEL], memory[TOE + 2] - memory[HEEL + 2]
        turn = math.atan2(hx, hz) - math.atan2(sx, sz)
        turn -= 2 * math.pi * math.floor(turn / (2 * math.pi) + 0.5)
        if abs(turn) < 0.5 and hx * hx + hz * hz > 1e-4:
            yaw = turn
    elif not heel_on and not toe_on:
        yaw *= math.exp(-SPRING * dt / 2)
    memory[YAW] = yaw
    cos, sin = math.cos(yaw), math.sin(yaw)
    x, z, held = 0.0, 0.0, False
    if toe_on:
        x = memory[TOE] - (sx * cos + sz * sin) - ankle[0]
        z = memory[TOE + 2] - (-sx * sin + sz * cos) - ankle[2]
        held = True
    elif heel_on:
        x, z, held = memory[HEEL] - ankle[0], memory[HEEL + 2] - ankle[2], True
    if held and x * x + z * z > FARTHEST_M * FARTHEST_M:
        held, heel_on, toe_on = False, False, False
    if held:
        if dt > 0:
            memory[SPEED], memory[SPEED + 2] = (x - memory[SHIFT]) / dt, (z - memory[SHIFT + 2]) / dt
        memory[SHIFT], memory[SHIFT + 2] = x, z
    else:
        fade = math.exp(-SPRING * dt)
        for k in (0, 2):
            j = memory[SPEED + k] + memory[SHIFT + k] * SPRING
            memory[SHIFT + k] = fade * (memory[SHIFT + k] + j * dt)
            memory[SPEED + k] = fade * (memory[SPEED + k] - j * SPRING * dt)
    memory[HEEL_ON], memory[TOE_ON] = 1.0 if heel_on else 0.0, 1.0 if toe_on else 0.0


@njit(**_JIT)
def _solve(
    hip: Floats, knee: Floats, ankle: Floats, target: Floats, usual: Floats, swing: Floats, bend: Floats
) -> None:
    """Turns that bring the ankle to its target: of the whole leg, after that of the shin (see `motion.ik`)."""
    thigh, shin, away = knee - hip, ankle - knee, target - hip
    a, b = math.sqrt((thigh * thigh).sum()), math.sqrt((shin * shin).sum())
    axis = np.empty(3)
    axis[0] = (thigh[1] * shin[2] - thigh[2] * shin[1]) / max(a * b, 1e-12) + _HINGE * usual[0]
    axis[1] = (thigh[2] * shin[0] - thigh[0] * shin[2]) / max(a * b, 1e-12) + _HINGE * usual[1]
    axis[2] = (thigh[0] * shin[1] - thigh[1] * shin[0]) / max(a * b, 1e-12) + _HINGE * usual[2]
    axis /= max(math.sqrt((axis * axis).sum()), 1e-12)
    along = (axis * shin).sum()
    fixed = (axis * thigh).sum() * along
    even = (thigh * shin).sum() - fixed
    crossed = np.array(
        [
            axis[1] * shin[2] - axis[2] * shin[1],
            axis[2] * shin[0] - axis[0] * shin[2],
            axis[0] * shin[1] - axis[1] * shin[0],
        ]
    )
    odd = (thigh * crossed).sum()
    size = max(math.hypot(even, odd), 1e-12)
    squares = a * a + b * b + 2 * fixed
    straight = math.atan2(odd, even)
    wanted = math.sqrt((away * away).sum())
    now = ankle - hip
    recorded, longest = math.sqrt((now * now).sum()), math.sqrt(max(squares + 2 * size, 0.0))
    begin = min(max(_SOFT * longest, recorded), longest)
    room = max(longest - begin, 1e-9)
    reach = wanted if wanted <= begin else begin - room * math.expm1(-(wanted - begin) / room)
    flexion = math.acos(min(max((reach * reach - squares) / (2 * size), -1.0), 1.0))
    wrong = max(straight, 0.0)
    flexion -= 2 * wrong * min(max(1 - (flexion - wrong) / 0.3, 0.0), 1.0)
    half = (straight + flexion) / 2
    bend[0] = math.cos(half)
    for k in range(3):
        bend[1 + k] = math.sin(half) * axis[k]
    turned = np.empty(3)
    _turned(bend, shin, turned)
    turned += thigh
    turned /= max(math.sqrt((turned * turned).sum()), 1e-12)
    away /= max(wanted, 1e-12)
    swing[0] = 1 + (turned * away).sum()
    swing[1] = turned[1] * away[2] - turned[2] * away[1]
    swing[2] = turned[2] * away[0] - turned[0] * away[2]
    swing[3] = turned[0] * away[1] - turned[1] * away[0]
    length = math.sqrt((swing * swing).sum())
    if length < 1e-6:
        swing[0], swing[1], swing[2], swing[3] = 1.0, 0.0, 0.0, 0.0
    else:
        swing /= length


@njit(**_JIT)
def clean(
    root: Floats, rot: Floats, held: Flags, parents: Ints, offsets: Floats, legs: Ints, hinges: Floats,
    memory: Floats, shifts: Floats, dt: float,
) -> None:  # fmt: skip
    """Keep standing feet of N characters where they are, in place.

    Args:
        root: Root positions, (N, 3); changed.
        rot: Local rotations, (N, J, 4); changed.
        held: Which foot joints stand, (N, feet).
        parents: Of the joints, (J,).
        offsets: Of the joints, (J, 3).
        legs: Hip, knee, ankle, toe (or -1), and the columns of heel and toe, (L, 6).
        hinges: Axis of each knee in the thigh's frame, (L, 3).
        memory: What is remembered of each leg, (N, L, MEMORY); changed.
        shifts: By how much roots are moved, (N, 3); changed.
        dt: Seconds since the last time.
    """
    joints = rot.shape[1]
    pos, turn = np.empty((joints, 3)), np.empty((joints, 4))
    vector, above, whole = np.empty(3), np.empty(4), np.empty(4)
    swing, bend, shin, usual, yaw = np.empty(4), np.empty(4), np.empty(4), np.empty(3), np.zeros(4)
    for n in range(len(root)):
        for k in range(3):
            pos[0, k] = root[n, k]
        for k in range(4):
            turn[0, k] = rot[n, 0, k]
        for j in range(1, joints):
            p = parents[j]
            _times(turn[p], rot[n, j], turn[j])
            _turned(turn[p], offsets[j], vector)
            for k in range(3):
                pos[j, k] = pos[p, k] + vector[k]
        wanted_x, wanted_z = 0.0, 0.0
        for m in range(len(legs)):
            toe = legs[m, 3]
            heel_on, toe_on = held[n, legs[m, 4]], toe >= 0 and held[n, legs[m, 5]]
            tip = pos[toe] if toe >= 0 else pos[legs[m, 2]]
            _place_foot(memory[n, m], pos[legs[m, 2]], tip, heel_on, toe_on, dt)
            wanted_x += memory[n, m, SHIFT] / len(legs)
            wanted_z += memory[n, m, SHIFT + 2] / len(legs)
        share = -math.expm1(-dt / ROOT_S)
        shifts[n, 0] += share * (wanted_x - shifts[n, 0])
        shifts[n, 2] += share * (wanted_z - shifts[n, 2])
        for m in range(len(legs)):
            hip, knee, ankle = legs[m, 0], legs[m, 1], legs[m, 2]
            dx, dz = memory[n, m, SHIFT] - shifts[n, 0], memory[n, m, SHIFT + 2] - shifts[n, 2]
            angle = memory[n, m, YAW]
            if dx * dx + dz * dz < 1e-10 and abs(angle) < 1e-5:
                continue
            target = pos[ankle].copy()
            target[0] += dx
            target[2] += dz
            _turned(turn[hip], hinges[m], usual)
            _solve(pos[hip], pos[knee], pos[ankle], target, usual, swing, bend)
            _times(swing, turn[hip], whole)
            if parents[hip] >= 0:
                _under(turn[parents[hip]], whole, rot[n, hip])
            else:
                for k in range(4):
                    rot[n, hip, k] = whole[k]
            _times(swing, bend, shin)
            _times(swing, turn[parents[knee]], above)
            _times(shin, turn[knee], whole)
            _under(above, whole, rot[n, knee])
            _times(shin, turn[parents[ankle]], above)
            yaw[0], yaw[2] = math.cos(angle / 2), math.sin(angle / 2)
            _times(yaw, turn[ankle], whole)
            _under(above, whole, rot[n, ankle])
        for k in range(3):
            root[n, k] += shifts[n, k]
