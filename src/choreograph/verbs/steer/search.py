"""Steering offline as a search: a character follows its goals, tick by tick, and what it did becomes a motion."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from choreograph.base.errors import RequestError
from choreograph.base.progress import Progress, silent
from choreograph.contract.problem import Problem, ProblemKind
from choreograph.contract.result import COMPLETE, SEARCHING, Answer, Metric, Motion, Result, source_runs
from choreograph.contract.search import Budget, Search
from choreograph.contract.verb import GRAPH, File
from choreograph.finishing.finish import finish
from choreograph.finishing.foot_contacts import plant_speed
from choreograph.graph.model import MotionGraph
from choreograph.motion.bend import way_of
from choreograph.verbs.clip_selection import ChoosingSearch
from choreograph.verbs.steer.controller import SteerPolicy
from choreograph.verbs.steer.costs import StepCosts
from choreograph.verbs.steer.crowd import Crowd
from choreograph.verbs.steer.frame_pool import build_frame_pool
from choreograph.verbs.steer.goals import obstacle_at
from choreograph.verbs.steer.learn import LEARNING
from choreograph.verbs.steer.measure import GoalSpan, find_problems, offsets
from choreograph.verbs.steer.own import load_task
from choreograph.verbs.steer.prepare import find_steps, load_policy
from choreograph.verbs.steer.recording import SteerRecording
from choreograph.verbs.steer.request import SteerRequest

TASKS = {"navigate": ("navigate",), "spin": ("navigate", "spin"), "avoid": ("navigate", "avoid")}
"""Which value functions each task of a request needs."""
_TRY = {
    "navigate.curvature": "Draw a line that bends less sharply than a circle of 1 m.",
    "spin.rate": "Turn by at most 180°/s.",
}
"""What helps where a number of a state is clamped; tasks of one's own say their bounds themselves."""


