"""Curves of an FBX file: keys, what joins them, and their values at any time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from choreograph.base.arrays import Flags, Floats, Ints
from choreograph.base.errors import FormatError
from choreograph.formats._fbx_tree import Record
from choreograph.formats.assemble import MAX_LENGTH

TICKS = 46_186_158_000
"""Units of FBX time in a second."""
_CONSTANT, _LINEAR, _CUBIC = 0x2, 0x4, 0x8  # bits of a key's flags: how the curve goes on to the next key
_NEXT = 0x100
"""With a constant key: it takes the next key's value at once."""
_TCB, _USER, _CLAMP, _TIME_INDEPENDENT, _PROGRESSIVE = 0x200, 0x400, 0x1000, 0x2000, 0x4000
"""Bits of a cubic key: where its slopes come from."""
_WEIGHTED_RIGHT, _WEIGHTED_NEXT_LEFT = 0x1000000, 0x2000000  # bits: the tangent's length is given
_THIRD = 1.0 / 3.0  # length of a tangent without weight, as a share of the time to the next key


@dataclass(frozen=True, eq=False)
class FbxCurve:
    """Keys of one number over time, with Bézier handles between them."""

    times: Floats
    """Seconds, rising, (N,)."""
    values: Floats
    """(N,)"""
    slopes: Floats
    """Slope with which each span begins and ends, (N - 1, 2), units a second."""
    weights: Floats
    """Length of the handles as a share of the span, (N - 1, 2)."""
    steps: NDArray[np.int8]
    """How a span is joined: 0 by its handles, 1 keeps the first value, 2 takes the second at once, (N - 1,)."""

    def at(self, times: Floats) -> Floats:
        """Values at these times; before the first key and behind the last one theirs."""
        if len(self.times) == 1:
            return np.full(len(times), self.values[0])
        span = np.clip(np.searchsorted(self.times, times, side="right") - 1, 0, len(self.times) - 2)
        begin, length = self.times[span], np.diff(self.times)[span]
        share = np.clip((times - begin) / length, 0.0, 1.0)
        first, second = self.values[span], self.values[span + 1]
        left, right = self.weights[span].T
        along = _solve_share(share, left, right)
        low = first + self.slopes[span, 0] * left * length
        high = second - self.slopes[span, 1] * right * length
        back = 1 - along
        values = back**3 * first + 3 * back**2 * along * low + 3 * back * along**2 * high + along**3 * second
        values = np.where(self.steps[span] == 1, np.where(share < 1, first, second), values)
        return np.asarray(np.where(self.steps[span] == 2, np.where(share > 0, second, first), values))


def _solve_share(share: Floats, left: Floats, right: Floats) -> Floats:
    """The Bézier parameter at which a span's time has gone by this share; handles of a third make them equal."""
    along = share.copy()
    odd = np.flatnonzero((np.abs(left - _THIRD) > 1e-4) | (np.abs(right - _THIRD) > 1e-4))
    if len(odd):
        wanted, first, second = share[odd], left[odd], 1 - right[odd]
        low, high = np.zeros(len(odd)), np.ones(len(odd))
        for _ in range(40):  # the time is monotone in the parameter, as handles do not reach beyond the span
            middle = (low + high) / 2
            back = 1 - middle
            before = 3 * back**2 * middle * first + 3 * back * middle**2 * second + middle**3 < wanted
            low, high = np.where(before, middle, low), np.where(before, high, middle)
        along[odd] = (low + high) / 2
    return along


def read_curve(record: Record) -> FbxCurve | None:
    """The curve of an AnimationCurve record; None where it has no keys."""
    ticks, values = record.array("KeyTime"), record.array("KeyValueFloat")
    if ticks is None or values is None or len(ticks) == 0:
        return None
    if len(ticks) != len(values) or ticks.ndim != 1:
        raise FormatError(f"a curve has {len(ticks)} times for {len(values)} values")
    times, values = ticks.astype(np.float64) / TICKS, values.astype(np.float64)
    if not (np.abs(values) < MAX_LENGTH).all() or not (np.abs(times) < MAX_LENGTH).all():
        raise FormatError("a curve has values that are no sensible numbers")
    order = np.argsort(times, kind="stable")
    times, values = times[order], values[order]
    rising = np.append(np.diff(times) > 0, True)
    flags, data = _attributes(record, len(ticks))
    times, values, flags, data = times[rising], values[rising], flags[order][rising], data[order][rising]
    if len(times) == 1:
        return FbxCurve(times, values, np.zeros((0, 2)), np.zeros((0, 2)), np.zeros(0, np.int8))
    return _join(times, values, flags, data)


