"""Which feet stand when, and where motion is cut into steps, as each reader of both finds it.

python -m tests.golden.feet     # record it again, after a change that is meant to change it
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import choreograph as cg
from choreograph.base.arrays import Flags, Ints
from choreograph.demo import demo_clip

KEPT = Path(__file__).parent / "feet.npz"
RECORDINGS = (
    *("cmu/13/13_11", "cmu/13/13_39", "cmu/16/16_01", "cmu/16/16_08", "cmu/16/16_11", "cmu/16/16_17"),
    *("cmu/16/16_21", "cmu/16/16_35", "cmu/16/16_45", "cmu/16/16_55", "cmu/60/60_02", "cmu/61/61_02"),
    *("cmu/75/75_06", "cmu/75/75_09", "cmu/87/87_03", "cmu_more/08/08_01", "cmu_more/08/08_11"),
    *("cmu_more/107/107_07", "cmu_more/107/107_08", "cmu_more/107/107_09", "cmu_more/107/107_11"),
    *("cmu_more/108/108_04", "cmu_more/108/108_15", "cmu_more/108/108_25", "cmu_more/111/111_29"),
    *("cmu_more/113/113_07", "cmu_more/113/113_15", "cmu_more/113/113_22", "cmu_more/127/127_25"),
    *("cmu_more/127/127_33", "cmu_more/141/141_09", "cmu_more/143/143_16", "cmu_more/143/143_31"),
    *("cmu_more/36/36_02", "cmu_more/39/39_11", "cmu_more/49/49_02", "cmu_more/49/49_05", "cmu_more/54/54_22"),
    *("cmu_more/83/83_40", "cmu_more/85/85_01"),
)
"""Forty: walks, runs, jumps, hops, dance, crawling, stepping over things, sitting, acrobatics."""
DEMO = ("walk", "walk_turn_90_left", "stand", "stop_left_foot", "jog", "walk_jump_walk", "jump_high", "run")
MOST = 1200
"""Frames of a recording that are looked at."""


def recordings(folder: Path) -> dict[str, cg.Clip]:
    """The recordings' beginnings at their own rate, by name."""
    return {name.rpartition("/")[2]: cg.read_clip(folder / f"{name}.amc")[:MOST] for name in RECORDINGS}


def demos() -> dict[str, cg.Clip]:
    """The demo's clips."""
    return {name: demo_clip(name, 60.0) for name in DEMO}


def flags_of(clip: cg.Clip) -> dict[str, Flags]:
    """What stands in the eyes of each: all feet's joints; what carries the body; and left and right in plans."""
    from choreograph.motion.body_points import PointBody
    from choreograph.verbs.plan.steps import read_track

    bare = clip.with_contacts(None)
    return {
        "detected": cg.detect_contacts(bare),
        "carrying": np.asarray(cg.inverse_dynamics(bare).dynamics.contacts),
        "planned": read_track(bare, 0, PointBody.of(clip.skeleton)).planted,
    }


def frames_of(clip: cg.Clip) -> dict[str, Ints]:
    """Where each of them cuts, (N, 2): frame, in plan at its own rate, and what stands; -1 in perform."""
    from choreograph.motion.body_points import PointBody
    from choreograph.verbs.perform.cuts import cut_at_plants
    from choreograph.verbs.plan.steps import read_track
    from choreograph.verbs.steer.cuts import find_cuts

    bare = clip.with_contacts(None)
    events = read_track(bare, 0, PointBody.of(clip.skeleton)).events
    rows: dict[str, list[Any]] = {
        "plan": [(event.frame, event.kind) for event in events],
        "steer": [(cut.frame, cut.foot) for cut in find_cuts(bare)],
        "perform": [(int(frame), -1) for frame in cut_at_plants(bare)],
    }
    return {name: np.array(found, np.int64).reshape(-1, 2) for name, found in rows.items()}


def measured(clips: dict[str, cg.Clip]) -> dict[str, NDArray[Any]]:
    """All of it by names such as "16_01.detected" and "16_01.steer"; flags are packed, their shape beside them."""
    found: dict[str, NDArray[Any]] = {}
    for name, clip in clips.items():
        for who, flags in flags_of(clip).items():
            found[f"{name}.{who}"] = np.packbits(flags)
            found[f"{name}.{who}.shape"] = np.array(flags.shape)
        found |= {f"{name}.{who}": rows for who, rows in frames_of(clip).items()}
    return found


def main() -> None:
    """Record what is found today."""
    both = demos() | recordings(Path(os.environ["CHOREOGRAPH_DATA"]))
    np.savez_compressed(KEPT, **measured(both))


if __name__ == "__main__":
    main()
