"""How motion comes into a project: from its folder, from a page, from a .mog file, or from the package itself."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

from choreograph.base.errors import ChoreographError
from choreograph.formats.registry import suffixes
from choreograph.studio import messages as m
from choreograph.studio.document import ClipEntry
from choreograph.studio.facts import Job, Recording
from choreograph.studio.jobs import Hooks, Partly, Work
from choreograph.studio.library import count
from choreograph.studio.project_paths import KEEP, ProjectPaths
from choreograph.studio.session import Session
from choreograph.studio.workers import Lane

DEMO_PATH = "eight:radius=2"
"""What somebody walks when the demo project is first opened."""
DRAWN_SMOOTH_M = 0.3
"""How much a path that was drawn is smoothed, unless somebody says otherwise; as the page has it."""

Then = Callable[[], Awaitable[None]]


async def begin(session: Session) -> None:
    """Read what a project has that the studio has not seen yet."""
    places, project = session.places, session.project
    await asyncio.to_thread(shutil.rmtree, places.incoming, True)  # uploads of a server that was ended
    # Whoever stopped the studio during its first minute gets it again; whoever removed all clips does not.
    untouched = not project.document.clips and project.undo_label is None and project.redo_label is None
    if places.demo and untouched:
        _make_demo(session)
    elif places.demo and project.graph is None and project.document.clips:
        session.build()
    elif places.given_graph is not None:
        await _open_graph(session, str(places.given_graph), untouched=untouched)
    elif not places.demo and places.given_graph is None:
        await _scan_folder(session)


def import_uploads(session: Session, folder: Path, paths: list[Path]) -> Job:
    """Read files that were dropped on a page, and delete them."""
    title = f"Add {count(len(paths), 'file')}"
    hooks = Hooks(after=lambda: shutil.rmtree(folder, ignore_errors=True))
    return _import(session, _reading(title, "import", paths, session.files), hooks=hooks)


async def _scan_folder(session: Session) -> None:
    """Read motion files of the folder that are new or have changed."""
    files = await asyncio.to_thread(list_files, session.places)
    known = session.project.files
    fresh = {path: facts for path, facts in files.items() if known.get(path, [])[:2] != facts}
    if fresh:
        paths = [session.places.folder / path for path in fresh]
        title = f"Read {count(len(paths), 'file')}"
        _import(session, _reading(title, "import", paths, session.files), files=fresh)


def list_files(places: ProjectPaths) -> dict[str, list[int]]:
    """Motion files of a project's folder by their path in it, with size and time."""
    readable = set(suffixes(readable=True))
    home = places.folder.resolve()
    files = {}
    for path in sorted(places.folder.rglob("*")):
        inside = path.relative_to(places.folder)
        if path.suffix.lower() not in readable or any(part.startswith(KEEP) for part in inside.parts):
            continue
        # A link may lead out of the folder; nothing out there is read.
        if path.is_file() and path.resolve().is_relative_to(home):
            state = path.stat()
            files[str(inside)] = [state.st_size, state.st_mtime_ns]
    return files


def _import(
    session: Session,
    work: Work,
    *,
    files: dict[str, list[int]] | None = None,
    then: Then | None = None,
    hooks: Hooks = Hooks(),
) -> Job:
    """Begin to read; `files` are those of the folder, by their path in it."""

    async def finish(imported: Any) -> list[str]:
        replaced: dict[str, str] = {}
        for path, facts in (files or {}).items():
            recording = imported.places.get(str(session.places.folder / path))
            old = session.project.files.get(path)
            before, after = _by_name(old[2] if old else None), _by_name(recording)
            replaced |= {before[name]: now for name, now in after.items() if before.get(name, now) != now}
            # A file that cannot be read is noted too: it is tried again when it has changed.
            session.project.files[path] = [*facts, recording]
        added = await add_recordings(session, imported.recordings, replaced)
        if then is not None:
            await then()
        if imported.refused:
            why = "; ".join(imported.refused[:5])
            more = f"; and {len(imported.refused) - 5} more" if len(imported.refused) > 5 else ""
            if not imported.recordings:
                raise ChoreographError(why + more)
            raise Partly(added, f"left out: {why}{more}")
        return added

    return session.jobs.start(work, finish, hooks)


