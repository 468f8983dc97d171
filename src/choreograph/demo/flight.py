"""Flight: while no foot is on the floor, the body's centre of mass falls freely."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.interpolate import CubicSpline

from choreograph.base.arrays import Floats
from choreograph.demo.body import centre_of_mass
from choreograph.demo.contact_phases import ContactPhase
from choreograph.demo.curves import quintic
from choreograph.demo.model import load_model
from choreograph.demo.plan import ClipPlan
from choreograph.motion.facts import GRAVITY_M_S2

STRIDE_IN_S = 0.11
"""Seconds before and after the flight of a running step in which the hips are led into and out of their parabola."""
LEAST_FLIGHT_S = 0.03
"""Shortest flight that is treated as one, seconds."""


@dataclass(frozen=True)
class DemoFlight:
    """A time off the floor, in seconds, and the moments from and to which the hips may be moved for its sake."""

    before: float
    take_off: float
    landing: float
    after: float
    across: bool
    """Whether the flight along the floor is straight too, not only the height a parabola."""


def find_flights(plan: ClipPlan, stances: Mapping[str, Sequence[ContactPhase]], times: Floats) -> list[DemoFlight]:
    """Jumps, and the gaps between the steps of a run."""
    flights = []
    for jump in plan.jumps:
        _, crouch, take_off, landing, bottom, _ = jump.start + load_model().jumps[jump.kind].times
        flights.append(DemoFlight(crouch, take_off, landing, bottom, True))
    planted = sorted((s.strike, s.toe_off) for feet in stances.values() for s in feet)
    for (_, take_off), (landing, _) in pairwise(planted):
        inside = times[0] + STRIDE_IN_S < take_off and landing < times[-1] - STRIDE_IN_S
        leap = any(f.take_off < landing and take_off < f.landing for f in flights)
        if landing - take_off > LEAST_FLIGHT_S and inside and not leap:
            flights.append(DemoFlight(take_off - STRIDE_IN_S, take_off, landing, landing + STRIDE_IN_S, False))
    return flights


def fly(flights: Sequence[DemoFlight], times: Floats, pos: Floats, rot: Floats) -> Floats:
    """How far the hips move, (F, 3), for the centre of mass to fall freely between take-offs and landings.

    Before and after, what the parabola needs in speed is made up while the feet are down.
    """
    total = np.zeros((len(times), 3))
    if not flights:
        return total
    centre_now = centre_of_mass(pos, rot)
    centre = CubicSpline(times, centre_now)
    fall = np.array([0.0, -GRAVITY_M_S2, 0.0])
    ends = np.array([(f.take_off, f.landing) for f in flights])
    places, speeds = centre(ends), centre(ends, 1)
    for flight, place, speed in zip(flights, places, speeds, strict=True):
        span = flight.landing - flight.take_off
        start = (place[1] - place[0]) / span - fall * span / 2
        shift = np.zeros_like(total)
        aloft = slice(*np.searchsorted(times, [flight.take_off, flight.landing]))
        t = times[aloft, None] - flight.take_off
        shift[aloft] = place[0] + start * t + fall * t**2 / 2 - centre_now[aloft]
        # Place and speed are met; force may change at once, as it does when a foot leaves or strikes.
        rest = np.zeros((3, 3))
        leave, meet = np.array(rest), np.array(rest)
        leave[1], meet[1] = start - speed[0], start + fall * span - speed[1]
        for first, last, begin, end in (
            (flight.before, flight.take_off, rest, leave),
            (flight.landing, flight.after, meet, rest),
        ):
            window = slice(*np.searchsorted(times, [first, last]))
            shift[window] = quintic(begin, end, first, last, times[window])
        total += shift if flight.across else shift * np.array([0.0, 1.0, 0.0])
    return total
