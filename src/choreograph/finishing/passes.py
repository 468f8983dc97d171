"""The passes of finishing, in the order in which they run: each takes a draft of the motion and returns a better one.

A pass says what it needs, so that it runs only where there is something for it to do, and what it promises, so that a
later pass can rely on it. A new pass is a function here and a row of `PASSES`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from choreograph.base.arrays import Flags, Floats
from choreograph.base.floor import FloorTransform
from choreograph.base.progress import Progress
from choreograph.finishing import bend, body, cuts, exact, footskate, hand_contacts, joints
from choreograph.finishing.bend import Course
from choreograph.finishing.body import RootTarget
from choreograph.finishing.foot_contacts import hold
from choreograph.finishing.footskate import CleanSettings
from choreograph.finishing.hand_contacts import HandContacts, Partner
from choreograph.finishing.joints import JointCorrection
from choreograph.finishing.settings import FinishSettings
from choreograph.motion import repair
from choreograph.motion.bend import low_pass, way_of
from choreograph.motion.clip import Clip
from choreograph.motion.contacts import detect_contacts
from choreograph.motion.montage import Montage

_CUT_HOLD_M_S, _BENT_HOLD_M_S = 0.42, 0.50
"""Feet are held a little longer in motion with cuts or bends than in blended motion: there they are let go slowly."""


@dataclass(frozen=True, eq=False)
class Draft:
    """A motion between two passes, and all that passes may look at."""

    montage: Montage
    settings: FinishSettings
    raw: Clip
    """As assembled."""
    clip: Clip
    """As far as it is finished."""
    body: tuple[RootTarget, ...]
    """Where the torso is to be; from `limit_body` on, where it can be brought."""
    partner: Partner | None
    progress: Progress
    hands: HandContacts | None = None
    """Which hands are held, once that is known."""
    course: Course | None = None
    """Where the way shall go instead."""
    joints: tuple[JointCorrection, ...] = ()
    """Where hands and feet are to be when."""
    glide_m_s: float = 0.0
    """The fastest that the torso was brought to its targets."""
    held: Flags | None = None
    """When feet are held, (F, feet), once that is known better than from how they move."""


def smooth_cuts(draft: Draft) -> Draft:
    """Needs cuts, with the poses before and behind them. Promises that no joint jumps there, and exact frames kept."""
    return replace(draft, clip=cuts.smooth_cuts(draft.clip, draft.montage, draft.settings.cut_smooth_s))


def step_over_jumps(draft: Draft) -> Draft:
    """Needs cuts and foot contacts. Promises that no foot counts as standing where a cut moves it by far."""
    return replace(draft, clip=cuts.step_over_jumps(draft.clip, draft.montage))


def repair_capture(draft: Draft) -> Draft:
    """Needs poses from recordings, smooth at cuts. Promises no single frame that leaps and no joint that flips."""
    return replace(draft, clip=repair.repair(draft.clip))


def bend_way(draft: Draft) -> Draft:
    """Needs a bend or a course. Promises the way there, sway about it kept, and feet to be held as long as before."""
    clip, montage = draft.clip, draft.montage
    way = way_of(clip)
    curve = way.places
    if montage.bend is not None:
        flat = np.insert(curve, 1, 0.0, axis=1)
        # Edges are bent one by one; the low-pass makes one bend of them.
        curve = low_pass(FloorTransform(*montage.bend.T).apply(flat)[:, [0, 2]], bend.CALM_S * clip.fps)
    if draft.course is not None:
        curve = draft.course(curve, clip.fps)
    lean = draft.settings.lean if montage.on_floor else 0.0
    held = _held(draft, foot_paths)
    bent = bend.bend_clip(clip, way, curve, lean, held)
    return replace(draft, clip=bent, raw=bent, held=_still_held(held, bent, foot_paths))


def bend_to_body(draft: Draft) -> Draft:
    """Needs body targets. Promises the torso as near to them as bending and stretching lead, steps and sway kept."""
    lean = draft.settings.lean if draft.montage.on_floor else 0.0
    bent, raw = bend.bend_to_targets(draft.clip, draft.raw, draft.body, lean, draft.montage.exact)
    return replace(draft, clip=bent, raw=raw, held=_still_held(_held(draft, _paths), bent, _paths))


def _held(draft: Draft, paths: Callable[[Clip], Floats]) -> Flags | None:
    """When the feet of a draft's motion are held."""
    clip = draft.clip
    if not clip.skeleton.feet:
        return None
    contacts = detect_contacts(clip) if clip.contacts is None else clip.contacts
    return hold(contacts, paths(clip), clip.fps, _hold_m_s(draft))


