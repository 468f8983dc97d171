"""Writing a file whole or not at all."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from choreograph.errors import FormatError, OutputExists


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
    temporary = path.with_name(f".{path.stem[:40]}-{secrets.token_hex(4)}{path.suffix}")
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
