"""Facts of bodies and of physics that more than one room counts with, each with its source."""

GRAVITY_M_S2 = 9.81
"""Acceleration of what falls, at the earth's surface: the standard 9.80665, rounded."""
LATERAL_M_S2 = 1.5, 5.0
"""Lateral acceleration that people bear in curves at a walk, to 1.5 m/s, and at a run, from 3 m/s: what
recorded people do in tight curves."""
RUN_M_S = 2.2
"""Speed from which people run: √(0.5 g L) for a leg L of a metre (Alexander, 1989: walks change to runs at a Froude
number of half)."""
