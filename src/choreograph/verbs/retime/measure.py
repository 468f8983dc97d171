"""What a retiming did: gravity in flight, distributions of joints' speeds and accelerations, how far a warp is off."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from choreograph.base.arrays import Floats
from choreograph.motion.clip import Clip
from choreograph.motion.contacts import detect_contacts, runs
from choreograph.verbs.retime.curve import TimeWarp

_FLIGHT_S = 0.15
"""Shorter moments without a foot on the floor are steps of a run."""
_EDGE = 0.1
"""Share of a flight at either end that is left out of its fit: toes still push off, or touch the floor."""
_FALLING = (5.0, 15.0)
"""m/s² downwards between which a flight's fit lies, whatever the arms do."""


@dataclass(frozen=True)
class Flight:
    """A stretch in which no foot stands."""

    start: float
    """First frame of the motion, not whole where a warp moved it."""
    stop: float
    gravity: float
    """m/s², upwards, of the quadratic that fits the joints' mean height best: -9.8 if nothing holds them."""


def find_flights(clip: Clip) -> list[Flight]:
    """The jumps of a motion: no foot stands, and the body falls as bodies do."""
    contacts = detect_contacts(clip) if clip.contacts is None else clip.contacts
    flights = []
    for start, stop in runs(np.asarray(~contacts.any(axis=1))):
        if stop - start < _FLIGHT_S * clip.fps or start == 0 or stop == len(clip):
            continue
        gravity = fit_gravity(clip, start, stop)
        if _FALLING[0] < -gravity < _FALLING[1]:
            flights.append(Flight(start, stop, gravity))
    return flights


def fit_gravity(clip: Clip, start: float, stop: float) -> float:
    """Acceleration upwards, m/s², of the joints' mean height over a flight's frames, which need not be whole.

    A tenth at either end is left out. NaN where fewer than four frames are left.
    """
    edge = _EDGE * (stop - start)
    at = np.arange(max(0, int(np.ceil(start + edge))), min(len(clip), int(np.floor(stop - edge)) + 1))
    if len(at) < 4:
        return float("nan")
    height = clip.global_positions()[at, :, 1].mean(axis=1)
    return float(2 * np.polyfit((at - at[0]) / clip.fps, height, 2)[0])


def gravity_kept(clip: Clip, result: Clip, warp: TimeWarp) -> list[tuple[float, float]]:
    """For each jump of a motion its gravity as recorded and after retiming, m/s²; NaN where it is too short."""
    pairs = []
    for flight in find_flights(clip):
        start, stop = warp.seconds_at([flight.start, flight.stop]) * result.fps
        pairs.append((flight.gravity, fit_gravity(result, float(start), float(stop))))
    return pairs


def joint_speeds(clip: Clip, span_s: float = 1 / 30) -> tuple[Floats, Floats]:
    """Speeds (m/s) and accelerations (m/s²) of all joints, (F, J) each, from differences over `span_s` on either side.

    Clips of any rate can be compared, since the span is in seconds.
    """
    from scipy.interpolate import CubicSpline

    times = np.arange(len(clip)) / clip.fps
    if times[-1] <= 2 * span_s:
        raise ValueError(f"{clip.name!r} is too short to have accelerations over {span_s:.3f} s")
    at = times[(times >= span_s - 1e-9) & (times <= times[-1] - span_s + 1e-9)]
    curve = CubicSpline(times, clip.global_positions())
    before, here, after = (curve(np.clip(at + s, 0, times[-1])) for s in (-span_s, 0.0, span_s))
    speed = np.linalg.norm(after - before, axis=2) / (2 * span_s)
    return speed, np.linalg.norm(after - 2 * here + before, axis=2) / span_s**2


def distribution_distance(values: Floats, reference: Floats) -> float:
    """How far apart two distributions are, joint by joint: mean Wasserstein-1 distance over the reference's mean.

    Args:
        values: Of one motion, (F, J).
        reference: Of the other, (G, J).
    """
    shares = (np.arange(512) + 0.5) / 512
    apart = np.abs(np.quantile(values, shares, axis=0) - np.quantile(reference, shares, axis=0)).mean(axis=0)
    return float(apart.mean() / max(float(reference.mean()), 1e-9))


@dataclass(frozen=True)
class TimingDistance:
    """How differently two motions move, whatever their poses: 0 for the same distributions."""

    speed: float
    acceleration: float


def timing_distance(clip: Clip, reference: Clip, span_s: float = 1 / 30) -> TimingDistance:
    """The distance of a motion's joint speeds and accelerations from a reference's."""
    one, two = joint_speeds(clip, span_s), joint_speeds(reference, span_s)
    return TimingDistance(distribution_distance(one[0], two[0]), distribution_distance(one[1], two[1]))


def warp_error(warp: TimeWarp, true_frames: Floats, seconds: Floats) -> float:
    """Mean difference, seconds of the motion, between the frames a warp shows and those it should show.

    Args:
        warp: The warp.
        true_frames: Frames that should be shown, (T,).
        seconds: When, (T,).
    """
    return float(np.abs(warp.frames_at(seconds) - true_frames).mean() / warp.fps)
