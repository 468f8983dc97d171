"""A motion on another body with its feet held: retargeting and cleaning together, on rigs of any kind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from choreograph.finishing.foot_contacts import hold
from choreograph.finishing.footskate import CleanSettings, clean_feet
from choreograph.finishing.hand_reach import HandTouches, find_touches, keep_touches
from choreograph.finishing.soles import keep_soles_up
from choreograph.motion.clip import Clip
from choreograph.motion.contacts import with_detected_contacts
from choreograph.motion.detached_feet import rehang
from choreograph.motion.foot_geometry import FootGeometry
from choreograph.motion.remap import contacts_on
from choreograph.motion.retarget import retarget
from choreograph.motion.role_map import need_legs
from choreograph.motion.skeleton import Skeleton


@dataclass(frozen=True, eq=False)
class PutOn:
    """A motion on another body."""

    raw: Clip
    """Before feet are held."""
    clip: Clip
    touches: HandTouches | None = None
    """What its hands touch, where they are held to it."""


def put_on(
    clip: Clip,
    skeleton: Skeleton,
    *,
    sole_m: float | None = None,
    given: Mapping[str, str] | None = None,
    stance: FootGeometry | None = None,
    clean: bool = True,
    hands: bool = True,
    keep_way: bool = False,
) -> PutOn:
    """The clip's motion on another body, with standing feet held for as long as they stood in the recording.

    >>> from choreograph.demo import demo_clip
    >>> walk = demo_clip("walk", 30.0)
    >>> put_on(walk, walk.skeleton).clip is walk
    True

    Args:
        clip: The motion, on its own body.
        skeleton: The body that is to move.
        sole_m: See `retarget`.
        given: See `retarget`.
        stance: See `retarget`.
        clean: Whether standing feet are held where they stand.
        hands: Whether hands that touch each other, the body or the floor are held to it.
        keep_way: See `retarget`.

    Raises:
        RoleError: If no legs are known, whose lengths give the scale.
    """
    if clip.skeleton.matches(skeleton) and not given:
        return PutOn(clip, clip)
    rehung = None if clip.skeleton.same_joints(skeleton) else rehang(skeleton)
    body = skeleton if rehung is None else rehung.body
    need_legs(clip.skeleton, body)
    source = _with_held(with_detected_contacts(clip))
    raw = retarget(source, body, sole_m=sole_m, given=given, stance=stance, keep_way=keep_way)
    clip_out = raw
    if clean and len(clip) > 1 and raw.local_pos is None:
        clip_out = keep_soles_up(clean_feet(raw, held=contacts_on(source, body)))
    touches = find_touches(source, clip_out) if hands and len(clip) > 1 and raw.local_pos is None else None
    if touches is not None:
        clip_out = keep_touches(clip_out, touches)
    if rehung is not None:
        return PutOn(rehung.on_rig(raw), rehung.on_rig(clip_out), touches)
    return PutOn(raw, clip_out, touches)


def _with_held(source: Clip) -> Clip:
    """The clip with its plants cut down to when feet are as slow as those that are held in a recording."""
    assert source.contacts is not None
    paths = source.global_positions()[:, source.skeleton.feet]
    held = hold(source.contacts, paths, source.fps, CleanSettings().hold_m_s)
    # A foot that was held to its last frame is fast between that one and the next, where it is let go.
    wider = held.copy()
    wider[1:] |= held[:-1]
    wider[:-1] |= held[1:]
    return source.with_contacts(wider & source.contacts)
