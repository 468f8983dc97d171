"""Compile the kernels once, before many processes of the tests would each compile them at the same time.

What is compiled is kept beside the modules, so a second run takes a few seconds.
"""

import tempfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import choreograph as cg
from choreograph.demo import demo_clips

NAMES = ("walk", "walk_turn_90_left", "walk_turn_90_right", "walk_veer_left", "walk_veer_right")


def follow(graph: Path) -> None:
    """Search, blends and feet."""
    opened = cg.open_graph(graph)
    for bend in (True, False):
        cg.follow(opened, cg.FollowRequest("s", search=cg.FollowSettings(bend=bend)))
    cg.retime(opened.clips[0], cg.RetimeRequest(seconds=0.8 * opened.clips[0].seconds))


def solve(graph: Path) -> None:
    """The hierarchy of cuts, its search, and splices."""
    ends = (cg.BodyTarget(0.0, (0.0, 0.0), 0.0), cg.BodyTarget(4.0, (1.0, 3.0), 30.0))
    request = cg.SolveRequest(4.0, ends, obstacles=(cg.Obstacle.of_circle((3.0, 3.0), 0.3),), count=1, seconds=0.5)
    cg.solve(cg.open_graph(graph), request)


def perform(graph: Path) -> None:
    """The dynamic program, whole and streamed."""
    database = cg.open_segments(graph)
    hand = cg.TrajectoryRecorder(smooth_s=0.2)
    stream = cg.PerformStream(database, hand.fps, cg.PerformRequest(lag_s=1.5))
    for k in range(120):
        stream.push(hand.push(k / 30, 0.0, 1.2 * k / 30))
    stream.push(hand.finish())
    stream.finish()
    result = cg.perform(database, hand.trajectory().smoothed(0.2))
    result.as_json()  # says how sure it is


def draw(graph: Path) -> None:
    """Reading, writing and drawing."""
    from choreograph.pictures.sheet import SheetSettings, draw_thumbnail

    clip = cg.open_graph(graph).clips[0]
    for suffix in (".bvh", ".npz", ".glb"):
        cg.write_clip(graph.with_name(f"walk{suffix}"), clip)
        cg.read_clip(graph.with_name(f"walk{suffix}"))
    draw_thumbnail(clip, SheetSettings())


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder, ProcessPoolExecutor(max_workers=2) as pool:
        graph = Path(folder) / "walks.mog"
        cg.save_graph(cg.build_graph([clip for clip in demo_clips(30.0) if clip.name in NAMES]), graph)
        for done in [pool.submit(work, graph) for work in (follow, solve, perform, draw)]:
            done.result()
