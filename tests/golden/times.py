"""Cases of the verbs whose goals are in time: solve, plan, complete, and faces."""

from __future__ import annotations

import math
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from tests.golden.shared import BEGIN, learned, named, planned, recorded, walks
from tests.unit.verbs.plan.requests import request_of

import choreograph as cg
from choreograph.goals.model import PlaceGoal, PoseGoal
from choreograph.motion.demo_face import demo_face
from choreograph.scene.model import Obstacle, Shape, Start, StepOver
from choreograph.verbs.plan.request import Corridor


def solve_checkpoints() -> list[Any]:
    """Through a place, round an obstacle, to another place, with the head at a height."""
    request = cg.SolveRequest(
        6.0,
        goals=(
            cg.JointGoal(2.0, "head", (None, 1.6, None)),
            BEGIN,
            cg.PlaceGoal(3.0, (0.5, 3.0)),
            cg.PlaceGoal(6.0, (3.0, 4.0), math.degrees(1.5)),
        ),
        scene=cg.Scene((cg.Obstacle(centre=(0.0, 1.5), radius_m=0.3),)),
        count=2,
        work_limit=200_000,
        seed=1,
    )
    return [cg.solve(walks(), request)]


def solve_hard_frame() -> list[Any]:
    """A given frame at a given time, and a label before it."""
    goals = (
        BEGIN,
        pose_at(3.0, "stop_left_foot", 60, exact=True),
        cg.LabelGoal(start_s=0.0, end_s=1.5, label="walk"),
        pose_at(4.5, "stand", 10),
    )
    return [cg.solve(walks(), cg.SolveRequest(5.0, goals, count=1, work_limit=100_000))]


def _meeting(at_s: float, clip: str) -> cg.Meeting:
    """Face to face, a metre from each other."""
    pose = cg.PoseSource(clip, 100)
    return cg.Meeting(at_s, ("anna", "ben"), (pose, pose), offset=cg.Offset(0.0, 1.0, 180.0))


def solve_meeting() -> list[Any]:
    """Two people who meet."""
    people = {
        "anna": cg.Character((BEGIN,)),
        "ben": cg.Character((cg.PlaceGoal(0.0, (4.0, 4.0), math.degrees(3.0)),)),
    }
    meet = (_meeting(4.0, "stop_left_foot"),)
    return [cg.solve(walks(), cg.SolveRequest(5.0, characters=people, meet=meet, count=1, work_limit=100_000))]


def low_head(motion: cg.MotionView) -> Any:
    """A function of one's own: how high the head is."""
    return motion.joint("head")[:, 1]


def solve_function() -> list[Any]:
    """A motion that a function of one's own judges."""
    goals = (BEGIN, cg.CostGoal(function=low_head, weight=0.5))
    return [cg.solve(walks(), cg.SolveRequest(3.0, goals, count=2, work_limit=10_000))]


def solve_missed() -> list[Any]:
    """Places, facings, heights, speeds, labels and poses out of reach, a wall, more answers than there are."""
    joint, end = cg.JointGoal, cg.PlaceGoal(4.0, (0.0, 4.5))
    hard = (pose_at(0.0, "walk", 20, exact=True), pose_at(3.0, "walk", 200, exact=True))
    wall = cg.Obstacle(low=(-30, 2), high=(30, 2.2), clearance_m=0.4, weight=0.001, of="hips")
    reach, fast = joint(2.0, "left_hand", (9, None, 9)), joint(1.0, "left_hand", velocity=(None, None, 30))
    requests: tuple[dict[str, Any], ...] = (
        {"goals": (BEGIN, cg.PlaceGoal(4.0, (0.0, 60.0)))},
        {"goals": (BEGIN, cg.PlaceGoal(0.2, (0.0, 0.2), 170.0), end)},
        {"goals": (joint(2.0, "head", (None, 3.0, None)), BEGIN)},
        {"goals": (reach, BEGIN, fast, end)},
        {"goals": (joint(1.0, "left_hand", velocity=(30.0, None, 40.0)), BEGIN)},
        {"goals": (pose_at(2, "jog", 60), cg.LabelGoal(start_s=1, end_s=2, label="jog"), *hard)},
        {"goals": (BEGIN, end), "scene": cg.Scene((wall,))},
        {"goals": (BEGIN, end), "count": 30, "apart_m": 3.0},
        {"goals": (BEGIN, end), "advanced": cg.SolveAdvanced(0.02)},
    )
    common = {"count": 1, "work_limit": 10_000}
    return [cg.solve(walks(), cg.SolveRequest(4.0, **{**common, **one})) for one in requests]


