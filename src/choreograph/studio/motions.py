"""What the page is told of motions: facts of a clip, and where its frames come from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from choreograph.motion.clip import Clip
from choreograph.motion.packed import pack_facts
from choreograph.studio.facts import Motion, SourceRun

if TYPE_CHECKING:
    from choreograph.motion.montage import Origins


def describe_motion(clip: Clip, motion: str, sources: Sequence[SourceRun] = ()) -> Motion:
    """What the stage needs to know of a clip; `motion` is the name that it goes by there."""
    described = Motion.model_validate(pack_facts(clip, motion))
    return described.model_copy(update={"sources": list(sources)}) if sources else described


def source_runs(origins: Origins, names: Sequence[str]) -> list[SourceRun]:
    """Where frames come from, as runs of frames that show the same clip, mixed with the same other."""
    pairs = np.stack([origins.source_clip, origins.other_clip], axis=1)
    # A clip that jumps back within itself begins a new run too.
    jumps = np.diff(origins.source_frame) <= 0
    starts = np.flatnonzero(np.concatenate([[True], (np.diff(pairs, axis=0) != 0).any(axis=1) | jumps]))
    stops = [*starts[1:].tolist(), len(pairs)]
    return [
        SourceRun(
            start=start,
            stop=stop,
            clip=names[pairs[start, 0]],
            clip_frame=float(origins.source_frame[start]),
            blend=None if pairs[start, 1] < 0 else names[pairs[start, 1]],
        )
        for start, stop in zip(starts.tolist(), stops, strict=True)
    ]
