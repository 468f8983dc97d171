"""Answering a request of any verb: searched a while at a time, shown as it grows or gets better, kept at the end."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from choreograph.base.errors import Cancelled, RequestError
from choreograph.contract import result as contract
from choreograph.contract.clip_filter import ChosenRequest
from choreograph.contract.document import as_yaml
from choreograph.contract.migrate import marked
from choreograph.contract.problem import Problem
from choreograph.contract.request import Request
from choreograph.contract.search import Budget, Search
from choreograph.motion.clip import Clip
from choreograph.motion.packed import pack_frames
from choreograph.studio.command import Recipe
from choreograph.studio.context import WorkerContext, write_bytes
from choreograph.studio.document import ClipEntry
from choreograph.studio.facts import Result
from choreograph.studio.field_labels import in_labels
from choreograph.studio.motions import describe_motion
from choreograph.studio.requests import read_draft
from choreograph.studio.subjects import OwnMotion, VerbAsk, motion_file
from choreograph.studio.tasks.results import (
    keep_result,
    metrics_of,
    new_id,
    now,
    problems_of,
    source_runs,
    write_facts,
)
from choreograph.studio.worker import TaskChannel
from choreograph.verbs import find_verb
from choreograph.verbs.clip_selection import narrow

FIRST_S, SHOW_EVERY_S = 0.1, 0.3
"""Seconds of search after which what there is is shown, and then again and again."""
GLIMPSE_EVERY_S = 0.1
"""Seconds between motions that a search passes through."""
WENT_ON = "found by a search that went on from an earlier request: a search of its own finds others"
STOPPED = "found by a search that was stopped: one that goes on may find another"


def answer(context: WorkerContext, ask: VerbAsk, channel: TaskChannel) -> list[Result]:
    """The answers to a request, the best first; all of them again whenever there are more or better ones."""
    verb = find_verb(ask.verb)
    request = read_draft(verb, ask.draft, context.places.folder, lambda name: motion_file(context, ask.motions[name]))
    key, subject = ask.subject.load(context)
    search = context.search(verb, key, subject, request)
    answers = _Shown(context, ask, request, subject, WENT_ON if search.carried else "")
    span = FIRST_S
    search.watch = lambda make: answers.glimpse(make, channel)
    try:
        while search.step(Budget(seconds=span), channel.progress):
            began = time.monotonic()
            answers.show(search, channel, first=span == FIRST_S)
            # Showing must not cost more than a fourth of the time, however long the motion has become.
            span = max(SHOW_EVERY_S, 3 * (time.monotonic() - began))
        return answers.keep(search.best())
    except Cancelled:
        if channel.keeps:  # who stopped it wants what there is
            try:
                answers.note = answers.note or STOPPED
                return answers.keep(search.best())
            except RequestError:
                raise Cancelled from None
        if search.grows or not answers.results:
            raise
        return answers.results


def prepare(context: WorkerContext, ask: VerbAsk, channel: TaskChannel) -> None:
    """Make ready: compute what the verb keeps for its subject, load what searching needs, answer a small request."""
    verb = find_verb(ask.verb)
    try:
        _, whole = ask.subject.load(context)
        subject = whole
        if issubclass(verb.request, ChosenRequest):  # what most requests will be answered from
            subject = narrow(whole, verb.trial or verb.request()).subject  # type: ignore[arg-type]
        for preparation in verb.prepares:
            preparation.make(subject, channel.progress)
        if verb.trial is not None:
            search = verb.search(whole, verb.trial)
            search.run(channel.progress)
    except RequestError:  # there is no subject yet, or none that has motion in it: said when something is asked
        return


def _name_of(context: WorkerContext, motion: OwnMotion) -> str:
    return motion.name if isinstance(motion, ClipEntry) else context.result(*motion).name


class _Shown:
    """The answers that a page sees, each written once."""

    def __init__(self, context: WorkerContext, ask: VerbAsk, request: Request, subject: object, note: str) -> None:
        self._context, self._asked, self._request, self._subject = context, ask, request, subject
        self._verb = find_verb(ask.verb)
        self._began = time.monotonic() - max(0.0, time.time() - ask.arrived)
        self._made: dict[int, tuple[contract.Answer, Result]] = {}
        self._own = {str(motion_file(context, one)): _name_of(context, one) for one in ask.motions.values()}
        self._sent = b""
        self._glimpsed = 0.0
        self.note = note
        self.results: list[Result] = []

    def show(self, search: Search, channel: TaskChannel, *, first: bool) -> None:
        """Show what there is: whole answers as results, the beginning of one as frames."""
        try:
            result = search.first() if first else search.best()
        except RequestError:  # nothing yet
            return
        answers = result.answers
        if search.grows and answers and answers[-1].status == contract.SEARCHING:
            self._stream(answers[-1].motions[0], channel)
            answers = answers[:-1]
        before = self.results
        if answers and self.keep(result, answers) != before:
            channel.found(self.results)

    def glimpse(self, make: Callable[[], Clip], channel: TaskChannel) -> None:
        """Send a motion that the search passes through, not too often."""
        now = time.monotonic()
        if now - self._glimpsed >= GLIMPSE_EVERY_S:
            self._glimpsed, clip = now, make()
            channel.found((describe_motion(clip, "partial", []), 0), pack_frames(clip))

    def keep(self, answer_now: contract.Result, answers: tuple[contract.Answer, ...] | None = None) -> list[Result]:
        """The results of these answers, or of all, written if they are new or known better now."""
        results = []
        for number, one in enumerate(answer_now.answers if answers is None else answers, 1):
            problems = self._problems([*(answer_now.notes if number == 1 else ()), *one.problems])
            known = self._made.get(id(one.clip))
            if known is None:
                result = self._write(answer_now, one, number)
            else:
                result = known[1]
            facts = {"problems": problems, "metrics": metrics_of(one), "status": one.status, "answer": number}
            facts |= {"cost": one.cost, "proved": one.proved, "details": dict(one.details)}
            if answer_now.status != contract.SEARCHING:
                facts["search_s"] = answer_now.seconds
            if any(getattr(result, name) != value for name, value in facts.items()):
                result = write_facts(self._context, result.model_copy(update=facts))
            self._made[id(one.clip)] = (one, result)  # the answer too, so that nobody else gets its id
            results.append(result)
        self.results = results
        return results

    def _called(self, text: str) -> str:
        """A text with the names of the project's own motions, not those of the files that they are read from."""
        for file, name in self._own.items():
            text = text.replace(file, name)
        return text

    def _problems(self, problems: Sequence[Problem]) -> list[Problem]:
        return [
            replace(one, text=in_labels(self._called(one.text), self._verb.request)) for one in problems_of(problems)
        ]

    def _write(self, answer_now: contract.Result, one: contract.Answer, number: int) -> Result:
        context, result = self._context, new_id()
        request = self._request
        steps = one.details.get("evaluations")
        if isinstance(steps, int) and "work_limit" in type(request).model_fields and not self.note:
            request = request.with_(work_limit=steps)  # seconds are other ones elsewhere
        file = context.places.result(result, ".request.yaml")
        write_bytes(file, as_yaml(marked(request.as_document())).encode())
        where = self._asked.subject.file(context, result, self._subject, request)
        code = Recipe(self._verb, where, request, str(file), number, self.note).code()
        result_out = Result(
            id=result,
            verb=self._verb.name,
            name=self._called(one.name),
            created=now(),
            request=self._asked.draft,
            subject=self._asked.named,
            passing=self._asked.passing,
            answer=number,
            metrics=metrics_of(one),
            problems=self._problems(one.problems),
            status=one.status,
            cost=one.cost,
            proved=one.proved,
            details=dict(one.details),
            search_s=answer_now.seconds,
            total_s=time.monotonic() - self._began,
            motions=[],
            path=[(float(x), float(z)) for x, z in one.path],
            command=code.command,
            python=code.python,
        )
        if one.mechanics is not None:
            plain = json.dumps(one.mechanics.thinned().as_json(), separators=(",", ":"))
            write_bytes(context.places.result(result, ".mechanics.json"), plain.encode())
            result_out = result_out.model_copy(update={"mechanics": True})
        return keep_result(context, result_out, one.motions)

    def _stream(self, motion: contract.Motion, channel: TaskChannel) -> None:
        """Send the frames that are new or have changed."""
        frames = pack_frames(motion.clip)
        size = len(frames) // len(motion.clip)
        new, old = (np.frombuffer(data, np.uint8).reshape(-1, size) for data in (frames, self._sent))
        both = min(len(new), len(old))
        same = (new[:both] == old[:both]).all(axis=1)
        start = both if same.all() else int(same.argmin())
        channel.found((describe_motion(motion.clip, "partial", source_runs(motion)), start), frames[start * size :])
        self._sent = frames
