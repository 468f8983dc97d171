"""Acclaim ASF/AMC: the skeleton in one file, the motion in another, rotations about each bone's own axes.

A bone of an ASF file begins at its parent's end. As a Skeleton, each bone becomes the joint at its beginning, and the
end of a bone without children becomes a tip. A bone's rotation M about its own axes C is the local rotation C M C⁻¹.
"""

from __future__ import annotations

import re
from collections.abc import Container
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from choreograph.errors import FormatError, RequestError
from choreograph.formats.assemble import MAX_LENGTH, assemble, read_bytes
from choreograph.formats.atomic import atomic_write, check_writable
from choreograph.formats.channels import (
    MAX_GROWTH,
    Channels,
    check_growth,
    compute_positions,
    compute_rotations,
    line_of,
    lines_from,
    word_at,
)
from choreograph.formats.trials import find_trial
from choreograph.formats.world import CMU_INCHES, Unit, judge_unit, makes_person
from choreograph.maths import quat
from choreograph.motion.clip import Clip, Note
from choreograph.motion.skeleton import JointAxes, Skeleton

Array = NDArray[np.float64]

DEFAULT_FPS = 120.0
"""AMC files carry no frame rate; most of CMU's were recorded at 120."""

MAX_BONES = 4096
_DOFS = {f"{what}{axis}": k + 3 * turn for turn, what in enumerate("tr") for k, axis in enumerate("xyz")}
_RENAMED = re.compile(r"# joint (\S+) is called (.+)")
_AT, _TIP = "__at", "__tip"
"""Endings of the helper bones that the writer adds where a joint's children do not begin at one point."""


@dataclass
class _Bone:
    name: str
    direction: Array = field(default_factory=lambda: np.zeros(3))
    length: float = 0.0
    axis: Array = field(default_factory=lambda: np.zeros(3))
    axis_order: str = "xyz"
    dofs: list[str] = field(default_factory=list)
    limits: list[tuple[float, float]] = field(default_factory=list)
    parent: int = -1


@dataclass
class _Asf:
    bones: list[_Bone] = field(default_factory=list)
    """The root first, then in hierarchy order."""
    length_scale: float = 1.0
    degrees: bool = True
    root_position: Array = field(default_factory=lambda: np.zeros(3))
    joint_names: dict[str, str] = field(default_factory=dict)
    """Names that joints had before they were written as ASF, by bone name."""
    notes: list[Note] = field(default_factory=list)


def read_amc(
    path: str | Path,
    *,
    asf: str | Path | None = None,
    fps: float | None = None,
    unit: Unit | None = None,
    up_axis: str | None = None,
) -> Clip:
    """The motion in an AMC file, on the skeleton of the ASF file beside it.

    Args:
        path: The AMC file.
        asf: The skeleton. If not given: the file of the same name, else of the part before the first underscore
            (16_47.amc finds 16.asf), else the only ASF file in the folder.
        fps: Frames per second. If not given: what a trials.tsv beside the file or one folder up says, else 120.
        unit: Unit of length. If not given: inches over the file's scale, as CMU's are, where that makes a person.
        up_axis: "y", "z", …; judged by where the head is from the feet if not given.

    Raises:
        FormatError: naming file, line and reason.
    """
    path = Path(path)
    data = read_bytes(path)
    asf_path = Path(asf) if asf is not None else find_asf(path)
    skeleton_file, skeleton = _load_asf(asf_path)
    notes = list(skeleton_file.notes)
    try:
        values, channels, radians = _read_motion(data, skeleton_file, notes)
        check_growth(len(data), len(values), len(skeleton))
    except FormatError as error:
        raise error.at(path) from None
    assert skeleton.axes is not None
    root_pos, _ = compute_positions(values, channels, skeleton.offsets)
    local_rot = compute_rotations(values, channels, skeleton.axes.frames, radians)
    del values  # as large as the motion itself, and done with
    root_pos += skeleton_file.root_position
    trial = find_trial(path)
    if fps is None:
        fps = trial.fps if trial and trial.fps else DEFAULT_FPS
    labels = (trial.description,) if trial and trial.description else ()
    skeleton, local_rot = _fold_helpers(skeleton, local_rot)
    return assemble(
        path, data, "amc", skeleton, fps, root_pos, local_rot, None,
        unit=unit or _unit(skeleton_file, skeleton), up_axis=up_axis, notes=notes, labels=labels,
    )  # fmt: skip


