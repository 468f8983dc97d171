"""The verbs as pages are told of them, kept as the bytes of an answer: to describe them, all of them are imported."""

from __future__ import annotations

import hashlib
import os
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path

import pydantic
from pydantic import TypeAdapter

from choreograph._version import __version__
from choreograph.base.folders import cache_folder
from choreograph.formats.atomic import atomic_write
from choreograph.graph.cache import limit_bytes
from choreograph.studio.verb_facts import VerbFacts
from choreograph.verbs import MORE

PACKAGE = Path(__file__).parents[1]


def verbs_json() -> bytes:
    """The verbs, a JSON list of `VerbFacts`: from the cache, unless the code has changed since they were put there."""
    # What somebody's own verbs depend on, nobody knows.
    cached = None if os.environ.get(MORE) or not limit_bytes() else cache_folder("studio") / f"verbs-{_stamp()}.json"
    if cached is not None:
        with suppress(OSError):
            if (data := cached.read_bytes()).endswith(b"]"):
                return data
    from choreograph.studio.requests import describe_verbs

    data_now = TypeAdapter(list[VerbFacts]).dump_json(describe_verbs())
    if cached is not None:
        with suppress(OSError):
            cached.parent.mkdir(parents=True, exist_ok=True)
            for old in cached.parent.glob("verbs-*.json"):
                old.unlink(missing_ok=True)
            with atomic_write(cached, overwrite=True) as temporary:
                temporary.write_bytes(data_now)
    return data_now


@cache
def _stamp() -> str:
    """A word for the code that runs: versions, and times and sizes of the package's files.

    Looked at once: files that change while the studio runs are not the code that it has.
    """
    word = hashlib.sha256(f"{__version__} {sys.version} {pydantic.VERSION}".encode())
    for folder, _, names in sorted(os.walk(PACKAGE)):
        for name in sorted(names):
            if name.endswith(".py"):
                state = (Path(folder) / name).stat()
                word.update(f"{folder}/{name} {state.st_size} {state.st_mtime_ns}\n".encode())
    return word.hexdigest()[:24]
