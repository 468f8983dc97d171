"""Faces in files: weights as Live Link Face writes them (CSV), landmarks (CSV), marker tracks (CSV).

A timecode is hours, minutes, seconds and frames with a fraction, at 60 frames a second in Live Link Face's files; the
rate of the rows follows from it.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from choreograph.base.arrays import Floats
from choreograph.base.errors import FormatError
from choreograph.formats.atomic import atomic_write
from choreograph.formats.tables import read_table
from choreograph.motion.clip import Clip, Note
from choreograph.motion.face import Face, FaceShapes, points_as_clip, shape_key

_TICKS_HZ = 60.0  # frames per second of a timecode without a rate
_DAY_S = 86_400.0  # seconds of a day, after which timecodes begin again
_RATES = (24.0, 25.0, 30.0, 48.0, 50.0, 60.0, 90.0, 120.0)
_OVER, _WRONG = 1e-9, 0.5
"""By how much weights may be outside 0 … 1: more is clamped and noted; beyond the second it is no weight."""
_JUMP_FRAMES = 1.5  # frames between two rows above which some are missing
_MOST_ROWS = 2_000_000  # of one file
_FILLED, _FILLED_ROWS = 10, 3600
"""Rows that jumps of a timecode are filled in with at most: so many times those there are, and so many more."""
OTHERS = ("yaw", "pitch", "roll")


def read_face(path: str | Path, *, fps: float | None = None) -> Face:
    """The face of a CSV file of blend shape weights, as Live Link Face writes it.

    >>> read_face("nobody.csv")
    Traceback (most recent call last):
    ...
    choreograph.base.errors.FormatError: nobody.csv: cannot be read: No such file or directory

    Weights a little outside 0 … 1 are clamped, frames that a timecode jumps over are filled in linearly: see `notes`.

    Args:
        path: The file: a heading with Timecode, BlendShapeCount and the shapes' names, a row for each frame.
        fps: Frames per second, where timecodes are missing or wrong.

    Raises:
        FormatError: If it is no such file, or a timecode goes back.
    """
    path = Path(path)
    heading, rows = _read_rows(path)
    first = [shape_key(word) for word in heading]
    if not first or first[0] not in ("timecode", "frame", "seconds", "time"):
        raise FormatError(
            f"its heading begins with {', '.join(heading[:3])[:80]!r}; Live Link Face's begins with Timecode",
            path=path,
            line=1,
        )
    skip = 2 if len(first) > 1 and first[1] == "blendshapecount" else 1
    names = heading[skip:]
    if not names or len({shape_key(name) for name in names}) != len(names):
        raise FormatError("its heading names no shapes, or one of them twice", path=path, line=1)
    values = np.empty((len(rows), len(names)))
    for n, row in enumerate(rows):
        try:
            if len(row) != len(heading):
                raise ValueError(f"has {len(row)} cells, the heading {len(heading)}")
            values[n] = [float(cell) for cell in row[skip:]]
            if not np.isfinite(values[n]).all():
                raise ValueError("has a value that is not a finite number")
        except ValueError as error:
            raise FormatError(f"the row {str(error)[:200]}", path=path, line=n + 2) from None
    notes: list[Note] = []
    times = _times([row[0] for row in rows], first[0], fps, path)
    rate = fps or _rate(times, path)
    values, jumps = _fill(values, times, rate, path)
    if jumps:
        notes.append(Note("timecode", "the timecode jumps; the frames between are filled in linearly", jumps))
    is_other = np.array([shape_key(name).endswith(OTHERS) for name in names])
    weights = values[:, ~is_other]
    over = np.maximum(weights - 1, -weights)
    if over.max(initial=0.0) > _WRONG:
        frame, shape = np.unravel_index(int(over.argmax()), over.shape)
        shapes = [name for name, other in zip(names, is_other, strict=True) if not other]
        raise FormatError(
            f"{shapes[int(shape)][:40]} is {weights[frame, shape]:g} in frame {frame}; weights are from 0 to 1",
            path=path,
        )
    outside = int((over > _OVER).sum())
    if outside:
        notes.append(Note("weight", f"weights are outside 0 … 1, by up to {over.max():.3g}; they are clamped", outside))
    return Face(
        tuple(name for name, other in zip(names, is_other, strict=True) if not other),
        np.clip(weights, 0.0, 1.0),
        rate,
        path.stem,
        tuple(name for name, other in zip(names, is_other, strict=True) if other),
        values[:, is_other],
        tuple(notes),
    )


def _read_rows(path: Path) -> tuple[list[str], list[list[str]]]:
    lines = []
    for _, row in read_table(path):
        lines.append(row)
        if len(lines) > _MOST_ROWS:
            raise FormatError(f"has more than {_MOST_ROWS} rows", path=path)
    if len(lines) < 2:
        raise FormatError("has no rows below a heading", path=path)
    return lines[0], lines[1:]


def _times(cells: Sequence[str], kind: str, fps: float | None, path: Path) -> Floats:
    """Seconds of each row from the first one."""
    out = np.empty(len(cells))
    for n, cell in enumerate(cells):
        try:
            parts = [float(part) for part in cell.replace(";", ":").split(":")]
            if not all(abs(part) < 1e9 for part in parts):
                raise ValueError
        except ValueError:
            if fps is not None:
                return np.arange(len(cells)) / fps
            raise FormatError(f"the timecode {cell[:40]!r} is no time; give fps", path=path, line=n + 2) from None
        if len(parts) == 4:
            out[n] = 3600 * parts[0] + 60 * parts[1] + parts[2] + parts[3] / _TICKS_HZ
        elif len(parts) == 1:
            out[n] = parts[0] / (fps or _TICKS_HZ) if kind == "frame" else parts[0]
        else:
            raise FormatError(f"the timecode {cell[:40]!r} is no time as HH:MM:SS:FF", path=path, line=n + 2)
    steps = np.diff(out)
    steps = np.where(steps < -_DAY_S / 2, steps + _DAY_S, steps)  # past midnight
    if (steps <= 0).any():
        at = int(np.flatnonzero(steps <= 0)[0])
        raise FormatError(
            f"the timecode goes from {cells[at][:40]} to {cells[at + 1][:40]}, not on; sort the rows, or cut the file "
            "there",
            path=path, line=at + 3,
        )  # fmt: skip
    return np.concatenate([[0.0], np.cumsum(steps)])


def _rate(times: Floats, path: Path) -> float:
    """Frames per second: the usual rate that the median step is nearest to."""
    if len(times) < 2:
        return 30.0
    step = float(np.median(np.diff(times)))
    if not 1e-4 < step < 1e4:
        raise FormatError(f"its frames are {step:.3g} s apart; times must increase. Give fps", path=path)
    raw = 1 / step
    usual = min(_RATES, key=lambda rate: abs(math.log(rate / raw)))
    if abs(usual / raw - 1) < 0.02:
        return usual
    if not 1 <= raw <= 1000:
        raise FormatError(f"its timecodes make {raw:.3g} frames a second; give fps", path=path)
    return raw


def _fill(values: Floats, times: Floats, rate: float, path: Path) -> tuple[Floats, int]:
    """Rows at a fixed rate, and how often the timecode jumps over some."""
    jumps = int((np.diff(times) * rate > _JUMP_FRAMES).sum()) if len(times) > 1 else 0
    if not jumps:
        return values, 0
    count = round(times[-1] * rate) + 1
    if count > _FILLED * len(values) + _FILLED_ROWS:
        at = int(np.diff(times).argmax())
        raise FormatError(
            f"the timecode jumps by {times[at + 1] - times[at]:.0f} s, too far to be filled in; cut the file there",
            path=path, line=at + 3,
        )  # fmt: skip
    even = np.arange(count) / rate
    return np.stack([np.interp(even, times, column) for column in values.T], axis=1), jumps


def write_face(path: str | Path, face: Face, *, overwrite: bool = False) -> None:
    """Write blend shape weights as Live Link Face does, from the timecode 0 on.

    >>> from choreograph.motion.face import Face
    >>> write_face("smile.csv", Face(("MouthSmileLeft",), [[0.0], [0.5]], 30.0), overwrite=True)
    >>> float(read_face("smile.csv").weights[1, 0])
    0.5

    Args:
        path: A .csv file.
        face: Weights from 0 to 1.
        overwrite: Whether a file there is replaced.
    """
    assert face.other_values is not None
    heading = ["Timecode", "BlendShapeCount", *face.names, *face.others]
    count = len(face.names) + len(face.others)
    with atomic_write(path, overwrite=overwrite) as temporary, temporary.open("w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(heading)
        for n in range(len(face)):
            seconds = n / face.fps
            whole = int(seconds + 1e-9)
            tick = max((seconds - whole) * _TICKS_HZ, 0.0)
            code = f"{whole // 3600:02d}:{whole // 60 % 60:02d}:{whole % 60:02d}:{tick:06.3f}"
            values = [*face.weights[n], *face.other_values[n]]
            writer.writerow([code, count, *(f"{value:.10f}" for value in values)])


def read_shapes(path: str | Path) -> FaceShapes:
    """Landmarks and how shapes move them, from a CSV file with the columns shape, landmark, x_mm, y_mm, z_mm.

    The shape "neutral" says where the landmarks are, the others how far they move at a weight of 1.

    >>> rows = ["shape,landmark,x_mm,y_mm,z_mm", "neutral,0,0,0,0", "JawOpen,0,0,-20,0"]
    >>> _ = Path("chin.csv").write_text("\\n".join(rows))
    >>> read_shapes("chin.csv").names
    ('JawOpen',)

    Raises:
        FormatError: If it is no such file, or a landmark is missing.
    """
    path = Path(path)
    heading, rows = _read_rows(path)
    if [word.lower() for word in heading] != ["shape", "landmark", "x_mm", "y_mm", "z_mm"]:
        raise FormatError(
            f"its heading is {', '.join(heading[:6])[:80]!r}; it must be shape, landmark, x_mm, y_mm, z_mm",
            path=path,
            line=1,
        )
    moves: dict[str, dict[int, list[float]]] = {}
    for n, row in enumerate(rows):
        try:
            shape, landmark, values = row[0], int(row[1]), [float(cell) for cell in row[2:]]
            if len(values) != 3 or not all(math.isfinite(value) for value in values) or landmark < 0:
                raise ValueError
        except (ValueError, IndexError):
            raise FormatError(f"the row {','.join(row)[:80]!r} is no landmark", path=path, line=n + 2) from None
        moves.setdefault(shape, {})[landmark] = values
    if "neutral" not in moves:
        raise FormatError("has no shape 'neutral', which says where the landmarks are", path=path)
    numbers = sorted(moves["neutral"])
    for shape, points in moves.items():
        if sorted(points) != numbers:
            raise FormatError(
                f"the shape {shape[:40]!r} has {len(points)} landmarks, neutral {len(numbers)}", path=path
            )
    tables = {shape: np.array([points[n] for n in numbers]) for shape, points in moves.items()}
    neutral = tables.pop("neutral")
    return FaceShapes(tuple(tables), neutral, np.array(list(tables.values())).reshape(len(tables), *neutral.shape))


def read_markers(path: str | Path) -> Clip:
    """Marker tracks as a clip without a root's motion, from a CSV file as `convert` writes it.

    >>> rows = ["frame,seconds,A.x,A.y,A.z", "0,0,0,1,0", "1,0.1,0,1.1,0"]
    >>> _ = Path("markers.csv").write_text("\\n".join(rows))
    >>> read_markers("markers.csv").fps
    10.0

    Raises:
        FormatError: If it is no such file.
    """
    path = Path(path)
    heading, rows = _read_rows(path)
    names = [word[:-2] for word in heading[2::3]]
    expected = [f"{name}.{axis}" for name in names for axis in "xyz"]
    if [word.lower() for word in heading[:2]] != ["frame", "seconds"] or heading[2:] != expected:
        raise FormatError("its heading is not frame, seconds, A.x, A.y, A.z …", path=path, line=1)
    try:
        table = np.array([[float(cell) for cell in row] for row in rows])
    except ValueError:
        raise FormatError("has cells that are no numbers, or rows of different lengths", path=path) from None
    if table.ndim != 2 or table.shape[1] != len(heading) or not np.isfinite(table).all():
        raise FormatError("has cells that are no numbers, or rows of different lengths", path=path)
    rate = _rate(table[:, 1], path)
    return points_as_clip(table[:, 2:].reshape(len(table), -1, 3), rate, path.stem, names)
