"""What a build would take, from measured constants: for whoever has more hours of motion than patience."""

from __future__ import annotations

from dataclasses import dataclass

from choreograph.graph.settings import GraphSettings

# Measured with `python -m benchmarks.archives FOLDER --growth 250000,1000000`, one core of a Xeon with AVX-512, default
# settings: 35 and 371 s of CPU, 0.77 and 2.39 GiB (2.60 from clips of 120 Hz), 355 and 1,762 MB. Growth is a part of
# each frame and a part of each pair. Reading and retargeting 191 files of CMU took 26 microseconds for each of their
# frames, of which a window at 30 Hz has four.
_LINEAR_S = 1.65e-4
_SQUARE_S = 3.1e-10
_BASE_BYTES, _WINDOW_BYTES = 2.5e8, 2.5e3
_FILE_BYTES = 1.76e3


@dataclass(frozen=True)
class Estimate:
    """What building so much would take on one machine."""

    hours: float
    windows: int
    cpu_s: float
    memory_bytes: float
    file_bytes: float
    """With clips at the graph's rate; those of a higher rate take as many times more."""

    def __str__(self) -> str:
        return (
            f"{self.hours:g} h of motion, {self.windows:,} windows: about {self.cpu_s / 3600:.2g} h of CPU, "
            f"{self.memory_bytes / 2**30:.1f} GiB of memory on each machine, a file of {self.file_bytes / 1e9:.1f} GB "
            "or more"
        )


def estimate_build(hours: float, settings: GraphSettings | None = None) -> Estimate:
    """What building a graph of this many hours of motion would take.

    Constants were measured on archives of up to a million windows; other motion may take a few times more or less.

    >>> estimate_build(7.5).windows
    810000
    """
    settings = settings or GraphSettings()
    windows = round(hours * 3600 * settings.rate_hz * (2 if settings.mirror else 1))
    cpu_s = _LINEAR_S * windows + _SQUARE_S * windows**2
    return Estimate(hours, windows, cpu_s, _BASE_BYTES + _WINDOW_BYTES * windows, _FILE_BYTES * windows)
