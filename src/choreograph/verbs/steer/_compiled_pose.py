"""Compiled kernels that show characters: where each of them is at a moment, read from the recordings and blended."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from choreograph.base.arrays import Flags, Floats
from choreograph.base.compiling import njit

_JIT: dict[str, Any] = {"cache": True, "nogil": True, "error_model": "numpy"}

TIME, FRAME, FPS, ROW, LAST, YAW, X, Z = range(8)
FIRST, SECOND = 8, 13
"""Where a piece's two turns begin: by how much, about x and z, from when to when."""
WIDTH = 18
"""Numbers of a piece: when its first cut is, that cut's frame, rate, row of the recording's frame 0, its last frame,
where the recording lies, and two turns."""


@njit(**_JIT)
def _turn(piece: Floats, at: int, t: float, place: Floats) -> None:
    """Add one of a piece's turns to a place (yaw, x, z), as far as it has come."""
    if piece[at] == 0.0:
        return
    s = (t - piece[at + 3]) / max(piece[at + 4] - piece[at + 3], 1e-9)
    s = min(max(s, 0.0), 1.0)
    yaw = piece[at] * s * s * (3 - 2 * s)
    cos, sin = math.cos(yaw), math.sin(yaw)
    x, z = place[1] - piece[at + 1], place[2] - piece[at + 2]
    place[0] += yaw
    place[1] = x * cos + z * sin + piece[at + 1]
    place[2] = -x * sin + z * cos + piece[at + 2]


@njit(**_JIT)
def place_of(piece: Floats, t: float, out: Floats) -> None:
    """Where a piece's recording lies at a moment: yaw, x, z, into `out` (3,)."""
    out[0], out[1], out[2] = piece[YAW], piece[X], piece[Z]
    _turn(piece, FIRST, t, out)
    _turn(piece, SECOND, t, out)


@njit(inline="always", **_JIT)
def _mix(a: Floats, b: Floats, t: float, out: Floats) -> None:
    """The rotation a share t of the way from a to b on the short arc, into `out`; for near ones as a straight line."""
    dot = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3]
    sign = 1.0 if dot >= 0 else -1.0
    dot = abs(dot)
    if dot > 0.9995:
        start, end = 1 - t, t
    else:
        angle = math.acos(dot)
        sine = math.sin(angle)
        start, end = math.sin((1 - t) * angle) / sine, math.sin(t * angle) / sine
    size = 0.0
    for k in range(4):
        out[k] = start * a[k] + sign * end * b[k]
        size += out[k] * out[k]
    size = math.sqrt(size)
    for k in range(4):
        out[k] /= size


@njit(**_JIT)
def _read(
    piece: Floats, t: float, root: Floats, rot: Floats, place: Floats, out_root: Floats, out_rot: Floats
) -> float:
    """A piece's pose at a moment, laid on the floor; the frame of its recording that it shows."""
    frame = min(max(piece[FRAME] + (t - piece[TIME]) * piece[FPS], 0.0), piece[LAST])
    whole = int(frame + 1e-6)
    share = frame - whole
    row = int(piece[ROW]) + whole
    if share < 1e-6:
        for k in range(3):
            out_root[k] = root[row, k]
        for j in range(rot.shape[1]):
            for k in range(4):
                out_rot[j, k] = rot[row, j, k]
    else:
        for k in range(3):
            out_root[k] = (1 - share) * root[row, k] + share * root[row + 1, k]
        for j in range(rot.shape[1]):
            _mix(rot[row, j], rot[row + 1, j], share, out_rot[j])
    place_of(piece, t, place)
    cos, sin = math.cos(place[0]), math.sin(place[0])
    x, z = out_root[0], out_root[2]
    out_root[0] = x * cos + z * sin + place[1]
    out_root[2] = -x * sin + z * cos + place[2]
    c, v = math.cos(place[0] / 2), math.sin(place[0] / 2)
    w, qx, qy, qz = out_rot[0, 0], out_rot[0, 1], out_rot[0, 2], out_rot[0, 3]
    out_rot[0, 0], out_rot[0, 1] = c * w - v * qy, c * qx + v * qz
    out_rot[0, 2], out_rot[0, 3] = c * qy + v * w, c * qz - v * qx
    return frame


@njit(**_JIT)
def show(
    now: Floats, pieces: Floats, blends: Floats, root: Floats, rot: Floats, held: Flags, out_root: Floats,
    out_rot: Floats, out_held: Flags, layers: Floats,
) -> None:  # fmt: skip
    """The poses of N characters, each at its own moment.

    Args:
        now: Seconds, (N,).
        pieces: The piece that each character leaves and the one that it shows, (N, 2, WIDTH).
        blends: From when to when the first gives way to the second, (N, 2); behind that only the second shows.
        root: Root positions of all recordings, (R, 3), metres.
        rot: Local rotations, (R, J, 4).
        held: Which foot joints stand, (R, feet).
        out_root: Root positions, (N, 3).
        out_rot: Local rotations, (N, J, 4).
        out_held: Which foot joints stand, (N, feet).
        layers: What is shown: frame, yaw, x, z and weight of both pieces, (N, 2, 5).
    """
    other_root, other_rot = np.empty(3), np.empty((rot.shape[1], 4))
    mixed, place = np.empty(4), np.empty(3)
    for n in range(len(now)):
        t = now[n]
        frame = _read(pieces[n, 1], t, root, rot, place, out_root[n], out_rot[n])
        layers[n, 1, 0], layers[n, 1, 4] = frame, 1.0
        layers[n, 0, 4] = 0.0
        for k in range(3):
            layers[n, 1, 1 + k] = place[k]
        main, at = pieces[n, 1], frame
        if t < blends[n, 1]:
            s = min(max((t - blends[n, 0]) / max(blends[n, 1] - blends[n, 0], 1e-9), 0.0), 1.0)
            weight = s * s * (3 - 2 * s)
            before = _read(pieces[n, 0], t, root, rot, place, other_root, other_rot)
            layers[n, 0, 0], layers[n, 0, 4], layers[n, 1, 4] = before, 1 - weight, weight
            for k in range(3):
                layers[n, 0, 1 + k] = place[k]
                out_root[n, k] = (1 - weight) * other_root[k] + weight * out_root[n, k]
            for j in range(rot.shape[1]):
                _mix(other_rot[j], out_rot[n, j], weight, mixed)
                for k in range(4):
                    out_rot[n, j, k] = mixed[k]
            if weight < 0.5:
                main, at = pieces[n, 0], before
        row = int(main[ROW]) + int(min(at + 0.5, main[LAST]))
        for k in range(held.shape[1]):
            out_held[n, k] = held[row, k]
