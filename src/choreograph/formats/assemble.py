"""The last step of every reader: what a file holds, in its own unit and axes, made into a Clip."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from choreograph.errors import FormatError
from choreograph.formats import world
from choreograph.motion.arrays import seal
from choreograph.motion.clip import Clip, Label, Note, Source
from choreograph.motion.skeleton import Skeleton

Array = NDArray[np.float64]

MAX_BYTES = 2 << 30
"""Largest motion file that is read, 2 GiB: about forty hours of text at 120 frames a second."""

_STILL = 1e-6
"""Metres by which a bone's length may wander (rounding in text files) and still count as fixed."""


def read_bytes(path: str | Path) -> bytes:
    """A file's content, or a FormatError that says why it cannot be had."""
    path = Path(path)
    try:
        if path.is_dir():
            raise FormatError("is a folder, not a motion file", path=path)
        if path.stat().st_size > MAX_BYTES:
            raise FormatError(f"is larger than the {MAX_BYTES >> 30} GiB that are read at most", path=path)
        return path.read_bytes()
    except OSError as error:
        raise FormatError(f"cannot be read: {error.strerror or error}", path=path) from error


def assemble(
    path: str | Path,
    data: bytes,
    format_name: str,
    skeleton: Skeleton,
    fps: float,
    pos: Array,
    rot: Array,
    *,
    unit: world.Unit | None,
    up_axis: str | None,
    notes: list[Note],
    labels: tuple[str, ...] = (),
) -> Clip:
    """A Clip in metres, y up, from a file's own numbers.

    Args:
        path: The file, for its name.
        data: Its content, for its hash.
        format_name: "bvh", "amc" …
        skeleton: Joints with offsets in file units.
        fps: Frames per second.
        pos: Local positions, (F, J, 3), file units.
        rot: Local rotations, (F, J, 4).
        unit: The unit where the caller or the file states it; judged by the body's height if None.
        up_axis: Up-axis of file and rest pose where the caller states it; judged if None.
        notes: What the reader met on its way.
        labels: Words about the whole clip.
    """
    skeleton, pos, rot, folded = world.fold_still_root(skeleton, pos, rot)
    if folded:
        notes.append(folded)
    skeleton, moving = _fix_bones(skeleton, pos, unit)
    unit = unit or world.judge_unit(skeleton)
    if not unit.sure:
        notes.append(Note("unit-unknown", f"unit of length {unit.reason}; 1 unit = {unit.metres:g} m"))
    skeleton = skeleton.scaled(unit.metres)
    root, local_pos = pos[:, 0] * unit.metres, pos * unit.metres if moving else None
    if local_pos is not None:
        notes.append(Note("stretching-bones", "bones change length during the motion; kept frame by frame"))
    if up_axis is None:
        rest_up, motion_up, up_reason = world.judge_up(skeleton, root, rot, local_pos)
        if up_reason.startswith("assumed"):
            notes.append(Note("up-unknown", f"up-axis {up_reason}; y taken"))
        elif rest_up != motion_up:
            notes.append(Note("rest-up-differs", f"the rest pose stands along {rest_up}, the motion along {motion_up}"))
    else:
        rest_up, motion_up, up_reason = up_axis, up_axis, "given"
        # Files whose world is z-up often lay their bones out y-up; the rest pose tells by itself.
        judged, _, reason = world.judge_up(skeleton, root, rot, local_pos)
        rest_up = up_axis if reason.startswith("assumed") else judged
    skeleton, root, rot, local_pos = world.turn_world(skeleton, root, rot, local_pos, rest_up, motion_up)
    source = Source(
        path=str(path),
        format=format_name,
        sha256=hashlib.sha256(data).hexdigest(),
        metres_per_unit=unit.metres,
        up_axis=motion_up,
        unit_reason=unit.reason,
        up_reason=up_reason,
        notes=tuple(notes),
    )
    return Clip(
        skeleton,
        fps,
        seal(root),
        seal(rot),
        name=Path(path).stem,
        local_pos=None if local_pos is None else seal(local_pos),
        labels=tuple(Label(text, 0, len(root)) for text in labels),
        source=source,
    )


def _fix_bones(skeleton: Skeleton, pos: Array, unit: world.Unit | None) -> tuple[Skeleton, bool]:
    """The skeleton with the bone offsets that the motion really uses, and whether any of them changes.

    Position channels on inner joints mostly repeat one value; that value, not the header's, is the bone.
    """
    inner = pos[:, 1:]
    offsets = np.array(skeleton.offsets)
    if not inner.size:
        return skeleton, False
    span = np.ptp(inner, axis=0)
    # Without a stated unit, judge stillness relative to the body's size.
    size = float(np.abs(np.cumsum(np.linalg.norm(skeleton.offsets, axis=1))[-1])) or 1.0
    limit = _STILL / unit.metres if unit else _STILL * size
    if (span > limit).any():
        return skeleton, True
    offsets[1:] = inner.mean(axis=0)
    return replace(skeleton, offsets=offsets), False
