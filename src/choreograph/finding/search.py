"""Places in recordings that are as asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from choreograph.base.arrays import Flags, Floats
from choreograph.base.errors import RequestError
from choreograph.base.progress import Progress, silent
from choreograph.distance.example import distances_from
from choreograph.distance.window import Window, windowed_clip
from choreograph.finding.features import (
    AIR,
    LEFT,
    RATE_HZ,
    RIGHT,
    Features,
    body_scale,
    clip_features,
    point_weights,
)
from choreograph.finding.request import FindRequest
from choreograph.finding.sources import SearchedRecordings, Source, open_recordings
from choreograph.formats import read_clip
from choreograph.motion.clip import Clip
from choreograph.motion.labels import say_labels
from choreograph.motion.query import parse_query

_BLOCK = 16_384
"""Frames compared with the example at a time."""
LONGEST_S = 20.0
"""Longest example: what is longer is a motion of its own, and nothing is like all of it."""


@dataclass(frozen=True)
class Place:
    """A place in a recording."""

    clip: str
    number: int
    """Of the clip, in the order of what was searched."""
    start_s: float
    stop_s: float
    """From the clip's beginning, seconds."""
    distance_m: float | None
    """How far it is from the example, metres RMS per joint on the example's body; None without an example."""
    speed_m_s: float | None
    """Mean speed; None where only words were asked for."""
    turn_deg: float | None
    """Degrees turned from its beginning to its end, to the left."""
    labels: tuple[str, ...]
    path: str

    @property
    def seconds(self) -> float:
        """Its length."""
        return self.stop_s - self.start_s


@dataclass(frozen=True, eq=False)
class FindResult:
    """What was found, the best first: nearest to the example, else longest, else in order."""

    request: FindRequest
    places: tuple[Place, ...]
    total: int
    """Places that there are; `places` has as many as were asked for."""
    seconds: float
    """Time of all of them together."""
    clips: int
    """Clips searched."""
    skipped: tuple[str, ...] = ()
    """Files that could not be read, and why."""
    notes: tuple[str, ...] = ()
    """What was assumed of the rates of files, which speeds and times depend on."""
    hint: str = ""
    """Where nothing was found: what may be the reason."""
    _recordings: SearchedRecordings | None = field(default=None, repr=False)

    def __len__(self) -> int:
        """Number of places told."""
        return len(self.places)

    def clip(self, place: int | Place) -> Clip:
        """The motion at a place, as a clip."""
        one = self.places[place] if isinstance(place, int) else place
        assert self._recordings is not None
        whole = self._recordings.read(one.number)
        start = min(round(one.start_s * whole.fps), len(whole) - 1)
        return whole[start : max(start + 1, round(one.stop_s * whole.fps))].with_name(f"{one.clip} {one.start_s:.1f} s")

    def as_json(self) -> dict[str, Any]:
        """The result as plain values."""
        return {
            "request": self.request.model_dump(mode="json", exclude_defaults=True),
            "places": [asdict(place) for place in self.places],
            "total": self.total,
            "seconds": round(self.seconds, 3),
            "clips": self.clips,
            "skipped": list(self.skipped),
            "notes": list(self.notes),
            "hint": self.hint,
        }


def find(
    source: Source,
    request: FindRequest | None = None,
    *,
    like: Clip | None = None,
    progress: Progress | None = None,
    **fields: Any,
) -> FindResult:
    """Places in recordings that are as asked for: by words, by example, by speed, turn and feet.

    >>> import choreograph as cg
    >>> from choreograph.demo import demo_clip
    >>> clips = [demo_clip(name, 30.0) for name in ("walk", "run", "stand")]
    >>> [place.clip for place in cg.find(clips, speed="2..").places]
    ['run']
    >>> found = cg.find(clips, like=clips[1][20:50], count=1)
    >>> found.places[0].clip, round(found.places[0].start_s, 1), found.places[0].distance_m < 0.01
    ('run', 0.7, True)

    Args:
        source: A graph, the name of its file, clips, or names of motion files, folders and patterns.
        request: What is sought; or its fields by name.
        like: The example, where it is in memory; `start_s` and `end_s` of the request choose a part of it.
        progress: Hears how far the work has come.
        fields: Fields of the request, or changes to it.

    Raises:
        RequestError: If the words or ranges cannot be understood, or the example is too short or too long.
    """
    progress = progress or silent
    ask = FindRequest(**fields) if request is None else request.with_(**fields) if fields else request
    query = parse_query(ask.only)
    example = _example(ask, like)
    frames = ask.looks_at_frames or example is not None
    recordings = open_recordings(source, progress, frames=frames)
    ranges = [query.frame_ranges(text) for text in recordings.texts]
    if not frames:
        places = [
            _place(recordings, number, start / recordings.facts[number].fps, stop / recordings.facts[number].fps)
            for number, spans in enumerate(ranges)
            for start, stop in spans
        ]
        return _result(ask, recordings, places)
    features = recordings.features()
    holds = _flags(recordings, features, ranges) & _measured(ask, features)
    if example is not None:
        picked = _alike(ask, features, holds, *example, progress)
    else:
        picked = _stretches(ask, features, holds)
    places = [
        _place(
            recordings,
            clip,
            start / RATE_HZ,
            min(stop / RATE_HZ, recordings.facts[clip].own_frames / recordings.facts[clip].fps),
            distance,
            features,
        )
        for clip, start, stop, distance in picked
    ]
    return _result(ask, recordings, places)