def find_asf(path: Path) -> Path:
    """The skeleton file that belongs to an AMC file, by name."""
    candidates = list(dict.fromkeys((path.with_suffix(".asf"), path.with_name(path.stem.split("_")[0] + ".asf"))))
    for wanted in candidates:
        if wanted.is_file():
            return wanted
    here = sorted(p for p in path.parent.iterdir() if p.suffix.lower() == ".asf")
    for wanted in candidates:
        for found in here:
            if found.name.lower() == wanted.name.lower():
                return found
    if len(here) == 1:
        return here[0]
    names = " or ".join(c.name for c in candidates)
    raise FormatError(
        f"its skeleton was not found: there is no {names} beside it; give it with --asf (asf=…)", path=path
    )


def _load_asf(path: Path) -> tuple[_Asf, Skeleton]:
    data = read_bytes(path)
    try:
        return _parse_asf(data)
    except (FormatError, ValueError) as error:
        raise FormatError(getattr(error, "reason", str(error)), path=path, line=getattr(error, "line", None)) from None


@lru_cache(maxsize=16)
def _parse_asf(data: bytes) -> tuple[_Asf, Skeleton]:
    """What an ASF file says; kept, because the trials of a subject share theirs. Nobody changes it afterwards."""
    asf = _read_asf(data)
    return asf, _as_skeleton(asf)


def read_skeleton(path: str | Path) -> Skeleton:
    """The skeleton in an ASF file, in metres."""
    asf, skeleton = _load_asf(Path(path))
    skeleton, _ = _fold_helpers(skeleton, np.tile(quat.IDENTITY, (1, len(skeleton), 1)))
    unit = _unit(asf, skeleton) or judge_unit(skeleton)
    return skeleton.scaled(unit.metres)


def _unit(asf: _Asf, skeleton: Skeleton) -> Unit | None:
    """Inches over the stated scale, as in CMU's files, if that makes a person; None to have it judged."""
    if asf.length_scale == 1.0 or not makes_person(skeleton, 0.0254 / asf.length_scale):
        return None
    return Unit(0.0254 / asf.length_scale, f"stated in the ASF file: length {asf.length_scale:g}, in inches")


# ---------------------------------------------------------------------- ASF


def _numbers(words: list[str], line: int, what: str, count: int) -> Array:
    try:
        values = np.array([float(w) for w in words[:count]])
    except ValueError:
        raise FormatError(f"{what} needs numbers; found {' '.join(words)[:40]!r}", line=line) from None
    if len(values) != count or not (np.abs(values) <= MAX_LENGTH).all():
        raise FormatError(f"{what} needs {count} sensible numbers; found {' '.join(words)[:40]!r}", line=line)
    return values


