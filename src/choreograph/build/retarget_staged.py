"""The clips of a file in the making brought onto one body: in place, each in a transaction of its own.

Which body that is, and how it stands, shows only once all clips have been read; by then they are in the file.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from choreograph.base.errors import RoleError
from choreograph.base.progress import Progress
from choreograph.build.prepare import body_without_helper, check_skeletons
from choreograph.graph import rows
from choreograph.graph.info import ClipInfo
from choreograph.graph.lazy import LazyClips, Reader
from choreograph.graph.model import MotionGraph
from choreograph.graph.store import read_infos
from choreograph.graph.writing import write_frames
from choreograph.motion.clip import Clip, Note
from choreograph.motion.helper_root import find_helpers, fold_helper_root
from choreograph.motion.skeleton import Skeleton
from choreograph.motion.unify_skeletons import Casting, cast_bodies


@dataclass
class State:
    """How far a file in the making has come; kept in it."""

    read: int = 0
    """Sources that have been read."""
    notes: list[Note] = field(default_factory=list)
    notes_kept: int = 0
    """How many of them are in the file."""
    to_fold: list[int] | None = None
    """Clips whose helper root is still to be folded; None before that is known."""
    to_carry: list[int] | None = None
    """Clips still to be carried over; None before that is known."""
    body: int = -1
    """Skeleton that clips are carried onto."""
    own: list[int] = field(default_factory=list)
    """Clips that had it."""
    left_out: dict[int, str] = field(default_factory=dict)
    """Why clips could not be carried over."""
    skeletons: list[int] = field(default_factory=list)
    """Of each clip, before any was carried over."""

    @staticmethod
    def load(connection: sqlite3.Connection) -> State:
        """The state as it was at the last commit."""
        plain = json.loads(connection.execute("SELECT done FROM staged").fetchone()[0])
        plain["left_out"] = {int(number): why for number, why in plain["left_out"].items()}
        notes = [
            Note(*row) for row in connection.execute("SELECT kind, message, count FROM staged_note ORDER BY rowid")
        ]
        return State(**plain, notes=notes, notes_kept=len(notes))

    @staticmethod
    def create(connection: sqlite3.Connection, key: str) -> None:
        """Begin a file that is told by a key."""
        connection.execute("CREATE TABLE staged (key TEXT, done TEXT)")
        connection.execute("CREATE TABLE staged_note (kind TEXT, message TEXT, count INTEGER)")
        connection.execute("INSERT INTO staged VALUES (?, ?)", (key, State()._as_text()))

    @staticmethod
    def drop(connection: sqlite3.Connection) -> None:
        """Take it out of a file that is made."""
        connection.execute("DROP TABLE staged")
        connection.execute("DROP TABLE staged_note")

    def _as_text(self) -> str:
        """As JSON, all but the notes: of thousands of files there may be as many, and this is written for each."""
        return json.dumps({name: value for name, value in vars(self).items() if not name.startswith("notes")})

    @contextmanager
    def step(self, connection: sqlite3.Connection) -> Iterator[None]:
        """A transaction: what is written in it and what becomes of the state, or neither."""
        connection.execute("BEGIN")
        try:
            yield
            connection.execute("UPDATE staged SET done = ?", (self._as_text(),))
            new = [(note.kind, note.message, note.count) for note in self.notes[self.notes_kept :]]
            connection.executemany("INSERT INTO staged_note VALUES (?, ?, ?)", new)
            self.notes_kept += len(new)
        except BaseException:
            if connection.in_transaction:  # of a full disk, SQLite has gone back by itself
                connection.execute("ROLLBACK")
            raise
        connection.execute("COMMIT")


def unite_bodies(
    reader: Reader,
    state: State,
    rate_hz: float,
    onto: Skeleton | bool,
    progress: Progress,
    graph: MotionGraph | None = None,
) -> tuple[ClipInfo, ...]:
    """Bring all clips of a file onto one body, and tell what the file has then.

    Args:
        reader: The file, open for writing.
        state: How far it has come.
        rate_hz: The graph's rate.
        onto: The body; True for the one of most clips, False to have none carried over.
        progress: Hears how many clips are done.
        graph: What they are added to: its body is the one then, and they stand as its clips do.

    Raises:
        SkeletonMismatch: If skeletons differ, and nothing is to be carried over.
    """
    file = _Clips(reader, tuple(read_infos(reader.connection, rate_hz)))
    given, like = onto if isinstance(onto, Skeleton) else None, None if graph is None else graph.skeleton

    def body() -> Skeleton | None:
        return body_without_helper(given, file.skeletons) if like is None else like

    if state.to_fold is None:
        which, notes = find_helpers(file.skeletons, body())
        with state.step(reader.connection):
            state.to_fold, state.notes = [file.recorded[n] for n in which], [*state.notes, *notes]
    for number in list(state.to_fold):
        folded = fold_helper_root(file.clips[number])
        with state.step(reader.connection):
            file.replace(number, folded)
            state.to_fold.remove(number)
    if onto is False:
        check_skeletons([file.infos[n].name for n in file.recorded], file.skeletons, like)
    elif state.to_carry is None:
        _plan(file, state, body())
    if state.to_carry:
        _carry(file, state, progress, () if graph is None else graph.clips)
    if state.to_carry == [] and state.body >= 0:
        _close_ranks(file, state)
    return tuple(read_infos(reader.connection, rate_hz))


class _Clips:
    """The clips of a file that is open for writing."""

    def __init__(self, reader: Reader, infos: tuple[ClipInfo, ...]) -> None:
        self.connection, self.infos = reader.connection, infos
        self.clips = LazyClips(reader, infos, keep=1)
        self.recorded = [number for number, info in enumerate(infos) if info.mirror_of is None]
        """Those that are not mirrored copies of others."""
        self._numbers = rows.SkeletonNumbers()
        self._known = [
            rows.read_skeleton(self.connection, n)
            for (n,) in self.connection.execute("SELECT id FROM skeleton ORDER BY id").fetchall()
        ]
        for skeleton in self._known:
            self._numbers.number_of(skeleton)

    @property
    def numbers(self) -> list[int]:
        """Number of the skeleton of each recorded clip."""
        query = "SELECT skeleton FROM clip WHERE mirror_of IS NULL ORDER BY id"
        return [number for (number,) in self.connection.execute(query)]

    @property
    def skeletons(self) -> list[Skeleton]:
        """Skeleton of each recorded clip."""
        return [self._known[number] for number in self.numbers]

    def skeleton(self, number: int) -> Skeleton:
        """A skeleton by its number."""
        return self._known[number]

    def number_of(self, skeleton: Skeleton) -> int:
        """The number of a skeleton; a new one is written."""
        number = write_new_skeleton(self.connection, self._numbers, skeleton)
        if number == len(self._known):
            self._known.append(skeleton)
        return number

    def replace(self, number: int, clip: Clip) -> None:
        """Put other frames in the place of a clip's own."""
        self.connection.execute("DELETE FROM clip_array WHERE clip = ?", (number,))
        write_frames(self.connection, number, clip)
        skeleton = self.number_of(clip.skeleton)
        self.connection.execute("UPDATE clip SET skeleton = ?1 WHERE ?2 IN (id, mirror_of)", (skeleton, number))
        self.clips.forget(number)


