"""Fit the demo motion's coefficients to the recordings of CMU subject 16.

    CHOREOGRAPH_DATA=/path/to/recordings python tools/fit_demo_model.py [--out FILE.npz] [--hold-out 16_58 16_36 ...]

Reads `$CHOREOGRAPH_DATA/cmu/16/*.amc`, carries the recordings onto the demo skeleton, and fits

- two gaits (walk, run): Fourier series over gait phase of the hips' offset from a smooth path and of every joint's
  rotation vector about a mean pose; each Fourier coefficient is a polynomial in speed, turning rate and acceleration;
- cadence, and the phases at which heel and toe meet and leave the floor, as functions of speed;
- three jumps (in place, high, forward): B-splines of the same quantities over normalised time;
- a standing pose.

Prints how far recordings that were held out are from the model. The recordings themselves go nowhere.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from scipy.interpolate import PchipInterpolator, make_lsq_spline
from scipy.ndimage import gaussian_filter1d
from scipy.signal import find_peaks

from choreograph.base import quat
from choreograph.base.arrays import Floats, Indices
from choreograph.demo import model
from choreograph.demo.body import ANKLE_HEIGHT, SHIN, THIGH, demo_skeleton
from choreograph.formats import read_clip
from choreograph.motion import kinematics
from choreograph.motion.clip import Clip

SKELETON = demo_skeleton()
INDEX = {name: j for j, name in enumerate(SKELETON.names)}
FPS = 120.0
WALKS = (*range(11, 33), 47, 58)
# 43, 51 and 52 change step in mid-turn (two short steps), 8 and 57 end in a stop: no steady phase to fit.
RUNS = (35, 36, 37, 38, 39, 40, 41, 42, 44, 45, 46, 48, 49, 50, 53, 54, 55, 56)
JUMPS = {"place": (1, 2), "high": (3, 4), "forward": (5, 6, 7)}
STANDS = (1, 2, 3, 4, 5, 6)
CONTACT_LIMITS = {"walk": (0.6, 0.25, 0.2, 0.4), "run": (0.35, 0.25, 0.2, 0.28)}
"""Shares of the body's speed at which ankle (strike, heel off) and ball (flat, toe off) are taken to stand."""
RIDGE = 3.0
"""Pull of the polynomial terms towards zero, in frames: weak against the 9,000 frames there are."""

# ------------------------------------------------------------------ recordings on our skeleton

BONES = {"Hips": "root", "Spine": "lowerback", "Spine1": "upperback", "Spine2": "thorax", "Neck": "lowerneck"}
BONES["Head"] = "head"
for _side, _letter in (("Left", "l"), ("Right", "r")):
    for _ours, _theirs in (
        *(("UpLeg", "femur"), ("Leg", "tibia"), ("Foot", "foot"), ("ToeBase", "toes")),
        *(("Shoulder", "clavicle"), ("Arm", "humerus"), ("ForeArm", "radius"), ("Hand", "hand")),
    ):
        BONES[_side + _ours] = _letter + _theirs
# The ASF's legs rest 20 degrees apart; ours hang straight down.
SPLAY = np.radians(20.0)
# Pitch of foot and toes, degrees, that makes the sole level where the recorded foot stands still in a walk.
LEVEL = {"LeftFoot": -3.4, "RightFoot": -4.7, "LeftToeBase": -7.0, "RightToeBase": -7.0}


def carry_over(recording: Clip) -> Clip:
    """A recording of subject 16 on the demo skeleton: the same bone directions, the root scaled by leg length."""
    names = recording.skeleton.names
    theirs = recording.global_rotations()
    ours = np.empty((len(recording), len(SKELETON), 4))
    for j, name in enumerate(SKELETON.names):
        turn = theirs[:, names.index(BONES[name])]
        if any(part in name for part in ("Leg", "Foot", "Toe")):
            turn = quat.multiply(turn, quat.from_axis_angle((0.0, 0.0, 1.0), SPLAY if name[0] == "L" else -SPLAY))
            turn = quat.multiply(turn, quat.from_axis_angle((1.0, 0.0, 0.0), np.radians(LEVEL.get(name, 0.0))))
        ours[:, j] = turn
    scale = (THIGH + SHIN) / recording.skeleton.leg_length
    local = quat.make_continuous(kinematics.to_local(ours, SKELETON.parents))
    return Clip(SKELETON, FPS, recording.root_pos * scale, local, name=recording.name)


