"""Faces in GLB files: tracks of morph target weights, on anybody's head; written on a simple head of landmarks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from choreograph._version import __version__
from choreograph.base.arrays import Floats, Ints
from choreograph.base.errors import FormatError
from choreograph.formats._glb import Glb, chunks, pack
from choreograph.formats._gltf_read import blaming
from choreograph.formats.assemble import read_bytes
from choreograph.formats.atomic import atomic_write
from choreograph.motion.clip import Note
from choreograph.motion.face import Face, FaceShapes

_FLOAT, _USHORT = 5126, 5123  # glTF's numbers for types of components
_ROUNDED = 0.01
"""Frames by which times in single precision may fall short of a whole number of them."""
_SLOWEST, _FASTEST = 1.0, 1000.0  # frames per second that a file's times may mean
_FILLED, _FILLED_FRAMES = 100, 36_000
"""Frames at most: so many times the keys, and so many more."""


def read_face_glb(path: str | Path, *, fps: float | None = None) -> Face:
    """The face of a GLB file: the first animated mesh with named morph targets.

    >>> from choreograph.motion.head import simple_head
    >>> write_face_glb("open.glb", Face(("JawOpen",), [[0.0], [1.0]], 30.0), simple_head(), overwrite=True)
    >>> len(read_face_glb("open.glb"))
    2

    Args:
        path: The file; its mesh names its targets in `extras.targetNames`, as Blender and three.js do.
        fps: Frames per second; as most of the keys are apart if None.

    Raises:
        FormatError: If it has no such track.
    """
    path = Path(path)
    data = read_bytes(path)
    with blaming(path):
        names, times, table = _find_track(Glb(*chunks(data)))
    if len(times) < 2 or (np.diff(times) <= 0).any():
        raise FormatError("the times of its morph track do not increase", path=path)
    rate = fps or float(np.clip(1 / np.median(np.diff(times)), _SLOWEST, _FASTEST))
    rate = round(rate) if abs(rate - round(rate)) < 0.02 * rate else rate
    count = float(times[-1] - times[0]) * rate
    if count > _FILLED * len(times) + _FILLED_FRAMES:
        raise FormatError(
            f"its morph track has {len(times)} keys over {times[-1] - times[0]:.3g} s, too few to be believed",
            path=path,
        )
    even = np.arange(int(count + _ROUNDED) + 1) / rate + times[0]
    weights = np.stack([np.interp(even, times, column) for column in table.T], axis=1)
    over = np.maximum(weights - 1, -weights)
    notes: tuple[Note, ...] = ()
    if over.max(initial=0.0) > 1e-6:
        count = int((over > 1e-6).sum())
        notes = (Note("weight", f"weights are outside 0 … 1, by up to {over.max():.3g}; they are clamped", count),)
    return Face(names, np.clip(weights, 0.0, 1.0), rate, path.stem, notes=notes)


def _find_track(document: Glb) -> tuple[tuple[str, ...], Floats, Floats]:
    """Names (S,), times (K,) and weights (K, S) of the first track of named morph targets."""
    for animation in document.items("animations"):
        samplers, channels = animation.get("samplers", []), animation.get("channels", [])
        if not isinstance(samplers, list) or not isinstance(channels, list):
            raise FormatError("an animation's samplers or channels are no lists")
        for channel in channels:
            target = channel.get("target") if isinstance(channel, dict) else None
            if not isinstance(target, dict) or target.get("path") != "weights":
                continue
            mesh = document.item("meshes", document.item("nodes", target.get("node")).get("mesh"))
            extras = mesh.get("extras")
            names = extras.get("targetNames") if isinstance(extras, dict) else None
            if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
                continue
            at = channel.get("sampler")
            if not isinstance(at, int) or not 0 <= at < len(samplers) or not isinstance(samplers[at], dict):
                raise FormatError("a channel points to a sampler that is not there")
            times = document.array(samplers[at].get("input"), 1)
            values = document.array(samplers[at].get("output"), 1)
            if samplers[at].get("interpolation") == "CUBICSPLINE":
                values = (
                    values.reshape(len(times), 3, -1)[:, 1].ravel() if len(values) % (3 * len(times)) == 0 else values
                )
            if len(values) != len(times) * len(names):
                raise FormatError(
                    f"a morph track has {len(values)} weights for {len(times)} keys of {len(names)} targets"
                )
            return tuple(str(name) for name in names), times, values.reshape(len(times), len(names))
    raise FormatError("has no animated mesh with named morph targets")


def write_face_glb(path: str | Path, face: Face, shapes: FaceShapes, *, overwrite: bool = False) -> None:
    """Write a face as a GLB file: the landmarks as a mesh, the shapes as morph targets, the weights as its animation.

    >>> from choreograph.motion.head import simple_head
    >>> write_face_glb("open.glb", Face(("JawOpen",), [[0.0], [1.0]], 30.0), simple_head(), overwrite=True)
    >>> bool(read_face_glb("open.glb").weights[1].max() > 0.99)
    True

    Args:
        path: The file.
        face: Weights.
        shapes: Landmarks, and how shapes move them.
        overwrite: Whether a file there is replaced.
    """
    builder = _Builder()
    points = shapes.neutral * 1e-3
    weights = face.ordered(shapes.names)
    primitive = {
        "attributes": {"POSITION": builder.add(points, "VEC3", bounds=True)},
        "indices": builder.add(front_triangles(shapes.neutral).ravel(), "SCALAR", whole=True),
        "targets": [{"POSITION": builder.add(move * 1e-3, "VEC3", bounds=True)} for move in shapes.moves],
        "material": 0,
    }
    times = builder.add(np.arange(len(face)) / face.fps, "SCALAR", bounds=True)
    values = builder.add(weights.ravel(), "SCALAR")
    document: dict[str, Any] = {
        "asset": {"version": "2.0", "generator": f"Choreograph {__version__}"},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"name": face.name, "mesh": 0}],
        "materials": [{"name": "clay", "doubleSided": True, "pbrMetallicRoughness": {"metallicFactor": 0.0}}],
        "meshes": [{"primitives": [primitive], "extras": {"targetNames": list(shapes.names)}}],
        "animations": [
            {
                "name": face.name,
                "samplers": [{"input": times, "output": values, "interpolation": "LINEAR"}],
                "channels": [{"sampler": 0, "target": {"node": 0, "path": "weights"}}],
            }
        ],
    }
    with atomic_write(path, overwrite=overwrite) as temporary:
        temporary.write_bytes(builder.pack(document))


class _Builder:
    """Gathers arrays of a document."""

    def __init__(self) -> None:
        self._bytes = bytearray()
        self._accessors: list[dict[str, Any]] = []
        self._views: list[dict[str, Any]] = []

    def add(self, values: NDArray[Any], kind: str, *, bounds: bool = False, whole: bool = False) -> int:
        """The number of a new accessor."""
        array = np.ascontiguousarray(values, "<u2" if whole else "<f4")
        self._bytes += bytes(-len(self._bytes) % 4)
        view: dict[str, Any] = {"buffer": 0, "byteOffset": len(self._bytes), "byteLength": array.nbytes}
        self._bytes += array.tobytes()
        self._views.append(view)
        accessor: dict[str, Any] = {
            "bufferView": len(self._views) - 1,
            "componentType": _USHORT if whole else _FLOAT,
            "count": len(array),
            "type": kind,
        }
        if bounds:
            flat = array.reshape(len(array), -1)
            accessor |= {"min": flat.min(axis=0).tolist(), "max": flat.max(axis=0).tolist()}
        self._accessors.append(accessor)
        return len(self._accessors) - 1

    def pack(self, document: dict[str, Any]) -> bytes:
        """The whole file."""
        self._bytes += bytes(-len(self._bytes) % 4)
        whole = {
            **document,
            "accessors": self._accessors,
            "bufferViews": self._views,
            "buffers": [{"byteLength": len(self._bytes)}],
        }
        return pack(whole, bytes(self._bytes))


def front_triangles(points: Floats) -> Ints:
    """Triangles between points as they are seen from the front, (T, 3), turned to the front."""
    from scipy.spatial import Delaunay

    triangles = Delaunay(points[:, :2]).simplices.astype(np.int64)
    a, b, c = (points[triangles[:, k], :2] for k in range(3))
    area = (b[:, 0] - a[:, 0]) * (c[:, 1] - a[:, 1]) - (b[:, 1] - a[:, 1]) * (c[:, 0] - a[:, 0])
    return np.where((area < 0)[:, None], triangles[:, [0, 2, 1]], triangles)
