"""Clip: a skeleton and its frames, immutable; whatever changes a clip returns a new one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from choreograph.base import quat
from choreograph.base.arrays import Flags, Floats, Indices, frozen, seal
from choreograph.base.errors import RequestError
from choreograph.base.floor import FloorTransform
from choreograph.motion import kinematics, mirror, resample
from choreograph.motion.display import ShowsItself
from choreograph.motion.skeleton import Skeleton


@dataclass(frozen=True)
class Label:
    """A word said about the frames [start, stop) of a clip: "walk", "turn left" …"""

    text: str
    start: int
    stop: int


@dataclass(frozen=True)
class Note:
    """Something odd in a file, met and dealt with while reading it, and how often."""

    kind: str
    """A fixed word, for programs: "frame-count", "unknown-channel" …"""
    message: str
    """A sentence, for people."""
    count: int = 1

    def __str__(self) -> str:
        return self.message + (f" (×{self.count})" if self.count > 1 else "")


@dataclass(frozen=True)
class Source:
    """Where a clip came from, and how its file's numbers were read."""

    path: str
    format: str
    sha256: str = ""
    metres_per_unit: float = 1.0
    up_axis: str = "y"
    unit_reason: str = ""
    """Why this unit was taken: "given", "stated in the file" or what it was judged by."""
    up_reason: str = ""
    notes: tuple[Note, ...] = ()
    take: str = ""
    """Which of the file's takes it is, where the file has several."""


