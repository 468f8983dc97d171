"""Comparing windows on more than one machine, by dask.distributed; what is found is the same to the last bit.

Windows go as shards, Arrow files, to a folder that all workers see; a task is some strips against all others. A worker
reads the shards once and works for as many tasks as it is given; tasks of a worker that is lost are given to others.
"""

from __future__ import annotations

import hashlib
import json
import logging
import platform
import re
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from choreograph._version import __version__
from choreograph.distance.blas import one_thread_each
from choreograph.distance.library import Library
from choreograph.distance.minima import Batch, Minima, gather_batches, make_limits, scan_strips
from choreograph.distance.prune import Limits, Pruner, pruned_strips
from choreograph.errors import GraphFileError, MissingExtra, RequestError
from choreograph.progress import Progress

_BY_FRAME = ("heights", "floor", "centroid", "centre", "energy", "moment", "lowered", "low", "plane", "size")
"""Arrays of a library with a row for each frame: these are cut into shards."""
_SHARD_FRAMES = 50_000
_SHARD_NAME = re.compile(r"(^|/)(shard-\d{5}\.arrow|windows\.json)\Z")
"""Files that `write_shards` writes; others are somebody else's."""
_TASK_STRIPS = 64  # as a worker's task: seconds of work in an archive
_AHEAD = 4  # tasks in hand for each worker
_RETRIES = 3


class ClusterComparison:
    """Finds minima as `iterate_minima` does, by the workers of a cluster."""

    def __init__(self, client: Any, folder: str) -> None:
        """Take a client of dask.distributed, and the folder, by path or address, that all workers see."""
        self._client, self._folder = client, folder.rstrip("/")

    def __call__(
        self,
        clips: Library,
        threshold: ArrayLike,
        *,
        classes: Sequence[int] | None = None,
        involving: Sequence[int] | None = None,
        start: int = 0,
        workers: int = 1,
        progress: Progress,
    ) -> Iterator[Batch]:
        """Batches of minima, by ascending clip; arguments are those of `iterate_minima`."""
        count = len(clips.bounds)
        limits = make_limits(threshold, classes, count)
        chosen = np.ones(count, bool) if involving is None else np.isin(np.arange(count), list(involving))
        question = json.dumps([limits.table.tolist(), limits.classes.tolist(), np.flatnonzero(chosen).tolist()])

        key = ""

        def submit(task: range) -> Any:
            return self._client.submit(
                compare_strips, self._folder, key, question, task.start, task.stop, retries=_RETRIES, pure=False
            )

        number = max(1, len(self._client.scheduler_info(n_workers=-1)["workers"]))
        try:
            key = write_shards(self._folder, clips, progress)
            with _lost_is_said():
                yield from gather_batches(
                    pruned_strips(clips),
                    chosen,
                    submit,
                    start=start,
                    at_once=_TASK_STRIPS,
                    ahead=_AHEAD * number,
                    progress=progress,
                )
        finally:
            remove_shards(self._folder)


@contextmanager
def open_cluster(address: str, folder: str) -> Iterator[ClusterComparison]:
    """A cluster to compare with: one that is there, by its scheduler's address, or `local:4`, four processes here.

    Args:
        address: Of the scheduler, such as tcp://10.0.0.5:8786, or `local:N`.
        folder: A path or address (of whatever fsspec knows) that all workers can read, for this build alone.

    Raises:
        MissingExtra: If dask.distributed or pyarrow is not installed.
        RequestError: If nobody answers there, if the scheduler or a worker has not this package, or if here or there
            files cannot be kept at such an address.
    """
    try:
        import fsspec  # noqa: F401
        import pyarrow  # noqa: F401

        distributed: Any = import_module("distributed")
    except ImportError:
        raise MissingExtra("building on a cluster", "cluster") from None
    if (why := _unreachable(folder)) is not None:
        raise RequestError(f"windows cannot be kept at {folder}: {why}; choose another folder (shards)")
    kind, _, number = address.partition(":")
    own = None
    if kind == "local":
        if not number.isdecimal() or not 1 <= int(number) <= 256:
            raise RequestError(f"a local cluster is asked for as local:4, from 1 to 256 processes; found {address!r}")
        own = distributed.LocalCluster(
            n_workers=int(number),
            threads_per_worker=1,
            processes=True,
            dashboard_address=None,
            # On a free port: on the usual one there may be another cluster.
            scheduler_kwargs={"dashboard": False, "dashboard_address": ":0"},
            silence_logs=50,
        )
    # What they log when a scheduler is lost are tracebacks; what we raise is a sentence.
    loggers = [logging.getLogger(name) for name in ("distributed", "distributed.client")]
    levels = [logger.level for logger in loggers]
    try:
        try:
            for logger in loggers:
                logger.setLevel(logging.CRITICAL + 1)
            client = distributed.Client(own or address, timeout=10)
        except (OSError, ValueError, TimeoutError) as error:
            raise RequestError(
                f"no cluster answers at {address}: {error}. Give the address that `dask scheduler` prints, or local:4"
            ) from None
        try:
            _check_workers(client, address, folder)
            yield ClusterComparison(client, folder)
        finally:
            client.close()
    finally:
        if own is not None:
            own.close()
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


