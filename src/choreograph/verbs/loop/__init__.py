"""Make a motion that repeats: the best cycle in a recording, its ends joined.

Game engines play walks, runs and idles as loops. The two moments that are most alike in pose and speed bound the cycle;
what still differs between them is taken up evenly over its length, and standing feet are held across the seam.
"""

PLACE = 66  # in lists of verbs
CHANGES = True  # a motion that exists, rather than finding one
