"""Physics: jump, run, walk and turns from a straight-line guess; what holds between the nodes; how many requests solve.

python -m benchmarks physics                           the motions of the table, once
python -m benchmarks.bench_physics --people            the same of people that nothing was chosen on
python -m benchmarks.bench_physics --many              sixty requests made by varying ten clips
python -m benchmarks.bench_physics --many 16_05 16_21  those of some of them
"""

from __future__ import annotations

import os
import resource
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

import choreograph as cg
from choreograph.motion.contacts import runs
from choreograph.motion.facts import GRAVITY_M_S2
from choreograph.verbs.physics.prepare import make_setting
from choreograph.verbs.physics.verify import TOLERANCES, Verification, excess

Case = tuple[str, tuple[str, ...], tuple[float | None, float | None], float, float]
DRAGGED = "jump 16_05"
CASES: dict[str, Case] = {
    # name: clip, examples, part of the clip in seconds, largest CPU time, largest force in body weights
    "jump 16_05": ("cmu/16/16_05", ("16_06", "16_07", "16_09", "16_10"), (None, None), 1.0, 4.0),
    "run 16_45": ("cmu/16/16_45", ("16_46", "16_35", "16_36", "16_56", "16_55"), (0.05, 1.058), 1.5, 2.8),
    "walk 16_21": ("cmu/16/16_21", ("16_22", "16_15", "16_16", "16_31", "16_47"), (0.3, 1.66), 2.0, 1.6),
    "180° 75_06": ("cmu/75/75_06", ("75_09",), (1.9, 3.65), 1.0, 4.0),
    "360° 75_09": ("cmu/75/75_09", ("75_06",), (1.9, 3.65), 1.0, 4.5),
    "flip 87_04": ("cmu/87/87_04", ("87_03",), (1.6, 2.74), 2.0, 5.5),
}
PEOPLE: dict[str, Case] = {
    "walk 107_01": ("cmu_more/107/107_01", ("107_02", "107_03", "107_04", "107_05"), (0.88, 2.96), 2.0, 1.6),
    "walk 108_01": ("cmu_more/108/108_01", ("108_02", "108_03"), (1.9, 3.5), 2.0, 1.6),
    "run 108_04": ("cmu_more/108/108_04", ("108_05", "108_06", "108_07", "108_08"), (0.1, 0.95), 1.5, 2.8),
    "run 108_12": ("cmu_more/108/108_12", ("108_11", "108_13", "108_14"), (0.1, 0.95), 1.5, 2.8),
    "jump 108_15": ("cmu_more/108/108_15", ("108_16",), (1.0, 2.45), 1.0, 4.0),
    "leap 108_17": ("cmu_more/108/108_17", ("108_18", "108_19", "108_20"), (0.55, 1.4), 1.5, 4.0),
    "leap 127_28": ("cmu_more/127/127_28", ("127_25", "127_26", "127_27"), (0.3, 1.35), 1.5, 4.0),
    "hop 83_46": ("cmu_more/83/83_46", ("83_40", "83_41", "83_45", "83_49"), (1.4, 3.4), 1.0, 4.0),
    "180° 83_56": ("cmu_more/83/83_56", ("83_54", "83_57", "83_51"), (1.4, 3.4), 1.0, 4.0),
    "walk 08_01": ("cmu_more/08/08_01", ("08_02", "08_03"), (0.3, 1.5), 2.0, 1.6),
}
"""The same of people on whom nothing was chosen."""
MANY = ("16_01", "16_03", "16_05", "16_06", "16_07", "16_09", "16_10", "16_21", "16_22", "16_45")


RATES = {"107": 75.0}
"""Hertz of recordings whose file says another: at 120 Hz this one falls at 24.9 m/s² and takes 162 steps a minute."""


def read(path: Path) -> cg.Clip:
    clip = cg.read_clip(path.with_suffix(".amc"))
    clip = replace(clip, fps=RATES.get(clip.name[:3], clip.fps))
    return cg.repair(clip) if clip.name.startswith("87") else clip


def nearer(result: cg.PhysicsResult) -> tuple[float, float]:
    """Distance of joint positions and of joint angles from the recorded ones, over a straight line's."""
    recorded = result.recorded
    assert recorded is not None and result.solved is not None
    at = np.rint(np.linspace(0, len(recorded) - 1, len(result.clip))).astype(int)
    share, dofs = np.linspace(0, 1, len(at)), result.solved.problem.dofs
    places = [clip.global_positions().reshape(len(clip), -1, 3) for clip in (recorded, result.clip)]
    angles = [dofs.angles(clip)[:, 6:, None] for clip in (recorded, result.clip)]
    out = []
    for (real, made), order in ((places, 1), (angles, 2)):
        real = real[at]
        line = real[0] + share[:, None, None] * (real[-1] - real[0])
        own, theirs = (
            float((np.linalg.norm(one - real, axis=2) ** order).mean() ** (1 / order)) for one in (made, line)
        )
        out.append(own / theirs)
    return out[0], out[1]


