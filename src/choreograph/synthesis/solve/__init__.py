"""Solving: motion from constraints, by a randomized search of a hierarchy of cuts, after Arikan & Forsyth (2002).

Frames and their likeness (`metric`), cuts and their hierarchy (`hierarchy`), what is asked (`request`, `request_files`)
as flat arrays (`terms`), and the search (`search`, with its kernels in the `_compiled` modules).
"""
