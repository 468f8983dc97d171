"""How clips take part in a graph: under which names, with how many frames, and as windows that can be compared."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING

from choreograph.base.arrays import Floats, seal
from choreograph.features.weights import joint_weights
from choreograph.graph.info import ClipInfo
from choreograph.graph.settings import GraphSettings
from choreograph.motion import kinematics
from choreograph.motion.clip import Clip

if TYPE_CHECKING:
    from choreograph.distance.window import WindowedClip


def mirror_name(name: str) -> str:
    """What the mirrored copy of a clip is called."""
    return f"{name}_mirrored"


def clip_info(clip: Clip, rate_hz: float, mirror_of: int | None) -> ClipInfo:
    """What is known of a clip without its frames."""
    return ClipInfo(
        name=clip.name,
        fps=clip.fps,
        own_frames=len(clip),
        frames=graph_frames(len(clip), clip.fps, rate_hz),
        labels=clip.labels,
        path="" if clip.source is None else str(clip.source.path),
        sha256="" if clip.source is None else clip.source.sha256,
        take="" if clip.source is None else clip.source.take,
        mirror_of=mirror_of,
    )


def graph_frames(frames: int, fps: float, rate_hz: float) -> int:
    """How many frames a clip has at the graph's rate: as many as `resample.sample_times` gives it."""
    return math.floor((frames - 1) * rate_hz / fps + 1e-6) + 1


def graph_positions(clip: Clip, rate_hz: float) -> Floats:
    """Joint positions at the graph's rate, (F, J, 3), metres; not kept with the clip, which may be one of thousands."""
    at_rate = clip.resampled(rate_hz)
    offsets = at_rate.skeleton.offsets[None] if at_rate.local_pos is None else at_rate.local_pos
    positions, _ = kinematics.forward(at_rate.root_pos, at_rate.local_rot, offsets, at_rate.skeleton.parents)
    return positions


def window_clip(clip: Clip, settings: GraphSettings) -> WindowedClip:
    """All windows of a clip, at the graph's rate, ready for comparison."""
    from choreograph.distance.window import Window, windowed_clip

    roles, how = clip.skeleton.roles, settings.weights
    weights = _preset_weights(roles, how) if isinstance(how, str) else joint_weights(roles, how)
    window = Window(settings.window_frames, settings.taper)
    return windowed_clip(graph_positions(clip, settings.rate_hz), weights, window)


@lru_cache(maxsize=16)
def _preset_weights(roles: tuple[str, ...], preset: str) -> Floats:
    return seal(joint_weights(roles, preset))
