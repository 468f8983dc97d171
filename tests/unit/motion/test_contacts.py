from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from choreograph.base import quat
from choreograph.base.errors import RoleError
from choreograph.formats import read_clip
from choreograph.motion.clip import Clip
from choreograph.motion.contacts import detect_contacts, find_foot_contacts, runs, with_detected_contacts
from choreograph.motion.skeleton import Skeleton
from choreograph.motion.trim import trimmed

FPS = 60.0


def hopper(heights: np.ndarray, ahead: np.ndarray) -> Clip:
    """Two feet that are where they are told: (F, 2) heights and places along z, by joints hanging from a still hub."""
    skeleton = Skeleton(
        ("Hips", "LeftFoot", "RightFoot", "Head"), np.array([-1, 0, 0, 0]),
        np.array([[0, 1.0, 0], [0.1, -1, 0], [-0.1, -1, 0], [0, 0.7, 0]]),
    )  # fmt: skip
    frames = len(heights)
    pos = np.tile(skeleton.offsets, (frames, 1, 1))
    pos[:, 1:3, 1] = heights - 1.0
    pos[:, 1:3, 2] = ahead
    rot = np.tile(quat.IDENTITY, (frames, 4, 1))
    return Clip(skeleton, FPS, pos[:, 0], rot, local_pos=pos)


def steps(rise: float, count: int = 4, stand: int = 40, swing: int = 24) -> tuple[Clip, np.ndarray]:
    """Feet that step in turn, each step `rise` higher; and where they really stand."""
    heights, ahead, standing = [], [], []
    level, place = np.zeros(2), np.zeros(2)
    for k in range(count):
        moving = k % 2
        heights += [level.copy()] * stand
        ahead += [place.copy()] * stand
        standing += [[True, True]] * stand
        for s in range(swing):
            t = (s + 1) / (swing + 1)
            h, z = level.copy(), place.copy()
            h[moving] += t * rise * (k + 1 if k else 1) + 0.25 * np.sin(np.pi * t)
            z[moving] += 0.6 * (3 * t**2 - 2 * t**3)
            heights.append(h)
            ahead.append(z)
            standing.append([moving != 0, moving != 1])
        level[moving] = rise * (k + 1)
        place[moving] += 0.6
    return hopper(np.array(heights), np.array(ahead)), np.array(standing)


def test_steps_on_a_level_floor() -> None:
    clip, standing = steps(0.0)
    found = find_foot_contacts(clip)
    # Lifting off and setting down take a few frames in which either answer is right.
    assert (found.planted == standing).mean() > 0.93
    assert not found.moving_floor
    assert found.floor_height == pytest.approx(0, abs=1e-3)
    assert [len(runs(found.planted[:, k])) for k in (0, 1)] == [3, 2]  # the clip ends as the right foot swings


@pytest.mark.parametrize("rise", [0.16, 0.2])
def test_stairs_are_flagged(rise: float) -> None:
    assert find_foot_contacts(steps(rise)[0]).moving_floor


def test_a_floor_elsewhere_is_still_one_floor() -> None:
    clip, standing = steps(0.0)
    found = find_foot_contacts(clip.raised(0.7))
    assert found.floor_height == pytest.approx(0.7, abs=1e-3)
    assert (found.planted == standing).mean() > 0.93


@pytest.mark.parametrize("degrees", [-1.3, 0.8])
def test_feet_stand_on_a_floor_that_slopes(degrees: float) -> None:
    clip, standing = steps(0.0, count=12)
    assert clip.local_pos is not None
    slope, pos = float(np.tan(np.radians(degrees))), np.array(clip.local_pos)
    pos[:, 1:, 1] += slope * pos[:, 1:, 2]
    found = find_foot_contacts(replace(clip, local_pos=pos))
    assert found.floor_slope == pytest.approx((0.0, slope), abs=0.1 * abs(slope))
    assert (found.planted == standing).mean() > 0.93
    assert not found.moving_floor


def test_a_level_floor_has_no_slope() -> None:
    assert find_foot_contacts(steps(0.0, count=12)[0]).floor_slope == (0.0, 0.0)
    assert find_foot_contacts(steps(0.16, count=12)[0]).floor_slope == (0.0, 0.0), "stairs are no floor"