def _read_asf(data: bytes) -> _Asf:
    asf = _Asf(bones=[_Bone("root")])
    bones: dict[str, _Bone] = {}
    root, section, bone = asf.bones[0], "", None
    order_seen = False
    links: list[tuple[int, list[str]]] = []
    text = data.decode("utf-8", "replace").lstrip("\ufeff")
    for number, raw in enumerate(re.split(r"\r\n|\r|\n", text), 1):
        if renamed := _RENAMED.fullmatch(raw):
            asf.joint_names[renamed[1]] = renamed[2]
        line = raw.split("#", 1)[0].strip()
        if not line:
            continue
        words = line.replace("(", " ").replace(")", " ").split()
        if not words:
            continue
        key, rest = words[0].lower(), words[1:]
        if key.startswith(":"):
            section, bone = key[1:], None
            continue
        if section == "units":
            if key == "length":
                asf.length_scale = float(_numbers(rest, number, "length", 1)[0])
                if asf.length_scale <= 0:
                    raise FormatError("length must be positive", line=number)
            elif key == "angle":
                asf.degrees = not (rest and rest[0].lower().startswith("rad"))
        elif section == "root":
            if key == "order":
                root.dofs, order_seen = [w.lower() for w in rest], True
                wrong = [d for d in root.dofs if d not in _DOFS]
                if wrong:
                    raise FormatError(f"unknown root channel {wrong[0]!r}", line=number)
            elif key == "axis":
                root.axis_order = _axis_order(rest[0] if rest else "", number)
            elif key == "position":
                asf.root_position = _numbers(rest, number, "position", 3)
            elif key == "orientation":
                root.axis = _numbers(rest, number, "orientation", 3)
        elif section == "bonedata":
            if key == "begin":
                bone = _Bone("")
            elif key == "end":
                if bone is None or not bone.name:
                    raise FormatError("a bone without a name ends here", line=number)
                if bone.name in bones or bone.name == "root":
                    raise FormatError(f"bone {bone.name!r} is defined twice", line=number)
                if len(bones) >= MAX_BONES:
                    raise FormatError(f"more than {MAX_BONES} bones", line=number)
                bones[bone.name] = bone
                bone = None
            elif bone is None:
                raise FormatError(f"{key!r} stands outside begin … end", line=number)
            elif key == "name":
                bone.name = rest[0] if rest else ""
            elif key == "direction":
                bone.direction = _numbers(rest, number, "direction", 3)
            elif key == "length":
                bone.length = float(_numbers(rest, number, "length", 1)[0])
            elif key == "axis":
                bone.axis = _numbers(rest, number, "axis", 3)
                bone.axis_order = _axis_order(rest[3] if len(rest) > 3 else "XYZ", number)
            elif key == "dof":
                bone.dofs = [w.lower() for w in rest]
                wrong = [d for d in bone.dofs if d not in _DOFS and d != "l"]
                if wrong:
                    raise FormatError(f"unknown degree of freedom {wrong[0]!r}", line=number)
            elif key == "limits" or re.match(r"[-+.\d]|inf", key):
                pair = rest if key == "limits" else words
                if len(pair) >= 2:
                    bone.limits.append(_limit(pair, number))
        elif section == "hierarchy" and key not in ("begin", "end"):
            links.append((number, words))
    if not order_seen:
        root.dofs = ["tx", "ty", "tz", "rx", "ry", "rz"]
    _link(asf, bones, links)
    return asf


def _limit(words: list[str], line: int) -> tuple[float, float]:
    try:
        return float(words[0]), float(words[1])
    except ValueError:
        raise FormatError(f"limits need two numbers; found {' '.join(words)[:40]!r}", line=line) from None


def _axis_order(text: str, line: int) -> str:
    order = text.lower()
    if sorted(order) != ["x", "y", "z"]:
        raise FormatError(f"an axis order is three letters such as XYZ; found {text[:20]!r}", line=line)
    return order


def _link(asf: _Asf, bones: dict[str, _Bone], links: list[tuple[int, list[str]]]) -> None:
    """Put the bones in order, depth first, as BVH's nesting does; so both formats number the joints alike."""
    if not links:
        raise FormatError("the file has no :hierarchy")
    children: dict[str, list[str]] = {}
    parents: dict[str, str] = {}
    for line, (parent, *names) in links:
        if parent != "root" and parent not in bones:
            raise FormatError(f"{parent!r} is in the hierarchy but not in :bonedata", line=line)
        for name in names:
            if name not in bones:
                raise FormatError(f"{name!r} is in the hierarchy but not in :bonedata", line=line)
            if name in parents:
                raise FormatError(f"{name!r} has two parents", line=line)
            parents[name] = parent
        children.setdefault(parent, []).extend(names)
    todo = [(name, 0) for name in reversed(children.get("root", []))]
    while todo:
        name, parent_at = todo.pop()
        bones[name].parent = parent_at
        asf.bones.append(bones[name])
        todo.extend((child, len(asf.bones) - 1) for child in reversed(children.get(name, [])))
    left = sorted(set(bones) - {b.name for b in asf.bones})
    if left:
        asf.notes.append(
            Note("unlinked-bone", f"{', '.join(left[:4])}: in :bonedata but not hanging from the root", len(left))
        )


