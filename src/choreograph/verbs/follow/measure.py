"""How well a motion keeps to a path and to what is wanted along it, measured on the motion itself, at its own rate."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np

from choreograph.base.arrays import Floats
from choreograph.motion.clip import Clip
from choreograph.scene.path import Path

_STEP_M = 0.01
"""Spacing of the points of the path that distances are taken from."""
_AHEAD_M = 1.0
"""How far ahead of where it is progress may go from one frame to the next: a path may come back to where one is."""


_DRAG = 0.03
"""How much farther away a place of the path counts for each metre that it is ahead, as a share: where a path turns back
on itself, both of its sides are as near."""


@dataclass(frozen=True)
class PathErrors:
    """Distances between a motion's root and the path it was to follow, metres."""

    mean: float
    """Of the root from the path at its progress, which never goes back: sway to the sides does not count as way."""
    worst: float
    end: float
    """Of the root's last place from the path's end."""
    reached: float
    """Share of the path that was walked."""
    walked_mean: float
    """Of the root from the point of the path that is as far along it as the root has walked, sway counted."""
    walked: float
    """Way of the root."""
    length: float
    """Of the path."""

    def as_json(self) -> dict[str, Any]:
        """The numbers, rounded to a tenth of a millimetre."""
        return {name: round(value, 4) for name, value in asdict(self).items()}


class PathProgress(NamedTuple):
    """Where a root is along a path, frame by frame."""

    along: Floats
    """How far along the path it has come, (F,), metres; never falls."""
    off: Floats
    """How far from the path there, (F,), metres."""


def find_progress(clip: Clip, path: Path) -> PathProgress:
    """The progress of a clip's root along a path: in each frame the nearest point of the next metre."""
    from choreograph.verbs.follow import _compiled_measure

    step = min(_STEP_M, path.length / 10)
    points = path.sampled(step)
    along = np.minimum(np.arange(len(points)) * step, path.length)
    root = np.ascontiguousarray(clip.root_pos[:, [0, 2]])
    at, off = _compiled_measure.project_forward(root, points, max(1, round(_AHEAD_M / step)), _DRAG * step)
    return PathProgress(along[at], off)


def errors_along(clip: Clip, path: Path) -> tuple[Floats, Floats]:
    """Way of the root up to each frame, and its distance from the point of the path as far along, (F,) each, metres."""
    root = clip.root_pos[:, [0, 2]]
    walked = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(root, axis=0), axis=1))])
    return walked, np.linalg.norm(root - path.at(np.minimum(walked, path.length)), axis=1)


def measure_path(clip: Clip, path: Path, progress: PathProgress | None = None) -> PathErrors:
    """Errors of a clip's root against a path.

    >>> from choreograph.demo import demo_clip
    >>> from choreograph.scene.path import Path
    >>> walk = demo_clip("walk", 30.0)
    >>> measure_path(walk, Path(walk.root_pos[:, [0, 2]])).mean < 0.02
    True
    """
    along, off = progress or find_progress(clip, path)
    walked, by_way = errors_along(clip, path)
    return PathErrors(
        float(off.mean()),
        float(off.max()),
        float(np.linalg.norm(clip.root_pos[-1, [0, 2]] - path.at(path.length))),
        float(along[-1] / path.length),
        float(by_way.mean()),
        float(walked[-1]),
        path.length,
    )