@dataclass(frozen=True, eq=False)
class Clip(ShowsItself):
    """A motion: F frames of a skeleton at a fixed rate, in metres, y up."""

    skeleton: Skeleton
    fps: float
    """Frames per second."""
    root_pos: Floats
    """Positions of the root, (F, 3), metres."""
    local_rot: Floats
    """Rotation of every joint in its parent's frame, (F, J, 4) wxyz, unit and sign-continuous."""
    name: str = "clip"
    local_pos: Floats | None = None
    """Joint positions in the parent's frame, (F, J, 3), for the rare recording in which bones change length; the
    root's entries repeat `root_pos`. None where the skeleton's offsets hold throughout."""
    labels: tuple[Label, ...] = ()
    contacts: Flags | None = None
    """Which of `skeleton.feet` stand on the floor, (F, len(feet)); None where nobody has looked."""
    source: Source | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        def put(name: str, value: object) -> None:
            object.__setattr__(self, name, value)

        put("fps", float(self.fps))
        put("root_pos", frozen(self.root_pos))
        put("local_rot", frozen(self.local_rot))
        put("labels", tuple(self.labels))
        frames, joints = len(self.root_pos), len(self.skeleton)
        if frames < 1:
            raise ValueError("a clip needs at least one frame")
        if not (np.isfinite(self.fps) and self.fps > 0):
            raise ValueError(f"the frame rate must be a positive number, not {self.fps}")
        if self.root_pos.shape != (frames, 3) or self.local_rot.shape != (frames, joints, 4):
            raise ValueError(
                f"root positions {self.root_pos.shape} and rotations {self.local_rot.shape} do not fit "
                f"{frames} frames of {joints} joints"
            )
        if not (np.isfinite(self.root_pos).all() and np.isfinite(self.local_rot).all()):
            raise ValueError(f"clip {self.name!r} has values that are not finite numbers")
        if self.local_pos is not None:
            put("local_pos", frozen(self.local_pos))
            if self.local_pos.shape != (frames, joints, 3) or not np.isfinite(self.local_pos).all():
                raise ValueError(f"joint positions {self.local_pos.shape} do not fit, or are not finite")
        if self.contacts is not None:
            put("contacts", frozen(self.contacts, np.bool_))
            if self.contacts.shape != (frames, len(self.skeleton.feet)):
                raise ValueError(
                    f"contacts {self.contacts.shape} do not fit {frames} frames, {len(self.skeleton.feet)} foot joints"
                )
        for label in self.labels:
            if not 0 <= label.start < label.stop <= frames:
                raise ValueError(f"label {label.text!r} [{label.start}, {label.stop}) is not within {frames} frames")

    # ------------------------------------------------------------------ facts

    def __len__(self) -> int:
        """Number of frames."""
        return len(self.root_pos)

    def __repr__(self) -> str:
        return f"Clip({self.name!r}, {len(self)} frames at {self.fps:g} fps, {len(self.skeleton)} joints)"

    @property
    def seconds(self) -> float:
        """Length in seconds: frames over rate."""
        return len(self) / self.fps

    @cached_property
    def _world(self) -> tuple[Floats, Floats]:
        offsets = self.skeleton.offsets[None] if self.local_pos is None else self.local_pos
        pos, rot = kinematics.forward(self.root_pos, self.local_rot, offsets, self.skeleton.parents)
        return seal(pos), seal(rot)

    def global_positions(self) -> Floats:
        """Joint positions, (F, J, 3), metres; computed once and kept."""
        return self._world[0]

    def global_rotations(self) -> Floats:
        """Joint rotations against the world, (F, J, 4); computed once and kept."""
        return self._world[1]

    def tip_positions(self) -> Floats:
        """Positions of the end sites, (F, T, 3), metres."""
        pos, rot = self._world
        at = self.skeleton.tip_parents
        return np.asarray(pos[:, at] + quat.rotate(rot[:, at], self.skeleton.tip_offsets))

    def facing(self) -> Floats:
        """Yaw of the hips in each frame, (F,), radians: 0 looks along +z, pi/2 along +x."""
        ahead = quat.rotate(self.global_rotations()[:, self.skeleton.hips], (0.0, 0.0, 1.0))
        return np.asarray(np.arctan2(ahead[:, 0], ahead[:, 2]))

    def labels_at(self, frame: int) -> tuple[str, ...]:
        """The words said about one frame."""
        return tuple(label.text for label in self.labels if label.start <= frame < label.stop)

    # ------------------------------------------------------------------ changed copies

    def with_name(self, name: str) -> Clip:
        """A copy with another name."""
        return replace(self, name=name)

    def with_labels(self, labels: Iterable[Label | str]) -> Clip:
        """A copy with these labels; a bare string covers the whole clip."""
        every = tuple(Label(x, 0, len(self)) if isinstance(x, str) else x for x in labels)
        return replace(self, labels=every)

    def with_contacts(self, contacts: Flags | None) -> Clip:
        """A copy with these foot plants."""
        return self._same_poses(replace(self, contacts=contacts))

    def _same_poses(self, copy: Clip) -> Clip:
        """A copy whose joints are where they were: what was computed of them is kept."""
        if "_world" in self.__dict__:
            copy.__dict__["_world"] = self._world
        return copy

    def with_frames(self, root_pos: Floats, local_rot: Floats) -> Clip:
        """A copy with other root positions and rotations for the same frames; bones keep their rest lengths."""
        return replace(self, root_pos=root_pos, local_rot=local_rot, local_pos=None)

    def with_poses(self, root_pos: Floats, local_rot: Floats) -> Clip:
        """A copy with other root positions and rotations for the same frames; bones are as long as they were."""
        local_pos = None if self.local_pos is None else np.array(self.local_pos)
        if local_pos is not None:
            local_pos[:, 0] = root_pos
        return replace(self, root_pos=seal(root_pos), local_rot=seal(local_rot), local_pos=local_pos)

    def with_skeleton(self, skeleton: Skeleton) -> Clip:
        """A copy whose skeleton has other roles, tips or axes but the same joints."""
        if not self.skeleton.same_joints(skeleton):
            self.skeleton.check_matches(skeleton, "the clip and the new skeleton")
        contacts = self.contacts if skeleton.feet == self.skeleton.feet else None
        return replace(self, skeleton=skeleton, contacts=contacts)

    def __getitem__(self, frames: slice) -> Clip:
        """Frames [start, stop), step 1, as a clip; labels are cut to fit."""
        if not isinstance(frames, slice) or frames.step not in (None, 1):
            raise TypeError("take a range of frames: clip[start:stop]; for another rate use clip.resampled(fps)")
        start, stop, _ = frames.indices(len(self))
        if stop <= start:
            raise RequestError(f"frames [{start}, {stop}) of {self.name!r} are empty; it has {len(self)} frames")
        return self._rows_at(np.arange(start, stop), _cut_labels(self.labels, start, stop))

    def _rows_at(self, at: Indices, labels: tuple[Label, ...]) -> Clip:
        return replace(
            self,
            root_pos=seal(self.root_pos[at]),
            local_rot=seal(self.local_rot[at]),
            local_pos=None if self.local_pos is None else seal(self.local_pos[at]),
            contacts=None if self.contacts is None else seal(self.contacts[at]),
            labels=labels,
        )

    def resampled(self, fps: float) -> Clip:
        """The motion at another rate, any ratio: positions linearly, rotations by slerp, contacts by nearest frame."""
        if not 0 < fps <= resample.MAX_FPS:
            raise RequestError(f"the frame rate must be positive and at most {resample.MAX_FPS:g}, not {fps:g}")
        if fps == self.fps:
            return self
        times = resample.sample_times(len(self), self.fps, fps)
        nearest = np.clip(np.rint(times).astype(np.intp), 0, len(self) - 1)
        labels = []
        for label in self.labels:
            start, stop = np.searchsorted(times, [label.start - 1e-9, label.stop - 1e-9])
            if start < stop:
                labels.append(Label(label.text, int(start), int(stop)))
        return replace(
            self,
            fps=fps,
            root_pos=seal(resample.sample_positions(self.root_pos, times)),
            local_rot=seal(quat.make_continuous(resample.sample_rotations(self.local_rot, times))),
            local_pos=None if self.local_pos is None else seal(resample.sample_positions(self.local_pos, times)),
            contacts=None if self.contacts is None else seal(self.contacts[nearest]),
            labels=tuple(labels),
        )

    def mirrored(self) -> Clip:
        """The motion with left and right exchanged, reflected in the plane x = 0, on the same skeleton.

        Labels change with it: a left turn becomes a right one.
        """
        pairs = self.skeleton.mirror_pairs
        contacts = self.contacts
        if contacts is not None:
            feet = list(self.skeleton.feet)
            twins = [feet.index(int(pairs[j])) if int(pairs[j]) in feet else k for k, j in enumerate(feet)]
            contacts = seal(contacts[:, twins])
        local_pos = self.local_pos
        return replace(
            self,
            name=self.name.removesuffix("_mirrored") if self.name.endswith("_mirrored") else f"{self.name}_mirrored",
            root_pos=seal(mirror.mirror_positions(self.root_pos)),
            local_rot=seal(mirror.mirror_rotations(self.local_rot, pairs)),
            local_pos=None if local_pos is None else seal(mirror.mirror_positions(local_pos[:, pairs])),
            labels=tuple(replace(label, text=mirror.mirror_text(label.text)) for label in self.labels),
            contacts=contacts,
        )

    def moved(self, transform: FloorTransform) -> Clip:
        """The motion elsewhere on the floor."""
        rot = np.array(self.local_rot)
        rot[:, 0] = quat.make_continuous(transform.turn(rot[:, 0]))
        return self.with_poses(transform.apply(self.root_pos), rot)

    def raised(self, height: float) -> Clip:
        """The motion `height` metres higher."""
        shift = np.array([0.0, height, 0.0])
        local_pos = None if self.local_pos is None else np.array(self.local_pos)
        if local_pos is not None:
            local_pos[:, 0] += shift
        return replace(self, root_pos=self.root_pos + shift, local_pos=local_pos)


