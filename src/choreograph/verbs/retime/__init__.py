"""Retime a motion: the same poses, in the same order, with somebody else's timing or its own.

Guided time warping, after Hsu, da Silva & Popović, "Guided Time Warping for Motion Editing" (2007): every pose is kept,
and the speeds and accelerations between them are taken from a reference motion, or from the motion itself.
"""

PLACE = 60  # in lists of verbs
CHANGES = True  # a motion that exists, rather than finding one
