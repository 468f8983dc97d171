"""The mannequin: one skinned mesh made from a skeleton, the same in exports, pictures and on the stage."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from choreograph.base import quat
from choreograph.base.arrays import Floats, Floats32, Ints32, seal
from choreograph.figure._body import shape_body
from choreograph.figure._loft import LoftSurface, join
from choreograph.figure._pose import is_human, straighten, straightness
from choreograph.motion.clip import Clip
from choreograph.motion.skeleton import Skeleton

_NATURAL = 0.55
"""Least `straightness` of a rest pose that a body can be drawn in; T-poses have 0.8 to 1."""
_FRAMES_TRIED = 400  # spread over a clip, in search of the straightest


@dataclass(frozen=True, eq=False)
class SkinnedMesh:
    """A surface that follows a skeleton's joints, drawn in the bind pose, in metres."""

    vertices: Floats32
    """Points of the surface in the bind pose, (V, 3)."""
    normals: Floats32
    """Outward unit normals in the bind pose, (V, 3)."""
    triangles: Ints32
    """Corners of each triangle, counter-clockwise seen from outside, (T, 3)."""
    joint_indices: NDArray[np.uint16]
    """The joints that each vertex follows, (V, 4); 0 where fewer than four do."""
    joint_weights: Floats32
    """How much it follows each, (V, 4), sums to 1."""
    colours: Floats32
    """Linear RGB, (V, 3)."""
    bind_pos: Floats
    """Global position of every joint in the bind pose, (J, 3): the rest pose where that is
    the pose of a body, with the root at the origin."""
    bind_rot: Floats
    """Global rotation of every joint in the bind pose, (J, 4)."""


def build_mannequin(body: Skeleton | Clip) -> SkinnedMesh:
    """The mannequin of a skeleton: limbs, torso, head, hands and feet sized by bone lengths and roles.

    Joints without a known role get plain tubes, bones without length nothing. The same input always gives the same
    mesh.

    Args:
        body: The skeleton, or better a motion of it: some programs write skeletons whose rest pose is no pose of a
            body (every bone along x, both arms up the spine). Then the mesh is drawn in, and bound to, the frame in
            which the body stands straightest, straightened further.
    """
    skeleton = body if isinstance(body, Skeleton) else body.skeleton
    pos, rot = skeleton.rest_positions(), np.tile(quat.IDENTITY, (len(skeleton), 1))
    if isinstance(body, Clip) and not has_natural_rest(skeleton):
        best = straightest_frame(body)
        pos, rot = straighten(skeleton, body.global_positions()[best], body.global_rotations()[best])
    tips = pos[skeleton.tip_parents] + quat.rotate(rot[skeleton.tip_parents], skeleton.tip_offsets)
    surface = _shaped(_Key(skeleton, pos, tips))
    return SkinnedMesh(
        vertices=surface.vertices,
        normals=surface.normals,
        triangles=surface.triangles,
        joint_indices=surface.joint_indices,
        joint_weights=surface.joint_weights,
        colours=surface.colours,
        bind_pos=seal(pos),
        bind_rot=seal(rot),
    )


class _Key:
    """A body in a pose: what a surface is made of, told apart by it."""

    def __init__(self, skeleton: Skeleton, pos: Floats, tips: Floats) -> None:
        self.skeleton, self.pos, self.tips = skeleton, pos, tips
        made_of = (skeleton.names, skeleton.roles, skeleton.parents.tobytes(), skeleton.tip_parents.tobytes())
        self._key = (*made_of, pos.tobytes(), tips.tobytes())

    def __hash__(self) -> int:
        return hash(self._key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Key) and self._key == other._key


@lru_cache(maxsize=16)
def _shaped(key: _Key) -> LoftSurface:
    """The surface of a body in a pose, sealed; the last ones are kept, as drawing one takes a while."""
    surface = join(shape_body(key.skeleton, key.pos, key.tips))
    for name in ("vertices", "normals", "triangles", "joint_indices", "joint_weights", "colours"):
        seal(getattr(surface, name))
    return surface


def straightest_frame(clip: Clip) -> int:
    """The frame in which the body stands straightest, of some spread over the clip; 0 for a body that is not human."""
    if not is_human(clip.skeleton):
        return 0
    frames = np.unique(np.linspace(0, len(clip) - 1, min(len(clip), _FRAMES_TRIED)).astype(int))
    return int(frames[straightness(clip.skeleton, clip.global_positions()[frames]).argmax()])


def has_natural_rest(skeleton: Skeleton) -> bool:
    """Whether the rest pose is one a body can be drawn in: then a skeleton alone is enough to build its mannequin."""
    return not is_human(skeleton) or bool(straightness(skeleton, skeleton.rest_positions()[None])[0] >= _NATURAL)


def joint_transforms(mesh: SkinnedMesh, global_pos: ArrayLike, global_rot: ArrayLike) -> Floats:
    """What each joint does to the points it carries, from bind pose to given pose: (..., J, 3, 4) matrices."""
    turn = quat.as_matrix(quat.multiply(global_rot, quat.inverse(mesh.bind_rot)))
    shift = np.asarray(global_pos, float) - np.einsum("...jab,jb->...ja", turn, mesh.bind_pos)
    return np.concatenate([turn, shift[..., None]], axis=-1)


def skin(mesh: SkinnedMesh, global_pos: ArrayLike, global_rot: ArrayLike) -> tuple[Floats32, Floats32]:
    """Vertices and normals of the mesh in the given pose or poses, by linear blend skinning.

    Args:
        mesh: The mesh.
        global_pos: Joint positions, (..., J, 3), metres.
        global_rot: Joint rotations against the world, (..., J, 4).

    Returns:
        vertices: (..., V, 3), metres.
        normals: (..., V, 3), unit.
    """

    from choreograph.figure import _compiled

    transforms = joint_transforms(mesh, global_pos, global_rot).astype(np.float32)
    flat = np.ascontiguousarray(transforms.reshape(-1, *transforms.shape[-3:]))
    vertices, normals = _compiled.skin(mesh.vertices, mesh.normals, mesh.joint_indices, mesh.joint_weights, flat)
    shape = (*transforms.shape[:-3], *mesh.vertices.shape)
    return vertices.reshape(shape), normals.reshape(shape)


def skin_numpy(mesh: SkinnedMesh, global_pos: ArrayLike, global_rot: ArrayLike) -> tuple[Floats32, Floats32]:
    """The plain twin of `skin`."""
    transforms = joint_transforms(mesh, global_pos, global_rot).astype(np.float32)
    blended = np.einsum("vk,...vkab->...vab", mesh.joint_weights, transforms[..., mesh.joint_indices, :, :])
    vertices = np.einsum("...vab,vb->...va", blended[..., :3], mesh.vertices) + blended[..., 3]
    normals = np.einsum("...vab,vb->...va", blended[..., :3], mesh.normals)
    lengths = np.linalg.norm(normals, axis=-1, keepdims=True)
    return vertices, normals / np.where(lengths > 0, lengths, 1)
