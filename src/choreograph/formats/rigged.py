"""A character as its file has it: the figure's nodes, its skeleton, and how the two fit each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from choreograph.base import quat
from choreograph.base.arrays import Floats
from choreograph.formats._gltf_read import Rig
from choreograph.motion.skeleton import Skeleton


@dataclass(frozen=True, eq=False)
class RiggedCharacter:
    """A body with a skin."""

    name: str
    skeleton: Skeleton
    """In metres, y up, facing +z in its rest pose."""
    sole_m: float
    """Height of the skin's lowest vertex in the rest pose, with the root at the origin, metres."""
    turn: Floats
    """Rotation that makes the file's rest pose face +z, (4,)."""
    rig: Rig
    document: dict[str, Any]
    body: bytes


def node_matrices(rig: Rig) -> Floats:
    """World transforms of the joints at rest, metres, (J, 4, 4); scaled as the nodes above the root scale."""
    scale = rig.above[2]
    out = np.tile(np.eye(4), (len(rig.names), 1, 1))
    for k, parent in enumerate(rig.parents):
        own = np.eye(4)
        own[:3, :3] = quat.as_matrix(rig.rot[k])
        own[:3, 3] = rig.pos[k]
        out[k] = own if parent < 0 else out[parent] @ own
    out[:, :3, :3] *= scale
    return out
