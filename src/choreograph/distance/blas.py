"""Matrix products kept to one thread per worker: on small tiles, a BLAS's own threads cost more than they give."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext


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
