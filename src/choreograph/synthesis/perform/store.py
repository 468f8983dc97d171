"""Segment databases kept in .mog files, beside the clips that they are cut from.

A base is looked up by how it was asked for, and believed only if the clips are still those that it was made of. Its
points are read when it is opened, its clips when they are shown.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from choreograph.errors import GraphFileError, RequestError
from choreograph.graph import rows
from choreograph.graph.clips import clip_info
from choreograph.graph.model import TABLES, MotionGraph
from choreograph.graph.settings import GraphSettings
from choreograph.graph.store import changing, looking_into, open_graph, save_graph
from choreograph.motion.clip import Clip
from choreograph.motion.contacts import with_detected_contacts
from choreograph.synthesis.perform.examples import Example, SegmentDatabase, build_segments, pair_up, root_example
from choreograph.synthesis.perform.points import ENDS, TRACK

Array = NDArray[np.float64]

METHOD = 1
"""Counted up when cuts come out otherwise than before, so that bases kept by earlier versions are made again."""


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
        """The base of these examples."""
        base = build_segments(
            examples, cut_at=self.cut_at, control_roles=self.control_roles, target_roles=self.target_roles
        )
        return base.clustered(self.alike_m) if self.alike_m else base


WALKS = CutSettings("plants", TRACK)
"""What suits recordings that answer the track of their own hips."""
PAIRS = CutSettings()
"""What suits a leader and a follower."""

Names = tuple[tuple[str, str], ...]
"""Leaders and followers, by the names of their clips."""


def save_segments(
    path: str | Path,
    examples: Sequence[Example],
    settings: CutSettings | None = None,
    *,
    overwrite: bool = False,
    command: str = "save_segments",
) -> SegmentDatabase:
    """Write examples and their segment database to a new .mog file, whole or not at all.

    The file has no motion graph in it: it is for performing only.

    Args:
        path: Where.
        examples: Pairs, or recordings that answer the tracks of their own hips.
        settings: How they are cut; what suits them if None.
        overwrite: Whether a file that is there may be replaced.
        command: What the user did, for the file's history.

    Raises:
        RequestError: If no base comes of them.
        OutputExists: If there is a file and `overwrite` is not set.
        GraphFileError: If the file cannot be written.
    """
    if len({e.leader is None for e in examples}) > 1:
        raise RequestError("examples of one file either all have a leader, or all answer their own track")
    settings = settings or (WALKS if all(e.leader is None for e in examples) else PAIRS)
    base = settings.build(examples)
    clips: list[Clip] = []
    numbers: list[tuple[int, int]] = []
    for e in examples:
        numbers.append((-1 if e.leader is None else len(clips), len(clips) + (e.leader is not None)))
        clips += [e.target] if e.leader is None else [e.leader, e.target]
    clips = _with_own_names(clips)
    names = tuple((clips[a].name, clips[b].name) for a, b in numbers) if numbers[0][0] >= 0 else None
    graph_settings = GraphSettings()
    graph = MotionGraph(
        graph_settings,
        graph_settings.threshold_m,
        clips,
        [clip_info(clip, graph_settings.rate_hz, None) for clip in clips],
        {part: table(*(np.zeros(0, dtype) for dtype in table.dtypes.values())) for part, table in TABLES.items()},
        searched_m=0.0,
    )

    def also(connection: sqlite3.Connection) -> None:
        _write(connection, base, _key(settings, names), np.array(numbers))

    save_graph(graph, path, overwrite=overwrite, command=command, also=also)
    return open_segments(path, settings)


def open_segments(path: str | Path, settings: CutSettings | None = None) -> SegmentDatabase:
    """The segment database of a .mog file: the one kept there, or one built from its clips now and kept.

    Where the file may not be written to, nothing is kept.

    Args:
        path: The file.
        settings: How the clips are cut. If None, as they were when the file was made for performing; else at foot
            plants, each clip answering the track of its own hips.

    Raises:
        GraphFileError: If the file is missing or damaged.
        RequestError: If its clips cannot be cut so.
    """
    path = Path(path)
    graph = open_graph(path)
    with looking_into(path) as connection:
        fingerprint = _fingerprint(connection)
        names = _names(connection)
        if settings is None:
            settings = _first_settings(connection) or WALKS
        key = _key(settings, names)
        if key in _kept(connection):
            row = connection.execute("SELECT id, clips FROM segment_base WHERE settings = ?", (key,)).fetchone()
            if row[1] == fingerprint:
                return _read(connection, row[0], graph, settings)
    base, numbers = _build(graph, settings, names)
    with suppress(GraphFileError), changing(path) as connection:
        connection.execute("BEGIN")
        _write(connection, base, key, numbers)
        connection.execute("COMMIT")
    return base


def keeps_pairs(path: str | Path) -> bool:
    """Whether a .mog file says which of its clips lead which."""
    open_graph(path)  # brings it up to date
    with looking_into(path) as connection:
        return _names(connection) is not None


class KeptExamples(Sequence[Example]):
    """Examples whose clips are read from a file when they are asked for."""

    def __init__(self, clips: Sequence[Clip], numbers: NDArray[Any], controls: Sequence[Array]) -> None:
        self._clips, self._numbers, self._controls = clips, numbers, controls

    def __len__(self) -> int:
        """Number of examples."""
        return len(self._numbers)

    @overload
    def __getitem__(self, index: int) -> Example: ...
    @overload
    def __getitem__(self, index: slice) -> list[Example]: ...
    def __getitem__(self, index: int | slice) -> Example | list[Example]:
        """The example of this number, or those of a slice."""
        if isinstance(index, slice):
            return [self[n] for n in range(*index.indices(len(self)))]
        lead, follow = self._numbers[index]
        leader = None if lead < 0 else self._clips[int(lead)]
        return Example(with_detected_contacts(self._clips[int(follow)]), self._controls[index], leader)


def _with_own_names(clips: Sequence[Clip]) -> list[Clip]:
    found: list[Clip] = []
    taken: set[str] = set()
    for clip in clips:
        name, count = clip.name, 1
        while name in taken:
            count += 1
            name = f"{clip.name}~{count}"
        taken.add(name)
        found.append(clip.with_name(name))
    return found


def _build(graph: MotionGraph, settings: CutSettings, names: Names | None) -> tuple[SegmentDatabase, NDArray[Any]]:
    if names is None and settings.control_roles != TRACK:
        raise RequestError(
            "the file does not say who leads whom, so its clips answer the track of their own hips: use the control "
            "'track', or make a file of pairs with `choreograph segment LEADERS --answers FOLLOWERS -o pairs.mog`"
        )
    if names is None or settings.control_roles == TRACK:
        numbers = np.array([(-1, n) for n in range(len(graph.infos))])
        return settings.build([root_example(clip) for clip in graph.clips]), numbers
    numbers = np.array([[graph.find_clip(name) for name in pair] for pair in names])
    pairs = [pair_up(graph.clips[a], graph.clips[b], roles=settings.control_roles) for a, b in numbers.tolist()]
    return settings.build(pairs), numbers


def _key(settings: CutSettings, names: Names | None) -> str:
    return json.dumps({"method": METHOD, "pairs": names, **asdict(settings)}, sort_keys=True)


def _names(connection: sqlite3.Connection) -> Names | None:
    """Who leads whom, as the file's first base of pairs says."""
    for text in _kept(connection):
        if pairs := json.loads(text)["pairs"]:
            return tuple((str(a), str(b)) for a, b in pairs)
    return None


