"""Acclaim ASF/AMC: the skeleton in one file (see `_asf`), the motion in another, which is read and written here.

A bone's rotation M about its own axes C, which the ASF file gives, is the local rotation C M C⁻¹.
"""

from __future__ import annotations

from collections.abc import Container
from pathlib import Path

import numpy as np

from choreograph.base import quat
from choreograph.base.arrays import Floats
from choreograph.base.errors import FormatError, RequestError
from choreograph.formats._asf import DOFS, Asf, as_bones, asf_text, bone_names, fold_helpers, parse_asf
from choreograph.formats.assemble import FileMotion, assemble, read_bytes
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
from choreograph.formats.rates import assume_rate
from choreograph.formats.trials import find_trial
from choreograph.formats.world import CMU_INCHES, FileUnit, judge_unit, makes_person
from choreograph.motion.clip import Clip, Note
from choreograph.motion.skeleton import Skeleton


def read_amc(
    path: str | Path,
    *,
    asf: str | Path | None = None,
    fps: float | None = None,
    unit: FileUnit | None = None,
    up_axis: str | None = None,
) -> Clip:
    """The motion in an AMC file, on the skeleton of the ASF file beside it.

    Args:
        path: The AMC file.
        asf: The skeleton. If not given: the file of the same name, else of the part before the first underscore
            (16_47.amc finds 16.asf), else the only ASF file in the folder.
        fps: Frames per second. If not given: what a trials.tsv beside the file or one folder up says, else what is
            known of CMU's subjects by their names, else 120, and a note says so.
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
    if fps is None and trial and trial.fps:
        fps = trial.fps
    if fps is None:
        fps, assumed = assume_rate(path, asf_path)
        notes += [Note("assumed-rate", assumed)] if assumed else []
    labels = (trial.description,) if trial and trial.description else ()
    skeleton, local_rot = fold_helpers(skeleton, local_rot)
    return assemble(
        path, data, "amc", FileMotion(skeleton, fps, root_pos, local_rot, labels=labels),
        unit=unit or _unit(skeleton_file, skeleton), up_axis=up_axis, notes=notes,
    )  # fmt: skip


def find_asf(path: Path) -> Path:
    """The skeleton file that belongs to an AMC file, by name."""
    candidates = list(dict.fromkeys((path.with_suffix(".asf"), path.with_name(path.stem.split("_")[0] + ".asf"))))
    for wanted in candidates:
        if wanted.is_file():
            return wanted
    here = sorted(p for p in path.parent.iterdir() if p.suffix.lower() == ".asf")
    for wanted in candidates:
        for path_here in here:
            if path_here.name.lower() == wanted.name.lower():
                return path_here
    if len(here) == 1:
        return here[0]
    names = " or ".join(c.name for c in candidates)
    raise FormatError(
        f"its skeleton was not found: there is no {names} beside it; give the file of the skeleton too (asf)", path=path
    )


def _load_asf(path: Path) -> tuple[Asf, Skeleton]:
    data = read_bytes(path)
    try:
        return parse_asf(data)
    except (FormatError, ValueError) as error:
        raise FormatError(getattr(error, "reason", str(error)), path=path, line=getattr(error, "line", None)) from None


def read_skeleton(path: str | Path) -> Skeleton:
    """The skeleton in an ASF file, in metres."""
    asf, skeleton = _load_asf(Path(path))
    skeleton, _ = fold_helpers(skeleton, np.tile(quat.IDENTITY, (1, len(skeleton), 1)))
    unit = _unit(asf, skeleton) or judge_unit(skeleton)
    return skeleton.scaled(unit.metres)


def _unit(asf: Asf, skeleton: Skeleton) -> FileUnit | None:
    """Inches over the stated scale, as in CMU's files, if that makes a person; None to have it judged."""
    if asf.length_scale == 1.0 or not makes_person(skeleton, 0.0254 / asf.length_scale):
        return None
    return FileUnit(0.0254 / asf.length_scale, f"stated in the ASF file: length {asf.length_scale:g}, in inches")


# ---------------------------------------------------------------------- AMC


def _read_motion(data: bytes, asf: Asf, notes: list[Note]) -> tuple[Floats, Channels, float]:
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
        kinds = [DOFS.get(d, -1) for d in bone.dofs]
        # Turns are applied in the order of the axis, last letter first: XYZ means Rz Ry Rx.
        turns = [kinds.index(3 + "xyz".index(a)) for a in bone.axis_order[::-1] if 3 + "xyz".index(a) in kinds]
        shifts = [k for k, kind in enumerate(kinds) if 0 <= kind < 3] if bone.parent < 0 else []
        passed_over += count - len(turns) - len(shifts)
        rows += [(start + k, place[name], kinds[k]) for k in (*shifts, *turns)]
        start += count
    if passed_over:
        notes.append(Note("bone-translation", "shifts or stretches of single bones were passed over", passed_over))
    return values, Channels.from_rows(rows), np.pi / 180 if degrees else 1.0


def _amc_header(data: bytes, asf: Asf) -> tuple[bool, int]:
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
            text = word[:20].decode("utf-8", "replace")
            raise FormatError(
                f"this is no AMC file: it begins with {text!r} instead of a frame's number", line=line_of(data, at)
            )
    raise FormatError("the file has no frames")


def _first_frame(data: bytes, at: int, asf: Asf) -> dict[str, int]:
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


def _parse_regular(data: bytes, at: int, listed: dict[str, int], notes: list[Note]) -> Floats | None:
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


def _parse_any(data: bytes, at: int, listed: dict[str, int], notes: list[Note]) -> Floats:
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
    bones = as_bones(skeleton, orders, 1 / metres_per_unit)
    names = bone_names(skeleton)
    renamed = {bone: joint for bone, joint in zip(names, skeleton.names, strict=True) if bone != joint}
    text = asf_text(bones, renamed, metres_per_unit)
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


def _bone_angles(clip: Clip) -> tuple[list[Floats], list[str]]:
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
