"""What an FBX file says about its joints: who hangs from whom, how each stands and moves, and how it was bound."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from choreograph.base import quat
from choreograph.base.arrays import Floats
from choreograph.base.errors import FormatError
from choreograph.formats._fbx_curves import FbxCurve, read_curve
from choreograph.formats._fbx_tree import Record
from choreograph.formats.assemble import MAX_LENGTH

ORDERS = ("xyz", "xzy", "yzx", "yxz", "zxy", "zyx", "xyz")
"""Axes about which a rotation turns one after another, by the number of its order; the last is called spheric."""
MAX_JOINTS = 10_000  # nodes of one file
_PLACE, _TURN, _SIZE = "Lcl Translation", "Lcl Rotation", "Lcl Scaling"
_RATES = {1: 120.0, 2: 100.0, 3: 60.0, 4: 50.0, 5: 48.0, 6: 30.0, 7: 30.0, 8: 30 / 1.001, 9: 30 / 1.001, 10: 25.0,
          11: 24.0, 12: 1000.0, 13: 24 / 1.001, 15: 96.0, 16: 72.0, 17: 60 / 1.001, 18: 120 / 1.001}  # fmt: skip
_JOINT_KINDS = ("LimbNode", "Limb", "Root")


@dataclass(eq=False)
class Node:
    """A model of the scene: a joint, or what joints hang from."""

    id: int
    name: str
    kind: str
    properties: dict[str, list[Any]]
    parent: Node | None = None
    children: list[Node] = field(default_factory=list)

    def vector(self, name: str, fallback: float = 0.0) -> Floats:
        """Three numbers."""
        values = self.properties.get(name, ())
        if len(values) < 3:
            return np.full(3, fallback)
        vector = np.array([float(x) for x in values[:3]])
        if not (np.abs(vector) < MAX_LENGTH).all():
            raise FormatError(f"{self.name!r} has a {name!r} that is no sensible number")
        return vector

    def number(self, name: str, fallback: float = 0.0) -> float:
        """A number."""
        values = self.properties.get(name, ())
        return float(values[0]) if values and isinstance(values[0], int | float) else fallback


@dataclass(eq=False)
class FbxTake:
    """One animation of the scene: curves by node and property, three each."""

    name: str
    curves: dict[int, dict[str, list[FbxCurve | float]]] = field(default_factory=dict)


@dataclass(eq=False)
class FbxScene:
    """Nodes, takes and rest poses of a file."""

    nodes: list[Node]
    takes: list[FbxTake]
    bind: dict[int, Floats]
    """World matrices of joints when the skin was bound to them, (4, 4), by node."""
    settings: dict[str, list[Any]]
    objects: dict[int, Record] = field(default_factory=dict)
    """Every object of the file, by its number."""
    links: list[tuple[int, int, str | None]] = field(default_factory=list)
    """Child, parent, and the property that is linked if it is one."""

    def rate(self) -> float:
        """Frames per second that the file states."""
        mode = int(_number(self.settings, "TimeMode", 0))
        custom = _number(self.settings, "CustomFrameRate", 0.0)
        return custom if mode == 14 and 1 <= custom <= 1000 else _RATES.get(mode, 30.0)

    def metres(self) -> float:
        """Metres in a unit of length, as the file states it."""
        scale = _number(self.settings, "UnitScaleFactor", 1.0)
        return 0.01 * scale if np.isfinite(scale) and 1e-6 < scale < 1e6 else 0.01

    def up_axis(self) -> str:
        """Which way is up."""
        axis = int(_number(self.settings, "UpAxis", 1))
        sign = "-" if _number(self.settings, "UpAxisSign", 1) < 0 else ""
        return sign + "xyz"[axis if 0 <= axis <= 2 else 1]


def _number(properties: dict[str, list[Any]], name: str, fallback: float) -> float:
    values = properties.get(name, ())
    return float(values[0]) if values and isinstance(values[0], int | float) else fallback


def read_scene(root: Record) -> FbxScene:
    """The scene of a file's records."""
    objects = root.first("Objects")
    if objects is None:
        raise FormatError("has no objects")
    defaults = _defaults(root)
    by_id: dict[int, Record] = {}
    for record in objects.below:
        if record.values and isinstance(record.values[0], int):
            by_id[record.values[0]] = record
    nodes = {key: _node(record, defaults) for key, record in by_id.items() if record.name == "Model"}
    links = _links(root)
    for child, parent, prop in links:
        if prop is None and child in nodes and parent in nodes:
            if nodes[child].parent is not None:
                raise FormatError(f"{nodes[child].name!r} hangs from two others")
            nodes[child].parent = nodes[parent]
            nodes[parent].children.append(nodes[child])
    _check_trees(list(nodes.values()))
    settings = root.first("GlobalSettings")
    return FbxScene(
        list(nodes.values()),
        _takes(by_id, nodes, links),
        _bind_poses(by_id, nodes, links),
        _properties(settings) if settings else {},
        by_id,
        links,
    )


