"""Completing as a search of one step: the model, the most likely motion, finishing, and what is missed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any

from choreograph.base.errors import RequestError
from choreograph.base.progress import Progress, silent
from choreograph.contract.problem import Problem, ProblemKind
from choreograph.contract.result import Answer, Metric, Motion, Result
from choreograph.contract.search import OneStepSearch, Search
from choreograph.contract.verb import EXAMPLES, File
from choreograph.distance.blas import one_thread_each
from choreograph.finishing.foot_contacts import plant_speed
from choreograph.motion.clip import Clip
from choreograph.verbs.clip_selection import ChoosingSearch
from choreograph.verbs.complete.behaviour_switching import labelled_behaviours
from choreograph.verbs.complete.compile_goals import Target, find_targets
from choreograph.verbs.complete.completion import Completion, finish_estimate, solve_targets
from choreograph.verbs.complete.conflicts import find_conflicts, find_contradictions, say_reach
from choreograph.verbs.complete.floor_limits import find_flight
from choreograph.verbs.complete.inbetween import Gap, find_gap
from choreograph.verbs.complete.interactive import Dragging, Pull
from choreograph.verbs.complete.measure import measure, pose_off_m, say
from choreograph.verbs.complete.model import MotionModel
from choreograph.verbs.complete.request import CompleteRequest
from choreograph.verbs.complete.solver import SolverSettings
from choreograph.verbs.complete.sources import Recordings, Source
from choreograph.verbs.complete.speed_limits import find_too_fast

_PATH_POINTS = 400
_SPLINED = ", by a spline from keyframe to keyframe: the recordings know less of them"
_UNLIKE = (
    "the key poses are unlike the recordings that were learned from: none leads through them, and a spline does. Learn "
    "from recordings of this behaviour, or ask for tracks of hands and feet"
)
_KNOWS_LESS = (
    "the recordings that were learned from know less of what is between key poses than a spline does ({:.2f} × its "
    "error on recordings held out), so a spline leads over {:.1f} s, which knows nothing of steps. Learn from more "
    "recordings of this behaviour, or set poses closer together"
)
_SPLINE_S = 0.5
"""Seconds that a spline may lead through: less than a step."""
_FIT_PROBLEM = "the model's most likely motion did not come to rest"


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
        request, recordings = self.request, self._recordings
        solve = request.solve
        self._gap = find_gap(request, recordings) if request.between else None
        wanted = (request.examples, request.label, request.model, tuple(goal.label for goal in request.labels))
        key = (wanted, request.nearest, request if request.nearest else None)
        if self._model is None or (relearn and self._learned_for != key):
            known = () if self._gap is None or not recordings.clips else self._gap.on(recordings.body).claims()
            self._model, self._learned_for = recordings.model(request, progress, known=known), key
        model = self._model
        rate = model.encoding.rate_hz
        self._settings = SolverSettings(
            solve.dynamics,
            solve.goals,
            solve.iterations,
            spline_frames=round(solve.knots_s * rate),
            guided=solve.guided,
        )
        if self._gap is not None:
            self._gap = self._gap.on(model.encoding.skeleton)
            own = find_targets(request, model.encoding.skeleton, recordings.find, rate)
            targets = [*self._gap.targets(model), *own]
            return model, targets, self._gap.frames(model)
        assert request.length_s is not None
        targets = find_targets(request, model.encoding.skeleton, recordings.find, rate)
        frames = round(request.length_s * rate) + 1
        if frames <= model.order:
            raise RequestError(
                f"length_s is {request.length_s:g}: {frames} frames at {rate:g} Hz; a model of order {model.order} "
                f"needs {model.order + 1}",
                where="length_s",
            )
        return model, targets, frames

    def best(self) -> CompleteResult:
        """The completed motion."""
        made, request = self.made, self.request
        clip = made.clip if self._gap is None else self._gap.shown(made.clip, request)
        misses = measure(made.clip, made.targets)
        said = "one goal" if len(made.targets) == 1 else f"{len(made.targets)} goals"
        answer = Answer(
            (Motion(clip, (), made.likely),),
            f"{clip.seconds:.2f} s through {said}" + (_SPLINED if made.estimate.splined else ""),
            self._metrics(clip, misses),
            tuple(self._problems(misses)),
            cost=made.estimate.objective[-1],
            path=_way(clip),
            details={
                "objective": [round(value, 6) for value in made.estimate.objective],
                "model": describe_model(made.model),
                "led_by": "spline" if made.estimate.splined else "recordings" if made.guide is not None else "model",
                "behaviours": [made.model.dynamics[n].name for n in made.behaviours]
                if len(made.model.dynamics) > 1
                else [],
            },
        )
        return CompleteResult(
            "complete", request, (answer,), notes=self.left_out, seconds=self.seconds, completion=made
        )

    def _metrics(self, clip: Clip, misses: Sequence[Any]) -> dict[str, Metric]:
        made = self.made
        metrics = {"seconds": Metric(clip.seconds, "s", "lasts")}
        metres = [m.amount for m in misses if m.unit == "m" and made.targets[m.target].kind != "contact"]
        if metres:
            metrics["goal_worst"] = Metric(max(metres), "m", "off what was asked at most")
        if clip.skeleton.feet:
            metrics["foot_slide"] = Metric(plant_speed(clip), "m/s", "standing feet slide at")
        if math.isfinite(made.model.held_out):
            metrics["held_out"] = Metric(made.model.held_out, "×", "model's error relative to a spline's")
        steps = len(made.estimate.objective) - 1
        metrics["iterations"] = Metric(float(steps), "iteration" if steps == 1 else "iterations", "optimised in")
        return metrics

    def _problems(self, misses: Sequence[Any]) -> list[Problem]:
        made = self.made
        missed = [miss for miss in misses if miss.missed]
        # Of the many poses of an interval the worst stands for all.
        worst = {made.targets[miss.target].where: miss for miss in sorted(missed, key=lambda miss: miss.amount)}
        missed = [miss for miss in missed if miss is worst[made.targets[miss.target].where]]
        fights = find_conflicts(made, [miss.target for miss in missed])
        found: list[Problem] = []
        away: dict[str, float] = {}
        for miss in missed:
            target = made.targets[miss.target]
            problem = say(miss, target, made.clip, [made.targets[n].where for n in fights.get(miss.target, [])])
            found.append(say_reach(problem, target, made.clip, miss))
        for target in made.targets:
            if target.kind == "pose" and (off := pose_off_m(made.clip, target)) > 0.05:
                away[target.where] = max(off, away.get(target.where, 0.0))
        for where, off in away.items():
            text = f"{where}: the torso is {100 * off:.0f} cm from where the pose was asked for"
            found.append(Problem(ProblemKind.POSITION_MISSED, text, where, 0.0, round(off, 4), unit="m"))
        if (fast := find_too_fast(made.clip, made.model, made.targets)) is not None:
            found.append(_with_way_out(fast, self.request))
        if (flight := find_flight(made.clip, made.model, made.targets)) is not None:
            found.append(flight)
        if made.estimate.splined:
            if not made.model.held_out > 1:
                found.append(Problem(ProblemKind.EXAMPLES_WEAK, _UNLIKE, "poses"))
            elif (apart := _longest_gap(made.targets)) > _SPLINE_S:
                found.append(
                    Problem(ProblemKind.EXAMPLES_WEAK, _KNOWS_LESS.format(made.model.held_out, apart), "poses")
                )
        if not made.estimate.converged:
            said = f"{_FIT_PROBLEM} in {self._settings.iterations} iterations; allow more"
            found.append(Problem(ProblemKind.NOT_CONVERGED, said, "solve.iterations"))
        return found


def _longest_gap(targets: Sequence[Target]) -> float:
    """The longest time without a goal between the first and the last, seconds."""
    held = sorted((target.start_s, target.stop_s) for target in targets)
    stops = accumulate((stop for _, stop in held), max)
    return max((start - stop for (start, _), stop in zip(held[1:], stops, strict=False)), default=0.0)


def _with_way_out(problem: Problem, request: CompleteRequest) -> Problem:
    """A problem of speed, with what helps between two motions."""
    if not request.between or not request.in_place:
        return problem
    text = f"{problem.text}; unless it is to stay where it is (in_place), the second motion comes where the first leads"
    return replace(problem, text=text)


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
    >>> keys = [cg.KeyPose(0.0, "walk", 10, in_place=True), cg.KeyPose(1.0, "walk", 40, in_place=True)]
    >>> result = cg.complete([walk], cg.CompleteRequest(1.0, keys))
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
