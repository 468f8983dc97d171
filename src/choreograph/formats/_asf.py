"""The skeleton half of Acclaim's pair of files: ASF text into bones and a Skeleton, and back.

A bone of an ASF file begins at its parent's end. As a Skeleton, each bone becomes the joint at its beginning, and the
end of a bone without children becomes a tip.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from choreograph.base import quat
from choreograph.base.arrays import Floats
from choreograph.base.errors import FormatError
from choreograph.formats.assemble import MAX_LENGTH
from choreograph.motion.clip import Note
from choreograph.motion.skeleton import JointAxes, Skeleton

MAX_BONES = 4096  # of one file
DOFS = {f"{what}{axis}": k + 3 * turn for turn, what in enumerate("tr") for k, axis in enumerate("xyz")}
"""Degrees of freedom and what they do: 0-2 shift along x, y, z; 3-5 turn about them."""
_RENAMED = re.compile(r"# joint (\S+) is called (.+)")
_AT, _TIP = "__at", "__tip"
"""Endings of the helper bones that the writer adds where a joint's children do not begin at one point."""


@dataclass
class Bone:
    """A bone as the file describes it; the first of a skeleton is its root."""

    name: str
    direction: Floats = field(default_factory=lambda: np.zeros(3))
    length: float = 0.0
    axis: Floats = field(default_factory=lambda: np.zeros(3))
    axis_order: str = "xyz"
    dofs: list[str] = field(default_factory=list)
    limits: list[tuple[float, float]] = field(default_factory=list)
    parent: int = -1


@dataclass
class Asf:
    """All that an ASF file says."""

    bones: list[Bone] = field(default_factory=list)
    """The root first, then in hierarchy order."""
    length_scale: float = 1.0
    degrees: bool = True
    root_position: Floats = field(default_factory=lambda: np.zeros(3))
    joint_names: dict[str, str] = field(default_factory=dict)
    """Names that joints had before they were written as ASF, by bone name."""
    notes: list[Note] = field(default_factory=list)


@lru_cache(maxsize=16)
def parse_asf(data: bytes) -> tuple[Asf, Skeleton]:
    """What an ASF file says; kept, because the trials of a subject share theirs. Nobody changes it afterwards."""
    asf = _read_asf(data)
    return asf, _as_skeleton(asf)


def _numbers(words: list[str], line: int, what: str, count: int) -> Floats:
    try:
        values = np.array([float(w) for w in words[:count]])
    except ValueError:
        raise FormatError(f"{what} needs numbers; found {' '.join(words)[:40]!r}", line=line) from None
    if len(values) != count or not (np.abs(values) <= MAX_LENGTH).all():
        raise FormatError(f"{what} needs {count} sensible numbers; found {' '.join(words)[:40]!r}", line=line)
    return values


def _read_asf(data: bytes) -> Asf:
    asf = Asf(bones=[Bone("root")])
    bones: dict[str, Bone] = {}
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
                wrong = [d for d in root.dofs if d not in DOFS]
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
                bone = Bone("")
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
                wrong = [d for d in bone.dofs if d not in DOFS and d != "l"]
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


def _link(asf: Asf, bones: dict[str, Bone], links: list[tuple[int, list[str]]]) -> None:
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


def _as_skeleton(asf: Asf) -> Skeleton:
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


def _by_axis(xyz: Floats, order: str) -> Floats:
    """The angles given for x, y, z, in the order in which an intrinsic rotation names them."""
    return np.array([xyz["xyz".index(a)] for a in order[::-1]])


def fold_helpers(skeleton: Skeleton, local_rot: Floats) -> tuple[Skeleton, Floats]:
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
    order = [j for j in range(len(names)) if j not in helpers]
    tip_parents, tip_offsets = [], []
    for parent, offset in zip(skeleton.tip_parents.tolist(), skeleton.tip_offsets, strict=True):
        if parent in helpers:  # a helper that is a leaf is a tip of the joint it hangs from
            tip_parents.append(order.index(parents[parent]))
            tip_offsets.append(offset + offsets[parent])
        elif np.any(offset != 0):
            tip_parents.append(order.index(parent))
            tip_offsets.append(offset)
    for j in order:
        while parents[j] in helpers:
            offsets[j] += offsets[parents[j]]
            parents[j] = parents[parents[j]]
    axes = skeleton.axes
    folded = Skeleton(
        tuple(names[j] for j in order),
        np.array([order.index(parents[j]) if parents[j] >= 0 else -1 for j in order]),
        offsets[order],
        np.array(tip_parents, np.int32),
        np.array(tip_offsets).reshape(-1, 3),
        axes=JointAxes(
            axes.frames[order],
            tuple(axes.orders[j] for j in order),
            None if axes.limits is None else axes.limits[order],
        ),
    )
    return folded, np.ascontiguousarray(local_rot[:, order])


# ---------------------------------------------------------------------- writing


def bone_names(skeleton: Skeleton) -> list[str]:
    """Joint names as ASF can hold them: one word each, the first called root."""
    names = ["root"]
    for name in skeleton.names[1:]:
        word = re.sub(r"[\s#()]+", "_", name)
        if word.isdigit() or word in names or word.startswith(":"):
            word = f"bone_{len(names)}_{word.lstrip(':')}"
        names.append(word)
    return names


def as_bones(skeleton: Skeleton, orders: list[str], scale: float) -> list[Bone]:
    """Bones that put every joint where the skeleton has it, with helper bones where one bone cannot."""
    names = bone_names(skeleton)
    frames = skeleton.axes.frames if skeleton.axes else np.tile(quat.IDENTITY, (len(skeleton), 1))
    limits = skeleton.axes.limits if skeleton.axes else None
    bones: list[Bone] = []
    place: dict[int, int] = {}
    for j in range(len(skeleton)):
        children = skeleton.children(j)
        tips = np.flatnonzero(skeleton.tip_parents == j)
        parent = int(skeleton.parents[j])
        hangs_from = place.get(parent, -1)
        start = bones[hangs_from].direction if parent >= 0 else np.zeros(3)
        if parent >= 0 and not np.allclose(start, skeleton.offsets[j] * scale, atol=1e-9):
            bones.append(Bone(names[j] + _AT, direction=skeleton.offsets[j] * scale - start, parent=hangs_from))
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
        bones.append(Bone(names[j], direction=end, axis=angles, dofs=dofs, limits=bone_limits, parent=hangs_from))
        place[j] = len(bones) - 1
        extra = tips if children or not j else tips[1:]
        for k, tip in enumerate(extra):
            offset = skeleton.tip_offsets[tip] * scale - end
            bones.append(
                Bone(f"{names[j]}{_TIP}" if k == 0 else f"{names[j]}.{k}{_TIP}", direction=offset, parent=place[j])
            )
    return bones


def asf_text(bones: list[Bone], renamed: dict[str, str], metres_per_unit: float) -> str:
    """The file that describes these bones, and what joints are called whose names ASF cannot hold."""
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
