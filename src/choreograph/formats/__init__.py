"""Motion files in and out: one module per file type, reader and writer together, behind one registry."""

from choreograph.formats.registry import FORMATS, ReadOptions, read_clip, read_clips, read_figures, write_clip

__all__ = ["FORMATS", "ReadOptions", "read_clip", "read_clips", "read_figures", "write_clip"]
