"""How well a motion keeps to a path, measured on the motion itself, at its own rate."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from choreograph.motion.clip import Clip
from choreograph.synthesis.path import Path


@dataclass(frozen=True)
class PathErrors:
    """Distances between a motion's root and the path it was to follow, metres."""

    mean: float
    """Of the root from the point of the path that is as far along it as the root has walked."""
    worst: float
    end: float
    """Of the root's last place from the path's end."""
    nearest_mean: float
    """Of the root from the nearest point of the path, wherever along it."""
    walked: float
    """Way of the root."""
    length: float
    """Of the path."""

    def as_json(self) -> dict[str, Any]:
        """The figures, rounded to a tenth of a millimetre."""
        return {name: round(value, 4) for name, value in asdict(self).items()}


def errors_along(clip: Clip, path: Path) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Way of the root up to each frame, and its distance from the point of the path as far along, (F,) each, metres."""
    root = clip.root_pos[:, [0, 2]]
    walked = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(root, axis=0), axis=1))])
    return walked, np.linalg.norm(root - path.at(np.minimum(walked, path.length)), axis=1)


def measure_path(clip: Clip, path: Path) -> PathErrors:
    """Errors of a clip's root against a path."""
    from scipy.spatial import cKDTree

    root = clip.root_pos[:, [0, 2]]
    walked, off = errors_along(clip, path)
    nearest, _ = cKDTree(path.sampled(min(0.01, path.length / 10))).query(root)
    return PathErrors(
        float(off.mean()),
        float(off.max()),
        float(np.linalg.norm(root[-1] - path.at(path.length))),
        float(np.mean(nearest)),
        float(walked[-1]),
        path.length,
    )
