"""The four clips that examples 05 and 06 compare on, and the graph of them."""

from pathlib import Path

import choreograph as cg
from choreograph.demo import demo_clip

RECORDED = ("16_47", "16_17", "16_19", "16_45")
"""Walk straight, turn left, turn right, run straight, of CMU subject 16: those of Dirican (2014), section 5.1."""
DEMO = ("walk", "walk_turn_90_left", "walk_turn_90_right", "run")
"""The same, as the package's locomotion model makes them."""


def build_four_clip_graph(recordings: Path | None) -> cg.MotionGraph:
    """The motion graph of the four recordings in a folder, or of the demo clips."""
    if recordings is None:
        print("no --recordings were given: taking demo clips instead of the thesis's four recordings")
        clips = [demo_clip(name) for name in DEMO]
    else:
        clips = [cg.read_clip(recordings / f"{name}.amc") for name in RECORDED]
    # Only the run is far from the others: the threshold is the lowest that joins it to them.
    graph = cg.build_graph(clips, cg.GraphSettings(goal="everything"))
    report = cg.report_graph(graph)
    print(f"{report.kept_transitions} transitions at up to {100 * report.threshold_m:.0f} cm join")
    for clip in report.clips:
        print(f"  {clip.name}: {clip.shown} of {clip.frames} frames")
    return graph
