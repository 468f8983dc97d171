"""`trials.tsv`, the table beside motion files that keeps what AMC does not say: frame rate and description."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from choreograph.base.errors import FormatError

TRIALS_FILE = "trials.tsv"
COLUMNS = ("trial", "frames", "fps", "description")
_MAX_BYTES = 16 << 20  # of a table of trials


@dataclass(frozen=True)
class Trial:
    """One recording: its name (`16_35`), length, true frames per second, and what is done in it."""

    name: str
    frames: int | None
    fps: float | None
    description: str = ""


def find_trial(path: Path) -> Trial | None:
    """The line for a motion file in the trials.tsv beside it or one folder up, if there is one.

    Raises:
        FormatError: the line is there but cannot be understood; a guessed frame rate would be wrong by half.
    """
    beside = path.absolute().parent  # a bare file name has no folder above it
    for folder in (beside, beside.parent):
        good, damaged = _read(folder / TRIALS_FILE)
        if path.stem in damaged:
            line, reason = damaged[path.stem]
            raise FormatError(reason, path=folder / TRIALS_FILE, line=line)
        if path.stem in good:
            return good[path.stem]
    return None


def read_trials(folder: Path) -> dict[str, Trial]:
    """The table of a folder by trial name; rows that cannot be understood, or a missing table, count as absent."""
    return dict(_read(folder / TRIALS_FILE)[0])


def write_trials(folder: Path, trials: dict[str, Trial]) -> Path:
    """Write the table, in one step and in the order of names; its path."""
    lines = ["\t".join(COLUMNS)]
    for _, trial in sorted(trials.items()):
        numbers = ("" if n is None else f"{n:.15g}" for n in (trial.frames, trial.fps))
        # Tabs and line ends inside a description would break the table.
        lines.append("\t".join((trial.name, *numbers, " ".join(trial.description.split()))))
    path = folder / TRIALS_FILE
    part = path.with_name(f"{TRIALS_FILE}.{os.getpid()}.part")
    part.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")
    part.replace(path)
    return path


_Table = tuple[dict[str, Trial], dict[str, tuple[int, str]]]
"""Trials by name, and for rows that cannot be understood their line and what is wrong with them."""


def _read(listing: Path) -> _Table:
    try:
        state = listing.stat()
    except OSError:
        return {}, {}
    if state.st_size > _MAX_BYTES:
        raise FormatError("is too large for a list of trials", path=listing)
    return _parse(listing, state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=16)
def _parse(listing: Path, _changed: int, _size: int) -> _Table:
    """The table, kept as long as the file is the same, because all trials of a folder ask for it."""
    good: dict[str, Trial] = {}
    damaged: dict[str, tuple[int, str]] = {}
    rows = listing.read_text(encoding="utf-8-sig", errors="replace").split("\n")
    header = [cell.strip().lower() for cell in rows[0].split("\t")]
    for number, row in enumerate(rows[1:], 2):
        cells = dict(zip(header, (cell.strip() for cell in row.split("\t")), strict=False))
        name, frames, fps, description = (cells.get(column, "") for column in COLUMNS)
        if not name or not (frames or fps or description):
            continue
        try:
            trial = Trial(name, int(frames) if frames else None, float(fps) if fps else None, description)
            if (trial.frames is not None and trial.frames < 0) or not 0 < (1 if trial.fps is None else trial.fps) < 1e5:
                raise ValueError
            good[name] = trial
        except ValueError:
            damaged[name] = number, f"{frames!r} frames at {fps!r} per second make no sense for {name!r}"
    return good, damaged
