from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from choreograph.base import quat
from choreograph.base.errors import Cancelled, RequestError, RoleError
from choreograph.base.progress import Recorder
from choreograph.finishing.foot_contacts import foot_slide
from choreograph.finishing.footskate import CleanSettings, clean_feet
from choreograph.formats import read_clip, write_clip
from choreograph.motion.clip import Clip
from choreograph.motion.contacts import runs
from choreograph.motion.skeleton import Skeleton


@pytest.fixture
def sliding(walking: Clip) -> Clip:
    """A walk whose body goes 6 % farther than its feet take it, and sways aside."""
    root = walking.root_pos * (1.0, 1.0, 1.06)
    root[:, 0] += 0.02 * np.sin(np.arange(len(root)) / 25)
    return walking.with_frames(root, walking.local_rot)


def knee_flexion(clip: Clip, side: str) -> np.ndarray:
    pos = clip.global_positions()
    hip, knee, ankle = (pos[:, clip.skeleton.need(f"{side}_{x}")] for x in ("upper_leg", "lower_leg", "foot"))
    cosine = np.sum((knee - hip) * (ankle - knee), axis=1)
    return np.arccos(np.clip(cosine / np.linalg.norm(knee - hip, axis=1) / np.linalg.norm(ankle - knee, axis=1), -1, 1))


def test_planted_feet_stay_put(sliding: Clip) -> None:
    cleaned = clean_feet(sliding)
    assert foot_slide(sliding) > 0.015
    assert foot_slide(cleaned) < 0.1 * foot_slide(sliding)
    toe = sliding.skeleton.need("left_toe")
    column = sliding.skeleton.feet.index(toe)
    start, stop = max(runs(sliding.contacts[:, column]), key=lambda run: run[1] - run[0])
    third = (stop - start) // 3
    middle = slice(start + third, stop - third)
    assert np.ptp(cleaned.global_positions()[middle, toe], axis=0).max() < 0.003
    assert np.ptp(sliding.global_positions()[middle, toe], axis=0).max() > 0.01


def test_bones_keep_their_length_and_only_legs_turn(sliding: Clip) -> None:
    cleaned = clean_feet(sliding)
    assert cleaned.local_pos is None
    assert cleaned.skeleton is sliding.skeleton
    other = [j for j, role in enumerate(sliding.skeleton.roles) if "leg" not in role and "foot" not in role]
    other = [j for j in other if "toe" not in sliding.skeleton.roles[j]]
    assert quat.angle_between(cleaned.local_rot, sliding.local_rot)[:, other].max() < 1e-7
    np.testing.assert_allclose(np.linalg.norm(cleaned.local_rot, axis=2), 1, atol=1e-9)


def test_nothing_pops(sliding: Clip) -> None:
    cleaned = clean_feet(sliding)

    def peak(clip: Clip) -> float:
        spin = quat.as_rotvec(quat.multiply(quat.inverse(clip.local_rot[:-1]), clip.local_rot[1:])) * clip.fps
        return float(np.percentile(np.linalg.norm(np.diff(spin, axis=0), axis=2) * clip.fps, 99.9))

    assert peak(cleaned) < 1.5 * peak(sliding)
    root = [np.abs(np.diff(c.root_pos, n=2, axis=0)).max() for c in (cleaned, sliding)]
    assert root[0] < 1.1 * root[1]
    for side in ("left", "right"):
        assert (
            np.abs(np.diff(knee_flexion(cleaned, side))).max() < 2 * np.abs(np.diff(knee_flexion(sliding, side))).max()
        )


def test_a_foot_that_pivots_while_it_is_held_is_not_snapped_back(walking: Clip) -> None:
    ankle = walking.skeleton.need("left_foot")
    columns = [walking.skeleton.feet.index(walking.skeleton.need(name)) for name in ("left_foot", "left_toe")]
    start, stop = max(runs(walking.contacts[:, columns].all(axis=1)), key=lambda run: run[1] - run[0])
    yaw = np.zeros(len(walking))
    yaw[start:stop] = np.linspace(0, 0.9, stop - start)
    yaw[stop:] = 0.9
    rot, local = walking.global_rotations(), walking.local_rot.copy()
    above = rot[:, walking.skeleton.parents[ankle]]
    local[:, ankle] = quat.multiply(quat.inverse(above), quat.multiply(quat.from_yaw(yaw), rot[:, ankle]))
    pivoting = walking.with_frames(walking.root_pos, local)

    def peak(clip: Clip) -> float:
        turned = quat.as_rotvec(quat.multiply(quat.inverse(clip.local_rot[:-1, ankle]), clip.local_rot[1:, ankle]))
        return float(np.linalg.norm(np.diff(turned, axis=0), axis=-1).max()) * clip.fps**2

    softly = clean_feet(pivoting, held=walking.contacts)
    at_once = clean_feet(pivoting, CleanSettings(turn_rad_s2=1e5), held=walking.contacts)
    assert peak(softly) < 0.7 * peak(at_once)
    held = walking.contacts[:, columns[1]]
    toe = walking.skeleton.need("left_toe")
    np.testing.assert_allclose(softly.global_positions()[held, toe], at_once.global_positions()[held, toe], atol=0.004)