def solve_meeting_missed() -> list[Any]:
    """Two people who are too far apart to meet, one of whom shall reach for the sky."""
    sky = cg.JointGoal(1.0, "head", (None, 3.0, None))
    far = cg.PlaceGoal(0.0, (60.0, 0.0), 0.0), cg.PlaceGoal(4.0, (60.0, 4.0), 0.0)
    people = {"anna": cg.Character((sky, cg.PlaceGoal(4.0, (0.0, 4.0)), BEGIN)), "ben": cg.Character(far)}
    request = cg.SolveRequest(4.0, characters=people, meet=(_meeting(3.0, "walk"),), count=1, work_limit=20_000)
    return [cg.solve(walks(), request)]


AHEAD = PlaceGoal(place=(0.0, 3.0), tolerance_m=0.25)


def _plan(**more: Any) -> Any:
    request = request_of(**{"goal": AHEAD, "work_limit": 3000, "time_limit_s": 600.0, **more})
    return cg.plan(planned(), request)


def plan_goals() -> list[Any]:
    """From one place to another, standing, facing, with a label, in a pose; cheap in time and in torque."""
    return [
        _plan(start=Start(place=(1.0, -1.0), facing_deg=30.0), goal=PlaceGoal(place=(2.5, 1.6), tolerance_m=0.1)),
        _plan(goal=PlaceGoal(place=(1.0, 4.0), facing_deg=40.0), objective="time"),
        _plan(goal=PlaceGoal(place=(0.0, 4.0), tolerance_m=0.4, label="jump"), objective="torque"),
        _plan(goal=PoseGoal(place=(0.0, 3.0), pose={"clip": "walk", "frame": 60}), interpolation=False),
        _plan(goal=PlaceGoal(place=(0.0, 5.0)), count=2, apart_m=0.4, work_limit=8000, objective="length"),
    ]


def plan_scene() -> list[Any]:
    """Round a pillar, under a bar, over a gap with a stone, through a gate, along a path."""
    line = Corridor(points=((0.0, 0.0), (0.0, 1.5), (0.0, 3.0)), tolerance_m=0.4)
    return [
        _plan(obstacles=(Obstacle(centre=(0.45, 1.5), radius_m=0.25, clearance_m=0.05),)),
        _plan(
            bars=(Obstacle(ends=((-1, 1.5), (1, 1.5)), base_m=2.0),),
            through=(PlaceGoal(ends=((-1.0, 2.0), (1.0, 2.0))),),
        ),
        _plan(gaps=(Shape(low=(-1.0, 1.4), high=(1.0, 1.5)),), keep_off=(Shape(centre=(0.7, 1.0), radius_m=0.1),)),
        _plan(path=line, step_over=(StepOver(low=(0.6, 1.0), high=(0.9, 1.2), height_m=0.2),)),
        _plan(
            through=(PlaceGoal(place=(0.5, 1.5), tolerance_m=0.4),), stones=(Shape(centre=(0.3, 1.0), radius_m=0.3),)
        ),
    ]


class Checked(NamedTuple):
    """What is said of a motion that is held against a request."""

    problems: tuple[Any, ...]


