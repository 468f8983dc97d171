"""Run by Blender's Python: import a motion file and write where its bones are.

Arguments: the file, where to write an array (times, bones, 3), and times from 0 to 1 over the whole motion, as JSON.
"""

import json
import sys
from pathlib import Path

import bpy
import numpy as np

file, out, shares = sys.argv[1], Path(sys.argv[2]), json.loads(sys.argv[3])
bpy.ops.wm.read_factory_settings(use_empty=True)
match Path(file).suffix:
    case ".glb":
        bpy.ops.import_scene.gltf(filepath=file)
    case ".bvh":
        bpy.ops.import_anim.bvh(filepath=file)
    case _:
        bpy.ops.wm.usd_import(filepath=file)
armature = next(one for one in bpy.data.objects if one.type == "ARMATURE")
start, stop = armature.animation_data.action.frame_range
rows = []
for share in shares:
    frame = start + share * (stop - start)
    bpy.context.scene.frame_set(int(np.floor(frame)), subframe=float(frame - np.floor(frame)))
    rows.append([list(armature.matrix_world @ bone.head) for bone in armature.pose.bones])
np.save(out, np.array(rows))
meshes = [one for one in bpy.data.objects if one.type == "MESH"]
facts = {"bones": [bone.name for bone in armature.pose.bones], "vertices": sum(len(m.data.vertices) for m in meshes)}
out.with_suffix(".json").write_text(json.dumps(facts))
