"""Threads: workers that nobody waits for in vain, and matrix products kept to one thread per worker.

On small tiles, a BLAS's own threads cost more than they give.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext


def one_thread_each() -> AbstractContextManager[object]:
    """While it lasts, each matrix product runs on the thread that asks for it (if threadpoolctl is installed)."""
    try:
        from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]
    except ImportError:
        return nullcontext()
    # Compiled code multiplies with SciPy's BLAS: it has to be loaded before it can be told.
    import scipy.linalg.cython_blas  # noqa: F401

    limits: AbstractContextManager[object] = threadpool_limits(1, user_api="blas")
    return limits


@contextmanager
def threads(count: int) -> Iterator[ThreadPoolExecutor]:
    """So many threads; where the work is given up, nobody waits for what they have begun: it ends by itself."""
    pool = ThreadPoolExecutor(count)
    try:
        yield pool
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        raise
    pool.shutdown()
