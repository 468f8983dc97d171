"""Recorded motion as plain data: skeletons, clips, kinematics, joint roles and foot plants."""