def load(folder: Path, trials: Iterable[int], drop: float = 0.0) -> list[Clip]:
    """Trials of subject 16 on the demo skeleton, `drop` metres lower."""
    return [carry_over(read_clip(folder / f"16_{trial:02d}.amc")).raised(-drop) for trial in trials]


def ankle_excess(walks: list[Clip]) -> float:
    """How much higher than the demo body's the ankle is where it stands still in a walk, metres."""
    heights = []
    for clip in walks:
        for side in ("Left", "Right"):
            ankle = clip.global_positions()[:, INDEX[side + "Foot"]]
            still = np.linalg.norm(np.gradient(ankle, axis=0), axis=1) * FPS < 0.15
            heights.append(ankle[still, 1])
    return float(np.median(np.concatenate(heights))) - ANKLE_HEIGHT


# ------------------------------------------------------------------ path, phase and channels


@dataclass(frozen=True)
class Sample:
    """Frames of one trial as the model sees them."""

    name: str
    phase: Floats
    speed: Floats
    turn: Floats
    accel: Floats
    channels: Floats
    """(F, D), see `choreograph.demo.model`."""
    keys: Floats
    """Frames at which the phase passes multiples of pi."""


def smooth_path(floor_pos: Floats, knot_s: float) -> tuple[Floats, Floats, Floats]:
    """A cubic spline through the root's floor positions with a knot every stride, and its two derivatives.

    One knot per stride is too stiff to follow the sway within a stride and soft enough for the turns.
    """
    times = np.arange(len(floor_pos)) / FPS
    count = max(1, round(times[-1] / knot_s))
    knots = np.r_[[0.0] * 4, np.linspace(0, times[-1], count + 1)[1:-1], [times[-1]] * 4]
    spline = make_lsq_spline(times, floor_pos, knots)
    return spline(times), spline.derivative(1)(times), spline.derivative(2)(times)


def gait_phase(clip: Clip, crossing: float) -> tuple[Floats, Floats]:
    """Phase per frame (NaN far outside the known steps) and the frames of the steps.

    The ankles' separation along the path is nearly a cosine: its tops are phase 0 (left foot ahead), its bottoms pi;
    zero crossings come `crossing` of the way between.
    """
    pos = clip.global_positions()
    root = clip.root_pos[:, [0, 2]]
    heading = gaussian_filter1d(np.gradient(root, axis=0), 24, axis=0, mode="nearest")
    heading /= np.maximum(np.linalg.norm(heading, axis=1, keepdims=True), 1e-9)
    gap = (pos[:, INDEX["LeftFoot"]] - pos[:, INDEX["RightFoot"]])[:, [0, 2]]
    apart = gaussian_filter1d((gap * heading).sum(1), 3)
    steps = [(int(t), 0) for t in find_peaks(apart, prominence=0.15, distance=24)[0]]
    steps = sorted(steps + [(int(t), 1) for t in find_peaks(-apart, prominence=0.15, distance=24)[0]])
    assert all(a[1] != b[1] for a, b in pairwise(steps)), clip.name
    times = np.array([t for t, _ in steps], float)
    phases = np.pi * (steps[0][1] + np.arange(len(steps)))
    known = list(zip(times, phases, strict=True))
    for i in np.flatnonzero(np.diff(np.sign(apart))):
        at = i + apart[i] / (apart[i] - apart[i + 1])
        half = times[1:] - times[:-1]
        k = int(np.searchsorted(times, at)) - 1
        if k == -1 and times[0] - at < half[0]:
            known.append((at, phases[0] - np.pi * (1 - crossing)))
        elif k == len(times) - 1 and at - times[-1] < half[-1]:
            known.append((at, phases[-1] + np.pi * crossing))
        elif 0 <= k < len(times) - 1:
            known.append((at, phases[k] + np.pi * crossing))
    known.sort()
    at, value = np.array(known).T
    frames = np.arange(len(clip), dtype=float)
    phase = PchipInterpolator(at, value, extrapolate=False)(frames)
    reach = 20.0  # frames beyond the last known step for which a steady rate is believed
    for side, end, near in ((frames < at[0], 0, 1), (frames > at[-1], -1, -2)):
        rate = (value[near] - value[end]) / (at[near] - at[end])
        phase[side] = value[end] + (frames[side] - at[end]) * rate
    phase[(frames < at[0] - reach) | (frames > at[-1] + reach)] = np.nan
    return phase, times


