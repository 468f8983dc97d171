"""GLB, binary glTF 2.0: the mannequin with its motion, for Blender, Unreal, Unity and browsers.

glTF is in metres, y up, facing +z, as clips are: nothing is turned or scaled on the way. Written are one skinned mesh
per clip, its joints under their own names, and one animation that plays all figures together; or one figure with
several takes, an animation each.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from choreograph._version import __version__
from choreograph.base import quat
from choreograph.base.arrays import Floats
from choreograph.figure.mannequin import SkinnedMesh, build_mannequin, straightest_frame
from choreograph.formats._gltf_read import read_glb
from choreograph.formats.atomic import atomic_write, check_writable
from choreograph.formats.figures import KEY, as_figures, describe, moving_joints
from choreograph.motion.clip import Clip

__all__ = ["read_glb", "write_figure", "write_glb"]

_FLOAT, _UBYTE, _USHORT, _UINT = 5126, 5121, 5123, 5125  # glTF's numbers for types of components
_ARRAY_BUFFER, _ELEMENT_ARRAY_BUFFER = 34962, 34963  # glTF's numbers for what a view holds
_SHAPES = {(): "SCALAR", (3,): "VEC3", (4,): "VEC4", (4, 4): "MAT4"}
_KINDS = {np.dtype("<f4"): _FLOAT, np.dtype("u1"): _UBYTE, np.dtype("<u2"): _USHORT, np.dtype("<u4"): _UINT}


def write_glb(path: str | Path, clips: Clip | Sequence[Clip], *, takes: bool = False, overwrite: bool = False) -> None:
    """Write one clip, several figures that move together, or several takes of one figure, as a GLB file.

    Labels, contacts, roles, end sites and where the motion came from are kept in `extras`: of each skin, and of the
    animations where they are takes.

    Args:
        path: The file.
        clips: One clip, or several; frame rates and lengths may differ.
        takes: Whether they are takes of one figure, an animation each, instead of figures.
        overwrite: Replace a file that exists.

    Raises:
        SkeletonMismatch: If takes have different joints.
    """
    figures = as_figures(clips)
    check_writable(path, overwrite=overwrite)
    document = _Document()
    if takes:
        document.add_takes(figures)
    else:
        for clip in figures:
            document.add_figure(clip)
    with atomic_write(path, overwrite=overwrite) as temporary:
        document.save(temporary)


def write_figure(path: str | Path, clip: Clip, *, overwrite: bool = False) -> None:
    """Write the mannequin of a clip's body as a GLB file, in the frame of the clip in which it stands straightest."""
    frame = straightest_frame(clip)
    write_glb(path, clip[frame : frame + 1].with_name("figure"), overwrite=overwrite)


