"""How well a motion on another body is the motion it was."""

from __future__ import annotations

import numpy as np

from choreograph.base.arrays import Floats
from choreograph.motion.clip import Clip
from choreograph.motion.retarget import leg_length
from choreograph.motion.role_map import SIDES

ARMS = (("upper_arm", "forearm"), ("forearm", "hand"))
_ARM = ("upper_arm", "forearm", "hand")
LEGS = (("upper_leg", "lower_leg"), ("lower_leg", "foot"))


def bone_angles(one: Clip, other: Clip, bones: tuple[tuple[str, str], ...]) -> Floats:
    """Angles between the directions of both bodies' bones, (F, bones), radians; no column where one lacks a bone."""
    columns = []
    for side in SIDES:
        for start, end in bones:
            ways = [_direction(clip, f"{side}_{start}", f"{side}_{end}") for clip in (one, other)]
            if ways[0] is not None and ways[1] is not None:
                columns.append(np.arccos(np.clip(np.sum(ways[0] * ways[1], axis=1), -1.0, 1.0)))
    return np.stack(columns, axis=1) if columns else np.zeros((len(one), 0))


def _direction(clip: Clip, start: str, end: str) -> Floats | None:
    joints = clip.skeleton.find(start), clip.skeleton.find(end)
    if joints[0] is None or joints[1] is None:
        return None
    at = clip.global_positions()
    bone = at[:, joints[1]] - at[:, joints[0]]
    return np.asarray(bone / np.maximum(np.linalg.norm(bone, axis=1, keepdims=True), 1e-12))


def ankle_offsets(one: Clip, other: Clip) -> Floats:
    """How far ankles are, each seen from its hip joint and scaled by the legs, (F, 2), in body heights."""
    places = []
    for clip in (one, other):
        at = clip.global_positions()
        hips, ankles = (at[:, [clip.skeleton.need(f"{s}_{part}") for s in SIDES]] for part in ("upper_leg", "foot"))
        places.append((ankles - hips) / leg_length(clip.skeleton))
    share = leg_length(one.skeleton) / max(one.skeleton.height, 1e-9)
    return np.asarray(np.linalg.norm(places[0] - places[1], axis=2) * share)


def hand_offsets(one: Clip, other: Clip) -> Floats:
    """How far wrists are, each seen from its shoulder and scaled by the arms, (F, 2), in body heights."""
    if any(clip.skeleton.find(f"{s}_{part}") is None for clip in (one, other) for s in SIDES for part in _ARM):
        return np.zeros((len(one), 0))
    places, shares = [], []
    for clip in (one, other):
        at, rest = clip.global_positions(), clip.skeleton.rest_positions()
        joints = [[clip.skeleton.need(f"{s}_{part}") for s in SIDES] for part in _ARM]
        bones = np.linalg.norm(np.diff(rest[joints], axis=0), axis=2).sum(axis=0)
        places.append((at[:, joints[2]] - at[:, joints[0]]) / np.maximum(bones, 1e-9)[:, None])
        shares.append(float(bones.mean()) / max(clip.skeleton.height, 1e-9))
    return np.asarray(np.linalg.norm(places[0] - places[1], axis=2) * shares[0])
