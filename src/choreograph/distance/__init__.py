"""Distances between windows of motion, and where they are smallest.

`window` says what the distance is; `minima` finds its local minima over all pairs of clips, cut into rectangles by
`tiles` and thinned out by `prune`. Everything here works on plain arrays.
"""
