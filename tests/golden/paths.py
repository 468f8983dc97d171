"""Cases of the verbs that keep to lines: follow, bend, steer, perform."""

from __future__ import annotations

import math
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from tests.golden.shared import as_clip, named, recorded, steered, walks

import choreograph as cg
from choreograph.demo import demo_clip


def follow_eight() -> list[Any]:
    """The figure of eight, three different walks."""
    return [cg.follow(walks(), cg.FollowRequest("eight:radius=3", count=3, bend=False))]


def follow_stretches() -> list[Any]:
    """A line with a pause, a stretch to be jogged, and a facing at the end."""
    path = cg.named_path("s").with_stretch(2.0, 5.0, label="jog").with_stretch(6.0, 6.0, pause=1.0)
    finishing = cg.FinishSettings(blend="anticipation", preset="arms first")
    request = cg.FollowRequest.of_path(path.with_final_facing(0.5), seed=3, finish=finishing, bend=False)
    return [cg.follow(walks(), request)]


def follow_bent() -> list[Any]:
    """An S whose middle is to be jogged, by walks that bend."""
    path = cg.named_path("s").with_stretch(6.0, 12.0, label="jog")
    return [cg.follow(walks(), cg.FollowRequest.of_path(path))]


def follow_missed() -> list[Any]:
    """Speed, facing, pause, label, style, a sharp path, and more answers than there are."""
    line = cg.named_path("line", length=8)
    narrow = cg.FollowAdvanced(beam_width=2, starts=1)
    requests = (
        cg.FollowRequest.of_path(line.with_stretch(1, 7, speed=9.0)),
        cg.FollowRequest.of_path(line.with_final_facing(math.pi)),
        cg.FollowRequest.of_path(line.with_stretch(4, 4, pause=0.5).with_stretch(4.5, 5.0, label="stop")),
        cg.FollowRequest.of_path(line.with_stretch(4, 4, pause=1.0), only="walk or veer"),
        cg.FollowRequest.of_path(line, label="jog", style="stop", bend=False),
        cg.FollowRequest.of_path(line, speed_m_s=0.3, style="stop"),
        cg.FollowRequest.of_path(cg.named_path("zigzag", legs=4), bend=False, advanced=narrow),
        cg.FollowRequest(
            points=((0.0, 0.0), (0.0, 3.0), (0.6, 0.5), (2.0, 3.0)), advanced=cg.FollowAdvanced(horizon_s=4)
        ),
        cg.FollowRequest("line:length=1", count=12, only="stop", bend=False, advanced=narrow),
    )
    return [cg.follow(walks(), request) for request in requests]


def follow_on() -> list[Any]:
    """A walk that goes on from the end of another, kept to two clips and begun in one of them."""
    before = cg.FollowRequest("line:length=4", start={"clip": "walk", "frame": 20}, prefer={"walk": 0.01})
    points = ((1.0, 6.0), (3.0, 8.0))
    return [cg.follow(walks(), cg.FollowRequest(points=points, after={"request": before}, rounded_m=0.5, only="walk"))]


def follow_stream() -> list[Any]:
    """A path followed frame by frame."""
    stream = cg.MotionStream(walks(), cg.load_path("circle:radius=2"), cg.FollowRequest(bend=False))
    return [as_clip(walks().skeleton, stream.rate_hz, list(stream))]


def bend_walk() -> list[Any]:
    """A straight walk round a circle."""
    return [cg.bend(demo_clip("walk", 60.0), "circle:radius=2")]


def bend_missed() -> list[Any]:
    """Paths that are too long, that turn too sharply, and that have corners."""
    walk, jog = demo_clip("walk", 60.0), demo_clip("jog", 60.0)
    return [
        cg.bend(walk, cg.BendRequest("line:length=30")),
        cg.bend(jog, cg.BendRequest("circle:radius=0.5")),
        cg.bend(walk, cg.BendRequest(points=((0.0, 0.0), (0.0, 2.0), (0.3, 0.5), (2.0, 0.0)), max_stretch=0.3)),
    ]


