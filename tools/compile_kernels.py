"""Compile the kernels once, before many processes of the tests would each compile them at the same time.

What is compiled is kept beside the modules, so a second run takes a few seconds.
"""

import tempfile
from pathlib import Path

import choreograph as cg
from choreograph.demo import demo_clips
from choreograph.pictures.sheet import SheetSettings, draw_thumbnail

NAMES = ("walk", "walk_turn_90_left", "walk_turn_90_right", "walk_veer_left", "walk_veer_right")

clips = [clip for clip in demo_clips(30.0) if clip.name in NAMES]
with tempfile.TemporaryDirectory() as folder:
    for suffix in (".bvh", ".npz", ".glb"):
        cg.write_clip(Path(folder) / f"walk{suffix}", clips[0])
        cg.read_clip(Path(folder) / f"walk{suffix}")
    cg.save_graph(cg.build_graph(clips), Path(folder) / "walks.mog")
    graph = cg.open_graph(Path(folder) / "walks.mog")

    found = cg.follow_path(graph, cg.named_path("s"))
    motion = cg.finish(found.walk)
    cg.clean_feet(motion.clip)
    draw_thumbnail(motion.clip, SheetSettings())

    ends = (cg.BodyTarget(0.0, (0.0, 0.0), 0.0), cg.BodyTarget(4.0, (1.0, 3.0), 0.5))
    request = cg.SolveRequest(4.0, ends, obstacles=(cg.Obstacle.circle((3.0, 3.0), 0.3),))
    (answer, *_) = cg.solve(graph, request, count=1, seconds=0.5)
    cg.finish_splice(answer.splice, request.body)

    base = cg.build_base([cg.own_track(clip) for clip in clips], cut_at="plants", control_roles=("track",))
    hand = cg.TrajectoryRecorder(smooth_s=0.2)
    stream = cg.PerformStream(base, hand.fps, lag_s=1.5)
    for k in range(120):
        stream.push(hand.push(k / 30, 0.0, 1.2 * k / 30))
    stream.push(hand.finish())
    stream.finish()
    way = hand.trajectory().smoothed(0.2)
    cg.finish_performance(cg.interpret(base, cg.control_from_trajectory(way, base)))
