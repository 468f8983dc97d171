"""The last step of every reader: what a file holds, in its own unit and axes, made into a Clip."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from choreograph.base.arrays import Floats, seal
from choreograph.base.errors import FormatError
from choreograph.formats import world
from choreograph.motion.clip import Clip, Label, Note, Source
from choreograph.motion.skeleton import Skeleton

MAX_BYTES = 2 << 30
"""Largest motion file that is read, 2 GiB: about forty hours of text at 120 frames a second."""

MAX_LENGTH = 1e9
"""Longest offset or position, in whatever unit, that is not taken for a damaged number."""

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


class FileMotion(NamedTuple):
    """Motion as a file has it."""

    skeleton: Skeleton
    """Joints with offsets in file units."""
    fps: float
    root_pos: Floats
    """Root positions, (F, 3), file units."""
    local_rot: Floats
    """Local rotations, (F, J, 4)."""
    local_pos: Floats | None = None
    """Local positions, (F, J, 3), file units, where the file gives joints other than the root positions."""
    labels: tuple[str, ...] = ()
    """Words about the whole clip."""


def assemble(
    path: str | Path,
    data: bytes,
    format_name: str,
    motion: FileMotion,
    *,
    unit: world.FileUnit | None,
    up_axis: str | None,
    notes: list[Note],
) -> Clip:
    """A Clip in metres, y up, from a file's own numbers.

    Args:
        path: The file, for its name.
        data: Its content, for its hash.
        format_name: "bvh", "amc" …
        motion: Its numbers.
        unit: The unit where the caller or the file states it; judged by the body's height if None.
        up_axis: Up-axis of the motion where the caller states it; judged if None.
        notes: What the reader met on its way.
    """
    skeleton, fps, root_pos, local_rot, local_pos, labels = motion
    _check_lengths(path, root_pos, local_pos)
    skeleton, root_pos, local_rot, local_pos, folded = world.fold_still_root(skeleton, root_pos, local_rot, local_pos)
    if folded:
        notes.append(folded)
    skeleton, local_pos = _fix_bones(skeleton, local_pos, unit)
    if local_pos is not None:
        notes.append(Note("stretching-bones", "bones change length during the motion; kept frame by frame"))
    unit = unit or world.judge_unit(skeleton)
    if not unit.sure:
        notes.append(Note("unit-unknown", f"unit of length {unit.reason}; 1 unit = {unit.metres:g} m"))
    skeleton = skeleton.scaled(unit.metres)
    root_pos = root_pos * unit.metres
    local_pos = None if local_pos is None else local_pos * unit.metres
    up = world.judge_up(skeleton, root_pos, local_rot, local_pos)
    if up_axis is not None:
        # The rest pose still tells by itself: files whose world is z-up often lay their bones out y-up.
        up = world.UpAxes(up.rest if up.sure else up_axis, up_axis, "given")
    elif not up.sure:
        notes.append(Note("up-unknown", f"up-axis {up.reason}; y taken"))
    elif up.rest != up.motion:
        notes.append(Note("rest-up-differs", f"the rest pose stands along {up.rest}, the motion along {up.motion}"))
    skeleton, root_pos, local_rot, local_pos = world.turn_world(skeleton, root_pos, local_rot, local_pos, up)
    source = Source(
        path=str(path),
        format=format_name,
        sha256=hashlib.sha256(data).hexdigest(),
        metres_per_unit=unit.metres,
        up_axis=up.motion,
        unit_reason=unit.reason,
        up_reason=up.reason,
        notes=tuple(notes),
    )
    return Clip(
        skeleton,
        fps,
        seal(root_pos),
        seal(local_rot),
        name=Path(path).stem,
        local_pos=None if local_pos is None else seal(local_pos),
        labels=tuple(Label(text, 0, len(root_pos)) for text in labels),
        source=source,
    )


def _check_lengths(path: str | Path, root_pos: Floats, local_pos: Floats | None) -> None:
    """Refuse positions that are numbers but no places."""
    for pos in (root_pos,) if local_pos is None else (root_pos, local_pos):
        if max(pos.max(), -pos.min()) > MAX_LENGTH:
            frame = int(np.argmax(np.abs(pos).reshape(len(pos), -1).max(axis=1) > MAX_LENGTH))
            worst = pos[frame].flat[np.abs(pos[frame]).argmax()]
            raise FormatError(f"frame {frame} has a position of {worst:.3g}, which is no sensible length", path=path)


def _fix_bones(
    skeleton: Skeleton, local_pos: Floats | None, unit: world.FileUnit | None
) -> tuple[Skeleton, Floats | None]:
    """The skeleton with the bone offsets that the motion really uses; positions stay only where bones change length.

    Position channels on inner joints mostly repeat one value; that value, not the header's, is the bone.
    """
    if local_pos is None:
        return skeleton, None
    inner = local_pos[:, 1:]
    offsets = np.concatenate([skeleton.offsets[:1], inner.mean(axis=0)])
    # Without a stated unit, judge stillness relative to the body's size.
    limit = _STILL / unit.metres if unit else _STILL * float(np.linalg.norm(offsets[1:], axis=1).sum())
    if (np.ptp(inner, axis=0) > limit).any():
        return skeleton, local_pos
    return replace(skeleton, offsets=offsets), None
