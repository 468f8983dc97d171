"""From a walk to a motion: every frame fetched from its clip at the clip's own rate, laid on the floor, blended.

A walk counts frames at the graph's rate R. Output frame i shows the walk at graph frame i * R / rate, so at 30 Hz and
120 frames per second every graph frame becomes four recorded ones, and a blend of ten frames mixes forty.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from choreograph.errors import RequestError
from choreograph.finishing.blend import BlendSettings, joint_blend_weights
from choreograph.graph.model import TRANSITION, MotionGraph
from choreograph.maths import quat
from choreograph.maths.floor import FloorTransform
from choreograph.motion.arrays import frozen, seal
from choreograph.motion.clip import Clip, Label
from choreograph.motion.contacts import ContactSettings, detect_contacts, runs
from choreograph.synthesis.walk import Walk

Array = NDArray[np.float64]
Indices = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Origins:
    """Where each frame of a motion came from, (F,) each."""

    source_clip: NDArray[np.int32]
    """The clip shown, by its number in the graph; within a blend the one that weighs more."""
    source_frame: Array
    """The place in that clip, in frames at its own rate; whole where the rates divide."""
    weight: Array
    """How much the clip counts for the root's position, from 0.5 to 1; 1 outside of blends."""
    other_clip: NDArray[np.int32]
    """The clip that it is mixed with; -1 outside of blends."""
    other_frame: Array
    """The place in that clip; NaN outside of blends."""

    def __post_init__(self) -> None:
        for name in ("source_clip", "other_clip"):
            object.__setattr__(self, name, frozen(getattr(self, name), np.int32))
        for name in ("source_frame", "weight", "other_frame"):
            object.__setattr__(self, name, frozen(getattr(self, name)))

    def __len__(self) -> int:
        """Number of frames."""
        return len(self.source_clip)


@dataclass(frozen=True, eq=False)
class Assembled:
    """A walk as motion, its feet as the blends left them."""

    clip: Clip
    """With the labels and foot plants of the clips that it was made of."""
    origins: Origins


def assemble(
    walk: Walk, settings: BlendSettings | None = None, *, rate_hz: float | None = None, name: str = "walk"
) -> Assembled:
    """The motion that a walk shows.

    Args:
        walk: Which edges of which graph.
        settings: How transitions are blended.
        rate_hz: Frames per second of the output; the highest rate among the clips shown if None.
        name: Of the motion.
    """
    graph, table = walk.graph, walk.graph.edges
    used = np.unique(np.concatenate([table.clip[walk.edges], table.target_clip[walk.edges]]))
    rate = output_rate(graph, used, rate_hz)
    return lay_out(graph, Shown.of(walk, rate), rate, settings or BlendSettings(), name)


def output_rate(graph: MotionGraph, used: NDArray[np.int32], rate_hz: float | None) -> float:
    """The rate asked for, if it can be had; else the highest among the clips used."""
    rate = max(graph.infos[c].fps for c in used) if rate_hz is None else float(rate_hz)
    if not (math.isfinite(rate) and 1 <= rate <= 10_000):
        raise RequestError(f"the output's rate is {rate_hz}; it must be between 1 and 10000 frames per second")
    return rate


def lay_out(graph: MotionGraph, shown: Shown, rate: float, settings: BlendSettings, name: str) -> Assembled:
    """The motion in which each frame shows what it is said to show."""
    weights = joint_blend_weights(shown.share, graph.skeleton.roles, settings)
    pool = _Pool.of(graph, np.unique(np.concatenate([shown.clip, shown.other_clip])), shown)

    from choreograph.finishing import _compiled

    root, rot = _compiled.sample(pool.root, pool.rot, *pool.locate(shown.clip, shown.frame), shown.place)
    there = pool.locate(shown.other_clip, shown.other_frame)
    other_root, other_rot = _compiled.sample(pool.root, pool.rot, *there, shown.other_place)
    _compiled.mix(root, rot, shown.blended, other_root, other_rot, weights)
    local_pos = None
    if pool.local_pos is not None:
        local_pos = _lerp(pool.local_pos, *pool.locate(shown.clip, shown.frame))
        gap = _lerp(pool.local_pos, *there) - local_pos[shown.blended]
        local_pos[shown.blended] += weights[:, 1:, None] * gap
        local_pos[:, 0] = root
    origins = _origins(shown, weights[:, 0])
    clip = Clip(
        graph.skeleton,
        rate,
        seal(root),
        seal(quat.make_continuous(rot)),
        name,
        local_pos=local_pos,
        labels=_labels(graph, origins),
        contacts=_contacts(pool, origins, rate),
    )
    return Assembled(clip, origins)


