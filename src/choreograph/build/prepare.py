"""Clips made ready to be compared: on one skeleton, under different names, long enough, at the graph's rate."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from choreograph.base.errors import ChoreographError, RequestError, SkeletonMismatch
from choreograph.base.progress import Progress
from choreograph.graph.clips import clip_info, graph_frames, mirror_name
from choreograph.graph.info import ClipInfo
from choreograph.graph.model import MotionGraph
from choreograph.graph.settings import GraphSettings
from choreograph.motion.clip import Clip, Note
from choreograph.motion.helper_root import fold_skeleton, helper_depth, unite_roots
from choreograph.motion.skeleton import Skeleton
from choreograph.motion.unify_skeletons import on_one_body

_LEFT_OUT = " was left out: "
"""Between a clip's name and the reason, in notes."""
_SAME = 1e-4
"""Metres, and parts of quaternions, within which two motions of one body are the same."""


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
    graph: MotionGraph | None = None,
    progress: Progress | None = None,
) -> Prepared:
    """The clips that can take part in a graph.

    Args:
        clips: As they were read.
        settings: What graph is wanted.
        onto: A skeleton to carry them onto; True for that of the graph, else for the one of most clips.
        graph: What they are added to: they are to have its body, stand as its clips do, have names that those do not
            have, and are numbered on from them.
        progress: Hears how many are done.

    Raises:
        SkeletonMismatch: If skeletons differ; the message says which and how.
    """
    there = () if graph is None else graph.infos
    originals, notes = name_clips(clips, settings, [info.name for info in there])
    like = None if graph is None else graph.skeleton
    body = onto if isinstance(onto, Skeleton) else None
    body = body_without_helper(body, [clip.skeleton for clip in originals])
    originals, folded = unite_roots(originals, body or like)
    notes += folded
    if onto is not False:
        originals, carried = on_one_body(originals, body or like, progress, () if graph is None else graph.clips)
        notes += carried
    check_skeletons([clip.name for clip in originals], [clip.skeleton for clip in originals], like)
    clips_out: list[Clip] = []
    infos: list[ClipInfo] = []
    for clip in originals:
        for copy in with_mirrored(clip, settings):
            mirror_of = None if copy is clip else len(there) + len(clips_out) - 1
            infos.append(clip_info(copy, settings.rate_hz, mirror_of))
            clips_out.append(copy)
    return Prepared(tuple(clips_out), tuple(infos), tuple(notes))


class KnownFiles:
    """What a graph has already, by the SHA-256 of files."""

    def __init__(self, graph: MotionGraph | None) -> None:
        """Take the graph that clips are to be added to, if there is one."""
        self._clips: Sequence[Clip] = () if graph is None else graph.clips
        self._numbers: dict[str, list[tuple[int, str]]] = {}
        for number, info in enumerate(() if graph is None else graph.infos):
            if info.sha256 and info.mirror_of is None:
                self._numbers.setdefault(info.sha256, []).append((number, info.take))

    def pass_over(self, clips: Sequence[Clip]) -> tuple[list[Clip], list[Note]]:
        """Of clips as they were read, those that the graph does not have yet, and notes of those that it has."""
        fresh, notes = list[Clip](), list[Note]()
        for clip in clips:
            if self._has(clip):
                notes.append(Note("already-there", f"{clip.name!r} was passed over: the graph has this file already"))
            else:
                fresh.append(clip)
        return fresh, notes

    def _has(self, clip: Clip) -> bool:
        """Whether the graph has the clip: what was changed since it was read, or cut out, is another motion."""
        if clip.source is None:
            return False
        # Graphs of earlier versions have one take of each file, and do not say which.
        takes = ("", clip.source.take)
        there = [number for number, take in self._numbers.get(clip.source.sha256, ()) if take in takes]
        return any(_same_motion(clip, self._clips[number]) for number in there)


def _same_motion(clip: Clip, earlier: Clip) -> bool:
    """Whether a graph's clip may be this one. On another body, onto which it was carried, it is if it is as long."""
    if len(clip) != len(earlier) or not math.isclose(clip.fps, earlier.fps, rel_tol=1e-6):
        return False
    if not clip.skeleton.matches(earlier.skeleton):
        return True
    shifts, turns = np.abs(clip.root_pos - earlier.root_pos), np.abs(clip.local_rot - earlier.local_rot)
    return bool(max(shifts.max(), turns.max()) < _SAME)


