"""Bend a motion: the same steps along another path.

After Gleicher, "Motion path editing" (2001): the motion's own way over the floor is carried onto a path, sway and swing
are kept, and feet stand where they come down.
"""

PLACE = 62  # in lists of verbs
CHANGES = True  # a motion that exists, rather than finding one
