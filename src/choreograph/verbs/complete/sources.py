"""What is learned from: a graph's clips, recordings, or a model at hand; learned once and kept in the cache."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from choreograph.base.errors import RequestError
from choreograph.base.progress import Progress, silent
from choreograph.contract.limits import is_file
from choreograph.goals.model import LabelGoal, PoseSource
from choreograph.goals.target import FindClip, Target, find_targets
from choreograph.graph.cache import Key, find_or_build, limit_bytes
from choreograph.graph.model import MotionGraph
from choreograph.motion.clip import Clip
from choreograph.motion.labels import matches_label, say_labels
from choreograph.motion.retarget import retarget
from choreograph.motion.skeleton import Skeleton
from choreograph.motion.trim import trimmed
from choreograph.verbs.complete.model import MotionModel, learn
from choreograph.verbs.complete.request import CompleteRequest
from choreograph.verbs.complete.settings import LearnSettings
from choreograph.verbs.complete.store import pack, unpack

Source = MotionModel | MotionGraph | Sequence[Clip]
"""What motions can be completed with."""
Known = Sequence[Target]
METHOD = 6
"""One more whenever the same clips would give another model."""


class Recordings:
    """The clips of a source by name, read when they are needed."""

    def __init__(self, source: Source, whole: Source | None = None) -> None:
        """Take what is learned from, and what it was chosen from: a request may name clips of all of that."""
        self.source, self._whole = source, whole
        self._clips: list[Clip] | None = None

    @property
    def clips(self) -> list[Clip]:
        """All clips; none where there is only a model."""
        if self._clips is None:
            source = self.source
            clips = (
                [] if isinstance(source, MotionModel) else source.clips if isinstance(source, MotionGraph) else source
            )
            self._clips = list(clips)
        return self._clips

    @property
    def body(self) -> Skeleton:
        """The body of the first clip, by which clips are compared."""
        return self.clips[0].skeleton

    def find(self, pose: PoseSource, where: str) -> Clip:
        """The clip or file that a pose is from."""
        if pose.file is not None:
            from choreograph.formats import read_clip

            return read_clip(Path(pose.file))
        return self.named(str(pose.clip), f"{where}.clip")

    def named(self, name: str, where: str) -> Clip:
        """A clip by its name, or a motion file's.

        Raises:
            RequestError: If there is none; the message lists those there are.
        """
        for clip in self.clips:
            if clip.name == name:
                return clip
        if Path(name).suffix and is_file(name):
            from choreograph.formats import read_clip

            return read_clip(Path(name))
        if isinstance(self._whole, MotionGraph) and any(info.name == name for info in self._whole.infos):
            return self._whole.clips[self._whole.find_clip(name)]
        names = [clip.name for clip in self.clips]
        known = ", ".join(names[:20]) + (" …" if len(names) > 20 else "") or "none, since this is a model: give files"
        raise RequestError(f"{where} is {name!r}, which is no clip; there are {known}", where=where)

    def model(self, request: CompleteRequest, progress: Progress = silent, *, known: Known = ()) -> MotionModel:
        """The model for a request: the one at hand, or learned from the clips that it means.

        Args:
            request: Which clips, and how.
            progress: Hears how far the work has come.
            known: What is asked besides the request's own goals, by which the nearest clips are known too.
        """
        settings = request.advanced.model
        labels = tuple(dict.fromkeys(goal.label for goal in request.labels))
        if isinstance(self.source, MotionModel):
            return _checked(self.source, request)
        if labels and not settings.behaviours:
            settings = settings.with_(behaviours=labels)
        clips = choose_clips(self.clips, request, self.find, known)
        return find_model(clips, settings, progress)


def _checked(model: MotionModel, request: CompleteRequest) -> MotionModel:
    known = [own.name for own in model.dynamics]
    for n, goal in enumerate(request.goals):
        if isinstance(goal, LabelGoal) and goal.label not in known:
            named = ", ".join(name for name in known if name) or "one behaviour without a name"
            raise RequestError(
                f"goals[{n}].label is {goal.label!r}, but the model knows {named}; learn one that does (behaviours)",
                where=f"goals[{n}].label",
            )
    return model


def find_model(clips: Sequence[Clip], settings: LearnSettings, progress: Progress = silent) -> MotionModel:
    """The model of clips, read from the cache or learned; frames with a rest pose or a leap at an end are left out."""
    key = None
    if limit_bytes():
        known = {"motion": _digest(clips)}
        key = Key("motion model", METHOD, known, settings.model_dump(mode="json"))

    def build() -> MotionModel:
        # Packed and unpacked, so that it is to the bit what the cache gives the next time.
        return unpack(pack(learn([trimmed(clip) for clip in clips], settings, progress=progress)))

    return find_or_build(key, build, pack, unpack)


def _digest(clips: Sequence[Clip]) -> str:
    digest = hashlib.sha256()
    for clip in clips:
        digest.update(repr((clip.name, clip.fps, clip.labels, clip.skeleton.names, clip.skeleton.roles)).encode())
        for array in (clip.skeleton.parents, clip.skeleton.offsets, clip.root_pos, clip.local_rot):
            digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def choose_clips(
    clips: Sequence[Clip], request: CompleteRequest, find: FindClip | None = None, known: Known = ()
) -> list[Clip]:
    """The clips that a request means to learn from: by label, and of those the nearest to its goals.

    Args:
        clips: All there are.
        request: Which it means.
        find: The clip of a pose; by name among `clips` if None.
        known: What is asked besides the request's own goals.

    Raises:
        RequestError: If there are none.
    """
    chosen = list(clips)
    if not chosen:
        raise RequestError("there are no clips to learn from")
    label = request.advanced.labelled
    if label is not None:
        parts = [part for clip in chosen for part in _labelled(clip, label)]
        if not parts:
            labels = say_labels([label.text for clip in chosen for label in clip.labels])
            where = "advanced.labelled"
            raise RequestError(f"{where} is {label!r}, but clips are labelled {labels}", where=where)
        chosen = parts
    if request.nearest is not None and request.nearest < len(chosen):
        from choreograph.verbs.complete.nearest import goal_distance

        body = clips[0].skeleton
        targets = [*known, *find_targets(request.goals, body, find or Recordings(clips).find)]
        away = [goal_distance(retarget(clip, body), targets) for clip in chosen]
        nearest = sorted(np.argsort(away, kind="stable")[: request.nearest].tolist())
        chosen = [chosen[n] for n in nearest]
    return chosen


def _labelled(clip: Clip, label: str) -> list[Clip]:
    return [clip[one.start : one.stop] for one in clip.labels if matches_label(label, one.text)]
