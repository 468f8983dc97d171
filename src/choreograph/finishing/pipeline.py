"""From a walk to a finished motion: assemble, then clean the feet."""

from __future__ import annotations

from dataclasses import dataclass, field

from choreograph.finishing.assemble import Origins, assemble
from choreograph.finishing.blend import BlendSettings
from choreograph.finishing.footskate import CleanSettings, clean_feet
from choreograph.motion.clip import Clip
from choreograph.motion.display import ShowsItself
from choreograph.progress import Progress
from choreograph.synthesis.walk import Walk


@dataclass(frozen=True)
class FinishSettings:
    """What is done to a walk until it is motion to be shown."""

    blend: BlendSettings = field(default_factory=BlendSettings)
    clean: bool = True
    """Whether feet are kept where they stand."""
    feet: CleanSettings = field(default_factory=CleanSettings)
    """How they are, if they are."""
    rate_hz: float | None = None
    """Frames per second of the output; the highest rate among the clips shown if None."""


@dataclass(frozen=True, eq=False)
class FinishedMotion(ShowsItself):
    """A motion ready to be written, and where each of its frames came from."""

    clip: Clip
    origins: Origins
    raw: Clip
    """The motion before its feet were cleaned."""
    settings: FinishSettings


def finish(
    walk: Walk, settings: FinishSettings | None = None, *, name: str = "walk", progress: Progress | None = None
) -> FinishedMotion:
    """The motion that a walk shows, blended and with clean feet.

    Args:
        walk: Which edges of which graph.
        settings: How transitions are blended, whether and how feet are cleaned.
        name: Of the motion.
        progress: Hears how far the work has come.

    Raises:
        RoleError: If feet are to be cleaned and the skeleton has none that are known.
    """
    settings = settings or FinishSettings()
    made = assemble(walk, settings.blend, rate_hz=settings.rate_hz, name=name)
    clip = clean_feet(made.clip, settings.feet, progress=progress) if settings.clean else made.clip
    return FinishedMotion(clip, made.origins, made.clip, settings)
