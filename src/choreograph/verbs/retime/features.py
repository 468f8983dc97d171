"""How a moment moves, as numbers: velocity and acceleration of the joints in the floor frame of its pose.

The references' features are fixed; those of the motion to retime depend on which frames are put before and after a
frame, or on how long it stays. Costs are mean distances to the nearest references, for all pairs of steps at once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from choreograph.base.arrays import Floats, Floats32, Ints
from choreograph.motion.clip import Clip

_BLOCK = 16
"""References that the kernel compares at once."""
_CHUNK = 1 << 19
"""Products with the references that are held at once, so that they stay in the processor's cache."""
_HUGE = np.float32(1e30)  # distance of the references that fill up the last block


@dataclass(frozen=True, eq=False)
class FeatureTrack:
    """Joint positions at an even rate, and the direction faced."""

    points: Floats
    """(N, J, 3), metres."""
    facing: Floats
    """Yaw, unwrapped, (N,), radians."""
    rate_hz: float

    def __len__(self) -> int:
        """Number of samples."""
        return len(self.points)


def sample_track(clip: Clip, rate_hz: float) -> FeatureTrack:
    """The clip's joints at another rate, from the first frame on, by cubic splines: accelerations stay smooth."""
    points, facing = np.asarray(clip.global_positions()), np.unwrap(clip.facing())
    if rate_hz == clip.fps or len(clip) < 4:
        return FeatureTrack(points, facing, clip.fps)
    from scipy.interpolate import CubicSpline

    frames = np.arange(len(clip))
    count = int(np.floor((len(clip) - 1) * rate_hz / clip.fps + 1e-6)) + 1
    at = np.minimum(np.arange(count) * (clip.fps / rate_hz), len(clip) - 1)
    return FeatureTrack(CubicSpline(frames, points)(at), np.interp(at, frames, facing), rate_hz)


def turn_into_floor_frame(vectors: Floats, facing: Floats) -> Floats:
    """Vectors (N, ..., 3) seen by somebody who faces the yaw of each row, (N,), radians."""
    shape = (-1, *(1,) * (vectors.ndim - 2))
    cosine, sine = np.cos(facing).reshape(shape), np.sin(facing).reshape(shape)
    out = np.empty_like(vectors)
    x, z = vectors[..., 0], vectors[..., 2]
    out[..., 0], out[..., 1], out[..., 2] = x * cosine - z * sine, vectors[..., 1], x * sine + z * cosine
    return out


def find_ways(track: FeatureTrack, at: Ints, steps: Ints) -> Floats:
    """How far all joints go from some samples to those some steps later, in their floor frame, (N, S, 3 J), metres.

    Beyond the ends the last sample stands for what is not there; no path uses such ways.
    """
    to = np.clip(at[:, None] + steps[None], 0, len(track) - 1)
    ways = track.points[to] - track.points[at][:, None]
    return turn_into_floor_frame(ways, track.facing[at]).reshape(len(at), len(steps), -1)


def find_poses(track: FeatureTrack, at: Ints) -> Floats:
    """Joint positions against the joints' mean over the floor, in the floor frame, (N, 3 J), metres."""
    points = track.points[at]
    middle = points.mean(axis=1, keepdims=True) * (1.0, 0.0, 1.0)
    return turn_into_floor_frame(points - middle, track.facing[at]).reshape(len(at), -1)


@dataclass(frozen=True, eq=False)
class ReferenceFeatures:
    """Velocities and accelerations of the references, each over one scale, in a basis that keeps 99.9 % of them."""

    velocity: Floats
    """(R, D), over `velocity_scale`."""
    acceleration: Floats
    """(R, D), over `acceleration_scale`."""
    squared: Floats
    """Squared length of each reference's whole feature, the part outside the basis too, (R,)."""
    basis: Floats
    """Directions of joint space, (3 J, D), orthonormal."""
    velocity_scale: float
    """m/s, of all joints together: root mean square."""
    acceleration_scale: float
    """m/s², of all joints together."""


def reference_features(
    tracks: list[FeatureTrack], step: int, *, stride: int = 1, share: float = 0.999
) -> ReferenceFeatures:
    """The features of references.

    Args:
        tracks: Joints of each reference, all at one rate; those shorter than two steps are left out.
        step: Samples between a moment and the ones before and after it.
        stride: Samples between moments.
        share: Of the variance that the basis keeps; what is outside counts by its length.
    """
    velocity, acceleration = [], []
    for track in tracks:
        ways = find_ways(track, np.arange(step, len(track) - step, stride), np.array([-step, step]))
        seconds = step / track.rate_hz
        velocity.append((ways[:, 1] - ways[:, 0]) / (2 * seconds))
        acceleration.append((ways[:, 1] + ways[:, 0]) / seconds**2)
    v, a = np.concatenate(velocity), np.concatenate(acceleration)
    v_scale, a_scale = (max(float(np.sqrt((x**2).sum(axis=1).mean())), 1e-9) for x in (v, a))
    # In a mixed order the nearest are met early, and few others have to be looked at closely.
    order = np.random.default_rng(0).permutation(len(v))
    v, a = v[order] / v_scale, a[order] / a_scale
    basis = _principal(np.concatenate([v, a]), share)
    squared = (v**2).sum(axis=1) + (a**2).sum(axis=1)
    return ReferenceFeatures(v @ basis, a @ basis, squared, basis, v_scale, a_scale)


