"""Long blends: from clips that a graph left out to all others, over more than a window, aligned in time at contacts.

A walk and a run are alike for no third of a second: steps take other times, and legs swing farther. Over a step and
more, each step of one matched with a step of the other, they blend all the same. A blend is laid about a local minimum
of the distance between windows; events of the feet around it (a foot comes down, a foot leaves the floor) that both
clips have in the same order are aligned, and time runs evenly between them. The blend's own time runs as the clip that
counts more does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from choreograph.base.arrays import Complexes, Flags, Floats, Ints
from choreograph.build.comparison import WindowComparison
from choreograph.features.weights import joint_weights
from choreograph.graph.clips import graph_positions
from choreograph.graph.info import ClipInfo
from choreograph.graph.settings import GraphSettings
from choreograph.graph.tables import Alignment, LongBlends, Minima
from choreograph.motion.clip import Clip
from choreograph.motion.contacts import detect_contacts

_SLOPES = 0.5, 2.0
"""How fast one clip may run against the other between two events: steps that differ more are not the same step."""
_APART_FRAMES = 2.0
"""Events nearer to each other than this are one."""
_EVENTS = (1, 3), (0, 1, 2, 3), (0, 2), ()
"""Kinds of events that are aligned: feet that come down, all, feet that leave the floor, none; the nearest counts."""
_TRIED = 4
"""Local minima between two clips that are tried, the nearest first."""
_KEPT = 2
"""Long blends from one clip to another that are kept, the nearest first."""
_STANDING = 10.0
"""How much more feet that stand in both clips count when one is laid on the other."""
_PARTS = 4
"""Steps per frame with which a blend's time is summed up."""
_CHUNK = 256
"""Blends that are measured at once."""
_NEAREST = 8
"""Clips inside, and as many of those left out, that each lost clip is joined to where nobody asks for more."""
MOST_PAIRS = 200_000_000
"""Pairs of windows of which one is lost, up to which long blends are looked for where nobody asks for them."""


