"""FBX files for tests, written by the layout of the format: binary of both widths, zipped arrays or not, and text."""

from __future__ import annotations

import struct
import zlib
from typing import Any

import numpy as np

TICKS = 46_186_158_000
Node = tuple[str, list[Any], list[Any]]


def scene(
    joints: list[dict[str, Any]],
    takes: list[dict[str, Any]] | None = None,
    settings: dict[str, list[Any]] | None = None,
    version: int = 7400,
) -> list[Node]:
    """Records of a file.

    Args:
        joints: Each with "name", "parent" (number or None), optionally "kind", "props" {name: values}, "bind" (4, 4).
        takes: Each with "name" and "curves" {(joint, property, axis): {"t", "v", optionally "flags", "data"}}.
        settings: Global settings by name.
        version: As the file states it.
    """
    objects: list[Node] = []
    links: list[Node] = []
    for k, joint in enumerate(joints):
        props = [
            ("P", [name, *_kind(name, values), "A" if len(values) == 3 else "", *map(_narrow, values)], [])
            for name, values in joint.get("props", {}).items()
        ]
        kind = joint.get("kind", "LimbNode")
        name = f"{joint['name']}\x00\x01Model"
        objects.append(("Model", [1000 + k, name, kind], [("Properties70", [], props)]))
        parent = joint.get("parent")
        links.append(("C", ["OO", 1000 + k, 0 if parent is None else 1000 + parent], []))
        if "bind" in joint:
            cluster = ("TransformLink", [np.asarray(joint["bind"], float).T.ravel()], [])
            objects.append(("Deformer", [5000 + k, "\x00\x01SubDeformer", "Cluster"], [cluster]))
            links.append(("C", ["OO", 1000 + k, 5000 + k], []))
    number = 100_000
    for take in takes or []:
        stack, layer = number, number + 1
        number += 2
        objects.append(("AnimationStack", [stack, f"{take['name']}\x00\x01AnimStack", ""], []))
        objects.append(("AnimationLayer", [layer, "base\x00\x01AnimLayer", ""], []))
        links.append(("C", ["OO", layer, stack], []))
        holders: dict[tuple[int, str], int] = {}
        for (joint, prop, axis), curve in take["curves"].items():
            if (joint, prop) not in holders:
                holders[joint, prop] = number
                objects.append(("AnimationCurveNode", [number, "x\x00\x01AnimCurveNode", ""], []))
                links.append(("C", ["OO", number, layer], []))
                links.append(("C", ["OP", number, 1000 + joint, prop], []))
                number += 1
            count = len(curve["t"])
            below = [
                ("KeyTime", [np.round(np.asarray(curve["t"]) * TICKS).astype(np.int64)], []),
                ("KeyValueFloat", [np.asarray(curve["v"], np.float32)], []),
                ("KeyAttrFlags", [np.asarray(curve.get("flags", [0x4]), np.int32)], []),
                ("KeyAttrDataFloat", [np.asarray(curve.get("data", [0, 0, 0, 0]), np.float32)], []),
                ("KeyAttrRefCount", [np.asarray(curve.get("runs", [count]), np.int32)], []),
            ]
            objects.append(("AnimationCurve", [number, "\x00\x01AnimCurve", ""], below))
            links.append(("C", ["OP", number, holders[joint, prop], f"d|{axis}"], []))
            number += 1
    table = [
        ("P", [name, *_kind(name, values), "", *map(_narrow, values)], []) for name, values in (settings or {}).items()
    ]
    return [
        ("FBXHeaderExtension", [], [("FBXVersion", [version], [])]),
        ("GlobalSettings", [], [("Properties70", [], table)]),
        ("Objects", [], objects),
        ("Connections", [], links),
    ]


def _kind(name: str, values: list[Any]) -> tuple[str, str]:
    """How a property's type is told."""
    if all(isinstance(value, float) for value in values):
        return "double", "Number"
    return {"RotationActive": ("bool", ""), "RotationOrder": ("enum", ""), "TimeMode": ("enum", "")}.get(
        name, ("int", "Integer")
    )


def _narrow(value: Any) -> Any:
    """Whole numbers of properties have 32 bits."""
    return np.int32(value) if isinstance(value, int) else value


def binary(records: list[Node], version: int = 7400, *, zipped: bool = True) -> bytes:
    """The records as a binary file."""
    out = bytearray(b"Kaydara FBX Binary  \x00\x1a\x00" + struct.pack("<I", version))
    wide = "<QQQB" if version >= 7500 else "<IIIB"
    for record in records:
        _write(out, record, wide, zipped)
    out += bytes(struct.calcsize(wide)) + b"footer"
    return bytes(out)


def _write(out: bytearray, record: Node, wide: str, zipped: bool) -> None:
    name, values, below = record
    at = len(out)
    out += bytes(struct.calcsize(wide)) + name.encode()
    begin = len(out)
    for value in values:
        out += _value(value, zipped)
    size = len(out) - begin
    for one in below:
        _write(out, one, wide, zipped)
    if below:
        out += bytes(struct.calcsize(wide))
    struct.pack_into(wide, out, at, len(out), len(values), size, len(name))


def _value(value: Any, zipped: bool) -> bytes:
    if isinstance(value, np.int32):
        return b"I" + struct.pack("<i", int(value))
    if isinstance(value, np.ndarray):
        kind = {"float32": "f", "float64": "d", "int64": "l", "int32": "i"}[value.dtype.name]
        raw = value.tobytes()
        data = zlib.compress(raw) if zipped else raw
        return kind.encode() + struct.pack("<III", len(value), int(zipped), len(data)) + data
    if isinstance(value, str):
        return b"S" + struct.pack("<I", len(value.encode())) + value.encode()
    if isinstance(value, int):
        return b"L" + struct.pack("<q", value)
    return b"D" + struct.pack("<d", value)


def text(records: list[Node]) -> bytes:
    """The records as a text file."""
    lines = ["; FBX 7.4.0 project file", ""]
    for record in records:
        _lines(lines, record, 0)
    return "\n".join(lines).encode()


def _lines(lines: list[str], record: Node, depth: int) -> None:
    name, values, below = record
    tab = "\t" * depth
    if len(values) == 1 and isinstance(values[0], np.ndarray):
        numbers = values[0]
        if name == "KeyAttrDataFloat":  # text files hold these floats by their bits
            numbers = numbers.view(np.int32)
        body = ",".join(repr(x) for x in numbers.tolist())
        lines.append(f"{tab}{name}: *{len(numbers)} {{\n{tab}\ta: {body}\n{tab}}}")
        return
    words = []
    for value in values:
        if isinstance(value, str):
            plain, _, kind = value.partition("\x00\x01")
            words.append(f'"{kind}::{plain}"' if kind else f'"{plain}"')
        else:
            words.append(repr(int(value)) if isinstance(value, np.int32) else repr(value))
    lines.append(f"{tab}{name}: {', '.join(words)}" + (" {" if below or not values else ""))
    for one in below:
        _lines(lines, one, depth + 1)
    if below or not values:
        lines.append(f"{tab}}}")