def shards_folder(shared: str | None, output: Path) -> str:
    """Where the shards of one output go: beside it, or into a folder of its own in one that all workers see."""
    if shared is None:
        return f"{output.absolute()}.shards"
    known = f"{platform.node()}:{output.absolute()}"
    name = f"{output.name}-{zlib.crc32(known.encode()):08x}.shards"
    return f"{shared.rstrip('/')}/{name}" if "://" in shared else str(Path(shared).absolute() / name)


def _scheduler_version() -> str:
    from choreograph._version import __version__ as version

    return version


def _worker_version() -> str:
    try:
        import pyarrow  # noqa: F401

        from choreograph._version import __version__ as version

        return version
    except ImportError as error:
        return f"! {error}"


def _unreachable(folder: str) -> str | None:
    """Why this process has no means to keep files at such an address; None where it has. Nothing is read or written."""
    import fsspec

    try:
        fsspec.core.url_to_fs(folder)
    except (ImportError, ValueError) as error:  # of what it needs, and of what it knows
        return str(error)
    return None


def _check_workers(client: Any, address: str, folder: str) -> None:
    """Raise unless the scheduler and all workers, of which there are some, have this package, in this version.

    That is before anything is computed. The scheduler needs it too: it unpacks tasks to pass them on.
    """
    try:
        _check_version(f"the scheduler at {address}", client.run_on_scheduler(_scheduler_version))
    except ImportError as error:
        _check_version(f"the scheduler at {address}", error)
    try:
        client.wait_for_workers(1, timeout=30)
    except TimeoutError:
        raise RequestError(
            f"the cluster at {address} has no workers; start some with `dask worker {address}`"
        ) from None
    for worker, found in client.run(_worker_version, on_error="return").items():
        _check_version(f"the worker {worker}", found)
    for worker, why in client.run(_unreachable, folder).items():
        if why is not None:
            raise RequestError(f"the worker {worker} cannot read what is kept at {folder}: {why}")


def _check_version(who: str, found: str | BaseException) -> None:
    if isinstance(found, BaseException) or found.startswith("!"):
        raise RequestError(
            f"{who} cannot compare: {str(found).removeprefix('! ')}. Install it there with "
            "pip install 'choreograph[cluster]'"
        )
    if found != __version__:
        raise RequestError(f"{who} has choreograph {found}, not {__version__}; install the same there")


@contextmanager
def _lost_is_said() -> Iterator[None]:
    """Turn what a cluster that goes away raises into one sentence; what was compared so far is kept."""
    from concurrent.futures import CancelledError

    from distributed import KilledWorker
    from distributed.comm import CommClosedError

    try:
        yield
    except ImportError as error:
        _check_version("a worker that came later", error)
    except KilledWorker as error:
        raise RequestError(
            f"workers died again and again at the same task ({error}); they may be short of memory: each holds all "
            "windows. The same command goes on from what was compared"
        ) from None
    except (CommClosedError, CancelledError, OSError, TimeoutError) as error:
        raise RequestError(
            f"the cluster went away ({type(error).__name__}: {error}); the same command, with a cluster or without, "
            "goes on from what was compared"
        ) from None


# ---------------------------------------------------------------------------------------------- shards


