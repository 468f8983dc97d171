"""How the kernels of searches are compiled."""

from __future__ import annotations

from numba import njit

compiled = njit(cache=True, nogil=True, error_model="numpy")
# In the hot loops nothing is allocated, and counting references to arrays would take half of the time or more (see
# github.com/numba/numba/issues/2345), so it is off there.
hot = njit(cache=True, nogil=True, error_model="numpy", _nrt=False)
# Tables are many arrays, and handing them to a function costs more than most of these functions do.
inlined = njit(cache=True, nogil=True, error_model="numpy", _nrt=False, forceinline=True)
