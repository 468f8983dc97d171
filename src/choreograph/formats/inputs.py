"""Names of motion files, folders and patterns, as people give them, turned into files."""

from __future__ import annotations

import glob
import os
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from choreograph.base.errors import FormatError, RequestError
from choreograph.formats.registry import suffixes


def find_motion_files(inputs: Sequence[str], of: Collection[str] | None = None) -> list[Path]:
    """Motion files that the given names, folders and patterns stand for, each once, in a stable order.

    Args:
        inputs: Files, folders (searched through) or patterns.
        of: Suffixes in folders and patterns; those of all motion files if None.

    Raises:
        RequestError: If a folder holds none, or a pattern matches none.
    """
    readable = set(suffixes(readable=True) if of is None else of)
    paths: list[Path] = []
    for text in inputs:
        path = Path(text).expanduser()
        if path.is_dir():
            inside = sorted(p for p in _files_within(path) if p.suffix.lower() in readable and p.is_file())
            if not inside:
                raise RequestError(f"{path} holds no motion files ({', '.join(sorted(readable))})")
            paths += inside
        elif path.exists() or not glob.has_magic(text):
            paths.append(path)
        else:
            matches = [Path(p) for p in sorted(glob.glob(str(path), recursive=True))]  # noqa: PTH207
            matches = [p for p in matches if p.suffix.lower() in readable and p.is_file()]
            if not matches:
                raise RequestError(f"no motion file matches {text!r}")
            paths += matches
    return list(dict.fromkeys(paths))


def content_word(path: Path, asf: Path | None = None) -> str:
    """A word that changes when what is read from a motion file does: with the file, and with what lies beside it.

    Args:
        path: The file.
        asf: Skeleton of AMC files, where it is given.
    """
    words = [_state(path)]
    if path.suffix.lower() == ".amc":
        from choreograph.formats.asfamc import find_asf
        from choreograph.formats.trials import find_trial

        try:
            words.append(_state(asf or find_asf(path)))
            words.append(repr(find_trial(path)))
        except (FormatError, OSError) as error:  # reading will say so
            words.append(str(error))
    return " ".join(words)


def _state(path: Path) -> str:
    try:
        state = path.stat()
    except OSError:
        return str(path)
    return f"{path.absolute()} {state.st_size} {state.st_mtime_ns}"


def _files_within(folder: Path) -> Iterator[Path]:
    """All files below a folder, through links too, each folder once however many links lead to it.

    What is hidden is somebody's own business: the studio keeps copies of recordings in .choreograph.
    """
    seen = set()
    for name, folders, files in os.walk(folder, followlinks=True):
        real = os.path.realpath(name)
        folders[:] = [] if real in seen else sorted(one for one in folders if not one.startswith("."))
        if real not in seen:
            seen.add(real)
            yield from (Path(name, one) for one in files if not one.startswith("."))