@cache
def _policy(*tasks: str) -> cg.SteerPolicy:
    """Learned from few samples, which takes seconds."""
    from choreograph.verbs.steer.learn import PolicyLearning

    learning = PolicyLearning(samples=2000, sweeps=12)
    return cg.load_policy(steered(), tasks=tasks or ("navigate",), learning=learning)


def _steered(request: cg.SteerRequest, *tasks: str) -> Any:
    return cg.SteerSearch(steered(), request, policy=_policy(*tasks)).run()


ORIGIN = {"place": (0.0, 0.0), "heading_deg": 0.0}


def steer_goals() -> list[Any]:
    """Lines, a speed, a label and a stop, one after the other."""
    goals = (
        *(ORIGIN, {"speed_m_s": 1.3}),
        *({"at_s": 3.0, "place": (1.0, 4.0), "heading_deg": 45.0}, {"at_s": 3.0, "label": "walk"}),
        {"at_s": 6.0, "speed_m_s": 0.0},
    )
    return [_steered(cg.SteerRequest(goals=goals, duration_s=9.0))]


def steer_path() -> list[Any]:
    """A circle, and drawn points, each walked for a while."""
    points = ((0.0, 0.0), (0.5, 3.0), (3.0, 5.0))
    requests = (
        cg.SteerRequest("circle:radius=2", duration_s=8.0, mirror=True),
        cg.SteerRequest({"points": points}, duration_s=6.0, start={"place": (0.5, -0.5)}),
    )
    return [_steered(request) for request in requests]


def steer_missed() -> list[Any]:
    """A line far away, a speed that no clip has, a torso turned aside, a label not kept, a circle too small."""
    requests = (
        cg.SteerRequest(goals=[{"heading_deg": 0.0}, {**ORIGIN, "at_s": 1.0, "place": (12.0, 0.0)}], duration_s=6.0),
        cg.SteerRequest(goals=[ORIGIN, {"speed_m_s": 5.0}], duration_s=6.0),
        cg.SteerRequest(goals=[ORIGIN, {"torso_deg": 90.0}], duration_s=6.0),
        cg.SteerRequest(goals=[ORIGIN, {"speed_m_s": 1.3}, {"label": "stand"}], duration_s=6.0),
        cg.SteerRequest("circle:radius=0.4", duration_s=3.0),
    )
    return [_steered(request) for request in requests]


def steer_tasks() -> list[Any]:
    """Turning on the spot, and obstacles in the way, one of which cannot be kept clear of."""
    discs = [
        {"centre": (0.2, 4.0), "radius_m": 0.8, "of": "hips"},
        {"centre": (0.0, 0.3), "radius_m": 2.0, "of": "hips"},
    ]
    turning = (
        *(ORIGIN, {"turn_deg_s": 40.0}),
        *({**ORIGIN, "at_s": 6.0}, {"at_s": 6.0, "turn_deg_s": -400.0, "speed_m_s": 0.1}),
    )
    return [
        _steered(cg.SteerRequest(task="spin", goals=turning, duration_s=12.0), "spin"),
        _steered(
            cg.SteerRequest(task="avoid", goals=[ORIGIN], scene={"obstacles": discs}, duration_s=5.0),
            "navigate",
            "avoid",
        ),
    ]


def steer_stream() -> list[Any]:
    """600 ticks of two characters, whose goals change."""
    crowd = cg.Crowd(_policy(), cg.build_frame_pool(_policy().costs.steps.clips))
    first = crowd.add(goal=cg.SteerGoal(0.0, 0.0, 0.0, speed=1.2))
    crowd.add(3.0, 1.0, 2.0)
    shown = []
    for tick in range(600):
        if tick == 200:
            first.set_goal(cg.SteerGoal(2.0, 0.0, math.pi / 2))
        if tick == 400:
            first.set_goal(cg.SteerGoal(speed=0.0))
        shown.append(crowd.tick(1 / 60))
    return [
        cg.Clip(
            crowd.pool.skeleton,
            60.0,
            np.array([poses.root_pos[n] for poses in shown]),
            np.array([poses.local_rot[n] for poses in shown]),
        )
        for n in range(2)
    ]


