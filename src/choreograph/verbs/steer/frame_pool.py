"""The frames of all recordings in one set of arrays, their feet clean, as characters read them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from choreograph.base.arrays import Flags, Floats, Ints, seal
from choreograph.base.progress import Progress, silent
from choreograph.finishing.footskate import clean_feet
from choreograph.motion.clip import Clip
from choreograph.motion.skeleton import Skeleton


@dataclass(frozen=True, eq=False)
class FramePool:
    """R frames of recordings, one recording behind the other."""

    skeleton: Skeleton
    fps: Floats
    """Of each recording, (C,)."""
    first: Ints
    """Row of each recording's first frame, and behind the last, (C + 1,)."""
    root: Floats
    """(R, 3), metres."""
    rot: Floats
    """(R, J, 4)."""
    held: Flags
    """Which of the skeleton's feet stand, (R, feet)."""

    def clip_facts(self, number: int) -> tuple[float, float, float]:
        """Rate, first row and last frame of a recording."""
        return (
            float(self.fps[number]),
            float(self.first[number]),
            float(self.first[number + 1] - self.first[number] - 1),
        )


def build_frame_pool(clips: Sequence[Clip], *, clean: bool = True, progress: Progress | None = None) -> FramePool:
    """The pool of recordings of one body.

    >>> from choreograph.demo import demo_clip
    >>> build_frame_pool([demo_clip("walk", 30.0)]).root.shape
    (180, 3)

    Args:
        clips: The recordings, with foot contacts.
        clean: Whether feet that stand are kept from sliding.
        progress: Hears how many are done.
    """
    progress, cleaned = progress or silent, []
    for done, clip in enumerate(clips):
        progress("cleaning recordings", done, len(clips))
        cleaned.append(clean_feet(clip) if clean else clip)
    lengths = [len(clip) for clip in clips]
    held = [np.zeros((len(c), len(c.skeleton.feet)), bool) if c.contacts is None else c.contacts for c in cleaned]
    return FramePool(
        clips[0].skeleton,
        np.array([clip.fps for clip in clips]),
        np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        seal(np.concatenate([clip.root_pos for clip in cleaned])),
        seal(np.concatenate([clip.local_rot for clip in cleaned])),
        seal(np.concatenate(held)),
    )
