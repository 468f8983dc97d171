"""Follow a path: a motion in which the recorded person walks along it.

The walk through a motion graph whose root stays nearest to a line on the floor: after Kovar, Gleicher and Pighin (2002)
and Dirican (2014, section 4.2), with a beam in front of the branch and bound.
"""

PLACE = 10