def plan_missed() -> list[Any]:
    """A hall that has one way only; and a plain walk held against scenes that it breaks."""
    from choreograph.verbs.plan.check import check_motion

    hall = tuple(Obstacle(low=(side - 0.05, -1.0), high=(side + 0.05, 4.0)) for side in (-0.8, 0.8))
    walk = _plan()
    far, beside = Shape(centre=(3.0, 1.0), radius_m=0.1), PlaceGoal(place=(1.0, 3.0), facing_deg=90.0)
    scenes: tuple[dict[str, Any], ...] = (
        {
            "obstacles": (
                Obstacle(centre=(9.0, 1.5), radius_m=1.2),
                Obstacle(centre=(0.0, 1.5), radius_m=0.5, clearance_m=0.1),
            )
        },
        {"obstacles": (Obstacle(corners=((-1, 1), (1, 1), (0, 2)), height_m=0.4),)},
        {"stones": (far,)},
        {"keep_off": (Shape(low=(-1.0, 1.0), high=(1.0, 1.8)),)},
        {"gaps": (Shape(low=(-1.0, 0.5), high=(1.0, 1.8)),)},
        {"through": (PlaceGoal(place=(3.0, 1.0)), PlaceGoal(ends=((2.0, 2.0), (3.0, 2.0))))},
        {"bars": (Obstacle(ends=((-1, 1.5), (1, 1.5)), base_m=1.2),)},
        {"step_over": (StepOver(low=(-0.5, 1.0), high=(0.5, 1.2), height_m=0.4),)},
        {"path": Corridor(points=((0.0, 0.0), (1.0, 1.5), (0.0, 3.0)), tolerance_m=0.2)},
        {"goal": beside},
    )
    body = cg.find_plan_graph(planned()).body
    found = [check_motion(walk.clip, request_of(**{"goal": AHEAD, **scene}), body).broken for scene in scenes]
    few = _plan(obstacles=hall, count=2, apart_m=2.0)
    return [few, *(Checked(tuple(one.problem for one in broken)) for broken in found)]


@cache
def _model() -> cg.MotionModel:
    return cg.learn(learned(), cg.LearnSettings(order=2, components=1))


def pose_at(at_s: float, clip: str, frame: int, **more: Any) -> cg.PoseGoal:
    """A pose of a clip at a time."""
    return cg.PoseGoal(at_s, cg.PoseSource(clip, frame), **more)


def keys(*frames: int) -> list[Any]:
    """Poses of the walk in place, from frame 10 on."""
    return [pose_at((frame - 10) / 30, "walk", frame, as_recorded=True) for frame in frames]


def complete_poses() -> list[Any]:
    """Three keyframes, exactly and not; a recorded stretch; splines with few knots."""
    stretch = cg.PoseGoal(pose=cg.PoseSource("walk", 10), start_s=0.0, end_s=0.5, place=(1.0, 2.0), facing_deg=90.0)
    ways = [
        cg.PlaceGoal(start_s=1.0, end_s=1.5, points=((2.2, 2.0), (2.7, 2.1))),
        cg.PlaceGoal(start_s=1.2, end_s=2.0, facing_deg=80.0),
    ]
    knots = cg.CompleteAdvanced(cg.LearnSettings(order=3), knots_s=0.3)
    requests = (
        cg.CompleteRequest(2.0, keys(10, 40, 70)),
        cg.CompleteRequest(2.0, keys(10, 40, 70), exact=False, finish=cg.FinishSettings(clean=False)),
        cg.CompleteRequest(2.0, [stretch, *ways]),
        cg.CompleteRequest(2.0, keys(10, 70), advanced=knots),
    )
    return [cg.complete(learned(), request) for request in requests]


def complete_goals() -> list[Any]:
    """Every other kind of goal at once, and feet that stand."""
    camera = cg.Camera((3.0, 1.2, 1.0), (0.0, 1.0, 1.0))
    turn = (math.cos(0.15), 0.0, math.sin(0.15), 0.0)
    goals = [
        *keys(10),
        cg.PlaceGoal(3.0, (0.4, 4.0), 15.0),
        cg.JointGoal(1.0, "right_hand", (-0.3, 1.25, None)),
        cg.JointGoal(start_s=2.0, end_s=2.4, joint="left_hand", points=[(0.4, 1.1, 3.0), (0.5, 1.2, 3.5)]),
        cg.JointGoal(1.7, "left_hand", velocity=(None, None, 1.5)),
        cg.TurnGoal(2.2, "head", turn),
        cg.AngleGoal(1.5, "left_forearm", 60.0),
        cg.DistanceGoal(0.7, ("left_hand", "head"), 0.45),
        cg.OffsetGoal(2.7, "right_hand", "hips", (None, 0.3, None)),
        cg.ViewGoal(0.4, "left_hand", camera, (0.5, 0.5)),
    ]
    stand = cg.CompleteRequest(1.5, [*keys(10, 55), cg.ContactGoal(start_s=0.5, end_s=1.0, foot="left")])
    return [cg.complete(learned(), request) for request in (cg.CompleteRequest(3.0, goals), stand)]


