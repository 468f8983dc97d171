"""Files of examples to perform with: recordings, who leads whom, and how they are cut. Segments are in the cache."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np

from choreograph.base.errors import RequestError
from choreograph.features.points import TRACK, find_points
from choreograph.graph.clips import clip_info
from choreograph.graph.info import Origin
from choreograph.graph.model import MotionGraph
from choreograph.graph.settings import GraphSettings
from choreograph.graph.store import open_graph, save_graph
from choreograph.graph.tables import TABLES
from choreograph.motion.clip import Clip
from choreograph.verbs.perform.examples import Example, SegmentDatabase
from choreograph.verbs.perform.prepare import PAIRS, WALKS, CutSettings, find_segment_database


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


def _with_own_names(examples: Sequence[Example]) -> list[Example]:
    """The examples, with clips of one name told apart."""
    taken: set[str] = set()

    def named(clip: Clip) -> Clip:
        name, count = clip.name, 1
        while name in taken:
            count += 1
            name = f"{clip.name}~{count}"
        taken.add(name)
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