@dataclass(frozen=True, eq=False)
class Shown:
    """What each output frame shows, (F,), and what blended ones are mixed with, (B,)."""

    clip: NDArray[np.int32]
    frame: Array
    place: Array
    """Floor transforms as yaw, x, z, (F, 3)."""
    blended: Indices
    """Which output frames are within a blend."""
    share: Array
    """How much of its blend has passed at each of them, 0 to 1."""
    other_clip: NDArray[np.int32]
    other_frame: Array
    other_place: Array

    @classmethod
    def of(cls, walk: Walk, rate: float) -> Shown:
        """What the frames of a walk show at this rate."""
        graph, table = walk.graph, walk.graph.edges
        fps = np.array([info.fps for info in graph.infos])
        last = np.array([info.own_frames - 1 for info in graph.infos])

        def own(clip: NDArray[np.int32], frame: Array) -> Array:
            # A window that ends with its clip may want the moment after the clip's last frame: there it holds still,
            # with hardly any weight left.
            return np.minimum(frame * (fps[clip] / graph.rate_hz), last[clip])

        first = np.concatenate([[0], np.cumsum(walk.edge_frames)])
        count = math.ceil(len(walk) * rate / graph.rate_hz - 1e-6)
        moment = np.arange(count) * (graph.rate_hz / rate)
        step = np.minimum(np.searchsorted(first, moment + 1e-9, side="right") - 1, len(walk.edges) - 1)
        edge, into = walk.edges[step], np.maximum(moment - first[step], 0.0)
        blended = np.flatnonzero(table.kind[edge] == TRANSITION)
        b_edge, b_into = edge[blended], into[blended]
        here = walk.placements
        turned = FloorTransform(table.yaw[walk.edges], table.x[walk.edges], table.z[walk.edges])
        there = here @ turned
        return cls(
            clip=table.clip[edge],
            frame=own(table.clip[edge], table.start[edge] + into),
            place=np.stack([here.yaw, here.x, here.z], axis=1)[step],
            blended=blended,
            share=b_into / (table.stop[b_edge] - table.start[b_edge]),
            other_clip=table.target_clip[b_edge],
            other_frame=own(table.target_clip[b_edge], table.target_start[b_edge] + b_into),
            other_place=np.stack([there.yaw, there.x, there.z], axis=1)[step[blended]],
        )


@dataclass(frozen=True, eq=False)
class _Pool:
    """The stretches of clips that a walk shows, one after another in one set of arrays."""

    root: Array
    rot: Array
    local_pos: Array | None
    contacts: NDArray[np.bool_] | None
    base: Indices
    """Row of each clip's frame 0, were it there, (C,)."""

    @classmethod
    def of(cls, graph: MotionGraph, used: NDArray[np.int32], shown: Shown) -> _Pool:
        clips = np.concatenate([shown.clip, shown.other_clip])
        frames = np.concatenate([shown.frame, shown.other_frame])
        base = np.zeros(len(graph.infos), np.int64)
        low, high = np.full((2, len(base)), np.inf)
        high[:] = -np.inf
        np.minimum.at(low, clips, frames)
        np.maximum.at(high, clips, frames)
        parts: list[tuple[Clip, int, int]] = []
        rows = 0
        for c in used:
            start, stop = math.floor(low[c]), min(math.floor(high[c]) + 2, graph.infos[c].own_frames)
            base[c] = rows - start
            rows += stop - start
            parts.append((graph.clips[c], start, stop))
        feet = bool(graph.skeleton.feet)
        stretching = any(clip.local_pos is not None for clip, _, _ in parts)
        return cls(
            root=np.concatenate([clip.root_pos[a:b] for clip, a, b in parts]),
            rot=np.concatenate([clip.local_rot[a:b] for clip, a, b in parts]),
            local_pos=np.concatenate([_joint_offsets(*part) for part in parts]) if stretching else None,
            contacts=np.concatenate([_planted(clip)[a:b] for clip, a, b in parts]) if feet else None,
            base=base,
        )

    def locate(self, clip: NDArray[np.int32], frame: Array) -> tuple[Indices, Array]:
        """The row before each place, and the share of the way to the next row."""
        whole = np.floor(frame + 1e-6)
        share = np.where(frame - whole > 1e-6, frame - whole, 0.0)
        return self.base[clip] + whole.astype(np.int64), share


def _joint_offsets(clip: Clip, start: int, stop: int) -> Array:
    if clip.local_pos is not None:
        return clip.local_pos[start:stop]
    return np.broadcast_to(clip.skeleton.offsets, (stop - start, *clip.skeleton.offsets.shape))


