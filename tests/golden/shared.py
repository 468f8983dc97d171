"""What cases share: the demo motion's graphs, and recordings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import choreograph as cg
from choreograph.demo import demo_clip

Case = Callable[[], list[Any]]
"""Makes what a case answers: results, and motions where there is no result."""

WALKS = (
    *("walk", "walk_fast", "walk_veer_left", "walk_veer_right", "walk_turn_90_left", "walk_turn_90_right"),
    *("stand", "start_left_foot", "stop_left_foot", "jog", "walk_to_jog", "jog_to_walk"),
)
PLANNED = (
    *("walk", "walk_slow", "walk_veer_left", "walk_veer_right"),
    *("walk_jump_walk", "stand_to_jog", "walk_turn_90_left"),
)
STEERED = ("walk", "walk_veer_left", "walk_turn_90_left", "start_left_foot", "stop_left_foot")
"""The clips of each graph."""

BEGIN = cg.PlaceGoal(0.0, (0.0, 0.0), 0.0)


def _graph(names: tuple[str, ...], rate_hz: float, threshold_m: float) -> cg.MotionGraph:
    clips = [demo_clip(name, rate_hz).with_labels([name.split("_")[0]]) for name in names]
    return cg.build_graph(clips, cg.GraphSettings(threshold_m=threshold_m), workers=1)


@cache
def walks() -> cg.MotionGraph:
    """Twelve clips of the demo motion, named in their labels."""
    return _graph(WALKS, 60.0, 0.08)


@cache
def planned() -> cg.MotionGraph:
    """Seven clips for plans: one jumps, one starts to jog."""
    clips = [demo_clip(name, 60.0) for name in PLANNED]
    return cg.build_graph(clips, cg.GraphSettings(threshold_m=0.06), workers=1)


@cache
def steered() -> cg.MotionGraph:
    """Five clips to steer with."""
    return _graph(STEERED, 30.0, 0.08)


@cache
def learned() -> list[cg.Clip]:
    """Three walks to complete motion from."""
    return [demo_clip(name, 30.0) for name in ("walk", "walk_veer_left", "walk_veer_right")]


@cache
def jump() -> cg.Clip:
    """A jump on the spot."""
    return demo_clip("jump_high", 60.0)


def recorded(folder: Path, *names: str) -> list[cg.Clip]:
    """Recordings of CMU's by their names."""
    return [cg.read_clip(folder / "cmu" / name.split("_")[0] / f"{name}.amc") for name in names]


def named(*cases: Callable[..., list[Any]]) -> Mapping[str, Callable[..., list[Any]]]:
    """Cases by their names."""
    return {case.__name__: case for case in cases}


def as_clip(skeleton: cg.Skeleton, rate_hz: float, frames: Any) -> cg.Clip:
    """Streamed frames as a motion."""
    root, rot = (np.array([getattr(frame, name) for frame in frames]) for name in ("root_pos", "local_rot"))
    return cg.Clip(skeleton, rate_hz, root, rot)
