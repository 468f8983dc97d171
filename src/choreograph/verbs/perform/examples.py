"""The segment database: recorded controls with the targets recorded at the same time, cut into segments.

Neighbouring segments share the frame at which they were cut, so that going on as recorded costs nothing.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Generic, TypeVar, overload

import numpy as np

from choreograph.base.arrays import Complexes, Floats, Ints
from choreograph.base.errors import RequestError
from choreograph.base.progress import Progress, silent
from choreograph.features.points import ENDS, TRACK, find_points, set_apart
from choreograph.graph.clips import mirror_name
from choreograph.motion.clip import Clip
from choreograph.motion.contacts import with_detected_contacts
from choreograph.motion.resample import sample_positions, sample_times
from choreograph.verbs.perform import cuts

CUTS = ("beats", "plants", "labels")
"""How recordings can be cut, besides at given times."""
OWN_TRACK = -1
"""Instead of a leader's number: the track of the follower's own hips leads."""
_COMPARED = 16
"""Moments at which two segments are compared when they are clustered."""


T = TypeVar("T")


class LazyList(Sequence[T], Generic[T]):
    """A list whose items are read when they are asked for."""

    def __init__(self, count: int, read: Callable[[int], T]) -> None:
        self._numbers, self._read = range(count), read

    def __len__(self) -> int:
        """Number of items."""
        return len(self._numbers)

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> list[T]: ...
    def __getitem__(self, index: int | slice) -> T | list[T]:
        """The item of this number, or those of a slice."""
        if isinstance(index, slice):
            return [self._read(number) for number in self._numbers[index]]
        return self._read(self._numbers[index])


@dataclass(frozen=True, eq=False)
class Example:
    """A control and the target recorded with it."""

    target: Clip
    control: Floats
    """Points of the control, (F, P, 3), in the frames of the target."""
    leader: Clip | None = None
    """The body whose points those are, where it is not the target's own."""


