"""Writing graphs and clips into the tables of a .mog file that is being made."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import asdict, replace
from datetime import UTC, datetime

from choreograph._version import __version__
from choreograph.base.arrays import Flags
from choreograph.graph import rows
from choreograph.graph.info import ClipInfo, Provenance
from choreograph.graph.model import MotionGraph
from choreograph.graph.tables import TABLES
from choreograph.motion.clip import Clip
from choreograph.motion.contacts import detect_contacts

CLIP_TABLES = "skeleton", "skeleton_array", "clip", "clip_array", "label"
"""Tables of clips and what they need, each after those that it refers to."""


def write_clips(connection: sqlite3.Connection, graph: MotionGraph, there: int = 0) -> None:
    """Insert a graph's clips, read one at a time.

    Args:
        connection: An empty file, or one with the graph's first clips.
        graph: What to write.
        there: How many clips the file has.
    """
    skeletons = rows.SkeletonNumbers()
    if there:
        for (number,) in connection.execute("SELECT id FROM skeleton ORDER BY id").fetchall():
            skeletons.number_of(rows.read_skeleton(connection, number))
    known = len(skeletons)
    for number in range(there, len(graph.infos)):
        clip = graph.clips[number]
        write_clip_row(connection, number, graph.infos[number], clip, skeletons.number_of(clip.skeleton))
    for number, skeleton in enumerate(skeletons):
        if number >= known:
            rows.write_skeleton(connection, number, skeleton)


def write_clip_row(connection: sqlite3.Connection, number: int, info: ClipInfo, clip: Clip, skeleton: int) -> None:
    """Insert a clip with its frames, unless it is a mirrored copy, and its labels."""
    fields = {} if clip.source is None else asdict(clip.source)
    if not fields.get("take"):  # which earlier versions do not know
        fields.pop("take", None)
    source = json.dumps(fields) if fields else None
    connection.execute(
        "INSERT INTO clip VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (number, info.name, info.fps, info.own_frames, info.frames, skeleton, info.mirror_of, source),
    )
    if info.mirror_of is None:
        write_frames(connection, number, clip)
    connection.executemany(
        "INSERT INTO label VALUES (?, ?, ?, ?, ?)",
        [(number, k, label.text, label.start, label.stop) for k, label in enumerate(info.labels)],
    )


def write_frames(connection: sqlite3.Connection, number: int, clip: Clip) -> None:
    """Insert the arrays of a clip."""
    arrays = {name: getattr(clip, name) for name in rows.CLIP_ARRAYS}
    arrays["contacts"] = _contacts(clip)
    for name, array in arrays.items():
        if array is not None:
            rows.write_array(connection, "clip_array", (number, name), array)


def write_rest(connection: sqlite3.Connection, graph: MotionGraph, command: str) -> None:
    """Insert all of a graph but its clips and skeletons."""
    pairs = [(position, *pair) for position, pair in enumerate(graph.pairs)]
    connection.executemany("INSERT INTO pair VALUES (?, ?, ?)", pairs)
    for part in TABLES:
        for name, column in graph.iterate_columns(part):
            rows.write_column(connection, (part, name), column)
    facts = {
        "threshold_m": graph.threshold_m,
        "searched_m": graph.searched_m,
        # What one command passed over says nothing about the graph.
        "notes": [asdict(note) for note in graph.notes if note.kind not in ("already-there", "unread")],
    }
    settings = graph.settings.as_dict()
    for table, values in (("setting", settings), ("fact", facts), ("cut_setting", graph.cut_settings)):
        texts = [(name, json.dumps(value)) for name, value in sorted(values.items())]
        connection.executemany(f"INSERT INTO {table} VALUES (?, ?)", texts)
    now = Provenance(datetime.now(UTC).isoformat(timespec="seconds"), command, __version__, graph.evaluated_share)
    history = [(k, p.at, p.command, p.package_version, p.evaluated_share) for k, p in enumerate([*graph.history, now])]
    connection.executemany("INSERT INTO provenance VALUES (?, ?, ?, ?, ?)", history)


def _contacts(clip: Clip) -> Flags | None:
    """Foot plants, looked for where nobody has: whoever finishes a walk needs them, and a file is made for that."""
    if clip.contacts is not None or not clip.skeleton.feet:
        return clip.contacts
    # A copy, so that the positions worked out for this are not kept with a clip that may be one of thousands.
    return detect_contacts(replace(clip))
