"""Where the recordings are that benchmarks run on, and what machine they run on."""

from __future__ import annotations

import os
import platform
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import choreograph

RECORDINGS = "CHOREOGRAPH_DATA"


def find_recordings() -> Path:
    """The folder of recordings named by the environment; ends the benchmark with a sentence where there is none."""
    folder = Path(os.environ.get(RECORDINGS, ""))
    if not os.environ.get(RECORDINGS) or not (folder / "cmu").is_dir():
        sys.exit(f"needs recordings: set {RECORDINGS} to a folder with cmu/ and cmu_bvh/ in it")
    return folder


def describe_machine() -> str:
    """Processor, cores, Python and the versions that matter, on one line."""
    names = ("numpy", "scipy", "numba")
    try:
        with Path("/proc/cpuinfo").open(encoding="utf-8") as lines:
            processor = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "")
    except OSError:
        processor = ""
    parts = [f"{processor or platform.machine()}, {os.cpu_count()} cores", f"Python {platform.python_version()}"]
    for name in names:
        try:
            parts.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            parts.append(f"no {name}")
    return ", ".join([*parts, f"choreograph {choreograph.__version__}"])
