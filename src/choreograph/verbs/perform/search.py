"""Performing as a search: one step that finds the segments a control calls for, and the motion that they are."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from choreograph.base.errors import RequestError
from choreograph.base.progress import Progress, silent
from choreograph.contract.clip_filter import ChosenRequest
from choreograph.contract.problem import Problem, ProblemKind
from choreograph.contract.request import quote
from choreograph.contract.result import Answer, Metric, Motion, Result
from choreograph.contract.search import Budget
from choreograph.contract.verb import CLIP, EXAMPLES, File
from choreograph.formats import read_clip
from choreograph.motion.clip import Clip
from choreograph.verbs.clip_selection import ChoosingSearch
from choreograph.verbs.perform import problems
from choreograph.verbs.perform.control import Control, control_from_clip, control_from_trajectory, find_own
from choreograph.verbs.perform.examples import Example, SegmentDatabase
from choreograph.verbs.perform.idle_segments import with_stand
from choreograph.verbs.perform.measure import TrajectoryErrors, find_metrics, measure_trajectory, source_pieces
from choreograph.verbs.perform.performance import Performance, finish_sequence, perform_live
from choreograph.verbs.perform.request import CutRequest, PerformRequest
from choreograph.verbs.perform.sequence import SegmentSequence, find_segments
from choreograph.verbs.perform.settings import match_settings
from choreograph.verbs.perform.sources import Examples, find_clip, find_database
from choreograph.verbs.perform.trajectory import Trajectory

_WAY_POINTS = 2000
"""Places of the way that an answer keeps at most, for drawing it."""


class ControlInput(NamedTuple):
    """What leads, and what follows from it."""

    control: Control
    database: SegmentDatabase
    """The segments that may answer it."""
    way: Trajectory | None = None
    """As it was performed, smoothed; None where a body leads."""
    performed: Trajectory | None = None
    """The same before it was smoothed: what is asked for."""
    where: str = "leader"
    """Its place in the request."""
    partner: Clip | None = None
    """The clip that was recorded with the leader."""
    left_out: str = ""
    """The example that is the leader's own and therefore no help."""
    problems: tuple[Problem, ...] = ()


