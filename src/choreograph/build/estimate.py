"""What a build would take, from measured constants: for whoever has more hours of motion than patience."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass

from choreograph.graph.settings import GraphSettings

# Measured with `python -m benchmarks.archives FOLDER --growth 62500,125000,250000,500000,1000000`, one core of a Xeon
# with AVX-512, default settings: 4 to 371 s of CPU, 0.40 to 2.39 GiB (2.60 from clips of 120 Hz), 85 to 1,762 MB
# (4,950). Growth is a part of each frame and a part of each pair: minima grow with nearly the square. Reading and
# retargeting 191 files of CMU took 26 microseconds for each of their frames, of which a window at 30 Hz has four.
_LINEAR_S = 1.65e-4  # of CPU for each window
_SQUARE_S = 3.1e-10  # and for each pair of windows
_BASE_BYTES, _WINDOW_BYTES, _PAIR_BYTES = 2.8e8, 2.27e3, 2e-4  # of memory: in all, for each window, for each pair
_FILE_WINDOW_BYTES, _FILE_PAIR_BYTES = 1.3e3, 4.6e-4  # of the file: for each window, for each pair
_FRAME_BYTES = 1.02e3
"""Of each frame that recordings have between two of the graph's."""
_RECORDED_HZ = 120.0
"""As most recordings of people are."""


@dataclass(frozen=True)
class BuildEstimate:
    """What building so much would take, all windows in one process."""

    hours: float
    windows: int
    cpu_s: float
    memory_bytes: float
    file_bytes: float
    """With clips of the graph's rate."""
    recorded_bytes: float
    """With clips of 120 Hz."""

    def __str__(self) -> str:
        return (
            f"{self.hours:g} h of motion, {self.windows:,} windows: about {_time(self.cpu_s)} of CPU, "
            f"{self.memory_bytes / 2**30:.1f} GiB of memory (on a cluster about 1 for each worker), a file of "
            f"{_size(self.file_bytes)} from recordings at the graph's rate, {_size(self.recorded_bytes)} from those of "
            f"{_RECORDED_HZ:g} Hz"
        )


def _time(seconds: float) -> str:
    for unit, name in ((3600.0, "h"), (60.0, "min")):
        if seconds >= unit:
            return f"{seconds / unit:.2g} {name}" if seconds < 100 * unit else f"{seconds / unit:,.0f} {name}"
    return f"{max(1.0, seconds):.0f} s"


def _size(count: float) -> str:
    return f"{count / 1e9:,.1f} GB" if count >= 1e9 else f"{max(1.0, count / 1e6):.0f} MB"


def estimate_build(hours: float, settings: GraphSettings | None = None) -> BuildEstimate:
    """What building a graph of this many hours of motion would take.

    Constants were measured on archives of up to a million windows; other motion may take a few times more or less.

    >>> estimate_build(7.5).windows
    810000
    """
    settings = settings or GraphSettings()
    windows = round(hours * 3600 * settings.rate_hz * (2 if settings.mirror else 1))
    cpu_s = _LINEAR_S * windows + _SQUARE_S * windows**2
    file_bytes = _FILE_WINDOW_BYTES * windows + _FILE_PAIR_BYTES * windows**2
    between = max(0.0, _RECORDED_HZ / settings.rate_hz - 1) * windows
    return BuildEstimate(hours, windows, cpu_s, windows_bytes(windows), file_bytes, file_bytes + _FRAME_BYTES * between)


def windows_bytes(windows: int) -> float:
    """Memory that comparing so many windows takes in one process, bytes."""
    return _BASE_BYTES + _WINDOW_BYTES * windows + _PAIR_BYTES * windows**2


def machine_bytes() -> float:
    """Memory of this machine, bytes; endless where it does not say."""
    try:
        return float(os.sysconf("SC_PHYS_PAGES")) * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):  # not on every system
        return math.inf
