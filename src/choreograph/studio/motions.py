"""What the page is told of motions."""

from __future__ import annotations

from collections.abc import Sequence

from choreograph.motion.clip import Clip
from choreograph.motion.face import Face
from choreograph.motion.packed import pack_facts
from choreograph.studio.facts import Motion, SourceRun


def describe_motion(clip: Clip | Face, motion: str, sources: Sequence[SourceRun] = ()) -> Motion:
    """What the stage needs to know of a clip; `motion` is the name that it goes by there."""
    described = Motion.model_validate(pack_facts(clip, motion))
    return described.model_copy(update={"sources": list(sources)}) if sources else described
