"""How the kernels of searches are compiled."""

from __future__ import annotations

from numba import njit
from numba.np import linalg

# Before the first kernel is loaded, numba imports all of scipy.linalg to see whether there is a BLAS, a quarter of a
# second of CPU. There is: SciPy is installed with this package.
linalg.ensure_blas = lambda: None

compiled = njit(cache=True, nogil=True, error_model="numpy")
# In the hot loops nothing is allocated, and counting references to arrays would take half of the time or more (see
# github.com/numba/numba/issues/2345), so it is off there.
hot = njit(cache=True, nogil=True, error_model="numpy", _nrt=False)
# Tables are many arrays, and handing them to a function costs more than most of these functions do.
inlined = njit(cache=True, nogil=True, error_model="numpy", _nrt=False, forceinline=True)
