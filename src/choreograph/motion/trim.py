"""Frames that are no motion: a rest pose in front of a recording, or a jump while the capture settles."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from choreograph.base import quat
from choreograph.motion.clip import Clip

_LOOK_SECONDS = 0.25
"""How far into a clip a false start is looked for."""
_IMPOSSIBLE_M_S = 12.0
"""Mean speed of all joints that no body reaches: sprinters run at 12 m/s, and only whole-body leaps count here."""
_SUDDEN_M_S, _SUDDEN_TIMES = 4.0, 4.0
"""At 30 frames a second even a rest pose before a walk moves slower than that; it is sudden all the same: this fast,
and this many times as fast as the frames around."""
_OTHER_POSE_RAD = 0.1
"""Mean turn of the joints, from one frame to the next, that tells another pose from a mere shift of the root."""


@dataclass(frozen=True)
class TrimAdvice:
    """Frames at the start that are better left out."""

    start: int
    """First frame of real motion; 0 where nothing is wrong."""
    reason: str = ""


def suggest_trim(clip: Clip) -> TrimAdvice:
    """Where the motion really begins.

    A clip whose joints leap between two of its first frames, at an impossible speed or out of nowhere, begins after
    the last such leap.

    >>> from choreograph.demo import demo_clip
    >>> suggest_trim(demo_clip("walk", 60.0)).start
    0
    """
    look = min(len(clip) - 1, max(2, round(_LOOK_SECONDS * clip.fps)))
    if look < 1 or len(clip) < 4:
        return TrimAdvice(0)
    steps = np.diff(clip.global_positions()[: look + 1], axis=0)
    speed = np.linalg.norm(steps, axis=-1).mean(axis=1) * clip.fps
    sudden = max(_SUDDEN_M_S, _SUDDEN_TIMES * float(np.median(speed)))
    leaps = np.flatnonzero(speed > min(_IMPOSSIBLE_M_S, sudden))
    if not len(leaps) or leaps[-1] + 1 >= len(clip) - 1:
        return TrimAdvice(0)
    start = int(leaps[-1]) + 1
    turned = float(quat.angle_between(clip.local_rot[start - 1, 1:], clip.local_rot[start, 1:]).mean())
    what = "another pose (a rest pose?)" if turned > _OTHER_POSE_RAD else "elsewhere, from where the root leaps"
    return TrimAdvice(start, f"the first {f'{start} frames are' if start > 1 else 'frame is'} {what}")


def trimmed(clip: Clip) -> Clip:
    """The clip without the false start that `suggest_trim` finds.

    >>> from choreograph.demo import demo_clip
    >>> len(trimmed(demo_clip("walk", 60.0))) == len(demo_clip("walk", 60.0))
    True
    """
    start = suggest_trim(clip).start
    return clip[start:] if start else clip
