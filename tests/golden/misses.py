"""Cases of problems that those of the verbs do not meet: made on purpose, one by one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import numpy as np
from tests.golden.paths import _segments
from tests.golden.shared import BEGIN, learned, named, recorded, walks
from tests.golden.times import _face, _model

import choreograph as cg
from choreograph.demo import demo_clip


def missed_on_paths() -> list[Any]:
    """Turns that are sharper than clips lead round, and a path that turns back on itself."""
    line = cg.FollowAdvanced(max_lateral_m_s2=20.0)
    corner = ((0.0, 0.0), (0.0, 3.0), (0.05, 1.0), (0.1, 3.0), (0.15, 1.0))
    back = ((0.0, 0.0), (0.0, 5.0), (0.05, 1.42))
    return [
        cg.follow(walks(), cg.FollowRequest(points=corner, advanced=line, only="walk")),
        cg.follow(walks(), cg.FollowRequest("circle:radius=0.4", advanced=line, only="jog")),
        cg.bend(demo_clip("walk", 60.0), cg.BendRequest(points=back)),
    ]


def missed_of_archives() -> list[Any]:
    """A graph that is too large to look through, by limits that are set lower."""
    places = (BEGIN, cg.PlaceGoal(3.0, (0.0, 3.5)))
    request = cg.SolveRequest(3.0, places, count=1, work_limit=5000)
    with patch.multiple(cg.SolveRequest, most_frames=900, whole_frames=900):
        return [cg.solve(walks(), request)]


def missed_in_performances() -> list[Any]:
    """A way whose ends are unknown, and a leader who is the only example."""
    rows = [(t / 30, 0.0, 1.1 * t / 30) for t in range(120)]
    lines = ["t,x,z", *(f"{t},," for t in (-1.0, -0.5)), *(f"{t:.4f},{x:.4f},{z:.4f}" for t, x, z in rows)]
    pair = cg.pair_up(learned()[0], learned()[1].with_name("partner"), cut_to_shorter=True)
    with TemporaryDirectory() as folder:
        way = Path(folder) / "way.csv"
        way.write_text("\n".join(lines) + "\n")
        found = [cg.perform(_segments(), cg.PerformRequest(trajectory=str(way)))]
    found = [replace(one, request=one.request.with_(trajectory="way.csv")) for one in found]
    return [*found, cg.perform([pair], learned()[0])]


def missed_in_completions() -> list[Any]:
    """A model that knows less than a spline; a pose asked for where the body is not; a key that weighs nothing."""
    walk = learned()[0]
    own = [
        cg.PoseGoal(
            at_s=n / 30, pose=cg.PoseSource(root=walk.root_pos[n], rotations=walk.local_rot[n]), as_recorded=True
        )
        for n in (0, 10, 40)
    ]
    far = own[1].with_(as_recorded=False, place=(3.0, 0.0), exact=False, weight=1e-6)
    face, shapes, model = _face()
    keys = [
        cg.ShapeGoal(at_s=0.0, shapes={}),
        cg.ShapeGoal(at_s=0.5, shapes={"JawOpen": 1.0}, weight=1e-6),
        cg.ShapeGoal(at_s=1.0, shapes={}),
    ]
    closed = tuple(float(x) for x in shapes.landmarks(face)[0, 8])
    chin = [cg.LandmarkGoal(at_s=0.5, landmark=8, position_mm=closed)]
    return [
        cg.complete(replace(_model(), held_out=1.2), cg.CompleteRequest(duration_s=40 / 30, goals=own)),
        cg.complete(_model(), cg.CompleteRequest(duration_s=40 / 30, goals=[own[0], far, own[2]])),
        cg.face([face], cg.FaceRequest(duration_s=1.0, goals=[*keys, *chin], exact=False), shapes=shapes, model=model),
    ]


def missed_frames() -> list[Any]:
    """Frames of recordings that are shown for too short a time, and where the body cannot be."""
    frames = (
        cg.PoseGoal(1.0, cg.PoseSource("walk", 60), exact=True),
        cg.PoseGoal(2.2, cg.PoseSource("walk_fast", 100), exact=True, duration_s=0.1),
    )
    ends = cg.PlaceGoal(1.2, (3.0, 0.0), 120.0), cg.PlaceGoal(3.0, (0.0, 3.0))
    common = {"count": 1, "work_limit": 10_000, "min_piece_s": 0.1}
    return [
        cg.solve(walks(), cg.SolveRequest(3.0, frames, **common)),
        cg.solve(walks(), cg.SolveRequest(3.0, (frames[0], *ends, BEGIN), **common)),
    ]


def missed_arms() -> list[Any]:
    """Onto a body without arms."""
    walk = demo_clip("walk", 60.0)
    body = walk.skeleton
    tips = [n for n, joint in enumerate(body.tip_parents) if joint < 14]
    legs = cg.Skeleton(
        body.names[:14], body.parents[:14], body.offsets[:14], body.tip_parents[tips], body.tip_offsets[tips]
    )
    still = cg.Clip(legs, 60.0, np.tile(legs.offsets[0], (2, 1)), np.tile([1.0, 0, 0, 0], (2, 14, 1)), "legs")
    with TemporaryDirectory() as folder:
        file = Path(folder) / "legs.bvh"
        cg.write_clip(file, still)
        found: list[Any] = [cg.retarget(walk, cg.RetargetRequest(str(file)))]
    found = [replace(one, request=one.request.with_(to="legs.bvh")) for one in found]
    return found


def recorded_hands(folder: Path) -> list[Any]:
    """Salsa at 30 Hz, whose hands are not held for as long as recorded."""
    pairs = [clip.resampled(30.0) for n in ("01", "02", "03") for clip in recorded(folder, f"60_{n}", f"61_{n}")]
    return [cg.perform(pairs, cg.PerformRequest("60_02"))]


MADE = named(
    *(missed_on_paths, missed_of_archives, missed_in_performances, missed_in_completions, missed_frames),
    missed_arms,
)
RECORDED = named(recorded_hands)