class SteerSearch(ChoosingSearch):
    """A character that follows its goals; a step of the search is a second of motion."""

    grows = True

    def __init__(self, graph: MotionGraph, request: SteerRequest, *, policy: SteerPolicy | None = None) -> None:
        """Prepare it.

        Args:
            graph: Whose motion.
            request: Its goals.
            policy: Steps and value functions, where they are at hand.
        """
        super().__init__(request)
        self.graph: MotionGraph = self.choose(graph, request)
        self._policy = policy
        self._begin(request)

    def _begin(self, request: SteerRequest) -> None:
        self.request: SteerRequest = request
        self._settings = request.with_quality()
        self._moments, self._tracks = request.moments(), request.tracks()
        self._crowd: Crowd | None = None
        self._lines: list[tuple[int, tuple[float, float, float]]] = []
        """First frame and line (heading, x, z) of each moment that has come."""
        self._seconds = 0.0
        self._answer: tuple[int, Answer] | None = None

    @property
    def rate_hz(self) -> float:
        """Frames per second."""
        return self.request.finish.rate_hz or max(info.fps for info in self.graph.infos)

    @property
    def _frames(self) -> int:
        return max(2, round(self.request.duration_s * self.rate_hz))

    @property
    def done(self) -> bool:
        """Whether all of the time is steered through."""
        return self._crowd is not None and len(self._recording) >= self._frames

    def _prepare(self, progress: Progress) -> Crowd:
        request = self._settings
        if self._policy is None:
            own = {"own": load_task(request.own_task)} if request.own_task else {}
            names = list(TASKS[request.task])
            if any(moment.goal.turn is not None for moment in self._moments) and "spin" not in names:
                names.append("spin")
            if self._tracks and "avoid" not in names:
                names.append("avoid")
            steps = find_steps(self.graph, mirror=request.mirror, progress=progress)
            self._check_goals(StepCosts(steps, request.advanced))
            # A task of your own first: where it fails, there is no wait for the others.
            self._policy = load_policy(
                self.graph, request.advanced, (*own, *names), own=own, learning=LEARNING[request.learning], steps=steps,
                progress=progress,
            )  # fmt: skip
        steps = self._policy.costs.steps
        crowd = Crowd(self._policy, build_frame_pool(steps.clips, clean=False), clean=False)
        self._recording = SteerRecording(steps.clips, self.rate_hz)
        first, start = self._moments[0].goal, request.start
        x, z = start.place or (first.x or 0.0, first.z or 0.0)
        heading = first.heading or 0.0
        if first.path is not None:
            tangent = first.path.tangent(0.0)
            heading = float(np.arctan2(tangent[0], tangent[1]))
            x, z = start.place or tuple(float(v) for v in first.path.at(0.0))
        if start.facing_deg is not None:
            heading = float(np.radians(start.facing_deg))
        self._check_goals(self._policy.costs)
        crowd.add(x, z, heading, first)
        return crowd

    def _check_goals(self, costs: StepCosts) -> None:
        """Raise a RequestError if a goal cannot be met by any step, before anything is learned."""
        for moment in self._moments:
            try:
                costs.goal(moment.goal.objective)
            except RequestError as error:
                where = moment.fields.get("label", "")
                raise RequestError(f"{where}: {error}", where=where) from None

    def step(self, budget: Budget = Budget(), progress: Progress = silent) -> bool:
        """Go on by seconds of motion; whether there is more to do."""
        clock, began = budget.started(), time.monotonic()
        try:
            if self._crowd is None:
                self._crowd = self._prepare(progress)
            second = max(1, round(self.rate_hz))
            while not self.done:
                for _ in range(min(second, self._frames - len(self._recording))):
                    self._tick(self._crowd)
                progress("steering", len(self._recording), self._frames)
                if clock.spent(1):
                    break
        finally:
            self._seconds += time.monotonic() - began
        return not self.done

    def _tick(self, crowd: Crowd) -> None:
        number, one = len(self._recording), crowd.characters[0]
        now = number / self.rate_hz
        while len(self._lines) < len(self._moments) and self._moments[len(self._lines)].at_s <= now + 1e-6:
            one.set_goal(self._moments[len(self._lines)].goal)
            line = one.line.goal
            self._lines.append((number, (line.heading or 0.0, line.x or 0.0, line.z or 0.0)))
        obstacles = [there for track in self._tracks.values() if (there := obstacle_at(track, now)) is not None]
        self._recording.take(crowd.tick(0.0 if number == 0 else 1 / self.rate_hz, obstacles))

    def change(self, request: Any) -> None:
        """Follow other goals, from the start; the policy stays where the settings are the same."""
        same = _settings_of(request) == _settings_of(self.request)
        graph = self.choose(self.whole, request)
        same = same and graph is self.graph
        self.graph = graph
        self._policy = self._policy if same and not request.tracks() and not self._tracks else None
        self._begin(request)

    def reuse(self, earlier: Search) -> None:
        """Take over steps and value functions."""
        if isinstance(earlier, SteerSearch) and earlier.graph is self.graph and self._policy is None:
            one, other = earlier.request, self.request
            same = _settings_of(one) == _settings_of(other) and (one.goals, one.scene) == (other.goals, other.scene)
            self._policy = earlier._policy if same else None

    def best(self) -> Result:
        """The motion so far, finished and measured."""
        if self._crowd is None or len(self._recording) < 2:
            raise RequestError("nothing was steered yet")
        if self._answer is None or self._answer[0] != len(self._recording):
            self._answer = len(self._recording), self._finish()
        status = COMPLETE if self.done else SEARCHING
        return Result("steer", self.request, (self._answer[1],), status, self.left_out, self._seconds)

    def _finish(self) -> Answer:
        assert self._crowd is not None and self._policy is not None
        motion = finish(self._recording.montage(), self.request.finish, name="steered")
        clip, one = motion.clip, self._crowd.characters[0]
        ends = [start for start, _ in self._lines[1:]] + [len(clip)]
        spans = [
            GoalSpan(moment.goal, moment.fields, start, min(stop, len(clip)), line)
            for moment, (start, line), stop in zip(self._moments, self._lines, ends, strict=False)
        ]
        way = way_of(clip)
        lines = [span for span in spans if span.goal.turn is None and span.stop > span.start]
        off = np.abs(np.concatenate([offsets(clip, way, span)[0] for span in lines])) if lines else np.zeros(1)
        metrics = {
            "seconds": Metric(clip.seconds, "s", "lasts"),
            "line_mean": Metric(float(off.mean()), "m", "off the line on average"),
            "line_worst": Metric(float(off.max()), "m", "at most"),
            "speed": Metric(float(way.speed.mean()), "m/s", "speed"),
            "blends_per_s": Metric(one.blends / clip.seconds, "1/s", "blends"),
        }
        if clip.skeleton.feet:
            metrics["foot_slide"] = Metric(plant_speed(clip), "m/s", "standing feet slide at")
        return Answer(
            (Motion(clip, source_runs(motion.origins, motion.origins.names), motion.raw),),
            f"{clip.seconds:.0f} s",
            metrics,
            (*find_problems(clip, spans, self._tracks), *_clamped(one.outside, self._policy)) if self.done else (),
            COMPLETE if self.done else SEARCHING,
            path=[(round(float(x), 3), round(float(z), 3)) for x, z in way.places[:: max(1, len(clip) // 2000)]],
            details={
                "learning": {name: dict(value.report) for name, value in self._policy.values.items()},
                "clamped": sorted(one.outside),
                "steps": len(self._policy.costs.steps),
                "notes": list(self._policy.costs.steps.notes),
            },
        )


def _settings_of(request: SteerRequest) -> list[Any]:
    """What requests must have in common for the same policy to do."""
    return [getattr(request.with_quality(), name) for name in ("task", "advanced", "mirror", "own_task", "learning")]


def _clamped(outside: set[str], policy: SteerPolicy) -> Iterator[Problem]:
    """What was asked beyond the bounds of what is learned, and what to try."""
    for name in sorted(outside):
        task, _, number = name.partition(".")
        bounds = next(one for one in policy.tasks[task].dimensions if one.name == number)
        what = f"{name} is outside the trained range {bounds.low:.3g} to {bounds.high:.3g} and was limited to it"
        yield Problem.of(ProblemKind.OUT_OF_RANGE, what=what, more=_TRY.get(name, ""))


def steer(graph: MotionGraph | File, request: SteerRequest | File, *, progress: Progress | None = None) -> Result:
    """Motion of a character that is steered by goals over time.

    >>> import choreograph as cg
    >>> from choreograph.demo import demo_clip
    >>> graph = cg.build_graph([demo_clip(name, 30.0) for name in ("walk", "walk_veer_left", "walk_veer_right")])
    >>> result = cg.steer(graph, cg.SteerRequest(goals=[{"heading_deg": 0.0}], duration_s=4.0))
    >>> result.metrics["line_mean"].value < 0.2
    True

    Args:
        graph: Whose motion; its file's name does too.
        request: Goals over time; the name of a CSV file with them alone does too.
        progress: Hears how far the work has come.

    Raises:
        RequestError: If the graph has no steps that can follow each other, or no step has the label of a goal.
        FormatError: If the script cannot be read.
    """
    if isinstance(request, File):
        request = SteerRequest(goals=str(request))
    return SteerSearch(GRAPH.read(graph), request).run(progress)