def write_shards(folder: str, library: Library, progress: Progress) -> str:
    """Write a library's windows as Arrow files, and return what they are told by.

    Raises:
        GraphFileError: If the folder cannot be written to, or is full.
    """
    import fsspec
    import pyarrow as pa

    frames = len(library.energy)
    starts = list(range(0, frames, _SHARD_FRAMES))
    rest = {name: getattr(library, name) for name in Library._fields if name not in _BY_FRAME}
    # Workers outlive builds, and keep what they have read under this key. All else of a library follows from these.
    state = hashlib.blake2b(digest_size=16)
    for value in (library.heights, library.floor, library.centroid, *rest.values()):
        state.update(np.ascontiguousarray(value).data)
    key = f"{__version__}-{frames}-{state.hexdigest()}"
    header = {
        "key": key,
        "shards": len(starts),
        "frames": frames,
        "rest": {name: np.asarray(value).tolist() for name, value in rest.items()},
        "shapes": {name: list(getattr(library, name).shape[1:]) for name in _BY_FRAME},
        "dtypes": {name: getattr(library, name).dtype.name for name in _BY_FRAME},
    }
    try:
        system, path = fsspec.core.url_to_fs(folder)
        system.makedirs(path, exist_ok=True)
        for number, start in enumerate(starts):
            progress("writing shards", number, len(starts))
            columns = []
            for name in _BY_FRAME:
                part = getattr(library, name)[start : start + _SHARD_FRAMES]
                flat = pa.array(part.reshape(-1))
                columns.append(pa.FixedSizeListArray.from_arrays(flat, max(1, part[0].size)))
            table = pa.table(columns, names=list(_BY_FRAME)).replace_schema_metadata({"key": key, "shard": str(number)})
            with (
                system.open(f"{path}/shard-{number:05d}.arrow", "wb") as file,
                pa.ipc.new_file(file, table.schema) as writer,
            ):
                writer.write_table(table)
        with system.open(f"{path}/windows.json", "wb") as file:
            file.write(json.dumps(header).encode())
    except OSError as error:
        raise GraphFileError(
            f"shards cannot be written: {error.strerror or error}; make room, or choose another folder (shards)",
            path=folder,
        ) from error
    return key


def read_shards(folder: str, key: str) -> Library:
    """The library that was written there.

    Raises:
        GraphFileError: If a shard is missing, damaged, or of another build.
    """
    import fsspec
    import pyarrow as pa

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
    arrays: dict[str, Any] = {
        name: np.empty((header["frames"], *header["shapes"][name]), header["dtypes"][name]) for name in _BY_FRAME
    }
    for number in range(header["shards"]):
        try:
            with system.open(f"{path}/shard-{number:05d}.arrow", "rb") as file:
                table = pa.ipc.open_file(file).read_all()
        except (OSError, pa.ArrowInvalid) as error:
            raise GraphFileError(
                f"shard {number} is missing or damaged: {error}; the same command writes it anew", path=folder
            ) from None
        if (table.schema.metadata or {}).get(b"key") != key.encode():
            raise GraphFileError(f"shard {number} is of another build", path=folder)
        start = number * _SHARD_FRAMES
        for name in _BY_FRAME:
            flat = table.column(name).combine_chunks().flatten().to_numpy()
            arrays[name][start : start + table.num_rows] = flat.reshape(-1, *header["shapes"][name])
    rest = header["rest"]
    return Library(
        **arrays,
        level=np.array(rest["level"]),
        origin=np.array(rest["origin"]).reshape(-1, 2),
        weights=np.array(rest["weights"]),
        boxes=(rest["boxes"][0], rest["boxes"][1]),
        bounds=np.array(rest["bounds"], np.int64),
    )


def remove_shards(folder: str) -> None:
    """Remove shards, and their folder if nothing else is in it; one that is gone already is as good."""
    import fsspec

    with suppress(OSError):
        system, path = fsspec.core.url_to_fs(folder)
        for name in system.ls(path, detail=False):
            if _SHARD_NAME.search(str(name)):
                system.rm_file(name)
        system.rmdir(path)


# ---------------------------------------------------------------------------------------------- on a worker


@lru_cache(maxsize=1)
def _loaded(folder: str, key: str, question: str) -> tuple[Library, Pruner, Limits, NDArray[np.bool_]]:
    if (wanted := key.partition("-")[0]) != __version__:
        raise RequestError(
            f"a worker that came later has choreograph {__version__}, not {wanted}; install the same there"
        )
    library = read_shards(folder, key)
    table, classes, which = json.loads(question)
    limits = Limits(np.array(table), np.array(classes, np.int64))
    chosen = np.isin(np.arange(len(classes)), which)
    with one_thread_each():
        return library, Pruner(library, limits), limits, chosen


def compare_strips(folder: str, key: str, question: str, start: int, stop: int) -> tuple[Minima, int]:
    """Minima of some strips against all others, and how many window pairs were computed: a worker's task."""
    library, pruner, limits, chosen = _loaded(folder, key, question)
    with one_thread_each():
        return scan_strips(library, pruner.strips, pruner, limits, chosen, range(start, stop))
