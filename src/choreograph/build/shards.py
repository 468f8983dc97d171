"""Shards of windows as Arrow files, in a folder that all workers of a cluster see: a path, or what fsspec knows.

They are written as windows are made, a shard at a time. What all are measured by is known once all are there, from some
windows of each, and is written last, as `windows.json`.
"""

from __future__ import annotations

import json
import platform
import re
import secrets
import zlib
from collections.abc import Iterable, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from choreograph._version import __version__
from choreograph.base.errors import GraphFileError
from choreograph.distance.library import BY_FRAME, Library, build_library
from choreograph.distance.prune import Sieve, WindowBasis, choose_basis
from choreograph.distance.runs import Coordinates
from choreograph.distance.window import WindowedClip

_NAME = re.compile(r"(^|/)(shard-\d{5}\.arrow|windows\.json)\Z")
"""Files that are written here; others are somebody else's."""
_SAMPLED = 2_000
"""Windows, of all shards together, that the basis is chosen by."""


def shards_folder(shared: str | None, output: Path) -> str:
    """Where the shards of one output go: beside it, or into a folder of its own in one that all workers see."""
    if shared is None:
        return f"{output.absolute()}.shards"
    known = f"{platform.node()}:{output.absolute()}"
    name = f"{output.name}-{zlib.crc32(known.encode()):08x}.shards"
    return f"{shared.rstrip('/')}/{name}" if "://" in shared else str(Path(shared).absolute() / name)


def write_shards(folder: str, windows: Iterable[WindowedClip], frames: Sequence[int], shards: Sequence[range]) -> str:
    """Write windows as Arrow files, and return the word that they are told by.

    Args:
        folder: Where they go.
        windows: Of each clip; taken one at a time.
        frames: Of each clip.
        shards: Which clips go together.

    Raises:
        GraphFileError: If the folder cannot be written to, or is full.
    """
    import fsspec

    key = f"{__version__}-{secrets.token_hex(8)}"
    coming, level, seen = iter(windows), None, 0
    every = max(1, sum(frames) // _SAMPLED)
    sample = list[WindowedClip]()
    try:
        system, path = fsspec.core.url_to_fs(folder)
        system.makedirs(path, exist_ok=True)
        for number, clips in enumerate(shards):
            own = list(islice(coming, len(clips)))
            for clip in own:
                # A window and the next: how far one is from the other tells how long runs may be.
                at = range(-seen % every, clip.count, every)
                sample += [clip.part(first, min(first + 2, clip.count)) for first in at]
                seen += clip.count
            library = build_library(own, level=level)
            level = library.level
            with system.open(f"{path}/shard-{number:05d}.arrow", "wb") as file:
                _write(file, library, {"key": key, "first": str(clips.start)})
        basis = choose_basis(build_library(sample, level=level))
        with system.open(f"{path}/windows.json", "wb") as file:
            file.write(json.dumps({"key": key, "basis": _plain(basis)}).encode())
    except OSError as error:
        raise GraphFileError(
            f"shards cannot be written: {error.strerror or error}; make room, or choose another folder (shards)",
            path=folder,
        ) from error
    return key


def read_basis(folder: str, key: str) -> WindowBasis:
    """What the shards are measured by.

    Raises:
        GraphFileError: If there are none, or they are of another build.
    """
    import fsspec

    system, path = fsspec.core.url_to_fs(folder)
    try:
        with system.open(f"{path}/windows.json", "rb") as file:
            header = json.loads(file.read())
    except (OSError, ValueError) as error:
        raise GraphFileError(
            f"no shards are there, seen from this worker: {error}; the folder must be one that all workers see "
            "(shards)",
            path=folder,
        ) from None
    if header["key"] != key:
        raise GraphFileError(
            f"holds the shards of another build ({header['key']}, not {key}); give each build a folder of its own "
            "(shards)",
            path=folder,
        )
    plain = header["basis"]
    arrays = {name: np.array(value) for name, value in plain["coordinates"].items()}
    sieve = {name: np.array(value) for name, value in plain["sieve"].items()}
    return WindowBasis(plain["coarse"], plain["fine"], Coordinates(**arrays), Sieve(**sieve))


def read_shard(folder: str, key: str, number: int) -> tuple[int, Library]:
    """The number of a shard's first clip, and its windows.

    Raises:
        GraphFileError: If it is missing, damaged, or of another build.
    """
    import fsspec
    import pyarrow as pa

    system, path = fsspec.core.url_to_fs(folder)
    try:
        with system.open(f"{path}/shard-{number:05d}.arrow", "rb") as file:
            table = pa.ipc.open_file(file).read_all()
    except (OSError, pa.ArrowInvalid) as error:
        raise GraphFileError(
            f"shard {number} is missing or damaged: {error}; the same command writes it anew", path=folder
        ) from None
    facts = {name.decode(): value.decode() for name, value in (table.schema.metadata or {}).items()}
    if facts.get("key") != key:
        raise GraphFileError(f"shard {number} is of another build", path=folder)
    rest = json.loads(facts["rest"])
    # Copied, for kernels are compiled for arrays that may be written to.
    arrays = {
        name: np.array(table.column(name).combine_chunks().flatten()).reshape(-1, *shape)
        for name, shape in rest["shapes"].items()
    }
    library = Library(
        **arrays,
        level=np.array(rest["level"]),
        origin=np.array(rest["origin"]).reshape(-1, 2),
        weights=np.array(rest["weights"]),
        boxes=(rest["boxes"][0], rest["boxes"][1]),
        bounds=np.array(rest["bounds"], np.int64).reshape(-1, 2),
    )
    return int(facts["first"]), library


def remove_shards(folder: str) -> None:
    """Remove shards, and their folder if nothing else is in it; one that is gone already is as good."""
    import fsspec

    with suppress(OSError):
        system, path = fsspec.core.url_to_fs(folder)
        for name in system.ls(path, detail=False):
            if _NAME.search(str(name)):
                system.rm_file(name)
        system.rmdir(path)


def discard_shards(output: Path) -> None:
    """Remove what a cluster that was killed left beside an output."""
    folder = Path(shards_folder(None, output))
    with suppress(OSError):
        for path in folder.iterdir():
            if _NAME.search(path.name):
                path.unlink()
        folder.rmdir()


def _write(file: Any, library: Library, facts: dict[str, str]) -> None:
    """Write one library as an Arrow file: a column for each of its arrays by frame, the others beside the schema."""
    import pyarrow as pa

    columns = []
    for name in BY_FRAME:
        array = getattr(library, name)
        columns.append(pa.FixedSizeListArray.from_arrays(pa.array(array.reshape(-1)), max(1, array[0].size)))
    rest: dict[str, Any] = {
        name: np.asarray(getattr(library, name)).tolist() for name in Library._fields if name not in BY_FRAME
    }
    rest["shapes"] = {name: getattr(library, name).shape[1:] for name in BY_FRAME}
    table = pa.table(columns, names=list(BY_FRAME)).replace_schema_metadata({**facts, "rest": json.dumps(rest)})
    with pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)


def _plain(basis: WindowBasis) -> dict[str, Any]:
    parts = {name: getattr(basis, name)._asdict() for name in ("coordinates", "sieve")}
    plain = {name: {key: value.tolist() for key, value in part.items()} for name, part in parts.items()}
    return {"coarse": basis.coarse, "fine": basis.fine, **plain}
