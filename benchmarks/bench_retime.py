"""What guided time warping reaches, with linear and spline warps beside it.

    CHOREOGRAPH_DATA=<folder with cmu/> python -m benchmarks.bench_retime [speed gravity hidden itself walk expansion]

speed      CPU seconds for 1,000 input and 500 output frames, longest step 8; and while a key time of 10 s is dragged
gravity    jumps by 1.5 and 2 times, guided by their own timing: gravity in flight against the recorded one
hidden     walks, jogs and turns whose rate was made to swing by a factor of two, undone with other trials as references
itself     motions retimed to their own length by themselves
walk       slow walks with the timing of brisk ones: distance of joint speed and acceleration distributions
expansion  brisk walks 1.5 times as long with the timing of slow ones, both ways of solving it

Linear and spline warps are rendered like guided ones. Splines have footfalls as key times, evenly spaced.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from benchmarks.datasets import find_recordings
from choreograph.formats import read_clip
from choreograph.motion import resample
from choreograph.motion.clip import Clip, concatenate
from choreograph.motion.contacts import detect_contacts, runs
from choreograph.verbs.retime.baselines import linear_warp, spline_warp
from choreograph.verbs.retime.curve import TimeWarp
from choreograph.verbs.retime.keys import KeyTime, check_keys
from choreograph.verbs.retime.measure import gravity_kept, timing_distance
from choreograph.verbs.retime.references import mean_speed
from choreograph.verbs.retime.render import render_warp
from choreograph.verbs.retime.request import RetimeRequest
from choreograph.verbs.retime.retime import retime_clip, retime_prepared
from choreograph.verbs.retime.warp import Retimer

JUMPS = ("16_01", "16_03", "16_05", "16_06", "16_09")
WALKS = ("16_15", "16_16", "16_21", "16_22", "16_31", "16_32", "16_47", "16_58")
JOGS = ("16_35", "16_36", "16_45", "16_46", "16_55", "16_56")
TURNS = ("16_17", "16_18", "16_19", "16_20")
BRISK = (
    *(("16_15", "16_21"), ("16_16", "16_22"), ("16_47", "16_21"), ("16_58", "16_22"), ("16_32", "16_21")),
    *(("16_12", "16_23"), ("16_17", "16_27"), ("16_31", "16_22")),
)
SLOW = (
    *(("16_21", "16_15"), ("16_22", "16_16"), ("16_21", "16_58"), ("16_47", "16_16"), ("16_23", "16_12")),
    *(("16_27", "16_17"), ("16_22", "16_31")),
)


@cache
def trial(name: str) -> Clip:
    return read_clip(find_recordings() / "cmu" / name.split("_")[0] / f"{name}.amc")


def ends(clip: Clip, seconds: float) -> tuple[KeyTime, ...]:
    return check_keys(clip, [(0, 0.0), (len(clip) - 1, seconds)])


def cpu(work: Callable[[], Any], rounds: int = 3) -> tuple[float, Any]:
    best, result = np.inf, None
    for _ in range(rounds):
        start = time.process_time()
        result = work()
        best = min(best, time.process_time() - start)
    return best, result


# ------------------------------------------------------------------ speed


def speed() -> None:
    long = trial("60_08")
    thousand = concatenate([long[:1000]])
    keys = ends(thousand, 999 / 60 / 2)  # 500 output frames at 60 Hz
    settings = RetimeRequest(
        advanced={
            "program_hz": 60.0,
            "samples_per_step": 1,
            "smallest_rate": 1.0,
            "largest_rate": 8.0,
            "reference_hz": 60.0,
            "neighbours": 5,
        }
    )
    retime_clip(trial("16_45"), ends(trial("16_45"), 1.0), request=settings)  # kernels are compiled
    for name, references in (("its own timing", ()), ("another trial's", (trial("60_09")[:1000],))):
        seconds, result = cpu(lambda r=references: retime_clip(thousand, keys, r, settings))
        frames = int(result.warp.length_s * 60 + 1e-6) + 1
        print(f"  n = 1000, m = {frames}, longest step 8, {name}: whole call {seconds:.3f} s")
    clip = long[:600]
    for name, references in (
        ("its own timing", ()),
        ("two other trials'", (trial("60_09")[:600], trial("60_10")[:600])),
    ):
        first, retimer = cpu(lambda r=references: _dragged(clip, r, 1), 1)
        again, _ = cpu(lambda r=retimer: _drag(r, clip, 8), 2)
        print(
            f"  10 s of motion, {name}: first answer {first:.2f} s, then {again / 8:.3f} s for each drag of a key time"
        )


def _dragged(clip: Clip, references: Sequence[Clip], count: int) -> Retimer:
    retimer = Retimer(clip, references)
    _drag(retimer, clip, count)
    return retimer


def _drag(retimer: Retimer, clip: Clip, count: int) -> None:
    for k in range(count):
        retime_prepared(retimer, [(0, 0.0), (300, 4.0 + 0.02 * k), (len(clip) - 1, 8.0)])


# ------------------------------------------------------------------ gravity


def gravity() -> None:
    for rate in (1.5, 2.0):
        print(f"  {rate:g} times as fast: gravity in flight, m/s² (recorded → guided, linear)")
        worst = 0.0
        for name in JUMPS:
            clip = trial(name)
            keys = ends(clip, (len(clip) - 1) / clip.fps / rate)
            result = retime_clip(clip, keys)
            straight = linear_warp(keys, clip.fps)
            linear = gravity_kept(clip, render_warp(clip, straight).clip, straight)
            for (before, after), (_, other) in zip(result.metrics.gravity, linear, strict=True):
                worst = max(worst, abs(after / before - 1))
                print(f"    {name}  {before:6.2f} → {after:6.2f} ({100 * (after / before - 1):+5.1f} %)   {other:7.2f}")
        print(f"    worst {100 * worst:.1f} %")


# ------------------------------------------------------------------ hidden warps


def hide(clip: Clip, seed: int) -> tuple[Clip, np.ndarray]:
    """The clip with a rate that swings smoothly between 0.71 and 1.41, and the frames it shows."""
    rng = np.random.default_rng(seed)
    waves, phase = rng.choice([1.0, 1.5, 2.0]), rng.uniform(0, 2 * np.pi)
    rate = np.exp(np.log(2) / 2 * np.sin(2 * np.pi * waves * np.linspace(0, 1, len(clip)) + phase))
    shown = np.concatenate([[0.0], np.cumsum((rate[1:] + rate[:-1]) / 2)])
    shown *= (len(clip) - 1) / shown[-1]
    root, turned = resample.sample_positions(clip.root_pos, shown), resample.sample_rotations(clip.local_rot, shown)
    return replace(clip, root_pos=root, local_rot=turned, contacts=None, labels=()), shown


def error_ms(warp: TimeWarp, shown: np.ndarray) -> float:
    times = np.arange(len(shown)) / warp.fps
    back = np.interp(warp.frames_at(times), np.arange(len(shown)), shown)
    return float(1000 * np.abs(back / warp.fps - times).mean())


def hidden() -> None:
    for what, names in (("walks", WALKS), ("jogs", JOGS), ("turns", TURNS)):
        for count in (1, 3, len(names) - 1):
            guided, linear = [], []
            for k, name in enumerate(names):
                warped, shown = hide(trial(name), k)
                keys = ends(warped, (len(warped) - 1) / warped.fps)
                others = [trial(names[(k + n) % len(names)]) for n in range(1, count + 1)]
                guided.append(error_ms(Retimer(warped, others).solve(keys).warp, shown))
                linear.append(error_ms(linear_warp(keys, warped.fps), shown))
            each = " ".join(f"{value:.0f}" for value in guided)
            print(
                f"  {len(names)} {what}, {count} other trials: {np.mean(guided):5.1f} ms off, "
                f"linear {np.mean(linear):5.1f} ms ({np.mean(guided) / np.mean(linear):.2f})   each: {each}"
            )
            if count == len(names) - 1:
                break


def itself() -> None:
    worst = 0.0
    for name in (*JUMPS, *WALKS, *JOGS, *TURNS):
        clip = trial(name)
        result = retime_clip(clip, ends(clip, (len(clip) - 1) / clip.fps))
        worst = max(worst, float(np.abs(result.source_frames - np.arange(len(clip))).max()))
    print(f"  {len(JUMPS + WALKS + JOGS + TURNS)} trials, own length, own timing: at most {worst:.3f} frames off")


# ------------------------------------------------------------------ distributions


def footfalls(clip: Clip) -> list[int]:
    """Frames at which heels come down, 0.15 s apart at least and away from the ends."""
    heels = [k for k, j in enumerate(clip.skeleton.feet) if clip.skeleton.roles[j].endswith("foot")]
    contacts, found = detect_contacts(clip), []
    for start in sorted(start for k in heels for start, _ in runs(contacts[:, k])):
        if 10 < start < len(clip) - 10 and (not found or start - found[-1] > 0.15 * clip.fps):
            found.append(start)
    return found


def spline_keys(clip: Clip, seconds: float) -> tuple[KeyTime, ...]:
    falls = footfalls(clip)
    even = np.linspace(falls[0], falls[-1], len(falls)) if falls else []
    inner = [(fall, float(at) / (len(clip) - 1) * seconds) for fall, at in zip(falls, even, strict=True)]
    return check_keys(clip, [(0, 0.0), *inner, (len(clip) - 1, seconds)])


def compare(pairs: Sequence[tuple[str, str]], length: float | None, ways: dict[str, RetimeRequest]) -> None:
    names = [*ways, "linear", "spline"]
    print(f"    {'':16}" + "".join(f"{name:>22}" for name in names) + "      speed / acceleration")
    rows = []
    for one, two in pairs:
        clip, reference = trial(one), trial(two)
        recorded = (len(clip) - 1) / clip.fps
        seconds = recorded * (length or mean_speed(clip) / mean_speed(reference))
        keys = ends(clip, seconds)
        made = {name: retime_clip(clip, keys, [reference], settings).clip for name, settings in ways.items()}
        made["linear"] = render_warp(clip, linear_warp(keys, clip.fps)).clip
        made["spline"] = render_warp(clip, spline_warp(spline_keys(clip, seconds), clip.fps)).clip
        found = [timing_distance(made[name], reference) for name in names]
        rows.append([(x.speed, x.acceleration) for x in found])
        print(f"    {one} → {two}" + "".join(f"{x.speed:>14.3f} / {x.acceleration:.3f}" for x in found))
    mean = np.mean(rows, axis=0)
    print(f"    {'mean':15}" + "".join(f"{v:>14.3f} / {a:.3f}" for v, a in mean))


def walk() -> None:
    print("  slow walks at the brisk one's mean speed")
    compare(
        BRISK, None, {"guided": RetimeRequest(), "guided, no pace": RetimeRequest(advanced={"weights": {"pace": 0.0}})}
    )


def expansion() -> None:
    print("  1.5 times as long, by upsampling (steps) and by the inverse problem (durations)")
    compare(SLOW, 1.5, {"steps": RetimeRequest(), "durations": RetimeRequest(advanced={"direction": "durations"})})


PARTS = {f.__name__: f for f in (speed, gravity, hidden, itself, walk, expansion)}


def main() -> None:
    wanted = sys.argv[1:] or list(PARTS)
    for name in wanted:
        if name not in PARTS:
            sys.exit(f"no part {name}; there are: {', '.join(PARTS)}")
        print(f"{name}", flush=True)
        PARTS[name]()


if __name__ == "__main__":
    main()
