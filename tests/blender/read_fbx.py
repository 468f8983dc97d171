"""Run by Blender's Python: import an FBX file and write where its bones are at some times.

Arguments: the file, where to write an array (times, bones, 3), and the times in seconds from the first key, as JSON.
"""

import json
import sys
from pathlib import Path

import bpy
import numpy as np

file, out, times = sys.argv[1], Path(sys.argv[2]), json.loads(sys.argv[3])
bpy.ops.wm.read_factory_settings(use_empty=True)
bpy.ops.import_scene.fbx(filepath=file)
armature = next(one for one in bpy.data.objects if one.type == "ARMATURE")
scene = bpy.context.scene
rate = scene.render.fps / scene.render.fps_base
start = armature.animation_data.action.frame_range[0]
rows = []
for time in times:
    frame = start + time * rate
    scene.frame_set(int(np.floor(frame)), subframe=float(frame - np.floor(frame)))
    rows.append([list(armature.matrix_world @ bone.head) for bone in armature.pose.bones])
np.save(out, np.array(rows))
out.with_suffix(".json").write_text(json.dumps([bone.name for bone in armature.pose.bones]))