def _still_held(held: Flags | None, bent: Clip, paths: Callable[[Clip], Floats]) -> Flags | None:
    """When feet are held once a motion is bent: as long as before, but where the turn takes them along.

    On a tight curve no leg can keep up with a foot that stays from first to last.
    """
    if held is None:
        return None
    return hold(held, paths(bent), bent.fps, bend.HOLD_M_S)


def _paths(clip: Clip) -> Floats:
    """Where foot joints are, (F, feet, 3)."""
    return clip.global_positions()[:, clip.skeleton.feet]


def foot_paths(clip: Clip) -> Floats:
    """Where foot joints are, (F, feet, 3), heels without height: one that rises over its toe does not slide."""
    skeleton = clip.skeleton
    paths = _paths(clip)
    for side in ("left", "right"):
        heel = skeleton.find(f"{side}_foot")
        if heel is not None and skeleton.find(f"{side}_toe") is not None:
            paths[:, skeleton.feet.index(heel), 1] = 0.0
    return paths


def limit_body(draft: Draft) -> Draft:
    """Needs body targets. Promises targets that the torso can be brought to no faster than the settings allow."""
    limited = body.limit_root_correction(draft.clip, draft.body, draft.settings.root_correction_m_s)
    return replace(draft, body=limited)


def meet_body(draft: Draft) -> Draft:
    """Needs body targets within reach. Promises the torso exactly there, and changes along the floor only."""
    glide = max(draft.glide_m_s, body.correction_speed(draft.clip, draft.body))
    return replace(draft, clip=body.meet_body(draft.clip, draft.body), glide_m_s=glide)


def clean_feet(draft: Draft) -> Draft:
    """Needs a body on a floor with feet. Promises feet that stay where they stand; moves root and legs only."""
    settings = CleanSettings(hold_m_s=_hold_m_s(draft), level=False)
    clip = footskate.clean_feet(
        draft.clip, settings, progress=draft.progress, keep=draft.montage.exact, held=draft.held
    )
    return replace(draft, clip=clip)


def _hold_m_s(draft: Draft) -> float:
    """Speed below which feet on the floor are held."""
    if draft.settings.foot_hold_m_s is not None:
        return draft.settings.foot_hold_m_s
    if draft.montage.bend is not None or draft.course is not None:
        return _BENT_HOLD_M_S
    return _CUT_HOLD_M_S if len(draft.montage.cuts) else CleanSettings.hold_m_s


def keep_exact(draft: Draft) -> Draft:
    """Needs exact frames. Promises the recorded pose in each, wherever the torso is and faces."""
    clip = exact.keep_poses(draft.clip, draft.raw, draft.montage.exact, draft.settings.cut_smooth_s)
    return replace(draft, clip=clip)


def meet_joints(draft: Draft) -> Draft:
    """Needs goals of joints. Promises hands and feet there, within reach; moves arms and legs, never an exact frame."""
    return replace(draft, clip=joints.meet_joints(draft.clip, draft.joints, draft.montage.exact))


def hold_hands(draft: Draft) -> Draft:
    """Needs a partner and recorded hand contacts. Promises held hands at his, within reach; moves arms only."""
    assert draft.partner is not None
    recorded = hand_contacts.read_hand_contacts(draft.montage.origins, draft.partner.contacts)
    clip, contacts = hand_contacts.hold_hands(draft.clip, draft.partner.clip, recorded)
    return replace(draft, clip=clip, hands=contacts)


def _has_cuts(draft: Draft) -> bool:
    return len(draft.montage.cuts) > 0


def _has_body(draft: Draft) -> bool:
    return len(draft.body) > 0


def _has_exact(draft: Draft) -> bool:
    return len(draft.montage.exact) > 0


@dataclass(frozen=True)
class Pass:
    """A step of finishing, and when it runs."""

    run: Callable[[Draft], Draft]
    applies: Callable[[Draft], bool]


PASSES: tuple[Pass, ...] = (
    Pass(smooth_cuts, _has_cuts),
    Pass(step_over_jumps, _has_cuts),
    Pass(repair_capture, lambda draft: draft.settings.repair and draft.montage.repair),
    Pass(bend_way, lambda draft: draft.montage.bend is not None or draft.course is not None),
    Pass(bend_to_body, lambda draft: len(draft.body) > 1 and draft.settings.bend_body),
    Pass(limit_body, _has_body),
    Pass(meet_body, _has_body),
    Pass(clean_feet, lambda draft: draft.settings.clean and draft.montage.on_floor),
    Pass(keep_exact, _has_exact),
    # Clean feet and kept poses pull the root along, by millimetres: these are spread once more.
    Pass(meet_body, _has_body),
    Pass(meet_joints, lambda draft: len(draft.joints) > 0),
    Pass(hold_hands, lambda draft: draft.settings.hold_hands and draft.partner is not None),
)
"""In order; assembling comes before the first."""