def find_long_blends(
    clips: Sequence[Clip], infos: Sequence[ClipInfo], settings: GraphSettings, lost: Ints, search: WindowComparison
) -> tuple[LongBlends, Alignment]:
    """Long blends between lost clips and all others, both ways, and which frames they mix.

    Args:
        clips: The clips.
        infos: What is known of them.
        settings: How long blends may be, and how far apart what they mix.
        lost: Numbers of the clips that no shorter transition joins to the rest.
        search: Compares windows.
    """
    longest = round(settings.longest_blend_s * settings.rate_hz)
    # Windows are shorter, and so vary more: the best long blend is seldom about the nearest of them.
    minima, _ = search.find(1.25 * settings.long_threshold_m, lost.tolist())
    minima = _nearest_of_pairs(minima)
    if settings.max_blend_s is None:
        minima = _of_nearest_clips(minima, np.isin(np.arange(len(infos)), lost))
    tried = _candidates(minima)
    feet, poses = _Feet(clips, settings.rate_hz), _Poses(clips, np.unique(tried[:, [0, 2]]), settings)
    blends: list[_Blends] = []
    # Short clips have no room for the longest blends; half of what they are longer than a window may do.
    for frames in dict.fromkeys((longest, (longest + settings.window_frames + 1) // 2)):
        best = None
        for kinds in _EVENTS:
            source, target = _align(tried, feet, frames, settings, kinds)
            inside = _fits(tried, source, target, infos)
            measures = poses.measure(tried, source, target, inside)
            best = measures if best is None else best.or_nearer(measures)
        assert best is not None
        near = best.distance <= settings.long_threshold_m
        blends.append(best.take(near))
        tried = tried[~near]
    return _as_tables(blends)


def _as_tables(parts: Sequence[_Blends]) -> tuple[LongBlends, Alignment]:
    """The nearest blends from each clip to each other, as tables."""
    ends = [
        (*pair, part.source.shape[1] - 1, source[0], target[0], target[-1], distance, number, row)
        for number, part in enumerate(parts)
        for row, (pair, source, target, distance) in enumerate(
            zip(part.tried[:, [0, 2]].tolist(), part.source, part.target, part.distance, strict=True)
        )
    ]
    table = np.array(ends, float).reshape(-1, 9)
    table = table[np.lexsort([table[:, 6], table[:, 1], table[:, 0]])]
    table = table[_first_of_each(table[:, :2], _KEPT)]
    frames, leave, enter = table[:, 2], np.rint(table[:, 3]), np.floor(table[:, 4])
    _, alone = np.unique(np.stack([table[:, 0], leave, table[:, 1], enter, frames], axis=1), axis=0, return_index=True)
    table = table[np.sort(alone)]
    rows = [(parts[int(number)], int(row)) for number, row in table[:, 7:]]
    count = table[:, 2].astype(int) + 1
    blends = LongBlends(
        source_clip=table[:, 0],
        source_frame=np.rint(table[:, 3]),
        target_clip=table[:, 1],
        target_frame=np.floor(table[:, 4]),
        frames=table[:, 2],
        arrive_frame=np.rint(table[:, 5]),
        distance_m=table[:, 6],
        yaw=np.array([part.yaw[row] for part, row in rows]),
        x=np.array([part.shift[row].real for part, row in rows]),
        z=np.array([part.shift[row].imag for part, row in rows]),
        first=np.cumsum(count) - count,
    )
    nothing = np.zeros(0)
    return blends, Alignment(
        np.concatenate([nothing, *(part.source[row] for part, row in rows)]),
        np.concatenate([nothing, *(part.target[row] for part, row in rows)]),
    )


@dataclass(frozen=True, eq=False)
class _Blends:
    """Blends of one length that were measured."""

    tried: Ints
    """Source clip, its window's start, target clip, its window's start, (N, 4)."""
    source: Floats
    """Frames of the source that are mixed, (N, frames + 1)."""
    target: Floats
    distance: Floats
    """Metres RMS per joint, (N,); infinite for blends that cannot be."""
    yaw: Floats
    shift: Complexes

    def take(self, rows: Flags) -> _Blends:
        """Some of them."""
        return _Blends(*(getattr(self, entry.name)[rows] for entry in fields(self)))

    def or_nearer(self, other: _Blends) -> _Blends:
        """Of each pair the nearer one."""
        nearer = other.distance < self.distance
        columns = []
        for entry in fields(self):
            mine, his = getattr(self, entry.name), getattr(other, entry.name)
            columns.append(np.where(nearer.reshape(-1, *(1,) * (mine.ndim - 1)), his, mine))
        return _Blends(*columns)


def _nearest_of_pairs(minima: Minima) -> Minima:
    """The nearest few minima of every two clips."""
    order = np.lexsort((minima.distance_m, minima.clip_b, minima.clip_a))
    pairs = np.stack([minima.clip_a[order], minima.clip_b[order]], axis=1)
    return minima.take(order[_first_of_each(pairs, _TRIED)])  # type: ignore[no-any-return]


def _of_nearest_clips(minima: Minima, lost: Flags) -> Minima:
    """Those between a lost clip and one of the few nearest to it, inside and lost."""
    close = np.zeros(len(minima), bool)
    for mine, other in ((minima.clip_a, minima.clip_b), (minima.clip_b, minima.clip_a)):
        rows = np.flatnonzero(lost[mine])
        rows = rows[np.lexsort((minima.distance_m[rows], other[rows], mine[rows]))]
        pairs = np.stack([mine[rows], other[rows]], axis=1)
        best = rows[_first_of_each(pairs, 1)]
        best = best[np.lexsort((minima.distance_m[best], lost[other[best]], mine[best]))]
        groups = np.stack([mine[best], lost[other[best]]], axis=1)
        best = best[_first_of_each(groups, _NEAREST)]
        near = set(zip(mine[best].tolist(), other[best].tolist(), strict=True))
        both = zip(mine[rows].tolist(), other[rows].tolist(), strict=True)
        close[rows] |= np.array([pair in near for pair in both], bool)
    return minima.take(close)  # type: ignore[no-any-return]


def _first_of_each(keys: NDArray[np.integer], count: int) -> Flags:
    """Which rows are among the first `count` of those with equal keys, (N,); equal keys stand together."""
    if not len(keys):
        return np.zeros(0, bool)
    new = np.concatenate([[True], (keys[1:] != keys[:-1]).any(axis=1)])
    begin = np.flatnonzero(new)[np.cumsum(new) - 1]
    return np.asarray(np.arange(len(keys)) - begin < count)


def _candidates(minima: Minima) -> Ints:
    """Source clip, its window's start, target clip, its window's start of both directions of minima, (N, 4)."""
    columns = np.stack([minima.clip_a, minima.frame_a, minima.clip_b, minima.frame_b], axis=1).astype(np.int64)
    return np.concatenate([columns, columns[:, [2, 3, 0, 1]]])


@dataclass(frozen=True)
class _Event:
    at: float
    """Frame at the graph's rate."""
    kind: int
    """Which foot, and whether it comes down."""


class _Feet:
    """When feet come down and leave the floor, by clip; found when first asked for."""

    def __init__(self, clips: Sequence[Clip], rate_hz: float) -> None:
        self._clips, self._rate_hz = clips, rate_hz
        self._known: dict[int, list[_Event]] = {}

    def events(self, number: int, kinds: Sequence[int]) -> list[_Event]:
        """Events of these kinds in a clip, in order."""
        return [event for event in self._of(number) if event.kind in kinds]

    def _of(self, number: int) -> list[_Event]:
        if number not in self._known:
            clip = self._clips[number]
            feet = clip.skeleton.feet
            events: list[_Event] = []
            if feet:
                planted = detect_contacts(clip) if clip.contacts is None else clip.contacts
                # Ankle and ball of a foot are one foot: it stands while either does.
                sides = [clip.skeleton.roles[j].split("_")[0] for j in feet]
                for side in sorted(set(sides)):
                    down = np.asarray(planted[:, [s == side for s in sides]].any(axis=1))
                    for at in np.flatnonzero(np.diff(down.astype(np.int8))):
                        kind = 2 * sorted(set(sides)).index(side) + int(down[at + 1])
                        events.append(_Event(float(at + 1) * self._rate_hz / clip.fps, kind))
            self._known[number] = sorted(events, key=lambda event: event.at)
        return self._known[number]


def _align(
    tried: Ints, feet: _Feet, frames: int, settings: GraphSettings, kinds: Sequence[int]
) -> tuple[Floats, Floats]:
    """The frames that each candidate mixes, (N, frames + 1) of the source and of the target."""
    half = 0.5 * (settings.window_frames - 1)
    anchors = [
        _anchors(feet.events(a, kinds), feet.events(b, kinds), at + half, bt + half, float(frames))
        for a, at, b, bt in tried.tolist()
    ]
    most = max((len(pairs) for pairs in anchors), default=1)
    # Beyond the outermost events time runs evenly, so rows are filled up with points on that line.
    here, there = np.empty((2, len(anchors), most + 2))
    for row, pairs in enumerate(anchors):
        (a0, b0), (a1, b1) = pairs[0], pairs[-1]
        padded = [(a0 - 1e3, b0 - 1e3), *pairs, *((a1 + 1e3 + k, b1 + 1e3 + k) for k in range(most + 1 - len(pairs)))]
        here[row], there[row] = np.array(padded).T
    return run_blends(here, there, np.floor(tried[:, 1] + half - 0.5 * frames + 0.5), frames)


def _anchors(
    source: Sequence[_Event], target: Sequence[_Event], at: float, entered: float, reach: float
) -> list[tuple[float, float]]:
    """Moments of two clips that are shown together, in order: where windows are alike, and events around that."""
    anchors = [(at, entered)]
    for forward in (True, False):
        last = (at, entered)
        sign = 1.0 if forward else -1.0
        ahead = [e for e in source if 0 < sign * (e.at - at) <= reach]
        beyond = [e for e in target if 0 < sign * (e.at - entered) <= reach]
        for event in ahead if forward else reversed(ahead):
            gap = sign * (event.at - last[0])
            if gap < _APART_FRAMES:
                continue
            for other in beyond if forward else reversed(beyond):
                step = sign * (other.at - last[1])
                if other.kind == event.kind and _SLOPES[0] * gap <= step <= _SLOPES[1] * gap:
                    last = (event.at, other.at)
                    anchors.append(last)
                    break
    return sorted(anchors)


def run_blends(here: Floats, there: Floats, start: Floats, frames: int) -> tuple[Floats, Floats]:
    """The frames that blends mix, (N, frames + 1) of the source and of the target, the last of the target's whole.

    Time runs as in the clip that counts more: over du of the blend, source and target go on by ds and dt with
    (1 - w) ds + w dt = du, where w is the target's weight.

    Args:
        here: Moments of the source that are aligned, (N, M), ascending in every row.
        there: Moments of the target that they are aligned with, (N, M).
        start: Where the source is left, (N,).
        frames: Frames that a blend shows.
    """
    rows = np.arange(len(here))
    slopes = np.diff(there, axis=1) / np.diff(here, axis=1)
    source, target = np.empty((2, len(here), frames + 1))
    at = np.array(start, float)
    for step in range(frames * _PARTS + 1):
        piece = np.clip((at[:, None] >= here[:, 1:]).sum(axis=1), 0, slopes.shape[1] - 1)
        slope = slopes[rows, piece]
        if step % _PARTS == 0:
            frame = step // _PARTS
            source[:, frame] = at
            target[:, frame] = there[rows, piece] + slope * (at - here[rows, piece])
        share = (step + 0.5) / (frames * _PARTS)
        weight = share * share * (3 - 2 * share)
        at = at + 1 / _PARTS / (1 - weight + weight * slope)
    # It ends with a whole frame of the target: half a frame at most is spread as the weight is.
    t = np.arange(frames + 1) / frames
    target += (np.rint(target[:, -1:]) - target[:, -1:]) * (t * t * (3 - 2 * t))
    return source, target


def _fits(tried: Ints, source: Floats, target: Floats, infos: Sequence[ClipInfo]) -> Flags:
    """Which candidates mix frames that both clips have, and leave a clip that goes on, (N,)."""
    last = np.array([info.frames - 1 for info in infos])
    own, other = last[tried[:, 0]], last[tried[:, 2]]
    there = (source[:, 0] >= 0) & (source[:, -1] <= own) & (target[:, 0] >= 0) & (target[:, -1] < other)
    # Within one clip, a blend that hardly leads anywhere else is none.
    same = (tried[:, 0] == tried[:, 2]) & (np.abs(source - target).min(axis=1) < source.shape[1])
    return np.asarray(there & ~same)


def _standing(clip: Clip, rate_hz: float) -> Flags:
    """Which joints are feet that stand, (F, J), at a rate."""
    feet = list(clip.skeleton.feet)
    known = clip if clip.contacts is not None or not feet else clip.with_contacts(detect_contacts(clip))
    at_rate = known.resampled(rate_hz)
    out = np.zeros((len(at_rate), len(clip.skeleton)), bool)
    if feet and at_rate.contacts is not None:
        out[:, feet] = at_rate.contacts
    return out


class _Poses:
    """Joint positions of the clips that are compared, one after another at the graph's rate."""

    def __init__(self, clips: Sequence[Clip], used: Ints, settings: GraphSettings) -> None:
        weights = joint_weights(clips[0].skeleton.roles, settings.weights)
        joints = np.flatnonzero(weights > 0)
        self._weights = weights[joints]
        count, tables, stands = np.zeros(len(clips), np.int64), [np.zeros((0, len(joints), 3))], []
        for number in used.tolist():
            clip = clips[number]
            tables.append(graph_positions(clip, settings.rate_hz)[:, joints])
            # Feet that stand in both clips should stand on the same spot: what they are apart by, they slide.
            stands.append(_standing(clip, settings.rate_hz)[:, joints])
            count[number] = len(tables[-1])
        self._base = np.concatenate([[0], np.cumsum(count)])
        self._pool = np.concatenate(tables)
        self._stands = np.concatenate([np.zeros((0, len(joints)), bool), *stands])

    def measure(self, tried: Ints, source: Floats, target: Floats, inside: Flags) -> _Blends:
        """How far apart what each blend mixes is, and how to lay the target on the source; frames count as much as both
        clips do in them."""
        t = np.arange(source.shape[1]) / (source.shape[1] - 1)
        arriving = t * t * (3 - 2 * t)
        weight = (arriving * (1 - arriving))[:, None] * self._weights
        distance, yaw, shift = np.full(len(tried), np.inf), np.zeros(len(tried)), np.zeros(len(tried), complex)
        which = np.flatnonzero(inside)
        for begin in range(0, len(which), _CHUNK):
            rows = which[begin : begin + _CHUNK]
            onto, cloud = self._at(tried[rows, 0], source[rows]), self._at(tried[rows, 2], target[rows])
            both = self._standing(tried[rows, 0], source[rows]) & self._standing(tried[rows, 2], target[rows])
            distance[rows], _, _ = lay_clouds(onto, cloud, weight)
            _, yaw[rows], shift[rows] = lay_clouds(onto, cloud, weight * (1 + _STANDING * both))
        return _Blends(tried, source, target, distance, yaw, shift)

    def _standing(self, clip: Ints, frame: Floats) -> Flags:
        """Which joints are feet that stand, (N, F, J), in clips (N,) at fractional frames (N, F)."""
        last = self._base[clip + 1] - self._base[clip] - 1
        near = np.minimum(np.rint(frame), last[:, None]).astype(np.int64)
        return np.asarray(self._stands[self._base[clip][:, None] + near])

    def _at(self, clip: Ints, frame: Floats) -> Floats:
        """Positions (N, F, J, 3) in clips (N,) at fractional frames (N, F)."""
        last = self._base[clip + 1] - self._base[clip] - 2
        low = np.minimum(np.floor(frame), last[:, None]).astype(np.int64)
        part = (frame - low)[:, :, None, None]
        at = self._base[clip][:, None] + low
        return np.asarray((1 - part) * self._pool[at] + part * self._pool[at + 1])


def lay_clouds(onto: Floats, cloud: Floats, weight: Floats) -> tuple[Floats, Floats, Complexes]:
    """Distance (N,), yaw (N,) and shift x + iz (N,) that best lay clouds (N, F, J, 3) on others over the floor.

    Args:
        onto: Points to lie on, metres.
        cloud: Points to move, the same shape.
        weight: Of each, (F, J) or (N, F, J).
    """
    weight = np.broadcast_to(weight, onto.shape[:-1])
    total = weight.sum(axis=(1, 2))
    p, q = (points[..., 0] + 1j * points[..., 2] for points in (onto, cloud))
    mean_p, mean_q = ((weight * c).sum(axis=(1, 2)) / total for c in (p, q))
    p, q = p - mean_p[:, None, None], q - mean_q[:, None, None]
    turned = (weight * p * q.conj()).sum(axis=(1, 2))
    height = onto[..., 1] - cloud[..., 1]
    apart = (weight * (np.abs(p) ** 2 + np.abs(q) ** 2 + height**2)).sum(axis=(1, 2)) - 2 * np.abs(turned)
    yaw = -np.angle(turned)
    return np.sqrt(np.maximum(apart, 0.0) / total), yaw, mean_p - mean_q * np.exp(-1j * yaw)
