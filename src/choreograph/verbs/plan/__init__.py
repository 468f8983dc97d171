"""Plan a way through a scene: near-optimal motion round obstacles, over gaps, on stones, under bars.

Recorded steps and blends of them, searched by anytime A*: interpolated motion graphs after Safonova and Hodgins (2007).
"""

PLACE = 25  # in lists of verbs
