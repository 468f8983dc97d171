"""Physics as a search: a solver's iterations, a few at a time, and the motion they have come to."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from choreograph.base.arrays import Floats
from choreograph.base.errors import RequestError
from choreograph.base.progress import Progress, silent
from choreograph.contract.problem import Problem
from choreograph.contract.result import COMPLETE, Answer, Metric, Motion, Result, Run
from choreograph.contract.search import Budget, Search
from choreograph.contract.verb import CLIP, File
from choreograph.distance.blas import one_thread_each
from choreograph.motion.clip import Clip
from choreograph.verbs.physics.display import footprints_of, mechanics_of
from choreograph.verbs.physics.example_alignment import ExampleMean
from choreograph.verbs.physics.finish import Mechanical
from choreograph.verbs.physics.physics_pass import finish_request, finished_answer
from choreograph.verbs.physics.pose_distance import legs_off_deg, unlike_problems
from choreograph.verbs.physics.prepare import Setting, check_examples, lead_of, make_setting, problem_of, sketch_of
from choreograph.verbs.physics.problems import find_problems
from choreograph.verbs.physics.program import TrajectoryProgram
from choreograph.verbs.physics.request import PhysicsRequest
from choreograph.verbs.physics.sketch import Sketch, paced, refined
from choreograph.verbs.physics.solve_stages import Solved, solve_again, solve_finer, solve_in_stages
from choreograph.verbs.physics.timing import Timing, find_timing, timing_details
from choreograph.verbs.physics.verify import (
    FinePath,
    Verification,
    excess,
    misses,
)

_COARSER = (1.0, 1.45, 1.0)
"""Times the usual distance between nodes: tried in this order where a motion is not found, each with one more start."""
_ROUNDS, _SHORTEST_S = 3, 1 / 300
"""How often nodes are put between others where mechanics does not hold there, and how close these must not be yet."""


@dataclass(frozen=True, eq=False)
class PhysicsResult(Result):
    """A motion that obeys mechanics, with all that the solver knows about it."""

    recorded: Clip | None = None
    """The motion that the sketch was taken from."""
    solved: Solved | None = None
    trajectory: FinePath | None = None
    """On a grid eight times as fine as the solver's."""
    verification: Verification | None = None
    examples: tuple[Clip, ...] = ()
    finished: Mechanical | None = None
    """Where the motion was only finished: what was done to which part of it."""


@dataclass(frozen=True, eq=False)
class _Shaping:
    """What is done to a sketch's gaps between nodes, (K − 1,): which get another node, or times as long."""

    values: Any

    def __call__(self, sketch: Sketch) -> Sketch:
        return refined(sketch, self.values) if self.values.dtype == bool else paced(sketch, self.values)


