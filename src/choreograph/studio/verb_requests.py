"""Asking verbs for motion: a lane for each, answers as they come, newer requests in place of older ones."""

from __future__ import annotations

import asyncio
import filecmp
import time
from typing import TYPE_CHECKING, Any

from choreograph.base.errors import Cancelled, ChoreographError, RequestError
from choreograph.studio import messages as m
from choreograph.studio.document import Draft
from choreograph.studio.draft_asks import Examples
from choreograph.studio.drag_messages import Drag
from choreograph.studio.dragging import Dragged
from choreograph.studio.export_asks import OutputAsk
from choreograph.studio.facts import Job, Result
from choreograph.studio.jobs import Hooks, Work, new_job_id
from choreograph.studio.library import file_stem
from choreograph.studio.performing import Performing
from choreograph.studio.project import NotThere
from choreograph.studio.requests import check_drafts, outputs_of, own_motions
from choreograph.studio.subjects import CLIP, EXAMPLES, FACES, GRAPH, OwnMotion, VerbAsk, VerbSubject
from choreograph.studio.workers import Lane
from choreograph.verbs import find_verb, rooms

if TYPE_CHECKING:
    from choreograph.studio.pages import OpenPage
    from choreograph.studio.session import Session

RESULTS_KEPT = 40
"""Results that are there without being marked to be kept."""
MOTIONS_KEPT_S = 600.0
"""How long copies of motions stay that requests named and no result does, and how often that is looked at."""