@dataclass(frozen=True, eq=False)
class SegmentDatabase:
    """Examples and the segments they are cut into."""

    examples: Sequence[Example]
    """From a file, each is read when it is asked for."""
    names: tuple[str, ...]
    """Of the examples' targets."""
    controls: tuple[Floats, ...]
    """Points of each example's control, (F, P, 3), metres."""
    target_points: tuple[Floats, ...]
    """Points of each example's target, (F, P, 3), metres."""
    fps: float
    """Frames per second of the examples."""
    control_roles: tuple[str, ...]
    target_roles: tuple[str, ...]
    example: Ints
    """Which example each segment is of, (S,)."""
    start: Ints
    """Its first frame."""
    stop: Ints
    """Its last frame, which is the first of the segment that follows."""
    held: int = 0
    """How many of the last examples are no recordings but poses that are held; see `idle_segments.py`."""

    def __len__(self) -> int:
        """Number of segments."""
        return len(self.example)

    @cached_property
    def seconds(self) -> Floats:
        """Length of each segment, (S,)."""
        return np.asarray((self.stop - self.start) / self.fps)

    @cached_property
    def stacked(self) -> tuple[Ints, Complexes, Floats]:
        """The row at which each example begins, and all controls one after another: x + iz and heights."""
        rows = np.concatenate([[0], np.cumsum([len(control) for control in self.controls])])
        points = np.concatenate(self.controls)
        return rows, points[..., 0] + 1j * points[..., 2], np.ascontiguousarray(points[..., 1])

    @cached_property
    def fastest(self) -> float:
        """Highest speed of the controls' middle over the floor, over half a second, m/s; of examples with segments."""
        controls = [self.controls[number] for number in np.unique(self.example)]
        return max(float(smoothed_speeds(control, self.fps).max(initial=0.0)) for control in controls)

    def name(self, segment: int) -> str:
        """What a segment is called: its recording and its time there."""
        return f"{self.names[self.example[segment]]}@{self.start[segment] / self.fps:.2f}s"

    def sampled(self, segment: int, count: int) -> tuple[Floats, Floats]:
        """A segment's control and target points at `count` even moments, both ends included."""
        e = int(self.example[segment])
        at = np.linspace(self.start[segment], self.stop[segment], count)
        return sample_positions(self.controls[e], at), sample_positions(self.target_points[e], at)

    def subset(self, segments: Sequence[int] | Ints) -> SegmentDatabase:
        """The database with only these segments."""
        rows = np.asarray(segments, np.int64)
        return replace(self, example=self.example[rows], start=self.start[rows], stop=self.stop[rows])

    def without(self, example: int) -> SegmentDatabase:
        """The database without the segments of one example and its mirror image, as if it had not been recorded."""
        recorded = [name.removesuffix(mirror_name("")) for name in self.names]
        others = np.array([name != recorded[example] for name in recorded])
        return self.subset(np.flatnonzero(others[self.example]))

    def with_track_half(self, half_m: float) -> SegmentDatabase:
        """The database with the points of its tracks at another distance from their middle, metres."""
        return replace(self, controls=tuple(set_apart(control, half_m) for control in self.controls))

    def clustered(self, threshold_m: float, *, stretch_s: float = 0.15) -> SegmentDatabase:
        """The database with one segment left of each cluster of segments that are alike.

        Complete linkage: no two segments of a cluster are further apart than the threshold. The distance is the
        root-mean-square one between their points, of control and target together, after the floor alignment of the
        controls: segments with like controls but unlike answers stay apart. The one that is kept is the one nearest to
        the others.

        Args:
            threshold_m: Metres.
            stretch_s: Segments whose lengths differ by more seconds are never alike.
        """
        from scipy.cluster.hierarchy import fcluster, linkage
        from scipy.spatial.distance import squareform

        if not (np.isfinite(threshold_m) and threshold_m >= 0):
            raise RequestError(f"segments are alike within 0 or more metres, not {threshold_m}")
        if len(self) < 2:
            return self
        distance = self._distances()
        distance[np.abs(self.seconds[:, None] - self.seconds) > stretch_s] = 1e6
        np.fill_diagonal(distance, 0.0)
        distance = (distance + distance.T) / 2
        groups = fcluster(linkage(squareform(distance, checks=False), "complete"), threshold_m, "distance")
        middles = []
        for group in np.unique(groups):
            members = np.flatnonzero(groups == group)
            middles.append(int(members[distance[np.ix_(members, members)].sum(axis=1).argmin()]))
        return self.subset(sorted(middles))

    def _distances(self) -> Floats:
        """Root-mean-square distances between all segments, (S, S), metres."""
        pairs = [self.sampled(s, _COMPARED) for s in range(len(self))]
        controls = np.array([c for c, _ in pairs])
        targets = np.array([t for _, t in pairs])
        middle = controls[..., ::2].mean(axis=(1, 2))
        flat = []
        for points in (controls, targets):
            moved = points[..., ::2] - middle[:, None, None]
            flat.append((moved[..., 0] + 1j * moved[..., 1]).reshape(len(self), -1))
        products = [f.conj() @ f.T for f in flat]
        turn = products[0] / np.maximum(np.abs(products[0]), 1e-12)
        total = np.zeros((len(self), len(self)))
        for points, f, product in zip((controls, targets), flat, products, strict=True):
            size = np.sum(np.abs(f) ** 2, axis=1)
            heights = points[..., 1].reshape(len(self), -1)
            tall = np.sum(heights**2, axis=1)
            squares = size[:, None] + size - 2 * np.real(turn.conj() * product)
            squares += tall[:, None] + tall - 2 * heights @ heights.T
            total += squares / f.shape[1]
        return np.sqrt(np.maximum(total, 0.0) / 2)


def smoothed_speeds(points: Floats, fps: float) -> Floats:
    """Speeds of the middle of points (F, P, 3) over the floor, each over half a second, m/s; none of less than that."""
    half = max(1, round(0.25 * fps))
    middle = points.mean(axis=1)[:, ::2]
    return np.asarray(np.linalg.norm(middle[2 * half :] - middle[: -2 * half], axis=1) / (2 * half / fps))


def at_rate(clip: Clip, fps: float) -> Clip:
    """The clip at the rate of the other examples; itself where it has that rate."""
    return clip if _same_rate(clip.fps, fps) else clip.resampled(fps)


def frames_at(frames: int, fps: float, wanted: float) -> int:
    """How many frames `at_rate` makes of a clip."""
    return frames if _same_rate(fps, wanted) else len(sample_times(frames, fps, wanted))


def _same_rate(fps: float, wanted: float) -> bool:
    return bool(np.isclose(fps, wanted, rtol=1e-6))