class PerformSearch(ChoosingSearch):
    """A performance answered by recorded segments, all in one step."""

    def __init__(
        self,
        examples: Examples,
        request: PerformRequest,
        *,
        leader: Clip | None = None,
        database: SegmentDatabase | None = None,
    ) -> None:
        """Prepare a search.

        Args:
            examples: What answers: a graph, segments, recordings or pairs of them.
            request: What leads and how it is answered.
            leader: The body that leads, where it is at hand and no file.
            database: The segments that `find_database` gives, if they are at hand.
        """
        super().__init__(request)
        self.request: PerformRequest = request
        self.examples, self.leader = self.choose(examples, request), leader
        self._database = database
        self._answer: Answer | None = None
        self._sequence: SegmentSequence | None = None
        self._lead: ControlInput | None = None
        self.seconds = 0.0
        if leader is not None and (request.leader or request.trajectory or request.samples):
            raise RequestError("a leader is given beside what the request says leads; one of them can lead")

    @property
    def done(self) -> bool:
        """Whether the performance is answered."""
        return self._answer is not None

    @property
    def sequence(self) -> SegmentSequence:
        """Which segments are played when and where.

        Raises:
            RequestError: If they were not found yet.
        """
        if self._sequence is None:
            raise RequestError("nothing was performed yet; take a step")
        return self._sequence

    def step(self, budget: Budget = Budget(), progress: Progress = silent) -> bool:
        """Answer the performance; there is never more to do."""
        if not self.done:
            began = time.monotonic()
            try:
                self._perform(progress)
            finally:
                self.seconds += time.monotonic() - began
        return False

    def best(self) -> Result:
        """The answer, once it is found."""
        if self._answer is None or self._lead is None:
            raise RequestError("nothing was performed yet; take a step")
        lead = self._lead
        provenance = {"left_out": lead.left_out} if lead.left_out else {}
        general = (*self.left_out, *lead.problems, *_poverty(lead.database, len(self.database().names)))
        return Result(
            "perform", self.request, (self._answer,), notes=general, seconds=self.seconds,
            provenance=provenance,
        )  # fmt: skip

    def change(self, request: Any) -> None:
        """Answer another request; the segments stay if the same examples are cut in the same way."""
        examples = self.choose(self.whole, request)
        if _cutting(request) != _cutting(self.request) or examples is not self.examples:
            self._database = None
        self.examples = examples
        self.request, self._answer, self._sequence = request, None, None

    def choose(self, subject: Any, request: ChosenRequest) -> Any:
        """What of a subject the request is answered from; pairs and segments are chosen with their database."""
        paired = isinstance(subject, SegmentDatabase) or (
            isinstance(subject, Sequence) and any(isinstance(one, Example) for one in subject)
        )
        if not paired or not isinstance(request, PerformRequest):
            return super().choose(subject, request)
        self.whole, self.left_out = subject, ()
        return subject

    def database(self, progress: Progress = silent) -> SegmentDatabase:
        """The segments of all examples that the request means."""
        if self._database is None:
            by_body = bool(self.request.leader) or self.leader is not None
            self._database = find_database(self.examples, self.request, led_by_body=by_body, progress=progress)
        return self._database

    def _perform(self, progress: Progress) -> None:
        request = self.request
        if self.leader is None and not (request.leader or request.trajectory or request.samples):
            raise RequestError(
                "nothing leads yet: give either a body (leader, a motion file or a clip) or a way over the floor "
                "(trajectory, a .csv file of t, x, z; samples, what was drawn)",
                where="leader",
            )
        way = request.way() if request.trajectory or request.samples else None
        database = self.database(progress)
        lead = self._way(way, database) if way is not None else self._body(database)
        settings = match_settings(lead.database, request.with_quality().advanced, request.segment_goals)
        whole = find_segments(lead.database, lead.control, settings, progress=progress)
        if request.lag_s is None:
            performance = finish_sequence(whole, request.finish, progress=progress)
        else:
            performance = perform_live(whole, request, progress=progress)
        self._lead, self._sequence = lead, performance.sequence
        self._answer = self._measure(lead, whole, performance)

    def _way(self, raw: Trajectory, database: SegmentDatabase) -> ControlInput:
        where = "trajectory" if self.request.trajectory else "samples"
        way, database = raw.smoothed(self.request.smooth_s), with_stand(database)
        repaired = (
            (way.bridged_s, "{:.2f} s of missing samples are straight lines now"),
            (way.left_out_s, "{:.2f} s without samples at the ends are left out"),
        )
        repairs = [
            Problem.of(ProblemKind.INPUT_REPAIRED, where, what=what.format(got), got=got, unit="s")
            for got, what in repaired
            if got
        ]
        return ControlInput(
            control_from_trajectory(way, database, where), database, way, raw, where, problems=tuple(repairs)
        )

    def _body(self, database: SegmentDatabase) -> ControlInput:
        clip = self.leader or self._read_leader()
        control = control_from_clip(clip, database)
        own = find_own(database, control)
        if own is None:
            return ControlInput(control, database)
        example = database.examples[own]
        partner = example.target if example.leader is not None else None
        if not self.request.leave_out_own:
            return ControlInput(control, database, partner=partner)
        rest = database.without(own)
        if not len(rest):
            what = f"The only example is {clip.name!r} itself, so its own recording answers"
            note = Problem.of(ProblemKind.EXAMPLES_WEAK, "leave_out_own", what=what)
            return ControlInput(control, database, partner=partner, problems=(note,))
        return ControlInput(control, rest, partner=partner, left_out=database.names[own])

    def _read_leader(self) -> Clip:
        name = self.request.leader
        known = find_clip(self.examples, name)
        if known is not None:
            return known
        path = Path(name)
        if not path.suffix:
            text = f"leader is {quote(name)}, which is neither a clip of the examples nor a motion file"
            raise RequestError(text, where="leader")
        return read_clip(path).with_name(path.stem)

    def _measure(self, lead: ControlInput, whole: SegmentSequence, performance: Performance) -> Answer:
        """The answer with all that is to be said of it."""
        sequence, clip, request = performance.sequence, performance.clip, self.request
        way = lead.performed if lead.performed is not None else lead.way
        errors = None if way is None else measure_trajectory(clip, way)
        metrics = find_metrics(sequence, clip, errors, lead.partner)
        if request.lag_s is not None and whole.coarse_cost > 0:
            cost = sequence.coarse_cost / whole.coarse_cost
            metrics["lag_cost"] = Metric(cost, "×", "costs, against having all at hand,")
        people = [Motion(clip, source_pieces(sequence, clip), performance.raw)]
        name = f"{sequence.control.seconds:.1f} s, performed"
        if sequence.control.leader is not None:
            people.append(Motion(sequence.control.leader, leads=True))
            name = f"follows {sequence.control.name}"
        return Answer(
            tuple(people),
            name,
            metrics,
            tuple(self._problems(lead, performance, errors)),
            cost=sequence.coarse_cost,
            bound=whole.coarse_cost if request.advanced.beam_m2_s is None else None,
            path=[] if lead.way is None else _thinned(lead.way),
            details=Details(sequence, performance.holds()),
        )

    def _problems(
        self, lead: ControlInput, performance: Performance, errors: TrajectoryErrors | None
    ) -> Iterator[Problem]:
        clip, sequence = performance.clip, performance.sequence
        if lead.way is not None and errors is not None:
            yield from problems.speed_problems(lead.way, lead.where, lead.database, clip)
            yield from problems.way_problems(errors, lead.where, clip)
        else:
            yield from problems.leader_problems(lead.control, lead.database, clip)
        yield from problems.segment_problems(self.request.segment_goals, sequence, clip)
        if performance.held is not None and performance.wanted is not None:
            yield from problems.hand_problems(performance.wanted, np.asarray(performance.held.any(axis=2)), clip)


