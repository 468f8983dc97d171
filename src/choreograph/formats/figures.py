"""Files of several figures and takes, and what GLB and USD files keep beside joints and motion, so that a clip comes
back from them as it was."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from choreograph._version import __version__
from choreograph.base import quat
from choreograph.base.arrays import Flags, Floats
from choreograph.base.errors import FormatError, RequestError, RoleError
from choreograph.motion.clip import Clip, Label, Note, Source
from choreograph.motion.skeleton import Skeleton

KEY = "choreograph"
"""Name of the entry that holds it, in a GLB's extras and a USD prim's custom data."""
STILL = 1e-7
"""Metres that a bone's end may wander from its rest place and still count as fixed."""
MOST_CLIPS = 2000
"""Figures and takes of a file that are read."""
_STRETCH = 1e-6
"""The same for files of others, whose numbers are single precision."""


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


def note_takes(names: Sequence[str], this: str) -> Note:
    """That a file holds more than the take that was read, and how the others are had."""
    more = f" and {len(names) - 8} more" if len(names) > 8 else ""
    listed = ", ".join(map(repr, names[:8]))
    text = f"holds {len(names)} takes ({listed}{more}); this is {this!r}, others can be named (take)"
    return Note("several-takes", text)


def name_takes(name: str, takes: Sequence[str]) -> list[str]:
    """Names of clips: the given one with each take's; the given one alone where there is one take.

    What programs say of every take is left out: "Armature|Walk|BaseLayer", "Armature|Run|BaseLayer".

    >>> name_takes("hero", ["Armature|Walk", "Armature|Run"]), name_takes("hero", ["Take 001"])
    (['hero_Walk', 'hero_Run'], ['hero'])
    """
    if len(takes) < 2:
        return [name] * len(takes)
    parts = [take.split("|") for take in takes]
    while all(len(own) > 1 and own[0] == parts[0][0] for own in parts):
        parts = [own[1:] for own in parts]
    while all(len(own) > 1 and own[-1] == parts[0][-1] for own in parts):
        parts = [own[:-1] for own in parts]
    words = ["|".join(own).strip() for own in parts]
    return [word if word.lower().startswith(name.lower()) else f"{name}_{word}" for word in words]


def read_each(
    figures: Sequence[int], takes: Sequence[int], read: Callable[[int, int], Clip], most_poses: int
) -> list[Clip]:
    """Each figure in each take. What cannot be read, as a take that moves another figure, is left out with a note.

    Args:
        figures: Their numbers.
        takes: Their numbers.
        read: Reads one figure in one take.
        most_poses: Poses of joints that all may have together: a small file may stand for a great many frames.

    Raises:
        FormatError: If nothing can be read, or there is too much.
    """
    clips: list[Clip] = []
    errors: list[FormatError] = []
    if len(figures) * len(takes) > MOST_CLIPS:
        raise FormatError(f"holds {len(takes)} takes of {len(figures)} figures; {MOST_CLIPS} clips are read at most")
    poses = 0
    for figure in figures:
        for take in takes:
            try:
                clips.append(read(figure, take))
            except FormatError as error:
                errors.append(error)
                continue
            poses += len(clips[-1]) * len(clips[-1].skeleton)
            if poses > most_poses:
                raise FormatError("its takes stand for more frames than so small a file holds")
    if errors and not clips:
        raise errors[0]
    if errors and clips[0].source is not None:
        left = [
            Note("left-out", f"a take was left out: {reason}") for reason in dict.fromkeys(e.reason for e in errors)
        ]
        clips[0] = replace(clips[0], source=replace(clips[0].source, notes=(*clips[0].source.notes, *left)))
    return clips


def find_take(names: Sequence[str], which: int | str) -> int:
    """The number of a take, by number or name.

    Raises:
        FormatError: If there is none at all.
        RequestError: If there is none of that name or number.
    """
    if not names:
        raise FormatError("has no animation")
    number = names.index(which) if isinstance(which, str) and which in names else which
    if not isinstance(number, int) or not 0 <= number < len(names):
        listed = ", ".join(f"{k} {name!r}" for k, name in enumerate(names[:20]))
        raise RequestError(f"there is no take {which!r}; there are: {listed}")
    return number


def moving_joints(clip: Clip) -> list[int]:
    """Joints other than the root whose place in their parent's frame is not always the rest offset."""
    if clip.local_pos is None:
        return []
    away = np.abs(clip.local_pos - clip.skeleton.offsets).max(axis=(0, 2)) > STILL
    away[0] = False
    return [int(j) for j in np.flatnonzero(away)]