def show(name: str, result: cg.PhysicsResult, seconds: float, bars: tuple[float, float]) -> None:
    checked, details = result.verification, result.best.details
    assert checked is not None
    places, angles = nearer(result)
    print(
        f"{name:14} {result.status:13} {details['iterations']:4d} it  {seconds:5.2f} s (≤ {bars[0]:g})  "
        f"violation {details['violation']:.0e} (≤ 1e-06)  COM {1000 * checked.com_off_m:.2f} mm (≤ 1)  "
        f"L {100 * checked.spin_drift:.1f} % (≤ 5)  slip {1000 * checked.slip_m:.1f} mm (≤ 3)  "
        f"residual {checked.residual:.2f} BW (≤ 0.25)  peak {checked.peak_force:.2f} BW (≤ {bars[1]:g})  "
        f"below {1000 * checked.below_m:.1f} mm (≤ 2)  positions {places:.2f} of the straight line's (≤ 0.75), "
        f"angles {angles:.2f} (< 1)",
        flush=True,
    )
    for problem in result.problems:
        print(f"    {problem.text}", flush=True)


def table(data: Path, cases: Mapping[str, Case]) -> None:
    for name, (clip, others, part, most, peak) in cases.items():
        path = data / clip
        examples = [read(path.with_name(other)) for other in others]
        recording = read(path)
        request = cg.PhysicsRequest(start_s=part[0], end_s=part[1])
        if name == next(iter(cases)):
            cg.physics(recording, request, examples=examples)  # compiles, or loads what is compiled
        began = time.process_time()
        search = cg.PhysicsSearch(recording, request, examples=examples)
        try:
            search.run()
        except cg.RequestError as error:
            print(f"{name:14} refused: {error}", flush=True)
            continue
        show(name, search.best(), time.process_time() - began, (most, peak))
        if name == DRAGGED:
            search.change(request.with_(farther_m=0.05))
            began = time.process_time()
            search.step()
            spent, again = time.process_time() - began, search.best()
            count = again.best.details["iterations"]
            print(f"{'  dragged 5 cm':14} {again.status:13} {count:4d} it  {spent:5.2f} s (≤ 0.3)")


def rise(recording: cg.Clip, others: list[cg.Clip]) -> float:
    """How high the longest flight of a recording rises, metres."""
    flags = make_setting(recording, cg.PhysicsRequest(), others[:1]).flags
    flights = [stop - start for start, stop in runs(~flags.any(axis=1)) if start > 0 and stop < len(recording)]
    return GRAVITY_M_S2 * (max(flights, default=0) / recording.fps) ** 2 / 8


def requests(name: str, recording: cg.Clip, others: list[cg.Clip]) -> Iterator[cg.PhysicsRequest]:
    """Six by length (± 40 %), height (± 30 %) and, of jumps, turn (± 180°)."""
    rng, high = np.random.default_rng(int(name[-2:])), rise(recording, others)
    way = float(np.linalg.norm((recording.root_pos[-1] - recording.root_pos[0])[[0, 2]]))
    for _ in range(6):
        yield cg.PhysicsRequest(
            farther_m=float(rng.uniform(-0.4, 0.4)) * way,
            higher_m=float(rng.uniform(-0.3, 0.3)) * high,
            turn_deg=float(rng.uniform(-180, 180)) if name < "16_11" else 0.0,
            nearest=4,
        )


def many(data: Path, names: Sequence[str]) -> None:
    """Six requests of each of some recordings, and how many of those that are possible hold between the nodes too."""
    solved = held = tried = 0
    impossible, starts = [], Counter[str]()
    for name in names:
        recording = read(data / "cmu/16" / name)
        others = [read(data / "cmu/16" / other) for other in MANY if other != name]
        recording = recording[: round(3.5 * recording.fps)]
        for number, request in enumerate(requests(name, recording, others), 1):
            began = time.process_time()
            asked = f"{name}/{number} {request.as_document()}"
            try:
                result = cg.physics(recording, request, examples=others)
            except cg.RequestError as error:
                impossible.append(f"{asked}: {error}")
                continue
            spent, checked = time.process_time() - began, result.verification
            assert checked is not None
            details, over = result.best.details, excess(checked)
            done = result.status in ("complete", "feasible")
            weak = [problem.text for problem in result.problems if problem.where == "advanced.limits.strength"]
            if weak and not done:
                impossible.append(f"{asked}: {weak[0]}")
                continue
            tried += 1
            solved, held = solved + done, held + (done and over <= 1.0)
            starts[details["start"] if done else "nothing"] += 1
            print(
                f"{asked}: {result.status}, {spent:.1f} s, from {details['start']}, off-grid {over:.2f} of what may be "
                f"({worst(checked)}), peak {checked.peak_force:.1f} BW, {details['nodes']} nodes",
                flush=True,
            )
            if not done:
                print(f"    {result.problems[0].text}", flush=True)
    print(f"converged: {solved} of {tried}, {solved / max(tried, 1):.0%} (≥ 90 %); left out as impossible:")
    print("".join(f"    {one}\n" for one in impossible) or "    none\n", end="")
    print(f"found from: {', '.join(f'{start} {count}' for start, count in starts.most_common())}")
    print(f"hold between the nodes: {held} of {tried}")


def worst(checked: Verification) -> str:
    return max(TOLERANCES, key=lambda name: getattr(checked, name) / TOLERANCES[name])


def main() -> None:
    folder = os.environ.get("CHOREOGRAPH_DATA")
    if not folder:
        sys.exit("needs real recordings: set CHOREOGRAPH_DATA to their folder")
    if "--many" not in sys.argv:
        table(Path(folder), PEOPLE if "--people" in sys.argv else CASES)
    else:
        many(Path(folder), sys.argv[sys.argv.index("--many") + 1 :] or MANY)
    print(f"memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB (≤ 500)")


if __name__ == "__main__":
    main()