def _planted(clip: Clip) -> NDArray[np.bool_]:
    return detect_contacts(clip) if clip.contacts is None else clip.contacts


def _lerp(values: Array, row: Indices, share: Array) -> Array:
    after = np.where(share > 0, row + 1, row)
    part = share.reshape(-1, *(1,) * (values.ndim - 1))
    return np.asarray((1 - part) * values[row] + part * values[after])


def sample_numpy(root: Array, rot: Array, row: Indices, share: Array, place: Array) -> tuple[Array, Array]:
    """Root positions (F, 3) and local rotations (F, J, 4) read at fractional rows and laid on the floor.

    Args:
        root: Root positions of all rows, (N, 3), metres.
        rot: Local rotations of all rows, (N, J, 4).
        row: The row before each place, (F,).
        share: How far each place is to the next row, (F,), 0 to below 1.
        place: Floor transform of each output frame as yaw, x, z, (F, 3).
    """
    transform = FloorTransform(place[:, 0], place[:, 1], place[:, 2])
    out_root = transform.apply(_lerp(root, row, share))
    after = np.where(share > 0, row + 1, row)
    out_rot = quat.slerp(rot[row], rot[after], np.broadcast_to(share[:, None], (len(row), rot.shape[1])))
    out_rot[:, 0] = transform.turn(out_rot[:, 0])
    return out_root, out_rot


def mix_numpy(root: Array, rot: Array, at: Indices, other_root: Array, other_rot: Array, weight: Array) -> None:
    """Mix another motion into the frames `at` of this one, in place: positions linearly, rotations on the short arc.

    Args:
        root: Root positions, (F, 3); changed.
        rot: Local rotations, (F, J, 4); changed.
        at: Frames to change, (B,).
        other_root: Root positions to mix in, (B, 3).
        other_rot: Local rotations to mix in, (B, J, 4).
        weight: How much the other motion counts: for the root's position, then for each joint, (B, 1 + J).
    """
    root[at] += weight[:, :1] * (other_root - root[at])
    rot[at] = quat.slerp(rot[at], other_rot, weight[:, 1:])


def _origins(shown: Shown, weight: Array) -> Origins:
    """Which clip each frame shows, the heavier one first."""
    clip, frame = np.array(shown.clip), np.array(shown.frame)
    total = np.ones(len(clip))
    other_clip, other_frame = np.full(len(clip), -1, np.int32), np.full(len(clip), np.nan)
    at, arrived = shown.blended, weight > 0.5
    total[at] = np.where(arrived, weight, 1 - weight)
    other_clip[at] = np.where(arrived, clip[at], shown.other_clip)
    other_frame[at] = np.where(arrived, frame[at], shown.other_frame)
    clip[at] = np.where(arrived, shown.other_clip, clip[at])
    frame[at] = np.where(arrived, shown.other_frame, frame[at])
    return Origins(clip, frame, total, other_clip, other_frame)


def _labels(graph: MotionGraph, origins: Origins) -> tuple[Label, ...]:
    """The labels of the clips shown, as ranges of the output; ranges of one text that meet are one."""
    clip, frame = origins.source_clip, origins.source_frame
    breaks = np.flatnonzero((np.diff(clip) != 0) | (np.diff(frame) < 0)) + 1
    found: dict[str, list[list[int]]] = {}
    for start, stop in zip([0, *breaks], [*breaks, len(clip)], strict=True):
        at = frame[start:stop]
        for label in graph.infos[clip[start]].labels:
            low, high = (start + np.searchsorted(at, [label.start - 1e-6, label.stop - 1e-6])).tolist()
            if low >= high:
                continue
            ranges = found.setdefault(label.text, [])
            if ranges and low <= ranges[-1][1]:
                ranges[-1][1] = max(high, ranges[-1][1])
            else:
                ranges.append([low, high])
    labels = (Label(text, low, high) for text, ranges in found.items() for low, high in ranges)
    return tuple(sorted(labels, key=lambda label: (label.start, label.stop, label.text)))


def _contacts(pool: _Pool, origins: Origins, rate: float) -> NDArray[np.bool_] | None:
    """Foot plants of the clips shown, without the flicker of plants cut short by a blend."""
    if pool.contacts is None:
        return None
    row, share = pool.locate(origins.source_clip, origins.source_frame)
    return settle_contacts(pool.contacts[row + (share > 0.5)], rate)


def settle_contacts(contacts: NDArray[np.bool_], rate: float) -> NDArray[np.bool_]:
    """Foot plants (F, feet) with gaps filled and pieces dropped that are shorter than any real one."""
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
