"""How the kernels of a search are compiled."""

from __future__ import annotations

from numba import njit

# Nothing is allocated in them, and counting references to arrays would take most of the time (see
# github.com/numba/numba/issues/2345), so it is off.
hot = njit(cache=True, nogil=True, error_model="numpy", _nrt=False)
# Tables are many arrays, and handing them to a function costs more than most of these functions do.
inlined = njit(cache=True, nogil=True, error_model="numpy", _nrt=False, forceinline=True)
