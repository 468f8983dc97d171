"""An open project: what pages ask of it, who does the work, and who is told."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from choreograph._version import __version__
from choreograph.base.errors import ChoreographError, RequestError
from choreograph.formats.export import ExportSettings
from choreograph.formats.registry import suffixes
from choreograph.studio import facts
from choreograph.studio import messages as m
from choreograph.studio.document import ClipEntry, GraphAsk, Point, ProjectDocument, View
from choreograph.studio.facts import Curve, GraphSummary, Job, Matrix, Motion, Recording, Result
from choreograph.studio.jobs import Jobs, Work
from choreograph.studio.library import clip_key, count, graph_key, writable_suffixes
from choreograph.studio.pages import OpenPage, OpenPages
from choreograph.studio.project import NotThere, Project
from choreograph.studio.project_paths import ProjectPaths
from choreograph.studio.protocol import PROTOCOL
from choreograph.studio.steering import Steering
from choreograph.studio.verb_requests import Asking
from choreograph.studio.workers import Lane, WorkerTask, count_processors

PREVIEWS_KEPT = 8  # in memory, the latest
EXPORTS_KEPT = 20  # on disk, the latest
FEW_PROCESSORS = 2
"""With no more than these, verbs are made ready once a page is seen: it, the server and whoever makes its figure share
them until then."""


class Session:
    """A project that is open."""

    def __init__(self, places: ProjectPaths) -> None:
        self.places = places
        self.project = Project(places)
        self.pages = OpenPages()
        self.uploading = 0
        """Uploads that are being received."""
        self.steering = Steering()
        self.jobs = Jobs(lambda job: self.pages.say(m.JobChanged(job=job)))
        self._motions: dict[str, Motion] = {}
        self._previews: dict[str, Result] = {}
        self._matrices: dict[tuple[str, str, str], tuple[Matrix, dict[str, bytes]]] = {}
        self._curve: Curve | None = None
        self._figures: dict[str, WorkerTask] = {}
        """Those that are being made, by skeleton."""
        self._saving = asyncio.Lock()
        self._preparing = asyncio.Lock()

    async def open(self) -> None:
        """Make the lanes in which work waits."""
        self.asking = Asking(self)
        """Verbs, each with a lane of its own."""
        self.looks = Lane(self.places)
        """What is needed to look at things: clips for the stage, figures, matrices, previews."""
        self.pictures = Lane(self.places, nice=5)
        """Thumbnails: many at once, and nobody waits for them."""
        self.files = Lane(self.places, nice=5)
        """Files in and out."""
        self.builds = Lane(self.places, nice=10)
        """The graph. Builds use all processors, and give way to whatever is played meanwhile."""
        await asyncio.to_thread(self.project.clean_motions)
        for old in sorted(self.places.exports.iterdir(), key=lambda path: path.stat().st_mtime)[:-EXPORTS_KEPT]:
            shutil.rmtree(old, ignore_errors=True)
        self.ahead = asyncio.create_task(self._look_ahead())
        """Makes what the first page will show."""
        if count_processors() > FEW_PROCESSORS:
            self.asking.prepare_first()
        await self.save()

    async def _look_ahead(self) -> None:
        """Make what the first page shows of an archive, while that page is still being opened."""
        if self.project.archive is not None and self.project.is_archive:
            with suppress(ChoreographError):  # the page hears of it when it asks
                motion, _ = await self.motion("clip", next(iter(self.project.archive)))
                await self.figure(motion.skeleton)

    async def end_work(self) -> None:
        """Give up all that is being worked on: whoever waits for it is told at once. Then end the workers."""
        self.ahead.cancel()
        lanes = (*self.asking.lanes.values(), self.looks, self.pictures, self.files, self.builds)
        await asyncio.gather(*(lane.close() for lane in lanes))

    async def close(self) -> None:
        """End the workers and write what is not written."""
        await self.end_work()
        await self.jobs.wait()
        await self.save()

    async def save(self) -> None:
        """Write the project; one writer at a time."""
        async with self._saving:
            await asyncio.to_thread(self.project.save)

    # ------------------------------------------------------------------ what pages see

    async def describe(self) -> facts.Project:
        """All that a page needs to begin."""
        project = self.project
        return facts.Project(
            protocol=PROTOCOL,
            package=__version__,
            folder=str(self.places.given_graph or self.places.folder),
            version=project.version,
            document=project.document,
            view=project.view,
            undo=project.undo_label,
            redo=project.redo_label,
            recordings=self.known_recordings(),
            clips=await self.clip_motions(),
            archive=project.archive.facts() if project.archive is not None and project.is_archive else None,
            graph=project.graph,
            results=project.result_list(),
            jobs=self.jobs.list(),
            formats=writable_suffixes(),
            exporting=ExportSettings.model_json_schema(),
            readable=[*suffixes(readable=True), ".asf", ".tsv"],
        )

    async def _state(self, before: Sequence[ClipEntry]) -> m.DocumentState:
        """The document and what follows from it; of clips only if they are others than before."""
        project = self.project
        clips = None if project.document.clips == before else await self.clip_motions()
        return m.DocumentState(
            version=project.version,
            document=project.document,
            undo=project.undo_label,
            redo=project.redo_label,
            clips=clips,
            graph=project.graph,
        )

    async def clip_motions(self) -> list[Motion]:
        """The document's clips as the stage takes them, in its order."""
        entries = list(self.project.document.clips)
        await self._prepare(entries)
        return [self._named(entry) for entry in entries]

    async def _prepare(self, entries: Sequence[ClipEntry]) -> None:
        """Know these clips as the stage takes them."""
        if all(clip_key(entry) in self._motions for entry in entries):
            return
        async with self._preparing:
            missing = {clip_key(entry): entry for entry in entries if clip_key(entry) not in self._motions}
            if missing:
                self._motions |= await asyncio.to_thread(self._read_cache, list(missing))
                rest = [entry for key, entry in missing.items() if key not in self._motions]
                if rest:
                    self._motions |= await self.looks.submit("clips", rest).answer()

    def known_recordings(self) -> list[Recording]:
        """The recordings that the library lists, and those that its clips come from."""
        project = self.project
        placed = {entry.source for entry in project.document.clips if entry.source not in project.recordings}
        return [*project.recordings.values(), *(project.sources[source] for source in placed)]

    def _read_cache(self, keys: Sequence[str]) -> dict[str, Motion]:
        caches = {}
        for key in keys:
            try:
                if self.places.clip(key, ".f32").is_file() or self.project.archive is not None:
                    caches[key] = Motion.model_validate_json(self.places.clip(key, ".json").read_bytes())
            except (OSError, ValueError):
                continue
        return caches

    def _named(self, entry: ClipEntry) -> Motion:
        motion = self._motions[clip_key(entry)]
        sources = [run.model_copy(update={"clip": entry.name}) for run in motion.sources]
        return motion.model_copy(update={"id": f"clip:{entry.id}", "name": entry.name, "sources": sources})

    def entry(self, clip: str) -> ClipEntry:
        """A clip of the document."""
        for entry in self.project.document.clips:
            if entry.id == clip:
                return entry
        placed = None if self.project.archive is None else self.project.archive.entry(clip)
        if placed is not None:
            return placed
        raise NotThere(f"there is no clip {clip!r} in the library")

    def result(self, result: str) -> Result:
        """A result, or a preview that is still there."""
        project = self.project
        known = project.results.get(result) or project.fading.get(result) or self._previews.get(result)
        if known is None:
            raise NotThere(f"there is no result {result!r}; it may have made room for newer ones")
        return known.model_copy(update={"kept": result in self.project.document.kept})

    async def motion(self, kind: str, name: str, person: int = 0) -> tuple[Motion, Path]:
        """A motion of a clip or a result, and the file that has its frames."""
        if kind == "clip":
            entry = self.entry(name)
            if person == 0:
                await self._prepare([entry])
                path = self.places.clip(clip_key(entry), ".f32")
                if not path.is_file():  # of a clip that stays in its file, made when it is first played
                    await self.looks.submit("frames", entry).answer()
                return self._named(entry), path
        else:
            result = self.result(name)
            if person < len(result.motions):
                return result.motions[person], self.places.result(name, ".f32", person)
        raise NotThere(f"{kind} {name!r} has no person {person}")

    async def motion_named(self, text: str) -> tuple[Motion, Path]:
        """A motion by the name that the page calls it by: "clip:ID", "result:ID" or "result:ID/1"."""
        kind, _, rest = text.partition(":")
        name, _, person = rest.partition("/")
        if kind not in ("clip", "result") or not (person or "0").isdecimal() or len(person) > 4:
            raise NotThere(f"{text!r} names no motion; names are clip:ID, result:ID and result:ID/PERSON")
        return await self.motion(kind, name, int(person or 0))

    # ------------------------------------------------------------------ changes

    async def change(self, label: str, document: ProjectDocument, base: int | None = None) -> m.DocumentState:
        """Change the document, and tell all pages."""
        before = self.project.document.clips
        self.project.change(label, document, base)
        return await self._changed(before)

    async def undo(self) -> m.DocumentState:
        """Undo the last change."""
        before = self.project.document.clips
        self.project.undo()
        return await self._changed(before)

    async def redo(self) -> m.DocumentState:
        """Do again what was undone."""
        before = self.project.document.clips
        self.project.redo()
        return await self._changed(before)

    async def _changed(self, before: Sequence[ClipEntry]) -> m.DocumentState:
        await self.save()
        if self.project.archive is not None and self.project.document.clips != before:
            self.pages.say(m.LibraryChanged(recordings=self.known_recordings()))
        state = await self._state(before)
        self.pages.say(m.DocumentChanged(state=state))
        return state

    async def set_view(self, view: View) -> None:
        """Keep what is shown."""
        self.project.view = view
        self.asking.prepare(view.verb)
        await self.save()

    async def keep_result(self, result: str, keep: bool) -> Result:
        """Mark a result to be kept, or let it go; a change of the document like any other."""
        name = self.result(result).name
        others = [other for other in self.project.document.kept if other != result]
        document = self.project.document.model_copy(update={"kept": [*others, result] if keep else others})
        await self.change(f"Keep {name}" if keep else f"Let {name} go", document)
        self.tell_results()
        return self.result(result)

    async def remove_result(self, result: str) -> None:
        """Delete a result."""
        self.result(result)
        self._previews.pop(result, None)
        await asyncio.to_thread(self.project.forget_result, result)
        self.tell_results()

    def tell_results(self, but: OpenPage | None = None) -> None:
        """Say to all pages which results there are."""
        self.pages.say(m.ResultsChanged(results=self.project.result_list()), but=but)

    # ------------------------------------------------------------------ the graph

    def build(self, graph_ask: GraphAsk | None = None) -> Job:
        """Build the graph of the document's clips; a build that is under way makes room for it."""
        for job in self.jobs.list():
            if job.kind in ("build", "joins") and job.state in ("waiting", "running"):
                self.jobs.cancel(job.id)
        document = self.project.document
        settings = graph_ask or document.graph
        entries = self.project.graph_entries(whole=True)
        key = graph_key(self.project.graph_entries(), settings)
        ask: dict[str, Any] = {"entries": entries, "settings": settings, "key": key}
        ask["notes"] = []

        async def finish(answer: Any) -> list[str]:
            await self.use_graph(*answer)
            self.find_joins()
            return []

        title = f"Build from {count(len(entries), 'clip')}"
        return self.jobs.start(Work("build", title, self.builds, "build", ask), finish)

    def find_joins(self) -> Job:
        """Look what a higher threshold would bring in."""
        graph = self.need_graph()
        ask = {"graph": self.project.graph_file, "key": graph.built_from, "notes": graph.notes}

        async def finish(answer: Any) -> list[str]:
            await self.use_graph(*answer, warm=False)
            return []

        return self.jobs.start(Work("joins", "Look beyond the threshold", self.builds, "joins", ask), finish)

    async def use_graph(self, file: str, summary: GraphSummary, curve: Curve, *, warm: bool = True) -> None:
        """Take over a graph that was built or looked into."""
        await asyncio.to_thread(self.project.set_graph, file, summary, curve)
        self._matrices.clear()
        self._curve = None
        graph = self.project.graph
        assert graph is not None
        self.pages.say(m.GraphChanged(graph=graph))
        if warm:
            self.asking.prepare_first()

    def need_graph(self) -> GraphSummary:
        """The graph; a RequestError where there is none."""
        graph = self.project.graph
        if graph is None:
            raise RequestError("there is no motion graph yet; build one first (panel Graph)")
        return graph

    async def curve(self) -> Curve | None:
        """Connectivity by threshold, worked out when it is first looked at where the graph is large."""
        known = self.project.curve
        if known is not None and not known.threshold_m and self._curve is None:
            self._curve = await self.builds.submit("curve", self.project.graph_file).answer()
        return known if known is None or known.threshold_m else self._curve

    async def matrix(self, a: str, b: str) -> tuple[Matrix, dict[str, bytes]]:
        """Distances between two clips of the graph."""
        graph = self.need_graph()
        key = (graph.built_from, a, b)
        if key not in self._matrices:
            ask = {"graph": self.project.graph_file, "a": a, "b": b}
            self._matrices[key] = await self.looks.submit("matrix", ask).answer()
            while len(self._matrices) > 16:
                del self._matrices[next(iter(self._matrices))]
        return self._matrices[key]

    async def preview(self, ask: m.PreviewAsk) -> Result:
        """The motion of a transition."""
        self.need_graph()
        result: Result = await self.looks.submit("preview", {"graph": self.project.graph_file, "ask": ask}).answer()
        self._previews[result.id] = result
        while len(self._previews) > PREVIEWS_KEPT:
            oldest = next(iter(self._previews))
            del self._previews[oldest]
            await asyncio.to_thread(self.project.forget_result, oldest)
        return result

    # ------------------------------------------------------------------ pictures

    async def figure(self, skeleton: str) -> Path:
        """The file of a skeleton's figure, made when it is first asked for."""
        path = self.places.figure(skeleton)
        if not path.is_file():
            making = self._figures.get(skeleton)
            if making is None:
                making = self._figures[skeleton] = self.looks.submit("figure", (skeleton, *self.somebody(skeleton)))
            try:
                await making.answer()
            finally:
                self._figures.pop(skeleton, None)
        return path

    def somebody(self, skeleton: str) -> tuple[str, str]:
        """A motion of a skeleton."""
        for recording in self.project.recordings.values():
            if recording.skeleton == skeleton:
                return "clip", recording.id
        archive = self.project.archive
        if archive is not None and archive[first := next(iter(archive))].skeleton == skeleton:
            return "clip", first
        for result in (*self.project.results.values(), *self._previews.values()):
            if result.motions and result.motions[0].skeleton == skeleton:
                return "result", result.id
        raise NotThere(f"nobody in this project has the skeleton {skeleton!r}")

    async def thumbnail(self, kind: str, name: str, theme: str, character: str | None = None) -> Path:
        """The file of a motion's small picture, made when it is first asked for; on a character where one is named."""
        which = self.entry(name) if kind == "clip" else self.result(name).id
        body = None if character is None else self.places.character(character)
        if body is not None and not body.is_file():
            raise NotThere(f"there is no character {character!r}")
        suffix = f".{theme}.png" if character is None else f".{character}.{theme}.png"
        path = (
            self.places.result(which, suffix) if isinstance(which, str) else self.places.clip(clip_key(which), suffix)
        )
        if not path.is_file():
            await self.pictures.submit("thumbnail", (which, path, theme, body)).answer()
        return path

    async def shape(self, text: str) -> list[Point]:
        """Points of a named path."""
        points: list[Point] = await self.looks.submit("shape", text).answer()
        return points
