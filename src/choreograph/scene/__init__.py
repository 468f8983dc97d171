"""Paths and what stands in the way: lines on the floor, their shapes and their files."""