def _kept(connection: sqlite3.Connection) -> list[str]:
    """How the bases in a file were asked for; none where it could not be brought up to date."""
    if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'segment_base'").fetchone():
        return []
    return [str(text) for (text,) in connection.execute("SELECT settings FROM segment_base ORDER BY id")]


def _first_settings(connection: sqlite3.Connection) -> CutSettings | None:
    for text in _kept(connection):
        found = json.loads(text)
        if found["pairs"] or _names(connection) is None:
            cut_at = found["cut_at"]
            return CutSettings(
                cut_at if isinstance(cut_at, str) else tuple(tuple(float(t) for t in times) for times in cut_at),
                tuple(found["control_roles"]),
                tuple(found["target_roles"]),
                float(found["alike_m"]),
            )
    return None


def _fingerprint(connection: sqlite3.Connection) -> str:
    """What the clips are, from their rows and checksums: no array is read for it."""
    state = hashlib.blake2b(digest_size=16)
    for query in (
        "SELECT id, name, fps, skeleton, mirror_of FROM clip ORDER BY id",
        "SELECT skeleton, name, shape, crc32 FROM skeleton_array ORDER BY skeleton, name",
        "SELECT clip, name, shape, crc32 FROM clip_array ORDER BY clip, name",
        "SELECT clip, position, text, start, stop FROM label ORDER BY clip, position",
        "SELECT id, roles FROM skeleton ORDER BY id",
    ):
        for row in connection.execute(query):
            state.update(repr(row).encode())
    return state.hexdigest()


