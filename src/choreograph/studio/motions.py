"""Clips as the stage takes them: facts as a `Motion`, frames as rows of single-precision numbers."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from choreograph.motion.clip import Clip
from choreograph.motion.contacts import detect_contacts, runs
from choreograph.motion.skeleton import Skeleton
from choreograph.studio.messages import LabelRange, Motion, SourceRun

if TYPE_CHECKING:
    from choreograph.finishing.assemble import Origins

ROOT, JOINT = 3, 4
"""Numbers in a row for the root's place and for each joint's rotation."""


def row_bytes(joints: int) -> int:
    """Bytes of one frame."""
    return 4 * (ROOT + JOINT * joints)


def frame_bytes(clip: Clip, start: int = 0, stop: int | None = None) -> bytes:
    """Frames [start, stop) as rows of root x, y, z and then x, y, z, w for each joint, float32, little-endian."""
    root, rot = clip.root_pos[start:stop], clip.local_rot[start:stop]
    rows = np.empty((len(root), ROOT + JOINT * len(clip.skeleton)), "<f4")
    rows[:, :ROOT] = root
    rows[:, ROOT:] = rot[..., [1, 2, 3, 0]].reshape(len(rot), -1)
    return rows.tobytes()


def skeleton_id(skeleton: Skeleton) -> str:
    """A name for a skeleton: equal bodies have equal names."""
    state = hashlib.sha256(repr((skeleton.names, skeleton.roles)).encode())
    for array in (skeleton.parents, skeleton.offsets[1:], skeleton.tip_parents, skeleton.tip_offsets):
        # To a micrometre: files of one subject differ in the last digits.
        state.update(np.rint(np.asarray(array, float) * 1e6).astype(np.int64).tobytes())
    return f"s{state.hexdigest()[:16]}"


def describe_motion(clip: Clip, motion: str, sources: Sequence[SourceRun] = ()) -> Motion:
    """What the stage needs to know of a clip; `motion` is the name that it goes by there."""
    skeleton = clip.skeleton
    contacts = clip.contacts
    if contacts is None and skeleton.feet:
        contacts = detect_contacts(clip)
    return Motion(
        id=motion,
        name=clip.name,
        frames=len(clip),
        fps=clip.fps,
        skeleton=skeleton_id(skeleton),
        joints=list(skeleton.names),
        parents=skeleton.parents.tolist(),
        feet=[skeleton.names[joint] for joint in skeleton.feet],
        contacts=[] if contacts is None else [runs(column) for column in contacts.T],
        labels=[LabelRange(text=label.text, start=label.start, stop=label.stop) for label in clip.labels],
        sources=list(sources) or [SourceRun(start=0, stop=len(clip), clip=clip.name, clip_frame=0.0)],
    )


def source_runs(origins: Origins, names: Sequence[str]) -> list[SourceRun]:
    """Where frames come from, as runs of frames that show the same clip, mixed with the same other."""
    pairs = np.stack([origins.source_clip, origins.other_clip], axis=1)
    # A clip that jumps back within itself begins a new run too.
    jumps = np.diff(origins.source_frame) <= 0
    starts = np.flatnonzero(np.concatenate([[True], (np.diff(pairs, axis=0) != 0).any(axis=1) | jumps]))
    stops = [*starts[1:].tolist(), len(pairs)]
    return [
        SourceRun(
            start=start,
            stop=stop,
            clip=names[pairs[start, 0]],
            clip_frame=float(origins.source_frame[start]),
            blend=None if pairs[start, 1] < 0 else names[pairs[start, 1]],
        )
        for start, stop in zip(starts.tolist(), stops, strict=True)
    ]
