"""Distances between all windows of two clips, as a picture with its minima."""

from __future__ import annotations

import io
from typing import Any

import numpy as np

from choreograph.base.errors import RequestError
from choreograph.studio.context import WorkerContext
from choreograph.studio.facts import Matrix, Minimum
from choreograph.studio.worker import TaskChannel

MOST_CELLS = 40_000_000
"""Pairs of windows that are compared for a picture; two clips of 200 s at 30 Hz."""
_MOST_PIXELS = 1024  # of the picture, along one side
_MOST_MINIMA = 400  # that are marked in it, the nearest


def matrix(context: WorkerContext, ask: dict[str, Any], channel: TaskChannel) -> tuple[Matrix, dict[str, bytes]]:
    """Distances between the windows of clips `a` (down) and `b` (across), and a PNG of them for each theme."""
    from choreograph.distance.minima import distance_matrix, find_minima
    from choreograph.graph.clips import window_clip

    graph = context.graph(ask["graph"])
    a, b = graph.find_clip(ask["a"]), graph.find_clip(ask["b"])
    cells = graph.infos[a].frames * graph.infos[b].frames
    if cells > MOST_CELLS:
        raise RequestError(f"{ask['a']!r} and {ask['b']!r} are too long to be shown against each other; trim them")
    windows = [window_clip(graph.clips[n], graph.settings) for n in (a, b)]
    distance = distance_matrix(*windows)
    largest = float(distance.max())
    minima = find_minima(windows if a != b else windows[:1], min(largest, 3 * graph.threshold_m))
    if a != b:
        minima = minima.take((minima.clip_a == 0) & (minima.clip_b == 1))
    rows, columns, apart = minima.a, minima.b, minima.distance
    if a == b:
        rows, columns = np.concatenate([rows, columns]), np.concatenate([columns, rows])
        apart = np.tile(apart, 2)
    order = np.argsort(apart, kind="stable")[:_MOST_MINIMA]
    facts = Matrix(
        clip_a=ask["a"],
        clip_b=ask["b"],
        rows=distance.shape[0],
        columns=distance.shape[1],
        rate_hz=graph.rate_hz,
        threshold_m=graph.threshold_m,
        largest_m=largest,
        minima=[
            Minimum(frame_a=int(rows[k]), frame_b=int(columns[k]), distance_m=float(apart[k])) for k in order.tolist()
        ],
    )
    return facts, {theme: _picture(distance, theme) for theme in ("dark", "light")}


def _picture(distance: np.ndarray[Any, Any], theme: str) -> bytes:
    """Near is teal, far is the theme's ground; of several windows in a pixel the nearest counts."""
    from PIL import Image

    from choreograph.pictures.theme import TEAL, find_theme

    step = -(-max(distance.shape) // _MOST_PIXELS)
    if step > 1:
        padded = np.pad(distance, [(0, -size % step) for size in distance.shape], constant_values=np.inf)
        distance = padded.reshape(len(padded) // step, step, -1, step).min(axis=(1, 3))
    # A few very far pairs shall not wash the rest out.
    near = 1 - np.clip(distance / max(float(np.quantile(distance[np.isfinite(distance)], 0.98)), 1e-9), 0, 1)
    ground, teal = (
        np.array([int(colour[k : k + 2], 16) for k in (1, 3, 5)]) for colour in (find_theme(theme).background, TEAL)
    )
    image = ground + np.square(near)[..., None] * (teal - ground)
    out = io.BytesIO()
    Image.fromarray(np.rint(image).astype(np.uint8)).save(out, "PNG")
    return out.getvalue()
