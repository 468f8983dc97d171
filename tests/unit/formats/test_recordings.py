"""Real recordings: both readers against each other, against what people measure, and through every round trip."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from choreograph.base.errors import FormatError
from choreograph.formats import read_clip, write_clip
from choreograph.motion.clip import Clip
from choreograph.motion.contacts import runs

pytestmark = pytest.mark.recordings

BOTH = ["16_15", "16_17", "16_19", "16_35", "16_45", "16_47"]
LEGS = {
    "root": "Hips", "lhipjoint": "LHipJoint", "lfemur": "LeftUpLeg", "ltibia": "LeftLeg", "lfoot": "LeftFoot",
    "ltoes": "LeftToeBase", "rhipjoint": "RHipJoint", "rfemur": "RightUpLeg", "rtibia": "RightLeg",
    "rfoot": "RightFoot", "rtoes": "RightToeBase", "lowerback": "LowerBack",
}  # fmt: skip
ABOVE_THORAX = {"lhumerus": "LeftArm", "rradius": "RightForeArm", "head": "Head"}
MM = 1e-3


def amc(recordings: Path, trial: str) -> Clip:
    return read_clip(recordings / "cmu" / trial.split("_")[0] / f"{trial}.amc")


@pytest.mark.parametrize("trial", BOTH)
def test_both_formats_of_a_trial_agree(recordings: Path, trial: str) -> None:
    a, b = amc(recordings, trial), read_clip(recordings / "cmu_bvh" / f"{trial}.bvh")[1:]
    assert len(a) == len(b) and a.fps == b.fps == 120

    def gap(names: dict[str, str]) -> np.ndarray:
        here = a.global_positions()[:, [a.skeleton.index(name) for name in names]]
        there = b.global_positions()[:, [b.skeleton.index(name) for name in names.values()]]
        return np.asarray(np.linalg.norm(here - there, axis=-1))

    assert gap(LEGS).max() < 0.01 * MM
    # The conversion lost the thorax's length, 12.3 cm; what hangs above it is that far off, no more and no less.
    assert np.abs(gap(ABOVE_THORAX) - 0.123).max() < 1 * MM


def test_every_recording_loads(recordings: Path) -> None:
    with (recordings / "cmu/trials.tsv").open(newline="") as table:
        listed = {row["trial"]: row for row in csv.DictReader(table, delimiter="\t")}
    paths = sorted((recordings / "cmu").rglob("*.amc"))
    assert len(paths) >= 90
    for path in paths:
        clip = read_clip(path)
        row = listed[path.stem]
        assert (len(clip), clip.fps) == (int(row["frames"]), float(row["fps"])), path.name
        assert [label.text for label in clip.labels] == [row["description"].strip()]
        assert clip.source is not None and clip.source.notes == () and clip.source.up_axis == "y"
        assert 1.35 < clip.skeleton.height < 1.75, path.name
        assert set(clip.skeleton.roles) >= {"hips", "head", "left_foot", "right_toe", "left_hand"}


def test_odd_files_load_with_their_oddities_noted(recordings: Path) -> None:
    notes = {}
    for path in sorted((recordings / "odd_files").rglob("*.*")):
        if path.suffix in (".bvh", ".amc"):
            try:
                source = read_clip(path).source
            except FormatError as error:
                assert error.path == path and error.reason
                continue
            assert source is not None
            notes[path.stem] = {note.kind: note.count for note in source.notes}
    assert notes.pop("alinen_tpose_noROOT_CHANNELS0") == {"no-root-keyword": 1, "repeated-name": 12}
    assert notes.pop("90_10") == {"assumed-rate": 1}, "some of CMU's subject 90 are at 60"
    assert notes.pop("vicon_6ch_all_scinot") == {"folded-root": 2}
    assert notes.pop("pybvh_mixed_orders_CRLF") == {"rest-up-differs": 1}
    for no_body in ("full_precision_frame_time", "mocapnet_axis", "rotation_first_root", "sinusoidal"):
        assert notes.pop(no_body) == {"unit-unknown": 1, "up-unknown": 1}
    assert all(found == {} for found in notes.values()), notes


@pytest.mark.parametrize(
    ("trial", "low", "high"), [("16_47", 1.2, 1.4), ("16_16", 0.9, 1.1), ("16_21", 1.6, 1.8), ("16_45", 3.6, 4.2)]
)
def test_speeds_are_those_of_people(recordings: Path, trial: str, low: float, high: float) -> None:
    clip = amc(recordings, trial)
    travelled = np.linalg.norm(clip.root_pos[-1, [0, 2]] - clip.root_pos[0, [0, 2]])
    assert low < travelled / clip.seconds < high


def test_heights_are_those_of_people(recordings: Path) -> None:
    standing = amc(recordings, "16_01")
    top = standing.tip_positions()[:20, :, 1].max(axis=1) - standing.global_positions()[:20, :, 1].min(axis=1)
    assert 1.55 < top.mean() < 1.85


SEGMENTS = [
    # from, to, share of the body's mass, centre of mass along the way (de Leva 1996, table 4, men)
    *(
        (f"{side}_{a}", f"{side}_{b}", share, along)
        for side in ("left", "right")
        for a, b, share, along in (
            ("upper_leg", "lower_leg", 0.1416, 0.4095), ("lower_leg", "foot", 0.0433, 0.4395),
            ("foot", "toe", 0.0137, 0.5), ("upper_arm", "forearm", 0.0271, 0.5772),
            ("forearm", "hand", 0.0162, 0.4574), ("hand", "fingers", 0.0061, 0.5),
        )
    ),
    ("hips", "neck", 0.4346, 0.5),
    ("neck", "head", 0.0694, 1.0),
]  # fmt: skip


def centre_of_mass(clip: Clip) -> np.ndarray:
    pos, need = clip.global_positions(), clip.skeleton.need
    parts = [share * (pos[:, need(a)] * (1 - t) + pos[:, need(b)] * t) for a, b, share, t in SEGMENTS]
    return np.asarray(np.sum(parts, axis=0) / sum(share for _, _, share, _ in SEGMENTS))


def fall(clip: Clip, heights: np.ndarray) -> float:
    """Downward acceleration of a height over the longest flight, by a parabola, m/s²."""
    feet = clip.global_positions()[:, clip.skeleton.feet, 1].min(axis=1)
    start, stop = max(runs(feet > np.percentile(feet, 5) + 0.05), key=lambda flight: flight[1] - flight[0])
    assert stop - start > 0.25 * clip.fps
    return float(-2 * np.polyfit(np.arange(start, stop) / clip.fps, heights[start:stop], 2)[0])


def test_gravity_in_jumps(recordings: Path) -> None:
    jumps = [amc(recordings, f"16_{k:02}") for k in (1, 2, 3, 4, 5, 6, 7, 9, 10)]
    found = [fall(clip, clip.global_positions()[..., 1].mean(axis=1)) for clip in jumps]
    assert 9 < np.median(found) < 10
    # Weighing the body's parts, subject 13's jumps fall as they should, one by one.
    jumps = [amc(recordings, f"13_{k}") for k in (11, 13, 19, 32, 39, 40, 41, 42)]
    for clip in jumps:
        assert 9.4 < fall(clip, centre_of_mass(clip)[:, 1]) < 10.2, clip.name


def gap_after(clip: Clip, path: Path, **reading: float) -> float:
    write_clip(path, clip)
    again = read_clip(path, **reading)  # type: ignore[arg-type]
    assert again.skeleton.names == clip.skeleton.names and again.fps == pytest.approx(clip.fps, rel=1e-12)
    tips = np.abs(again.tip_positions() - clip.tip_positions()).max() if len(clip.skeleton.tip_parents) else 0.0
    return max(float(np.abs(again.global_positions() - clip.global_positions()).max()), float(tips))


@pytest.mark.parametrize("trial", ["16_47", "16_45", "75_08", "87_03", "60_10"])
def test_round_trips_of_amc(recordings: Path, tmp_path: Path, trial: str) -> None:
    clip = amc(recordings, trial)
    assert gap_after(clip, tmp_path / "a.amc", fps=clip.fps) < 0.01 * MM
    assert gap_after(clip, tmp_path / "a.bvh") < 0.1 * MM


def test_round_trips_of_bvh(recordings: Path, tmp_path: Path) -> None:
    for path in [*(recordings / "cmu_bvh").glob("*.bvh"), *(recordings / "odd_files").glob("*.bvh")]:
        clip = read_clip(path)
        known = clip.source is not None and not any(note.kind == "unit-unknown" for note in clip.source.notes)
        # What is no body cannot tell its unit; that is what stating it is for.
        stated = {} if known else {"metres_per_unit": 1.0}
        assert gap_after(clip, tmp_path / f"{path.stem}.bvh", **stated) < 0.01 * MM, path.name


def test_bvh_as_amc(recordings: Path, tmp_path: Path) -> None:
    for path in [*(recordings / "cmu_bvh").glob("*.bvh"), *(recordings / "odd_files").glob("m*.bvh")]:
        clip = read_clip(path)
        assert gap_after(clip, tmp_path / f"{path.stem}.amc", fps=clip.fps, metres_per_unit=0.0254 / 0.45) < 0.01 * MM


def test_npz_is_exact(recordings: Path, tmp_path: Path) -> None:
    clip = amc(recordings, "16_47")
    write_clip(tmp_path / "a.npz", clip)
    again = read_clip(tmp_path / "a.npz")
    assert np.array_equal(again.local_rot, clip.local_rot) and np.array_equal(again.root_pos, clip.root_pos)
    assert again.source == clip.source and again.labels == clip.labels
