"""Lay one motion's upper body over another: wave while walking.

Legs, hips and the way stay those of the motion; arms, head and trunk, or whichever joints a mask names, become the
other's, faded in and out, by any weight.
"""

PLACE = 67  # in lists of verbs
CHANGES = True  # a motion that exists, rather than finding one
