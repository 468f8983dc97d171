"""Segment databases of files: recordings, who leads whom, and how they are cut; segments are in the cache."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from choreograph.base.arrays import Ints
from choreograph.base.errors import RequestError
from choreograph.features.points import ENDS, TRACK, find_points
from choreograph.graph.cache import Content, find_key, find_or_build
from choreograph.graph.clips import clip_info
from choreograph.graph.info import Origin
from choreograph.graph.model import MotionGraph
from choreograph.graph.settings import GraphSettings
from choreograph.graph.store import open_graph, save_graph
from choreograph.graph.tables import TABLES
from choreograph.motion.clip import Clip
from choreograph.motion.contacts import with_detected_contacts
from choreograph.verbs.perform.examples import (
    OWN_TRACK,
    Example,
    LazyList,
    SegmentDatabase,
    at_rate,
    build_segments,
    frames_at,
    make_examples,
)

METHOD = 2
"""One more whenever the same clips would be cut otherwise."""


@dataclass(frozen=True)
class CutSettings:
    """How recordings become segments."""

    cut_at: str | tuple[tuple[float, ...], ...] = "beats"
    """One of `CUTS`, or for each example the times of its cuts in seconds."""
    control_roles: tuple[str, ...] = ENDS
    """What the control's points are."""
    target_roles: tuple[str, ...] = ENDS
    """The points by which targets are compared where one segment gives way to another."""
    alike_m: float = 0.0
    """One is kept of segments that are alike within so many metres; 0 keeps all."""

    def build(self, examples: Sequence[Example]) -> SegmentDatabase:
        """The database of these examples."""
        database = build_segments(
            examples, cut_at=self.cut_at, control_roles=self.control_roles, target_roles=self.target_roles
        )
        return database.clustered(self.alike_m) if self.alike_m else database

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> CutSettings:
        """The settings that were written as plain values; what is not said is as by default."""
        given = {name: plain[name] for name in ("cut_at", "control_roles", "target_roles", "alike_m") if name in plain}
        for name in ("control_roles", "target_roles"):
            if name in given:
                given[name] = tuple(str(role) for role in given[name])
        if not isinstance(given.get("cut_at", ""), str):
            given["cut_at"] = tuple(tuple(float(t) for t in times) for times in given["cut_at"])
        return cls(**{**given, "alike_m": float(given.get("alike_m", 0.0))})


WALKS = CutSettings("plants", TRACK)
"""What suits recordings that answer the track of their own hips."""
PAIRS = CutSettings()
"""What suits a leader and a follower."""


def chosen_settings(graph: MotionGraph) -> CutSettings:
    """How a graph's clips are cut: as was chosen when it was saved, else at foot plants.

    Raises:
        RequestError: If what was chosen makes no sense, as in a damaged file.
    """
    if not graph.cut_settings:
        return WALKS
    try:
        return CutSettings.from_dict(graph.cut_settings)
    except (TypeError, ValueError, OverflowError) as error:
        raise RequestError(
            f"{graph.path or 'the graph'} does not say how its clips are cut ({str(error)[:200]}); say it yourself "
            "(cut_at)"
        ) from error


def find_segment_database(
    graph: MotionGraph, settings: CutSettings | None = None, *, built: SegmentDatabase | None = None
) -> SegmentDatabase:
    """The segment database of a graph's clips, read from the cache or built.

    >>> import choreograph as cg
    >>> from choreograph.demo import demo_clip
    >>> graph = cg.build_graph([demo_clip("walk", 30.0), demo_clip("walk_veer_left", 30.0)])
    >>> database = cg.find_segment_database(graph)
    >>> database.names
    ('walk', 'walk_veer_left')

    Args:
        graph: Whose clips; its `pairs` say who leads whom.
        settings: How the clips are cut. If None, as was chosen when the graph was saved; else at foot plants, each clip
            answering the track of its own hips.
        built: The database, where it is known already: it is put into the cache.

    Raises:
        RequestError: If the clips cannot be cut so.
    """
    settings = settings or chosen_settings(graph)
    numbers = _numbers(graph, settings)
    clips = _clips(graph, numbers)
    parts = ("motion", "labels", "contacts")
    key = find_key(graph, "segments", METHOD, parts, clips=numbers.tolist(), **asdict(settings))
    return find_or_build(
        key,
        lambda: (
            settings.build(make_examples(clips, clips, numbers.tolist(), settings.control_roles))
            if built is None
            else built
        ),
        _pack,
        lambda content: _unpack(content, graph, settings, numbers),
    )


