"""Cases of the verbs that change a motion: physics, retime, loop, layer, retarget, dynamics."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from tests.golden.shared import jump, named

import choreograph as cg
from choreograph.demo import demo_clip


def physics_jump() -> list[Any]:
    """Farther, and turned with a key pose of its height."""
    return [
        cg.physics(jump(), cg.PhysicsRequest(farther_m=0.2)),
        cg.physics(jump(), cg.PhysicsRequest(turn_deg=30.0, work_limit=40, advanced={"dimensions": 8})),
    ]


def physics_missed() -> list[Any]:
    """Higher than any take-off allows."""
    return [cg.physics(jump(), cg.PhysicsRequest(higher_m=1.2, work_limit=3, advanced={"dimensions": 4}))]


def _too_fast(times: float = 1.25) -> cg.Clip:
    slow = jump().resampled(jump().fps / times)
    return cg.Clip(slow.skeleton, jump().fps, slow.root_pos, slow.local_rot, "fast")


def physics_finish() -> list[Any]:
    """A jump played too fast, made to obey mechanics; and a walk that does."""
    finish = cg.PhysicsRequest(smallest_change=True)
    return [cg.physics(_too_fast(), finish, examples=[jump()]), cg.physics(demo_clip("walk", 60.0)[:120], finish)]


def retime_clip() -> list[Any]:
    """Shorter, with keys, like another motion, partly by the spline, at another rate."""
    walk = demo_clip("walk", 60.0)
    return [
        cg.retime(jump(), cg.RetimeRequest(duration_s=1.5)),
        cg.retime(walk, cg.RetimeRequest(keys={"60": 1.3, "120": 2.1}, spline_share=0.3, finish={"rate_hz": 30.0})),
        cg.retime(walk, cg.RetimeRequest(duration_s=3.0), references=[demo_clip("walk_fast", 60.0)]),
    ]


def retime_missed() -> list[Any]:
    """A jump in a third and in thrice its time, a still stretch that cannot be quick."""
    stand = demo_clip("stand", 60.0)
    return [
        cg.retime(jump(), cg.RetimeRequest(duration_s=0.5)),
        cg.retime(jump(), cg.RetimeRequest(duration_s=5.0)),
        cg.retime(jump(), cg.RetimeRequest(duration_s=3.0, spline_share=1.0)),
        cg.retime(stand, cg.RetimeRequest(duration_s=stand.seconds * 1.5, advanced={"still_rate": 2.0})),
    ]


def loop_clip() -> list[Any]:
    """Cycles that are found and given, in place and not, several times; and such as do not repeat."""
    walk = demo_clip("walk", 60.0)
    return [
        cg.loop(walk, min_s=0.8),
        cg.loop(walk, start_s=0.5, end_s=1.6, in_place=True, cycles=3),
        cg.loop(demo_clip("walk_turn_90_left", 60.0), start_s=0.5, end_s=3.0),
        cg.loop(demo_clip("stand", 60.0), min_s=1.0),
        cg.loop(jump(), min_s=0.2, max_s=0.3),
        cg.loop(jump(), start_s=0.0, end_s=0.6),
    ]


def layer_clip() -> list[Any]:
    """A jog's arms over a walk; repeated, quicker, a single joint; and too short to fade in."""
    walk, jog = demo_clip("walk", 60.0), demo_clip("jog", 60.0)
    return [
        cg.layer(walk, upper=jog, mask="arms"),
        cg.layer(walk, upper=jog[:90], repeat=True, rate=1.5, at_s=0.5, start_s=0.2, keep_to="parent"),
        cg.layer(walk, upper=jog, share=0.0, joint_shares={"left_forearm": 0.7}),
        cg.layer(walk, upper=jog[:12], fade_s=1.0),
    ]


def retarget_clip() -> list[Any]:
    """Onto a body half as large again and one of other names, with and without the way; onto one without arms."""
    walk = demo_clip("walk", 60.0)
    body = walk.skeleton

    def scaled(by: float, names: tuple[str, ...] = body.names) -> cg.Skeleton:
        return cg.Skeleton(names, body.parents, body.offsets * by, body.tip_parents, body.tip_offsets * by)

    still = [
        cg.Clip(one, 60.0, np.tile(one.offsets[0], (2, 1)), np.tile([1.0, 0, 0, 0], (2, len(one), 1)), "body")
        for one in (scaled(1.5), scaled(0.7), scaled(1.0, tuple(f"Bone.{n:03d}" for n in range(len(body)))))
    ]
    with TemporaryDirectory() as folder:
        for n, one in enumerate(still):
            cg.write_clip(Path(folder) / f"body_{n}.bvh", one)
        large, small, nameless = (str(Path(folder) / f"body_{n}.bvh") for n in range(3))
        return [
            cg.retarget(walk, cg.RetargetRequest(large)),
            cg.retarget(jump(), cg.RetargetRequest(small, keep_way=True, clean=False, touch_hands=False)),
            cg.retarget(walk, cg.RetargetRequest(small, joint_map={"LeftArm": "", "LeftUpLeg": "RightArm"})),
            cg.retarget(walk, cg.RetargetRequest(nameless)),
        ]


def dynamics_clip() -> list[Any]:
    """A walk of somebody of 70 kg, a jump without a low-pass, one played too fast, one that nothing carries."""
    walk = demo_clip("walk", 60.0)
    return [
        cg.inverse_dynamics(walk, cg.DynamicsRequest(body={"mass_kg": 70.0})),
        cg.inverse_dynamics(jump(), cg.DynamicsRequest(cutoff_hz=0.0, friction=0.5)),
        cg.inverse_dynamics(_too_fast(1.6)),
        cg.inverse_dynamics(
            walk.with_frames(walk.root_pos + np.array([0.0, 3.0, 0.0]), walk.local_rot), cg.DynamicsRequest(floor_m=0.0)
        ),
    ]


MADE = named(
    *(physics_jump, physics_missed, physics_finish, retime_clip, retime_missed),
    *(loop_clip, layer_clip, retarget_clip, dynamics_clip),
)