class PhysicsSearch(Search):
    """One motion made to obey mechanics."""

    def __init__(self, clip: Clip, request: PhysicsRequest, *, examples: Sequence[Clip] | None = None) -> None:
        """Prepare it.

        Args:
            clip: The motion whose poses, contacts and timing are the sketch.
            request: What shall be other.
            examples: Motions of the behaviour, instead of those that the request names.
        """
        super().__init__(request)
        self.request: PhysicsRequest = request
        self._clip, self._given = clip, examples
        self._setting: Setting | None = None
        self._sketch: Sketch | None = None
        self._question: TrajectoryProgram | None = None
        self._solved: Solved | None = None
        self._before: Solved | None = None
        self._finished: Mechanical | None = None
        self._seconds, self._coarser, self._leads = 0.0, 1.0, True
        self._shaping: list[_Shaping] = []
        self._timing: Timing | None = None

    @property
    def done(self) -> bool:
        """Whether the solver has ended."""
        return self._solved is not None or self._finished is not None

    def step(self, budget: Budget = Budget(), progress: Progress = silent) -> bool:
        """Solve it."""
        if self.done:
            return False
        with one_thread_each():  # matrices are small
            self._solve(progress)
        return False

    def _solve(self, progress: Progress) -> None:
        began = time.monotonic()
        if self.request.smallest_change:
            self._finished = finish_request(self._clip, self.request, self._given, progress)
            self._seconds = time.monotonic() - began
            return
        if self._setting is None:
            self._setting = make_setting(self._clip, self.request, self._given)
        most = self.request.with_quality().work_limit

        doubted = self.check_examples() if self._before is None else []
        stage = f"solving, though {doubted[0].text}" if doubted else "solving"

        def watch(iteration: int, x: Floats, violation: float) -> None:
            progress(stage, min(iteration, most), most)
            task, setting = self._question, self._setting
            if self.watch is not None and task is not None and setting is not None and len(x) == task.size:
                rate, now = self.request.finish.rate_hz or self._clip.fps, np.array(x)
                self.watch(lambda: clip_of(task, now, setting, rate))

        if self._before is not None:
            current = solve_again(self._ask(), self._before, watch=watch)
        else:
            current = self._from_scratch(most, watch)
        current = self._refined(current, watch)
        if self._before is None and _over(current) > 1.0 and self._led():
            current = self._without_lead(current, most, watch)
        if self.request.timing != "given" and current.converged:
            current = self._refined(self._timed(current, watch), watch)
        self._solved = current
        self._seconds = time.monotonic() - began

    def check_examples(self) -> list[Problem]:
        """What can be said before solving: whether the examples have the behaviour, by their space's error."""
        if self._setting is None:
            self._setting = make_setting(self._clip, self.request, self._given)
        return check_examples(self._setting, sketch_of(self._setting, self.request, 2.0))

    def _ask(self) -> TrajectoryProgram:
        """The problem of the request, its nodes set where earlier rounds found that they must be."""
        assert self._setting is not None
        sketch = sketch_of(self._setting, self.request, self._coarser)
        for number, shape in enumerate(self._shaping):
            if len(shape.values) != sketch.nodes - 1:  # of another sketch
                del self._shaping[number:]
                break
            sketch = shape(sketch)
        return self._put(sketch)

    def _put(self, sketch: Sketch, lead: ExampleMean | None = None) -> TrajectoryProgram:
        assert self._setting is not None
        self._sketch = sketch
        request = self.request if self._leads else self.request.with_(advanced=self.request.advanced.with_(mean="free"))
        self._question = problem_of(self._setting, sketch, request, lead)
        return self._question

    def _from_scratch(self, most: int, watch: Any) -> Solved:
        """The solution with the usual nodes; where those lead nowhere, with fewer."""
        self._shaping = []
        tries: list[tuple[Solved, float]] = []
        turn = abs(self._clip_pitch())
        for coarser in _COARSER[1:] if turn > np.pi else _COARSER:  # flips are easier with few nodes
            self._coarser = coarser
            tried = next((one for one, same in tries if same == coarser), None)
            current = solve_in_stages(self._ask(), most, watch, len(tries) + 1, tried)
            if current.solution.status != "not converged":
                return current
            tries.append((current, coarser))
        current, self._coarser = min(tries, key=lambda one: one[0].solution.violation)
        question = self._ask()
        if self.request.advanced.ipopt:
            from choreograph.verbs.physics.ipopt import solve_ipopt

            other = solve_ipopt(question, question.start(question.second_guess), watch=watch)
            if other.violation < current.solution.violation:
                current = Solved(question, other, current.iterations + other.iterations, "IPOPT")
        return current

    def _led(self) -> bool:
        """Whether examples lead the motion: else there is nothing to do without."""
        assert self._setting is not None and self._sketch is not None
        return lead_of(self._setting, self._sketch, self.request) is not None

    def _without_lead(self, current: Solved, most: int, watch: Any) -> Solved:
        """The better of a solution that does not hold between its nodes, and one that no example leads."""
        earlier = (current, self._sketch, self._shaping, self._coarser)
        self._leads = False
        other = self._refined(self._from_scratch(most, watch), watch)
        if _over(other) < _over(current):
            return other
        self._leads, (current, sketch, self._shaping, self._coarser) = True, earlier
        assert sketch is not None
        self._put(sketch)
        return current

    def _clip_pitch(self) -> float:
        """How far the root pitches from the first pose to the last, radians."""
        assert self._setting is not None
        pitch = self._setting.dofs.angles(self._setting.clip)[:, 5]
        return float(pitch[-1] - pitch[0])

    def _refined(self, current: Solved, watch: Any) -> Solved:
        """The solution with as many more nodes as it takes for mechanics to hold between them, within reason."""
        assert self._sketch is not None
        rounds = sum(shape.values.dtype == bool for shape in self._shaping)
        best, everywhere = (np.inf, current, self._sketch, len(self._shaping)), False
        while True:
            checked = current.checked
            solved = current.solution.status != "not converged"
            if solved and excess(checked) < best[0]:
                best = (excess(checked), current, self._sketch, len(self._shaping))
            elif everywhere or not np.isfinite(best[0]):
                break
            # Long gaps beside short ones are where a solver cheats: where that is worse, all get a node.
            everywhere = everywhere or current is not best[1]
            if best[0] <= 1.0 or rounds >= _ROUNDS:
                break
            _, current, sketch, count = best
            gaps = np.diff(sketch.times) > _SHORTEST_S
            if not everywhere:
                gaps &= misses(current.problem, current.checked, current.path)
            if not gaps.any():
                break
            self._shaping[count:], rounds = [_Shaping(gaps)], rounds + 1
            current = solve_finer(self._put(refined(sketch, gaps)), current, watch=watch)
        _, earlier, sketch, count = best
        if earlier is not current:
            del self._shaping[count:]
            self._put(sketch)
        return earlier

    def _timed(self, current: Solved, watch: Any) -> Solved:
        """The solution with the durations that cost the least."""
        assert self._sketch is not None and self._setting is not None
        before, flights = self._sketch, self.request.timing == "all"
        lead = (
            lead_of(self._setting, before, self.request) if self._leads else None
        )  # what belongs to a moment does so however long it lasts

        def ask(sketch: Sketch) -> TrajectoryProgram:
            return self._put(sketch, lead)

        self._timing = find_timing(before, current, ask, self.request.advanced.time_range, flights=flights, watch=watch)
        self._sketch = self._timing.sketch
        self._shaping.append(_Shaping(np.diff(self._sketch.times) / np.diff(before.times)))
        return self._timing.solved

    def change(self, request: Any) -> None:
        """Ask for something else; where only the change of the motion differs, the last solution is the start."""
        before = self.request
        if _undragged(request) == _undragged(before):
            self._before, self.carried = self._solved or self._before, self._solved is not None
        else:
            self._before, self._setting, self._shaping, self._leads = None, None, [], True
        self.request, self._solved, self._finished, self._timing = request, None, None, None

    def best(self) -> PhysicsResult:
        """The motion, verified between the nodes."""
        if self._finished is not None:
            answer = finished_answer(self._finished)
            return PhysicsResult(
                "physics", self.request, (answer,), answer.status, seconds=self._seconds, recorded=self._clip,
                finished=self._finished,
            )  # fmt: skip
        if self._solved is None or self._setting is None or self._sketch is None:
            raise RequestError("nothing was solved yet")
        setting, solved = self._setting, self._solved
        path, checked = solved.path, solved.checked
        clip = as_clip(solved, setting, self.request.finish.rate_hz or self._clip.fps)
        legs_off = legs_off_deg(clip, [setting.clip, *setting.examples])
        problems = [*check_examples(setting, self._sketch), *find_problems(solved, checked), *unlike_problems(legs_off)]
        off = Metric(legs_off, "°", "legs bend from the nearest recorded pose by")
        answer = Answer(
            (Motion(clip, (Run(0, len(clip), setting.clip.name, 0.0),)),),
            f"{setting.clip.name}, {clip.seconds:.2f} s",
            {**measure(solved, checked, path, setting), "legs_off": off},
            tuple(problems),
            COMPLETE if solved.converged else solved.solution.status,
            cost=float(solved.solution.objective),
            details={
                "iterations": solved.iterations,
                "start": solved.start,
                "violation": solved.solution.violation,
                "dimensions": setting.basis.space.dimensions,
                "examples": [one.name for one in setting.examples],
                "verification": vars(checked),
                "nodes": solved.problem.nodes,
                "node_step_s": solved.problem.h,
                "footprints": footprints_of(self._sketch),
                **({} if self._timing is None else timing_details(self._timing)),
            },
            mechanics=mechanics_of(path, setting.dofs, setting.points.names, clip.fps, len(clip)),
        )
        return PhysicsResult(
            "physics", self.request, (answer,), answer.status, seconds=self._seconds, recorded=setting.clip,
            solved=solved, trajectory=path, verification=checked, examples=setting.examples,
        )  # fmt: skip


