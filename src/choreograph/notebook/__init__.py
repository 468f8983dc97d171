"""Motions that show themselves in Jupyter: the studio's stage in a cell, or a picture where there is no widget."""

from choreograph.notebook.show import describe, show

__all__ = ["describe", "show"]
