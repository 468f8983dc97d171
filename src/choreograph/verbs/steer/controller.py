"""Characters that are steered: each plans its next step shortly before its present one ends, or when a goal changes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from choreograph.base.arrays import Floats
from choreograph.base.errors import ChoreographError, RequestError
from choreograph.base.floor import FloorTransform, compose
from choreograph.verbs.steer.avoid import Avoid, obstacle_states
from choreograph.verbs.steer.costs import Ahead, StepCosts, StepObjective, score_steps
from choreograph.verbs.steer.frame_pool import FramePool
from choreograph.verbs.steer.goals import Line, MovingObstacle, SteerGoal
from choreograph.verbs.steer.navigate import Navigate
from choreograph.verbs.steer.policy import ValueFunction, check_fits
from choreograph.verbs.steer.steps import BENDS, BLEND_S
from choreograph.verbs.steer.tasks import SteerTask

BUILT_IN = ("navigate", "spin", "avoid")
"""Tasks whose state characters know by themselves."""
_SHORTEST_BLEND_S = 0.05
"""A blend that has less time than this while a foot holds is not begun within a step."""


class Planned(NamedTuple):
    """A step to take next."""

    step: int
    bend: int
    score: float


@dataclass(frozen=True, eq=False)
class SteerPolicy:
    """What all characters of a crowd share: steps, costs, tasks and their value functions."""

    costs: StepCosts
    tasks: Mapping[str, SteerTask]
    values: Mapping[str, ValueFunction]
    _known: dict[StepObjective, Ahead] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, value in self.values.items():
            if name in self.tasks:
                check_fits(value, self.tasks[name], self.costs.steps)

    def ahead(self, goal: SteerGoal) -> Ahead:
        """What each step costs against a goal's gait and speed, and what follows from each cut on."""
        objective = goal.objective
        if objective not in self._known:
            if len(self._known) > 200:
                self._known.clear()
            weight = 0.0 if goal.turn is not None else max((one.direction for one in self.tasks.values()), default=0.0)
            self._known[objective] = self.costs.following(objective, weight)
        return self._known[objective]