def save_segments(
    path: str | Path,
    examples: Sequence[Example],
    settings: CutSettings | None = None,
    *,
    overwrite: bool = False,
    command: str = "save_segments",
) -> SegmentDatabase:
    """Write examples to a new .mog file, whole or not at all, and return their segment database.

    The file has the recordings, who leads whom and how they are cut, and no motion graph: it is for performing only.
    The segments are put into the cache.

    >>> import choreograph as cg
    >>> from choreograph.demo import demo_clip
    >>> database = save_segments("walks.mog", [cg.root_example(demo_clip("walk", 30.0))])
    >>> len(open_segments("walks.mog")) == len(database)
    True

    Args:
        path: Where.
        examples: Pairs, or recordings that answer the tracks of their own hips.
        settings: How they are cut; what suits them if None.
        overwrite: Whether a file that is there may be replaced.
        command: What the user did, for the file's history.

    Raises:
        RequestError: If no segments come of them, or a control is not what the recordings give.
        OutputExists: If there is a file and `overwrite` is not set.
        GraphFileError: If the file cannot be written.
    """
    if len({e.leader is None for e in examples}) > 1:
        raise RequestError("examples of one file either all have a leader, or all answer their own track")
    settings = settings or (WALKS if all(e.leader is None for e in examples) else PAIRS)
    examples = _with_own_names(examples)
    database = settings.build(examples)
    _check_controls(examples, settings)
    clips: list[Clip] = []
    pairs: list[tuple[int, int]] = []
    for e in examples:
        if e.leader is not None:
            pairs.append((len(clips), len(clips) + 1))
            clips.append(e.leader)
        clips.append(e.target)
    graph_settings = GraphSettings()
    graph = MotionGraph(
        graph_settings,
        graph_settings.threshold_m,
        clips,
        [clip_info(clip, graph_settings.rate_hz, None) for clip in clips],
        {part: table(*(np.zeros(0, dtype) for dtype in table.dtypes.values())) for part, table in TABLES.items()},
        searched_m=0.0,
        origin=Origin(pairs=pairs, cut_settings=asdict(settings)),
    )
    save_graph(graph, path, overwrite=overwrite, command=command)
    return find_segment_database(open_graph(path), settings, built=database)


def open_segments(path: str | Path, settings: CutSettings | None = None) -> SegmentDatabase:
    """The segment database of the clips in a .mog file, read from the cache or built; the file stays as it is.

    >>> import choreograph as cg
    >>> from choreograph.demo import demo_clip
    >>> cg.save_graph(cg.build_graph([demo_clip("walk", 30.0)]), "one.mog")
    >>> len(open_segments("one.mog")) > 5
    True

    Args:
        path: The file.
        settings: How the clips are cut. If None, as was chosen when the file was written; else at foot plants, each
            clip answering the track of its own hips.

    Raises:
        GraphFileError: If the file is missing or damaged.
        RequestError: If its clips cannot be cut so.
    """
    return find_segment_database(open_graph(path), settings)


