"""Complete a motion: the most likely one through a few keyframes, trajectories and contacts.

After Chai & Hodgins, "Constraint-based motion optimization using a statistical dynamic model" (2007).
"""

PLACE = 45  # in lists of verbs