def _result(ask: FindRequest, recordings: SearchedRecordings, places: Sequence[Place]) -> FindResult:
    return FindResult(
        request=ask,
        places=tuple(places[: ask.count]),
        total=len(places),
        seconds=sum(place.seconds for place in places),
        clips=len(recordings.facts),
        skipped=recordings.skipped,
        notes=recordings.notes,
        hint="" if places else _hint(ask, recordings),
        _recordings=recordings,
    )


def _hint(ask: FindRequest, recordings: SearchedRecordings) -> str:
    unknown = parse_query(ask.only).unmatched(recordings.texts)
    if unknown:
        labels = say_labels({text for clip in recordings.texts for text in clip.texts})
        return f"no clip has {', '.join(unknown)}; labels are: {labels}"
    if ask.like is not None:
        return "no clip is as long as the example and all else that is asked for at once"
    return "nothing is all that at once; leave something out, or widen a range"


def _example(ask: FindRequest, like: Clip | None) -> tuple[Floats, float] | None:
    """The example's points, (L, P, 3) on legs of 1 m, and how long its legs are."""
    if like is None and ask.like is None:
        if ask.start_s is not None or ask.end_s is not None:
            raise RequestError("a beginning or an end is given, but no example: add one (like)")
        return None
    clip = like if like is not None else read_clip(ask.like)  # type: ignore[arg-type]
    features = clip_features(clip)
    count = len(features.points)
    start = 0 if ask.start_s is None else round(ask.start_s * RATE_HZ)
    if ask.end_s is not None:
        stop = round(ask.end_s * RATE_HZ) + (ask.end_s == ask.start_s)
    else:
        stop = count if ask.start_s is None else start + 1
    if start >= count or (ask.end_s is not None and ask.end_s > clip.seconds + 0.05):
        raise RequestError(f"the example {clip.name!r} is {clip.seconds:.2f} s long; its part must lie within that")
    points = features.points[start : max(stop, start + 1)].astype(float)
    if len(points) > LONGEST_S * RATE_HZ:
        raise RequestError(
            f"the example is {len(points) / RATE_HZ:.1f} s long; choose up to {LONGEST_S:g} s of it (start_s, end_s)"
        )
    return points, body_scale(clip.skeleton)


def _flags(recordings: SearchedRecordings, features: Features, ranges: Sequence[Sequence[tuple[int, int]]]) -> Flags:
    """Frames of which the words hold, (N,)."""
    holds = np.zeros(len(features.speed), bool)
    for number, spans in enumerate(ranges):
        first, last = features.first[number], features.first[number + 1]
        rate = RATE_HZ / recordings.facts[number].fps
        for start, stop in spans:
            holds[first + int(np.ceil(start * rate - 1e-6)) : min(first + int(np.ceil(stop * rate - 1e-6)), last)] = (
                True
            )
    return holds


def _measured(ask: FindRequest, features: Features) -> Flags:
    """Frames of which speed, turn and feet are as asked for, (N,)."""
    holds = np.ones(len(features.speed), bool)
    if (speeds := ask.speed_range) is not None:
        holds &= (features.speed >= speeds[0]) & (features.speed <= speeds[1])
    if (turns := ask.turn_range) is not None:
        turned = turns_within(features, ask.within_s)
        turned = np.abs(turned) if ask.side is None else turned if ask.side == "left" else -turned
        holds &= (turned >= turns[0]) & (turned <= turns[1])
    if ask.contact is not None:
        feet = features.feet
        wanted = {"left": feet == LEFT, "right": feet == RIGHT, "both": feet == LEFT | RIGHT, "none": feet == AIR}
        holds &= wanted[ask.contact] if ask.contact != "any" else feet & (LEFT | RIGHT) > 0
    return holds


