"""A bent motion from above: the path, the way as it was recorded, and the way as it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from choreograph.base.floor import FloorTransform
from choreograph.motion.bend import way_of
from choreograph.motion.clip import Clip
from choreograph.scene.path import Path
from choreograph.verbs.bend.search import BendResult
from choreograph.verbs.follow.plot import plot_comparison

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def plot_bend(result: BendResult, *, theme: str = "light") -> Figure:
    """The path (amber), and both ways: the recorded one is laid at the path's start, along it."""
    assert result.recorded is not None
    path = Path(np.array(result.best.path), name=result.recorded.name)
    return plot_comparison(path, {"bent": result.clip, "recorded": lay_at_start(result.recorded, path)}, theme=theme)


def lay_at_start(clip: Clip, path: Path) -> Clip:
    """The motion where a path begins, about to travel along it."""
    way = way_of(clip)
    turned = clip.moved(FloorTransform(float(path.heading(0.0) - way.heading[0])))
    x, z = path.at(0.0) - way_of(turned).places[0]
    return turned.moved(FloorTransform(0.0, float(x), float(z)))
