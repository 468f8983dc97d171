"""Clips made ready to be compared: on one skeleton, under different names, long enough, at the graph's rate."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from choreograph.errors import RequestError, SkeletonMismatch
from choreograph.graph.clips import clip_info, graph_frames, mirror_name
from choreograph.graph.model import ClipInfo
from choreograph.graph.settings import GraphSettings
from choreograph.motion.clip import Clip, Note
from choreograph.motion.helper_root import fold_skeleton, helper_depth, unite_roots
from choreograph.motion.one_body import on_one_body
from choreograph.motion.skeleton import Skeleton
from choreograph.progress import Progress, silent


@dataclass(frozen=True)
class Prepared:
    """The clips that take part, with their mirror images if asked for, each after its original."""

    clips: Sequence[Clip]
    infos: tuple[ClipInfo, ...]
    notes: tuple[Note, ...]


def prepare_clips(
    clips: Sequence[Clip],
    settings: GraphSettings,
    *,
    onto: Skeleton | bool = True,
    like: Skeleton | None = None,
    taken: Sequence[str] = (),
    first: int = 0,
    progress: Progress | None = None,
) -> Prepared:
    """The clips that can take part in a graph.

    Args:
        clips: As they were read.
        settings: What graph is wanted.
        onto: A skeleton to carry them onto; True for that of `like`, else for the one of most clips.
        like: The skeleton they must have: that of a graph they are added to.
        taken: Names that other clips of the graph have.
        first: Number of the first of these clips in the graph.
        progress: Hears how many are done.

    Raises:
        SkeletonMismatch: If skeletons differ; the message says which and how.
    """
    told = progress or silent
    notes: list[Note] = []
    long_enough = []
    for clip in clips:
        frames = graph_frames(len(clip), clip.fps, settings.rate_hz)
        if frames < settings.window_frames:
            text = f"{clip.name!r} was left out: it lasts {clip.seconds:.2f} s, less than a window"
            notes.append(Note("too-short", text))
        else:
            long_enough.append(clip)
    body = onto if isinstance(onto, Skeleton) else None
    if body is not None and any(not body.same_joints(clip.skeleton) for clip in long_enough):
        body = fold_skeleton(body, helper_depth(body))
    long_enough, folded = unite_roots(long_enough, body or like)
    notes += folded
    if onto is not False:
        long_enough, carried = on_one_body(long_enough, body or like, told)
        notes += carried
    if long_enough:
        _check_skeletons(long_enough, like or long_enough[0].skeleton, known=like is not None)
    names = set(taken)
    made: list[Clip] = []
    infos: list[ClipInfo] = []
    for clip in long_enough:
        clip = _with_own_name(clip, names, settings)
        copies = [clip, clip.mirrored().with_name(mirror_name(clip.name))] if settings.mirror else [clip]
        for copy in copies:
            names.add(copy.name)
            mirror_of = None if copy is clip else first + len(made) - 1
            infos.append(clip_info(copy, settings.rate_hz, mirror_of))
            made.append(copy)
    return Prepared(tuple(made), tuple(infos), tuple(notes))


def _check_skeletons(clips: Sequence[Clip], skeleton: Skeleton, *, known: bool) -> None:
    other = [clip for clip in clips if not skeleton.matches(clip.skeleton)]
    if not other:
        return
    whose = "the graph" if known else repr(clips[0].name)
    advice = (
        {"advice": "Let the new ones be retargeted to the graph's skeleton (without --no-retarget)"} if known else {}
    )
    try:
        skeleton.check_matches(other[0].skeleton, f"{whose} and {other[0].name!r}", **advice)
    except SkeletonMismatch as error:
        more = f"; {len(other)} of {len(clips)} clips differ from {whose}" if len(other) > 1 else ""
        raise SkeletonMismatch(f"{error}{more}") from None


def _with_own_name(clip: Clip, names: set[str], settings: GraphSettings) -> Clip:
    """The clip, under a name that no other has: "walk~2" for a second "walk"."""
    name, number = clip.name, 1
    while name in names or (settings.mirror and mirror_name(name) in names):
        number += 1
        name = f"{clip.name}~{number}"
    return clip if name == clip.name else clip.with_name(name)


def digest(clip: Clip) -> str:
    """A fingerprint of the motion: of all that distances depend on."""
    state = hashlib.blake2b(digest_size=16)
    state.update(repr((clip.fps, clip.skeleton.names, clip.skeleton.roles, clip.local_rot.shape)).encode())
    for array in (clip.skeleton.parents, clip.skeleton.offsets, clip.root_pos, clip.local_rot, clip.local_pos):
        if array is not None:
            state.update(np.ascontiguousarray(array).data)
    return state.hexdigest()


def check_any(infos: Sequence[ClipInfo], notes: Sequence[Note]) -> None:
    """Raise a RequestError where no clip is left to build a graph of."""
    if not infos:
        why = f" ({notes[0]})" if len(notes) == 1 else f" ({len(notes)} were shorter than a window)" if notes else ""
        raise RequestError(f"there is no clip to build a graph of{why}")
