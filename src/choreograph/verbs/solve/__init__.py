"""Solve a request: motions of a given length that are where they should be when they should be.

Motion from constraints by a randomized search of a hierarchy of cuts, after Arikan & Forsyth (2002). Frames and their
likeness (`metric`), cuts and their hierarchy (`hierarchy`), what is asked (`constraints`, `request`) as flat arrays
(`terms`), the search of one person (`solver`, with its kernels in the `_compiled` modules) and of several (`together`),
and what is said of its answers (`answers`, `problems`).
"""

PLACE = 20
