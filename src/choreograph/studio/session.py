"""An open project: what pages ask of it, who does the work, and who is told."""

from __future__ import annotations

import asyncio
import shutil
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from choreograph._version import __version__
from choreograph.errors import ChoreographError, RequestError
from choreograph.finishing.blend import PRESETS
from choreograph.formats.registry import FORMATS, suffixes
from choreograph.studio import facts
from choreograph.studio import messages as m
from choreograph.studio.document import ClipEntry, Document, GraphAsk, PerformAsk, Point, View
from choreograph.studio.facts import Curve, GraphSummary, Job, Matrix, Motion, Result
from choreograph.studio.jobs import Jobs, new_job_id
from choreograph.studio.library import DRAWINGS, clip_key, graph_key, of_most_bodies, writable_suffixes
from choreograph.studio.pages import Page, Pages
from choreograph.studio.performing import Performing
from choreograph.studio.places import Places
from choreograph.studio.project import Project
from choreograph.studio.tasks import VERBS
from choreograph.studio.workers import Lane

RESULTS_KEPT = 40
"""Results that are there without being marked to be kept."""
PREVIEWS_KEPT = 8
EXPORTS_KEPT = 20


class NotThere(ChoreographError):
    """There is nothing of that name."""


class Session:
    """A project that is open."""

    def __init__(self, places: Places) -> None:
        self.places = places
        self.project = Project(places)
        self.pages = Pages()
        self.jobs = Jobs(lambda job: self.pages.say(m.JobChanged(job=job)))
        self._motions: dict[str, Motion] = {}
        self._previews: dict[str, Result] = {}
        self._matrices: dict[tuple[str, str, str], tuple[Matrix, dict[str, bytes]]] = {}
        self._cut: str | None = None
        """The graph whose cuts were found, or are being found."""
        self._saving = asyncio.Lock()
        self._preparing = asyncio.Lock()

    async def open(self) -> None:
        """Make the lanes in which work waits."""
        self.answers = Lane(self.places)
        """Answers people wait for: follow and the other verbs."""
        self.searches = Lane(self.places)
        """Solving, which goes on for as long as it is given."""
        self.looks = Lane(self.places)
        """What is needed to look at things: clips for the stage, figures, matrices, previews."""
        self.pictures = Lane(self.places, nice=5)
        """Thumbnails: many at once, and nobody waits for them."""
        self.files = Lane(self.places, nice=5)
        """Files in and out."""
        self.builds = Lane(self.places, nice=10)
        """The graph. Builds use all processors, and give way to whatever is played meanwhile."""
        for old in sorted(self.places.exports.iterdir(), key=lambda path: path.stat().st_mtime)[:-EXPORTS_KEPT]:
            shutil.rmtree(old, ignore_errors=True)
        self.answers.submit("warm", self.project.graph_file)
        self._get_ready(self.project.view.verb)
        await self.save()

    async def close(self) -> None:
        """End the workers and write what is not written."""
        lanes = (self.answers, self.searches, self.looks, self.pictures, self.files, self.builds)
        await asyncio.gather(*(lane.close() for lane in lanes))
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
            protocol=m.PROTOCOL,
            package=__version__,
            folder=str(self.places.given_graph or self.places.folder),
            version=project.version,
            document=project.document,
            view=project.view,
            undo=project.undo_label,
            redo=project.redo_label,
            recordings=list(project.recordings.values()),
            clips=await self.clip_motions(),
            graph=project.graph,
            results=project.result_list(),
            jobs=self.jobs.list(),
            formats=writable_suffixes(),
            readable=[*suffixes(readable=True), ".asf", ".tsv"],
            presets=list(PRESETS),
            verbs=list(VERBS),
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
        async with self._preparing:
            missing = {clip_key(entry): entry for entry in entries if clip_key(entry) not in self._motions}
            if missing:
                self._motions |= await asyncio.to_thread(self._read_cache, list(missing))
                rest = [entry for key, entry in missing.items() if key not in self._motions]
                if rest:
                    self._motions |= await self.looks.submit("clips", rest).answer()
        return [self._named(entry) for entry in entries]

    def _read_cache(self, keys: Sequence[str]) -> dict[str, Motion]:
        found = {}
        for key in keys:
            try:
                if self.places.clip(key, ".f32").is_file():
                    found[key] = Motion.model_validate_json(self.places.clip(key, ".json").read_bytes())
            except (OSError, ValueError):
                continue
        return found

    def _named(self, entry: ClipEntry) -> Motion:
        motion = self._motions[clip_key(entry)]
        sources = [run.model_copy(update={"clip": entry.name}) for run in motion.sources]
        return motion.model_copy(update={"id": f"clip:{entry.id}", "name": entry.name, "sources": sources})

    def entry(self, clip: str) -> ClipEntry:
        """A clip of the document."""
        for entry in self.project.document.clips:
            if entry.id == clip:
                return entry
        raise NotThere(f"there is no clip {clip!r} in the library")

    def result(self, result: str) -> Result:
        """A result, or a preview that is still there."""
        found = self.project.results.get(result) or self._previews.get(result)
        if found is None:
            raise NotThere(f"there is no result {result!r}; it may have made room for newer ones")
        return found.model_copy(update={"kept": result in self.project.document.kept})

    async def motion(self, kind: str, name: str, person: int = 0) -> tuple[Motion, Path]:
        """A motion of a clip or a result, and the file that has its frames."""
        if kind == "clip":
            entry = self.entry(name)
            if person == 0:
                await self.clip_motions()
                return self._named(entry), self.places.clip(clip_key(entry), ".f32")
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

    async def change(self, label: str, document: Document, base: int | None = None) -> m.DocumentState:
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
        state = await self._state(before)
        self.pages.say(m.DocumentChanged(state=state))
        return state

    async def set_view(self, view: View) -> None:
        """Keep what is shown."""
        self.project.view = view
        self._get_ready(view.verb)
        await self.save()

    async def keep_result(self, result: str, kept: bool) -> Result:
        """Mark a result to be kept, or let it go; a change of the document like any other."""
        name = self.result(result).name
        others = [other for other in self.project.document.kept if other != result]
        document = self.project.document.model_copy(update={"kept": [*others, result] if kept else others})
        await self.change(f"Keep {name}" if kept else f"Let {name} go", document)
        self._tell_results()
        return self.result(result)

    async def remove_result(self, result: str) -> None:
        """Delete a result."""
        self.result(result)
        self._previews.pop(result, None)
        await asyncio.to_thread(self.project.forget_result, result)
        self._tell_results()

    def _tell_results(self, but: Page | None = None) -> None:
        self.pages.say(m.ResultsChanged(results=self.project.result_list()), but=but)

    # ------------------------------------------------------------------ the graph

    def build(self, asked: GraphAsk | None = None) -> Job:
        """Build the graph of the document's clips; a build that is under way makes room for it."""
        for job in self.jobs.list():
            if job.kind in ("build", "joins") and job.state in ("waiting", "running"):
                self.jobs.cancel(job.id)
        document = self.project.document
        settings = asked or document.graph
        entries, others = of_most_bodies(document.clips, self.project.recordings)
        notes = []
        if others:
            names = ", ".join(other.name for other in others)
            notes.append(f"left out, since their joints are others than those of {entries[0].name!r}: {names}")
        ask = {"entries": entries, "settings": settings, "key": graph_key(document.clips, settings), "notes": notes}

        async def finish(answer: Any) -> list[str]:
            await self.use_graph(*answer)
            self.find_joins()
            return []

        return self.jobs.start("build", f"Build from {count(len(entries), 'clip')}", self.builds, "build", ask, finish)

    def find_joins(self) -> Job:
        """Look what a higher threshold would bring in."""
        graph = self.need_graph()
        ask = {"graph": self.project.graph_file, "key": graph.built_from, "notes": graph.notes}

        async def finish(answer: Any) -> list[str]:
            await self.use_graph(*answer, warm=False)
            return []

        return self.jobs.start("joins", "Look beyond the threshold", self.builds, "joins", ask, finish)

    async def use_graph(self, file: str, summary: GraphSummary, curve: Curve, *, warm: bool = True) -> None:
        """Take over a graph that was built or looked into."""
        await asyncio.to_thread(self.project.set_graph, file, summary, curve)
        self._matrices.clear()
        self._cut = None
        graph = self.project.graph
        assert graph is not None
        self.pages.say(m.GraphChanged(graph=graph))
        if warm:
            self.answers.submit("warm", file)

    def need_graph(self) -> GraphSummary:
        """The graph; a RequestError where there is none."""
        graph = self.project.graph
        if graph is None:
            raise RequestError("there is no motion graph yet; build one first (panel Graph)")
        return graph

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

    async def preview(self, asked: m.PreviewAsk) -> Result:
        """The motion of a transition."""
        self.need_graph()
        made: Result = await self.looks.submit("preview", {"graph": self.project.graph_file, "ask": asked}).answer()
        self._previews[made.id] = made
        while len(self._previews) > PREVIEWS_KEPT:
            oldest = next(iter(self._previews))
            del self._previews[oldest]
            await asyncio.to_thread(self.project.forget_result, oldest)
        return made

    # ------------------------------------------------------------------ verbs

    def ask(self, verb: str, asked: Any, page: Page | None = None, number: int = 0) -> Job:
        """Ask for motion. A page hears parts of the answer as they are found; a newer request replaces its older one.

        Raises:
            RequestError: If there is no such verb.
            pydantic.ValidationError: If what is asked is not of the verb's type.
        """
        if verb not in VERBS:
            raise RequestError(f"the studio cannot {verb} yet; it can {', '.join(VERBS)}")
        valid = TypeAdapter(VERBS[verb]).validate_python(asked)
        if page is not None and verb in page.asks:
            self.jobs.cancel(page.asks.pop(verb))
        if page is not None and verb == "perform" and page.performing is not None:
            page.performing.stop()
        ask = {"graph": self.project.graph_file, "ask": valid, "arrived": time.time(), "library": self._library()}
        early: list[Result] = []
        # What older requests found that were stopped by this one goes with what this one betters.
        told = set() if page is None else page.found.setdefault(verb, set())
        if verb == "solve":  # asked once more, a search goes on and betters what it had found
            same = valid.model_dump(mode="json")
            told |= {known.id for known in self.project.results.values() if known.request == same}

        def found(what: Any, frames: bytes) -> None:
            if isinstance(what, Result | list):  # one more, or all there are so far
                early[:] = what if isinstance(what, list) else [*early, what]
                self.project.results.update({made.id: made for made in early})
                told.update(made.id for made in early)
                if page is not None:
                    page.say(m.Answer(number=number, verb=verb, final=False, results=list(early)))
            elif page is not None:
                motion, start = what
                partial = m.Partial(number=number, verb=verb, motion=motion, start=start, count=motion.frames - start)
                page.say(partial, frames)

        async def finish(results: list[Result]) -> list[str]:
            self.project.results.update({made.id: made for made in results})
            if page is not None and page.asks.get(verb) != job.id:  # replaced while it came to its end
                told.update(made.id for made in results)
                return []
            if page is not None:
                page.say(m.Answer(number=number, verb=verb, results=results))
            beaten = told - {made.id for made in results} - set(self.project.document.kept)
            told.clear()
            for result in beaten:
                await asyncio.to_thread(self.project.forget_result, result)
            await self._make_room()
            self._tell_results()
            return [made.id for made in results]

        def failed(why: str) -> None:
            if page is not None:
                page.say(m.Refused(number=number, verb=verb, failure=m.Failure(error=why)))

        self._get_ready(verb)
        title = verb.capitalize()
        lane = self.searches if verb == "solve" else self.answers
        job = self.jobs.start(verb, title, lane, verb, ask, finish, found=found, failed=failed, quiet=page is not None)
        if page is not None:
            page.asks[verb] = job.id
        return job

    def _library(self) -> tuple[list[ClipEntry], dict[str, tuple[str, float, int, list[str]]]]:
        """The clips, and skeleton, rate, length and labels of their recordings: what tasks choose examples from."""
        recordings = self.project.recordings.values()
        bodies = {r.id: (r.skeleton, r.fps, r.frames, [label.text for label in r.labels]) for r in recordings}
        return list(self.project.document.clips), bodies

    async def examples(self, asked: PerformAsk) -> m.Examples:
        """What performances as asked are made of; whoever looks at that is about to perform."""
        ask = {"ask": asked, "library": self._library()}
        found: m.Examples = await self.answers.submit("examples", ask).answer()
        if asked.lead == "path":
            self.answers.submit("warm_perform", ask)
        return found

    def moved(self, page: Page, message: m.Moved) -> None:
        """Take places of a way that a page is performing."""
        if message.begin is not None:
            if page.performing is not None:
                page.performing.stop()
            page.performing = Performing(page, self.answers, message.number, message.begin, self._library())
        if page.performing is not None and page.performing.number == message.number:
            page.performing.push(message.samples)

    def _get_ready(self, verb: str) -> None:
        """Find the graph's cuts, once: whoever looks at Solve is about to need them, and no request may stop that."""
        graph = self.project.graph
        if verb != "solve" or graph is None or self._cut == graph.built_from:
            return
        self._cut = graph.built_from

        async def finish(_: Any) -> list[str]:
            return []

        title, file = "Find where clips can be cut", self.project.graph_file
        self.jobs.start("cuts", title, self.searches, "cuts", file, finish, quiet=True)

    async def _make_room(self) -> None:
        """Let the oldest results go that nobody marked."""
        shown = {name.partition(":")[2].partition("/")[0] for name in self.project.view.shown}
        stay = shown | set(self.project.document.kept)
        passing = sorted(result for result in self.project.results if result not in stay)
        for result in passing[: max(0, len(passing) - RESULTS_KEPT)]:
            await asyncio.to_thread(self.project.forget_result, result)

    # ------------------------------------------------------------------ files out

    async def export_facts(self, asked: m.ExportAsk) -> dict[str, Any]:
        """What the file is made of: `which` (a ClipEntry, or a result's id), `people`, `name` and `path`.

        Raises:
            RequestError: If files of that type are not written.
            NotThere: If there is no such motion.
        """
        known = {s for known in FORMATS if known.writer for s in known.suffixes} | set(DRAWINGS)
        if asked.suffix not in known:
            raise RequestError(f"motions are written as {', '.join(sorted(known))}, not {asked.suffix}")
        motion, _ = await self.motion_named(asked.motion)
        kind, _, name = asked.motion.partition(":")
        name = name.partition("/")[0]
        if kind == "clip":
            return {"which": self.entry(name), "people": 1, "name": motion.name, "path": []}
        made = self.result(name)
        return {
            "which": name,
            "people": len(made.motions),
            "name": f"{made.verb} {made.name}",
            "path": made.path,
        }

    async def export(self, asked: m.ExportAsk) -> Job:
        """Make a file of a motion. Raises as `export_facts` does."""
        facts = await self.export_facts(asked)
        job = new_job_id()
        ask = {**facts, "suffix": asked.suffix, "folder": self.places.exports / job}

        async def finish(files: list[str]) -> list[str]:
            return files

        title = f"Export {facts['name']}{asked.suffix}"
        return self.jobs.start("export", title, self.files, "export", ask, finish, job_id=job)

    async def figure(self, skeleton: str) -> Path:
        """The file of a skeleton's figure, made when it is first asked for."""
        path = self.places.figure(skeleton)
        if not path.is_file():
            await self.looks.submit("figure", (skeleton, *self._somebody(skeleton))).answer()
        return path

    def _somebody(self, skeleton: str) -> tuple[str, str]:
        """A motion of a skeleton."""
        for recording in self.project.recordings.values():
            if recording.skeleton == skeleton:
                return "clip", recording.id
        for result in (*self.project.results.values(), *self._previews.values()):
            if result.motions and result.motions[0].skeleton == skeleton:
                return "result", result.id
        raise NotThere(f"nobody in this project has the skeleton {skeleton!r}")

    async def thumbnail(self, kind: str, name: str, theme: str) -> Path:
        """The file of a motion's small picture, made when it is first asked for."""
        which = self.entry(name) if kind == "clip" else self.result(name).id
        suffix = f".{theme}.png"
        path = (
            self.places.clip(clip_key(which), suffix)
            if isinstance(which, ClipEntry)
            else self.places.result(which, suffix)
        )
        if not path.is_file():
            await self.pictures.submit("thumbnail", (which, path, theme)).answer()
        return path

    async def shape(self, text: str) -> list[Point]:
        """Points of a named path."""
        points: list[Point] = await self.looks.submit("shape", text).answer()
        return points


def count(number: int, what: str) -> str:
    """A number of things: "1 clip", "3 clips"."""
    return f"{number} {what}{'' if number == 1 else 's'}"
