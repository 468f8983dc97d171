"""From a montage to a motion: every pose read from its clip at the clip's own rate, laid on the floor, mixed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from choreograph.base import quat
from choreograph.base.arrays import Flags, Floats, Ints, Ints32, seal
from choreograph.base.errors import SkeletonMismatch
from choreograph.motion.clip import Clip, Label
from choreograph.motion.contacts import ContactSettings, detect_contacts, runs
from choreograph.motion.montage import Montage, Origins, Poses


def assemble(montage: Montage, name: str = "motion") -> Clip:
    """The motion that a montage shows, with the labels and foot contacts of the clips it is made of.

    Args:
        montage: Which clips, where in them, where on the floor, with which weights.
        name: Of the motion.
    """
    from choreograph.finishing import _compiled

    pool = _Pool.of(montage)
    frames, joints = len(montage), len(montage.skeleton)
    root, rot = np.empty((frames, 3)), np.empty((frames, joints, 4))
    local_pos = None if pool.local_pos is None else np.empty((frames, joints, 3))
    known = np.zeros(frames, bool)
    for layer, share in zip(montage.layers, montage.shares(), strict=True):
        row, part = pool.locate(layer.clip, layer.frame)
        layer_root, layer_rot = _compiled.sample(pool.root, pool.rot, row, part, layer.place)
        mixed = known[layer.at]
        # Most layers are all new or all mixed in: whole arrays are not to be copied then.
        new, old = (slice(None) if which.all() else np.flatnonzero(which) for which in (~mixed, mixed))
        at_new, at_old = layer.at[new], layer.at[old]
        root[at_new], rot[at_new] = layer_root[new], layer_rot[new]
        weight = share[old][:, montage.groups]
        _compiled.mix(root, rot, at_old, layer_root[old], layer_rot[old], weight)
        if local_pos is not None and pool.local_pos is not None:
            offsets = _lerp(pool.local_pos, row, part)
            local_pos[at_new] = offsets[new]
            local_pos[at_old] += weight[:, 1:, None] * (offsets[old] - local_pos[at_old])
        known[layer.at] = True
    if local_pos is not None:
        local_pos[:, 0] = root
    origins = montage.origins
    return Clip(
        montage.skeleton,
        montage.rate_hz,
        seal(root),
        seal(quat.make_continuous(rot)),
        name,
        local_pos=local_pos,
        labels=_labels(pool.clips, origins),
        contacts=_contacts(pool, origins, montage.rate_hz) if montage.contacts is None else montage.contacts,
    )


def read_poses(montage: Montage, poses: Poses) -> tuple[Floats, Floats]:
    """Root positions (N, 3) and local rotations (N, J, 4) of poses of a montage's clips, laid on the floor."""
    from choreograph.finishing import _compiled

    root, rot = np.empty((len(poses), 3)), np.empty((len(poses), len(montage.skeleton), 4))
    for number in np.unique(poses.clip):
        clip, rows = montage.clips[int(number)], np.flatnonzero(poses.clip == number)
        row, share = _split(poses.frame[rows])
        root[rows], rot[rows] = _compiled.sample(clip.root_pos, clip.local_rot, row, share, poses.place[rows])
    return root, rot