def _as_skeleton(asf: _Asf) -> Skeleton:
    """Joints at the bones' beginnings, in the file's unit, axes as the file has them."""
    bones = asf.bones
    ends = np.array([b.direction * b.length for b in bones])
    ends[0] = 0.0
    parents = np.array([b.parent for b in bones], np.int32)
    offsets = np.where((parents >= 0)[:, None], ends[parents], 0.0)
    leaves = [j for j in range(1, len(bones)) if j not in set(parents.tolist())]
    to_radians = np.pi / 180 if asf.degrees else 1.0
    frames = np.array([quat.from_euler(b.axis_order[::-1], _by_axis(b.axis, b.axis_order) * to_radians) for b in bones])
    limits = np.full((len(bones), 3, 2), np.nan)
    for j, bone in enumerate(bones):
        for dof, limit in zip(bone.dofs, bone.limits, strict=False):
            if dof.startswith("r"):
                limits[j, "xyz".index(dof[1])] = np.array(limit) * to_radians
    orders = tuple("".join(a for a in b.axis_order[::-1] if f"r{a}" in b.dofs) for b in bones)
    names = tuple(asf.joint_names.get(b.name, b.name) for b in bones)
    if len(set(names)) < len(names):
        names = tuple(b.name for b in bones)
    return Skeleton(
        names, parents, offsets, np.array(leaves, np.int32), ends[leaves],
        axes=JointAxes(frames, orders, limits),
    )  # fmt: skip


def _by_axis(xyz: Array, order: str) -> Array:
    """The angles given for x, y, z, in the order in which an intrinsic rotation names them."""
    return np.array([xyz["xyz".index(a)] for a in order[::-1]])


def _fold_helpers(skeleton: Skeleton, local_rot: Array) -> tuple[Skeleton, Array]:
    """The skeleton as it was before `write_amc` added helper bones; others' skeletons come back as they are."""
    names = skeleton.names
    helpers = {
        j for j, name in enumerate(names)
        if j and skeleton.axes is not None and not skeleton.axes.orders[j]
        and name.endswith((_AT, _TIP))
    }  # fmt: skip
    if not helpers:
        return skeleton, local_rot
    assert skeleton.axes is not None
    parents, offsets = skeleton.parents.tolist(), np.array(skeleton.offsets)
    kept = [j for j in range(len(names)) if j not in helpers]
    tip_parents, tip_offsets = [], []
    for parent, offset in zip(skeleton.tip_parents.tolist(), skeleton.tip_offsets, strict=True):
        if parent in helpers:  # a helper that is a leaf is a tip of the joint it hangs from
            tip_parents.append(kept.index(parents[parent]))
            tip_offsets.append(offset + offsets[parent])
        elif np.any(offset != 0):
            tip_parents.append(kept.index(parent))
            tip_offsets.append(offset)
    for j in kept:
        while parents[j] in helpers:
            offsets[j] += offsets[parents[j]]
            parents[j] = parents[parents[j]]
    axes = skeleton.axes
    folded = Skeleton(
        tuple(names[j] for j in kept),
        np.array([kept.index(parents[j]) if parents[j] >= 0 else -1 for j in kept]),
        offsets[kept],
        np.array(tip_parents, np.int32),
        np.array(tip_offsets).reshape(-1, 3),
        axes=JointAxes(
            axes.frames[kept],
            tuple(axes.orders[j] for j in kept),
            None if axes.limits is None else axes.limits[kept],
        ),
    )
    return folded, np.ascontiguousarray(local_rot[:, kept])


