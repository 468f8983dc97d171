"""Requests whose answers are held to those of earlier versions: same graph, same request, same seed, same motion.

python -m tests.golden.cases      # write the answers anew, after a change that is meant to change them
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

import numpy as np

import choreograph as cg
from choreograph.base.arrays import Floats
from choreograph.demo import demo_clip

ANSWERS = Path(__file__).parent / "answers.npz"
EVERY = 25
"""Frames between those that are kept of each answer."""

WALKS = (
    *("walk", "walk_fast", "walk_veer_left", "walk_veer_right", "walk_turn_90_left", "walk_turn_90_right"),
    *("stand", "start_left_foot", "stop_left_foot", "jog", "walk_to_jog", "jog_to_walk"),
)


UNBENT = cg.FollowSettings(bend=False)
"""Following as it was before motion could be bent."""


@cache
def walks() -> cg.MotionGraph:
    """Twelve clips of the demo motion, named in their labels."""
    clips = [demo_clip(name, 60.0).with_labels([name.split("_")[0]]) for name in WALKS]
    return cg.build_graph(clips, cg.GraphSettings(threshold_m=0.08), workers=1)


def follow_eight() -> list[cg.Clip]:
    """The figure of eight, three different walks."""
    return [
        answer.clip for answer in cg.follow(walks(), cg.FollowRequest("eight:radius=3", count=3, search=UNBENT)).answers
    ]


def follow_stretches() -> list[cg.Clip]:
    """A line with a pause, a stretch to be jogged, and a facing at the end."""
    path = cg.named_path("s").with_stretch(2.0, 5.0, label="jog").with_stretch(6.0, 6.0, pause=1.0)
    finishing = cg.FinishSettings(blend="anticipation", preset="arms first")
    return [
        cg.follow(
            walks(), cg.FollowRequest.of_path(path.with_final_facing(0.5), seed=3, finish=finishing, search=UNBENT)
        ).clip
    ]


def follow_bent() -> list[cg.Clip]:
    """An S whose middle is to be jogged, by walks that bend."""
    path = cg.named_path("s").with_stretch(6.0, 12.0, label="jog")
    return [cg.follow(walks(), cg.FollowRequest.of_path(path)).clip]


def bend_walk() -> list[cg.Clip]:
    """A straight walk round a circle."""
    return [cg.bend(demo_clip("walk", 60.0), "circle:radius=2").clip]


def solve_checkpoints() -> list[cg.Clip]:
    """Through a place, round an obstacle, to another place, with the head at a height."""
    ends = cg.BodyTarget(0.0, (0.0, 0.0), 0.0), cg.BodyTarget(6.0, (3.0, 4.0), math.degrees(1.5))
    request = cg.SolveRequest(
        6.0,
        body=(ends[0], cg.BodyTarget(3.0, (0.5, 3.0)), ends[1]),
        joints=(cg.JointTarget(2.0, "head", (None, 1.6, None)),),
        obstacles=(cg.Obstacle.of_circle((0.0, 1.5), 0.3),),
        count=2,
        evaluations=200_000,
        seed=1,
    )
    return [answer.clip for answer in cg.solve(walks(), request).answers]


def solve_hard_frame() -> list[cg.Clip]:
    """A given frame at a given time, and a label before it."""
    request = cg.SolveRequest(
        5.0,
        body=(cg.BodyTarget(0.0, (0.0, 0.0), 0.0),),
        frames=(cg.HardFrame(3.0, "stop_left_foot", 60),),
        labels=(cg.LabelTarget(0.0, 1.5, "walk"),),
        poses=(cg.PoseTarget(4.5, "stand", 10),),
        count=1,
        evaluations=100_000,
    )
    return [cg.solve(walks(), request).clip]


def solve_meeting() -> list[cg.Clip]:
    """Two people who meet."""
    people = {
        "anna": cg.Character((cg.BodyTarget(0.0, (0.0, 0.0), 0.0),)),
        "ben": cg.Character((cg.BodyTarget(0.0, (4.0, 4.0), math.degrees(3.0)),)),
    }
    clips = "stop_left_foot", "stop_left_foot"
    meeting = cg.Meeting(4.0, ("anna", "ben"), clips, frames=(100, 100), offset=cg.Offset(0.0, 1.0, 180.0))
    request = cg.SolveRequest(5.0, characters=people, meet=(meeting,), count=1, evaluations=100_000)
    return cg.solve(walks(), request).best.clips


def _way(frames: int = 240) -> cg.Trajectory:
    times = np.arange(frames) / 30.0
    places = np.stack([1.5 * np.sin(0.4 * times), 1.1 * times], axis=1)
    return cg.Trajectory(places, 30.0, name="hand")


def perform_way() -> list[cg.Clip]:
    """A hand's way over the floor, answered by walks."""
    return [cg.perform(walks(), _way()).clip]