def _undragged(request: PhysicsRequest) -> PhysicsRequest:
    """What the space and the body follow from: a request without what is only dragged."""
    hands = tuple(goal for _, goal in request.contacts("hand"))
    return request.with_(farther_m=0.0, higher_m=0.0, turn_deg=0.0, duration_share=1.0, speed_m_s=None, goals=hands)


def _over(solved: Solved) -> float:
    """How many times too much the worst figure between a solution's nodes is; infinite where it is none."""
    if solved.solution.status == "not converged":
        return np.inf
    return excess(solved.checked)


def as_clip(solved: Solved, setting: Setting, fps: float) -> Clip:
    """A solution as frames."""
    return clip_of(solved.problem, solved.solution.x, setting, fps)


def clip_of(problem: TrajectoryProgram, x: Floats, setting: Setting, fps: float) -> Clip:
    """Unknowns of a problem as frames."""
    seconds = float(problem.times[-1])
    count = max(2, round(seconds * fps) + 1)
    times = np.minimum(np.arange(count) / fps, seconds)
    q, _, _ = problem.coordinates(x, times)
    return setting.dofs.clip(q, fps, setting.clip.name)


def measure(solved: Solved, checked: Verification, path: FinePath, setting: Setting) -> dict[str, Metric]:
    """What is worth knowing about a solution."""
    weight = setting.dofs.body.weight
    torque = np.abs(path.torques[:, 6:]) * weight
    worst = int(torque.max(axis=0).argmax())
    root = path.q[:, [0, 2]]
    turned = float(np.degrees(path.q[-1, 3] - path.q[0, 3]))
    return {
        "way": Metric(float(np.linalg.norm(root[-1] - root[0])), "m", "goes"),
        "rise": Metric(float(path.com[:, 1].max() - path.com[0, 1]), "m", "rises"),
        "turn": Metric(turned, "°", "turns"),
        "violation": Metric(solved.solution.violation, "BW", "constraints hold to"),
        "ground_force_peak": Metric(checked.peak_force, "BW", "ground pushes at up to"),
        "torque_peak": Metric(float(torque.max()), "N·m", f"largest torque, at {setting.dofs.names[6 + worst]},"),
        "com_off": Metric(checked.com_off_m, "m", "centre of mass off its parabola"),
        "spin_drift": Metric(checked.spin_drift, "", "angular momentum drifts in flight by"),
        "slip": Metric(checked.slip_m, "m", "standing feet slip"),
        "residual": Metric(checked.residual, "BW", "between nodes the ground leaves unexplained"),
    }


def physics(
    clip: Clip | File,
    request: PhysicsRequest | None = None,
    *,
    examples: Sequence[Clip | File] | None = None,
    progress: Progress | None = None,
) -> PhysicsResult:
    """A motion that obeys mechanics, after the sketch that another one makes.

    >>> from choreograph.demo import demo_clip
    >>> result = physics(demo_clip("jump_high", 60.0), PhysicsRequest(farther_m=0.2))
    >>> result.best.details["violation"] < 1e-6
    True

    Args:
        clip: The motion, or its file's name: its first and last pose, its contacts and timing count.
        request: What shall be other: farther, higher, turned …
        examples: Motions of the behaviour, instead of those that the request names.
        progress: Hears how far the work has come.

    Raises:
        RequestError: If a leg cannot reach a footprint, a pose is inside the floor, or examples do not fit.
        RoleError: If feet or legs are not known.
    """
    given = None if examples is None else [CLIP.read(one) for one in examples]
    search = PhysicsSearch(CLIP.read(clip), request or PhysicsRequest(), examples=given)
    search.step(progress=progress or silent)
    return search.best()