def complete_between() -> list[Any]:
    """From one motion to the next, where they are and wherever it leads."""
    walk = learned()[0]
    clips = [*learned(), walk[:40].with_name("first"), walk[60:100].with_name("second")]
    between = cg.Between(("first", "second"), 21 / 30)
    gaps = (between, between.with_(joined=True), between.with_(as_recorded=False, duration_s=16 / 30))
    return [cg.complete(clips, cg.CompleteRequest(between=one)) for one in gaps]


def complete_labels() -> list[Any]:
    """A walk that becomes a jog: one model after the other."""
    from choreograph.demo import demo_clip

    clips = [demo_clip(name, 30.0).with_labels([name]) for name in ("walk", "jog", "walk_to_jog")]
    labels = [cg.LabelGoal(start_s=n, end_s=n + 1.0, label=name) for n, name in enumerate(("walk", "jog"))]
    places = [cg.PlaceGoal(0.0, (0.0, 0.0), 0.0), cg.PlaceGoal(2.0, (0.0, 4.0))]
    return [cg.complete(clips, cg.CompleteRequest(2.0, [*places, *labels]))]


def complete_missed() -> list[Any]:
    """Goals out of reach, goals that fight each other, faster than anybody, off the floor, unlike the recordings."""
    from choreograph.demo import demo_clip

    joint, walk = cg.JointGoal, learned()[0]
    camera = cg.Camera((3.0, 1.2, 1.0), (0.0, 1.0, 1.0))
    far = walk.moved(cg.FloorTransform(0.0, 0.0, -20.0)).with_name("far")

    def pair(seconds: float, ahead_m: float, facing_deg: float = 0.0) -> list[cg.PoseGoal]:
        end = pose_at(seconds, "walk", 40, place=(0.0, ahead_m), facing_deg=facing_deg)
        return [pose_at(0.0, "walk", 10, place=(0.0, 0.0), facing_deg=0.0), end]

    fight = [joint(0.5, f"{side}_hand", (0.0, 1.3, z)) for side, z in (("right", 5), ("left", 1))]
    contradictory = [
        joint(0.8, "left_hand", velocity=(20.0, None, None)),
        cg.TurnGoal(0.6, "head", (0.0, 1.0, 0.0, 0.0)),
        cg.AngleGoal(0.5, "left_forearm", 175.0),
        cg.DistanceGoal(0.5, ("left_hand", "left_forearm"), 1.5),
        cg.OffsetGoal(0.7, "right_hand", "hips", (None, 2.5, None)),
        cg.ViewGoal(0.3, "head", camera, (0.0, 1.0)),
        cg.ContactGoal(start_s=0.2, end_s=0.9, foot="both"),
    ]
    poses = [cg.PoseSource(root=walk.root_pos[n], rotations=walk.local_rot[n]) for n in (0, 30, 60)]
    own = [cg.PoseGoal(float(n), pose, as_recorded=True) for n, pose in enumerate(poses)]
    jumps = [demo_clip(name, 30.0) for name in ("jump", "jump_forward", "jump_high")]
    places = [cg.PlaceGoal(0, (0, 0), 0.0), cg.PlaceGoal(0.0, (3.0, 0.0), 180.0, exact=False)]
    asked: tuple[tuple[Any, cg.CompleteRequest], ...] = (
        (learned(), cg.CompleteRequest(1.0, fight)),
        (learned(), cg.CompleteRequest(1.0, [*keys(10), joint(0.5, "head", (0, 4, 1))])),
        (learned(), cg.CompleteRequest(1.0, [*keys(10), *contradictory])),
        (learned(), cg.CompleteRequest(1.0, pair(1.0, 5.0))),
        (learned(), cg.CompleteRequest(1.0, pair(1.0, -4.0))),
        (learned(), cg.CompleteRequest(0.1, pair(0.1, 0.1, 180.0))),
        ([*learned(), far], cg.CompleteRequest(between=cg.Between(("walk", "far"), 21 / 30))),
        (learned(), cg.CompleteRequest(3.0, keys(10), work_limit=1)),
        (learned(), cg.CompleteRequest(1.0, places)),
        (jumps, cg.CompleteRequest(2.0, own)),
    )
    return [cg.complete(examples, request) for examples, request in asked]


