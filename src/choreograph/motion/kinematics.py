"""Forward kinematics over whole clips: local rotations in, global positions and rotations out."""

from __future__ import annotations

import numpy as np

from choreograph.base import quat
from choreograph.base.arrays import Floats, Ints32


def forward(root_pos: Floats, local_rot: Floats, local_pos: Floats, parents: Ints32) -> tuple[Floats, Floats]:
    """Global positions (F, J, 3) and rotations (F, J, 4) of every joint.

    Args:
        root_pos: Root positions, (F, 3), metres.
        local_rot: Rotation of each joint in its parent's frame, (F, J, 4).
        local_pos: Position of each joint in its parent's frame: rest offsets as (1, J, 3), or (F, J, 3) where bones
            change length. The root's entry is not used.
        parents: Parent indices in topological order, (J,).
    """
    from choreograph.motion import _compiled

    return _compiled.forward(
        np.ascontiguousarray(root_pos, float),
        np.ascontiguousarray(local_rot, float),
        np.ascontiguousarray(local_pos, float),
        np.ascontiguousarray(parents, np.int32),
    )  # type: ignore[no-any-return]


def forward_numpy(root_pos: Floats, local_rot: Floats, local_pos: Floats, parents: Ints32) -> tuple[Floats, Floats]:
    """The plain twin of `forward`, one joint at a time."""
    pos = np.empty((*local_rot.shape[:2], 3))
    rot = np.empty_like(local_rot)
    pos[:, 0], rot[:, 0] = root_pos, local_rot[:, 0]
    for j in range(1, len(parents)):
        p = parents[j]
        rot[:, j] = quat.multiply(rot[:, p], local_rot[:, j])
        pos[:, j] = pos[:, p] + quat.rotate(rot[:, p], local_pos[:, j])
    return pos, rot


def to_local(global_rot: Floats, parents: Ints32) -> Floats:
    """Rotations of joints in their parents' frames, from global ones, both (F, J, 4)."""
    from choreograph.motion import _compiled

    rotations, order = np.ascontiguousarray(global_rot, float), np.ascontiguousarray(parents, np.int32)
    return _compiled.to_local(rotations, order)  # type: ignore[no-any-return]


def to_local_numpy(global_rot: Floats, parents: Ints32) -> Floats:
    """The plain twin of `to_local`."""
    local = np.array(global_rot, float)
    inner = np.arange(1, len(parents))
    local[:, inner] = quat.multiply(quat.inverse(global_rot[:, parents[inner]]), global_rot[:, inner])
    return local


def unit_and_continuous(rotations: Floats) -> Floats:
    """Rotations (F, J, 4) scaled to unit length, with signs chosen so that each is near the one before it."""
    from choreograph.motion import _compiled

    return _compiled.unit_and_continuous(np.ascontiguousarray(rotations, float))  # type: ignore[no-any-return]


def unit_and_continuous_numpy(rotations: Floats) -> Floats:
    """The plain twin of `unit_and_continuous`."""
    return quat.make_continuous(quat.normalise(rotations))


def speeds(paths: Floats, fps: float) -> Floats:
    """How fast points move, (F, ...), metres a second, along paths (F, ..., 3); over two frames, one at the ends."""
    if len(paths) < 2:
        return np.zeros(paths.shape[:-1])
    ways = np.empty(paths.shape)
    ways[1:-1] = 0.5 * (paths[2:] - paths[:-2])
    ways[0], ways[-1] = paths[1] - paths[0], paths[-1] - paths[-2]
    return np.asarray(fps * np.sqrt(np.einsum("...k,...k->...", ways, ways)))
