"""Complete a face: the most likely one through a few expressions and tracked landmarks; or convert it.

Landmarks are learned and completed by the model that `complete` has for bodies, without a root; weights of blend shapes
are solved behind.
"""

PLACE = 46  # in lists of verbs