class SteeredCharacter:
    """One character: where it is in which step, and what it is asked to do."""

    def __init__(
        self,
        policy: SteerPolicy,
        pool: FramePool,
        place: Floats,
        pieces: Floats,
        blend: Floats,
        now: float = 0.0,
        goal: SteerGoal | None = None,
    ) -> None:
        """Begin.

        Args:
            policy: Steps, costs, tasks, value functions.
            pool: The recordings' frames.
            place: Where it begins: heading, x, z.
            pieces: Room for the two pieces of recordings that it shows, (2, WIDTH).
            blend: Room for from when to when the first gives way to the second, (2,).
            now: Seconds.
            goal: What it is to do; walk on if not given.
        """
        self.policy, self.pool = policy, pool
        self.pieces, self.blend = pieces, blend
        self.goal = SteerGoal() if goal is None else goal
        self.line = Line(self.goal if self.goal.path is not None else self.goal.laid(place))
        self.blends = 0
        """How often it went over from one recording to another, or to another place of the same."""
        self.obstacles: Sequence[MovingObstacle] = ()
        self.changed = False
        """Whether the goal is another since the last step was planned."""
        self.outside: set[str] = set()
        """Numbers of the state that went beyond their bounds and were clamped."""
        self.clip = [0, 0]
        self._scores = np.empty((len(policy.costs.steps), len(BENDS)))
        self._begin(place, now)

    # ------------------------------------------------------------------ what it is asked

    def set_goal(self, goal: SteerGoal) -> None:
        """Ask for something else from now on.

        Raises:
            RequestError: If no step is of the gait.
        """
        self.policy.ahead(goal)
        if goal == self.goal and goal.path is self.goal.path:
            return
        self.goal = goal
        place = self.place_at_cut()
        self.line = Line(goal if goal.path is not None else goal.laid(place))
        self.changed = True

    # ------------------------------------------------------------------ planning

    def _begin(self, place: Floats, now: float) -> None:
        """Stand or walk at a place: the step that suits it best, as if the character had always done it."""
        steps = self.policy.costs.steps
        own = self.policy.ahead(self.goal)
        scores = own.goal + self.policy.costs.discount * own.cuts[steps.stop] + np.abs(steps.moves[:, 0, 0])
        best = int(scores.argmin())
        there = FloorTransform(*steps.cut_place[steps.start[best]])
        self._show(1, best, 0, FloorTransform(*place) @ there.inverse(), now)
        self.blend[:] = -1.0

    def place_at_cut(self) -> Floats:
        """Heading, x and z of travel at the cut that the present step leads to."""
        base = FloorTransform(*self._placed(self.stops)) @ FloorTransform(*self.policy.costs.steps.cut_place[self.cut])
        return np.array([base.yaw, base.x, base.z])

    def _placed(self, t: float) -> Floats:
        from choreograph.verbs.steer import _compiled_pose

        out = np.empty(3)
        _compiled_pose.place_of(self.pieces[1], t, out)
        return out

    @property
    def plans_at(self) -> float:
        """When the next step must be planned, seconds."""
        return self.stops - self._half(self.cut)

    def _half(self, cut: int) -> float:
        """Half the length of a blend about a cut."""
        before, after = self.policy.costs.steps.hold[cut]
        return float(max(min(BLEND_S, before, after), 0.0))

    def choose(self, cut: int, place: Floats, wait_s: float = 0.0, line: Line | None = None) -> Planned:
        """The best step from a cut on.

        Args:
            cut: Where the character is in its recordings.
            place: Heading, x and z.
            wait_s: Time until it is there, seconds.
            line: What to keep to; the character's own if not given.
        """
        policy, scores = self.policy, self._scores
        own = policy.ahead(self.goal)
        states = self.states(place, wait_s, line or self.line)
        for name in dict.fromkeys(name for name, _ in states if name != "avoid"):
            own = own.with_cuts(policy.values[name].cuts)
        spins = any(name == "spin" for name, _ in states)
        if len(states) == 1 and not spins:
            name, state = states[0]
            with _named(name):
                return Planned(*policy.tasks[name].best(cut, state, policy.costs, own, policy.values[name], scores))
        low, high = score_steps(policy.costs, cut, own, scores)
        for name, state in states:
            with _named(name):
                policy.tasks[name].add_scores(cut, state, policy.costs, own, policy.values.get(name), scores)
        if spins:
            scores[low:high] += self._drift(cut, place, (line or self.line).goal, low, high)
        best = int(scores[low:high].argmin())
        step, bend = divmod(best, scores.shape[1])
        return Planned(low + step, bend, float(scores[low + step, bend]))

    def _drift(self, cut: int, place: Floats, goal: SteerGoal, low: int, high: int) -> Floats:
        """What each step's end costs (high - low, B) by how far it is from where to turn: as if each metre stayed as
        long as the horizon is. Who walks while turning goes in a circle, and may be on all of it."""
        costs, steps = self.policy.costs, self.policy.costs.steps
        moves = compose(steps.align[cut, steps.start[low:high]][:, None], steps.moves[low:high])
        there = compose(place, moves)
        away = np.hypot(there[..., 1] - (goal.x or 0.0), there[..., 2] - (goal.z or 0.0))
        slope = costs.settings.weights.deviation * costs.settings.discount_s
        return np.asarray(slope * costs.discount[low:high, None] * np.maximum(away - goal.circle_m, 0.0))

    def states(self, place: Floats, wait_s: float, line: Line) -> list[tuple[str, Floats]]:
        """The tasks that count now, each with its state at a place."""
        states = []
        if self.goal.turn is not None and "spin" in self.policy.tasks:
            states.append(("spin", np.array([0.0, self.goal.turn])))
        elif isinstance(navigate := self.policy.tasks.get("navigate"), Navigate):
            states.append(("navigate", navigate.led(line.state(place))))
        avoid = self.policy.tasks.get("avoid")
        if isinstance(avoid, Avoid) and self.obstacles:
            states += [("avoid", state) for state in obstacle_states(self.obstacles, place, wait_s, avoid)]
        for name, task in self.policy.tasks.items():
            if name not in BUILT_IN:
                state = _own_state(task, place)
                states += [] if state is None else [(name, state)]
        return [(name, self._within(name, state)) for name, state in states]

    def _within(self, name: str, state: Floats) -> Floats:
        """A state that the task knows; what had to be clamped is remembered."""
        if name == "avoid":
            return state
        dimensions = self.policy.tasks[name].dimensions
        for k, one in enumerate(dimensions):
            if not one.periodic and not one.low <= state[k] <= one.high:
                self.outside.add(f"{name}.{one.name}")
                state[k] = min(max(state[k], one.low), one.high)
        return state

    def plan(self, now: float) -> None:
        """Choose the next step and begin to blend over to it."""
        steps = self.policy.costs.steps
        place = self.place_at_cut()
        choice = self.choose(self.cut, place, self.stops - now)
        self.changed = False
        start = int(steps.start[choice.step])
        base = FloorTransform(*self._placed(self.stops))
        if start == self.cut:  # the recording goes on
            self._show(1, choice.step, choice.bend, base, self.stops)
            self.blend[:] = -1.0
            return
        half = min(self._half(self.cut), self._half(start))
        self._go_over(
            choice, base @ steps.transform(self.cut, start), self.stops, (self.stops - half, self.stops + half)
        )

    def switch(self, now: float) -> bool:
        """Go over to another step within the present one, while a foot holds; whether that could be and was better."""
        steps = self.policy.costs.steps
        if now < self.blend[1]:
            return False
        for cut, at in ((int(steps.start[self.step]), self.starts), (self.cut, self.stops)):
            before, after = steps.hold[cut]
            room = min(at + after, at + after if cut == self.cut else self.stops) - now
            if not (at - before <= now and room >= 2 * _SHORTEST_BLEND_S):
                continue
            base = FloorTransform(*self._placed(now if at < now else at))
            here = base @ FloorTransform(*steps.cut_place[cut])
            place = np.array([here.yaw, here.x, here.z])
            choice = self.choose(cut, place, at - now)
            self.changed = False
            start = int(steps.start[choice.step])
            if choice.step == self.step and at <= now:
                self._rebend(choice.bend, now)
                return True
            own = steps.hold[start]
            length = min(2 * BLEND_S, room, at + own[1] - now)
            if length < 2 * _SHORTEST_BLEND_S or now < at - own[0]:
                self.changed = True
                continue
            self._go_over(choice, base @ steps.transform(cut, start), at, (now, now + length))
            return True
        return False

    def _go_over(self, choice: Planned, base: FloorTransform, at: float, blend: tuple[float, float]) -> None:
        self.blends += 1
        self.pieces[0] = self.pieces[1]
        self.clip[0] = self.clip[1]
        self._show(1, choice.step, choice.bend, base, at, max(at, blend[0]))
        self.blend[:] = blend

    def _show(
        self, slot: int, step: int, bend: int, base: FloorTransform, at: float, begin: float | None = None
    ) -> None:
        """Let a step be what is shown, its first cut at a moment, its recording laid on the floor."""
        steps = self.policy.costs.steps
        start, stop = int(steps.start[step]), int(steps.stop[step])
        number = int(steps.cut_clip[start])
        piece = self.pieces[slot]
        self.clip[slot] = number
        self.step, self.cut, self.starts, self.stops = step, stop, at, at + float(steps.seconds[step])
        piece[:5] = at, steps.cut_frame[start], *self.pool.clip_facts(number)
        piece[5:8] = base.yaw, base.x, base.z
        piece[8:] = 0.0
        half = float(BENDS[bend] * steps.bend_rad[step]) / 2
        if half:
            middle = self._changes_feet()
            begin = min(at if begin is None else begin, middle - 0.05)
            first = base.apply(np.array([steps.pivot[start][0], 0.0, steps.pivot[start][1]]))
            piece[8:13] = half, first[0], first[2], begin, middle
            turned = FloorTransform(*self._placed(middle)).apply(
                np.array([steps.pivot[stop][0], 0.0, steps.pivot[stop][1]])
            )
            piece[13:18] = half, turned[0], turned[2], middle, self.stops

    def _changes_feet(self) -> float:
        """When the weight goes over from the foot that a step begins on to the next."""
        steps = self.policy.costs.steps
        off = self.starts + steps.hold[int(steps.start[self.step])][1]
        on = self.stops - steps.hold[self.cut][0]
        low, high = self.starts + 0.1, self.stops - 0.1
        return float(min(max((off + on) / 2, low), max(high, low)))

    def _rebend(self, bend: int, now: float) -> None:
        """Bend the present step otherwise from now on."""
        steps = self.policy.costs.steps
        piece, half = self.pieces[1], float(BENDS[bend] * steps.bend_rad[self.step]) / 2
        middle = self._changes_feet()
        base = FloorTransform(*self._placed(now))
        piece[5:8] = base.yaw, base.x, base.z
        piece[8:] = 0.0
        if half and now < middle - 0.1:
            pivot = base.apply(
                np.array(
                    [steps.pivot[int(steps.start[self.step])][0], 0.0, steps.pivot[int(steps.start[self.step])][1]]
                )
            )
            piece[8:13] = half, pivot[0], pivot[2], now, middle
        begin = max(middle, now)
        if half and self.stops - begin > 0.1:
            pivot = FloorTransform(*self._placed(begin)).apply(
                np.array([steps.pivot[self.cut][0], 0.0, steps.pivot[self.cut][1]])
            )
            piece[13:18] = half, pivot[0], pivot[2], begin, self.stops


@contextmanager
def _named(task: str) -> Iterator[None]:
    """Say which task it was that raised: a user's may raise anything."""
    try:
        yield
    except ChoreographError:
        raise
    except Exception as error:
        raise RequestError(f"the task {task!r} raised {type(error).__name__}: {error}") from error


def _own_state(task: SteerTask, place: Floats) -> Floats | None:
    """The state of a user's task, which may be anything."""
    with _named(task.name):
        state = task.state(place)
        state = None if state is None else np.array(state, float)
    if state is not None and (state.shape != (len(task.dimensions),) or not np.isfinite(state).all()):
        raise RequestError(
            f"the task {task.name!r} gives the state {np.array2string(state, threshold=8)}; it must be "
            f"{len(task.dimensions)} numbers"
        )
    return state
