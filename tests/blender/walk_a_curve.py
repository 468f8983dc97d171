"""Run by Blender's Python: the add-on walks a curve on an armature, and says where the bones are.

Arguments: the add-on's folder, the choreograph command, a graph or a studio's address, where to write what came out.
"""

import json
import sys
from pathlib import Path

import bpy
import numpy as np

folder, command, source, out = sys.argv[1:5]
sys.path.insert(0, folder)
import choreograph_link  # noqa: E402

# Bones that are turned from each other at rest, below an object that is turned and in centimetres, as imports make.
BONES = {
    "hips": (None, (0, 0, 95), (0, 0, 110)), "spine": ("hips", (0, 0, 110), (0, 0, 145)),
    "head": ("spine", (0, 0, 150), (0, 0, 170)),
    "l_arm": ("spine", (18, 0, 142), (46, 0, 142)), "l_forearm": ("l_arm", (46, 0, 142), (72, 0, 142)),
    "l_hand": ("l_forearm", (72, 0, 142), (85, 0, 142)),
    "r_arm": ("spine", (-18, 0, 142), (-46, 0, 142)), "r_forearm": ("r_arm", (-46, 0, 142), (-72, 0, 142)),
    "r_hand": ("r_forearm", (-72, 0, 142), (-85, 0, 142)),
    "l_thigh": ("hips", (9, 0, 92), (9, 0, 50)), "l_shin": ("l_thigh", (9, 0, 50), (9, 0, 9)),
    "l_foot": ("l_shin", (9, 0, 9), (9, -13, 2)), "l_toe": ("l_foot", (9, -13, 2), (9, -20, 2)),
    "r_thigh": ("hips", (-9, 0, 92), (-9, 0, 50)), "r_shin": ("r_thigh", (-9, 0, 50), (-9, 0, 9)),
    "r_foot": ("r_shin", (-9, 0, 9), (-9, -13, 2)), "r_toe": ("r_foot", (-9, -13, 2), (-9, -20, 2)),
}  # fmt: skip

bpy.ops.wm.read_factory_settings(use_empty=True)
choreograph_link.register()
choreograph_link.command_of = lambda context: command
scene = bpy.context.scene

armature = bpy.data.objects.new("hero", bpy.data.armatures.new("hero"))
scene.collection.objects.link(armature)
bpy.context.view_layer.objects.active = armature
bpy.ops.object.mode_set(mode="EDIT")
for name, (parent, head, tail) in BONES.items():
    bone = armature.data.edit_bones.new(name)
    # The object is turned by 90 degrees about x: its own y is up.
    bone.head, bone.tail = [(x, z, -y) for x, y, z in (head, tail)]
    bone.parent = armature.data.edit_bones[parent] if parent else None
bpy.ops.object.mode_set(mode="OBJECT")
armature.rotation_euler = (np.pi / 2, 0, 0)
armature.scale = (0.01, 0.01, 0.01)

curve = bpy.data.curves.new("path", "CURVE")
curve.dimensions = "3D"
spline = curve.splines.new("POLY")
spline.points.add(1)
for point, place in zip(spline.points, [(1, 0, 0, 1), (1, -5, 0, 1)], strict=True):
    point.co = place
line = bpy.data.objects.new("path", curve)
scene.collection.objects.link(line)
bpy.context.view_layer.update()

if source.startswith("http"):
    scene.choreograph.source, scene.choreograph.address = "STUDIO", source
else:
    scene.choreograph.graph = source
line.select_set(True)
armature.select_set(True)
bpy.context.view_layer.objects.active = armature
kept = {}
make = choreograph_link.body.make_action


def keep(armature, motion, name, scene):
    kept.update(motion)
    return make(armature, motion, name, scene)


choreograph_link.body.make_action = keep
said = list(bpy.ops.choreograph.walk())
rate = scene.render.fps / scene.render.fps_base
places = []
for frame in range(len(kept["root_pos"])):
    at = scene.frame_start + frame * rate / float(kept["fps"])
    scene.frame_set(int(at), subframe=at - int(at))
    places.append([list(armature.matrix_world @ armature.pose.bones[str(n)].head) for n in kept["names"]])
np.savez(Path(out) / "motion.npz", **kept)
np.save(Path(out) / "blender.npy", np.array(places))
(Path(out) / "said.json").write_text(json.dumps(said))
choreograph_link.unregister()
