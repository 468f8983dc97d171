"""USD read: figures of UsdSkel as clips, from the numbers that a child process takes from the file."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from choreograph.base import quat
from choreograph.base.arrays import Floats
from choreograph.base.errors import ChoreographError, FormatError, MissingExtra
from choreograph.formats.assemble import MAX_LENGTH, read_bytes
from choreograph.formats.channels import MAX_GROWTH
from choreograph.formats.child import ask_child
from choreograph.formats.figures import KEY, from_rest, restore_clip
from choreograph.formats.world import turn_to_front
from choreograph.motion.clip import Clip, Note, Source

CHILD_BYTES = 512 << 20
"""Memory that USD itself takes, with room for a small file."""
CHILD_SECONDS = 30
"""Time of the processor for a small file."""
SECONDS_PER_MB = 2
"""And for every megabyte of it: USD reads 5 to 50 MB in a second."""


def read_usd(path: str | Path, *, figure: int = 0) -> Clip:
    """The motion of a UsdSkel figure in a USD file.

    Files that Choreograph wrote come back whole. Others are read as far as their joints make one tree, moved by a
    SkelAnimation without scaling; units and up-axis are those that the stage states. Layers that a stage is composed
    of are read from the file's own folder, and from nowhere else.

    Args:
        path: The file.
        figure: Which of the stage's skeletons, from 0.

    Raises:
        FormatError: The file is damaged, or holds something a Clip cannot.
        MissingExtra: USD is not installed.
    """
    return _read(path, str(figure))[0]


def read_usd_clips(path: str | Path, *, figure: int | None = None) -> list[Clip]:
    """The motion of every UsdSkel figure in a USD file, or of one; raises what `read_usd` does."""
    return _read(path, "all" if figure is None else str(figure))


def _ask(path: str | Path, size: int, which: str) -> tuple[dict[str, Any], dict[str, Floats]]:
    if importlib.util.find_spec("pxr") is None:
        raise MissingExtra("reading USD", "usd")
    return ask_child(
        "choreograph.formats._usd_child",
        [os.path.abspath(path), KEY, which],  # noqa: PTH100 - links stay as they are named
        memory=CHILD_BYTES + MAX_GROWTH * size,
        seconds=CHILD_SECONDS + SECONDS_PER_MB * (size >> 20),
        output=(64 << 20) + MAX_GROWTH * size,
    )


def _read(path: str | Path, which: str) -> list[Clip]:
    data = read_bytes(path)
    size, digest = len(data), hashlib.sha256(data).hexdigest()
    del data
    try:
        facts, arrays = _ask(path, size, which)
        first = 0 if which == "all" else int(which)
        clips = []
        for k, about in enumerate(facts["figures"]):
            own = {
                name: arrays[f"{name}{k}"]
                for name in ("codes", "pos", "rot", "rest", "world")
                if f"{name}{k}" in arrays
            }
            clips.append(_clip(Path(path), digest, facts, about, own, first + k))
        return clips
    except FormatError as error:
        raise error.at(path) from None
    except MissingExtra:
        raise
    except (ChoreographError, ValueError, KeyError, TypeError, OverflowError) as error:
        # A clip's own checks: the file's numbers do not make a motion.
        raise FormatError(f"does not hold a motion: {error}", path=path) from error


def _clip(
    path: Path, digest: str, facts: dict[str, Any], about: dict[str, Any], own: dict[str, Floats], figure: int
) -> Clip:
    names, parents = _hierarchy(about["joints"], about["names"])
    codes, pos, rot = own["codes"], own["pos"], own["rot"]
    for array in own.values():
        if not np.isfinite(array).all():
            raise FormatError("it holds values that are not finite numbers")
        if np.abs(array).max(initial=0.0) > MAX_LENGTH:
            raise FormatError(f"it holds a value of {np.abs(array).max():.3g}, which is no sensible length")
    rot = quat.normalise(rot)
    metres, up, count = float(facts["metres"]), str(facts["up"]).lower(), int(facts["count"])
    if not 1e-6 <= metres <= 1e6:
        raise FormatError(f"says that its unit is {metres:g} metres, which is no sensible unit")
    notes = [Note("several-figures", f"holds {count} figures; this is number {figure}")] if count > 1 else []
    source = Source(str(path), "usd", digest, metres, up, "stated in the file", "stated in the file", tuple(notes))
    if about["kept"] is not None:
        try:
            fields = json.loads(about["kept"])
            fps = float(fields["fps"])
        except (ValueError, KeyError, TypeError, RecursionError, OverflowError) as error:
            raise FormatError(f"its {KEY!r} entry cannot be read: {error}") from error
        stretching = bool((np.ptp(pos[:, 1:], axis=0) > 0).any()) if pos.shape[1] > 1 else False
        return restore_clip(fields, names, parents, fps, pos, rot, stretching=stretching, source=source)
    fps = float(facts["rate"]) / (float(np.median(np.diff(codes))) if len(codes) > 1 else 1.0)
    if "rest" not in own:
        raise FormatError("its skeleton has no rest pose")
    rest = own["rest"]
    rest_pos, rest_rot = rest[:, 3, :3], quat.from_matrix(_rigid(np.swapaxes(rest[:, :3, :3], -1, -2)))
    shift, turn, scale = _placing(own["world"], metres, up)
    for places, turns in ((rest_pos[None], rest_rot[None]), (pos, rot)):
        places *= scale
        places[:, 0] = shift + quat.rotate(turn, places[:, 0])
        turns[:, 0] = quat.multiply(turn, turns[:, 0])
    points, local_rot, local_pos = from_rest(names, parents, rest_pos, rest_rot, pos, rot)
    points, root_pos, local_rot, local_pos = turn_to_front(points, pos[:, 0], local_rot, local_pos)
    return Clip(
        points, fps, root_pos, quat.make_continuous(local_rot), name=path.stem, local_pos=local_pos, source=source
    )


def _hierarchy(joints: list[str], given: list[str]) -> tuple[list[str], list[int]]:
    """Names and parents from the joints' paths."""
    if not joints or len(set(joints)) != len(joints):
        raise FormatError("its skeleton has no joints, or the same one twice")
    at = {joint: k for k, joint in enumerate(joints)}
    parents = []
    for k, joint in enumerate(joints):
        above = joint.rpartition("/")[0]
        while above and above not in at:
            above = above.rpartition("/")[0]
        parent = at.get(above, -1)
        if (parent == -1) != (k == 0) or parent >= k:
            raise FormatError("its joints do not make one tree with every parent before its children")
        parents.append(parent)
    names = given if len(set(given)) == len(joints) == len(given) else [j.rpartition("/")[2] for j in joints]
    return (names if len(set(names)) == len(names) else joints), parents


def _rigid(linear: Floats) -> Floats:
    """The rotations themselves, once they are found to be rotations."""
    if np.abs(np.swapaxes(linear, -1, -2) @ linear - np.eye(3)).max() > 1e-3 or (np.linalg.det(linear) < 0).any():
        raise FormatError("its rest pose scales or mirrors joints, which a motion cannot hold")
    return linear


def _placing(world: Floats, metres: float, up: str) -> tuple[Floats, Floats, float]:
    """Shift, rotation and scale from a skeleton's space to metres, y up."""
    linear = world[:3, :3].T
    size = float(np.cbrt(max(np.linalg.det(linear), 0.0)))
    if size <= 0:
        raise FormatError("its skeleton stands in a mirrored or flattened space")
    turn = quat.from_matrix(_rigid(linear / size))
    shift = world[3, :3] * metres
    if up == "z":
        tilt = quat.from_axis_angle((1.0, 0.0, 0.0), -np.pi / 2)
        turn, shift = quat.multiply(tilt, turn), quat.rotate(tilt, shift)
    return shift, turn, size * metres
