"""Completing as a search of one step: the model, the most likely motion, finishing, and what is missed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any

from choreograph.base.errors import RequestError
from choreograph.base.progress import Progress, silent
from choreograph.contract.problem import Problem, ProblemKind, amount
from choreograph.contract.result import Answer, Metric, Motion, Result
from choreograph.contract.search import OneStepSearch, Search
from choreograph.contract.verb import EXAMPLES, File
from choreograph.distance.blas import one_thread_each
from choreograph.finishing.foot_contacts import plant_speed
from choreograph.goals.measure import Measured, find_problems, measure, pose_places, worst
from choreograph.goals.target import Target, find_targets
from choreograph.motion.clip import Clip
from choreograph.verbs.clip_selection import ChoosingSearch
from choreograph.verbs.complete.behaviour_switching import labelled_behaviours
from choreograph.verbs.complete.completion import Completion, finish_estimate, solve_targets
from choreograph.verbs.complete.conflicts import beyond_reach, find_conflicts, find_contradictions
from choreograph.verbs.complete.floor_limits import find_flight
from choreograph.verbs.complete.inbetween import Gap, find_gap
from choreograph.verbs.complete.interactive import Dragging, Pull
from choreograph.verbs.complete.model import MotionModel
from choreograph.verbs.complete.request import CompleteRequest
from choreograph.verbs.complete.solver import SolverSettings
from choreograph.verbs.complete.sources import Recordings, Source
from choreograph.verbs.complete.speed_limits import find_too_fast

_PATH_POINTS = 400  # of the way that is drawn on the floor
_SPLINED = ", by a spline from keyframe to keyframe: the recordings know less of them"
_UNLIKE = (
    "No recording leads through the poses: they differ from the training clips, and a spline fills the gaps. Add clips "
    "of this motion, or goals for hands and feet"
)
_KNOWS_LESS = (
    "The training clips predict the motion between poses less well than a spline does ({:.2f} × its error on held-out "
    "clips), so a spline fills {:.1f} s without steps. Add clips of this motion, or poses closer together"
)
_SPLINE_S = 0.5
"""Seconds that a spline may lead through: less than a step."""


@dataclass(frozen=True, eq=False)
class CompleteResult(Result):
    """A completed motion, with its model and the most likely motion before finishing."""

    completion: Completion | None = None


class CompleteSearch(ChoosingSearch, OneStepSearch[Completion]):
    """The most likely motion of one request."""

    def __init__(self, source: Source, request: CompleteRequest) -> None:
        """Prepare it.

        Args:
            source: A model, a graph, or recordings of one skeleton to learn from.
            request: What is asked.
        """
        super().__init__(request)
        self.request: CompleteRequest = request
        self._recordings = Recordings(self.choose(source, request), source)
        self._model: MotionModel | None = None
        self._learned_for: Any = None
        self._last: Completion | None = None
        self._gap: Gap | None = None
        self._settings = SolverSettings()

    def change(self, request: Any) -> None:
        """Ask for something else; a model that holds for both is not learned again."""
        source = self.choose(self.whole, request)
        if source is not self._recordings.source:
            self._recordings, self._model = Recordings(source, self.whole), None
        self._last = self._made or self._last
        super().change(request)

    def reuse(self, earlier: Search) -> None:
        """Take over the model that an earlier search has learned."""
        if isinstance(earlier, CompleteSearch) and earlier._recordings.source is self._recordings.source:
            self._model, self._learned_for = earlier._model, earlier._learned_for
            self._last = earlier._made or earlier._last

    def dragged(self, drag: Dragging | None, pull: Pull | None = None) -> tuple[Dragging, Clip]:
        """The motion for a request that changes from moment to moment, as while something is dragged.

        It begins with the motion that was completed last, and each change goes on from where the last one ended. The
        model stays the same meanwhile, also where it would be learned anew for other goals.

        Args:
            drag: What came of the change before; None at the beginning.
            pull: A joint of a key pose that is pulled: the pose follows.
        """
        with one_thread_each():
            return self._dragged(drag, pull)

    def _dragged(self, drag: Dragging | None, pull: Pull | None) -> tuple[Dragging, Clip]:
        model, targets, frames = self._prepare(silent, relearn=drag is None)
        if pull is not None:
            targets = pull.applied(model, targets)
        if drag is None or drag.model is not model or drag.frames != frames:
            drag = self._begin_drag(model, targets, frames)
        return drag, drag.ask(targets)

    def _begin_drag(self, model: MotionModel, targets: list[Target], frames: int) -> Dragging:
        last = self._made or self._last
        begin = behaviours = guide = None
        if last is not None and last.model is model and len(last.estimate.states) == frames:
            begin, behaviours = last.estimate.anew(), last.behaviours
            guide = last.guide
        if self.request.labels:
            behaviours = labelled_behaviours(model, self.request.labels, frames)
        clean = self.request.finish.clean
        return Dragging(
            model, targets, frames, begin=begin, settings=self._settings, behaviours=behaviours, feet=clean, guide=guide
        )

    def make(self, progress: Progress) -> Completion:
        """The most likely motion, finished."""
        with one_thread_each():
            return self._complete(progress)

    def _complete(self, progress: Progress) -> Completion:
        request = self.request
        request.check_asks()
        model, targets, frames = self._prepare(progress)
        if request.exact:
            find_contradictions(targets, model, frames)
        behaviours = labelled_behaviours(model, request.labels, frames) if request.labels else None
        solver, estimate = solve_targets(
            model,
            targets,
            frames,
            self._settings,
            behaviours=behaviours,
            exact=request.exact,
            feet=request.finish.clean,
            progress=progress,
        )
        likely, clip = finish_estimate(model, estimate, targets, request.finish, exact=request.exact, progress=progress)
        return Completion(model, targets, estimate, likely, clip, solver.behaviours, self._settings, solver.guide)

    def _prepare(self, progress: Progress, relearn: bool = True) -> tuple[MotionModel, list[Target], int]:
        request, recordings = self.request.with_quality(), self._recordings
        advanced = request.advanced
        self._gap = None if request.between is None else find_gap(request.between, recordings)
        wanted = (advanced.labelled, advanced.model, tuple(goal.label for goal in request.labels))
        key = (wanted, request.nearest, request if request.nearest else None)
        if self._model is None or (relearn and self._learned_for != key):
            known = () if self._gap is None or not recordings.clips else self._gap.on(recordings.body).claims()
            self._model, self._learned_for = recordings.model(request, progress, known=known), key
        model = self._model
        rate = model.encoding.rate_hz
        self._settings = SolverSettings(
            advanced.weights.dynamics,
            advanced.weights.goals,
            request.work_limit,
            spline_frames=round(advanced.knots_s * rate),
            guided=advanced.guided,
        )
        skeleton = model.encoding.skeleton
        targets = find_targets(request.goals, skeleton, recordings.find, rate)
        targets = [target for target in targets if target.kind != "label"]  # these choose the model's dynamics
        if self._gap is not None:
            self._gap = self._gap.on(skeleton)
            return model, [*self._gap.targets(model), *targets], self._gap.frames(rate)
        assert request.duration_s is not None
        frames = round(request.duration_s * rate) + 1
        if frames <= model.order:
            raise RequestError(
                f"duration_s is {request.duration_s:g}: {frames} frames at {rate:g} Hz; a model of order {model.order} "
                f"needs {model.order + 1}",
                where="duration_s",
            )
        return model, targets, frames

    def best(self) -> CompleteResult:
        """The completed motion."""
        own, request = self.made, self.request
        clip = own.clip if self._gap is None else self._gap.shown(own.clip, own.model.encoding.rate_hz)
        measured = measure(own.clip, own.targets)
        what = "one goal" if len(own.targets) == 1 else f"{len(own.targets)} goals"
        answer = Answer(
            (Motion(clip, (), own.likely),),
            f"{clip.seconds:.2f} s through {what}" + (_SPLINED if own.estimate.splined else ""),
            self._metrics(clip, measured),
            tuple(self._problems(measured)),
            cost=own.estimate.objective[-1],
            path=_way(clip),
            details={
                "objective": [round(value, 6) for value in own.estimate.objective],
                "model": describe_model(own.model),
                "led_by": "spline" if own.estimate.splined else "recordings" if own.guide is not None else "model",
                "behaviours": [own.model.dynamics[n].name for n in own.behaviours]
                if len(own.model.dynamics) > 1
                else [],
            },
        )
        return CompleteResult("complete", request, (answer,), notes=self.left_out, seconds=self.seconds, completion=own)

    def _metrics(self, clip: Clip, measured: Sequence[Measured]) -> dict[str, Metric]:
        own = self.made
        metrics = {"seconds": Metric(clip.seconds, "s", "lasts")}
        metres = [one.off for one in measured if one.unit == "m" and one.target.kind != "contact"]
        if metres:
            metrics["goal_worst"] = Metric(max(metres), "m", "off what was asked at most")
        if clip.skeleton.feet:
            metrics["foot_slide"] = Metric(plant_speed(clip), "m/s", "standing feet slide at")
        if math.isfinite(own.model.held_out):
            metrics["held_out"] = Metric(own.model.held_out, "×", "model's error relative to a spline's")
        steps = len(own.estimate.objective) - 1
        metrics["iterations"] = Metric(float(steps), "iteration" if steps == 1 else "iterations", "optimised in")
        return metrics

    def _problems(self, measured: Sequence[Measured]) -> list[Problem]:
        own, problems = self.made, []
        names, missed = own.clip.skeleton.names, worst(measured)
        for one, fights in zip(missed, find_conflicts(own, [one.target for one in missed]), strict=True):
            more = []
            if (short := beyond_reach(one, own.clip)) > 0:
                more.append(f"That is {amount(short, 'm')} farther than the body reaches from where its torso is.")
            if fights:
                verb = "stands" if len(fights) == 1 else "stand"
                more.append(f"{', '.join(fights)} {verb} against it: drop or move one, or give one more weight.")
            problem = one.problem(names, " ".join(more))
            problems.append(replace(problem, nearest=round(one.off, 4)) if short > 0 else problem)
        problems += find_problems(measure(own.clip, pose_places(own.targets)), names)
        if (fast := find_too_fast(own.clip, own.model, own.targets)) is not None:
            problems.append(_with_way_out(fast, self.request))
        if (flight := find_flight(own.clip, own.model, own.targets)) is not None:
            problems.append(flight)
        where = "goals" if self.request.goals else "between"
        if own.estimate.splined:
            if not own.model.held_out > 1:
                problems.append(Problem.of(ProblemKind.EXAMPLES_WEAK, where, what=_UNLIKE))
            elif (apart := _longest_gap(own.targets)) > _SPLINE_S:
                what = _KNOWS_LESS.format(own.model.held_out, apart)
                problems.append(Problem.of(ProblemKind.EXAMPLES_WEAK, where, what=what))
        if not own.estimate.converged:
            count = self._settings.iterations
            problems.append(Problem.of(ProblemKind.NOT_CONVERGED, "work_limit", count=count, broken=""))
        return problems


def _longest_gap(targets: Sequence[Target]) -> float:
    """The longest time without a goal between the first and the last, seconds."""
    held = sorted((target.start_s, target.end_s) for target in targets)
    stops = accumulate((stop for _, stop in held), max)
    return max((start - stop for (start, _), stop in zip(held[1:], stops, strict=False)), default=0.0)


def _with_way_out(problem: Problem, request: CompleteRequest) -> Problem:
    """A problem of speed, with what helps between two motions."""
    if request.between is None or not request.between.as_recorded:
        return problem
    return replace(problem, text=f"{problem.text} The second motion is where it was recorded (as_recorded).")


def _way(clip: Clip) -> list[tuple[float, float]]:
    every = max(1, math.ceil(len(clip) / _PATH_POINTS))
    return [(round(float(x), 3), round(float(z), 3)) for x, _, z in clip.root_pos[::every]]


def describe_model(model: MotionModel) -> dict[str, Any]:
    """What there is to say about a model, as plain values."""
    own = model.dynamics[0]
    return {
        "clips": len(model.names),
        "frames": sum(one.frames for one in model.dynamics),
        "rate_hz": model.encoding.rate_hz,
        "dimensions": model.dimensions,
        "variance": round(model.space.share, 6),
        "order": own.order,
        "controls": own.controls,
        "components": len(own.weights),
        "behaviours": [one.name for one in model.dynamics if one.name],
        "held_out": round(model.held_out, 3) if math.isfinite(model.held_out) else None,
    }


def complete(source: Source | File, request: CompleteRequest, *, progress: Progress | None = None) -> CompleteResult:
    """The most likely motion that does what a request asks.

    >>> import choreograph as cg
    >>> from choreograph.demo import demo_clip
    >>> walk = demo_clip("walk", 30.0)
    >>> keys = [
    ...     cg.PoseGoal(at_s=time, pose={"clip": "walk", "frame": frame}, as_recorded=True)
    ...     for time, frame in ((0.0, 10), (1.0, 40))
    ... ]
    >>> result = cg.complete([walk], cg.CompleteRequest(duration_s=1.0, goals=keys))
    >>> len(result.clip), result.problems
    (31, ())

    Args:
        source: A model, a graph, or recordings of one skeleton to learn from; the name of a file or folder does too.
        request: What is asked.
        progress: Hears how far the work has come.

    Raises:
        RequestError: If the request names what is not there, or contradicts itself exactly.
    """
    search = CompleteSearch(EXAMPLES.read(source), request)
    search.step(progress=progress or silent)
    return search.best()
