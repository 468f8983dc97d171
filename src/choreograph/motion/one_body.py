"""Recordings of several people and rigs, brought onto one body, so that they can be one graph."""

from __future__ import annotations

from collections.abc import Sequence

from choreograph.errors import RoleError
from choreograph.motion.clip import Clip, Note
from choreograph.motion.retarget import retarget
from choreograph.motion.role_map import LEG_ROLES
from choreograph.motion.skeleton import Skeleton
from choreograph.motion.stance import Stance, recorded_stance
from choreograph.progress import Progress, silent


def on_one_body(
    clips: Sequence[Clip], body: Skeleton | None = None, progress: Progress | None = None
) -> tuple[list[Clip], list[Note]]:
    """The clips on one body, and what was done to them.

    >>> from choreograph.demo import demo_clip
    >>> on_one_body([demo_clip("walk", 30.0)])[1]
    []

    Args:
        clips: Of any bodies.
        body: Whose body; else the one of most clips.
        progress: Hears how many are done.

    Returns:
        The clips of that body as they are and the others retargeted to it, in the same order. They go where they went,
        so that people recorded together stay together. Those without legs are left out; the notes say so, and what was
        retargeted.
    """
    told = progress or silent
    groups = _groups(clips)
    if body is None:
        able = [group for group in groups if _has_legs(group[0].skeleton)] or groups
        most = max(able, key=lambda group: (len(group), sum(clip.seconds for clip in group)), default=None)
        body = most[0].skeleton if most is not None else None
    if body is None or all(body.matches(group[0].skeleton) for group in groups):
        return list(clips), []
    own = [clip for group in groups if body.matches(group[0].skeleton) for clip in group]
    whose = f"the body of {own[0].name!r}" if own else "one body"
    stance = _stance(own) if _has_legs(body) else None
    made: dict[int, Clip] = {}
    notes = []
    done = 0
    for group in groups:
        if body.matches(group[0].skeleton):
            continue
        kept = []
        for clip in group:
            told("carrying clips over", done, len(clips))
            done += 1
            try:
                made[id(clip)] = retarget(clip, body, stance=stance, keep_way=True)
                kept.append(clip)
            except RoleError as error:
                made[id(clip)] = clip
                notes.append(Note("left-out", f"{clip.name!r} was left out: {error}"))
        if kept:
            notes.append(Note("retargeted", _sentence(kept, whose)))
    told("carrying clips over", len(clips), len(clips))
    fitting = [made.get(id(clip), clip) for clip in clips]
    return [clip for clip in fitting if body.matches(clip.skeleton)], notes


def _groups(clips: Sequence[Clip]) -> list[list[Clip]]:
    """Clips of the same body together."""
    groups: list[list[Clip]] = []
    for clip in clips:
        for group in groups:
            if group[0].skeleton is clip.skeleton or group[0].skeleton.matches(clip.skeleton):
                group.append(clip)
                break
        else:
            groups.append([clip])
    return groups


def _has_legs(skeleton: Skeleton) -> bool:
    return all(skeleton.find(role) is not None for role in LEG_ROLES)


def _stance(clips: Sequence[Clip]) -> Stance | None:
    """How the body stands in the first of its recordings that shows it."""
    return next((found for clip in clips[:10] if (found := recorded_stance(clip)) is not None), None)


def _sentence(clips: Sequence[Clip], whose: str) -> str:
    names = ", ".join(repr(clip.name) for clip in clips[:4]) + (f" and {len(clips) - 4} more" if len(clips) > 4 else "")
    skeleton = clips[0].skeleton
    return f"retargeted to {whose}: {names} ({len(skeleton)} joints from {skeleton.names[0]!r})"