def perform_stream() -> list[cg.Clip]:
    """The same, bit by bit."""
    database = cg.build_segments(
        [cg.root_example(clip) for clip in walks().clips], cut_at="plants", control_roles=("track",)
    )
    points = _way().points()
    stream = cg.PerformStream(database, 30.0, cg.PerformRequest(lag_s=1.5))
    frames = [frame for k in range(0, 240, 5) for frame in stream.push(points[k : k + 5])]
    return [stream.as_clip([*frames, *stream.finish()])]


def follow_stream() -> list[cg.Clip]:
    """A path followed frame by frame."""
    stream = cg.MotionStream(walks(), cg.load_path("circle:radius=2"), cg.FollowRequest(search=UNBENT))
    frames = list(stream)
    root, rot = (np.array([getattr(frame, name) for frame in frames]) for name in ("root_pos", "local_rot"))
    return [cg.Clip(walks().skeleton, stream.rate_hz, root, rot)]


def _recorded(folder: Path, *names: str) -> list[cg.Clip]:
    return [cg.read_clip(folder / "cmu" / name.split("_")[0] / f"{name}.amc") for name in names]


def recorded_follow(folder: Path) -> list[cg.Clip]:
    """Subject 16 along a zigzag."""
    names = ("16_11", "16_12", "16_17", "16_19", "16_15", "16_21", "16_31", "16_47")
    graph = cg.build_graph(_recorded(folder, *names), cg.GraphSettings(), workers=1)
    return [cg.follow(graph, cg.FollowRequest.of_path(cg.named_path("s"), search=UNBENT)).clip]


def recorded_bent(folder: Path) -> list[cg.Clip]:
    """Three straight walks of subject 16 along an S."""
    graph = cg.build_graph(_recorded(folder, "16_15", "16_16", "16_47"), cg.GraphSettings(), workers=1)
    return [cg.follow(graph, cg.named_path("s")).clip]


def recorded_solve(folder: Path) -> list[cg.Clip]:
    """Subject 16 to a place, with a jump on the way."""
    graph = cg.build_graph(_recorded(folder, "16_01", "16_15", "16_17", "16_19", "16_47"), workers=1)
    body = (cg.BodyTarget(0.0, (0.0, 0.0), 0.0), cg.BodyTarget(5.0, (1.0, 3.0), math.degrees(0.8)))
    return [cg.solve(graph, cg.SolveRequest(5.0, body, count=1, evaluations=100_000)).clip]


def recorded_perform(folder: Path) -> list[cg.Clip]:
    """A salsa dancer's partner, hands held."""
    pairs = [cg.pair_up(*_recorded(folder, f"60_{n}", f"61_{n}"), cut=True) for n in ("02", "03", "04")]
    [leader] = _recorded(folder, "60_01")
    return [cg.perform(pairs, leader[:400]).clip]


MADE: Mapping[str, Callable[[], list[cg.Clip]]] = {
    work.__name__: work
    for work in (
        *(
            follow_eight,
            follow_stretches,
            follow_stream,
            follow_bent,
            bend_walk,
            solve_checkpoints,
            solve_hard_frame,
            solve_meeting,
        ),
        *(perform_way, perform_stream),
    )
}
RECORDED: Mapping[str, Callable[[Path], list[cg.Clip]]] = {
    work.__name__: work for work in (recorded_follow, recorded_bent, recorded_solve, recorded_perform)
}


def joints(clip: cg.Clip) -> Floats:
    """Where the joints are in every so many frames, (N, J, 3), metres."""
    return np.asarray(clip.global_positions()[::EVERY])


def main() -> None:
    """Write the answers of today."""
    import os

    folder = Path(os.environ["CHOREOGRAPH_DATA"])
    found = {name: work() for name, work in MADE.items()} | {name: work(folder) for name, work in RECORDED.items()}
    arrays = {f"{name}.{k}": joints(clip) for name, clips in found.items() for k, clip in enumerate(clips)}
    np.savez_compressed(ANSWERS, **arrays)
    for name, array in arrays.items():
        print(name, array.shape)


if __name__ == "__main__":
    main()
