"""Layering, declared for all faces."""

from __future__ import annotations

from choreograph.contract.verb import CLIP, Verb
from choreograph.verbs.layer.request import LayerRequest
from choreograph.verbs.layer.search import LayerSearch

VERB = Verb(
    name="layer",
    about="""Lay one motion's upper body over another: wave while walking.

    Legs, hips and the way stay those of the motion; joints that the mask names become the other's.""",
    request=LayerRequest,
    subject=CLIP,
    search=LayerSearch,
    examples=(
        "layer walk.bvh --upper wave.bvh -o waving.bvh",
        "layer run.bvh --upper phone.bvh --mask right_arm --at 1 --fade 0.5 -o call.glb",
        "layer walk.bvh --upper tired.bvh --share 0.5 --repeat -o half_tired.bvh",
    ),
    guide="docs/layer.md",
)
