"""Put a motion on another body: yours.

Every bone points where the recorded one does, steps are scaled by the length of the legs, and feet that stood still
stand still. Names of joints, units, rest poses and numbers of joints may all differ.
"""

PLACE = 64  # in lists of verbs
CHANGES = True  # a motion that exists, rather than finding one