def _by_name(recordings: str | dict[str, str] | None) -> dict[str, str]:
    """What a file became, by name; where that is one recording, its name does not matter."""
    return recordings if isinstance(recordings, dict) else {"": recordings} if recordings else {}


def _reading(title: str, task: str, ask: Any, lane: Lane) -> Work:
    return Work("import", title, lane, task, ask)


async def add_recordings(
    session: Session, recordings: Sequence[Recording], replaced: dict[str, str] | None = None
) -> list[str]:
    """Take recordings into the project, and into the library unless they are there: one step of undo.

    Args:
        session: The project.
        recordings: What was read.
        replaced: Recordings that make room for others, because their file has changed.

    Returns:
        Ids of the clips that were added.
    """
    session.project.add_recordings(recordings)
    session.pages.say(m.LibraryChanged(recordings=session.known_recordings()))
    document = session.project.document
    clips = [
        # What was trimmed and labelled of the old file may not fit the new one.
        entry.model_copy(update={"source": (replaced or {})[entry.source], "trim": None, "labels": None})
        if entry.source in (replaced or {})
        else entry
        for entry in document.clips
    ]
    used, ids, names = ({getattr(entry, what) for entry in clips} for what in ("source", "id", "name"))
    added = []
    for recording in recordings:
        if recording.id in used:
            continue
        name = _unused(recording.name[:190], names, "~")
        entry = ClipEntry(id=_unused(f"c{recording.id}", ids, "-"), source=recording.id, name=name)
        added.append(entry)
        for used_here, value in ((used, recording.id), (ids, entry.id), (names, entry.name)):
            used_here.add(value)
    label = f"Add {count(len(added), 'clip')}" if added else "Read changed files"
    await session.change(label, document.model_copy(update={"clips": [*clips, *added]}))
    return [entry.id for entry in added]


def _unused(name: str, used: set[str], mark: str) -> str:
    """The name, with a number after it if it is taken."""
    number, free = 1, name
    while free in used:
        number += 1
        free = f"{name}{mark}{number}"
    return free


async def _open_graph(session: Session, file: str, *, untouched: bool) -> None:
    """Take over the clips of a .mog file, which stay in it, and the graph as it is."""
    project = session.project
    archive = project.archive
    if archive is not None and not archive.is_large and (untouched or project.lost_sources):
        await add_recordings(session, list(archive.values()))
    if project.graph is not None or archive is None:
        return
    document = project.document.model_copy(update={"graph": archive.summary.settings})
    await session.change("Take over the graph's settings", document)
    project.open_graph(file, archive.summary)

    async def use(answer: Any) -> list[str]:
        _, summary, curve = answer
        if project.graph_file == file:  # unless another was built meanwhile
            assert project.graph is not None
            key = project.graph.built_from
            await session.use_graph(file, summary.model_copy(update={"built_from": key}), curve, warm=False)
        return []

    measure = Work("import", "Open the graph", session.builds, "summary", {"graph": file})
    # What a page shows first is made before that.
    session.ahead.add_done_callback(lambda done: done.cancelled() or session.jobs.start(measure, use))


def _make_demo(session: Session) -> None:
    """Make the demo motion, its graph, and a path to begin with; the first page to see the graph asks for the walk."""

    async def build() -> None:
        requests = {"follow": {"points": await session.shape(DEMO_PATH), "smooth_m": DRAWN_SMOOTH_M}}
        await session.change("Draw an eight", session.project.document.model_copy(update={"requests": requests}))
        session.build()

    # In the lane where it is built from next: that worker has the clips in memory then.
    _import(session, _reading("Make the demo motion", "demo", None, session.builds), then=build)