def _way(frames: int = 240) -> cg.Trajectory:
    times = np.arange(frames) / 30.0
    places = np.stack([1.5 * np.sin(0.4 * times), 1.1 * times], axis=1)
    return cg.Trajectory(places, 30.0, name="hand")


def perform_way() -> list[Any]:
    """A hand's way over the floor, answered by walks."""
    return [cg.perform(walks(), _way())]


@cache
def _segments() -> cg.SegmentDatabase:
    examples = [cg.root_example(clip) for clip in walks().clips]
    return cg.build_segments(examples, cut_at="plants", control_roles=("track",))


def perform_stream() -> list[Any]:
    """The same, bit by bit."""
    points = _way().points()
    stream = cg.PerformStream(_segments(), 30.0, cg.PerformRequest(lag_s=1.5))
    frames = [frame for k in range(0, 240, 5) for frame in stream.push(points[k : k + 5])]
    return [stream.as_clip([*frames, *stream.finish()])]


def perform_live() -> list[Any]:
    """As if live, a second and a half late, with a segment that has to be played."""
    goals = (cg.SegmentGoal(at_s=3.0, segments=(5, 6, 7)),)
    return [cg.perform(_segments(), cg.PerformRequest.of_trajectory(_way(), lag_s=1.5, goals=goals))]


def perform_missed() -> list[Any]:
    """A way with a gap that is too fast, one that nobody can walk, one segment for all, one that is not played."""
    base = _segments()
    fast = [(t / 30, 0.0, 1.25 * base.fastest * t / 30) for t in range(150) if not 60 < t < 69]
    shaken = [(t / 30, 0.45 * math.sin(4.0 * t / 30), 0.0) for t in range(180)]
    slow = [(t / 30, 0.0, 1.1 * t / 30) for t in range(120)]
    requests = (
        cg.PerformRequest(samples=fast),
        cg.PerformRequest(samples=shaken),
        cg.PerformRequest(
            samples=slow,
            goals=(*(cg.SegmentGoal(at_s=at, segments=(n,)) for at, n in ((2.57, 11), (2.62, 3), (3.0, 20))),),
        ),
    )
    found = [cg.perform(base, request) for request in requests]
    return [*found, cg.perform(base.subset([3]), cg.PerformRequest(samples=slow))]


def recorded_follow(folder: Path) -> list[Any]:
    """Subject 16 along a zigzag."""
    names = ("16_11", "16_12", "16_17", "16_19", "16_15", "16_21", "16_31", "16_47")
    graph = cg.build_graph(recorded(folder, *names), cg.GraphSettings(), workers=1)
    return [cg.follow(graph, cg.FollowRequest.of_path(cg.named_path("s"), bend=False))]


def recorded_bent(folder: Path) -> list[Any]:
    """Three straight walks of subject 16 along an S."""
    graph = cg.build_graph(recorded(folder, "16_15", "16_16", "16_47"), cg.GraphSettings(), workers=1)
    return [cg.follow(graph, cg.named_path("s"))]


def recorded_perform(folder: Path) -> list[Any]:
    """A salsa dancer's partner, hands held."""
    pairs = [cg.pair_up(*recorded(folder, f"60_{n}", f"61_{n}"), cut_to_shorter=True) for n in ("02", "03", "04")]
    [leader] = recorded(folder, "60_01")
    return [cg.perform(pairs, leader[:400])]


MADE = named(
    *(follow_eight, follow_stretches, follow_bent, follow_missed, follow_on, follow_stream, bend_walk, bend_missed),
    *(steer_goals, steer_path, steer_missed, steer_tasks, steer_stream),
    *(perform_way, perform_stream, perform_live, perform_missed),
)
RECORDED = named(recorded_follow, recorded_bent, recorded_perform)
