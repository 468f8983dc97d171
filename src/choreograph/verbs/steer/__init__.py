"""Steer a character live: near-optimal motion from recorded steps, as a stick, a line or a script asks for it.

Recordings are cut into steps while a foot is planted. A linear program learns what every situation will cost from there
on, and each step is chosen by that value function: after Treuille, Lee and Popović, "Near-optimal character animation
with continuous control" (2007).
"""

PLACE = 35