def restore_clip(
    about: dict[str, Any],
    names: Sequence[str],
    parents: Sequence[int],
    fps: float,
    pos: Floats,
    rot: Floats,
    *,
    stretching: bool,
    source: Source,
) -> Clip:
    """The clip that `describe` described; a FormatError where it does not fit the joints and frames.

    Args:
        about: What `describe` returned, after a trip through a file.
        names: Joint names, as in the file.
        parents: Their parents, as in the file.
        fps: Frames per second.
        pos: Local positions, (F, J, 3), metres.
        rot: Local rotations, (F, J, 4).
        stretching: Whether joints other than the root change their place.
        source: The file.
    """
    skeleton = _restore_skeleton(about, names, parents)
    return Clip(
        skeleton,
        fps,
        pos[:, 0],
        quat.make_continuous(rot),
        name=str(about.get("name", Path(source.path).stem)),
        local_pos=pos if stretching else None,
        labels=_restore_labels(about, len(pos)),
        contacts=_restore_contacts(about, skeleton, len(pos)),
        source=source,
    )


def from_rest(
    names: Sequence[str], parents: Sequence[int], rest_pos: Floats, rest_rot: Floats, pos: Floats, rot: Floats
) -> tuple[Skeleton, Floats, Floats | None]:
    """A skeleton whose joints are unturned in a file's rest pose, and the file's motion in its terms.

    Args:
        names: Joint names.
        parents: Their parents, topological.
        rest_pos: Places in the parent's frame in the rest pose, (J, 3), metres.
        rest_rot: Rotations in the parent's frame in the rest pose, (J, 4).
        pos: Places in the parent's frame, (F, J, 3), metres.
        rot: Rotations in the parent's frame, (F, J, 4).

    Returns:
        skeleton: Its offsets are laid out along the world's axes.
        local_rot: (F, J, 4).
        local_pos: (F, J, 3), or None where bones keep their length.
    """
    turned = np.array(rest_rot)
    for j in range(1, len(names)):
        turned[j] = quat.multiply(turned[parents[j]], rest_rot[j])
    offsets, local, moved = np.array(rest_pos), np.array(rot), np.array(pos)
    local[:, 0] = quat.multiply(rot[:, 0], quat.inverse(turned[0]))
    for j in range(1, len(names)):
        above = turned[parents[j]]
        offsets[j] = quat.rotate(above, rest_pos[j])
        moved[:, j] = quat.rotate(above, pos[:, j])
        local[:, j] = quat.multiply(quat.multiply(above, rot[:, j]), quat.inverse(turned[j]))
    skeleton = Skeleton(tuple(names), np.asarray(parents, np.int32), offsets)
    stretching = bool(np.abs(moved[:, 1:] - offsets[1:]).max(initial=0.0) > _STRETCH)
    return skeleton, local, moved if stretching else None


def _restore_skeleton(about: dict[str, Any], names: Sequence[str], parents: Sequence[int]) -> Skeleton:
    try:
        return Skeleton(
            tuple(names),
            np.asarray(parents, np.int32),
            np.asarray(about["offsets"], float).reshape(len(names), 3),
            np.asarray(about.get("tip_parents", ()), np.int32).reshape(-1),
            np.asarray(about.get("tip_offsets", ()), float).reshape(-1, 3),
            tuple(str(role) for role in about["roles"]),
        )
    except (RoleError, KeyError, TypeError, ValueError, OverflowError) as error:
        raise FormatError(f"its {KEY!r} entry does not describe its joints: {error}") from error


def _restore_labels(about: dict[str, Any], frames: int) -> tuple[Label, ...]:
    try:
        labels = tuple(Label(str(text), int(start), int(stop)) for text, start, stop in about.get("labels", ()))
    except (TypeError, ValueError, OverflowError) as error:
        raise FormatError(f"the labels in its {KEY!r} entry cannot be read: {error}") from error
    if any(not 0 <= label.start < label.stop <= frames for label in labels):
        raise FormatError(f"a label in its {KEY!r} entry lies outside the {frames} frames")
    return labels


def _restore_contacts(about: dict[str, Any], skeleton: Skeleton, frames: int) -> Flags | None:
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


def _runs(flags: Flags) -> list[list[int]]:
    """Stretches [start, stop) of frames that are set."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], flags.astype(np.int8), [0]])))
    return [[int(start), int(stop)] for start, stop in edges.reshape(-1, 2)]
