"""Measure a motion's mechanics: centre of mass, momenta, ground forces, joint torques.

Inverse dynamics of a body whose masses come from anthropometric tables; the motion itself stays as it is.
"""

PLACE = 66  # in lists of verbs
CHANGES = True  # a motion that exists, rather than finding one
