"""What a folder's trials.tsv says about its recordings: frame rate and description, which AMC files do not carry."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

from choreograph.errors import FormatError

TRIALS_FILE = "trials.tsv"
COLUMNS = ("trial", "frames", "fps", "description")
_MAX_BYTES = 16 << 20


@dataclass(frozen=True)
class Trial:
    """One recording as its trials.tsv lists it."""

    name: str
    fps: float | None
    description: str


def find_trial(path: Path) -> Trial | None:
    """The line for a motion file in the trials.tsv beside it or one folder up, if there is one."""
    for folder in (path.parent, path.parent.parent):
        listing = folder / TRIALS_FILE
        if listing.is_file():
            found = _read(listing).get(path.stem)
            if found:
                return found
    return None


def _read(listing: Path) -> dict[str, Trial]:
    if listing.stat().st_size > _MAX_BYTES:
        raise FormatError("is too large for a list of trials", path=listing)
    trials = {}
    with listing.open(encoding="utf-8", errors="replace", newline="") as lines:
        for number, row in enumerate(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE), 2):
            name, fps = row.get("trial") or "", row.get("fps") or ""
            try:
                rate = float(fps) if fps else None
            except ValueError:
                rate = -1.0
            if rate is not None and not 0 < rate < 1e5:
                raise FormatError(f"fps of {name!r} is {fps!r}", path=listing, line=number)
            trials[name] = Trial(name, rate, (row.get("description") or "").strip())
    return trials
