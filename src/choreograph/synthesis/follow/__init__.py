"""Following a path: the walk through a motion graph whose root stays nearest to a line on the floor.

After Kovar, Gleicher and Pighin (2002) and Dirican (2014, section 4.2), with a beam in front of the branch and bound.
"""