# ---------------------------------------------------------------------- AMC


def _read_motion(data: bytes, asf: _Asf, notes: list[Note]) -> tuple[Array, Channels, float]:
    """The numbers (F, columns), what they mean, turns in the order they are applied, and their unit in radians."""
    degrees, at = _amc_header(data, asf)
    listed = _first_frame(data, at, asf)
    values = _parse_regular(data, at, listed, notes)
    if values is None:
        listed = {b.name: len(b.dofs) for b in asf.bones if b.dofs}
        values = _parse_any(data, at, listed, notes)
    missing = [b.name for b in asf.bones if b.dofs and b.name not in listed]
    if missing:
        notes.append(Note("missing-bone", f"no values for {', '.join(missing[:4])}; left at rest", len(missing)))
    place = {bone.name: j for j, bone in enumerate(asf.bones)}
    rows: list[tuple[int, int, int]] = []
    start, passed_over = 0, 0
    for name, count in listed.items():
        bone = asf.bones[place[name]]
        kinds = [_DOFS.get(d, -1) for d in bone.dofs]
        # Turns are applied in the order of the axis, last letter first: XYZ means Rz Ry Rx.
        turns = [kinds.index(3 + "xyz".index(a)) for a in bone.axis_order[::-1] if 3 + "xyz".index(a) in kinds]
        shifts = [k for k, kind in enumerate(kinds) if 0 <= kind < 3] if bone.parent < 0 else []
        passed_over += count - len(turns) - len(shifts)
        rows += [(start + k, place[name], kinds[k]) for k in (*shifts, *turns)]
        start += count
    if passed_over:
        notes.append(Note("bone-translation", "shifts or stretches of single bones were passed over", passed_over))
    return values, Channels.from_rows(rows), np.pi / 180 if degrees else 1.0


def _amc_header(data: bytes, asf: _Asf) -> tuple[bool, int]:
    """Whether angles are in degrees, and where the first frame begins."""
    degrees = asf.degrees
    for at, line in lines_from(data, 3 if data.startswith(b"\xef\xbb\xbf") else 0):
        word = line.strip()
        if word.upper() == b":DEGREES":
            degrees = True
        elif word.upper() == b":RADIANS":
            degrees = False
        elif word.isdigit():
            return degrees, at
        elif word and word[:1] not in (b"#", b":"):
            found = word[:20].decode("utf-8", "replace")
            raise FormatError(
                f"this is no AMC file: it begins with {found!r} instead of a frame's number", line=line_of(data, at)
            )
    raise FormatError("the file has no frames")


def _first_frame(data: bytes, at: int, asf: _Asf) -> dict[str, int]:
    """Bones of the first frame, each with how many numbers it has, checked against the skeleton."""
    known = {bone.name: len(bone.dofs) for bone in asf.bones}
    listed: dict[str, int] = {}
    lines = lines_from(data, at)
    next(lines)  # the frame's number
    for begin, line in lines:
        words = line.split()
        if len(words) == 1 and words[0].isdigit():
            break
        if not words:
            continue
        name = words[0].decode("utf-8", "replace")
        reason = _bone_problem(name, len(words) - 1, known, listed)
        if reason:
            raise FormatError(reason, line=line_of(data, begin))
        listed[name] = len(words) - 1
    if not listed:
        raise FormatError("the first frame has no bones", line=line_of(data, at))
    return listed


def _bone_problem(name: str, count: int, known: dict[str, int], seen: Container[str]) -> str | None:
    """Why a bone's line cannot be right, if it cannot."""
    if name not in known:
        return f"{name[:40]!r} is not a bone of the skeleton; is this the right ASF file?"
    if count != known[name]:
        return f"{name!r} has {known[name]} degrees of freedom in the skeleton, but {count} numbers here"
    return f"{name!r} is given twice in one frame" if name in seen else None


