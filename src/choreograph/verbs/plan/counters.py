"""Places of the counters that a compiled search keeps."""

RECORDS, HEAP, INCONSISTENT, CELLS, EXPANDED, ROUND, GOAL, GENERATED, REJECTED = range(9)