def test_toes_stay_above_the_floor(sliding: Clip) -> None:
    sunk = sliding.with_frames(sliding.root_pos - (0.0, 0.0, 0.0), sliding.local_rot)
    rot = np.array(sunk.local_rot)
    ankle = sunk.skeleton.need("left_foot")
    # Point the foot down in the middle of its swings, into the floor.
    swing = ~sunk.contacts[:, [sunk.skeleton.feet.index(ankle), sunk.skeleton.feet.index(ankle) + 1]].any(axis=1)
    for start, stop in runs(swing):
        t = (np.arange(start, stop) - start) / (stop - start)
        tip = quat.from_rotvec(np.outer(0.9 * np.sin(np.pi * t) ** 2, [1.0, 0.0, 0.0]))
        rot[start:stop, ankle] = quat.multiply(rot[start:stop, ankle], tip)
    sunk = sunk.with_frames(sunk.root_pos, rot)
    toe = sunk.skeleton.need("left_toe")
    stands = np.median(sunk.global_positions()[sunk.contacts[:, sunk.skeleton.feet.index(toe)], toe, 1])
    assert sunk.global_positions()[:, toe, 1].min() < stands - 0.02
    assert clean_feet(sunk).global_positions()[:, toe, 1].min() > stands - 0.012


def test_feet_go_along_from_one_floor_to_another(sliding: Clip) -> None:
    """A body that goes 4 cm down while it walks bends no knee for it, unless its feet shall keep their height."""
    down = 0.04 * np.clip((np.arange(len(sliding)) - 0.4 * len(sliding)) / (0.2 * len(sliding)), 0, 1)
    sinking = sliding.with_frames(sliding.root_pos - np.outer(down, (0.0, 1.0, 0.0)), sliding.local_rot)
    cleaned, wanted = (clean_feet(one, CleanSettings(level=False)) for one in (sinking, sliding))
    np.testing.assert_allclose(cleaned.local_rot, wanted.local_rot, atol=0.02)
    assert foot_slide(cleaned) < 0.1 * foot_slide(sliding)
    assert np.abs(clean_feet(sinking).local_rot - clean_feet(sliding).local_rot).max() > 0.05


def test_a_clean_walk_is_left_nearly_as_it_is(walking: Clip) -> None:
    gap = np.linalg.norm(clean_feet(walking).global_positions() - walking.global_positions(), axis=2)
    assert np.sqrt((gap**2).mean(axis=1)).max() < 0.02
    assert np.sqrt((gap**2).mean()) < 0.006


def test_without_plants_feet_are_left_alone(walking: Clip) -> None:
    none = np.zeros_like(walking.contacts)
    cleaned = clean_feet(walking, CleanSettings(tremble_s=0.0), contacts=none)
    np.testing.assert_allclose(cleaned.global_positions(), walking.global_positions(), atol=1e-6)
    assert not cleaned.contacts.any()


def test_joints_between_knee_and_ankle_are_taken_along(sliding: Clip) -> None:
    """The same motion on a skeleton with a twist joint halfway down each shin comes out the same."""
    old = sliding.skeleton
    names, parents, offsets, source = [], [], [], []
    place: dict[int, int] = {}
    for j, name in enumerate(old.names):
        parent = int(old.parents[j])
        up = -1 if parent < 0 else place[parent]
        if old.roles[j].endswith("_foot"):
            names.append(f"{name}Twist")
            parents.append(up)
            offsets.append(old.offsets[j] * 0.4)
            source.append(-1)
            up = len(names) - 1
            offsets.append(old.offsets[j] * 0.6)
        else:
            offsets.append(old.offsets[j])
        names.append(name)
        parents.append(up)
        source.append(j)
        place[j] = len(names) - 1
    roles = tuple("other" if j < 0 else old.roles[j] for j in source)
    twisted = Skeleton(tuple(names), np.array(parents), np.array(offsets), roles=roles)
    rot = np.stack(
        [np.tile(quat.IDENTITY, (len(sliding), 1)) if j < 0 else sliding.local_rot[:, j] for j in source], axis=1
    )
    clip = Clip(twisted, sliding.fps, sliding.root_pos, rot, contacts=sliding.contacts)
    new, expected = clean_feet(clip), clean_feet(sliding)
    kept = [place[j] for j in range(len(old))]
    np.testing.assert_allclose(new.global_positions()[:, kept], expected.global_positions(), atol=1e-9)


