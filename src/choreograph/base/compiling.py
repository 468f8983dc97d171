"""How kernels are compiled: `njit` and `guvectorize` as numba has them, and the kinds that searches use."""

from __future__ import annotations

from typing import Any

from numba import guvectorize, njit
from numba.core.caching import IndexDataCacheFile
from numba.np import linalg

__all__ = ["compiled", "guvectorize", "hot", "inlined", "njit"]

# Before the first kernel is loaded, numba imports all of scipy.linalg to see whether there is a BLAS, a quarter of a
# second of CPU. There is: SciPy is installed with this package.
linalg.ensure_blas = lambda: None
_load_index = IndexDataCacheFile._load_index


def _load_known(cache: IndexDataCacheFile) -> dict[Any, str]:
    """Load what is compiled of a file; nothing where an earlier version compiled it for classes that are no more."""
    try:
        return dict(_load_index(cache))
    except (AttributeError, ImportError):
        return {}


IndexDataCacheFile._load_index = _load_known

compiled = njit(cache=True, nogil=True, error_model="numpy")
# In the hot loops nothing is allocated, and counting references to arrays would take half of the time or more (see
# github.com/numba/numba/issues/2345), so it is off there.
hot = njit(cache=True, nogil=True, error_model="numpy", _nrt=False)
# Tables are many arrays, and handing them to a function costs more than most of these functions do.
inlined = njit(cache=True, nogil=True, error_model="numpy", _nrt=False, forceinline=True)
