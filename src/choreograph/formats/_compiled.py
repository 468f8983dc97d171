"""Compiled kernels of the text readers; imported on first use."""

from __future__ import annotations

import numpy as np

from choreograph.base.arrays import Bytes, Floats, Ints
from choreograph.base.compiling import njit

_POWERS = np.array([10.0**k for k in range(23)])


@njit(cache=True, nogil=True, inline="always")
def _is_space(c: int) -> bool:
    return c == 32 or (9 <= c <= 13)


@njit(cache=True, nogil=True)
def _parse_number(data: Bytes, at: int, end: int) -> tuple[float, int]:
    """The number at `at` and where it stops; a stop of -1 says that there is no finite number there.

    Digits are gathered into an integer and scaled once. Up to 15 digits and exponents within 22 that is correctly
    rounded; beyond, it may be off in the last place, and what is smaller than 1e-280 may come out as zero.
    """
    negative = False
    if at < end and (data[at] == 45 or data[at] == 43):
        negative = data[at] == 45
        at += 1
    mantissa, digits, scale, seen = np.uint64(0), 0, 0, False
    point = False
    while at < end:
        c = data[at]
        if 48 <= c <= 57:
            seen = True
            if digits < 18:
                mantissa = mantissa * np.uint64(10) + np.uint64(c - 48)
                if mantissa > 0:
                    digits += 1
                if point:
                    scale -= 1
            elif not point:
                scale += 1
        elif c == 46 and not point:
            point = True
        else:
            break
        at += 1
    if not seen:
        return 0.0, -1
    if at < end and (data[at] == 101 or data[at] == 69):
        at += 1
        down = False
        if at < end and (data[at] == 45 or data[at] == 43):
            down = data[at] == 45
            at += 1
        exponent, any_digit = 0, False
        while at < end and 48 <= data[at] <= 57:
            any_digit = True
            if exponent < 100000:
                exponent = exponent * 10 + (data[at] - 48)
            at += 1
        if not any_digit:
            return 0.0, -1
        scale += -exponent if down else exponent
    if at < end and not _is_space(data[at]):
        return 0.0, -1
    value = float(mantissa)
    if mantissa != 0:
        if -22 <= scale < 0:
            value /= _POWERS[-scale]
        elif 0 < scale <= 22:
            value *= _POWERS[scale]
        elif scale > 0:
            if scale + digits > 309:
                return 0.0, -1
            value *= 10.0**scale
        elif scale < -22:
            value = value * 10.0 ** (scale + 22) / 1e22 if scale > -300 else 0.0
    if not np.isfinite(value):
        return 0.0, -1
    return (-value if negative else value), at


@njit(cache=True, nogil=True)
def parse_numbers(data: Bytes, at: int) -> tuple[Floats, int]:
    """All numbers from `at` on, and the place of the first word that is none (-1 where all are)."""
    end = len(data)
    # A number and the blank after it take two bytes at least. Room that is not filled is never really taken.
    out = np.empty((end - at) // 2 + 1)
    count = 0
    while True:
        while at < end and _is_space(data[at]):
            at += 1
        if at >= end:
            return out[:count], -1
        value, stop = _parse_number(data, at, end)
        if stop < 0:
            return out[:count], at
        out[count] = value
        count += 1
        at = stop


@njit(cache=True, nogil=True)
def parse_amc(data: Bytes, at: int, names: Bytes, ends: Ints, counts: Ints, most: int) -> tuple[Floats, Ints, int]:
    """Values of every frame of an AMC body in which each frame lists the same bones in the same order.

    Args:
        data: The file's bytes.
        at: Where the first frame's number stands.
        names: The bones' names, one after another.
        ends: Where each name stops in `names`.
        counts: Numbers per bone.
        most: No more frames than this can be in the file.

    Returns:
        Values (F, sum of counts), the frames' own numbers (F,), and the place at which the pattern broke (-1: never).
    """
    out = np.empty((most, counts.sum()))
    numbers = np.empty(most, np.int64)
    end, frame = len(data), 0
    while True:
        while at < end and _is_space(data[at]):
            at += 1
        if at >= end:
            return out[:frame], numbers[:frame], -1
        if frame == most:
            return out[:frame], numbers[:frame], at
        value, stop = _parse_number(data, at, end)
        if stop < 0 or value != np.floor(value) or abs(value) > 1e15:
            return out[:frame], numbers[:frame], at
        numbers[frame] = int(value)
        at = stop
        column, begin = 0, 0
        for bone in range(len(ends)):
            while at < end and _is_space(data[at]):
                at += 1
            length = ends[bone] - begin
            if at + length > end:
                return out[:frame], numbers[:frame], at
            for k in range(length):
                if data[at + k] != names[begin + k]:
                    return out[:frame], numbers[:frame], at
            if at + length < end and not _is_space(data[at + length]):
                return out[:frame], numbers[:frame], at
            at += length
            begin = ends[bone]
            for _ in range(counts[bone]):
                while at < end and _is_space(data[at]):
                    at += 1
                value, stop = _parse_number(data, at, end)
                if stop < 0:
                    return out[:frame], numbers[:frame], at
                out[frame, column] = value
                column += 1
                at = stop
        frame += 1


@njit(cache=True, nogil=True)
def compute_rotations(
    values: Floats,
    columns: Ints,
    joints: Ints,
    turns: Ints,
    axes: Floats,
    radians: float,
) -> Floats:
    """See `channels.compute_rotations_numpy`; turns are 0-2, about x, y and z."""
    frames, n = len(values), len(axes)
    rot = np.empty((frames, n, 4))
    for f in range(frames):
        for j in range(n):
            for k in range(4):
                rot[f, j, k] = axes[j, k]
        for c in range(len(joints)):
            j = joints[c]
            half = 0.5 * radians * values[f, columns[c]]
            cos, sin = np.cos(half), np.sin(half)
            w, x, y, z = rot[f, j, 0], rot[f, j, 1], rot[f, j, 2], rot[f, j, 3]
            if turns[c] == 0:
                rot[f, j, 0], rot[f, j, 1] = w * cos - x * sin, w * sin + x * cos
                rot[f, j, 2], rot[f, j, 3] = y * cos + z * sin, z * cos - y * sin
            elif turns[c] == 1:
                rot[f, j, 0], rot[f, j, 1] = w * cos - y * sin, x * cos - z * sin
                rot[f, j, 2], rot[f, j, 3] = w * sin + y * cos, z * cos + x * sin
            else:
                rot[f, j, 0], rot[f, j, 1] = w * cos - z * sin, x * cos + y * sin
                rot[f, j, 2], rot[f, j, 3] = y * cos - x * sin, w * sin + z * cos
        for j in range(n):
            aw, ax, ay, az = axes[j, 0], -axes[j, 1], -axes[j, 2], -axes[j, 3]
            w, x, y, z = rot[f, j, 0], rot[f, j, 1], rot[f, j, 2], rot[f, j, 3]
            if ax != 0 or ay != 0 or az != 0:
                w, x, y, z = (
                    w * aw - x * ax - y * ay - z * az,
                    w * ax + x * aw + y * az - z * ay,
                    w * ay - x * az + y * aw + z * ax,
                    w * az + x * ay - y * ax + z * aw,
                )
            sign = 1.0
            if f > 0:
                before = rot[f - 1, j]
                if w * before[0] + x * before[1] + y * before[2] + z * before[3] < 0:
                    sign = -1.0
            rot[f, j, 0], rot[f, j, 1], rot[f, j, 2], rot[f, j, 3] = sign * w, sign * x, sign * y, sign * z
    return rot