def test_a_skeleton_without_toes_stands_on_its_heels(sliding: Clip) -> None:
    bare = {"left_toe": [], "right_toe": []}
    clip = sliding.with_skeleton(sliding.skeleton.with_roles(bare)).with_contacts(None)
    cleaned = clean_feet(clip)
    assert foot_slide(cleaned) < 0.5 * foot_slide(clip.with_contacts(cleaned.contacts))


def test_a_heel_without_a_ball_below_it_is_not_held_down(walking: Clip) -> None:
    clip = walking.with_skeleton(walking.skeleton.with_roles({"left_toe": [], "right_toe": []}))
    ankle = clip.skeleton.need("left_foot")
    height = clip.global_positions()[:, ankle, 1]
    held = np.zeros((len(clip), 2), bool)
    held[:, 0] = height < np.min(height) + 0.05  # until it has risen by 5 cm
    cleaned = clean_feet(clip, contacts=held, held=held).global_positions()[:, ankle, 1]
    rises = held[:, 0] & (height > np.min(height) + 0.03)
    assert rises.any()
    assert (cleaned[rises] > np.min(height) + 0.015).all()


def test_a_foot_that_points_straight_down_has_no_heading_to_correct(sliding: Clip) -> None:
    offsets = np.array(sliding.skeleton.offsets)
    for side in ("left", "right"):
        offsets[sliding.skeleton.need(f"{side}_toe")] = (0.0, -0.12, 0.0)
    stilts = Skeleton(sliding.skeleton.names, sliding.skeleton.parents, offsets, roles=sliding.skeleton.roles)
    clip = Clip(stilts, sliding.fps, sliding.root_pos, sliding.local_rot, contacts=sliding.contacts)
    cleaned = clean_feet(clip)
    feet = [stilts.need("left_foot"), stilts.need("right_foot")]
    assert quat.angle_between(cleaned.global_rotations(), clip.global_rotations())[:, feet].max() < 0.5


def test_without_feet_the_error_says_what_to_do(sliding: Clip, walker: Clip) -> None:
    nameless = sliding.with_skeleton(
        sliding.skeleton.with_roles({f"{side}_{part}": [] for side in ("left", "right") for part in ("foot", "toe")})
    )
    with pytest.raises(
        RoleError, match=r"no joint is known to be the left foot; say which is, as left_foot .*with_roles"
    ):
        clean_feet(nameless)
    with pytest.raises(RoleError, match="left lower leg"):
        clean_feet(walker)


@pytest.mark.parametrize("frames", [1, 2, 3, 12])
def test_the_shortest_clips_are_cleaned_too(sliding: Clip, frames: int) -> None:
    cleaned = clean_feet(sliding[:frames])
    assert len(cleaned) == frames
    assert np.isfinite(cleaned.global_positions()).all()


def test_settings_and_plants_that_cannot_be_are_refused(walking: Clip) -> None:
    with pytest.raises(RequestError, match=r"ease_s is -1; it must be between 0\.01 and 2"):
        CleanSettings(ease_s=-1)
    with pytest.raises(RequestError, match="do not fit 480 frames"):
        clean_feet(walking, contacts=np.zeros((3, 4), bool))


def test_progress_is_heard_and_can_stop_the_work(walking: Clip) -> None:
    heard = Recorder()
    clean_feet(walking, progress=heard)
    assert heard.calls[-1] == ("cleaning feet", 4, 4)
    with pytest.raises(Cancelled):
        clean_feet(walking, progress=Recorder(cancel_after=2))


def test_a_file_written_and_read_back_is_cleaned_the_same(sliding: Clip, tmp_path: Path) -> None:
    write_clip(tmp_path / "slides.bvh", sliding)
    read = read_clip(tmp_path / "slides.bvh", metres_per_unit=1.0)
    cleaned = clean_feet(read)
    write_clip(tmp_path / "clean.bvh", cleaned)
    again = read_clip(tmp_path / "clean.bvh", metres_per_unit=1.0).with_contacts(cleaned.contacts)
    np.testing.assert_allclose(again.global_positions(), cleaned.global_positions(), atol=1e-4)
    assert foot_slide(again) < 0.5 * foot_slide(read.with_contacts(cleaned.contacts))


@pytest.mark.parametrize("trial", ["16/16_15", "60/60_08"])
def test_real_recordings_slide_less(recordings: Path, trial: str) -> None:
    clip = read_clip(recordings / "cmu" / f"{trial}.amc")
    cleaned = clean_feet(clip)
    assert foot_slide(cleaned) < 0.6 * foot_slide(clip.with_contacts(cleaned.contacts))
