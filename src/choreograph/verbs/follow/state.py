"""The columns of a search state: what is known of a walk under way, as a row of floats and a row of ints."""

YAW, COS, SIN, X, Z, WALKED, REACHED, COST, PAUSE, RANK, TURN, STRETCH = range(12)
"""Floats: where the clip lies on the floor (yaw with its cosine and sine, x, z), the way walked, how far along the path
the target is, the cost so far, seconds of a pause left, what walks of one age are ranked by, and the bend of the edge
that led here: radians by which it turns more to the left than recorded, and the share by which it is longer."""
FLOATS = 12

NODE, TIME, PARENT, EDGE, PAUSES = range(5)
"""Ints: the node reached, the frame and row of the state before, the edge from there, and the pauses begun."""
INTS = 5