def _write(connection: sqlite3.Connection, base: SegmentDatabase, key: str, numbers: NDArray[Any]) -> None:
    """Insert a base; one that was asked for in the same way goes."""
    connection.execute(
        "DELETE FROM segment_array WHERE base IN (SELECT id FROM segment_base WHERE settings = ?)", (key,)
    )
    connection.execute("DELETE FROM segment_base WHERE settings = ?", (key,))
    fingerprint = _fingerprint(connection)
    row = connection.execute("INSERT INTO segment_base (settings, clips) VALUES (?, ?)", (key, fingerprint)).lastrowid
    arrays: dict[str, NDArray[Any]] = {
        "clips": numbers.astype(np.int32),
        "segments": np.stack([base.example, base.start, base.stop], axis=1).astype(np.int32),
        "controls": np.concatenate(base.controls),
        "target_points": np.concatenate(base.target_points),
    }
    for name, array in arrays.items():
        rows.write_array(connection, "segment_array", (row, name), array)


def _read(connection: sqlite3.Connection, row: int, graph: MotionGraph, settings: CutSettings) -> SegmentDatabase:
    found = {}
    for name in ("clips", "segments", "controls", "target_points"):
        array = rows.read_array(connection, "segment_array", (row, name))
        if array is None:
            raise ValueError(f"segments have no {name}")
        found[name] = array
    numbers, segments = found["clips"], found["segments"].astype(np.int64)
    if numbers.ndim != 2 or numbers.shape[1] != 2 or segments.ndim != 2 or segments.shape[1] != 3 or not len(segments):
        raise ValueError("segments have another shape than they should")
    if numbers[:, 0].min() < -1 or numbers[:, 1].min() < 0 or numbers.max() >= len(graph.infos):
        raise ValueError("segments are of clips that are not there")
    frames = np.array([graph.infos[n].own_frames for n in numbers[:, 1]])
    example, start, stop = segments.T
    if example.min() < 0 or example.max() >= len(numbers) or start.min() < 0 or (stop <= start).any():
        raise ValueError("segments are out of order")
    if (stop >= frames[example]).any():
        raise ValueError("segments lie outside of their clip")
    edges = np.cumsum(frames)[:-1]
    points = {}
    for name in ("controls", "target_points"):
        if found[name].ndim != 3 or found[name].shape[2] != 3 or len(found[name]) != frames.sum():
            raise ValueError(f"{name} have another shape than they should")
        if not np.isfinite(found[name]).all():
            raise ValueError(f"{name} has values that are not finite numbers")
        points[name] = tuple(np.split(found[name].astype(float), edges))
    return SegmentDatabase(
        KeptExamples(graph.clips, numbers, points["controls"]),
        tuple(graph.infos[n].name for n in numbers[:, 1]),
        points["controls"],
        points["target_points"],
        graph.infos[int(numbers[0, 1])].fps,
        settings.control_roles,
        settings.target_roles,
        example,
        start,
        stop,
    )
