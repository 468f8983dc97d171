"""Names of motion files, folders and patterns, as people give them, turned into files."""

from __future__ import annotations

import glob
from collections.abc import Sequence
from pathlib import Path

from choreograph.errors import RequestError
from choreograph.formats.registry import suffixes


def find_motion_files(inputs: Sequence[str]) -> list[Path]:
    """Motion files that the given names, folders and patterns stand for, each once, in a stable order.

    Raises:
        RequestError: If a folder holds none, or a pattern matches none.
    """
    readable = set(suffixes(readable=True))
    found: list[Path] = []
    for text in inputs:
        path = Path(text).expanduser()
        if path.is_dir():
            inside = sorted(p for p in path.rglob("*") if p.suffix.lower() in readable and p.is_file())
            # What is hidden is somebody's own business: the studio keeps copies of recordings in .choreograph.
            inside = [p for p in inside if not any(part.startswith(".") for part in p.relative_to(path).parts)]
            if not inside:
                raise RequestError(f"{path} holds no motion files ({', '.join(sorted(readable))})")
            found += inside
        elif path.exists() or not glob.has_magic(text):
            found.append(path)
        else:
            matches = [Path(p) for p in sorted(glob.glob(str(path), recursive=True))]  # noqa: PTH207
            matches = [p for p in matches if p.suffix.lower() in readable and p.is_file()]
            if not matches:
                raise RequestError(f"no motion file matches {text!r}")
            found += matches
    return list(dict.fromkeys(found))