def note_unread(error: ChoreographError) -> Note:
    """What is said of a file that could not be read, where work goes on without it."""
    return Note("unread", f"a file{_LEFT_OUT}{error}")


def name_clips(clips: Sequence[Clip], settings: GraphSettings, used: Collection[str]) -> tuple[list[Clip], list[Note]]:
    """The clips that last as long as a window, under names that no other has, and which do not."""
    names, left, notes = set(used), list[Clip](), list[Note]()
    for clip in clips:
        if graph_frames(len(clip), clip.fps, settings.rate_hz) < settings.window_frames:
            text = f"{clip.name!r}{_LEFT_OUT}it lasts {clip.seconds:.2f} s, less than a window"
            notes.append(Note("too-short", text))
            continue
        left.append(_with_own_name(clip, names, settings))
        names.update(_names_of(left[-1].name, settings))
    return left, notes


def with_mirrored(clip: Clip, settings: GraphSettings) -> list[Clip]:
    """The clip, and its mirror image if the settings ask for it."""
    return [clip, clip.mirrored().with_name(mirror_name(clip.name))] if settings.mirror else [clip]


def body_without_helper(body: Skeleton | None, skeletons: Sequence[Skeleton]) -> Skeleton | None:
    """The body that clips are to have, less a helper root if it has one and they differ from it."""
    if body is not None and any(not body.same_joints(skeleton) for skeleton in skeletons):
        return fold_skeleton(body, helper_depth(body))
    return body


def check_skeletons(names: Sequence[str], skeletons: Sequence[Skeleton], like: Skeleton | None = None) -> None:
    """Raise a SkeletonMismatch unless all clips have this skeleton, that of a graph, or else that of the first."""
    if not names:
        return
    skeleton = like or skeletons[0]
    other = [number for number, own in enumerate(skeletons) if not (own is skeleton or skeleton.matches(own))]
    if not other:
        return
    whose, advice = repr(names[0]), dict[str, str]()
    if like is not None:
        whose = "the graph"
        advice = {"advice": "Let the new ones be retargeted to the graph's skeleton"}
    try:
        skeleton.check_matches(skeletons[other[0]], f"{whose} and {names[other[0]]!r}", **advice)
    except SkeletonMismatch as error:
        more = f"; {len(other)} of {len(names)} clips differ from {whose}" if len(other) > 1 else ""
        raise SkeletonMismatch(f"{error}{more}") from None


def _with_own_name(clip: Clip, names: set[str], settings: GraphSettings) -> Clip:
    """The clip, under a name that no other has: "walk~2" for a second "walk"."""
    name, number = clip.name, 1
    while not names.isdisjoint(_names_of(name, settings)):
        number += 1
        name = f"{clip.name}~{number}"
    return clip if name == clip.name else clip.with_name(name)


def _names_of(name: str, settings: GraphSettings) -> tuple[str, ...]:
    """The name of a clip, and of its mirror image if there is one."""
    return (name, mirror_name(name)) if settings.mirror else (name,)


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
        why = f" ({'; '.join(map(str, sum_up(notes, 1)))})" if notes else ""
        raise RequestError(f"there is no clip to build a graph of{why}")


def sum_up(notes: Iterable[Note], most: int = 20) -> list[Note]:
    """The notes; of clips that were left out for one kind of reason, where they are more than so many, one for all.

    >>> [str(note) for note in sum_up([Note("left-out", f"'{n}' was left out: it has no legs") for n in range(50)])]
    ["50 clips were left out, such as '0': it has no legs"]
    """
    messages = list(notes)
    for kind in dict.fromkeys(note.kind for note in messages):
        alike = [note for note in messages if note.kind == kind and _LEFT_OUT in note.message]
        if len(alike) > most:
            name, _, why = alike[0].message.partition(_LEFT_OUT)
            messages = [note for note in messages if note.kind != kind or _LEFT_OUT not in note.message]
            messages.append(Note(kind, f"{len(alike):,} clips were left out, such as {name}: {why}"))
    return messages
