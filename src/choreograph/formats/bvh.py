"""BVH: the hierarchy as nested braces, then one line of channel values per frame."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from choreograph.errors import FormatError, RequestError
from choreograph.formats.assemble import MAX_LENGTH, assemble, read_bytes
from choreograph.formats.atomic import atomic_write
from choreograph.formats.channels import (
    Channels,
    check_growth,
    compute_positions,
    compute_rotations,
    line_of,
    parse_numbers,
    word_at,
)
from choreograph.formats.rates import snap_rate
from choreograph.formats.world import Unit
from choreograph.maths import quat
from choreograph.motion.clip import Clip, Note
from choreograph.motion.skeleton import JointAxes, Skeleton

Array = NDArray[np.float64]

MAX_JOINTS = 4096
"""Joints a file may have; detailed hands and faces need a few hundred."""

_KINDS = {
    f"{axis}{what}": k + 3 * turn for turn, what in enumerate(("position", "rotation")) for k, axis in enumerate("xyz")
}
_WORD = re.compile(rb"[^\s{}]+|[{}]")
_REST_OF_LINE = re.compile(rb"[^\r\n{]*")
_FRAMES = re.compile(rb"\s*frames\s*:\s*(\d{1,18})(?!\S)", re.IGNORECASE)
_FRAME_TIME = re.compile(rb"\s*frame\s*time\s*:\s*(\S+)", re.IGNORECASE)


@dataclass
class _Header:
    names: list[str] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)
    offsets: list[tuple[float, ...]] = field(default_factory=list)
    tip_parents: list[int] = field(default_factory=list)
    tip_offsets: list[tuple[float, ...]] = field(default_factory=list)
    channels: list[tuple[int, int]] = field(default_factory=list)
    """Joint and kind of every column; kind -1 for one that is not understood."""
    frames: int = 0
    frame_time: str = ""
    body_at: int = 0
    """Where the numbers begin."""
    notes: list[Note] = field(default_factory=list)


def read_bvh(
    path: str | Path, *, fps: float | None = None, unit: Unit | None = None, up_axis: str | None = None
) -> Clip:
    """The motion in a BVH file.

    Args:
        path: The file.
        fps: Frames per second, instead of what the file says.
        unit: Unit of length; judged by the body's height if not given.
        up_axis: "y", "z", …; judged by where the head is from the feet if not given.

    Raises:
        FormatError: naming file, line and reason.
    """
    data = read_bytes(path)
    try:
        header = _read_header(data)
        values = _read_body(data, header)
        rate = fps if fps is not None else _rate(header, data)
        check_growth(len(data), len(values), len(header.names))
    except FormatError as error:
        raise error.at(path) from None
    known = Channels.from_rows([(c, j, kind) for c, (j, kind) in enumerate(header.channels) if kind >= 0])
    offsets = np.array(header.offsets, float)
    own_axes = np.tile(quat.IDENTITY, (len(offsets), 1))
    root_pos, local_pos = compute_positions(values, known, offsets)
    local_rot = compute_rotations(values, known, own_axes, radians=np.pi / 180)
    del values  # as large as the motion itself, and done with
    orders = [""] * len(header.names)
    for j, kind in header.channels:
        orders[j] += "xyz"[kind - 3] if kind >= 3 else ""
    skeleton = Skeleton(
        tuple(header.names),
        np.array(header.parents),
        offsets,
        np.array(header.tip_parents, np.int32),
        np.array(header.tip_offsets, float).reshape(-1, 3),
        axes=JointAxes(own_axes, tuple(orders)),
    )
    return assemble(
        path, data, "bvh", skeleton, rate, root_pos, local_rot, local_pos,
        unit=unit, up_axis=up_axis, notes=header.notes,
    )  # fmt: skip


def _read_header(data: bytes) -> _Header:
    """Everything before the numbers, without recursion, however deep the braces go."""
    header, stack = _Header(), list[int]()
    tip = False
    at = 3 if data.startswith(b"\xef\xbb\xbf") else 0
    unknown: Counter[str] = Counter()

    def fail(reason: str, where: int) -> FormatError:
        return FormatError(reason, line=line_of(data, where))

    def word() -> tuple[str, int]:
        nonlocal at
        found = _WORD.search(data, at)
        if found is None:
            raise fail("the file ends within its hierarchy", len(data))
        at = found.end()
        return found[0].decode("utf-8", "replace"), found.start()

    def numbers(what: str) -> tuple[float, ...]:
        out = []
        for _ in range(3):
            text, where = word()
            try:
                out.append(float(text))
            except ValueError:
                raise fail(f"{what} needs three numbers; found {text!r}", where) from None
            if not abs(out[-1]) <= MAX_LENGTH:  # nor is NaN
                raise fail(f"{what} is {text!r}, which is no sensible length", where)
        return tuple(out)

    text, where = word()
    if text.upper() != "HIERARCHY":
        raise fail(f"this is no BVH file: it begins with {text[:20]!r} instead of HIERARCHY", where)
    while True:
        text, where = word()
        key = text.upper()
        if key in ("ROOT", "JOINT"):
            if not stack and header.names:
                raise fail("a second root begins here; only files with one skeleton are read, so split the file", where)
            if not stack and key == "JOINT":
                header.notes.append(Note("no-root-keyword", "the first joint is called JOINT instead of ROOT"))
            rest = _REST_OF_LINE.match(data, at)
            assert rest is not None
            name = " ".join(rest[0].decode("utf-8", "replace").split())
            at = rest.end()
            if not name:
                raise fail(f"a {key} without a name", where)
            if len(header.names) >= MAX_JOINTS:
                raise fail(f"more than {MAX_JOINTS} joints", where)
            header.names.append(name)
            header.parents.append(stack[-1] if stack else -1)
            header.offsets.append((0.0, 0.0, 0.0))
            text, where = word()
            if text != "{":
                raise fail(f"joint {name!r} needs '{{' after its name; found {text[:20]!r}", where)
            stack.append(len(header.names) - 1)
        elif key == "END":
            text, where = word()
            if text.upper() != "SITE":
                raise fail(f"'End' is followed by {text[:20]!r} instead of 'Site'", where)
            text, where = word()
            if text != "{" or not stack or tip:
                raise fail("an end site belongs inside a joint, in braces", where)
            tip = True
        elif key == "}":
            if tip:
                tip = False
            elif stack:
                stack.pop()
            else:
                raise fail("one '}' too many", where)
        elif key == "OFFSET":
            if not stack:
                raise fail("an OFFSET outside any joint", where)
            offset = numbers("OFFSET")
            if tip:
                header.tip_parents.append(stack[-1])
                header.tip_offsets.append(offset)
            else:
                header.offsets[stack[-1]] = offset
        elif key == "CHANNELS":
            if not stack:
                raise fail("CHANNELS outside any joint", where)
            text, where = word()
            if not text.isdecimal() or int(text) > 64:
                raise fail(f"CHANNELS needs a count; found {text[:20]!r}", where)
            for _ in range(int(text)):
                text, where = word()
                kind = _KINDS.get(text.lower(), -1)
                if kind < 0:
                    if text in "{}" or text.upper() in ("JOINT", "END", "OFFSET", "CHANNELS", "MOTION"):
                        raise fail(f"fewer channels than CHANNELS promises; found {text[:20]!r}", where)
                    unknown[text[:40]] += 1
                header.channels.append((stack[-1], kind))
        elif key == "MOTION":
            if stack:
                raise fail(f"MOTION begins before joint {header.names[stack[-1]]!r} is closed with '}}'", where)
            break
        else:
            raise fail(f"unexpected {text[:20]!r} in the hierarchy", where)
    if not header.names:
        raise fail("the hierarchy has no joint", where)
    for name, count in unknown.items():
        header.notes.append(Note("unknown-channel", f"channel {name!r} is not understood and was passed over", count))
    _make_unique(header)
    _read_motion_lines(data, at, header)
    return header


def _make_unique(header: _Header) -> None:
    """Give joints that share a name a number each."""
    seen: Counter[str] = Counter()
    taken = set(header.names)
    for j, name in enumerate(header.names):
        seen[name] += 1
        if seen[name] > 1:
            k = seen[name]
            while f"{name}.{k}" in taken:
                k += 1
            header.names[j] = f"{name}.{k}"
            taken.add(header.names[j])
    for name, count in seen.items():
        if count > 1:
            header.notes.append(
                Note("repeated-name", f"joint name {name!r} is repeated; numbers were added", count - 1)
            )


def _read_motion_lines(data: bytes, at: int, header: _Header) -> None:
    def fail(wanted: str, where: int) -> FormatError:
        where += len(data[where : where + 4096]) - len(data[where : where + 4096].lstrip())
        found = data[where : where + 40].split(b"\n")[0].decode("utf-8", "replace").strip()
        return FormatError(f"{wanted}, found {found or 'nothing'!r}", line=line_of(data, where))

    frames = _FRAMES.match(data, at)
    if frames is None:
        raise fail("MOTION is followed by 'Frames: NUMBER'", at)
    step = _FRAME_TIME.match(data, frames.end())
    if step is None:
        raise fail("Frames is followed by 'Frame Time: SECONDS'", frames.end())
    header.frames, header.frame_time = int(frames[1]), step[1].decode("latin-1")
    header.body_at = step.end()


def _rate(header: _Header, data: bytes) -> float:
    try:
        seconds = float(header.frame_time)
    except ValueError:
        seconds = -1.0
    if not 1e-6 <= seconds <= 3600:
        raise FormatError(
            f"the frame time is {header.frame_time[:20]!r}; give the rate yourself (fps=… or --fps)",
            line=line_of(data, header.body_at),
        )
    return snap_rate(header.frame_time)


def _read_body(data: bytes, header: _Header) -> Array:
    """Channel values, (F, C), with the file's frame count taken as a claim and not as a fact."""
    columns = len(header.channels)
    values, bad = parse_numbers(data, header.body_at)
    if bad >= 0:
        found = word_at(data, bad)
        hint = "; write decimals with a point" if "," in found else ""
        raise FormatError(f"expected a number, found {found!r}{hint}", line=line_of(data, bad))
    if columns == 0:
        if len(values):
            raise FormatError("there are numbers but no channels", line=line_of(data, header.body_at) + 1)
        raise FormatError("there are no channels, so there is no motion", line=line_of(data, header.body_at))
    whole, rest = divmod(len(values), columns)
    if rest:
        # Only the last line may be cut short; a short line further up would shift every number after it.
        first_line = line_of(data, header.body_at) + 1
        lengths = [len(line.split()) for line in data[header.body_at :].split(b"\n")[1:]]
        rows = [(first_line + k, n) for k, n in enumerate(lengths) if n]
        wrong = [(line, n) for line, n in rows if n != columns]
        if whole == 0 or len(wrong) != 1 or wrong[0] != (rows[-1][0], rest):
            line, count = wrong[0] if wrong else (first_line, len(values))
            raise FormatError(f"a frame has {columns} numbers, but this line has {count}", line=line)
        header.notes.append(Note("cut-frame", f"the last line has {rest} of {columns} numbers and was left out"))
    if whole == 0:
        raise FormatError("there are no frames", line=line_of(data, header.body_at))
    if whole != header.frames:
        header.notes.append(Note("frame-count", f"the header promises {header.frames} frames, the file has {whole}"))
    return values[: whole * columns].reshape(whole, columns)


