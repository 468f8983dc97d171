"""The same poses with another timing: guided time warping.

After Hsu, da Silva & Popović, "Guided Time Warping for Motion Editing" (2007): every pose is kept, in order, and the
speeds and accelerations between them are taken from a reference motion, or from the motion itself.
"""