def _links(root: Record) -> list[tuple[int, int, str | None]]:
    """Child, parent, and the property that is linked if it is one."""
    record = root.first("Connections")
    links: list[tuple[int, int, str | None]] = []
    for one in record.all("C") if record else ():
        values = one.values
        if len(values) >= 3 and isinstance(values[1], int) and isinstance(values[2], int):
            links.append((values[1], values[2], str(values[3]) if values[0] == "OP" and len(values) > 3 else None))
    return links


def _properties(record: Record) -> dict[str, list[Any]]:
    """Values by name of a record's properties."""
    table = record.first("Properties70")
    if table is None:
        return {}
    return {str(p.values[0]): p.values[4:] for p in table.all("P") if len(p.values) > 4}


def _defaults(root: Record) -> dict[str, list[Any]]:
    """What holds for every model that does not say otherwise."""
    definitions = root.first("Definitions")
    for kind in definitions.all("ObjectType") if definitions else ():
        if kind.values[:1] == ["Model"]:
            template = kind.first("PropertyTemplate")
            return _properties(template) if template else {}
    return {}


def plain_name(text: Any) -> str:
    """An object's name without its class: "Hips" of "Hips\\0\\1Model" and of "Model::Hips"."""
    text = str(text)
    return text.split("\x00", 1)[0] if "\x00" in text else text.split("::", 1)[-1]


def _node(record: Record, defaults: dict[str, list[Any]]) -> Node:
    kind = str(record.values[2]) if len(record.values) > 2 else ""
    name = plain_name(record.values[1]) if len(record.values) > 1 else ""
    return Node(record.values[0], name, kind, {**defaults, **_properties(record)})


def _check_trees(nodes: list[Node]) -> None:
    """Refuse circles, and more joints than any body has."""
    if len(nodes) > MAX_JOINTS:
        raise FormatError(f"has {len(nodes)} nodes; {MAX_JOINTS} are read at most")
    good: set[int] = set()
    for node in nodes:
        way: list[int] = []
        seen: set[int] = set()
        at: Node | None = node
        while at is not None and at.id not in good:
            if at.id in seen:
                raise FormatError("its nodes hang from each other in a circle")
            seen.add(at.id)
            way.append(at.id)
            at = at.parent
        good.update(way)


def _takes(by_id: dict[int, Record], nodes: dict[int, Node], links: list[tuple[int, int, str | None]]) -> list[FbxTake]:
    """Every animation stack with its curves; those of several layers lie upon one another, the first layer counts."""
    below: dict[int, list[tuple[int, str | None]]] = defaultdict(list)
    targets: dict[int, tuple[int, str]] = {}
    for child, parent, prop in links:
        below[parent].append((child, prop))
        if parent in nodes and prop in (_PLACE, _TURN, _SIZE) and child in by_id:
            targets[child] = (parent, prop)
    curves = {
        key: curve
        for key, record in by_id.items()
        if record.name == "AnimationCurve" and (curve := read_curve(record)) is not None
    }
    takes = []
    for key, record in by_id.items():
        if record.name != "AnimationStack":
            continue
        take = FbxTake(plain_name(record.values[1]) if len(record.values) > 1 else "")
        layers = [child for child, _ in below[key] if child in by_id and by_id[child].name == "AnimationLayer"]
        for layer in layers[:1]:
            for child, _ in below[layer]:
                if child in targets and by_id[child].name == "AnimationCurveNode":
                    node, prop = targets[child]
                    take.curves.setdefault(node, {})[prop] = _three(by_id[child], below[child], curves)
        takes.append(take)
    return [
        take for take in takes if any(_moves(three) for by_prop in take.curves.values() for three in by_prop.values())
    ]


