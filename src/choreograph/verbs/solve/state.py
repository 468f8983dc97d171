"""Whether what was kept of a search can be one: the kernels trust its numbers, so nothing else may reach them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from choreograph.base.errors import SearchStateError

DAMAGE = (ValueError, KeyError, TypeError, IndexError, AttributeError, OverflowError)
"""What reading a state raises where something other is written than was kept."""


def damaged() -> SearchStateError:
    """What is said of such a state."""
    return SearchStateError("the saved search is damaged; begin a new one")


def is_sound(state: Mapping[str, Any]) -> bool:
    """Whether a state's numbers, but for its paths, are such as a search keeps; may raise one of `DAMAGE`."""
    numbers = [state[name] for name in ("seed", "chance", "evaluations", "tried")]
    numbers.append(state.get("warmed", 0))
    if not all(type(number) is int and number >= 0 for number in numbers) or not 0 < state["chance"] < 2**64:
        return False
    if state.get("current") is None:
        return True
    pieces = len(state["current"]["starts"])
    kind, first, last = np.array(state["batches"], np.int64).reshape(-1, 3).T
    stretches = (kind == 0) & (first >= -1) & (last >= np.maximum(first, 0)) & (first < pieces) & (last <= pieces)
    cuts = (kind == 1) & (first >= 0) & (last >= first) & (last < pieces - 1)
    # Where there are none they are listed anew, and how many of the last were tried does not matter.
    return bool((stretches | cuts).all()) and (state["tried"] <= len(kind) or not len(kind))