@dataclass(frozen=True, eq=False)
class _Pool:
    """The stretches of clips that a montage shows, one after another in one set of arrays."""

    clips: Mapping[int, Clip]
    """Those that are shown, by number."""
    root: Floats
    rot: Floats
    local_pos: Floats | None
    contacts: Flags | None
    base: Ints
    """Row of each clip's frame 0, were it there, by the clip's number."""

    @classmethod
    def of(cls, montage: Montage) -> _Pool:
        numbers = np.concatenate([layer.clip for layer in montage.layers])
        frames = np.concatenate([layer.frame for layer in montage.layers])
        low, high = np.full((2, int(numbers.max()) + 1), np.inf)
        high[:] = -np.inf
        np.minimum.at(low, numbers, frames)
        np.maximum.at(high, numbers, frames)
        base = np.zeros(len(low), np.int64)
        parts: list[tuple[Clip, int, int]] = []
        used = np.flatnonzero(np.isfinite(low))
        rows = 0
        for number in used:
            clip = montage.clips[int(number)]
            if not clip.skeleton.same_joints(montage.skeleton):
                raise SkeletonMismatch(f"{clip.name!r} has other joints than the montage it is shown in")
            start, stop = math.floor(low[number]), min(math.floor(high[number]) + 2, len(clip))
            if start < 0 or high[number] > len(clip) - 1 + 1e-6:
                raise ValueError(f"frames {low[number]:g} to {high[number]:g} are not within {clip!r}")
            base[number] = rows - start
            rows += stop - start
            parts.append((clip, start, stop))
        stretching = any(clip.local_pos is not None for clip, _, _ in parts)
        feet = bool(montage.skeleton.feet) and montage.contacts is None
        return cls(
            {int(number): clip for number, (clip, _, _) in zip(used, parts, strict=True)},
            root=np.concatenate([clip.root_pos[a:b] for clip, a, b in parts]),
            rot=np.concatenate([clip.local_rot[a:b] for clip, a, b in parts]),
            local_pos=np.concatenate([_joint_offsets(*part) for part in parts]) if stretching else None,
            contacts=np.concatenate([_own_contacts(clip)[a:b] for clip, a, b in parts]) if feet else None,
            base=base,
        )

    def locate(self, clip: Ints32, frame: Floats) -> tuple[Ints, Floats]:
        """The row before each place, and the share of the way to the next row."""
        row, share = _split(frame)
        return self.base[clip] + row, share


def _split(frame: Floats) -> tuple[Ints, Floats]:
    """The frame before each place, and the share of the way to the next one; none of it where it is a hair."""
    whole = np.floor(frame + 1e-6)
    return whole.astype(np.int64), np.where(frame - whole > 1e-6, frame - whole, 0.0)


def _joint_offsets(clip: Clip, start: int, stop: int) -> Floats:
    if clip.local_pos is not None:
        return clip.local_pos[start:stop]
    return np.broadcast_to(clip.skeleton.offsets, (stop - start, *clip.skeleton.offsets.shape))


def _own_contacts(clip: Clip) -> Flags:
    return detect_contacts(clip) if clip.contacts is None else clip.contacts


def _lerp(values: Floats, row: Ints, share: Floats) -> Floats:
    after = np.where(share > 0, row + 1, row)
    part = share.reshape(-1, *(1,) * (values.ndim - 1))
    return np.asarray((1 - part) * values[row] + part * values[after])


def _labels(clips: Mapping[int, Clip], origins: Origins) -> tuple[Label, ...]:
    """The labels of the clips shown, as ranges of the output; ranges of one text that meet are one."""
    clip, frame = origins.source_clip, origins.source_frame
    breaks = np.flatnonzero((np.diff(clip) != 0) | (np.diff(frame) < 0)) + 1
    spans: dict[str, list[list[int]]] = {}
    for start, stop in zip([0, *breaks], [*breaks, len(clip)], strict=True):
        at = frame[start:stop]
        for label in clips[int(clip[start])].labels:
            low, high = (start + np.searchsorted(at, [label.start - 1e-6, label.stop - 1e-6])).tolist()
            if low >= high:
                continue
            ranges = spans.setdefault(label.text, [])
            if ranges and low <= ranges[-1][1]:
                ranges[-1][1] = max(high, ranges[-1][1])
            else:
                ranges.append([low, high])
    labels = (Label(text, low, high) for text, ranges in spans.items() for low, high in ranges)
    return tuple(sorted(labels, key=lambda label: (label.start, label.stop, label.text)))


def _contacts(pool: _Pool, origins: Origins, rate: float) -> Flags | None:
    """Foot contacts of the clips shown, without the flicker of those cut short by a blend or a cut."""
    if pool.contacts is None:
        return None
    row, share = pool.locate(origins.source_clip, origins.source_frame)
    return settle_contacts(pool.contacts[row + (share > 0.5)], rate)


def settle_contacts(contacts: Flags, rate: float) -> Flags:
    """Foot contacts (F, feet) with gaps filled and pieces dropped that are shorter than any real one."""
    shortest = max(1, round(ContactSettings.min_seconds * rate))
    out = np.array(contacts)
    for k in range(out.shape[1]):
        for start, stop in runs(~out[:, k]):
            if start > 0 and stop < len(out) and stop - start < shortest:
                out[start:stop, k] = True
        for start, stop in runs(out[:, k]):
            if stop - start < shortest and start > 0 and stop < len(out):
                out[start:stop, k] = False
    return out
