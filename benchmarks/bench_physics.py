"""Physics: jump, run, walk and turns from a straight-line guess; what holds between the nodes; how many requests solve.

python -m benchmarks physics                           the motions of the table, once
python -m benchmarks.bench_physics --many              sixty requests made by varying ten clips
python -m benchmarks.bench_physics --many 16_05 16_21  those of some of them
"""

from __future__ import annotations

import os
import resource
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

import choreograph as cg
from choreograph.dynamics.body import GRAVITY
from choreograph.editing.physics.prepare import make_setting
from choreograph.editing.physics.verify import BARS, Verification, excess
from choreograph.motion.contacts import runs

CASES = {
    # name: clip, examples, part of the clip in seconds, largest CPU time, largest force in body weights
    "jump 16_05": ("cmu/16/16_05", ("16_06", "16_07", "16_09", "16_10"), (None, None), 1.0, 4.0),
    "run 16_45": ("cmu/16/16_45", ("16_46", "16_35", "16_36", "16_56", "16_55"), (0.05, 1.058), 1.5, 2.8),
    "walk 16_21": ("cmu/16/16_21", ("16_22", "16_15", "16_16", "16_31", "16_47"), (0.3, 1.66), 2.0, 1.6),
    "180° 75_06": ("cmu/75/75_06", ("75_09",), (1.9, 3.65), 1.0, 4.0),
    "360° 75_09": ("cmu/75/75_09", ("75_06",), (1.9, 3.65), 1.0, 4.5),
    "flip 87_04": ("cmu/87/87_04", ("87_03",), (1.6, 2.74), 2.0, 5.5),
}
MANY = ("16_01", "16_03", "16_05", "16_06", "16_07", "16_09", "16_10", "16_21", "16_22", "16_45")


def read(path: Path) -> cg.Clip:
    clip = cg.read_clip(path.with_suffix(".amc"))
    return cg.repair(clip) if clip.name.startswith("87") else clip


def straight_line(real: np.ndarray) -> float:
    share = np.linspace(0, 1, len(real))[:, None, None]
    return float(np.linalg.norm(real[0] + share * (real[-1] - real[0]) - real, axis=2).mean())


def show(name: str, result: cg.PhysicsResult, seconds: float, bars: tuple[float, float]) -> None:
    checked, recorded = result.verification, result.recorded
    assert checked is not None and recorded is not None
    at = np.rint(np.linspace(0, len(recorded) - 1, len(result.clip))).astype(int)
    real = recorded.global_positions()[at]
    made = float(np.linalg.norm(result.clip.global_positions() - real, axis=2).mean())
    print(
        f"{name:14} {result.status:13} {result.best.details['iterations']:4d} it  {seconds:5.2f} s (≤ {bars[0]:g})  "
        f"violation {result.best.details['violation']:.0e} (≤ 1e-06)  COM {1000 * checked.com_off_m:.2f} mm (≤ 1)  "
        f"L {100 * checked.spin_drift:.1f} % (≤ 5)  slip {1000 * checked.slip_m:.1f} mm (≤ 3)  "
        f"residual {checked.residual:.2f} BW (≤ 0.25)  peak {checked.peak_force:.2f} BW (≤ {bars[1]:g})  "
        f"below {1000 * checked.below_m:.1f} mm (≤ 2)  positions {made / straight_line(real):.2f} of the straight "
        f"line's (≤ 0.75)",
        flush=True,
    )


def table(data: Path) -> None:
    for name, (clip, others, part, most, peak) in CASES.items():
        path = data / clip
        examples = [read(path.with_name(other)) for other in others]
        recording = read(path)
        request = cg.PhysicsRequest(start_s=part[0], end_s=part[1])
        if name.startswith("jump"):
            cg.physics(recording, request, examples=examples)  # compiles, or loads what is compiled
        began = time.process_time()
        search = cg.PhysicsSearch(recording, request, examples=examples)
        try:
            search.run()
        except cg.RequestError as error:
            print(f"{name:14} refused: {error}", flush=True)
            continue
        show(name, search.best(), time.process_time() - began, (most, peak))
        if name.startswith("jump"):
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
    return GRAVITY * (max(flights, default=0) / recording.fps) ** 2 / 8


def many(data: Path, names: Sequence[str]) -> None:
    """Six requests of each of some recordings, and how many of those that are possible hold between the nodes too."""
    solved = held = tried = weak = refused = 0
    for name in names:
        rng = np.random.default_rng(int(name[-2:]))
        recording = read(data / "cmu/16" / name)
        others = [read(data / "cmu/16" / other) for other in MANY if other != name]
        recording = recording[: round(3.5 * recording.fps)]
        jumps, high = name < "16_11", rise(recording, others)
        for _ in range(6):
            way = float(np.linalg.norm((recording.root_pos[-1] - recording.root_pos[0])[[0, 2]]))
            request = cg.PhysicsRequest(
                farther_m=float(rng.uniform(-0.4, 0.4)) * way,
                higher_m=float(rng.uniform(-0.3, 0.3)) * high,
                turn_deg=float(rng.uniform(-180, 180)) if jumps else 0.0,
                choose=4,
            )
            began = time.process_time()
            try:
                result = cg.physics(recording, request, examples=others)
            except cg.RequestError as error:
                print(f"{name} {request.as_document()} refused: {error}", flush=True)
                refused += 1
                continue
            tried += 1
            done = result.status in ("complete", "feasible")
            assert result.verification is not None
            over = excess(result.verification)
            solved, held = solved + done, held + (done and over <= 1.0)
            weak += not done and any(problem.where == "limits.strength" for problem in result.problems)
            print(
                f"{name} {request.as_document()}: {result.status}, {time.process_time() - began:.1f} s, off-grid "
                f"{over:.2f} of what may be ({worst(result.verification)}), peak {result.verification.peak_force:.1f} "
                f"BW, {result.best.details['nodes']} nodes",
                flush=True,
            )
    print(
        f"converged: {solved} of {tried} (≥ 90 %); of the rest, {weak} take more strength than people have; "
        f"refused: {refused}"
    )
    print(f"hold between the nodes: {held} of {tried}")


def worst(checked: Verification) -> str:
    return max(BARS, key=lambda name: getattr(checked, name) / BARS[name])


def main() -> None:
    folder = os.environ.get("CHOREOGRAPH_DATA")
    if not folder:
        sys.exit("needs real recordings: set CHOREOGRAPH_DATA to their folder")
    if "--many" not in sys.argv:
        table(Path(folder))
    else:
        many(Path(folder), sys.argv[sys.argv.index("--many") + 1 :] or MANY)
    print(f"memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB (≤ 500)")


if __name__ == "__main__":
    main()