class Asking:
    """What pages ask of verbs."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.lanes = {verb: Lane(session.places) for verb in rooms()}
        """A process for each verb that is asked for: it keeps what the next request needs."""
        self._cleaned = time.monotonic()
        self._prepared: dict[str, str] = {}
        """What each verb was made ready for."""

    # ------------------------------------------------------------------ subjects

    def _subject(self, verb: str, named: str | None) -> tuple[VerbSubject, str | None]:
        """What a verb works on, and what the page calls it."""
        project, kind = self._session.project, find_verb(verb).subject.name
        if kind == GRAPH.name:
            return VerbSubject(kind, graph=project.graph_file), None
        if kind == EXAMPLES.name:
            alike = project.document.clips
            if not alike and project.is_archive:  # nobody chose any: it is the archive that is learned from
                return VerbSubject(kind, graph=project.graph_file), None
            # In the order in which files of these names would be read.
            return VerbSubject(kind, clips=tuple(sorted(alike, key=lambda one: f"{file_stem(one.name)}.npz"))), None
        if kind == FACES.name:
            return VerbSubject(kind), None
        assert kind == CLIP.name
        named = named or project.document.subjects.get(verb)
        if named is None:
            return VerbSubject(kind), None
        return VerbSubject(kind, motion=self.motion_of(named)), named

    def motion_of(self, named: str) -> OwnMotion:
        """The clip or the person of a result that a page calls so."""
        sort, _, rest = named.partition(":")
        name, _, person = rest.partition("/")
        if sort == "clip":
            return self._session.entry(name)
        result = self._session.result(name)
        if not (person or "0").isdecimal() or int(person or 0) >= len(result.motions):
            raise NotThere(f"{result.name!r} has {len(result.motions)} people; there is no number {person}")
        return result.id, int(person or 0)

    def _motions(self, verb: str, draft: Draft) -> dict[str, OwnMotion]:
        """The clips and results that a request names."""
        motions = {}
        for where, name in own_motions(find_verb(verb), draft):
            try:
                motions[name] = self.motion_of(name)
            except NotThere as error:
                raise RequestError(f"{where} is {name!r}: {error}", where=where) from None
        return motions

    def prepare(self, verb: str) -> None:
        """Make a verb ready, once for what it works on: who looks at it is about to ask, and no request stops that."""
        if verb not in self.lanes:
            return
        subject, _ = self._subject(verb, None)
        graph = self._session.project.graph
        if subject.kind != GRAPH.name or graph is None or self._prepared.get(verb) == graph.built_from:
            return
        self._prepared[verb] = graph.built_from
        if verb == "steer":  # who steers live waits for the same
            self._session.steering.begin(self._session)
            return

        async def finish(_: Any) -> list[str]:
            return []

        ask = VerbAsk(verb, {}, subject)
        work = Work("prepare", f"Make {verb} ready", self.lanes[verb], "prepare", ask, quiet=True)
        self._session.jobs.start(work, finish)

    def prepare_first(self) -> None:
        """Make ready what is likely asked first: the verb that is looked at, and the first of all."""
        for verb in dict.fromkeys([self._session.project.view.verb, *list(self.lanes)[:1]]):
            self.prepare(verb)

    # ------------------------------------------------------------------ requests

    def ask(
        self,
        verb: str,
        draft: Draft,
        page: OpenPage | None = None,
        number: int = 0,
        subject: str | None = None,
        *,
        passing: bool = False,
    ) -> Job:
        """Ask for motion. A page hears parts of the answer as they are found; a newer request replaces its older one.

        The results of a `passing` request, while something is dragged, make room for those of the page's next one.

        Raises:
            RequestError: If there is no such verb, or the request is none of its kind.
        """
        if verb not in self.lanes:
            raise RequestError(f"the studio cannot {verb}; it can {', '.join(self.lanes)}", where="verb")
        check_drafts({verb: draft}, {})
        what, named = self._subject(verb, subject)
        motions = self._motions(verb, draft)
        if page is not None and verb in page.asks:
            self._session.jobs.cancel(page.asks.pop(verb))
        if page is not None and page.performing is not None:
            page.performing.stop()
        self.prepare(verb)
        answer = _Answer(self, verb, page, number, passing)
        if find_verb(verb).request.effort:  # asked once more, it betters what it had found
            results = self._session.project.results.values()
            same = (verb, draft, named)
            answer.told |= {known.id for known in results if (known.verb, known.request, known.subject) == same}
        ask = VerbAsk(verb, draft, what, named, motions, time.time(), passing)
        title = find_verb(verb).title
        work = Work(verb, title, self.lanes[verb], "answer", ask, quiet=page is not None)
        job = self._session.jobs.start(work, answer.finish, Hooks(found=answer.found, failed=answer.failed))
        answer.job = job.id
        if page is not None:
            page.asks[verb] = job.id
        return job

    def output(self, want: OutputAsk) -> Job:
        """Make a file of a result besides its motion: a table, a picture, a model.

        Raises:
            RequestError: If its verb has no such file.
            NotThere: If there is no such result.
        """
        result = self._session.result(want.result)
        verb = find_verb(result.verb)
        known = {one.name: one for one in outputs_of(verb)}
        if want.output not in known or want.suffix not in known[want.output].suffixes:
            had = ", ".join(f"{one.name} ({', '.join(one.suffixes)})" for one in known.values()) or "nothing"
            raise RequestError(f"of what {verb.name} finds {had} can be had, not {want.output} ({want.suffix})")
        what, named = self._subject(result.verb, result.subject)
        ask = VerbAsk(result.verb, result.request, what, named, self._motions(result.verb, result.request))
        job = new_job_id()
        folder = self._session.places.exports / job
        task = {"asked": ask, "answer": result.answer, "output": want.output, "folder": folder}
        task["file"] = f"{file_stem(result.motions[0].name)}-{want.output}{want.suffix}"

        async def finish(files: list[str]) -> list[str]:
            return files

        title = f"{verb.title}: {want.output}"
        work = Work("output", title, self.lanes[result.verb], "output", task, id=job)
        return self._session.jobs.start(work, finish)

    async def replace(self, old: set[str], results: list[Result]) -> None:
        """Let results go that these better, and the oldest ones that nobody marked."""
        session, project = self._session, self._session.project
        stay = {one.id for one in results} | set(project.document.kept)
        open_now = {name.partition(":")[2].partition("/")[0] for name in project.view.shown}
        passing = sorted(result for result in project.results if result not in open_now | stay | old)
        for result in sorted(old - stay):
            await asyncio.to_thread(project.fade_result, result)
        for result in passing[: max(0, len(passing) - RESULTS_KEPT)]:
            await asyncio.to_thread(project.forget_result, result)
        if time.monotonic() - self._cleaned > MOTIONS_KEPT_S:
            self._cleaned = time.monotonic()
            await asyncio.to_thread(project.clean_motions, MOTIONS_KEPT_S)
        session.tell_results()

    async def repeated(self, results: list[Result]) -> set[str]:
        """Earlier results that these are once more, asked for alike and the same frame for frame.

        Those that somebody named, or that another request or result is about, are not among them: they stay.
        """
        project = self._session.project
        about = [f"{known.subject} {known.request}" for known in project.results.values()]
        text = "\n".join([project.document.model_dump_json(), *about])
        stays = {*project.document.names, *project.document.removed}
        earlier = [
            known
            for known in project.results.values()
            if not known.passing and known.id not in stays and f"result:{known.id}" not in text
        ]
        same = [await asyncio.to_thread(self._same, one, earlier) for one in results if not one.passing]
        return {known.id for known in same if known is not None}

    def _same(self, own: Result, earlier: list[Result]) -> Result | None:
        """The earlier one that was asked for alike and is the same motion, frame for frame."""
        for known in earlier:
            if known.id != own.id and _facts(known) == _facts(own) and len(known.motions) == len(own.motions):
                places = self._session.places
                pairs = [[places.result(one.id, ".f32", k) for one in (known, own)] for k in range(len(own.motions))]
                if all(a.is_file() and b.is_file() and filecmp.cmp(a, b, shallow=False) for a, b in pairs):
                    return known
        return None

    def keep(self, results: list[Result]) -> None:
        """Take results into the project."""
        self._session.project.results.update({one.id: one for one in results})

    # ------------------------------------------------------------------ dragging and performing

    def dragged(self, page: OpenPage, message: Drag) -> None:
        """Take what a page would ask for if what it drags were let go."""
        check_drafts({"complete": message.ask}, {})
        ask = VerbAsk(
            "complete", message.ask, self._subject("complete", None)[0], motions=self._motions("complete", message.ask)
        )
        if page.dragging is None or page.dragging.number != message.number:
            page.dragging = Dragged(page, self.lanes["complete"], message.number)
        page.dragging.move(ask, message.pull)

    async def examples(self, draft: Draft) -> Examples:
        """What performances as asked are made of; whoever looks at that is about to perform."""
        check_drafts({"perform": draft}, {})
        ask = VerbAsk("perform", draft, self._subject("perform", None)[0])
        future: asyncio.Future[Examples] = asyncio.get_running_loop().create_future()

        async def finish(examples: Examples) -> list[str]:
            future.set_result(examples)
            return []

        def end() -> None:
            if not future.done():
                future.set_exception(Cancelled("what performances are made of was not looked at to the end"))

        work = Work("prepare", "Make perform ready", self.lanes["perform"], "examples", ask, quiet=True)
        self._session.jobs.start(work, finish, Hooks(failed=future.set_exception, after=end))
        examples = await future
        self.lanes["perform"].submit("warm_perform", ask)
        return examples

    def moved(self, page: OpenPage, message: m.Moved) -> None:
        """Take places of a way that a page is performing."""
        if message.begin is not None:
            if page.performing is not None:
                page.performing.stop()
            check_drafts({"perform": message.begin}, {})
            ask = VerbAsk("perform", message.begin, self._subject("perform", None)[0])
            page.performing = Performing(page, self.lanes["perform"], message.number, ask, message.lag_s)
        if page.performing is not None and page.performing.number == message.number:
            page.performing.push(message.samples)


def _facts(result: Result) -> tuple[Any, ...]:
    """All that a card says of a result."""
    return (
        *(result.verb, result.request, result.subject, result.answer),
        *(result.name, result.status, result.metrics, result.problems),
    )


class _Answer:
    """What becomes of one request."""

    def __init__(self, asking: Asking, verb: str, page: OpenPage | None, number: int, passing: bool) -> None:
        self._asking, self._verb, self._page, self._number, self._passing = asking, verb, page, number, passing
        self.job = ""
        # What older requests found that were stopped by this one goes with what this one betters.
        self.told: set[str] = set() if page is None else page.found.setdefault(verb, set())

    def found(self, what: Any, frames: bytes) -> None:
        """All results there are so far, or frames of one that grows."""
        if isinstance(what, list):
            self._asking.keep(what)
            self.told.update(one.id for one in what)
            self._say(what, final=False)
        elif self._page is not None:
            motion, start = what
            count = motion.frames - start
            partial = m.Partial(number=self._number, verb=self._verb, motion=motion, start=start, count=count)
            self._page.say(partial, frames)

    async def finish(self, results: list[Result]) -> list[str]:
        """The last word."""
        self._asking.keep(results)
        if self._page is not None and self._page.asks.get(self._verb) != self.job:  # replaced while it came to its end
            self.told.update(one.id for one in results)
            return []
        self._say(results, final=True)
        old = (self.told | await self._asking.repeated(results)) - {one.id for one in results}
        self.told.clear()
        if self._passing:
            self.told.update(one.id for one in results)
        await self._asking.replace(old, results)
        return [one.id for one in results]

    def failed(self, error: ChoreographError) -> None:
        """There is no answer."""
        if self._page is not None:
            failure = m.Failure(error=str(error), where=getattr(error, "where", None) or None)
            self._page.say(m.Refused(number=self._number, verb=self._verb, failure=failure))

    def _say(self, results: list[Result], *, final: bool) -> None:
        if self._page is not None:
            self._page.say(m.Answer(number=self._number, verb=self._verb, final=final, results=list(results)))
