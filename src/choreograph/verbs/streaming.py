"""Frames of a motion that is handed out while the rest of it is still being searched for."""

from __future__ import annotations

from typing import NamedTuple

from choreograph.base.arrays import Flags, Floats
from choreograph.motion.clip import Clip
from choreograph.motion.montage import Origins


class Frame(NamedTuple):
    """One frame of a streamed motion."""

    number: int
    """Counted from 0 at the stream's rate."""
    root_pos: Floats
    """(3,), metres."""
    local_rot: Floats
    """(J, 4), wxyz."""
    contacts: Flags | None
    """Which feet stand, (feet,)."""
    clip: str
    """The recording that this frame comes from, mostly."""
    clip_frame: float
    """The place in it, in frames at its own rate."""

    def __repr__(self) -> str:
        return f"Frame({self.number}, {self.clip!r} at {self.clip_frame:g})"


def as_frames(clip: Clip, number: int, origins: Origins, first: int) -> list[Frame]:
    """The frames of a clip, counted from `number` on.

    Args:
        clip: What is handed out.
        number: Of its first frame in the stream.
        origins: Where the frames came from.
        first: The row of the origins that belongs to the clip's first frame.
    """
    return [
        Frame(
            number + k,
            clip.root_pos[k],
            clip.local_rot[k],
            None if clip.contacts is None else clip.contacts[k],
            origins.names[origins.source_clip[first + k]],
            float(origins.source_frame[first + k]),
        )
        for k in range(len(clip))
    ]