def channels_of(clip: Clip, place: Floats, heading: Floats, mean_pose: Floats) -> Floats:
    """Hips' offset from a place on the floor and rotation vectors about the mean pose, (F, D)."""
    away = clip.root_pos - np.insert(place, 1, 0.0, axis=1)
    offset = quat.rotate(quat.from_yaw(-heading), away)
    local = np.array(clip.local_rot)
    local[:, 0] = quat.multiply(quat.from_yaw(-heading), local[:, 0])
    vectors = quat.as_rotvec(quat.multiply(quat.inverse(mean_pose), local))
    return np.concatenate([offset, vectors.reshape(len(clip), -1)], axis=1)


def sample_gait(clip: Clip, mean_pose: Floats, crossing: float) -> Sample:
    """A trial's phase, speed, turning rate, acceleration and channels."""
    phase, keys = gait_phase(clip, crossing)
    place, velocity, change = smooth_path(clip.root_pos[:, [0, 2]], 2 * float(np.median(np.diff(keys))) / FPS)
    speed = np.linalg.norm(velocity, axis=1)
    safe = np.maximum(speed, 0.3)
    turn = (velocity[:, 1] * change[:, 0] - velocity[:, 0] * change[:, 1]) / safe**2
    accel = (velocity * change).sum(1) / safe
    heading = np.unwrap(np.arctan2(velocity[:, 0], velocity[:, 1]))
    channels = channels_of(clip, place, heading, mean_pose)
    return Sample(clip.name, phase, speed, np.clip(turn, -2.3, 2.3), np.clip(accel, -2.5, 2.5), channels, keys)


def crossing_share(clips: list[Clip]) -> float:
    """How far between two steps the ankles pass each other: 0.55 in a walk, 0.5 in a run."""
    shares = []
    for clip in clips:
        pos = clip.global_positions()
        times = gait_phase(clip, 0.5)[1]
        heading = gaussian_filter1d(np.gradient(clip.root_pos[:, [0, 2]], axis=0), 24, axis=0, mode="nearest")
        gap = (pos[:, INDEX["LeftFoot"]] - pos[:, INDEX["RightFoot"]])[:, [0, 2]]
        apart = gaussian_filter1d((gap * heading).sum(1), 3)
        for start, stop in pairwise(times.astype(int)):
            cross = np.flatnonzero(np.diff(np.sign(apart[start:stop])))
            if len(cross) == 1:
                shares.append((cross[0] + 0.5) / (stop - start))
    return float(np.median(shares))


# ------------------------------------------------------------------ the fits


def mirrored(samples: list[Sample]) -> list[Sample]:
    """The same trials seen in a mirror: half a cycle later, turning the other way."""
    return [
        Sample(s.name, s.phase + np.pi, s.speed, -s.turn, s.accel, model.mirror_channels(s.channels), s.keys)
        for s in samples
    ]


def fit_gait(samples: list[Sample], gait: str) -> dict[str, Floats]:
    """Fourier-polynomial coefficients of one gait, left/right symmetric, and the person's own asymmetry."""
    everything = samples + mirrored(samples)
    design, values = stack(everything, gait)
    penalty = RIDGE * np.eye(design.shape[1])
    plain = 2 * model.HARMONICS + 1
    penalty[:plain, :plain] *= 1e-3
    solved = np.linalg.solve(design.T @ design + penalty, design.T @ values)
    design, values = stack(samples, gait)
    # What is left when the symmetric part is taken out, at low order: limps and habits, not noise.
    low = 2 * model.LOW_HARMONICS + 1
    rest = values - design @ solved
    basis = design[:, :low]
    skew = np.linalg.solve(basis.T @ basis + RIDGE * np.eye(low), basis.T @ rest)
    series = np.asarray(solved, float).reshape(-1, plain, model.CHANNELS)
    return {f"{gait}_series": series, f"{gait}_skew": np.asarray(skew, float)}


def stack(samples: list[Sample], gait: str) -> tuple[Floats, Floats]:
    """Design matrix and values over all frames with a known phase and a real speed."""
    designs, values = [], []
    for s in samples:
        use = np.isfinite(s.phase) & (s.speed > 0.5)
        designs.append(model.design(gait, s.phase[use], s.speed[use], s.turn[use], s.accel[use]))
        values.append(s.channels[use])
    return np.concatenate(designs), np.concatenate(values)


def fit_cadence(samples: list[Sample], gait: str) -> dict[str, Floats]:
    """Strides per second as a quadratic (walk) or straight line (run) in speed."""
    speeds, rates = [], []
    for s in samples:
        for start, stop in pairwise(s.keys.astype(int)):
            if s.speed[start:stop].min() > 0.6 and np.abs(s.accel[start:stop]).max() < 1.5:
                speeds.append(s.speed[start:stop].mean())
                rates.append(0.5 * FPS / (stop - start))
    return {f"{gait}_cadence": np.polyfit(speeds, rates, 2 if gait == "walk" else 1)[::-1]}


