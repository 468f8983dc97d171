"""BVH: the hierarchy as nested braces, then one line of channel values per frame."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from choreograph.base import quat
from choreograph.base.arrays import Floats
from choreograph.base.errors import FormatError, RequestError
from choreograph.formats.assemble import MAX_LENGTH, FileMotion, assemble, read_bytes
from choreograph.formats.atomic import atomic_write
from choreograph.formats.channels import (
    Channels,
    check_growth,
    compute_positions,
    compute_rotations,
    line_of,
    lines_from,
    parse_numbers,
    word_at,
)
from choreograph.formats.rates import doubt_rate, snap_rate
from choreograph.formats.world import FileUnit, with_z_up
from choreograph.motion.clip import Clip, Note
from choreograph.motion.skeleton import JointAxes, Skeleton

MAX_JOINTS = 4096
"""Joints a file may have; detailed hands and faces need a few hundred."""

_KINDS = {
    f"{axis}{what}".encode(): k + 3 * turn
    for turn, what in enumerate(("position", "rotation"))
    for k, axis in enumerate("xyz")
}
_KEYWORDS = (b"{", b"}", b"JOINT", b"END", b"OFFSET", b"CHANNELS", b"MOTION")
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
    path: str | Path, *, fps: float | None = None, unit: FileUnit | None = None, up_axis: str | None = None
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
    converted = any("hipjoint" in name.lower() for name in header.names)  # as CMU's skeletons are named
    if fps is None and converted and (text := doubt_rate(Path(path), rate)):
        header.notes.append(Note("doubtful-rate", text))
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
        path, data, "bvh", FileMotion(skeleton, rate, root_pos, local_rot, local_pos),
        unit=unit, up_axis=up_axis, notes=header.notes,
    )  # fmt: skip


def _read_header(data: bytes) -> _Header:
    """Everything before the numbers, word by word and without recursion, however deep the braces go."""
    header, stack, tip = _Header(), list[int](), False
    words = _WORD.finditer(data, 3 if data.startswith(b"\xef\xbb\xbf") else 0)
    word_now = None
    unknown: Counter[str] = Counter()

    def word() -> bytes:
        nonlocal word_now
        word_now = next(words, None)
        if word_now is None:
            what = "the file ends within its hierarchy" if data.strip() else "the file is empty"
            raise FormatError(what, line=line_of(data, len(data)))
        return word_now[0]

    def fail(reason: str) -> FormatError:
        assert word_now is not None
        return FormatError(reason.replace("…", repr(_text(word_now[0])[:20])), line=line_of(data, word_now.start()))

    def numbers(what: str) -> tuple[float, ...]:
        try:
            x, y, z = float(word()), float(word()), float(word())
        except ValueError:
            raise fail(f"{what} needs three numbers; found …") from None
        if not (abs(x) <= MAX_LENGTH and abs(y) <= MAX_LENGTH and abs(z) <= MAX_LENGTH):  # NaN is not either
            raise fail(f"{what} is {x:g} {y:g} {z:g}, which is no sensible length")
        return x, y, z

    if word().upper() != b"HIERARCHY":
        raise fail("this is no BVH file: it begins with … instead of HIERARCHY")
    while True:
        key = word().upper()
        if key in (b"ROOT", b"JOINT"):
            if not stack and header.names:
                raise fail("a second root begins here; only files with one skeleton are read, so split the file")
            if not stack and key == b"JOINT":
                header.notes.append(Note("no-root-keyword", "the first joint is called JOINT instead of ROOT"))
            if len(header.names) >= MAX_JOINTS:
                raise fail(f"more than {MAX_JOINTS} joints")
            rest = _REST_OF_LINE.match(data, word_now.end())  # type: ignore[union-attr]
            assert rest is not None
            name = " ".join(_text(rest[0]).split())
            if not name:
                raise fail(f"a {key.decode()} without a name")
            words = _WORD.finditer(data, rest.end())
            header.names.append(name)
            header.parents.append(stack[-1] if stack else -1)
            header.offsets.append((0.0, 0.0, 0.0))
            if word() != b"{":
                raise fail(f"joint {name!r} needs '{{' after its name; found …")
            stack.append(len(header.names) - 1)
        elif key == b"END":
            if word().upper() != b"SITE":
                raise fail("'End' is followed by … instead of 'Site'")
            if word() != b"{" or not stack or tip:
                raise fail("an end site belongs inside a joint, in braces")
            tip = True
        elif key == b"}":
            if tip:
                tip = False
            elif stack:
                stack.pop()
            else:
                raise fail("one '}' too many")
        elif key == b"OFFSET":
            if not stack:
                raise fail("an OFFSET outside any joint")
            offset = numbers("OFFSET")
            if tip:
                header.tip_parents.append(stack[-1])
                header.tip_offsets.append(offset)
            else:
                header.offsets[stack[-1]] = offset
        elif key == b"CHANNELS":
            if not stack:
                raise fail("CHANNELS outside any joint")
            count = word()
            if not count.isdigit() or len(count) > 4 or int(count) > 64:
                raise fail("CHANNELS needs a count; found …")
            for _ in range(int(count)):
                channel = word()
                kind = _KINDS.get(channel.lower(), -1)
                if kind < 0:
                    if channel.upper() in _KEYWORDS:
                        raise fail("fewer channels than CHANNELS promises; found …")
                    unknown[_text(channel)[:40]] += 1
                header.channels.append((stack[-1], kind))
        elif key == b"MOTION":
            if stack:
                raise fail(f"MOTION begins before joint {header.names[stack[-1]]!r} is closed with '}}'")
            break
        else:
            raise fail("unexpected … in the hierarchy")
    if not header.names:
        raise fail("the hierarchy has no joint")
    header.notes += _unknown_channels(unknown)
    _make_unique(header)
    assert word_now is not None
    _read_motion_lines(data, word_now.end(), header)
    return header


def _unknown_channels(unknown: Mapping[str, int]) -> list[Note]:
    text = "is not understood and was passed over"
    return [Note("unknown-channel", f"channel {name!r} {text}", times) for name, times in unknown.items()]


def _text(word: bytes) -> str:
    return word.decode("utf-8", "replace")


def _make_unique(header: _Header) -> None:
    """Give joints that share a name a number each."""
    seen: Counter[str] = Counter()
    used = set(header.names)
    for j, name in enumerate(header.names):
        seen[name] += 1
        if seen[name] > 1:
            k = seen[name]
            while f"{name}.{k}" in used:
                k += 1
            header.names[j] = f"{name}.{k}"
            used.add(header.names[j])
    for name, count in seen.items():
        if count > 1:
            header.notes.append(
                Note("repeated-name", f"joint name {name!r} is repeated; numbers were added", count - 1)
            )


def _read_motion_lines(data: bytes, at: int, header: _Header) -> None:
    def fail(wanted: str, where: int) -> FormatError:
        where += len(data[where : where + 4096]) - len(data[where : where + 4096].lstrip())
        text = data[where : where + 40].split(b"\n")[0].decode("utf-8", "replace").strip()
        return FormatError(f"{wanted}, found {text or 'nothing'!r}", line=line_of(data, where))

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
            f"the frame time is {header.frame_time[:20]!r}; give the rate yourself (fps)",
            line=line_of(data, header.body_at),
        )
    return snap_rate(header.frame_time)


def _read_body(data: bytes, header: _Header) -> Floats:
    """Channel values, (F, C), with the file's frame count taken as a claim and not as a fact."""
    columns = len(header.channels)
    values, bad = parse_numbers(data, header.body_at)
    if bad >= 0:
        entry = word_at(data, bad)
        hint = "; write decimals with a point" if "," in entry else ""
        raise FormatError(f"expected a number, found {entry!r}{hint}", line=line_of(data, bad))
    if columns == 0:
        if len(values):
            raise FormatError("there are numbers but no channels", line=line_of(data, header.body_at) + 1)
        raise FormatError("there are no channels, so there is no motion", line=line_of(data, header.body_at))
    whole, rest = divmod(len(values), columns)
    if rest:
        # Only the last line may be cut short; a short line further up would shift every number after it.
        lines = ((at, line, len(line.split())) for at, line in lines_from(data, header.body_at) if line.strip())
        at, line, count = next((entry for entry in lines if entry[2] != columns), (header.body_at, b"", len(values)))
        if whole == 0 or count != rest or data[at + len(line) :].strip():
            raise FormatError(f"a frame has {columns} numbers, but this line has {count}", line=line_of(data, at))
        header.notes.append(Note("cut-frame", f"the last line has {rest} of {columns} numbers and was left out"))
    if whole == 0:
        raise FormatError("there are no frames", line=line_of(data, header.body_at))
    if whole != header.frames:
        header.notes.append(Note("frame-count", f"the header promises {header.frames} frames, the file has {whole}"))
    return values[: whole * columns].reshape(whole, columns)


