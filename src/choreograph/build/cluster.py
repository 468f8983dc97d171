"""Comparing windows on more than one machine, by dask.distributed; what is found is the same to the last bit.

Windows go as shards to a folder that all workers see; a task is two of them, and a worker holds no others. Tasks of a
worker that is lost are given to others.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from choreograph._version import __version__
from choreograph.base.errors import MissingExtra, RequestError
from choreograph.base.progress import Progress
from choreograph.build.comparison import Windows
from choreograph.build.shards import read_basis, read_shard, remove_shards, write_shards
from choreograph.distance.blas import one_thread_each
from choreograph.distance.minima import MinimaBatch, WindowMinima, gather_batches, make_limits
from choreograph.distance.prune import PruneLimits
from choreograph.distance.shards import Question, Shard, compare_shards, cut_shards, measure_shard, pair_up

_SHARD_FRAMES = 100_000
"""Frames of a shard: about 150 MB of windows and what is measured of them, and seconds of work with another."""
_LEAST_FRAMES = 2_000  # of a shard: below, handing it out takes longer than comparing it
_AHEAD = 4  # tasks in hand for each worker
_RETRIES = 3  # of a pair of shards whose worker was lost


class ClusterComparison:
    """Finds minima as `iterate_minima` does, by the workers of a cluster."""

    def __init__(self, client: Any, folder: str) -> None:
        """Take a client of dask.distributed, and the folder, by path or address, that all workers see."""
        self._client, self._folder = client, folder.rstrip("/")

    def __call__(
        self,
        windows: Windows,
        threshold: ArrayLike,
        *,
        classes: Sequence[int] | None = None,
        involving: Sequence[int] | None = None,
        start: int = 0,
        workers: int = 1,
        progress: Progress,
    ) -> Iterator[MinimaBatch]:
        """Batches of minima, by ascending clip; arguments are those of `iterate_minima`."""
        count = len(windows.frames)
        limits = make_limits(threshold, classes, count)
        chosen = np.ones(count, bool) if involving is None else np.isin(np.arange(count), list(involving))
        number = max(1, len(self._client.scheduler_info(n_workers=-1)["workers"]))
        # Enough pairs of shards for everybody to have some, also where there is little to compare.
        most = max(_LEAST_FRAMES, min(_SHARD_FRAMES, sum(windows.frames) // math.isqrt(8 * number)))
        shards = cut_shards(windows.frames, most)
        batches = pair_up(shards, windows.counts, chosen, start)
        key = ""

        def submit(pair: tuple[int, int]) -> Any:
            clips = np.concatenate([shards[number] for number in sorted(set(pair))])
            own = PruneLimits(limits.table, limits.classes[clips])
            question = Question(own, chosen[clips], max(0, start - shards[pair[0]].start))
            return self._client.submit(compare_pair, self._folder, key, pair, question, retries=_RETRIES, pure=False)

        try:
            key = write_shards(self._folder, windows, windows.frames, shards)
            with _lost_is_said():
                yield from gather_batches(batches, submit, ahead=_AHEAD * number, progress=progress)
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
        # Its pages for this machine alone, at whatever port is free: two builds may run side by side.
        own = distributed.LocalCluster(
            n_workers=int(number),
            threads_per_worker=1,
            processes=True,
            dashboard_address="127.0.0.1:0",
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
    for worker, version in client.run(_worker_version, on_error="return").items():
        _check_version(f"the worker {worker}", version)
    for worker, why in client.run(_unreachable, folder).items():
        if why is not None:
            raise RequestError(f"the worker {worker} cannot read what is kept at {folder}: {why}")


def _check_version(who: str, version: str | BaseException) -> None:
    if isinstance(version, BaseException) or version.startswith("!"):
        raise RequestError(
            f"{who} cannot compare: {str(version).removeprefix('! ')}. Install it there with "
            "pip install 'choreograph[cluster]'"
        )
    if version != __version__:
        raise RequestError(f"{who} has choreograph {version}, not {__version__}; install the same there")


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
            f"workers died again and again at the same task ({error}); they may be short of memory: each needs about "
            "1 GB. The same command goes on from what was compared"
        ) from None
    except (CommClosedError, CancelledError, OSError, TimeoutError) as error:
        raise RequestError(
            f"the cluster went away ({type(error).__name__}: {error}); the same command, with a cluster or without, "
            "goes on from what was compared"
        ) from None


# ---------------------------------------------------------------------------------------------- on a worker


_basis = lru_cache(maxsize=1)(read_basis)


# Tasks of one shard with others come one after another: it stays, and others come and go.
@lru_cache(maxsize=2)
def _measured(folder: str, key: str, number: int) -> Shard:
    basis = _basis(folder, key)  # first, for it says where nobody else sees the folder
    return measure_shard(*read_shard(folder, key, number), basis)


def compare_pair(folder: str, key: str, pair: tuple[int, int], question: Question) -> tuple[WindowMinima, int]:
    """Minima between two shards, and how many window pairs were computed: a worker's task."""
    if (wanted := key.partition("-")[0]) != __version__:
        raise RequestError(
            f"a worker that came later has choreograph {__version__}, not {wanted}; install the same there"
        )
    with one_thread_each():
        rows, columns = (_measured(folder, key, number) for number in pair)
        return compare_shards(rows, columns, question)
