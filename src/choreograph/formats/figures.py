"""What GLB and USD files keep beside joints and motion, so that a clip comes back from them as it was."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from choreograph._version import __version__
from choreograph.errors import FormatError, RequestError
from choreograph.motion.clip import Clip, Label
from choreograph.motion.skeleton import Skeleton

KEY = "choreograph"
"""Name of the entry that holds it, in a GLB's extras and a USD prim's custom data."""
STILL = 1e-7
"""Metres that a bone's end may wander from its rest place and still count as fixed."""


def as_figures(clips: Clip | Sequence[Clip]) -> tuple[Clip, ...]:
    """One clip or several as a tuple; at least one."""
    figures = (clips,) if isinstance(clips, Clip) else tuple(clips)
    if not figures:
        raise RequestError("there is no clip to write")
    return figures


def describe(clip: Clip) -> dict[str, Any]:
    """Everything about a clip that a skinned, animated mesh has no place for, ready for JSON.

    Entries that are empty may be left out by who writes it: pygltflib does.
    """
    skeleton = clip.skeleton
    about: dict[str, Any] = {
        "version": __version__,
        "name": clip.name,
        "fps": clip.fps,
        "frames": len(clip),
        "offsets": skeleton.offsets.tolist(),
        "roles": list(skeleton.roles),
        "tip_parents": skeleton.tip_parents.tolist(),
        "tip_offsets": skeleton.tip_offsets.tolist(),
        "labels": [[label.text, label.start, label.stop] for label in clip.labels],
    }
    if clip.contacts is not None:
        about["contacts"] = [
            [skeleton.names[joint], _runs(column)] for joint, column in zip(skeleton.feet, clip.contacts.T, strict=True)
        ]
    if clip.source is not None:
        about["source"] = {
            "file": Path(clip.source.path).name,
            "format": clip.source.format,
            "sha256": clip.source.sha256,
            "metres_per_unit": clip.source.metres_per_unit,
            "up_axis": clip.source.up_axis,
        }
    return about


def moving_joints(clip: Clip) -> list[int]:
    """Joints other than the root whose place in their parent's frame is not always the rest offset."""
    if clip.local_pos is None:
        return []
    away = np.abs(clip.local_pos - clip.skeleton.offsets).max(axis=(0, 2)) > STILL
    away[0] = False
    return [int(j) for j in np.flatnonzero(away)]


def restore_skeleton(about: dict[str, Any], names: Sequence[str], parents: Sequence[int]) -> Skeleton:
    """The skeleton that `describe` described; a FormatError where it does not fit the joints."""
    try:
        return Skeleton(
            tuple(names),
            np.asarray(parents, np.int32),
            np.asarray(about["offsets"], float).reshape(len(names), 3),
            np.asarray(about.get("tip_parents", ()), np.int32).reshape(-1),
            np.asarray(about.get("tip_offsets", ()), float).reshape(-1, 3),
            tuple(str(role) for role in about["roles"]),
        )
    except Exception as error:  # a stranger's numbers fail in as many ways as there are
        raise FormatError(f"its {KEY!r} entry does not describe its joints: {error}") from error


def restore_labels(about: dict[str, Any], frames: int) -> tuple[Label, ...]:
    """The labels that `describe` described."""
    try:
        labels = tuple(Label(str(text), int(start), int(stop)) for text, start, stop in about.get("labels", ()))
    except (KeyError, TypeError, ValueError) as error:
        raise FormatError(f"the labels in its {KEY!r} entry cannot be read: {error}") from error
    if any(not 0 <= label.start < label.stop <= frames for label in labels):
        raise FormatError(f"a label in its {KEY!r} entry lies outside the {frames} frames")
    return labels


def restore_contacts(about: dict[str, Any], skeleton: Skeleton, frames: int) -> NDArray[np.bool_] | None:
    """The foot plants that `describe` described."""
    runs = about.get("contacts")
    if runs is None:
        return None
    contacts = np.zeros((frames, len(skeleton.feet)), bool)
    try:
        named = {str(name): stretches for name, stretches in runs}
        for column, joint in enumerate(skeleton.feet):
            for start, stop in named[skeleton.names[joint]]:
                contacts[int(start) : int(stop), column] = True
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise FormatError(f"the contacts in its {KEY!r} entry cannot be read: {error}") from error
    return contacts


def _runs(flags: NDArray[np.bool_]) -> list[list[int]]:
    """Stretches [start, stop) of frames that are set."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], flags.astype(np.int8), [0]])))
    return [[int(start), int(stop)] for start, stop in edges.reshape(-1, 2)]