def pair_up(leader: Clip, target: Clip, *, roles: Sequence[str] = ENDS, cut_to_shorter: bool = False) -> Example:
    """An example from the clips of two who moved together.

    >>> from choreograph.demo import demo_clip
    >>> walk = demo_clip("walk", 30.0)
    >>> pair_up(walk, walk.mirrored()).control.shape[1]
    4

    Args:
        leader: Whose points are the control.
        target: Whose motion is the answer.
        roles: The control's points.
        cut_to_shorter: Whether the longer of the two is cut to the shorter.

    Raises:
        RequestError: If the clips differ in rate or length.
    """
    if not np.isclose(leader.fps, target.fps, rtol=1e-6):
        raise RequestError(
            f"{leader.name!r} has {leader.fps:g} fps and {target.name!r} {target.fps:g}; they were not recorded "
            "together, or one of them was read at a wrong rate (fps)"
        )
    if len(leader) != len(target):
        if not cut_to_shorter:
            raise RequestError(
                f"{leader.name!r} has {len(leader)} frames and {target.name!r} {len(target)}, "
                f"{abs(len(leader) - len(target)) / leader.fps:.2f} s apart; if they begin together, cut them "
                "(cut_to_shorter)"
            )
        shared = min(len(leader), len(target))
        leader, target = leader[:shared], target[:shared]
    return Example(with_detected_contacts(target), find_points(leader, roles), leader)


def root_example(clip: Clip) -> Example:
    """An example whose control is the track that the body's own hips leave on the floor.

    >>> from choreograph.demo import demo_clip
    >>> root_example(demo_clip("walk", 30.0)).leader is None
    True
    """
    return Example(with_detected_contacts(clip), find_points(clip, TRACK))


def make_examples(
    leaders: Sequence[Clip],
    followers: Sequence[Clip],
    pairs: Iterable[tuple[int, int]],
    roles: Sequence[str],
    *,
    cut_to_shorter: bool = False,
    progress: Progress = silent,
) -> list[Example]:
    """Examples of pairs of clips by their numbers; a leader `OWN_TRACK` stands for the track of the follower's hips."""
    pairs, examples = list(pairs), []
    for done, (leader, follower) in enumerate(pairs):
        progress("reading examples", done, len(pairs))
        target = followers[follower]
        own = leader == OWN_TRACK
        examples.append(
            root_example(target)
            if own
            else pair_up(leaders[leader], target, roles=roles, cut_to_shorter=cut_to_shorter)
        )
    return examples


def build_segments(
    examples: Sequence[Example],
    *,
    cut_at: str | Sequence[Sequence[float]] = "beats",
    control_roles: Sequence[str] = ENDS,
    target_roles: Sequence[str] = ENDS,
) -> SegmentDatabase:
    """A segment database.

    >>> from choreograph.demo import demo_clip
    >>> database = build_segments([root_example(demo_clip("walk", 30.0))], cut_at="plants", control_roles=("track",))
    >>> len(database) > 5
    True

    Args:
        examples: Controls and targets; the targets are of one skeleton and rate.
        cut_at: One of `CUTS`, or for each example the times of its cuts in seconds.
        control_roles: What the examples' control points are.
        target_roles: The points by which targets are compared where one segment gives way to another.

    Raises:
        RequestError: If no segment comes of it, or the examples do not fit each other.
    """
    if not examples:
        raise RequestError("a segment database needs one example or more")
    first = examples[0].target
    for e in examples:
        first.skeleton.check_matches(
            e.target.skeleton,
            f"{first.name!r} and {e.target.name!r}",
            "Answer with recordings of one person, or with those of a graph",
        )
        if not _same_rate(e.target.fps, first.fps):
            raise RequestError(f"{first.name!r} has {first.fps:g} fps and {e.target.name!r} {e.target.fps:g}")
        if e.control.shape[1] != examples[0].control.shape[1]:
            raise RequestError(f"the control of {e.target.name!r} has another number of points than the first one's")
    rows: list[tuple[int, int, int]] = []
    for number, e in enumerate(examples):
        frames = _cuts_of(e, number, cut_at)
        rows += [(number, int(a), int(b)) for a, b in itertools.pairwise(frames)]
    if not rows:
        raise RequestError("no recording could be cut in two places or more, so there is no segment; cut otherwise")
    example, start, stop = np.array(rows, np.int64).T
    return SegmentDatabase(
        tuple(examples),
        tuple(e.target.name for e in examples),
        tuple(e.control for e in examples),
        tuple(find_points(e.target, target_roles) for e in examples),
        first.fps,
        tuple(control_roles),
        tuple(target_roles),
        example,
        start,
        stop,
    )


def _cuts_of(example: Example, number: int, cut_at: str | Sequence[Sequence[float]]) -> Ints:
    if not isinstance(cut_at, str):
        return cuts.cut_at_times(example.target, cut_at[number])
    if cut_at == "beats":
        return cuts.cut_at_beats([example.target, *([example.leader] if example.leader else [])])
    if cut_at == "plants":
        return cuts.cut_at_plants(example.target)
    if cut_at == "labels":
        return cuts.cut_at_labels(example.target)
    raise RequestError(f"recordings are cut at {', '.join(CUTS)} or given times, not at {cut_at!r}")
