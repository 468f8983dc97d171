"""Feet of the most likely motion: where they nearly stand they are asked to, and nowhere to go below the floor."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from choreograph.base.arrays import Flags, Floats
from choreograph.goals.target import Target
from choreograph.motion.clip import Clip
from choreograph.motion.contacts import ContactSettings, detect_contacts
from choreograph.verbs.complete.residual_terms import MOVE, POSITION, Term

NEARLY = ContactSettings(0.045, 0.06, 0.6, 0.85, 0.1)
"""When a foot of a motion that is not clean yet is meant to stand."""
STILL_M_S, LEVEL_M, DIP_M = 0.3, 0.03, 0.005
"""What standing feet may move and differ in height; how far a swinging one may dip below the floor."""


def standing_feet(clip: Clip, targets: Sequence[Target]) -> Flags:
    """Which foot joints are meant to stand when, (F, feet): as asked where contacts are, else as they nearly do."""
    return np.array(detect_contacts(clip, NEARLY)) | asked_contacts(clip, targets)


def asked_contacts(clip: Clip, targets: Sequence[Target]) -> Flags:
    """Which foot joints are asked to stand when, (F, feet)."""
    feet = list(clip.skeleton.feet)
    contacts = np.zeros((len(clip), len(feet)), bool)
    for target in targets:
        if target.kind == "contact":
            at = target.frames(clip.fps, len(clip))
            for joint in target.joints:
                if joint in feet:
                    contacts[at, feet.index(joint)] = True
    return contacts


def led_feet(clip: Clip, targets: Sequence[Target]) -> Flags:
    """Foot joints whose leg is led exactly by what is asked of it, (F, feet): nothing else holds them."""
    contacts = np.zeros((len(clip), len(clip.skeleton.feet)), bool)
    sides = [leg_side(clip.skeleton.roles[joint]) for joint in clip.skeleton.feet]
    for target in targets:
        if target.kind in ("position", "offset", "view") and target.exact:
            side = leg_side(clip.skeleton.roles[target.joints[0]])
            at = target.frames(clip.fps, len(clip))
            for column, known in enumerate(sides):
                if known is not None and known == side:
                    contacts[at, column] = True
    return contacts


def leg_side(role: str) -> str | None:
    """Which leg a joint is of, by its role; None for joints of neither."""
    side, _, part = role.partition("_")
    return side if part in ("foot", "toe", "lower_leg", "upper_leg") else None


def foot_terms(clip: Clip, stands: Flags, standing: Floats, known: Sequence[Term]) -> list[Term]:
    """Terms that keep standing feet where they are and others above the floor.

    Args:
        clip: The most likely motion so far.
        stands: Which feet stand when, (F, feet).
        standing: Height of each joint where it stands, (J,); NaN where that is not known.
        known: Terms that ask positions of feet already, which count before these.
    """
    places = {(term.frame, term.joints[0]) for term in known if term.kind == POSITION}
    pos, terms = clip.global_positions(), []
    for column, joint in enumerate(clip.skeleton.feet):
        level = float(standing[joint])
        for frame in range(len(clip)):
            if (frame, joint) in places:
                continue
            on = bool(stands[frame, column])
            if on and frame + 1 < len(clip) and stands[frame + 1, column]:
                terms.append(Term(MOVE, frame, (joint,), (0.0, 0.0, 0.0), 1 / STILL_M_S))
            if math.isfinite(level) and (on or pos[frame, joint, 1] < level - DIP_M):
                terms.append(Term(POSITION, frame, (joint,), (math.nan, level, math.nan), 1 / LEVEL_M))
    return terms
