"""Obstacles over time as a CSV file: t,id,x,z,radius."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from choreograph.base.arrays import Floats
from choreograph.base.errors import FormatError
from choreograph.formats.tables import read_table

HEADER = ("t", "id", "x", "z", "radius")
MAX_ROWS = 200_000  # of one file
MAX_OBSTACLES = 1000  # of one file
MAX_RADIUS_M = 100.0  # of one obstacle
MAX_SPEED_M_S = 1000.0  # of one obstacle: beyond, the file's times or units are wrong


def read_tracks(path: str | Path) -> dict[str, Floats]:
    """Obstacles of a file by id, as tracks; see `track_of`.

    Raises:
        FormatError: Names the line.
    """
    tracks: dict[str, list[tuple[float, ...]]] = {}
    for line, row in read_rows(path, HEADER, ()):
        t, x, z, radius = (read_number(row, name, path, line) for name in ("t", "x", "z", "radius"))
        if not 0 < radius <= MAX_RADIUS_M:
            raise FormatError(
                f"radius is {radius:g}; it must be above 0 and at most {MAX_RADIUS_M:g}", path=path, line=line
            )
        track = tracks.setdefault(row["id"].strip(), [])
        if track and t <= track[-1][0]:
            raise FormatError(f"t is {t:g}, not after {track[-1][0]:g} for the same id", path=path, line=line)
        if track and math.hypot(x - track[-1][1], z - track[-1][2]) > MAX_SPEED_M_S * (t - track[-1][0]):
            raise FormatError(f"the obstacle moves faster than {MAX_SPEED_M_S:g} m/s", path=path, line=line)
        track.append((t, x, z, radius))
        if len(tracks) > MAX_OBSTACLES:
            raise FormatError(f"it has more than {MAX_OBSTACLES} obstacles", path=path, line=line)
    return {name: track_of(np.array(track)) for name, track in tracks.items()}


def track_of(rows: Floats) -> Floats:
    """A track, (K, 6): times, places, radii and the velocities that hold from each time on.

    Args:
        rows: Times, places and radii, (K, 4), in order of time. Between them an obstacle moves on straight lines, and
            after the last as it moved there.
    """
    speed = np.diff(rows[:, 1:3], axis=0) / np.diff(rows[:, :1], axis=0)
    speed = np.concatenate([speed, speed[-1:]]) if len(speed) else np.zeros((1, 2))
    return np.concatenate([rows, speed], axis=1)


def read_rows(path: str | Path, needed: tuple[str, ...], more: tuple[str, ...]) -> list[tuple[int, dict[str, str]]]:
    """The rows of a CSV file by the names of its header, each with its line.

    Args:
        path: The file.
        needed: Columns that it has.
        more: Columns that it may have.
    """
    rows: list[tuple[int, dict[str, str]]] = []
    names: list[str] = []
    for line, cells in read_table(path):
        if not names:
            names = cells
            missing = [name for name in needed if name not in names]
            unknown = [name for name in names if name not in (*needed, *more)]
            if missing or unknown:
                what = f"no column {missing[0]!r}" if missing else f"a column {unknown[0][:40]!r}, which is not known"
                wanted = ",".join(needed) + (f" and optionally {','.join(more)}" if more else "")
                raise FormatError(f"it has {what}; its header must be {wanted}", path=path, line=line)
            continue
        if len(rows) >= MAX_ROWS:
            raise FormatError(f"it has more than {MAX_ROWS} rows", path=path)
        if len(cells) > len(names):
            raise FormatError(f"the row has {len(cells)} cells, the header {len(names)}", path=path, line=line)
        rows.append((line, dict(zip(names, [*cells, *[""] * (len(names) - len(cells))], strict=True))))
    return rows


def read_number(row: dict[str, str], name: str, path: str | Path, line: int) -> float:
    """A cell as a number; raises a FormatError that names the line."""
    try:
        value = float(row[name])
    except ValueError:
        raise FormatError(f"{name} is {row[name][:40]!r}; it must be a number", path=path, line=line) from None
    if not math.isfinite(value) or abs(value) > 1e6:
        raise FormatError(f"{name} is {row[name][:40]!r}; it must be a number up to a million", path=path, line=line)
    return value