def _cut_labels(labels: Sequence[Label], start: int, stop: int) -> tuple[Label, ...]:
    labels_left = []
    for label in labels:
        low, high = max(label.start, start), min(label.stop, stop)
        if low < high:
            labels_left.append(Label(label.text, low - start, high - start))
    return tuple(labels_left)


def concatenate(clips: Sequence[Clip], name: str | None = None) -> Clip:
    """The clips one after another as they are; skeletons and rates must agree.

    Nothing is aligned or blended: that is a walk's business.

    >>> from choreograph.demo import demo_clip
    >>> walk = demo_clip("walk", 30.0)
    >>> len(concatenate([walk, walk], name="twice")) == 2 * len(walk)
    True
    """
    if not clips:
        raise RequestError("there is nothing to concatenate")
    first = clips[0]
    for clip in clips[1:]:
        first.skeleton.check_matches(clip.skeleton, f"{first.name!r} and {clip.name!r}")
        if not np.isclose(clip.fps, first.fps, rtol=1e-6):
            raise RequestError(
                f"{first.name!r} has {first.fps:g} fps and {clip.name!r} {clip.fps:g}; resample one of them first"
            )
    labels, start = [], 0
    for clip in clips:
        labels += [Label(x.text, x.start + start, x.stop + start) for x in clip.labels]
        start += len(clip)

    def stack(arrays: list[Any]) -> Any:
        return None if any(a is None for a in arrays) else np.concatenate(arrays)

    lengths_change = any(c.local_pos is not None for c in clips)
    return replace(
        first,
        name=name or first.name,
        root_pos=stack([c.root_pos for c in clips]),
        local_rot=quat.make_continuous(stack([c.local_rot for c in clips])),
        local_pos=stack([_full_local_pos(c) for c in clips]) if lengths_change else None,
        labels=tuple(labels),
        contacts=stack([c.contacts for c in clips]),
        source=None,
    )


def _full_local_pos(clip: Clip) -> Floats:
    if clip.local_pos is not None:
        return clip.local_pos
    full = np.tile(clip.skeleton.offsets, (len(clip), 1, 1))
    full[:, 0] = clip.root_pos
    return full