def _numbers(graph: MotionGraph, settings: CutSettings) -> Ints:
    """The clips of each example, (E, 2): leader, or `OWN_TRACK`, and follower."""
    roles = graph.cut_settings.get("control_roles", ())
    led_by_tracks = graph.pairs and isinstance(roles, list | tuple) and tuple(roles) == TRACK
    if settings.control_roles == TRACK and not led_by_tracks:
        return np.array([(OWN_TRACK, n) for n in range(len(graph.infos))])
    if not graph.pairs:
        raise RequestError(
            "the file does not say who leads whom, so its clips answer the track of their own hips: use the control "
            "'track', or keep recordings of pairs in a file (save_segments)"
        )
    return np.array(graph.pairs)


def _clips(graph: MotionGraph, numbers: Ints) -> Sequence[Clip]:
    """The graph's clips at one rate, each read when it is asked for."""
    fps = _rate(graph, numbers)
    return LazyList(len(graph.infos), lambda number: at_rate(graph.clips[number], fps))


def _rate(graph: MotionGraph, numbers: Ints) -> float:
    """Frames per second of all examples: those of the first clip that answers."""
    return graph.infos[int(numbers[0, 1])].fps


def _pack(database: SegmentDatabase) -> Content:
    arrays: dict[str, NDArray[Any]] = {
        "segments": np.stack([database.example, database.start, database.stop], axis=1).astype(np.int32),
        "controls": np.concatenate(database.controls),
        "target_points": np.concatenate(database.target_points),
    }
    return Content({}, arrays)


def _unpack(content: Content, graph: MotionGraph, settings: CutSettings, numbers: Ints) -> SegmentDatabase:
    """The database of an entry; a ValueError where it contradicts itself or the graph."""
    segments = content.arrays["segments"].astype(np.int64)
    if segments.ndim != 2 or segments.shape[1] != 3 or not len(segments):
        raise ValueError("segments have another shape than they should")
    fps = _rate(graph, numbers)
    infos = [graph.infos[n] for n in numbers[:, 1]]
    frames = np.array([frames_at(info.own_frames, info.fps, fps) for info in infos])
    example, start, stop = segments.T
    if example.min() < 0 or example.max() >= len(numbers) or start.min() < 0 or (stop <= start).any():
        raise ValueError("segments are out of order")
    if (stop >= frames[example]).any():
        raise ValueError("segments lie outside of their clip")
    edges = np.cumsum(frames)[:-1]
    points = {}
    for name in ("controls", "target_points"):
        array = content.arrays[name]
        if array.ndim != 3 or array.shape[2] != 3 or len(array) != frames.sum():
            raise ValueError(f"{name} have another shape than they should")
        points[name] = tuple(np.split(array, edges))
    clips = _clips(graph, numbers)

    def read(number: int) -> Example:
        leader, follower = numbers[number].tolist()
        own = None if leader == OWN_TRACK else clips[leader]
        return Example(with_detected_contacts(clips[follower]), points["controls"][number], own)

    return SegmentDatabase(
        LazyList(len(numbers), read),
        tuple(info.name for info in infos),
        points["controls"],
        points["target_points"],
        fps,
        settings.control_roles,
        settings.target_roles,
        example,
        start,
        stop,
    )


def _with_own_names(examples: Sequence[Example]) -> list[Example]:
    """The examples, with clips of one name told apart."""
    names: set[str] = set()

    def named(clip: Clip) -> Clip:
        name, count = clip.name, 1
        while name in names:
            count += 1
            name = f"{clip.name}~{count}"
        names.add(name)
        return clip.with_name(name)

    return [replace(e, leader=e.leader and named(e.leader), target=named(e.target)) for e in examples]


def _check_controls(examples: Sequence[Example], settings: CutSettings) -> None:
    """Raise unless the controls can be computed again from the recordings."""
    for e in examples:
        led = e.target if e.leader is None else e.leader
        roles = TRACK if e.leader is None else settings.control_roles
        if roles != settings.control_roles or not np.array_equal(e.control, find_points(led, roles)):
            raise RequestError(
                f"the control of {e.target.name!r} is not {', '.join(settings.control_roles)} of {led.name!r}; a file "
                "has recordings only: use pair_up or root_example, and settings with the same control_roles"
            )
