"""Perform: a motion that answers a leader or a drawn way as recorded examples did.

After Hsu, *Example-Based Control of Human Motion* (MSc thesis, MIT, 2004): the control is cut into stretches, each laid
over a recorded control segment by a turn and a shift on the floor; the targets recorded with those segments are the
answer.
"""

PLACE = 30
