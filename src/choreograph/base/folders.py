"""Where the package keeps what it can fetch or compute again."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def cache_folder(part: str) -> Path:
    """The folder of one part of the cache, such as "cmu" or "prepared"; it may not exist yet.

    It is in `$CHOREOGRAPH_CACHE` if that variable is set, otherwise in `choreograph` in the platform's place for
    caches: `$XDG_CACHE_HOME` or `~/.cache`, `~/Library/Caches` on macOS, `%LOCALAPPDATA%` on Windows.
    """
    if own := os.environ.get("CHOREOGRAPH_CACHE"):
        return Path(own).expanduser() / part
    if sys.platform == "darwin":
        root = Path.home() / "Library" / "Caches"
    elif sys.platform == "win32":
        root = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    else:
        named = os.environ.get("XDG_CACHE_HOME", "")
        root = Path(named) if Path(named).is_absolute() else Path.home() / ".cache"
    return root / "choreograph" / part