def _parse_regular(data: bytes, at: int, listed: dict[str, int], notes: list[Note]) -> Array | None:
    """All values if every frame is laid out like the first; None where the bones change order or are left out."""
    from choreograph.formats import _compiled

    names = [name.encode() for name in listed]
    # Neither more frames than the lines allow nor than the bytes do: this is how much room is made.
    lines = (data.count(b"\n", at) + 1) // (len(names) + 1) + 1
    shortest = 2 + sum(len(name) + 1 + 2 * count for name, count in zip(names, listed.values(), strict=True))
    values, numbers, broken = _compiled.parse_amc(
        np.frombuffer(data, np.uint8), at, np.frombuffer(b"".join(names), np.uint8),
        np.cumsum([len(name) for name in names]).astype(np.int64), np.array(list(listed.values()), np.int64),
        min(lines, (len(data) - at) // shortest + 1),
    )  # fmt: skip
    if broken >= 0:
        # In the last line the file may just have been cut off; anywhere else the frames differ.
        if len(values) == 0 or data.find(b"\n", broken) not in (-1, len(data) - 1):
            return None
        notes.append(Note("cut-frame", "the last frame is cut short and was left out"))
    if len(numbers) > 1 and (np.diff(numbers) != 1).any():
        notes.append(Note("frame-numbers", "the frames are not numbered one after another"))
    return values


def _parse_any(data: bytes, at: int, listed: dict[str, int], notes: list[Note]) -> Array:
    """Values of a body in which frames may leave bones out or list them in any order; what is missing is zero."""
    starts = dict(zip(listed, np.cumsum([0, *listed.values()]).tolist(), strict=False))
    frames = sum(1 for _, line in lines_from(data, at) if line.strip().isdigit())
    width = sum(listed.values())
    if 8 * frames * width > MAX_GROWTH * len(data):
        raise FormatError(f"{frames} frames have hardly any values", line=line_of(data, at))
    values = np.zeros((frames, width))
    frame, given, seen = -1, 0, set[str]()
    for begin, line in lines_from(data, at):
        words = line.split()
        if not words:
            continue
        if len(words) == 1 and words[0].isdigit():
            if frame >= 0 and not seen:
                raise FormatError("the frame before this one has no bones", line=line_of(data, begin))
            frame, seen = frame + 1, set()
            continue
        name = words[0].decode("utf-8", "replace")
        reason = _bone_problem(name, len(words) - 1, listed, seen)
        if reason:
            raise FormatError(reason, line=line_of(data, begin))
        for k, word in enumerate(words[1:]):
            try:
                values[frame, starts[name] + k] = float(word)
            except ValueError:
                raise FormatError(f"expected a number, found {word_at(word, 0)!r}", line=line_of(data, begin)) from None
        if not np.isfinite(values[frame, starts[name] : starts[name] + listed[name]]).all():
            raise FormatError("a value is not a finite number", line=line_of(data, begin))
        seen.add(name)
        given += 1
    left_out = frames * len(listed) - given
    if left_out:
        notes.append(Note("missing-values", "bones are left out of single frames; taken as zero", left_out))
    return values


# ---------------------------------------------------------------------- writing


def write_amc(
    path: str | Path,
    clip: Clip,
    *,
    asf: str | Path | None = None,
    metres_per_unit: float = CMU_INCHES,
    overwrite: bool = False,
) -> None:
    """Write a clip as AMC, with its skeleton as ASF beside it, in CMU's unit.

    Args:
        path: The AMC file.
        clip: What to write. AMC has no frame rate: readers need to be told, unless it is 120.
        asf: The skeleton file; the same name with .asf if not given. One that already holds this very skeleton is left
            as it is, so that several motions can share it.
        metres_per_unit: Unit of length. Other readers expect inches over 0.45.
        overwrite: Replace files that exist.
    """
    if clip.local_pos is not None:
        raise RequestError(f"{clip.name!r} has bones that change length, which AMC cannot hold; write BVH instead")
    path = Path(path)
    asf_path = Path(asf) if asf is not None else path.with_suffix(".asf")
    skeleton = clip.skeleton
    angles, orders = _bone_angles(clip)
    bones = _as_bones(skeleton, orders, 1 / metres_per_unit)
    names = _bone_names(skeleton)
    renamed = {bone: joint for bone, joint in zip(names, skeleton.names, strict=True) if bone != joint}
    text = _asf_text(bones, renamed, metres_per_unit)
    shared = asf_path.is_file() and asf_path.read_bytes() == text.encode()
    check_writable(path, overwrite=overwrite)
    if not shared:
        with atomic_write(asf_path, overwrite=overwrite) as temporary:
            temporary.write_text(text, encoding="utf-8", newline="\n")
    with (
        atomic_write(path, overwrite=overwrite) as temporary,
        temporary.open("w", encoding="utf-8", newline="\n") as out,
    ):
        out.write(":FULLY-SPECIFIED\n:DEGREES\n")
        columns = [clip.root_pos / metres_per_unit, np.degrees(angles[0][:, ::-1])]
        form = "%d\nroot " + " ".join(["%.7f"] * 6) + "\n"
        for j in range(1, len(skeleton)):
            if orders[j]:
                columns.append(np.degrees(angles[j][:, ::-1]))
                form += f"{names[j]} " + " ".join(["%.7f"] * len(orders[j])) + "\n"
        rows = (np.concatenate(columns, axis=1) + 0.0).tolist()
        out.writelines(form % (k + 1, *row) for k, row in enumerate(rows))


def _bone_names(skeleton: Skeleton) -> list[str]:
    """Joint names as ASF can hold them: one word each, the first called root."""
    names = ["root"]
    for name in skeleton.names[1:]:
        word = re.sub(r"[\s#()]+", "_", name)
        if word.isdigit() or word in names or word.startswith(":"):
            word = f"bone_{len(names)}_{word.lstrip(':')}"
        names.append(word)
    return names


def _bone_angles(clip: Clip) -> tuple[list[Array], list[str]]:
    """Angles of each joint about its own axes, intrinsic order, and that order: as few axes as the motion needs."""
    axes = clip.skeleton.axes
    angles, orders = [], []
    for j in range(len(clip.skeleton)):
        frame = axes.frames[j] if axes else quat.IDENTITY
        wanted = axes.orders[j] if axes else "zyx"
        full = "zyx" if j == 0 or len(set(wanted)) < len(wanted) else "".join(a for a in "zyx" if a in wanted)
        turn = quat.multiply(quat.multiply(quat.inverse(frame), clip.local_rot[:, j]), frame)
        zyx = quat.as_euler("zyx", turn)
        other = np.stack([zyx[:, 0] + np.pi, np.pi - zyx[:, 1], zyx[:, 2] + np.pi], axis=1)
        other = (other + np.pi) % (2 * np.pi) - np.pi
        spare = [k for k, a in enumerate("zyx") if a not in full]
        # Every rotation has two sets of angles; take the one that leaves the axes without freedom alone.
        if spare:
            zyx = np.where((np.abs(other[:, spare]).sum(1) < np.abs(zyx[:, spare]).sum(1))[:, None], other, zyx)
        zyx = np.unwrap(zyx, axis=0)
        order = "".join(a for k, a in enumerate("zyx") if a in full or np.abs(zyx[:, k]).max() > 1e-7)
        orders.append(order)
        angles.append(zyx[:, ["zyx".index(a) for a in order]])
    return angles, orders


def _as_bones(skeleton: Skeleton, orders: list[str], scale: float) -> list[_Bone]:
    """Bones that put every joint where the skeleton has it, with helper bones where one bone cannot."""
    names = _bone_names(skeleton)
    frames = skeleton.axes.frames if skeleton.axes else np.tile(quat.IDENTITY, (len(skeleton), 1))
    limits = skeleton.axes.limits if skeleton.axes else None
    bones: list[_Bone] = []
    place: dict[int, int] = {}
    for j in range(len(skeleton)):
        children = skeleton.children(j)
        tips = np.flatnonzero(skeleton.tip_parents == j)
        parent = int(skeleton.parents[j])
        hangs_from = place.get(parent, -1)
        start = bones[hangs_from].direction if parent >= 0 else np.zeros(3)
        if parent >= 0 and not np.allclose(start, skeleton.offsets[j] * scale, atol=1e-9):
            bones.append(_Bone(names[j] + _AT, direction=skeleton.offsets[j] * scale - start, parent=hangs_from))
            hangs_from = len(bones) - 1
        end = np.zeros(3)
        if j and children:
            offsets = skeleton.offsets[list(children)] * scale
            end = offsets[0] if np.allclose(offsets, offsets[0], atol=1e-9) else end
        elif j and len(tips):
            end = skeleton.tip_offsets[tips[0]] * scale
        angles = np.degrees(quat.as_euler("zyx", frames[j]))[::-1] if j else np.zeros(3)
        dofs = [f"r{a}" for a in "xyz" if a in orders[j]]
        bone_limits = []
        if limits is not None and j:
            pairs = [limits[j, "xyz".index(d[1])] for d in dofs]
            bone_limits = [(-180.0, 180.0) if np.isnan(p).any() else tuple(np.degrees(p)) for p in pairs]
        bones.append(_Bone(names[j], direction=end, axis=angles, dofs=dofs, limits=bone_limits, parent=hangs_from))
        place[j] = len(bones) - 1
        extra = tips if children or not j else tips[1:]
        for k, tip in enumerate(extra):
            offset = skeleton.tip_offsets[tip] * scale - end
            bones.append(
                _Bone(f"{names[j]}{_TIP}" if k == 0 else f"{names[j]}.{k}{_TIP}", direction=offset, parent=place[j])
            )
    return bones


def _asf_text(bones: list[_Bone], renamed: dict[str, str], metres_per_unit: float) -> str:
    # The digits must tell a file's reader the unit exactly: 0.0254 over it is the scale.
    lines = [
        *(f"# joint {bone} is called {joint}" for bone, joint in renamed.items()),
        ":version 1.10", ":name choreograph", ":units", "  mass 1.0", f"  length {0.0254 / metres_per_unit:.12g}",
        "  angle deg", ":documentation", "   written by choreograph", ":root", "   order TX TY TZ RX RY RZ",
        "   axis XYZ", "   position 0 0 0", "   orientation 0 0 0", ":bonedata",
    ]  # fmt: skip
    for number, bone in enumerate(bones[1:], 1):
        length = float(np.linalg.norm(bone.direction))
        direction = bone.direction / length if length else np.array([0.0, 0.0, 1.0])
        lines += [
            "  begin", f"     id {number}", f"     name {bone.name}",
            "     direction " + " ".join(f"{v:.12g}" for v in direction), f"     length {length:.12g}",
            "     axis " + " ".join(f"{v + 0.0:.12g}" for v in bone.axis) + "  XYZ",
        ]  # fmt: skip
        if bone.dofs:
            lines.append("    dof " + " ".join(bone.dofs))
        for k, (low, high) in enumerate(bone.limits):
            lines.append(("    limits " if k == 0 else "           ") + f"({low:.6g} {high:.6g})")
        lines.append("  end")
    lines += [":hierarchy", "  begin"]
    for j, bone in enumerate(bones):
        children = [b.name for b in bones if b.parent == j]
        if children:
            lines.append(f"    {bone.name} {' '.join(children)}")
    return "\n".join([*lines, "  end", ""])