class Details(Mapping[str, Any]):
    """What only performing knows: pieces, holds, fit. Rows say how sure they are, so they are found when first read."""

    def __init__(self, sequence: SegmentSequence, holds: list[dict[str, int]]) -> None:
        database = sequence.database
        self._sequence = sequence
        self._values: dict[str, Any] = {
            "pieces": None,
            "holds": holds,
            "fit": {
                "control": sequence.control.name,
                "control_roles": list(database.control_roles),
                "segments": len(database),
                "cost_m2_s": sequence.cost,
                "coarse_cost_m2_s": sequence.coarse_cost,
                "search_cpu_s": sequence.seconds,
            },
        }

    def __getitem__(self, name: str) -> Any:
        """One of them."""
        if name == "pieces" and self._values[name] is None:
            self._values[name] = self._sequence.rows()
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        """Their names."""
        return iter(self._values)

    def __len__(self) -> int:
        """How many there are."""
        return len(self._values)

    def __reduce__(self) -> Any:
        """Another process gets the values."""
        return dict, (dict(self),)


def perform(
    examples: Examples | File,
    request: PerformRequest | Clip | Trajectory | File,
    *,
    leader: Clip | File | None = None,
    progress: Progress | None = None,
) -> Result:
    """Motion that answers a control as recorded examples did.

    >>> import choreograph as cg
    >>> from choreograph.demo import demo_clip
    >>> walks = [demo_clip(name, 30.0) for name in ("walk", "walk_veer_left", "walk_veer_right")]
    >>> way = [(t / 10, 0.0, 0.11 * t) for t in range(40)]
    >>> cg.perform(walks, cg.PerformRequest(samples=way)).clip  # doctest: +ELLIPSIS
    Clip(...)

    Args:
        examples: What answers: a motion graph, segments, recordings that answer the track of their own hips, or pairs;
            the name of a .mog file or a folder does too.
        request: What leads and how it is answered; a body, the name of its file, or a way alone do too.
        leader: The body that leads, or its file's name, where the request does not name it.
        progress: Hears how far the search has come.

    Raises:
        RequestError: If nothing leads, there are no examples, or the control cannot be answered.
    """
    if isinstance(request, Clip):
        leader, request = request, PerformRequest()
    elif isinstance(request, File):
        request = PerformRequest(leader=str(request))
    elif isinstance(request, Trajectory):
        request = PerformRequest.of_trajectory(request)
    return PerformSearch(EXAMPLES.read(examples), request, leader=CLIP.read(leader)).run(progress)


def _cutting(request: PerformRequest) -> tuple[Any, ...]:
    """All of a request that segments depend on."""
    values = [getattr(request, name) for name in CutRequest.model_fields if name != "advanced"]
    return (*values, request.advanced.alike_m, bool(request.leader))


def _poverty(database: SegmentDatabase, recordings: int) -> Iterator[Problem]:
    if (database.example < recordings).sum() == 1:  # poses that are held do not count
        what = "The examples have one segment only; it makes up the whole motion"
        yield Problem.of(ProblemKind.EXAMPLES_WEAK, "only", what=what)


def _thinned(way: Trajectory) -> list[tuple[float, float]]:
    every = max(1, len(way.places) // _WAY_POINTS)
    return [(round(float(x), 3), round(float(z), 3)) for x, z in way.places[::every]]
