"""One way from what a search chose to a finished motion: assemble, then the passes that apply."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

from choreograph.base.errors import RequestError
from choreograph.base.progress import Progress, silent
from choreograph.finishing.assemble import assemble
from choreograph.finishing.bend import Course
from choreograph.finishing.body import RootTarget, TorsoTarget, glide_speed
from choreograph.finishing.hand_contacts import HandContacts, Partner
from choreograph.finishing.joints import JointCorrection
from choreograph.finishing.passes import PASSES, Draft
from choreograph.finishing.settings import FinishSettings
from choreograph.motion.clip import Clip
from choreograph.motion.display import ShowsItself
from choreograph.motion.montage import Montage, Origins


class Choice(Protocol):
    """What a search chose, in its own terms: a walk, a splice, a sequence of segments."""

    def as_montage(self, settings: FinishSettings | None = None) -> Montage:
        """The same as layers, at the rate and with the blends that the settings ask for."""


@dataclass(frozen=True, eq=False)
class Finished(ShowsItself):
    """A motion ready to be written, and where each of its frames came from."""

    clip: Clip
    raw: Clip
    """The motion as assembled: blended, but with the jumps at cuts and feet and hands as they were."""
    origins: Origins
    settings: FinishSettings
    partner: Clip | None = None
    """The one whose hands it was to hold."""
    hand_contacts: HandContacts | None = None
    """Which hands are held when; None where there was no partner, or hands were left alone."""
    missed_m: tuple[float, ...] = ()
    """How far the torso stays from each body target: 0, or metres where it would have had to be brought too fast."""
    missed_rad: tuple[float, ...] = ()
    """How far from facing as it asks, likewise."""
    glide_m_s: float = 0.0
    """The fastest that it glides to its targets, beyond what bending and stretching its steps do: as it was brought
    there, and as it goes in the end."""


def finish(
    choice: Montage | Choice,
    settings: FinishSettings | None = None,
    *,
    name: str = "motion",
    body: Sequence[TorsoTarget] = (),
    partner: Partner | None = None,
    course: Course | None = None,
    joints: Sequence[JointCorrection] = (),
    progress: Progress | None = None,
) -> Finished:
    """The motion that a montage, or anything that can be one, shows: smooth, repaired, in its places, feet clean.

    Which passes run follows from what there is: cuts and exact frames in the montage, body targets, a partner.

    >>> from choreograph.demo import demo_clip
    >>> finish(Montage.of_clip(demo_clip("walk")), FinishSettings(clean=False), name="stroll").clip.name
    'stroll'

    Args:
        choice: What a search chose; or a montage, whose rate and weights stand as they are.
        settings: How it is blended, smoothed, repaired, cleaned.
        name: Of the motion.
        body: Where the torso is to be when, in order of time.
        partner: The one whose hands are to be held.
        course: Where the motion's way shall go instead: it is bent there.
        joints: Where hands and feet are to be when.
        progress: Hears how far the work has come.

    Raises:
        RoleError: If feet are to be cleaned and the skeleton has none that are known.
        RequestError: If body targets are not in order of time, or the motion is not on a floor.
    """
    settings = settings or FinishSettings()
    montage = choice if isinstance(choice, Montage) else choice.as_montage(settings)
    wanted = tuple(RootTarget.of(target) for target in body)
    if wanted and not montage.on_floor:
        raise RequestError(f"the motion has no place on the floor, so it cannot be at {wanted[0].position}; drop body")
    for number, (earlier, later) in enumerate(pairwise(wanted), 1):
        if later.at_s < earlier.at_s:
            raise RequestError(
                f"body[{number}].at_s is {later.at_s:g}, before {earlier.at_s:g}; give body targets in order of time",
                where=f"body[{number}].at_s",
            )
    raw = assemble(montage, name)
    draft = Draft(montage, settings, raw, raw, wanted, partner, progress or silent, course=course, joints=tuple(joints))
    for one in PASSES:
        if one.applies(draft):
            draft = one.run(draft)
    glide = glide_speed(draft.clip, draft.raw, montage.cuts.at_s) if wanted else 0.0
    pairs = list(zip(wanted, draft.body, strict=True))
    return Finished(
        draft.clip,
        draft.raw,
        montage.origins,
        settings,
        None if partner is None else partner.clip,
        draft.hands,
        tuple(math.dist(target.position, met.position) for target, met in pairs),
        tuple(abs((target.facing or 0.0) - (met.facing or 0.0)) for target, met in pairs),
        max(draft.glide_m_s, glide),
    )
