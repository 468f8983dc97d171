"""Recordings of several people and rigs, brought onto one body, so that they can be one graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from choreograph.base.errors import RoleError
from choreograph.base.progress import Progress, silent
from choreograph.motion.clip import Clip, Note
from choreograph.motion.foot_geometry import FootGeometry, recorded_stance
from choreograph.motion.retarget import retarget
from choreograph.motion.role_map import LEG_ROLES
from choreograph.motion.skeleton import Skeleton

_SHOWING = 10
"""Recordings of a body that are looked at for how it stands."""
_BODIES_TOLD = 30
"""Bodies up to which a note tells of each."""


@dataclass(frozen=True)
class Casting:
    """Clips by the bodies that they are of, and the one body that all are to have; told without their frames."""

    body: Skeleton
    own: tuple[int, ...]
    """Clips that have it."""
    others: tuple[tuple[int, ...], ...]
    """The others, those of the same body together."""

    def stance(self, clips: Sequence[Clip], there: Sequence[Clip] = ()) -> FootGeometry | None:
        """How the body stands in the first of its recordings that shows it.

        Args:
            clips: All of them.
            there: Clips on the body that they come to, which are looked at first: all are to stand alike.
        """
        if not _has_legs(self.body):
            return None
        own = (clips[number] for number in self.own[:_SHOWING])
        stances = (recorded_stance(clip) for clip in chain((there[n] for n in range(min(len(there), _SHOWING))), own))
        return next((stance for stance in stances if stance is not None), None)

    def carry(self, clip: Clip, stance: FootGeometry | None) -> Clip:
        """A clip of another body on this one. Raises a `RoleError` if it has no legs."""
        return retarget(clip, self.body, stance=stance, keep_way=True)

    def notes(self, names: Sequence[str], skeletons: Sequence[Skeleton], left_out: Mapping[int, str]) -> list[Note]:
        """What was done.

        Args:
            names: Of all clips.
            skeletons: Of all clips, as they were.
            left_out: Why clips could not be carried over.
        """
        whose = f"the body of {names[self.own[0]]!r}" if self.own else "one body"
        notes, left = [], [[n for n in group if n not in left_out] for group in self.others]
        for group, own in zip(self.others, left, strict=True):
            notes += [Note("left-out", f"{names[n]!r} was left out: {left_out[n]}") for n in group if n not in set(own)]
            if own and len(self.others) <= _BODIES_TOLD:
                skeleton = skeletons[own[0]]
                joints = f"{len(skeleton)} joints from {skeleton.names[0]!r}"
                notes.append(Note("retargeted", f"retargeted to {whose}: {_some(names, own)} ({joints})"))
        moved = [n for own in left for n in own]
        if moved and len(self.others) > _BODIES_TOLD:
            bodies = sum(1 for own in left if own)
            text = f"retargeted to {whose}: {len(moved)} clips of {bodies} bodies, {_some(names, moved)}"
            notes.append(Note("retargeted", text))
        return notes


def cast_bodies(
    skeletons: Sequence[Skeleton], seconds: Sequence[float], body: Skeleton | None = None
) -> Casting | None:
    """Which clips are of which body; None where all are of one already.

    Args:
        skeletons: Of each clip.
        seconds: How long each is.
        body: The body that all are to have; else the one of most clips.
    """
    groups = _groups(skeletons)
    if body is None and groups:
        able = [group for group in groups if _has_legs(skeletons[group[0]])] or groups
        most = max(able, key=lambda group: (len(group), sum(seconds[n] for n in group)))
        body = skeletons[most[0]]
    if body is None or all(body.matches(skeletons[group[0]]) for group in groups):
        return None
    own = [n for group in groups if body.matches(skeletons[group[0]]) for n in group]
    return Casting(
        body, tuple(own), tuple(tuple(group) for group in groups if not body.matches(skeletons[group[0]]))
    )  # fmt: skip


def on_one_body(
    clips: Sequence[Clip],
    body: Skeleton | None = None,
    progress: Progress | None = None,
    there: Sequence[Clip] = (),
) -> tuple[list[Clip], list[Note]]:
    """The clips on one body, and what was done to them.

    >>> from choreograph.demo import demo_clip
    >>> on_one_body([demo_clip("walk", 30.0)])[1]
    []

    Args:
        clips: Of any bodies.
        body: Whose body; else the one of most clips.
        progress: Hears how many are done.
        there: Clips on the body already, which they come to.

    Returns:
        The clips of that body as they are and the others retargeted to it, in the same order. They go where they went,
        so that people recorded together stay together. Those without legs are left out; the notes say so, and what was
        retargeted.
    """
    report = progress or silent
    skeletons = [clip.skeleton for clip in clips]
    casting = cast_bodies(skeletons, [clip.seconds for clip in clips], body)
    if casting is None:
        return list(clips), []
    stance = casting.stance(clips, there)
    clips_out, left_out = list(clips), dict[int, str]()
    moved = [number for group in casting.others for number in group]
    for done, number in enumerate(moved):
        report("carrying clips over", done, len(moved))
        try:
            clips_out[number] = casting.carry(clips[number], stance)
        except RoleError as error:
            left_out[number] = str(error)
    report("carrying clips over", len(moved), len(moved))
    notes = casting.notes([clip.name for clip in clips], skeletons, left_out)
    return [clip for number, clip in enumerate(clips_out) if number not in left_out], notes


def _groups(skeletons: Sequence[Skeleton]) -> list[list[int]]:
    """Clips of the same body together."""
    groups: list[list[int]] = []
    by_identity: dict[int, list[int]] = {}
    for number, skeleton in enumerate(skeletons):
        group = by_identity.get(id(skeleton))
        if group is None:
            group = next((group for group in groups if skeletons[group[0]].matches(skeleton)), None)
            if group is None:
                groups.append(group := [])
            by_identity[id(skeleton)] = group
        group.append(number)
    return groups


def _has_legs(skeleton: Skeleton) -> bool:
    return all(skeleton.find(role) is not None for role in LEG_ROLES)


def _some(names: Sequence[str], which: Sequence[int]) -> str:
    names_listed = ", ".join(repr(names[n]) for n in which[:4])
    return names_listed + (f" and {len(which) - 4} more" if len(which) > 4 else "")