def write_bvh(
    path: str | Path,
    clip: Clip,
    *,
    metres_per_unit: float = 1.0,
    up_axis: str = "y",
    root_at_origin: bool = False,
    overwrite: bool = False,
) -> None:
    """Write a clip as BVH, y up, in metres unless told otherwise (Blender takes one unit for a metre).

    Each joint keeps the channel order that its file had. Labels and contacts have no place in BVH. Some programs add
    the root's rest place to where its channels say it is; for these it rests at the origin.
    """
    if not (np.isfinite(metres_per_unit) and metres_per_unit > 0):
        raise RequestError(f"metres per unit must be a positive number, not {metres_per_unit}")
    if up_axis not in ("y", "z"):
        raise RequestError(f"BVH files are written with y or z up, not {up_axis!r}")
    clip = with_z_up(clip) if up_axis == "z" else clip
    skeleton, scale = clip.skeleton, 1.0 / metres_per_unit
    orders = [_full_order(skeleton.axes.orders[j] if skeleton.axes else "") for j in range(len(skeleton))]
    moving = clip.local_pos is not None
    columns: list[Floats] = []
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
        offset = skeleton.offsets[j] * (0.0 if root_at_origin and j == 0 else scale)
        lines.append(f"{pad}\tOFFSET {_triple(offset)}")
        turns = " ".join(f"{axis.upper()}rotation" for axis in orders[j])
        shifts = "Xposition Yposition Zposition " if j == 0 or moving else ""
        lines.append(f"{pad}\tCHANNELS {6 if shifts else 3} {shifts}{turns}")
        todo.append(f"{pad}}}")
        for tip in np.flatnonzero(skeleton.tip_parents == j)[::-1]:
            tip_offset = _triple(skeleton.tip_offsets[tip] * scale)
            todo.append(f"{pad}\tEnd Site\n{pad}\t{{\n{pad}\t\tOFFSET {tip_offset}\n{pad}\t}}")
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
    axes = "".join(dict.fromkeys(order))
    return axes + "".join(axis for axis in "zyx" if axis not in axes)


def _triple(values: Floats) -> str:
    return " ".join(f"{v + 0.0:.8f}" for v in values)
