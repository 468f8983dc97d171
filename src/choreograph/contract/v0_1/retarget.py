"""Retarget."""

RENAMED = {"joints": "joint_map", "hands": "touch_hands"}
OPTIONS = {"--hands": "--touch-hands", "--no-hands": "--no-touch-hands"}