def _attributes(record: Record, count: int) -> tuple[Ints, Floats]:
    """Flags and four numbers of each key: they are stored once for runs of keys that share them."""
    flags, data, runs = (record.array(f"KeyAttr{name}") for name in ("Flags", "DataFloat", "RefCount"))
    if flags is None or data is None or runs is None or len(flags) == 0:
        return np.full(count, _LINEAR, np.int64), np.zeros((count, 4))
    if data.dtype.kind == "i":  # text files hold the bits of the floats as whole numbers
        data = (data.astype(np.int64) & 0xFFFFFFFF).astype(np.uint32).view(np.float32)
    if len(data) != 4 * len(flags) or len(runs) != len(flags) or runs.min() < 0 or runs.sum() != count:
        raise FormatError(f"the attributes of a curve's keys do not fit its {count} keys")
    # The third number is two shares of 1/10000 packed into its bits: kept as they are.
    which = np.repeat(np.arange(len(flags)), runs)
    bits = np.ascontiguousarray(data.astype(np.float32)).view(np.uint32).reshape(-1, 4)
    numbers = data.astype(np.float64).reshape(-1, 4)
    numbers[:, 2] = bits[:, 2]
    return flags.astype(np.int64)[which], numbers[which]


def _join(times: Floats, values: Floats, flags: Ints, data: Floats) -> FbxCurve:
    """The curve with slopes where keys leave them to be worked out."""
    lengths, rises = np.diff(times), np.diff(values)
    straight = rises / lengths
    slopes = np.stack([data[:-1, 0], data[:-1, 1]], axis=1)
    packed = data[:-1, 2].astype(np.int64)
    weights = np.full((len(lengths), 2), _THIRD)
    weighted = (flags[:-1] & _WEIGHTED_RIGHT) != 0
    weights[weighted, 0] = (packed[weighted] & 0xFFFF) * 1e-4
    weighted = (flags[:-1] & _WEIGHTED_NEXT_LEFT) != 0
    weights[weighted, 1] = (packed[weighted] >> 16) * 1e-4
    weights = np.clip(weights, 0.0, 1.0)
    automatic = ((flags & _CUBIC) != 0) & ((flags & (_TCB | _USER)) == 0)
    tcb = ((flags & _CUBIC) != 0) & ((flags & _TCB) != 0)
    smooth = _automatic_slopes(times, values, flags, straight)
    kochanek = _tcb_slopes(times, data, straight, tcb)
    for own, left, right in ((automatic, smooth, smooth), (tcb, *kochanek)):
        slopes[own[:-1], 0] = right[:-1][own[:-1]]
        slopes[own[1:], 1] = left[1:][own[1:]]
    linear = (flags[:-1] & _LINEAR) != 0
    slopes[linear] = straight[linear, None]
    steps = np.zeros(len(lengths), np.int8)
    constant = (flags[:-1] & _CONSTANT) != 0
    steps[constant] = np.where((flags[:-1] & _NEXT) != 0, 2, 1)[constant]
    if not (np.abs(slopes) < 1e15).all():
        raise FormatError("a curve has slopes that are no numbers")
    return FbxCurve(times, values, slopes, weights, steps)


def _automatic_slopes(times: Floats, values: Floats, flags: Ints, straight: Floats) -> Floats:
    """Slope at each key: from the key before to the one behind; flat or held back where the key says clamped.

    Of keys that are not marked as independent of time, that is half of it; the other half is the mean of the slopes to
    both, in which the nearer key counts more.
    """
    slopes = np.empty(len(times))
    slopes[0], slopes[-1] = straight[0], straight[-1]
    if len(times) > 2:
        slopes[1:-1] = (values[2:] - values[:-2]) / (times[2:] - times[:-2])
    before = np.concatenate([straight[:1], straight])
    behind = np.concatenate([straight, straight[-1:]])
    if len(times) > 2:
        share = (times[1:-1] - times[:-2]) / (times[2:] - times[:-2])
        near = (1 - share) * before[1:-1] + share * behind[1:-1]
        timed = (flags[1:-1] & _TIME_INDEPENDENT) == 0
        slopes[1:-1] = np.where(timed, 0.5 * (slopes[1:-1] + near), slopes[1:-1])
    progressive = (flags & _PROGRESSIVE) != 0
    # Handles of a third must not reach beyond the neighbours' values.
    sign = np.where(slopes >= 0, 1.0, -1.0)
    limit = np.maximum(0.0, np.minimum(sign * before, sign * behind)) * 3
    slopes = np.where(progressive, sign * np.minimum(sign * slopes, limit), slopes)
    scale = float(np.ptp(values)) or 1.0
    level = (np.abs(before) < 1e-6 * scale) | (np.abs(behind) < 1e-6 * scale)
    return np.where(((flags & _CLAMP) != 0) & level, 0.0, slopes)


def _tcb_slopes(times: Floats, data: Floats, straight: Floats, own: Flags) -> tuple[Floats, Floats]:
    """Slopes left and right of each key after Kochanek and Bartels: tension, continuity and bias are its numbers."""
    before = np.concatenate([straight[:1], straight])
    behind = np.concatenate([straight, straight[-1:]])
    tension, continuity, bias = (np.where(own, data[:, k], 0.0) for k in (0, 1, 2))
    tension, continuity, bias = (np.where(np.abs(x) <= 1, x, 0.0) for x in (tension, continuity, bias))
    left = 0.5 * (1 - tension) * ((1 - continuity) * (1 + bias) * before + (1 + continuity) * (1 - bias) * behind)
    right = 0.5 * (1 - tension) * ((1 + continuity) * (1 + bias) * before + (1 - continuity) * (1 - bias) * behind)
    return left, right
