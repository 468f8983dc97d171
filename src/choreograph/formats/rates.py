"""Frame rates: as text files give them, rounded numbers of seconds, and as they are known where files say nothing."""

from __future__ import annotations

import re
from pathlib import Path

CMU_FPS = 120
"""Frames a second of most of the CMU database."""
SUBJECTS_AT_60_FPS = frozenset({33, 34, 42, 60, 61, 62, 74, 75, 77, 79, 80, 87, 88, 89})
"""Recorded at 60 frames a second, which no AMC file says. Of subject 90 only some trials are; its page tells which."""
SUBJECTS_IN_PART_AT_60_FPS = frozenset({90})
LAST_SUBJECT = 144  # of CMU's database
_TRIAL = re.compile(r"(\d{2,3})_(\d{2,3})\Z")


def cmu_subject(path: Path) -> int | None:
    """The subject of the CMU database that a file is named after; None for other names.

    >>> cmu_subject(Path("60_03.amc")), cmu_subject(Path("walk_03.amc"))
    (60, None)
    """
    match = _TRIAL.match(path.stem)
    return int(match[1]) if match and 0 < int(match[1]) <= LAST_SUBJECT else None


def assume_rate(path: Path, skeleton: Path) -> tuple[float, str]:
    """Frames a second of an AMC file that nobody has told the rate of, and a sentence if that is an assumption.

    Args:
        path: The file; CMU's are called SUBJECT_TRIAL, and most subjects are known to be at 120.
        skeleton: Its ASF file; CMU's are called after the subject.
    """
    silent = "AMC files say no frame rate"
    other = "give another (fps), or a trials.tsv beside the files"
    subject = cmu_subject(path)
    if subject is None or not skeleton.stem.isdecimal() or int(skeleton.stem) != subject:
        return float(CMU_FPS), f"{silent}: {CMU_FPS} a second are assumed; {other}"
    if subject in SUBJECTS_AT_60_FPS:
        return 60.0, f"{silent}: 60 a second are assumed, as CMU recorded subject {subject}; {other}"
    if subject in SUBJECTS_IN_PART_AT_60_FPS:
        text = f"{CMU_FPS} a second are assumed, but CMU recorded some of subject {subject} at 60"
        return float(CMU_FPS), f"{silent}: {text}; {other}"
    return float(CMU_FPS), ""


def doubt_rate(path: Path, fps: float) -> str:
    """A sentence where a file says a rate at which it was not recorded: conversions of CMU say 120 of every subject."""
    subject = cmu_subject(path)
    if subject in SUBJECTS_AT_60_FPS and abs(fps - CMU_FPS) < 1:
        return (
            f"it says {fps:.0f} frames a second, but CMU recorded subject {subject} at 60; if it is that, read it at "
            "that rate (fps)"
        )
    return ""


def snap_rate(frame_time: str) -> float:
    """Frames per second from a frame time as it is written.

    "0.0083333" stands for 120: where a whole rate (or a film rate, 1000/1001 of one) lies within the rounding of the
    digits given, it is taken; otherwise the inverse itself.
    """
    seconds = float(frame_time)
    mantissa, _, exponent = frame_time.lower().partition("e")
    digits = len(mantissa.partition(".")[2]) - int(exponent or 0)
    rounding = max(0.51 * 10.0**-digits, 1e-14 * seconds)
    rate = 1 / seconds
    film = rate * 1.001
    for candidate in (float(round(rate)), round(film) / 1.001):
        # A whole candidate must also be near: at one or two digits every rate would fit.
        if candidate > 0 and abs(1 / candidate - seconds) <= rounding and abs(candidate / rate - 1) < 1e-3:
            return candidate
    return rate
