"""Transcriptions as files that other programs open: tables, subtitles, label tracks."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from choreograph.base.errors import RequestError
from choreograph.formats.atomic import atomic_write

SUFFIXES = (".csv", ".json", ".vtt", ".txt")
"""A table for spreadsheets, the same for programs, subtitles (WebVTT) for players, and a label track of start, stop and
text between tabs, which Audacity opens and ELAN imports."""

_INTERNAL = ("placement", "cost_m2_s")
"""What pieces say that transcriptions do not."""


def check_suffix(path: Path) -> None:
    """Raise a RequestError if no transcription is written to files of this name."""
    if path.suffix.lower() not in SUFFIXES:
        raise RequestError(f"{path.name} would have to end in {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}")


def write_transcription(path: str | Path, rows: Sequence[dict[str, Any]], *, overwrite: bool = False) -> None:
    """Write the pieces of a performance in the form that the file's name asks for.

    Args:
        path: The file, of one of `SUFFIXES`.
        rows: A result's pieces: `result.best.details["pieces"]`. Where they lie and what they cost is left out.
        overwrite: Whether a file that is there may be replaced.

    >>> row = {"start_s": 0.0, "stop_s": 1.0, "recording": "walk"}  # as in an answer's details["pieces"]
    >>> write_transcription("said.csv", [row])  # doctest: +SKIP

    Raises:
        RequestError: If the name asks for none.
        OutputExists: If the file is there and `overwrite` is not set.
        FormatError: If it cannot be written.
    """
    path = Path(path)
    check_suffix(path)
    rows = [{name: value for name, value in row.items() if name not in _INTERNAL} for row in rows]
    with atomic_write(path, overwrite=overwrite) as temporary:
        suffix = path.suffix.lower()
        if suffix == ".csv":
            with temporary.open("w", newline="", encoding="utf-8") as file:
                writer = csv.DictWriter(file, list(rows[0]) if rows else [])
                writer.writeheader()
                writer.writerows({**row, "labels": "; ".join(row["labels"])} for row in rows)
            return
        if suffix == ".json":
            text = json.dumps(list(rows), indent=1, ensure_ascii=False)
        elif suffix == ".vtt":
            cues = [f"{_clock(r['start_s'])} --> {_clock(r['stop_s'])}\n{describe(r)}" for r in rows if _lasts(r)]
            text = "\n\n".join(["WEBVTT", *cues])
        else:
            text = "\n".join(f"{r['start_s']:.4f}\t{r['stop_s']:.4f}\t{describe(r)}" for r in rows if _lasts(r))
        temporary.write_text(text + "\n", encoding="utf-8")


def describe(row: dict[str, Any]) -> str:
    """A row in a line: which part of which recording, its labels, and how sure."""
    labels = f" ({', '.join(row['labels'])})" if row["labels"] else ""
    where = f"{row['recording']} {row['recording_start_s']:.2f}–{row['recording_stop_s']:.2f} s"
    return " ".join(f"{where}{labels}, {row['sure']:.0%} sure".replace("-->", "→").split())


def _lasts(row: dict[str, Any]) -> bool:
    return bool(row["stop_s"] > row["start_s"])


def _clock(seconds: float) -> str:
    whole = round(seconds * 1000)
    return f"{whole // 3_600_000:02d}:{whole // 60_000 % 60:02d}:{whole // 1000 % 60:02d}.{whole % 1000:03d}"
