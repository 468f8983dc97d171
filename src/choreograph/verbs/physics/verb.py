"""Physics, declared for all faces."""

from __future__ import annotations

from pathlib import Path

from choreograph.contract.result import Result
from choreograph.contract.verb import CLIP, Verb
from choreograph.dynamics.body import make_body
from choreograph.verbs.physics.request import PhysicsRequest
from choreograph.verbs.physics.search import PhysicsResult, PhysicsSearch


def _draw(path: Path, result: Result, overwrite: bool) -> None:
    from choreograph.pictures.plots import write_plot
    from choreograph.verbs.physics.plot import plot_physics

    assert isinstance(result, PhysicsResult)
    if result.finished is not None:
        from choreograph.dynamics.inverse import analyse
        from choreograph.pictures.mechanics_plots import plot_dynamics

        measured = analyse(result.clip, make_body(result.clip.skeleton))
        write_plot(path, plot_dynamics(measured.dynamics, result.clip), overwrite=overwrite)
        return
    write_plot(path, plot_physics(result), overwrite=overwrite)


VERB = Verb(
    name="physics",
    about="""Make a motion obey mechanics: farther, higher, turned, on other footprints.

    First and last pose, contacts and timing are the motion's, changed as asked. All in between is found anew: the
    motion in the space of the examples that costs the body the least effort, with ground forces that push only and
    stay within friction, torques and joints within limits. Off-grid verification is part of the result.""",
    request=PhysicsRequest,
    subject=CLIP,
    search=PhysicsSearch,
    trial=PhysicsRequest(farther_m=0.05, work_limit=5),
    draw=_draw,
    picture_suffixes=(".png", ".svg", ".pdf"),
    examples=(
        "physics jump.bvh --farther 0.4 --higher 0.1 --turn 180 --like hops/ -o out.bvh",
        "physics run.bvh --farther 0.5 --like runs/ --nearest 8 -o run.glb --picture run.png",
        "physics --smallest-change walk.bvh --like walks/ -o finished.bvh",
        "physics walk.bvh --start 0.3 --end 1.7 --duration-share 1.2 -o slow.bvh",
    ),
    guide="docs/physics.md",
)
