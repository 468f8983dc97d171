"""Retargeting, declared for all faces."""

from __future__ import annotations

import json
from pathlib import Path

from choreograph.contract.result import Result
from choreograph.contract.verb import CLIP, Output, Verb
from choreograph.formats.atomic import atomic_write
from choreograph.verbs.retarget.request import RetargetRequest
from choreograph.verbs.retarget.search import RetargetSearch


def _write_map(path: Path, result: Result, overwrite: bool) -> None:
    with atomic_write(path, overwrite=overwrite) as temporary:
        temporary.write_text(json.dumps(result.best.details["map"], indent=1, ensure_ascii=False) + "\n", "utf-8")


VERB = Verb(
    name="retarget",
    about="""Put a motion on another body: yours.

    A .glb or .vrm output of a character keeps its mesh, skin, materials and morphs as they are.""",
    request=RetargetRequest,
    subject=CLIP,
    search=RetargetSearch,
    outputs=(Output("map", "Also write which joint takes its rotation from which", (".json",), _write_map),),
    examples=(
        "retarget walk.bvh --to hero.glb -o hero_walks.glb",
        "retarget dance.fbx --to 16_47.amc -o dance.bvh --map joints.json",
        "retarget walk.bvh --to rig.glb --to-role left_foot=L_Ankle --joint Tail= -o out.glb",
    ),
    guide="docs/retarget.md",
)
