"""The verb: what is asked is done, what cannot be done is said."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import choreograph as cg
from choreograph.base import quat
from choreograph.base.errors import RequestError, RoleError
from choreograph.demo import demo_clip
from choreograph.motion.clip import Clip

WALK = "walk"


@pytest.fixture(scope="module")
def walks() -> list[Clip]:
    return [demo_clip(name, 30.0) for name in (WALK, "walk_veer_left", "walk_veer_right")]


@pytest.fixture(scope="module")
def model(walks: list[Clip]) -> cg.MotionModel:
    return cg.learn(walks, cg.LearnSettings(order=2, components=1))


def keys(*frames: int) -> list[cg.PoseGoal]:
    """Poses of the walk in place, from frame 10 on."""
    return [cg.PoseGoal((frame - 10) / 30, cg.PoseSource(WALK, frame), as_recorded=True) for frame in frames]


def test_three_keyframes_bring_the_walk_back(walks: list[Clip]) -> None:
    result = cg.complete(walks[1:] + walks[:1], cg.CompleteRequest(2.0, keys(10, 40, 70)))
    true = walks[0].global_positions()[10:71]
    own = result.clip.global_positions()
    assert result.problems == () and len(result.clip) == 61
    assert np.linalg.norm(own - true, axis=2).mean() < 0.05
    for frame in (0, 30, 60):
        assert np.abs(own[frame] - true[frame]).max() < 1e-6, "keyframes are met exactly"


def test_without_exactness_the_most_likely_motion_is_left_alone(walks: list[Clip]) -> None:
    request = cg.CompleteRequest(2.0, keys(10, 40, 70), exact=False, finish=cg.FinishSettings(clean=False))
    result = cg.complete(walks, request)
    assert result.completion is not None
    np.testing.assert_array_equal(result.clip.root_pos, result.completion.likely.root_pos)


def test_what_is_asked_exactly_is_met_exactly(walks: list[Clip]) -> None:
    camera = cg.Camera((3.0, 1.2, 1.0), (0.0, 1.0, 1.0))
    turn = quat.from_yaw(0.3)
    goals = [
        *keys(10),
        cg.PlaceGoal(3.0, (0.4, 4.0), 15.0),
        cg.JointGoal(1.0, "right_hand", (-0.3, 1.25, None)),
        cg.JointGoal(start_s=2.0, end_s=2.4, joint="left_hand", points=[(0.4, 1.1, 3.0), (0.5, 1.2, 3.5)]),
        cg.AngleGoal(1.5, "left_forearm", 60.0),
        cg.DistanceGoal(0.7, ("left_hand", "head"), 0.45),
        cg.OffsetGoal(2.7, "right_hand", "hips", (None, 0.3, None)),
        cg.TurnGoal(2.2, "head", tuple(turn.tolist())),
        cg.ViewGoal(0.4, "left_hand", camera, (0.5, 0.5)),
    ]
    request = cg.CompleteRequest(3.0, goals)
    result = cg.complete(walks, request)
    assert [p.text for p in result.problems] == []
    clip, pos = result.clip, result.clip.global_positions()
    find = clip.skeleton.need
    assert pos[30, find("right_hand"), :2] == pytest.approx((-0.3, 1.25), abs=1e-4)
    assert pos[66, find("left_hand")] == pytest.approx((0.45, 1.15, 3.25), abs=1e-4)
    assert pos[-1, clip.skeleton.hips, [0, 2]] == pytest.approx((0.4, 4.0), abs=1e-4)
    assert np.degrees(clip.facing()[-1]) == pytest.approx(15.0, abs=0.01)
    assert np.linalg.norm(pos[21, find("left_hand")] - pos[21, find("head")]) == pytest.approx(0.45, abs=1e-4)
    assert pos[81, find("right_hand"), 1] - pos[81, find("hips"), 1] == pytest.approx(0.3, abs=1e-4)


def test_recorded_stretches_and_places_hold_during_intervals(walks: list[Clip]) -> None:
    walk = walks[0]
    source = cg.PoseSource(WALK, 10)
    goals = [
        cg.PoseGoal(pose=source, start_s=0.0, end_s=0.5, place=(1.0, 2.0), facing_deg=90.0),
        cg.PlaceGoal(start_s=1.0, end_s=1.5, points=((2.2, 2.0), (2.7, 2.1))),
        cg.PlaceGoal(start_s=1.2, end_s=2.0, facing_deg=80.0),
    ]
    request = cg.CompleteRequest(2.0, goals)
    result = cg.complete(walks, request)
    assert not result.problems
    clip, hips = result.clip, walk.skeleton.hips
    np.testing.assert_allclose(clip.local_rot[:16, 1:], walk.local_rot[10:26, 1:], atol=1e-6)
    np.testing.assert_allclose(clip.global_positions()[0, hips][[0, 2]], (1.0, 2.0), atol=1e-6)
    travelled = np.linalg.norm(walk.root_pos[25] - walk.root_pos[10])
    assert abs(clip.root_pos[15, 0] - 1.0 - travelled) < 0.03, "it goes on as recorded, turned to +x"
    np.testing.assert_allclose(clip.global_positions()[45, hips][[0, 2]], (2.7, 2.1), atol=1e-6)
    np.testing.assert_allclose(np.degrees(clip.facing()[36:]), 80.0, atol=0.01)


def test_tracks_come_from_files(walks: list[Clip], tmp_path: object) -> None:
    from pathlib import Path

    folder = Path(str(tmp_path))
    hand = walks[0].skeleton.need("right_hand")
    way = walks[0].global_positions()[10:41, hand]
    rows = "\n".join(f"{n / 30:.4f},{x:.5f},{y:.5f},{z:.5f}" for n, (x, y, z) in enumerate(way))
    (folder / "hand.csv").write_text(f"seconds,x,y,z\n{rows}\n")
    goal = cg.JointGoal(start_s=0.0, end_s=1.0, joint="right_hand", track="hand.csv")
    request = cg.CompleteRequest(1.0, [*keys(10), goal]).resolved(folder)
    result = cg.complete(walks, request)
    assert np.abs(result.clip.global_positions()[:, hand] - way).max() < 1e-4


def test_contacts_keep_feet_still(walks: list[Clip]) -> None:
    stand = cg.ContactGoal(start_s=0.5, end_s=1.0, foot="left")
    likely = {}
    for asked in ((), (stand,)):
        request = cg.CompleteRequest(1.5, [*keys(10, 55), *asked], finish=cg.FinishSettings(clean=False))
        result = cg.complete(walks, request)
        foot = result.clip.global_positions()[15:31, result.clip.skeleton.need("left_foot")]
        likely[bool(asked)] = float(np.linalg.norm(np.diff(foot[:, [0, 2]], axis=0), axis=1).sum())
    assert likely[True] < 0.5 * likely[False]


def test_between_two_motions(walks: list[Clip]) -> None:
    walk = walks[0]
    first, second = walk[:40].with_name("first"), walk[60:100].with_name("second")
    between = cg.Between(("first", "second"), 0.7)
    request = cg.CompleteRequest(between=between)
    result = cg.complete([*walks, first, second], request)
    assert len(result.clip) == 22 and result.problems == ()
    true, own = walk.global_positions()[39:61], result.clip.global_positions()
    assert np.abs(own[0] - true[0]).max() < 1e-3 and np.abs(own[-1] - true[-1]).max() < 1e-3
    assert np.linalg.norm(own - true, axis=2).mean() < 0.03
    joined = cg.complete([*walks, first, second], request.with_(between=between.with_(joined=True))).clip
    assert len(joined) == 40 + 20 + 40


def test_between_wherever_it_leads(walks: list[Clip]) -> None:
    from choreograph.base.floor import FloorTransform

    walk = walks[0]
    second = walk[60:100].moved(FloorTransform(1.0, 9.0, 9.0)).with_name("second")
    between = cg.Between(("first", "second"), 0.7, as_recorded=False, joined=True)
    request = cg.CompleteRequest(between=between)
    joined = cg.complete([*walks, walk[:40].with_name("first"), second], request).clip
    steps = np.linalg.norm(np.diff(joined.root_pos, axis=0), axis=1)
    assert steps.max() < 2.5 * np.median(steps), "there is no leap"


_BOTH = cg.LearnSettings(order=2, behaviours=(WALK, "jump"), components=1)


def test_one_behaviour_after_another() -> None:
    clips = [demo_clip(WALK, 30.0).with_labels([WALK]), demo_clip("jump_high", 30.0).with_labels(["jump"])]
    jump = clips[1]
    top = int(jump.root_pos[:, 1].argmax())
    request = cg.CompleteRequest(
        3.0,
        [
            cg.PoseGoal(0.0, cg.PoseSource(WALK, 10), as_recorded=True),
            cg.PoseGoal(2.4, cg.PoseSource("jump_high", top)),
            cg.LabelGoal(start_s=0.0, end_s=1.5, label=WALK),
            cg.LabelGoal(start_s=1.5, end_s=3.0, label="jump"),
        ],
    )
    result = cg.complete(clips, request)
    named = result.best.details["behaviours"]
    assert named[0] == WALK and named[-1] == "jump" and len(named) == 91
    speed = np.linalg.norm(np.diff(result.clip.global_positions(), axis=0), axis=2) * result.clip.fps
    assert np.abs(np.diff(speed, axis=0)).max() < 3.0, "they join smoothly"


def test_behaviours_are_found_by_likelihood() -> None:
    clips = [demo_clip(WALK, 30.0).with_labels([WALK]), demo_clip("jump_high", 30.0).with_labels(["jump"])]
    model = cg.learn(clips, _BOTH)
    jump = clips[1]
    from choreograph.verbs.complete import behaviour_switching as mixed
    from choreograph.verbs.complete.residual_terms import PoseTerm, Terms
    from choreograph.verbs.complete.solver import SolverSettings

    track = model.encoding.encode(jump)
    poses = [PoseTerm(f, track.rows[f], 1.0, track.place[f]) for f in range(0, len(jump), 6)]
    found = mixed.find_behaviours(model, len(jump), Terms(poses=poses), SolverSettings())
    assert (found == 1).mean() > 0.8
    keys = [cg.PoseGoal(f / 30, cg.PoseSource("jump_high", f), as_recorded=True) for f in range(0, len(jump), 6)]
    one = model.dynamics[1]
    result = cg.complete([*clips], cg.CompleteRequest((len(jump) - 1) / 30, keys, advanced=cg.CompleteAdvanced(_BOTH)))
    assert one.name in result.best.details["behaviours"], "the result says which held when"


def test_the_same_request_gives_the_same_motion(model: cg.MotionModel, walks: list[Clip]) -> None:
    request = cg.CompleteRequest(1.0, keys(10, 40))
    one, other = (cg.complete(walks, request) for _ in range(2))
    np.testing.assert_array_equal(one.clip.local_rot, other.clip.local_rot)


def test_a_changed_request_keeps_the_model(walks: list[Clip]) -> None:
    search = cg.CompleteSearch(walks, cg.CompleteRequest(1.0, keys(10, 40)))
    search.run()
    kept = search._model
    search.change(cg.CompleteRequest(1.0, keys(10)))
    search.run()
    assert search._model is kept and kept is not None


@pytest.mark.parametrize(
    ("asked", "chosen"),
    [
        ([{"at_s": 0.0, "pose": {"clip": WALK, "frame": 10}}], WALK),
        ([{"at_s": 0, "place": [0, 0]}, {"at_s": 1, "place": [0, 1.3]}], WALK),
        ([{"at_s": 0.5, "joint": "head", "position": [None, 2.1, None]}], "jump_high"),
        (
            [
                {"start_s": 0, "end_s": 1, "joint": "left_foot", "position": [None, 0.1, None]},
                {"at_s": 0.5, "joint": "left_lower_leg", "bend_deg": 100},
            ],
            "jump_high",
        ),
    ],
)
def test_nearest_clips_are_chosen_by_what_is_asked(asked: list[object], chosen: str, walks: list[Clip]) -> None:
    from choreograph.verbs.complete.sources import choose_clips

    request = cg.read_request(cg.CompleteRequest, {"duration_s": 1.0, "nearest": 1, "goals": asked})
    assert [clip.name for clip in choose_clips([demo_clip("jump_high", 30.0), walks[0]], request)] == [chosen]


# ------------------------------------------------------------------ what cannot be done


def test_fighting_goals_are_named(walks: list[Clip]) -> None:
    fight = [
        cg.JointGoal(at_s=0.5, joint="right_hand", position=(0.0, 1.3, 5.0)),
        cg.JointGoal(at_s=0.5, joint="left_hand", position=(0.0, 1.3, 1.0)),
    ]
    problems = cg.complete(walks, cg.CompleteRequest(1.0, fight)).problems
    assert problems and any("stands against it" in problem.text for problem in problems)


def test_goals_beyond_reach_say_by_how_much(walks: list[Clip]) -> None:
    far = [cg.JointGoal(at_s=0.5, joint="right_hand", position=(0.0, 4.0, 1.0))]
    problem = cg.complete(walks, cg.CompleteRequest(1.0, [*keys(10), *far])).problems[0]
    assert "farther than the body reaches" in problem.text and problem.where == "goals[1].position"
    assert problem.got is not None and problem.got > 0.5


@pytest.mark.parametrize(
    ("request_", "said"),
    [
        ([{"at_s": 2.0, "pose": {"clip": WALK}}], r"goals\[0\].at_s is 2.* from 0 to 1 s"),
        ([{"at_s": 0.5, "joint": "tail", "position": [0, 1, 0]}], "no joint; there are"),
        (
            [{"at_s": 0.0, "pose": {"clip": "swim"}}],
            r"goals\[0\].pose.clip is 'swim', which is no clip; there are walk, ",
        ),
        ([{"at_s": 0.0, "pose": {"clip": WALK, "frame": 10**6}}], "has frames 0 to"),
        ([{"at_s": 0.0, "pose": {"frame": 3}}], "pose.clip is missing"),
        ([], "nothing is asked for"),
        ({"goals": []}, "duration_s is missing"),
        ({"between": {"motions": [WALK]}}, "must have 2 or more"),
        ({"between": {"motions": [WALK, WALK], "duration_s": 0.04}}, "must be 0.0667 s or more"),
        ({"between": {"motions": [WALK, WALK]}, "duration_s": 2.0}, "duration_s is given beside between"),
        ([{"joint": "head", "position": [0, 1, 0]}], "at_s is missing"),
        ([{"at_s": 0.1, "joint": "head"}], "asks for nothing"),
        ([{"at_s": 0.1, "segments": [3]}], "a segment goal, which complete cannot search for; perform can"),
        ([{"at_s": 0.1, "place": [0, 1], "standing": True}], "standing is nothing that complete searches for"),
        (
            [{"start_s": 0.6, "end_s": 0.5, "joint": "head", "position": [0, 1, 0]}],
            "not after its start_s",
        ),
        (
            [
                {"at_s": 0.5, "joint": "head", "position": [0, 1, 0]},
                {"at_s": 0.5, "joint": "head", "position": [0, 1.5, 0]},
            ],
            r"goals\[1\].position contradicts goals\[0\].position",
        ),
        (
            [{"at_s": 0.5, "pose": {"clip": WALK}}, {"at_s": 0.5, "pose": {"clip": WALK, "frame": 20}}],
            r"goals\[1\] contradicts goals\[0\]: both say the pose at 0.5 s",
        ),
        (
            [
                {"at_s": 0.5, "pose": {"clip": WALK}, "place": [0, 0]},
                {"start_s": 0.2, "end_s": 0.8, "place": [0, 1]},
            ],
            r"goals\[1\].place contradicts goals\[0\].* 1 m apart",
        ),
        ([{"start_s": 0, "end_s": 1, "pose": {"clip": WALK, "frame": 170}}], "has frames 0 to 179"),
        ([{"start_s": 0, "end_s": 2, "facing_deg": 0}], "end_s is 2; it must be"),
        (
            {"duration_s": 1.0, "advanced": {"labelled": "swim"}, "goals": [{"at_s": 0.0, "pose": {"clip": WALK}}]},
            "clips are labelled",
        ),
        ([{"at_s": 0.5, "joint": "hips", "bend_deg": 10}], "no bone on both sides"),
        ([{"at_s": 0.5, "joint": "head", "rotation": [2, 0, 0, 0]}], "length 2; it must be of length 1"),
    ],
)
def test_mistakes_are_named(request_: Any, said: str, walks: list[Clip]) -> None:
    document = {"duration_s": 1.0, "goals": request_} if isinstance(request_, list) else request_
    with pytest.raises(RequestError, match=said):
        cg.complete(walks, cg.read_request(cg.CompleteRequest, document))


def test_two_ways_to_say_the_same_are_no_contradiction(walks: list[Clip]) -> None:
    turned = cg.TurnGoal(at_s=0.5, joint="head", rotation=(1.0, 0.0, 0.0, 0.0))
    request = cg.CompleteRequest(
        1.0,
        [
            cg.PlaceGoal(0.5, facing_deg=180.0),
            cg.PlaceGoal(0.5, facing_deg=-180.0),
            turned,
            turned.with_(rotation=(-1.0, 0.0, 0.0, 0.0)),
        ],
    )
    assert cg.complete(walks, request).best


@pytest.mark.parametrize(
    ("text", "said"),
    [("x,y,z\n1,2,3\n", "two or more"), ("1,2\n3,4\n", "x, y, z"), ("0,1,1,1\n0,2,2,2\n", "do not increase"),
     ("1,2,3\na,b,c\n", "line 2"), ("0,1,1,1\n9,2,2,2\n", "lasts 9.00 s")],
)  # fmt: skip
def test_bad_tracks_are_refused(text: str, said: str, walks: list[Clip], tmp_path: object) -> None:
    from pathlib import Path

    path = Path(str(tmp_path)) / "track.csv"
    path.write_text(text)
    goal = cg.JointGoal(start_s=0.0, end_s=1.0, joint="head", track=str(path))
    with pytest.raises(RequestError, match=said):
        cg.complete(walks, cg.CompleteRequest(1.0, [goal]))


def test_a_key_pose_of_another_body_is_retargeted(model: cg.MotionModel, walks: list[Clip], tmp_path: Path) -> None:
    from dataclasses import replace

    other = replace(walks[0], skeleton=walks[0].skeleton.scaled(1.2), root_pos=1.2 * walks[0].root_pos)
    cg.write_clip(tmp_path / "other.npz", other)
    answers = [
        cg.complete(
            model, cg.CompleteRequest(1.0, [cg.PoseGoal(0.0, cg.PoseSource(file=str(tmp_path / name), frame=3))])
        )
        for name in ("own.npz", "other.npz")
        if cg.write_clip(tmp_path / "own.npz", walks[0], overwrite=True) is None
    ]
    own, same = (answer.best.clips[0].local_rot[0] for answer in answers)
    assert np.abs(own - same).max() < 0.05
    bone = cg.Skeleton(("one", "two"), [-1, 0], [[0, 0, 0], [0, 1, 0]])
    cg.write_clip(tmp_path / "bone.npz", cg.Clip(bone, 30.0, np.zeros((9, 3)), np.tile([1.0, 0, 0, 0], (9, 2, 1))))
    with pytest.raises(RoleError, match="no legs found"):
        cg.complete(
            model, cg.CompleteRequest(1.0, [cg.PoseGoal(0.0, cg.PoseSource(file=str(tmp_path / "bone.npz"), frame=3))])
        )


def test_dragging_keeps_the_hand_at_the_pointer(walks: list[Clip], model: cg.MotionModel) -> None:
    walk = walks[0][:60]
    drag = cg.Dragging.of_clip(model, walk, (0, 59))
    hand = walk.skeleton.need("right_hand")
    begin = walk.global_positions()[30, hand]
    drag.pull("right_hand", 1.0, tuple(begin))
    for n in range(6):
        goal = begin + n * np.array([-0.01, 0.02, 0.0])
        made = drag.pull("right_hand", 1.0, tuple(goal))
        assert np.linalg.norm(made.global_positions()[30, hand] - goal) < 0.005
    assert np.abs(made.global_positions()[0] - walk.global_positions()[0]).max() < 0.02, "keys stay"
    free = drag.let_go()
    assert drag.held == {}
    assert np.linalg.norm(free.global_positions()[30, hand] - begin) < 0.1
    with pytest.raises(RequestError, match="lasts from 0 to"):
        drag.pull("right_hand", 9.0, (0.0, 0.0, 0.0))


def test_a_key_pose_of_a_body_without_legs_is_refused(model: cg.MotionModel, tmp_path: Path) -> None:
    path = tmp_path / "tail.bvh"
    path.write_text(
        "HIERARCHY\nROOT base\n{\nOFFSET 0 0 0\nCHANNELS 3 Zrotation Xrotation Yrotation\nJOINT tip\n{\nOFFSET 0 1 0\n"
        "CHANNELS 3 Zrotation Xrotation Yrotation\nEnd Site\n{\nOFFSET 0 1 0\n}\n}\n}\nMOTION\nFrames: 2\n"
        "Frame Time: 0.0333333\n0 0 0 0 0 0\n0 0 0 0 0 0\n"
    )
    request = cg.CompleteRequest(1.0, [cg.PoseGoal(0.0, cg.PoseSource(file=str(path)))])
    with pytest.raises(RoleError, match="no legs found"):
        cg.complete(model, request)