def complete_model() -> list[Any]:
    """With a model that is at hand: a hand raised within reach and beyond it."""
    own = learned()[0]
    pose = cg.PoseSource(root=own.root_pos[10], rotations=own.local_rot[10])
    given = cg.PoseGoal(0.0, pose, as_recorded=True)
    hands = [cg.JointGoal(1.0, "right_hand", (None, y, None)) for y in (1.6, 2.6)]
    return [cg.complete(_model(), cg.CompleteRequest(2.0, [given, hand])) for hand in hands]


@cache
def _face() -> tuple[cg.Face, cg.FaceShapes, cg.FaceModel]:
    face, shapes = demo_face(20.0), cg.simple_head()
    return face, shapes, cg.learn_face([face], shapes, order=2)


def face_keys() -> list[Any]:
    """Shapes and frames of recordings; the chin tracked; a landmark out of reach; markers alone."""
    face, shapes, model = _face()

    def frame(at_s: float, clip: str, number: int) -> cg.PoseGoal:
        return cg.PoseGoal(at_s, cg.PoseSource(clip, number))

    rest, smile = cg.ShapeGoal(0.0, {}), {"MouthSmileLeft": 0.7, "MouthSmileRight": 0.7}
    chin = shapes.landmarks(face)[40:71, 8].tolist()
    tracked = cg.LandmarkGoal(start_s=0.0, end_s=1.0, landmark=8, points_mm=chin)
    far = cg.LandmarkGoal(0.5, landmark=8, position_mm=(0.0, 60.0, 0.0))
    wide = cg.ShapeGoal(0.1, {"JawOpen": 1.0})
    requests = (
        cg.FaceRequest(1.0, [rest, cg.ShapeGoal(0.5, smile), frame(1.0, "demo_face", 70)]),
        cg.FaceRequest(1.0, [tracked, frame(0.0, "demo_face", 40)]),
        cg.FaceRequest(1.0, [far, rest]),
        cg.FaceRequest(1.0, [rest, wide, cg.ShapeGoal(0.13, {})], exact=False),
    )
    made: list[Any] = [cg.face(face, request, shapes=shapes, model=model) for request in requests]
    lips = shapes.as_clip(face).with_name("lips")
    ends = [frame(0.0, "lips", 40), frame(1.0, "lips", 70)]
    return made + [cg.face(lips, duration_s=1.0, goals=[goal, *ends]) for goal in (tracked, far)]


def recorded_solve(folder: Path) -> list[Any]:
    """Subject 16 to a place, with a jump on the way."""
    graph = cg.build_graph(recorded(folder, "16_01", "16_15", "16_17", "16_19", "16_47"), workers=1)
    places = (BEGIN, cg.PlaceGoal(5.0, (1.0, 3.0), math.degrees(0.8)))
    return [cg.solve(graph, cg.SolveRequest(5.0, places, count=1, work_limit=100_000))]


MADE = named(
    *(solve_checkpoints, solve_hard_frame, solve_meeting, solve_function, solve_missed, solve_meeting_missed),
    *(plan_goals, plan_scene, plan_missed),
    *(complete_poses, complete_goals, complete_between, complete_labels, complete_missed, complete_model, face_keys),
)
RECORDED = named(recorded_solve)
