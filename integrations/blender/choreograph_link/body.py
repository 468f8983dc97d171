"""An armature as a skeleton that Choreograph reads, and Choreograph's motion as an action on the armature.

Blender's world is z up and its figures face -y; Choreograph's is y up and its figures face +z. Skeletons there have
rest poses without rotations: a joint's rotation is how far its bone is turned from rest, in the world's axes.
"""

import numpy as np
from mathutils import Matrix

# From Blender's axes to Choreograph's: x stays, z is up, -y is ahead.
AXES = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])


def ordered_bones(armature):
    """The bones below the root that carries most of them, parents first."""
    roots = [bone for bone in armature.data.bones if bone.parent is None]
    if not roots:
        raise ValueError(f"{armature.name} has no bones")
    root = max(roots, key=lambda bone: len(bone.children_recursive))
    out, todo = [], [root]
    while todo:
        bone = todo.pop()
        out.append(bone)
        todo.extend(reversed(bone.children))
    return out


def rest_places(armature, bones):
    """Heads and tails of the bones at rest, (J, 3) each, metres, in Choreograph's axes about the armature's origin."""
    world = np.array(armature.matrix_world)[:3, :3]
    heads = np.array([bone.head_local for bone in bones]) @ world.T
    tails = np.array([bone.tail_local for bone in bones]) @ world.T
    return heads @ AXES.T, tails @ AXES.T


def write_skeleton(path, armature):
    """The armature's rest pose as a motion of one frame (NPZ)."""
    bones = ordered_bones(armature)
    number = {bone.name: k for k, bone in enumerate(bones)}
    parents = np.array([-1 if k == 0 else number[bone.parent.name] for k, bone in enumerate(bones)], np.int32)
    heads, tails = rest_places(armature, bones)
    offsets = heads - np.where(parents[:, None] >= 0, heads[parents], 0.0)
    leaves = [k for k, bone in enumerate(bones) if not bone.children]
    np.savez(
        path,
        names=np.array([bone.name for bone in bones]),
        parents=parents,
        offsets=offsets,
        tip_parents=np.array(leaves, np.int32),
        tip_offsets=(tails - heads)[leaves].reshape(-1, 3),
        fps=np.float64(30.0),
        root_pos=heads[:1],
        local_rot=np.tile([1.0, 0.0, 0.0, 0.0], (1, len(bones), 1)),
    )


def _matrices(quats):
    """Unit quaternions (..., 4) wxyz as matrices (..., 3, 3)."""
    w, x, y, z = np.moveaxis(np.asarray(quats, float), -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array([[np.broadcast_to(v, w.shape) for v in row] for row in rows]), (0, 1), (-2, -1))


def pose_matrices(armature, motion):
    """Bones by name, and their matrices in the armature's space in every frame, {name: (F, 4, 4)}.

    Raises:
        ValueError: If the motion's joints are not the armature's bones.
    """
    names = [str(name) for name in motion["names"]]
    missing = [name for name in names if name not in armature.data.bones]
    if missing:
        raise ValueError(f"{armature.name} has no bones called {', '.join(missing[:5])}; the motion is another body's")
    frames = len(motion["root_pos"])
    turns = _matrices(motion["local_rot"])
    places = motion["local_pos"] if "local_pos" in motion else np.tile(motion["offsets"], (frames, 1, 1))
    world, at = np.empty_like(turns), np.empty((frames, len(names), 3))
    for joint, parent in enumerate(motion["parents"]):
        if parent < 0:
            world[:, joint], at[:, joint] = turns[:, joint], motion["root_pos"]
        else:
            world[:, joint] = world[:, parent] @ turns[:, joint]
            at[:, joint] = at[:, parent] + np.einsum("fab,fb->fa", world[:, parent], places[:, joint])
    turned, at = AXES.T @ world @ AXES, at @ AXES  # back to Blender's axes
    own = np.array(armature.matrix_world)[:3, :3]
    size = np.cbrt(abs(np.linalg.det(own)))
    spin = own / size
    out = {}
    for joint, name in enumerate(names):
        rest = np.array(armature.data.bones[name].matrix_local)[:3, :3]
        whole = np.tile(np.eye(4), (frames, 1, 1))
        whole[:, :3, :3] = spin.T @ turned[:, joint] @ spin @ rest
        whole[:, :3, 3] = at[:, joint] @ spin / size
        out[name] = whole
    return out


def make_action(armature, motion, name, scene):
    """An action of the motion on the armature, one key for each of its frames; it becomes the armature's own."""
    import bpy

    matrices = pose_matrices(armature, motion)
    action = bpy.data.actions.new(name)
    if armature.animation_data is None:
        armature.animation_data_create()
    armature.animation_data.action = action
    rate = scene.render.fps / scene.render.fps_base
    times = scene.frame_start + np.arange(len(motion["root_pos"])) * rate / float(motion["fps"])
    for bone in ordered_bones(armature):
        if bone.name not in matrices:
            continue
        pose = armature.pose.bones[bone.name]
        pose.rotation_mode = "QUATERNION"
        above = bone.parent.name if bone.parent is not None and bone.parent.name in matrices else None
        rest = np.array(bone.matrix_local)
        if above is not None:
            rest = np.linalg.inv(np.array(bone.parent.matrix_local)) @ rest
            local = np.linalg.inv(matrices[above]) @ matrices[bone.name]
        else:
            local = matrices[bone.name]
        basis = np.linalg.inv(rest) @ local
        quats = np.array([Matrix(one).to_quaternion() for one in basis])
        flips = np.cumprod(np.where((quats[1:] * quats[:-1]).sum(axis=1) < 0, -1.0, 1.0))
        quats[1:] *= flips[:, None]
        path = f'pose.bones["{bpy.utils.escape_identifier(bone.name)}"]'
        _keys(action, armature, f"{path}.rotation_quaternion", bone.name, times, quats)
        moved = basis[:, :3, 3]
        if above is None or np.abs(moved).max() > 1e-5:
            _keys(action, armature, f"{path}.location", bone.name, times, moved)
    scene.frame_end = max(scene.frame_end, int(np.ceil(times[-1])))
    return action


def _keys(action, armature, path, group, times, values):
    for index in range(values.shape[1]):
        if hasattr(action, "fcurve_ensure_for_datablock"):  # layered actions
            curve = action.fcurve_ensure_for_datablock(armature, path, index=index, group_name=group)
        else:
            curve = action.fcurves.new(path, index=index, action_group=group)
        curve.keyframe_points.add(len(times))
        curve.keyframe_points.foreach_set("co", np.stack([times, values[:, index]], axis=1).ravel())
        linear = [1] * len(times)
        curve.keyframe_points.foreach_set("interpolation", linear)
        curve.update()


def floor_points(curve_object, depsgraph):
    """A curve's points on the floor, (N, 2): x and z in Choreograph's axes, metres.

    Raises:
        ValueError: If it has fewer than two.
    """
    evaluated = curve_object.evaluated_get(depsgraph)
    mesh = evaluated.to_mesh()
    try:
        points = np.array([curve_object.matrix_world @ vertex.co for vertex in mesh.vertices])
    finally:
        evaluated.to_mesh_clear()
    if len(points) < 2:
        raise ValueError(f"{curve_object.name} has no two points; draw a longer curve, without bevel or fill")
    return (points @ AXES.T)[:, [0, 2]]
