"""Loops, declared for all faces."""

from __future__ import annotations

from choreograph.contract.verb import CLIP, Verb
from choreograph.verbs.loop.request import LoopRequest
from choreograph.verbs.loop.search import LoopSearch

VERB = Verb(
    name="loop",
    about="""Make a motion that repeats: the best cycle in a recording, its ends joined.

    The last frame is the first one again, as far on as the cycle goes.""",
    request=LoopRequest,
    subject=CLIP,
    search=LoopSearch,
    trial=LoopRequest(),
    examples=(
        "loop walk.bvh -o walk_loop.glb",
        "loop run.bvh --in-place -o run_loop.bvh",
        "loop idle.bvh --min 2 --max 6 --cycles 4 -o idle.bvh --render idle.mp4",
    ),
    guide="docs/loop.md",
)