class _Document:
    """A glTF document in the making: the parts are pygltflib's, the bytes are gathered here."""

    def __init__(self) -> None:
        import pygltflib

        self.lib = pygltflib
        material = pygltflib.Material(
            name="clay",
            pbrMetallicRoughness=pygltflib.PbrMetallicRoughness(metallicFactor=0.0, roughnessFactor=0.75),
        )
        self.gltf = pygltflib.GLTF2(
            asset=pygltflib.Asset(version="2.0", generator=f"Choreograph {__version__}"),
            scene=0,
            scenes=[pygltflib.Scene(nodes=[])],
            materials=[material],
            animations=[pygltflib.Animation(channels=[], samplers=[])],
        )
        self.blob = bytearray()

    def add_takes(self, clips: Sequence[Clip]) -> None:
        """One figure, and an animation for each clip."""
        for clip in clips[1:]:
            clips[0].skeleton.check_matches(clip.skeleton, f"the takes {clips[0].name!r} and {clip.name!r}")
        first = self.add_figure(clips[0])
        for clip in clips[1:]:
            self.gltf.animations.append(
                self.lib.Animation(channels=[], samplers=[], name=clip.name, extras={KEY: describe(clip)})
            )
            self._animate(clip, first)

    def add_figure(self, clip: Clip) -> int:
        """A skinned mesh, its joints and its share of the animation; the node of its root."""
        lib, gltf = self.lib, self.gltf
        mesh = build_mannequin(clip)
        # The bind pose stands on the floor, so that a viewer that plays nothing shows a standing figure.
        lift = np.array([0.0, -float(mesh.vertices[:, 1].min()), 0.0])
        # A node of its own above the joints: importers make one armature of all joints that hang from nothing.
        above, first = len(gltf.nodes), len(gltf.nodes) + 1
        gltf.nodes.append(lib.Node(name=clip.name, children=[first]))
        gltf.nodes += _joint_nodes(lib, clip, mesh, lift, first)
        skin = lib.Skin(
            name=clip.name,
            skeleton=first,
            joints=list(range(first, first + len(clip.skeleton))),
            inverseBindMatrices=self.add(_inverse_bind(mesh, lift)),
            extras={KEY: describe(clip)},
        )
        gltf.skins.append(skin)
        gltf.meshes.append(lib.Mesh(name=f"{clip.name} mannequin", primitives=[self._primitive(mesh, lift)]))
        gltf.nodes.append(lib.Node(name=f"{clip.name} mannequin", mesh=len(gltf.meshes) - 1, skin=len(gltf.skins) - 1))
        gltf.scenes[0].nodes += [above, len(gltf.nodes) - 1]
        self._animate(clip, first)
        return first

    def _primitive(self, mesh: SkinnedMesh, lift: Floats) -> Any:
        joints = mesh.joint_indices
        narrow = "u1" if joints.max() < 256 else "<u2"
        indices = "<u2" if len(mesh.vertices) < 65535 else "<u4"
        attributes = self.lib.Attributes(
            POSITION=self.add((mesh.vertices + lift).astype("<f4"), _ARRAY_BUFFER, bounds=True),
            NORMAL=self.add(mesh.normals.astype("<f4"), _ARRAY_BUFFER),
            COLOR_0=self.add(mesh.colours.astype("<f4"), _ARRAY_BUFFER),
            JOINTS_0=self.add(joints.astype(narrow), _ARRAY_BUFFER),
            WEIGHTS_0=self.add(mesh.joint_weights.astype("<f4"), _ARRAY_BUFFER),
        )
        triangles = self.add(mesh.triangles.ravel().astype(indices), _ELEMENT_ARRAY_BUFFER)
        return self.lib.Primitive(attributes=attributes, indices=triangles, material=0)

    def _animate(self, clip: Clip, first: int) -> None:
        """Channels for the root's place, every joint's rotation, and the places of joints whose bones stretch."""
        lib = self.lib
        animation = self.gltf.animations[-1]
        animation.name = animation.name or clip.name
        times = self.add((np.arange(len(clip)) / clip.fps).astype("<f4"), bounds=True)

        def channel(joint: int, path: str, values: Floats) -> None:
            sampler = lib.AnimationSampler(
                input=times, output=self.add(values.astype("<f4")), interpolation=lib.ANIM_LINEAR
            )
            animation.samplers.append(sampler)
            target = lib.AnimationChannelTarget(node=first + joint, path=path)
            animation.channels.append(lib.AnimationChannel(sampler=len(animation.samplers) - 1, target=target))

        channel(0, "translation", clip.root_pos)
        for joint in moving_joints(clip):
            assert clip.local_pos is not None
            channel(joint, "translation", clip.local_pos[:, joint])
        for joint in range(len(clip.skeleton)):
            channel(joint, "rotation", _xyzw(clip.local_rot[:, joint]))

    def add(self, values: NDArray[Any], target: int | None = None, *, bounds: bool = False) -> int:
        """Append an array to the buffer; the number of its accessor."""
        lib, gltf = self.lib, self.gltf
        self.blob += bytes(-len(self.blob) % 4)
        data = np.ascontiguousarray(values).tobytes()
        gltf.bufferViews.append(
            lib.BufferView(buffer=0, byteOffset=len(self.blob), byteLength=len(data), target=target)
        )
        self.blob += data
        accessor = lib.Accessor(
            bufferView=len(gltf.bufferViews) - 1,
            componentType=_KINDS[values.dtype],
            count=len(values),
            type=_SHAPES[values.shape[1:]],
        )
        if bounds:
            table = values.reshape(len(values), -1)
            accessor.min, accessor.max = table.min(axis=0).tolist(), table.max(axis=0).tolist()
        gltf.accessors.append(accessor)
        return len(gltf.accessors) - 1

    def save(self, path: Path) -> None:
        """Write the document."""
        self.gltf.buffers = [self.lib.Buffer(byteLength=len(self.blob))]
        self.gltf.set_binary_blob(bytes(self.blob))
        self.gltf.save_binary(str(path))


def _joint_nodes(lib: Any, clip: Clip, mesh: SkinnedMesh, lift: Floats, first: int) -> list[Any]:
    """A node per joint, standing in the bind pose."""
    skeleton, pos, rot = clip.skeleton, mesh.bind_pos + lift, mesh.bind_rot
    nodes = []
    for joint, (name, parent) in enumerate(zip(skeleton.names, skeleton.parents, strict=True)):
        place, turn = pos[joint], rot[joint]
        if parent >= 0:
            back = quat.inverse(rot[parent])
            place, turn = quat.rotate(back, place - pos[parent]), quat.multiply(back, turn)
        children = [first + child for child in skeleton.children(joint)]
        nodes.append(
            lib.Node(
                name=name,
                translation=place.astype("<f4").tolist(),
                rotation=_xyzw(turn).astype("<f4").tolist(),
                children=children,
            )
        )
    return nodes


def _inverse_bind(mesh: SkinnedMesh, lift: Floats) -> NDArray[Any]:
    """Matrices from the mesh's space to each joint's, (J, 4, 4), stored by columns."""
    turn = np.swapaxes(quat.as_matrix(mesh.bind_rot), -1, -2)
    matrices = np.tile(np.eye(4), (len(turn), 1, 1))
    matrices[:, :3, :3] = turn
    matrices[:, :3, 3] = -np.einsum("jab,jb->ja", turn, mesh.bind_pos + lift)
    return np.swapaxes(matrices, -1, -2).astype("<f4")


def _xyzw(rotations: Floats) -> Floats:
    """Unit quaternions in glTF's order."""
    return np.asarray(quat.normalise(rotations)[..., [1, 2, 3, 0]])
