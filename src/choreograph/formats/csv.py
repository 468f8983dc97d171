"""CSV: joint positions as a table for spreadsheets and plots; written only, since rotations are not in it."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

from choreograph.formats.atomic import atomic_write
from choreograph.motion.clip import Clip


def write_csv(path: str | Path, clip: Clip, *, overwrite: bool = False) -> None:
    """Write one row per frame: frame, seconds, then x, y, z of every joint in metres."""
    header = ["frame", "seconds", *(f"{name}.{axis}" for name in clip.skeleton.names for axis in "xyz")]
    table = clip.global_positions().reshape(len(clip), -1) + 0.0
    seconds = np.arange(len(clip)) / clip.fps
    with atomic_write(path, overwrite=overwrite) as temporary, temporary.open("w", encoding="utf-8", newline="") as out:
        csv.writer(out, lineterminator="\n").writerow(header)
        form = "%d,%.6f," + ",".join(["%.6f"] * table.shape[1]) + "\n"
        out.writelines(form % (k, t, *row) for k, (t, row) in enumerate(zip(seconds, table.tolist(), strict=True)))
