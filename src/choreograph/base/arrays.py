"""The types of arrays that the whole package names, and arrays that cannot be written to."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

Floats = NDArray[np.float64]
Floats32 = NDArray[np.float32]
Complexes = NDArray[np.complex128]
Ints = NDArray[np.int64]
Ints32 = NDArray[np.int32]
Indices = NDArray[np.intp]
Flags = NDArray[np.bool_]
Bytes = NDArray[np.uint8]


def frozen(values: ArrayLike, dtype: DTypeLike = np.float64) -> NDArray[Any]:
    """A read-only array of the values: a copy, unless they are already such an array."""
    if isinstance(values, np.ndarray) and values.dtype == dtype and _is_sealed(values):
        return values
    out = np.array(values, dtype=dtype, order="C")
    out.setflags(write=False)
    return out


def seal(values: NDArray[Any]) -> NDArray[Any]:
    """The array itself, made read-only: for arrays just made, which nobody else holds."""
    values = np.ascontiguousarray(values)
    values.setflags(write=False)
    return values


def _is_sealed(values: NDArray[Any]) -> bool:
    """Whether neither the array nor what it is a view of can be written to: bytes cannot, nor mapped files.

    What a compiled kernel returns is the only array of its memory.
    """
    base: Any = values
    while isinstance(base, np.ndarray):
        if base.flags.writeable:
            return False
        base = base.base
    if base is None or isinstance(base, bytes):
        return True
    return base.readonly if isinstance(base, memoryview) else type(base).__name__ == "_MemInfo"
