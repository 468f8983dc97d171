"""How far off a finished motion may be before what was asked counts as missed: one table for all verbs."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple


class Tolerance(NamedTuple):
    """A miss counts beyond `most`, or beyond a share of the value asked for where that is more."""

    most: float
    unit: str
    share: float = 0.0

    def limit(self, wanted: float = 0.0) -> float:
        """The largest miss that does not count.

        >>> TOLERANCE["velocity"].limit(3.0)
        0.30000000000000004

        Args:
            wanted: Size of the value asked for, in the tolerance's unit.
        """
        return max(self.most, self.share * abs(wanted))


TOLERANCE: Mapping[str, Tolerance] = MappingProxyType(
    {
        "place": Tolerance(0.05, "m"),
        "position": Tolerance(0.05, "m"),
        "facing": Tolerance(5.0, "°"),
        "pose": Tolerance(5.0, "°"),
        "velocity": Tolerance(0.1, "m/s", 0.1),
        "turn": Tolerance(5.0, "°"),
        "angle": Tolerance(5.0, "°"),
        "distance": Tolerance(0.05, "m"),
        "offset": Tolerance(0.05, "m"),
        "view": Tolerance(0.05, "of the picture's height"),
        "contact": Tolerance(0.05, "m"),
        "landmark": Tolerance(1.0, "mm"),
        "label": Tolerance(0.1, "of the time"),
        "speed": Tolerance(0.0, "m/s", 0.1),
        "turn_rate": Tolerance(0.0, "°/s", 0.1),
        "pause": Tolerance(0.0, "s", 0.1),
        "path_mean": Tolerance(0.05, "m"),
        "path_worst": Tolerance(0.2, "m"),
    }
)
"""By kind of target (see `choreograph.goals.kinds`), and of paths the mean and the largest error. Choices, not facts: a
goal can set its own `tolerance_m` or `tolerance_deg`."""
