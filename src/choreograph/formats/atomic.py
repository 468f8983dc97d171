"""Writing a file whole or not at all, and clearing away what killed writers left."""

from __future__ import annotations

import os
import platform
import re
import secrets
import shutil
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from choreograph.base.errors import FormatError, OutputExists

LEFTOVER_AGE_S = 24 * 3600.0
"""Seconds without a change after which what a writer left counts as given up."""
SWEEP_EVERY_S = 3600.0
"""Seconds before a process looks for left-overs in the same folder again: a folder may get thousands of files."""

_LEFTOVER = re.compile(r"\..{0,40}\.choreograph-(?P<host>[0-9a-f]{8})-(?P<process>\d{1,10})-[0-9a-f]{8}(\.[^.]*)?")
"""Names that `temporary_beside` gives."""
_swept: dict[Path, float] = {}
"""When each folder was last looked through, by the monotonic clock."""


@contextmanager
def atomic_write(path: str | Path, *, overwrite: bool = False) -> Iterator[Path]:
    """A temporary path in the same folder to write to, which takes the real name once the block ends well.

    If the block raises, the temporary file is removed and whatever stood at `path` is untouched. The temporary name
    keeps the suffix, for libraries that choose the format by it.

    Raises:
        OutputExists: `path` is there and `overwrite` is not set.
        FormatError: the folder cannot be made or written to.
    """
    path = Path(path)
    check_writable(path, overwrite=overwrite)
    temporary = temporary_beside(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield temporary
        if path.exists() and not overwrite:  # it may have appeared meanwhile
            raise OutputExists(path)
        temporary.replace(path)
    except OSError as error:
        raise FormatError(f"cannot be written: {error.strerror or error}", path=path) from error
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def check_writable(path: str | Path, *, overwrite: bool = False) -> None:
    """Raise now what `atomic_write` would raise later: for work that should fail before it has begun."""
    path = Path(path)
    if path.is_dir():
        raise FormatError("is a folder; give a file name", path=path)
    for folder in path.parents:
        if folder.exists() and not folder.is_dir():
            raise FormatError(f"cannot be written: {folder} is a file, not a folder", path=path)
    if path.exists() and not overwrite:
        raise OutputExists(path)


def temporary_beside(path: Path) -> Path:
    """A hidden name in the same folder, with the same suffix, for a file or folder that is not whole yet.

    The name says which machine and process it belongs to. What others left in the folder is cleared away on the way.
    """
    sweep_leftovers(path.parent)
    mark = f"choreograph-{_host()}-{os.getpid()}-{secrets.token_hex(4)}"
    return path.with_name(f".{path.stem[:40]}.{mark}{path.suffix}")


def sweep_leftovers(folder: Path) -> None:
    """Remove what writers that were killed left in a folder: by its name, a day old, and nobody's any more.

    Files of other machines count as somebody's while they change. At most once an hour for each folder and process.
    """
    folder, now = folder.absolute(), time.monotonic()
    if now - _swept.get(folder, -SWEEP_EVERY_S) < SWEEP_EVERY_S:
        return
    _swept[folder] = now
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            match = _LEFTOVER.fullmatch(entry.name)
            if match is None or not is_old(entry.path):
                continue
            if match["host"] == _host() and is_running(int(match["process"])):
                continue
            with suppress(OSError):
                if entry.is_dir(follow_symlinks=False):
                    shutil.rmtree(entry.path)
                else:
                    Path(entry.path).unlink()


def is_old(path: str | Path) -> bool:
    """Whether a file has not changed for a day."""
    try:
        return time.time() - Path(path).lstat().st_mtime > LEFTOVER_AGE_S
    except OSError:
        return False


def is_running(process: int) -> bool:
    """Whether there is a process of that number on this machine; where that cannot be asked, no.

    Windows would end a process that is asked in this way. There, a file that somebody has open cannot be removed.
    """
    if os.name != "posix":
        return False
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:  # it is there, and another user's
        return True
    return True


def _host() -> str:
    return f"{zlib.crc32(platform.node().encode()):08x}"
