"""Paths by name."""

from __future__ import annotations

import numpy as np

from choreograph.studio.context import WorkerContext
from choreograph.studio.document import Point
from choreograph.studio.worker import TaskChannel

_APART_M = 0.1  # between the points of a path that is drawn
_MOST = 4000  # of these points, roughly


def shape(context: WorkerContext, text: str, channel: TaskChannel) -> list[Point]:
    """Points of a named shape, such as "eight:radius=3"."""
    from choreograph.scene.path_shapes import parse_shape

    path = parse_shape(text)
    points = np.round(path.sampled(max(_APART_M, path.length / _MOST)), 4)
    return [(float(x), float(z)) for x, z in points]
