"""Heads as plots draw them: a surface seen from the front, shaded by where it looks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from choreograph.base.arrays import Floats, Ints
from choreograph.formats.atomic import atomic_write
from choreograph.pictures.theme import as_srgb, find_theme, from_hex

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_CLAY = "#cfc4b8"
_LIGHT = np.array([0.35, 0.55, 0.76])
_AMBIENT, _MARGIN = 0.35, 0.06  # light from everywhere; edge of the picture, as a share of the head


def draw_head(panel: Axes, points: Floats, triangles: Ints) -> None:
    """Draw a head into a panel, whose axes it hides.

    Args:
        panel: Of matplotlib.
        points: Of the surface, (V, 3), y up, looking along +z.
        triangles: (T, 3).
    """
    from matplotlib.collections import PolyCollection

    corners = points[triangles]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-12)
    shades = _AMBIENT + (1 - _AMBIENT) * np.clip(normals @ _LIGHT, 0.0, 1.0)
    order = np.argsort(corners[:, :, 2].mean(axis=1))
    order = order[normals[order, 2] > 0]
    colours = as_srgb(np.clip(from_hex(_CLAY) * shades[order, None], 0.0, 1.0))
    outline = corners[order, :, :2]
    panel.add_collection(PolyCollection(list(outline), facecolors=colours, edgecolors=colours, linewidths=0.3))
    low, high = outline.min(axis=(0, 1)), outline.max(axis=(0, 1))
    edge = _MARGIN * float((high - low).max())
    panel.set(xlim=(low[0] - edge, high[0] + edge), ylim=(low[1] - edge, high[1] + edge), aspect="equal")
    panel.axis("off")


def write_heads(path: Path, points: Floats, triangles: Ints, size: tuple[int, int], *, theme: str = "light") -> None:
    """Write a small picture (.png) of a head at three times.

    Args:
        path: The file; replaced if it is there.
        points: Of the surface in each frame, (F, V, 3).
        triangles: (T, 3).
        size: Pixels.
        theme: "dark" or "light".
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(size[0] / 100, size[1] / 100), facecolor=find_theme(theme).page)
    FigureCanvasAgg(figure)
    for n, frame in enumerate(np.linspace(0, len(points) - 1, 3).round().astype(int)):
        draw_head(figure.add_axes((n / 3, 0.0, 1 / 3, 1.0)), points[frame], triangles)
    with atomic_write(path, overwrite=True) as temporary:
        figure.savefig(temporary, dpi=100, format="png")