def test_short_clips_and_missing_feet(walker: Clip) -> None:
    assert detect_contacts(walker[:1]).shape == (1, 2)
    assert detect_contacts(walker[:2]).shape == (2, 2)
    snake = replace(walker, skeleton=walker.skeleton.with_roles({"left_foot": [], "right_foot": []}))
    with pytest.raises(RoleError, match="with_roles"):
        detect_contacts(snake)


def test_known_contacts_are_kept(walker: Clip) -> None:
    known = walker.with_contacts(np.ones((24, 2), bool))
    assert with_detected_contacts(known) is known
    assert with_detected_contacts(walker).contacts is not None


def test_runs() -> None:
    assert runs(np.array([True, True, False, True])) == [(0, 2), (3, 4)]
    assert runs(np.zeros(3, bool)) == [] and runs(np.zeros(0, bool)) == []


def by_foot(clip: Clip) -> np.ndarray:
    planted = detect_contacts(clip)
    return np.stack([planted[:, :2].any(axis=1), planted[:, 2:].any(axis=1)], axis=1)


WALKS = ["16_11", "16_12", "16_14", "16_15", "16_16", "16_31", "16_32", "16_47", "16_58"]


@pytest.mark.parametrize("trial", WALKS)
def test_recorded_walks(recordings: Path, trial: str) -> None:
    feet = by_foot(trimmed(read_clip(recordings / "cmu/16" / f"{trial}.amc")))
    assert (~feet.any(axis=1)).mean() < 0.02, "somebody who walks has a foot on the floor"
    landings = sorted((start, k) for k in (0, 1) for start, _ in runs(feet[:, k]) if start > 0)
    assert len(landings) >= 4
    assert all(a[1] != b[1] for a, b in pairwise(landings)), "plants alternate"
    for k in (0, 1):
        starts = [start for start, _ in runs(feet[:, k]) if start > 0]
        whole = feet[starts[0] : starts[-1], k]  # from landing to landing: whole strides
        assert 0.5 < whole.mean() < 0.7, "a foot stands for 50 to 70 % of a stride"


@pytest.mark.parametrize("trial", ["08_03", "08_07", "08_11", "47_01", "54_22", "113_05"])
def test_who_walks_on_a_floor_that_slopes_has_a_foot_on_it(recordings: Path, trial: str) -> None:
    """These were calibrated to a degree: the floor rises by 5 cm along the way."""
    folder = recordings / "cmu_more" / trial.split("_")[0]
    if not folder.is_dir():
        pytest.skip(f"needs {folder}")
    found = find_foot_contacts(read_clip(folder / f"{trial}.amc"))
    assert 0.8 < np.degrees(np.hypot(*found.floor_slope)) < 1.5
    assert found.planted.any(axis=1).mean() > 0.96


@pytest.mark.parametrize("trial", ["16_35", "16_36", "16_45", "16_46", "16_48"])
def test_recorded_runs_have_flight(recordings: Path, trial: str) -> None:
    feet = by_foot(read_clip(recordings / "cmu/16" / f"{trial}.amc"))
    assert not feet.all(axis=1).any(), "two feet down at once is a walk"
    assert 0.3 < (~feet.any(axis=1)).mean() < 0.75


@pytest.mark.parametrize("trial", ["16_01", "16_02", "16_03", "16_04"])
def test_recorded_jumps_leave_the_floor_once(recordings: Path, trial: str) -> None:
    feet = by_foot(read_clip(recordings / "cmu/16" / f"{trial}.amc"))
    assert len(runs(~feet.any(axis=1))) == 1


def test_no_recording_of_subject_16_has_a_moving_floor(recordings: Path) -> None:
    for path in sorted((recordings / "cmu/16").glob("*.amc")):
        assert not find_foot_contacts(read_clip(path)).moving_floor, path.name


def test_contacts_do_not_depend_on_the_rate(human_clip: Callable[..., Clip]) -> None:
    clip, _ = steps(0.0)
    fine = detect_contacts(clip.resampled(120))[::2]
    assert (fine == detect_contacts(clip)[: len(fine)]).mean() > 0.95