def fit_contacts(clips: list[Clip], samples: list[Sample], gait: str) -> dict[str, Floats]:
    """Phases (in cycles) of heel strike, foot flat, heel off and toe off as straight lines in speed.

    A part of the foot is taken to stand while it is slower than a share of the body's speed.
    """
    limits = CONTACT_LIMITS[gait]
    rows = []
    for clip, s in zip(clips, samples, strict=True):
        pos = clip.global_positions()
        for side, shift in (("Left", 0.0), ("Right", 0.5)):
            ankle, toe = (
                np.linalg.norm(np.gradient(pos[:, INDEX[side + part]], axis=0), axis=1) * FPS / s.speed
                for part in ("Foot", "ToeBase")
            )
            rows.append(np.stack([(s.phase / (2 * np.pi) + shift) % 1, ankle, toe, s.speed], 1))
    table = np.concatenate(rows)
    table = table[np.isfinite(table[:, 0]) & (table[:, 3] > 0.6)]
    edges = np.quantile(table[:, 3], np.linspace(0, 1, 6))
    found = []
    for low, high in pairwise(edges):
        band = table[(table[:, 3] >= low) & (table[:, 3] <= high)]
        bins = np.floor(band[:, 0] * 50).astype(int)
        ankle, toe = (np.array([np.median(band[bins == b, k]) for b in range(50)]) for k in (1, 2))
        late = np.roll(np.arange(50), 10)  # from 0.8 of a cycle on, where the foot is still in the air

        def first(signal: Floats, limit: float, below: bool, order: Indices) -> float:
            for a, b in pairwise(order):
                if (signal[b] < limit) == below:
                    part = (signal[a] - limit) / (signal[a] - signal[b])
                    return float((a + 0.5 + part) / 50) - (1.0 if a >= 40 else 0.0)
            raise ValueError("the foot never crosses the limit")

        middle = np.arange(8, 50)
        found.append(
            (
                float(np.median(band[:, 3])),
                first(ankle, limits[0], True, late),
                first(toe, limits[1], True, late),
                first(ankle, limits[2], False, middle),
                first(toe, limits[3], False, middle),
            )
        )
    speeds, *events = np.array(found).T
    lines = [np.polyfit(speeds, e, 1)[::-1] for e in events]
    return {f"{gait}_contacts": np.array(lines)}


def fit_jump(clips: list[Clip], mean_pose: Floats, kind: str) -> dict[str, Floats]:
    """B-spline coefficients of one kind of jump over normalised time, and the mean times of its events."""
    times, curves = [], []
    for clip in clips:
        pos = clip.global_positions()
        height = clip.root_pos[:, 1]
        toes = np.minimum(pos[:, INDEX["LeftToeBase"], 1], pos[:, INDEX["RightToeBase"], 1])
        top = int(height.argmax())
        level = np.median(toes[:60]) + 0.045
        take_off = top - int(np.argmax(toes[top::-1] < level)) + 1
        landing = top + int(np.argmax(toes[top:] < level))
        low = int(height[:take_off].argmin())
        stand = float(np.median(height[:40]))
        start = low - int(np.argmax(height[low::-1] > stand - 0.012))
        bottom = landing + int(height[landing : landing + 60].argmin())
        risen = np.flatnonzero(height[bottom:] > stand - 0.03)
        end = min(bottom + (int(risen[0]) if len(risen) else 90) + 30, len(clip) - 1)
        events = np.array([start - 12, low, take_off, landing, bottom, end], float)
        facing = clip.facing()
        heading = np.full(len(clip), float(np.median(np.unwrap(facing)[max(0, start - 30) : start + 1])))
        place = np.tile(clip.root_pos[max(0, start - 12), [0, 2]], (len(clip), 1))
        times.append((events - events[0]) / FPS)
        curves.append((events, channels_of(clip, place, heading, mean_pose)))
    mean_times = np.mean(times, axis=0)
    grid = np.linspace(0, 1, 400)
    stretched = grid * mean_times[-1]
    total = []
    for events, channels in curves:
        frames = np.interp(stretched, mean_times, events)
        here = np.stack([np.interp(frames, np.arange(len(channels)), c) for c in channels.T], 1)
        total.append(here)
    coefficients = make_lsq_spline(grid, np.mean(total, axis=0), model.jump_knots()).c
    return {f"jump_{kind}": coefficients, f"jump_{kind}_times": mean_times}


