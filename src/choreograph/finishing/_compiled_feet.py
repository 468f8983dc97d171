"""Compiled twins of the kernels that clean feet; imported on first use, since importing numba takes a while."""

from __future__ import annotations

import numpy as np

from choreograph.base.arrays import Flags, Floats, Ints
from choreograph.base.compiling import njit


@njit(cache=True, fastmath=False, nogil=True)
def fill_gaps(values: Floats, known: Flags, ease: Floats, most: int) -> Floats:
    """See `foot_contacts.fill_gaps_numpy`."""
    frames, width = values.shape
    out = np.zeros((frames, width))
    start = 0
    while start < frames:
        if known[start]:
            for k in range(width):
                out[start, k] = values[start, k]
            start += 1
            continue
        stop = start
        while stop < frames and not known[stop]:
            stop += 1
        for side in range(2):
            end, step = (start - 1, -1) if side == 0 else (stop, 1)
            if not 0 <= end < frames:
                continue
            room = max(1.0, min(ease[end], stop - start + 1.0))
            count = 0
            while count < most and 0 <= end + (count + 1) * step < frames and known[end + (count + 1) * step]:
                count += 1
            for f in range(start, stop):
                s = min(abs(f - end) / room, 1.0)
                for k in range(width):
                    speed = (values[end, k] - values[end + count * step, k]) / max(count, 1)
                    out[f, k] += (1 - s) ** 2 * ((1 + 2 * s) * values[end, k] + room * s * speed)
        start = stop
    return out


@njit(cache=True, fastmath=False, nogil=True)
def agree(heels: Floats, toes: Floats, pairs: Ints, wanted: Floats, shares: Floats) -> None:
    """See `foot_contacts.agree_numpy`."""
    step = np.empty((len(pairs), 2))
    for _ in range(40):
        most = 0.0
        for n in range(len(pairs)):
            x = toes[pairs[n, 1], 0] - heels[pairs[n, 0], 0]
            z = toes[pairs[n, 1], 2] - heels[pairs[n, 0], 2]
            share = 0.4 * (1 - wanted[n] / max(np.hypot(x, z), 1e-9))
            step[n, 0], step[n, 1] = share * x, share * z
            most = max(most, abs(step[n, 0]), abs(step[n, 1]))
        if most < 1e-6:
            break
        for n in range(len(pairs)):
            for k in range(2):
                heels[pairs[n, 0], 2 * k] += shares[n, 0] * step[n, k]
                toes[pairs[n, 1], 2 * k] -= shares[n, 1] * step[n, k]
