"""What the demo clips promise: planted feet, free fall, human joints, smooth motion, a way from each to each."""

from __future__ import annotations

import numpy as np
import pytest

from choreograph.base import quat
from choreograph.base.arrays import Flags
from choreograph.base.errors import Cancelled, RequestError
from choreograph.base.progress import Recorder
from choreograph.demo import centre_of_mass, demo_clip, demo_clips, demo_names, demo_skeleton
from choreograph.demo.body import TOE_HEIGHT
from choreograph.demo.clips import PLANS
from choreograph.demo.model import load_model
from choreograph.motion.clip import Clip
from choreograph.motion.contacts import detect_contacts

SKELETON = demo_skeleton()
Clips = dict[str, Clip]


def stretches(flags: Flags) -> list[tuple[int, int]]:
    """Runs of true frames, [start, stop)."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], flags.astype(int), [0]])))
    return list(zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True))


@pytest.mark.slow
def test_there_is_enough_of_it(clips: Clips) -> None:
    assert len(clips) >= 24
    assert sum(clip.seconds for clip in clips.values()) >= 90
    assert tuple(clips) == demo_names()
    said = {label.text for clip in clips.values() for label in clip.labels}
    assert said >= {
        *("stand", "start", "stop", "walk", "jog", "run", "jump", "turn left", "turn right"),
        *("veer left", "veer right", "side step left", "side step right"),
    }


def test_every_frame_has_a_label_and_every_label_fits(clips: Clips) -> None:
    for clip in clips.values():
        covered = np.zeros(len(clip), bool)
        for label in clip.labels:
            covered[label.start : label.stop] = True
        assert covered.all(), clip.name


def test_planted_feet_do_not_move(clips: Clips) -> None:
    for clip in clips.values():
        assert clip.contacts is not None
        pos = clip.global_positions()
        for column, joint in enumerate(SKELETON.feet):
            for start, stop in stretches(clip.contacts[:, column]):
                assert np.ptp(pos[start:stop, joint], axis=0).max() < 1e-9, (clip.name, joint)


@pytest.mark.parametrize("name", ["walk_turn_90_left", "jump_forward", "run"])
def test_at_another_rate_it_is_the_same_motion_and_as_firmly_planted(name: str) -> None:
    slow, fast = demo_clip(name, 60), demo_clip(name, 120)
    pos, again = slow.global_positions(), fast.global_positions()
    assert fast.contacts is not None
    for column, joint in enumerate(SKELETON.feet):
        for start, stop in stretches(fast.contacts[:, column]):
            assert np.ptp(again[start:stop, joint], axis=0).max() < 1e-9
    shared = min(len(pos), len(again[::2]))
    assert np.abs(pos[:shared] - again[::2][:shared]).max() < 0.005


def test_nothing_goes_through_the_floor(clips: Clips) -> None:
    for clip in clips.values():
        pos = clip.global_positions()
        toes = pos[:, [SKELETON.index("LeftToeBase"), SKELETON.index("RightToeBase")], 1]
        assert toes.min() > TOE_HEIGHT - 1e-6, clip.name
        assert clip.tip_positions()[..., 1].min() > 0.0, clip.name
        assert pos[..., 1].min() > 0.0, clip.name


def test_bones_keep_their_lengths(clips: Clips) -> None:
    for clip in clips.values():
        assert clip.local_pos is None
        pos = clip.global_positions()
        lengths = np.linalg.norm(pos[:, 1:] - pos[:, SKELETON.parents[1:]], axis=2)
        assert np.abs(lengths - SKELETON.bone_lengths[1:]).max() < 1e-9


def test_jumps_fall_freely(clips: Clips) -> None:
    jumps = [(plan.name, jump) for plan in PLANS for jump in plan.jumps]
    assert len(jumps) >= 3
    for name, jump in jumps:
        clip = clips[name]
        times = np.arange(len(clip)) / clip.fps - jump.start
        _, _, take_off, landing, _, _ = load_model().jumps[jump.kind].times
        aloft = (times > take_off) & (times < landing)
        centre = centre_of_mass(clip.global_positions(), clip.global_rotations())[aloft]
        sideways, fall, ahead = 2 * np.polyfit(times[aloft], centre, 2)[0]
        assert fall == pytest.approx(-9.81, abs=0.01)
        assert abs(sideways) < 0.01 and abs(ahead) < 0.01
        assert clip.contacts is not None and not clip.contacts[aloft].any()


def test_runs_fly_between_their_steps_and_walks_do_not(clips: Clips) -> None:
    for name in ("jog", "run"):
        clip = demo_clip(name, 240)
        assert clip.contacts is not None
        centre = centre_of_mass(clip.global_positions(), clip.global_rotations())[:, 1]
        flights = [(a, b) for a, b in stretches(np.logical_not(clip.contacts.any(axis=1))) if a > 0 and b < len(clip)]
        assert len(flights) > 8
        for start, stop in flights:
            assert 0.05 < (stop - start) / 240 < 0.3
            fall = 2 * np.polyfit(np.arange(stop - start) / 240, centre[start:stop], 2)[0]
            assert fall == pytest.approx(-9.81, abs=0.3)
    soles = clips["walk"].global_positions()[:, SKELETON.feet, 1] - [0.085, TOE_HEIGHT, 0.085, TOE_HEIGHT]
    assert soles.min(axis=1).max() < 0.03


def test_joints_stay_human(clips: Clips) -> None:
    for clip in clips.values():
        for side in ("Left", "Right"):
            knee = quat.as_rotvec(clip.local_rot[:, SKELETON.index(side + "Leg")])
            assert np.abs(knee[:, 1:]).max() < 1e-9, clip.name
            assert np.radians(2) < knee[:, 0].min() and knee[:, 0].max() < np.radians(125), clip.name
            for part, most in (("UpLeg", 80), ("Foot", 65), ("ForeArm", 140), ("Shoulder", 45), ("Hand", 60)):
                turn = quat.angle_between(clip.local_rot[:, SKELETON.index(side + part)], quat.IDENTITY)
                assert np.degrees(turn.max()) < most, (clip.name, side + part, np.degrees(turn.max()))
        for part in ("Spine", "Spine1", "Spine2", "Neck", "Head"):
            turn = quat.angle_between(clip.local_rot[:, SKELETON.index(part)], quat.IDENTITY)
            assert np.degrees(turn.max()) < 50, (clip.name, part, np.degrees(turn.max()))


def test_legs_do_not_go_through_each_other(clips: Clips) -> None:
    """The middles of shins and feet stay 7 cm apart."""
    along = np.linspace(0, 1, 9)[None, :, None]
    for clip in clips.values():
        pos = clip.global_positions()
        for top, end in (("Leg", "Foot"), ("Foot", "ToeBase")):
            left, right = (
                pos[:, None, SKELETON.index(side + top)] * (1 - along)
                + pos[:, None, SKELETON.index(side + end)] * along
                for side in ("Left", "Right")
            )
            gap = np.linalg.norm(left[:, :, None] - right[:, None], axis=3).min()
            assert gap > 0.07, (clip.name, top, gap)


def test_nothing_jerks(clips: Clips) -> None:
    """Peaks stay below those of the recordings: 1,300 rad/s² in walks, 2,500 in runs and jumps, the root 50 m/s²."""
    for clip in clips.values():
        steps = quat.multiply(quat.inverse(clip.local_rot[:-1]), clip.local_rot[1:])
        spin = quat.as_rotvec(steps) * clip.fps
        peak = np.linalg.norm(np.diff(spin, axis=0), axis=2).max() * clip.fps
        root = np.linalg.norm(np.diff(clip.root_pos, 2, axis=0), axis=1).max() * clip.fps**2
        quick = any(label.text in ("jog", "run", "jump") for label in clip.labels)
        assert peak < (2000 if quick else 900), (clip.name, peak)
        assert root < (50 if quick else 12), (clip.name, root)


@pytest.mark.parametrize(
    ("name", "low", "high"),
    [("walk_slow", 0.9, 1.0), ("walk", 1.25, 1.35), ("walk_fast", 1.6, 1.7), ("jog", 2.3, 2.5), ("run", 3.6, 3.8)],
)
def test_speeds_are_what_the_names_say(clips: Clips, name: str, low: float, high: float) -> None:
    root = clips[name].root_pos[:, [0, 2]]
    assert low < np.linalg.norm(root[-1] - root[0]) / clips[name].seconds < high


@pytest.mark.parametrize(
    ("stem", "degrees"),
    [("walk_turn_90", 90), ("walk_turn_about", 180), ("jog_turn_90", 90), ("run_turn_90", 90), ("pivot", 90)],
)
def test_turns_turn_as_far_as_they_say_and_to_the_right_side(clips: Clips, stem: str, degrees: float) -> None:
    for sign, side in ((1, "left"), (-1, "right")):
        facing = np.degrees(np.unwrap(clips[f"{stem}_{side}"].facing()))
        assert sign * (facing[-1] - facing[0]) == pytest.approx(degrees, abs=12)


def test_side_steps_go_sideways(clips: Clips) -> None:
    for sign, side in ((1, "left"), (-1, "right")):
        moved = clips[f"side_step_{side}"].root_pos
        across, _, along = moved[-1] - moved[0]
        assert sign * across > 0.6 and abs(along) < 0.05


def test_arms_swing_against_the_legs(clips: Clips) -> None:
    for name in ("walk", "walk_fast", "jog", "run"):
        clip = clips[name]
        here = quat.rotate(quat.from_yaw(-clip.facing())[:, None], clip.global_positions() - clip.root_pos[:, None])
        legs = here[:, SKELETON.index("LeftFoot"), 2] - here[:, SKELETON.index("RightFoot"), 2]
        arms = here[:, SKELETON.index("LeftHand"), 2] - here[:, SKELETON.index("RightHand"), 2]
        assert np.corrcoef(legs, arms)[0, 1] < -0.8


def test_the_body_leans_into_a_run_s_turn(clips: Clips) -> None:
    for sign, side in ((1, "left"), (-1, "right")):
        clip = clips[f"jog_turn_90_{side}"]
        up = clip.global_positions()[:, SKELETON.index("Neck")] - clip.root_pos
        across = quat.rotate(quat.from_yaw(-clip.facing()), up)[:, 0]
        middle = slice(int(1.4 * clip.fps), int(2.1 * clip.fps))
        assert sign * (across[middle].mean() - across[:40].mean()) > 0.02


def test_detection_finds_every_true_plant(clips: Clips) -> None:
    shares = []
    for clip in clips.values():
        assert clip.contacts is not None
        found = detect_contacts(clip)
        # Detection also takes in the last centimetre before a strike and the first of a rising heel, never less.
        assert (found | ~clip.contacts).mean() > 0.995, clip.name
        shares.append((found == clip.contacts).mean())
        for column in range(4):
            true = stretches(clip.contacts[:, column])
            for start, stop in stretches(found[:, column]):
                assert sum(a < stop and start < b for a, b in true) <= 1, clip.name
    assert np.mean(shares) > 0.88


def test_it_is_the_same_every_time(clips: Clips) -> None:
    again = demo_clip("jump_forward")
    np.testing.assert_array_equal(again.local_rot, clips["jump_forward"].local_rot)
    np.testing.assert_array_equal(again.root_pos, clips["jump_forward"].root_pos)


def test_no_two_clips_stand_alike(clips: Clips) -> None:
    assert np.abs(clips["stand"].local_rot[0] - clips["jump"].local_rot[0]).max() > 1e-3


@pytest.mark.slow
def test_from_every_clip_there_is_a_way_to_every_other() -> None:
    """Windows of a third of a second that differ by less than 5 cm per joint lead from clip to clip."""
    from scipy.sparse.csgraph import connected_components

    window = 7
    heights, floors, sizes = [], [], []
    for clip in demo_clips(20):
        pos = clip.global_positions()
        cloud = np.stack([pos[k : k + window].reshape(-1, 3) for k in range(len(pos) - window + 1)])
        flat = cloud[..., 0] + 1j * cloud[..., 2]
        heights.append(cloud[..., 1])
        floors.append(flat - flat.mean(axis=1, keepdims=True))
        sizes.append((cloud[..., 1] ** 2).sum(1) + (np.abs(floors[-1]) ** 2).sum(1))
    near = np.zeros((len(sizes), len(sizes)), bool)
    for a in range(len(sizes)):
        for b in range(a, len(sizes)):
            overlap = heights[a] @ heights[b].T + np.abs(floors[a] @ floors[b].conj().T)
            gap = sizes[a][:, None] + sizes[b] - 2 * overlap
            near[a, b] = near[b, a] = gap.min() / heights[a].shape[1] < 0.05**2
    assert connected_components(near)[0] == 1
    assert near.mean() > 0.4


def test_an_unknown_clip_is_answered_with_the_known_ones() -> None:
    with pytest.raises(RequestError, match=r"moonwalk.*walk_turn_about_left"):
        demo_clip("moonwalk")


@pytest.mark.parametrize("fps", [0.0, 5.0, 2000.0, float("nan")])
def test_a_rate_that_makes_no_sense_is_refused(fps: float) -> None:
    with pytest.raises(RequestError, match="10 to 1000"):
        demo_clips(fps)


def test_making_them_can_be_watched_and_stopped() -> None:
    with pytest.raises(Cancelled):
        demo_clips(30, progress=Recorder(cancel_after=3))
