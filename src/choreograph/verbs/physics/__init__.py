"""Make a motion obey mechanics: jumps farther, higher, turned; from a sketch, in the space of examples.

After Safonova, Hodgins & Pollard, "Synthesizing Physically Realistic Human Motion in Low-Dimensional, Behavior-Specific
Spaces" (2004): key poses, footprints and timing are given, the rest is what costs a real body the least effort.
"""

PLACE = 64
CHANGES = True  # a motion that exists, rather than finding one