def turns_within(features: Features, within_s: float) -> Floats:
    """How far each frame's body turns in the time around it, (N,), radians to the left; 0 where a clip is too short."""
    half = max(1, round(0.5 * within_s * RATE_HZ))
    first, last = features.first[features.clip], features.first[features.clip + 1] - 1
    at = np.arange(len(features.facing))
    low, high = at - half, at + half
    fits = (low >= first) & (high <= last)
    return np.where(fits, features.facing[np.minimum(high, last)] - features.facing[np.maximum(low, first)], 0.0)


_Picked = list[tuple[int, int, int, float | None]]
"""Clip, first frame and one past the last in it, at the features' rate, and distance."""


def _stretches(ask: FindRequest, features: Features, holds: Flags) -> _Picked:
    """Runs of frames that are as asked for, the longest first."""
    edge = np.zeros(len(holds) + 1, bool)
    edge[features.first] = True  # a run ends with its clip
    begins = np.flatnonzero(holds & (edge[:-1] | ~np.concatenate([[False], holds[:-1]])))
    ends = np.flatnonzero(holds & (edge[1:] | ~np.concatenate([holds[1:], [False]]))) + 1
    length = ends - begins
    enough = length >= max(1, round(ask.shortest_s * RATE_HZ))
    begins, ends = begins[enough], ends[enough]
    order = np.argsort(begins - ends, kind="stable")
    clip = features.clip[begins]
    first = features.first[clip]
    return [
        (int(clip[n]), int(begins[n] - first[n]), int(ends[n] - first[n]), None) for n in order
    ]  # fmt: skip


def _alike(
    ask: FindRequest, features: Features, holds: Flags, points: Floats, legs_m: float, progress: Progress
) -> _Picked:
    """Windows like the example, the nearest first, none over another."""
    distance = example_distances(features, points, progress)
    length = len(points)
    counted = np.concatenate([[0], np.cumsum(~holds)])
    starts = np.arange(len(distance))
    # Every frame of a place has what else is asked for.
    distance = np.where(counted[starts + length] == counted[starts], distance, np.inf)
    least = np.isfinite(distance)
    least[1:] &= distance[1:] <= distance[:-1]
    least[:-1] &= distance[:-1] <= distance[1:]
    candidates = np.flatnonzero(least)
    candidates = candidates[np.argsort(distance[candidates], kind="stable")]
    apart = max(length, round(0.25 * RATE_HZ))
    used = np.zeros(len(distance) + apart, bool)
    picked: _Picked = []
    for at in candidates.tolist():
        if not used[at]:
            used[max(0, at - apart + 1) : at + apart] = True
            clip = int(features.clip[at])
            start = at - int(features.first[clip])
            picked.append((clip, start, start + length, float(distance[at]) * legs_m))
    return picked


def example_distances(features: Features, points: Floats, progress: Progress | None = None) -> Floats:
    """How far each window of the features is from an example, (N - L + 1,), on legs of 1 m; infinite across clips."""
    progress = progress or silent
    length, weights = len(points), point_weights()
    window = Window(length, "uniform")
    example = windowed_clip(points, weights, window)
    count = max(0, len(features.points) - length + 1)
    distance = np.full(count, np.inf)
    for low in range(0, count, _BLOCK):
        high = min(low + _BLOCK, count)
        block = windowed_clip(features.points[low : high + length - 1], weights, window)
        distance[low:high] = distances_from(block, example)
        progress("comparing with the example", high, count)
    at = np.arange(count)
    distance[features.clip[:count] != features.clip[at + length - 1]] = np.inf
    return distance


def _place(
    recordings: SearchedRecordings,
    number: int,
    start_s: float,
    stop_s: float,
    distance: float | None = None,
    features: Features | None = None,
) -> Place:
    text = recordings.facts[number]
    speed = turn = None
    if features is not None:
        first = features.first[number]
        start = first + round(start_s * RATE_HZ)
        stop = max(start + 1, min(first + round(stop_s * RATE_HZ), features.first[number + 1]))
        speed = round(float(features.speed[start:stop].mean()), 3)
        turn = round(float(np.degrees(features.facing[stop - 1] - features.facing[start])), 1)
    middle = 0.5 * (start_s + stop_s) * text.fps
    labels = tuple(dict.fromkeys(label.text for label in text.labels if label.start <= middle < label.stop))
    return Place(text.name, number, round(start_s, 4), round(stop_s, 4), distance, speed, turn, labels, text.path)