def _moves(three: list[FbxCurve | float]) -> bool:
    return any(isinstance(one, FbxCurve) for one in three)


def _three(record: Record, below: list[tuple[int, str | None]], curves: dict[int, FbxCurve]) -> list[FbxCurve | float]:
    """The curves of x, y and z, or the number that stands where there is none."""
    numbers = _properties(record)
    columns: list[FbxCurve | float] = [_number(numbers, f"d|{axis}", np.nan) for axis in "XYZ"]
    for child, prop in below:
        if child in curves and prop in ("d|X", "d|Y", "d|Z"):
            columns["XYZ".index(prop[-1])] = curves[child]
    return columns


def _bind_poses(
    by_id: dict[int, Record], nodes: dict[int, Node], links: list[tuple[int, int, str | None]]
) -> dict[int, Floats]:
    """World matrices at which joints were bound: of clusters, then of bind poses."""
    poses: dict[int, Floats] = {}
    for record in by_id.values():
        if record.name == "Pose" and record.values[-1:] == ["BindPose"]:
            for one in record.all("PoseNode"):
                node, matrix = one.first("Node"), one.array("Matrix")
                if node is not None and node.values and node.values[0] in nodes and matrix is not None:
                    _keep(poses, node.values[0], matrix)
    clusters = {key for key, record in by_id.items() if record.name == "Deformer" and record.values[-1:] == ["Cluster"]}
    for child, parent, prop in links:
        if prop is None and child in nodes and parent in clusters:
            matrix = by_id[parent].array("TransformLink")
            if matrix is not None:
                _keep(poses, child, matrix)
    return poses


def _keep(poses: dict[int, Floats], node: int, matrix: NDArray[Any]) -> None:
    if matrix.size == 16 and np.isfinite(matrix).all():
        poses[node] = matrix.astype(np.float64).reshape(4, 4).T


# -------------------------------------------------------------------------------------------------- transforms of nodes


def local_matrices(node: Node, take: FbxTake | None, times: Floats) -> Floats:
    """A node's transform in its parent's frame at these times, (F, 4, 4).

    The parts are multiplied in FBX's order: place, rotation offset and pivot, pre-rotation, rotation, post-rotation,
    scaling offset and pivot, scale.
    """
    own = {} if take is None else take.curves.get(node.id, {})
    place = _sampled(own.get(_PLACE), node.vector(_PLACE), times)
    angles = _sampled(own.get(_TURN), node.vector(_TURN), times)
    size = _sampled(own.get(_SIZE), node.vector(_SIZE, 1.0), times)
    active = node.number("RotationActive") != 0
    order = ORDERS[int(node.number("RotationOrder")) % len(ORDERS)] if active else "xyz"
    turn = euler(angles, order)
    if active:
        before = euler(node.vector("PreRotation"), "xyz")
        behind = euler(node.vector("PostRotation"), "xyz")
        turn = quat.multiply(quat.multiply(before, turn), quat.inverse(behind))
    linear = quat.as_matrix(turn)
    pivot, offset = node.vector("RotationPivot"), node.vector("RotationOffset")
    size_pivot, size_offset = node.vector("ScalingPivot"), node.vector("ScalingOffset")
    inner = size_offset + size_pivot - size * size_pivot - pivot
    full = np.zeros((len(times), 4, 4))
    full[:, :3, :3] = linear * size[:, None, :]
    full[:, :3, 3] = place + offset + pivot + np.einsum("fij,fj->fi", linear, inner)
    full[:, 3, 3] = 1.0
    return full


def euler(angles: Floats, order: str) -> Floats:
    """Quaternions of angles in degrees, (..., 3) by axis x, y, z, that turn about the fixed axes in this order."""
    radians = np.radians(angles)
    places = ["xyz".index(axis) for axis in reversed(order)]
    return quat.from_euler(order[::-1], radians[..., places])


def _sampled(three: list[FbxCurve | float] | None, rest: Floats, times: Floats) -> Floats:
    values = np.empty((len(times), 3))
    for k in range(3):
        one = None if three is None else three[k]
        if isinstance(one, FbxCurve):
            values[:, k] = one.at(times)
        else:
            values[:, k] = rest[k] if one is None or not np.isfinite(one) else one
    return values


def is_joint(node: Node) -> bool:
    """Whether the file calls a node a bone."""
    return node.kind in _JOINT_KINDS