def say(text: str) -> None:
    """A line for the person who runs the fit."""
    sys.stdout.write(text + "\n")


def main() -> None:
    """Read, fit, report, save."""
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--out", type=Path, default=Path(model.__file__).parent / "model.npz")
    ask.add_argument("--hold-out", nargs="*", default=[], help="trials kept from the fit and compared with it")
    given = ask.parse_args()
    root = os.environ.get("CHOREOGRAPH_DATA")
    if not root:
        sys.exit("set CHOREOGRAPH_DATA to the folder that holds cmu/16")
    folder = Path(root) / "cmu" / "16"
    drop = ankle_excess(load(folder, WALKS))
    walks, runs = load(folder, WALKS, drop), load(folder, RUNS, drop)
    kept_out = set(given.hold_out)

    steady = np.concatenate([c.local_rot for c in walks if c.name in ("16_15", "16_16", "16_47", "16_58")])
    steady[:, 0] = quat.multiply(quat.from_yaw(-quat.yaw_of(steady[:, 0])), steady[:, 0])
    mean_pose = average_rotation(steady)
    mean_pose = average_rotation(np.stack([mean_pose, model.mirror_pose(mean_pose)]))
    fitted: dict[str, Floats] = {"mean_pose": mean_pose}
    for gait, clips in (("walk", walks), ("run", runs)):
        used = [c for c in clips if c.name not in kept_out]
        share = crossing_share(used)
        samples = [sample_gait(c, mean_pose, share) for c in used]
        fitted |= fit_gait(samples, gait) | fit_cadence(samples, gait) | fit_contacts(used, samples, gait)
        report(gait, fitted, [sample_gait(c, mean_pose, share) for c in clips], kept_out)
    for kind, trials in JUMPS.items():
        fitted |= fit_jump(load(folder, trials, drop), mean_pose, kind)
    stands = load(folder, STANDS, drop)
    still = []
    for clip in stands:
        part = clip[:30]
        heading = np.full(30, float(np.median(part.facing())))
        channels = channels_of(part, np.tile(part.root_pos[:, [0, 2]].mean(0), (30, 1)), heading, mean_pose)
        still.append(channels.mean(0))
    fitted["stand"] = np.mean(still, axis=0)
    # Half precision errs by a twentieth of a percent of each coefficient, far below what was fitted.
    stored = {k: np.asarray(v, np.float32 if v.size < 200 else np.float16) for k, v in fitted.items()}
    np.savez_compressed(given.out, allow_pickle=False, **stored)
    say(f"{given.out}: {given.out.stat().st_size / 1024:.1f} kB")


def average_rotation(rotations: Floats) -> Floats:
    """Mean of rotations (F, J, 4) over frames: the main axis of their outer products."""
    out = np.empty(rotations.shape[1:])
    for j in range(rotations.shape[1]):
        _, vectors = np.linalg.eigh(rotations[:, j].T @ rotations[:, j])
        out[j] = vectors[:, -1] * np.sign(vectors[0, -1] or 1.0)
    return out


def report(gait: str, fitted: dict[str, Floats], samples: list[Sample], held_out: set[str]) -> None:
    """Print the model's distance from the trials: rotation per joint (degrees) and hips (centimetres), RMS."""
    coefficients = model.Gait.from_arrays(fitted, gait)
    for title, chosen in (("fitted", False), ("held out", True)):
        errors = []
        for s in samples:
            if (s.name in held_out) != chosen:
                continue
            use = np.isfinite(s.phase) & (s.speed > 0.5)
            made = coefficients.channels(s.phase[use], s.speed[use], s.turn[use], s.accel[use])
            errors.append(made - s.channels[use])
        if errors:
            gap = np.concatenate(errors)
            joints = np.degrees(np.sqrt((gap[:, 3:].reshape(-1, len(SKELETON), 3) ** 2).sum(2).mean(0)))
            worst = int(joints.argmax())
            hips = 100 * np.sqrt((gap[:, :3] ** 2).sum(1).mean())
            say(
                f"{gait} {title}: {len(errors)} trials, {len(gap)} frames; joints {joints.mean():.1f} deg RMS (most "
                f"{SKELETON.names[worst]} {joints[worst]:.1f}), hips {hips:.1f} cm"
            )
    say(
        f"{gait}: cadence {fitted[f'{gait}_cadence'].round(3)}, contacts {fitted[f'{gait}_contacts'].round(3).tolist()}"
    )


if __name__ == "__main__":
    main()
