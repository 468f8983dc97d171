"""When each foot stands: heel strike, foot flat, heel off and toe off, from the gait's phase."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from choreograph.base.arrays import Floats

FAR = 1e9
"""Seconds that stand for ever."""
MOST_ROLL_S = 0.35
"""Longest time from heel off to toe off: a foot that stood for long stays flat until shortly before it goes."""


@dataclass(frozen=True)
class ContactPhase:
    """When one foot stands, in seconds."""

    strike: float
    flat: float
    heel_off: float
    toe_off: float


def find_stances(times: Floats, cycles: Floats, contact_phases: Floats) -> list[ContactPhase]:
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
        return [ContactPhase(-FAR, -FAR, FAR, FAR)]
    stances: list[ContactPhase] = []
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


def _stance(
    times: Floats, cycles: Floats, phases: Floats, strike: float, n: int, toe_off: float, m: int
) -> ContactPhase:
    flat, heel_off = -FAR, FAR
    if strike > -FAR:
        progress = cycles - phases[:, 1]
        flat = _crossing(times, progress, n) if progress[-1] >= n else strike + 0.12
        flat = min(max(flat, strike + 0.045), strike + 0.16)
    if toe_off < FAR:
        heel_off = max(_crossing(times, cycles - phases[:, 2], m), toe_off - MOST_ROLL_S, flat + 0.02)
    return ContactPhase(strike, flat, heel_off, toe_off)


def _crossing(times: Floats, rising: Floats, level: float) -> float:
    """The time at which a rising curve passes a level."""
    k = int(np.searchsorted(rising, level))
    if k == 0:
        return float(times[0])
    low, high = rising[k - 1], rising[min(k, len(rising) - 1)]
    return float(times[k - 1] + (times[min(k, len(times) - 1)] - times[k - 1]) * (level - low) / max(high - low, 1e-12))
