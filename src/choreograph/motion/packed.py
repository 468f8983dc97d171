"""Clips as the page's stage takes them: frames as rows of single-precision numbers, and facts beside them."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from choreograph.motion.clip import Clip
from choreograph.motion.contacts import detect_contacts, runs
from choreograph.motion.face import Face
from choreograph.motion.skeleton import Skeleton

ROOT, JOINT = 3, 4
"""Numbers in a row for the root's place and for each joint's rotation."""
_OF_BODIES = ("parents", "feet", "contacts", "labels")
FACE = "face"
"""What stands for the skeleton of a face: its joints are shapes, and frames are rows of their weights."""


def row_bytes(joints: int) -> int:
    """Bytes of one frame."""
    return 4 * (ROOT + JOINT * joints)


def pack_frames(clip: Clip | Face, start: int = 0, stop: int | None = None) -> bytes:
    """Frames [start, stop) as rows of root x, y, z and then x, y, z, w for each joint, or of a face's weights; float32,
    little-endian."""
    if isinstance(clip, Face):
        return clip.weights[start:stop].astype("<f4").tobytes()
    root, rot = clip.root_pos[start:stop], clip.local_rot[start:stop]
    rows = np.empty((len(root), ROOT + JOINT * len(clip.skeleton)), "<f4")
    rows[:, :ROOT] = root
    rows[:, ROOT:] = rot[..., [1, 2, 3, 0]].reshape(len(rot), -1)
    return rows.tobytes()


def pack_facts(clip: Clip | Face, motion: str) -> dict[str, Any]:
    """What the stage needs to know of a clip or a face, plain; `motion` is the name that it goes by there."""
    own = {"id": motion, "name": clip.name, "frames": len(clip), "fps": clip.fps}
    own["sources"] = [{"start": 0, "stop": len(clip), "clip": clip.name, "clip_frame": 0.0, "blend": None}]
    if isinstance(clip, Face):
        return {**own, "skeleton": FACE, "joints": list(clip.names), **{name: [] for name in _OF_BODIES}}
    skeleton, contacts = clip.skeleton, clip.contacts
    if contacts is None and skeleton.feet:
        contacts = detect_contacts(clip)
    return {
        **own,
        "skeleton": skeleton_id(skeleton),
        "joints": list(skeleton.names),
        "parents": skeleton.parents.tolist(),
        "feet": [skeleton.names[joint] for joint in skeleton.feet],
        "contacts": [] if contacts is None else [runs(column) for column in contacts.T],
        "labels": [{"text": label.text, "start": label.start, "stop": label.stop} for label in clip.labels],
    }


def skeleton_id(skeleton: Skeleton) -> str:
    """A name for a skeleton: equal bodies have equal names."""
    state = hashlib.sha256(repr((skeleton.names, skeleton.roles)).encode())
    for array in (skeleton.parents, skeleton.offsets[1:], skeleton.tip_parents, skeleton.tip_offsets):
        # To a micrometre: files of one subject differ in the last digits.
        state.update(np.rint(np.asarray(array, float) * 1e6).astype(np.int64).tobytes())
    return f"s{state.hexdigest()[:16]}"
