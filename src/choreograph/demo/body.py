"""The body that the demo motion moves: a skeleton of 1.75 m, its feet, and where its mass sits."""

from __future__ import annotations

from functools import cache

import numpy as np

from choreograph.base import quat
from choreograph.base.arrays import Floats
from choreograph.motion.skeleton import Skeleton

ANKLE_HEIGHT = 0.085
"""Height of the ankle over the floor when the sole is flat, metres."""
HEEL = np.array([0.0, -ANKLE_HEIGHT, -0.045])
"""The back edge of the sole in the foot's frame: what the foot rolls over when the heel strikes, metres."""
TOE = np.array([0.0, -0.057, 0.135])
"""The ball of the foot (the ToeBase joint) in the foot's frame, metres."""
TOE_HEIGHT = ANKLE_HEIGHT + float(TOE[1])
"""Height of the ball of the foot over the floor when the sole is flat, metres."""
THIGH = 0.420
"""Length of the thigh, metres."""
SHIN = 0.420
"""Length of the shin, metres."""
HIP_DROP = 0.050
"""How far the hip joints lie below the Hips joint, metres."""

# Name, parent and rest offset in metres of every joint on the middle and on the left; the right side is mirrored.
# T-pose, y up, facing +z. Lengths are those of an average adult of 1.75 m, thigh and shin alike for a tidy leg.
_MIDDLE = (
    ("Hips", "", (0.0, HIP_DROP + THIGH + SHIN + ANKLE_HEIGHT, 0.0)),
    ("Spine", "Hips", (0.0, 0.095, -0.010)),
    ("Spine1", "Spine", (0.0, 0.120, -0.005)),
    ("Spine2", "Spine1", (0.0, 0.130, 0.005)),
    ("Neck", "Spine2", (0.0, 0.150, 0.005)),
    ("Head", "Neck", (0.0, 0.100, 0.015)),
)
_LEFT = (
    ("UpLeg", "Hips", (0.090, -HIP_DROP, 0.0)),
    ("Leg", "LeftUpLeg", (0.0, -THIGH, 0.0)),
    ("Foot", "LeftLeg", (0.0, -SHIN, 0.0)),
    ("ToeBase", "LeftFoot", tuple(TOE.tolist())),
    ("Shoulder", "Spine2", (0.025, 0.105, 0.010)),
    ("Arm", "LeftShoulder", (0.155, 0.0, -0.015)),
    ("ForeArm", "LeftArm", (0.285, 0.0, 0.0)),
    ("Hand", "LeftForeArm", (0.255, 0.0, 0.0)),
)
_TIPS = {"Head": (0.0, 0.180, 0.0), "ToeBase": (0.0, -0.005, 0.070), "Hand": (0.175, 0.0, 0.0)}
_ORDER = (
    *("Hips", "LeftUpLeg", "LeftLeg", "LeftFoot", "LeftToeBase", "RightUpLeg", "RightLeg", "RightFoot"),
    *("RightToeBase", "Spine", "Spine1", "Spine2", "Neck", "Head", "LeftShoulder", "LeftArm", "LeftForeArm"),
    *("LeftHand", "RightShoulder", "RightArm", "RightForeArm", "RightHand"),
)

# Share of the body's mass, and where its centre lies along the bone to child or tip (Winter 2009, table 4.1).
_MASSES = (
    *(("Hips", "Spine", 0.142, 0.1), ("Spine", "Spine2", 0.139, 0.5), ("Spine2", "Neck", 0.216, 0.5)),
    ("Head", "", 0.081, 0.4),
    *((f"{s}UpLeg", f"{s}Leg", 0.100, 0.433) for s in ("Left", "Right")),
    *((f"{s}Leg", f"{s}Foot", 0.0465, 0.433) for s in ("Left", "Right")),
    *((f"{s}Foot", f"{s}ToeBase", 0.0145, 0.5) for s in ("Left", "Right")),
    *((f"{s}Arm", f"{s}ForeArm", 0.028, 0.436) for s in ("Left", "Right")),
    *((f"{s}ForeArm", f"{s}Hand", 0.016, 0.430) for s in ("Left", "Right")),
    *((f"{s}Hand", "", 0.006, 0.5) for s in ("Left", "Right")),
)


@cache
def demo_skeleton() -> Skeleton:
    """The skeleton of the demo clips: 22 joints with the usual names, T-pose, 1.75 m tall."""
    table = {name: (parent, offset) for name, parent, offset in _MIDDLE}
    for name, parent, (x, y, z) in _LEFT:
        table["Left" + name] = (parent, (x, y, z))
        table["Right" + name] = (parent.replace("Left", "Right"), (-x, y, z))
    tips = {}
    for name, (x, y, z) in _TIPS.items():
        if name in table:
            tips[name] = (x, y, z)
        else:
            tips["Left" + name], tips["Right" + name] = (x, y, z), (-x, y, z)
    return Skeleton(
        names=_ORDER,
        parents=np.array([_ORDER.index(table[n][0]) if table[n][0] else -1 for n in _ORDER], np.int32),
        offsets=np.array([table[n][1] for n in _ORDER]),
        tip_parents=np.array([_ORDER.index(n) for n in _ORDER if n in tips], np.int32),
        tip_offsets=np.array([tips[n] for n in _ORDER if n in tips]),
    )


def centre_of_mass(global_pos: Floats, global_rot: Floats) -> Floats:
    """Centre of the body's mass, (F, 3), from joint positions (F, J, 3) and rotations (F, J, 4)."""
    skeleton = demo_skeleton()
    tips = dict(zip(skeleton.tip_parents.tolist(), skeleton.tip_offsets, strict=True))
    centre = np.zeros((len(global_pos), 3))
    total = 0.0
    for name, child, mass, along in _MASSES:
        j = skeleton.index(name)
        start = global_pos[:, j]
        end = global_pos[:, skeleton.index(child)] if child else start + quat.rotate(global_rot[:, j], tips[j])
        centre += mass * (start + along * (end - start))
        total += mass
    return np.asarray(centre / total)
