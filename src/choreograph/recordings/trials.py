"""`trials.tsv`, the table beside the motion files that keeps what they do not say: frame rate and description."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

FILE_NAME = "trials.tsv"
COLUMNS = ("trial", "frames", "fps", "description")


@dataclass(frozen=True)
class TrialRow:
    """One recording: its name (`16_35`), length, true frames per second, and what is done in it."""

    trial: str
    frames: int
    fps: int
    description: str


def read_trials(folder: Path) -> dict[str, TrialRow]:
    """The table of a folder by trial name; rows that cannot be understood, or a missing table, count as absent."""
    try:
        lines = (folder / FILE_NAME).read_text(encoding="utf-8", errors="replace").splitlines()
    except FileNotFoundError:
        return {}
    rows = {}
    for line in lines[1:]:
        cells = line.split("\t")
        if len(cells) >= 3 and cells[1].isdecimal() and cells[2].isdecimal() and int(cells[2]) > 0:
            description = cells[3] if len(cells) > 3 else ""
            rows[cells[0]] = TrialRow(cells[0], int(cells[1]), int(cells[2]), description)
    return rows


def write_trials(folder: Path, rows: dict[str, TrialRow]) -> Path:
    """Write the table, in one step and in the order of names; its path."""
    lines = ["\t".join(COLUMNS)]
    for name in sorted(rows):
        row = rows[name]
        # Tabs and line ends inside a description would break the table.
        lines.append(f"{row.trial}\t{row.frames}\t{row.fps}\t{' '.join(row.description.split())}")
    path = folder / FILE_NAME
    part = path.with_name(f"{FILE_NAME}.{os.getpid()}.part")
    part.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")
    part.replace(path)
    return path
