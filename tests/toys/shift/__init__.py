"""Shift a motion along the floor: a verb as small as one can be, to see that every face has it."""

PLACE = 90
