"""What requests bring along: cameras as matrices, and tracks from files."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from choreograph.base.arrays import Floats
from choreograph.base.errors import FormatError, RequestError
from choreograph.contract.limits import FARTHEST_M
from choreograph.formats.tables import read_table
from choreograph.goals.joints import Camera

MAX_TRACK_ROWS = 100_000
"""Of a joint's way in a file."""


def camera_matrix(camera: Camera) -> Floats:
    """A camera's right, up and ahead as rows, the first two over the tangent of half the field of view, and its eye,
    (4, 3)."""
    eye, target = np.array(camera.position), np.array(camera.target)
    ahead = (target - eye) / np.linalg.norm(target - eye)
    up = np.array([0.0, 1.0, 0.0]) if abs(ahead[1]) < 0.999 else np.array([0.0, 0.0, 1.0])
    right = np.cross(ahead, up)
    right /= np.linalg.norm(right)
    zoom = 1 / math.tan(math.radians(camera.field_of_view_deg) / 2)
    return np.stack([zoom * right, zoom * np.cross(right, ahead), ahead, eye])


def picture_point(camera: Camera, seen: tuple[float, float]) -> tuple[float, float]:
    """A place in the picture as the camera's matrix gives it: from -1 to 1 from the lower to the upper edge."""
    return (2 * seen[0] - 1) * camera.aspect, 1 - 2 * seen[1]


def read_track(path: str | Path, seconds: float, where: str) -> Floats:
    """A joint's way from a CSV file, spread evenly over an interval, (N, 3), metres.

    Args:
        path: Columns x, y, z, or seconds, x, y, z; a heading is skipped.
        seconds: Length of the interval.
        where: Its place in the request.

    Raises:
        RequestError: If it cannot be read, or its times do not increase.
    """
    rows: list[list[float]] = []
    try:
        for number, (line, cells) in enumerate(read_table(path)):
            if len(rows) >= MAX_TRACK_ROWS:
                raise FormatError(f"has more than {MAX_TRACK_ROWS} rows", path=path)
            try:
                row = [float(cell) if cell else math.nan for cell in cells]
            except ValueError:
                if number:
                    text = f"is {','.join(cells)[:80]!r}; it must be numbers"
                    raise FormatError(text, path=path, line=line) from None
                continue
            if not all(math.isnan(value) or abs(value) <= FARTHEST_M for value in row):
                raise FormatError(f"has a place farther than {FARTHEST_M:g} m away", path=path, line=line)
            rows.append(row)
    except FormatError as error:
        raise RequestError(f"{where}: {error}", where=where) from None
    sizes = {len(row) for row in rows}
    if len(rows) < 2 or sizes not in ({3}, {4}):
        raise RequestError(
            f"{where}: {path} has {len(rows)} rows of {str(sorted(sizes))[:40]} numbers; it must have two or more of "
            "x, y, z or seconds, x, y, z",
            where=where,
        )
    table = np.array(rows)
    if table.shape[1] == 3:
        return table
    times = table[:, 0] - table[0, 0]
    if not np.isfinite(times).all() or (np.diff(times) <= 0).any():
        at = int(np.flatnonzero(~(np.diff(times) > 0))[0]) + 1
        raise RequestError(f"{where}: the times of {path} do not increase at row {at + 1}", where=where)
    if abs(times[-1] - seconds) > 0.1 + 0.02 * seconds:
        raise RequestError(
            f"{where}: {path} lasts {times[-1]:.2f} s, but the interval {seconds:.2f} s; change end_s", where=where
        )
    even = np.linspace(0, times[-1], max(len(times), 2))
    return np.stack([np.interp(even, times, table[:, 1 + axis]) for axis in range(3)], axis=1)