def _principal(values: Floats, share: float) -> Floats:
    """The fewest directions, (D, d), that hold this share of the values' squares, (N, D)."""
    power, directions = np.linalg.eigh(values.T @ values)
    held = np.cumsum(power[::-1]) / max(float(power.sum()), 1e-30)
    return np.ascontiguousarray(directions[:, ::-1][:, : int(np.searchsorted(held, share)) + 1])


# ------------------------------------------------------------------ costs


def step_costs(
    track: FeatureTrack, references: ReferenceFeatures, steps: Ints, output_s: float, *, neighbours: int = 5
) -> Floats32:
    """What it costs to show samples j - a, j, j + b one after another, `output_s` apart, (N, b, a).

    Args:
        track: The motion, at the fine rate in which steps are counted.
        references: What its timing is compared with.
        steps: Lengths of the steps that a and b may have, (S,).
        output_s: Seconds between frames of the result.
        neighbours: How many of the nearest references are averaged.
    """
    from choreograph.verbs.retime import _compiled

    v, a = 1 / (2 * output_s * references.velocity_scale), 1 / (output_s**2 * references.acceleration_scale)
    # f = [v (D+ - D-), a (D+ + D-)], so z.f = D+ . (v zv + a za) + D- . (a za - v zv).
    after = _padded(2 * (a * references.acceleration + v * references.velocity)).T
    before = _padded(2 * (a * references.acceleration - v * references.velocity)).T
    rest, count = _squared(references), len(steps)
    out = np.empty((len(track), count, count), np.float32)
    nearest = min(neighbours, len(references.squared))
    size = max(1, _CHUNK // (count * before.shape[1]))
    for start in range(0, len(track), size):
        rows = np.arange(start, min(start + size, len(track)))
        ways = find_ways(track, rows, np.concatenate([-steps, steps]))
        back, ahead = ways[:, :count], ways[:, count:]
        both = (ahead**2).sum(axis=2)[:, :, None] + (back**2).sum(axis=2)[:, None]
        cross = 2 * ahead @ back.transpose(0, 2, 1)
        own = v**2 * (both - cross) + a**2 * (both + cross)
        low = (ways @ references.basis).astype(np.float32)
        _compiled.step_costs(rest, low[:, :count] @ before, low[:, count:] @ after, own, nearest, out[start:])
    return out


def duration_costs(
    track: FeatureTrack, references: ReferenceFeatures, spacing: int, durations: Floats, *, neighbours: int = 5
) -> Floats32:
    """What it costs that a frame comes `durations[a]` seconds after the last and `durations[b]` before the next.

    Args:
        track: The motion at a fine rate; every `spacing`-th sample, from the first, is a frame.
        references: What its timing is compared with.
        spacing: Samples from one frame to the next.
        durations: Seconds, (S,).
        neighbours: How many of the nearest references are averaged.

    Returns:
        Costs, (P, b, a), of the P frames.
    """
    from choreograph.verbs.retime import _compiled

    at = np.arange(0, len(track), spacing)
    v, a = 1 / references.velocity_scale, 1 / references.acceleration_scale
    zv, za = _padded(2 * v * references.velocity).T, _padded(2 * a * references.acceleration).T
    out = np.empty((len(at), len(durations), len(durations)), np.float32)
    count = min(neighbours, len(references.squared))
    left, right = durations[None, :], durations[:, None]
    whole = left + right
    ways = find_ways(track, at, np.array([-spacing, spacing]))
    bb, ff, bf = ((ways[:, p] * ways[:, q]).sum(axis=1)[:, None, None] for p, q in ((0, 0), (1, 1), (0, 1)))
    own = (v / whole) ** 2 * (ff + bb - 2 * bf)
    own = own + (2 * a / whole) ** 2 * (ff / right**2 + bb / left**2 + 2 * bf / (left * right))
    low = (ways @ references.basis).astype(np.float32)
    products = np.stack([(low[:, 1] - low[:, 0]) @ zv, low[:, 0] @ za, low[:, 1] @ za], axis=1)
    _compiled.duration_costs(_squared(references), products, own, np.asarray(durations, float), count, out)
    return out


def _squared(references: ReferenceFeatures) -> Floats32:
    out = np.full(-(-len(references.squared) // _BLOCK) * _BLOCK, _HUGE, np.float32)
    out[: len(references.squared)] = references.squared
    return out


def _padded(values: Floats) -> Floats32:
    """The rows in single precision, with rows of zeros up to a multiple of 16."""
    out = np.zeros((-(-len(values) // _BLOCK) * _BLOCK, values.shape[1]), np.float32)
    out[: len(values)] = values
    return out