def write_bvh(path: str | Path, clip: Clip, *, metres_per_unit: float = 1.0, overwrite: bool = False) -> None:
    """Write a clip as BVH, y up, in metres unless told otherwise (Blender takes one unit for a metre).

    Each joint keeps the channel order that its file had. Labels and contacts have no place in BVH.
    """
    if not (np.isfinite(metres_per_unit) and metres_per_unit > 0):
        raise RequestError(f"metres per unit must be a positive number, not {metres_per_unit}")
    skeleton, scale = clip.skeleton, 1.0 / metres_per_unit
    orders = [_full_order(skeleton.axes.orders[j] if skeleton.axes else "") for j in range(len(skeleton))]
    moving = clip.local_pos is not None
    columns: list[Array] = []
    sequence: list[int] = []
    # Hierarchy order: depth first, as the braces nest, which need not be the skeleton's own order.
    lines = ["HIERARCHY"]
    todo: list[tuple[int, int] | str] = [(0, 0)]
    while todo:
        item = todo.pop()
        if isinstance(item, str):
            lines.append(item)
            continue
        j, depth = item
        pad = "\t" * depth
        sequence.append(j)
        lines.append(f"{pad}{'JOINT' if j else 'ROOT'} {skeleton.names[j]}")
        lines.append(f"{pad}{{")
        lines.append(f"{pad}\tOFFSET {_triple(skeleton.offsets[j] * scale)}")
        turns = " ".join(f"{axis.upper()}rotation" for axis in orders[j])
        shifts = "Xposition Yposition Zposition " if j == 0 or moving else ""
        lines.append(f"{pad}\tCHANNELS {6 if shifts else 3} {shifts}{turns}")
        todo.append(f"{pad}}}")
        for tip in np.flatnonzero(skeleton.tip_parents == j)[::-1]:
            offset = _triple(skeleton.tip_offsets[tip] * scale)
            todo.append(f"{pad}\tEnd Site\n{pad}\t{{\n{pad}\t\tOFFSET {offset}\n{pad}\t}}")
        todo.extend((child, depth + 1) for child in reversed(skeleton.children(j)))
    for j in sequence:
        if j == 0:
            columns.append(clip.root_pos * scale)
        elif clip.local_pos is not None:
            columns.append(clip.local_pos[:, j] * scale)
        columns.append(np.degrees(quat.as_euler(orders[j], clip.local_rot[:, j])))
    rows = np.concatenate(columns, axis=1) + 0.0  # the zero turns -0.0 into 0.0
    lines += ["MOTION", f"Frames: {len(clip)}", f"Frame Time: {1 / clip.fps:.16g}"]
    form = " ".join(["%.7f"] * rows.shape[1])
    with atomic_write(path, overwrite=overwrite) as temporary, temporary.open("w", encoding="utf-8") as out:
        out.write("\n".join(lines) + "\n")
        out.writelines(form % tuple(row) + "\n" for row in rows.tolist())


def _full_order(order: str) -> str:
    """Three different axes, beginning with those given."""
    kept = "".join(dict.fromkeys(order))
    return kept + "".join(axis for axis in "zyx" if axis not in kept)


def _triple(values: Array) -> str:
    return " ".join(f"{v + 0.0:.8f}" for v in values)