def _plan(file: _Clips, state: State, body: Skeleton | None) -> None:
    """Decide who is carried onto whose body, and write it down."""
    casting = cast_bodies(file.skeletons, [file.infos[n].seconds for n in file.recorded], body)
    with state.step(file.connection):
        state.skeletons, state.to_carry = file.numbers, []
        if casting is not None:
            state.body = file.number_of(casting.body)
            state.own = [file.recorded[n] for n in casting.own]
            state.to_carry = [file.recorded[n] for group in casting.others for n in group]


def _carry(file: _Clips, state: State, progress: Progress, there: Sequence[Clip]) -> None:
    """Carry the clips that are left; they stand as those on the body do that are there."""
    assert state.to_carry is not None
    # A clip that has the body is as it was read: how the body stands comes out the same after an interruption.
    casting = Casting(file.skeleton(state.body), tuple(state.own), ())
    stance = casting.stance(file.clips, there)
    total = len(file.recorded) - len(state.own)
    for number in list(state.to_carry):
        progress("carrying clips over", total - len(state.to_carry), total)
        try:
            carried = casting.carry(file.clips[number], stance)
        except RoleError as error:
            carried = None
            state.left_out[number] = str(error)
        with state.step(file.connection):
            if carried is not None:
                file.replace(number, carried)
            state.to_carry.remove(number)
    progress("carrying clips over", total, total)


def _close_ranks(file: _Clips, state: State) -> None:
    """Take out what could not be carried over, and skeletons that no clip has any more; number the rest anew."""
    before = [file.skeleton(number) for number in state.skeletons]
    casting = cast_bodies(before, [file.infos[n].seconds for n in file.recorded], file.skeleton(state.body))
    assert casting is not None
    place = {number: n for n, number in enumerate(file.recorded)}
    left_out = {place[number]: why for number, why in state.left_out.items()}
    with state.step(file.connection):
        state.notes += casting.notes([file.infos[n].name for n in file.recorded], before, left_out)
        gone = {n for n, info in enumerate(file.infos) if {n, info.mirror_of} & set(state.left_out)}
        if gone:
            _renumber_clips(file, gone)
        _renumber_skeletons(file)
        state.body = -1


def _renumber_clips(file: _Clips, gone: set[int]) -> None:
    execute, stay = file.connection.execute, [n for n in range(len(file.infos)) if n not in gone]
    for number in gone:
        for table, column in (("clip_array", "clip"), ("label", "clip"), ("clip", "id")):
            execute(f"DELETE FROM {table} WHERE {column} = ?", (number,))
    for new, old in enumerate(stay):
        if new != old:
            for table, column in (("clip", "id"), ("clip_array", "clip"), ("label", "clip"), ("clip", "mirror_of")):
                execute(f"UPDATE {table} SET {column} = ? WHERE {column} = ?", (new, old))


def _renumber_skeletons(file: _Clips) -> None:
    execute = file.connection.execute
    used = [number for (number,) in execute("SELECT skeleton FROM clip GROUP BY skeleton ORDER BY min(id)").fetchall()]
    execute("DELETE FROM skeleton_array")
    execute("DELETE FROM skeleton")
    for new, old in enumerate(used):
        rows.write_skeleton(file.connection, new, file.skeleton(old))
        # Below 0 until all are done, since old and new numbers are alike.
        execute("UPDATE clip SET skeleton = ? WHERE skeleton = ?", (-1 - new, old))
    execute("UPDATE clip SET skeleton = -1 - skeleton")


def write_new_skeleton(connection: sqlite3.Connection, numbers: rows.SkeletonNumbers, skeleton: Skeleton) -> int:
    """The number of a skeleton in a file; one that it does not have yet is written."""
    before = len(numbers)
    number = numbers.number_of(skeleton)
    if number == before:
        rows.write_skeleton(connection, number, skeleton)
    return number
