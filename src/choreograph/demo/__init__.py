"""Demo motion that ships with the package: a fitted model of locomotion and the clips it makes."""

from choreograph.demo.body import centre_of_mass, demo_skeleton
from choreograph.demo.clips import demo_clip, demo_clips, demo_names

__all__ = ["centre_of_mass", "demo_clip", "demo_clips", "demo_names", "demo_skeleton"]
