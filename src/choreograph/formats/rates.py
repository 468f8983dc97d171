"""Frame rates as text files give them: a rounded number of seconds that stands for a round number of frames."""

from __future__ import annotations


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
