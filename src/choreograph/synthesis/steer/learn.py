"""Learning a value function from sampled states, by fitted value iteration or by a linear program.

V is what blends and gaits cost from the cut on (exact, see `costs`), plus a number for each cut, plus a spline over the
task's state; the numbers and the spline's coefficients are the unknowns. Fitted value iteration gives each sample the
value of its best step and fits the unknowns to these by least squares, again and again. The linear program

    maximise   sum over samples of V(X)
    such that  V(X) <= cost of a step + discount * V(X') for the steps in the program

finds the largest V that is below the true one at the samples and not far above the fit elsewhere; its rows are the best
steps of the samples, added until every sample obeys. The fit is quicker to learn and the default.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from choreograph.errors import ChoreographError, RequestError
from choreograph.progress import Progress, silent
from choreograph.synthesis.steer.basis import Basis
from choreograph.synthesis.steer.controller import SteerBrain
from choreograph.synthesis.steer.costs import Ahead, StepCosts, Wanted
from choreograph.synthesis.steer.evaluate import beam_cost, policy_cost
from choreograph.synthesis.steer.policy import ValueFunction
from choreograph.synthesis.steer.steps import StepClips
from choreograph.synthesis.steer.tasks import Choices, SteerTask, compose

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

_HIGHEST = 1e4
"""Coefficients are kept within this, so that the first program is bounded."""
_ABOVE = 1.0
"""How far above the fit the program's coefficients may be. A value function may not be above the true one at samples,
but nothing holds it down between them: without this the program adds rows for ever."""
_MOST = 7000
"""Samples that are drawn at most, unless it is said how many."""
_EVALUATIONS = 4
"""How often values are fitted to the same choices before choices are made anew."""
_OFTEN, _NEAR = 0.3, 0.12
"""Share of samples that are near the middle of the bounds, where characters mostly are, and how near, as a share."""
_TURNED, _ABOUT = 0.4, 0.15
"""Share of samples that are so near the middle of the bounds in all but angles, which may be any: where characters are
who turn."""
_SMOOTH = 0.1
"""Weight of the second differences of a spline's coefficients against its errors at samples: what few samples say of
a place is evened out with its neighbours (P-splines, Eilers and Marx 1996)."""
_STARTS, _SEARCH_S, _SEARCH_WIDTH = 6, 5.0, 30
"""From how many samples on a value function's choices are weighed against a search's, over which time, how wide
with 200 steps."""


@dataclass(frozen=True)
class LearnSettings:
    """How a value function is learned."""

    samples: int | None = None
    """States drawn, with corners of the state space on top; else 7 for each basis function, and for each of
    standing, walking and running, from 600 to 7,000."""
    sweeps: int = 14
    """Of fitted value iteration, which also finds the first rows of the linear program."""
    rounds: int = 0
    """Of the linear program, at most; 0 to do without it."""
    tolerance: float = 0.02
    """Violation of a row up to which it counts as obeyed."""
    seed: int = 0
    weighed: bool = True
    """Whether its choices are weighed against a search in the end."""


LEARNING: Mapping[str, LearnSettings] = {"fit": LearnSettings(), "program": LearnSettings(samples=2000, rounds=40)}
"""How requests name ways to learn."""
QUICK = LearnSettings(samples=1200, sweeps=5, weighed=False)
"""Enough to begin with, within a second or two."""


def learn(
    task: SteerTask, costs: StepCosts, settings: LearnSettings = LearnSettings(), progress: Progress | None = None
) -> ValueFunction:
    """The value function of a task.

    Args:
        task: What is wanted.
        costs: The steps and what they cost by themselves.
        settings: How many samples, how exact.
        progress: Hears how many rounds are done; may cancel.

    Raises:
        RequestError: If the task raises or gives numbers that are none, or the program has no solution.
    """
    told, began, stage = progress or silent, time.process_time(), f"learning {task.name}"
    basis, rng = task.basis, np.random.default_rng(settings.seed)
    kind = costs.steps.cut_kind if task.by_gait else np.zeros_like(costs.steps.cut_kind)
    count = min(max(7 * basis.size * (1 + kind.max()), 600), _MOST) if settings.samples is None else settings.samples
    states, cuts = draw_samples(basis, kind, int(count), rng)
    own = costs.following(Wanted(), task.direction)
    index, weight = basis.at(states)
    program = _Program(task, costs.steps, kind, (index, weight, cuts))
    value = ValueFunction(
        task.name, basis, np.zeros(program.size), np.zeros(len(kind)), kind=kind, steps=costs.steps.word
    )
    total = settings.sweeps + settings.rounds
    for sweep in range(settings.sweeps):
        told(stage, sweep, total)
        rows = _best_steps(task, costs, cuts, states, own, value)
        for _ in range(_EVALUATIONS):
            coefficients, more = program.fit(rows.target(value))
            value = replace(value, coefficients=coefficients, cuts=more)
    done = 0
    if settings.sweeps:
        program.keep_near(value)
    while True:
        told(stage, settings.sweeps + done, total)
        rows = _best_steps(task, costs, cuts, states, own, value)
        now = (value.splines[kind[cuts][:, None], index] * weight).sum(axis=1) + value.cuts[cuts]
        excess = now - rows.target(value)
        obeyed = float(excess.max()) <= settings.tolerance and done > 0
        if obeyed or done >= settings.rounds:
            break
        program.add(np.flatnonzero(excess > settings.tolerance) if done else np.arange(len(states)), rows)
        coefficients, more = program.solve()
        value = replace(value, coefficients=coefficients, cuts=more)
        done += 1
    weighed: dict[str, object] = {"first": True}
    if settings.weighed:
        told("weighing against a search", 0, _STARTS)
        ours, best = _against_search(SteerBrain(costs, {task.name: task}, {task.name: value}), states, cuts, told)
        weighed = {"policy_cost": round(ours, 4), "search_cost": round(best, 4)}
    told(stage, total, total)
    report = {
        "samples": len(states),
        "rows": program.rows,
        "rounds": done,
        "violation": round(max(float(excess.max()), 0.0), 4),
        "error_rms": round(float(np.sqrt((excess**2).mean())), 4),
        "coverage": program.coverage,
        **weighed,
        "cpu_s": round(time.process_time() - began, 3),
    }
    return replace(value, report=report)


def _against_search(brain: SteerBrain, states: Array, cuts: Indices, told: Progress) -> tuple[float, float]:
    """What the choices of a value function cost from some of the samples on, and what a search finds, on average."""
    ((name, task),) = brain.tasks.items()
    inside = np.flatnonzero(task.known(states))
    picked = inside[np.linspace(0, len(inside) - 1, _STARTS).astype(int)] if len(inside) else np.zeros(0, int)
    found, width = [], int(np.clip(_SEARCH_WIDTH * 200 // len(brain.costs.steps), 6, _SEARCH_WIDTH))
    for done, n in enumerate(picked):
        told("weighing against a search", done, len(picked))
        ours = policy_cost(brain, int(cuts[n]), states[n], _SEARCH_S, name)
        found.append((ours, min(ours, beam_cost(brain, int(cuts[n]), states[n], _SEARCH_S, width, name))))
    ours, best = np.mean(found, axis=0) if found else (0.0, 0.0)
    return float(ours), float(best)


def draw_samples(basis: Basis, kind: Indices, count: int, rng: np.random.Generator) -> tuple[Array, Indices]:
    """States (N, D) all over the bounds, as dense as the knots are, with all corners for each kind of cut; and cuts.

    Half of the cuts are any, half are as many of each kind.
    """
    t = rng.random((count, len(basis.dimensions)))
    often = np.arange(count) < _OFTEN * count
    t[often] = np.clip(0.5 + _NEAR * rng.standard_normal((int(often.sum()), t.shape[1])), 0, 1)
    angles = np.array([one.periodic for one in basis.dimensions])
    if angles.any():
        turned = ~often & (np.arange(count) < (_OFTEN + _TURNED) * count)
        about = np.clip(0.5 + _ABOUT * rng.standard_normal((int(turned.sum()), t.shape[1])), 0, 1)
        t[turned] = np.where(angles, t[turned], about)
    ends = [[0.0] if one.periodic else [0.0, 0.5, 1.0] for one in basis.dimensions]
    corners = np.stack(np.meshgrid(*ends, indexing="ij"), axis=-1).reshape(-1, len(ends))
    kinds = 1 + int(kind.max())
    wanted = np.concatenate([np.repeat(np.arange(kinds), len(corners)), rng.integers(kinds, size=count)])
    cuts = rng.integers(len(kind), size=len(wanted))
    for k in range(kinds):
        own = (wanted == k) & ((np.arange(len(wanted)) % 2 == 0) | (np.arange(len(wanted)) < kinds * len(corners)))
        cuts[own] = rng.choice(np.flatnonzero(kind == k), own.sum())
    return basis.spread(np.concatenate([*[corners] * kinds, t])), cuts


@dataclass(frozen=True, eq=False)
class _Rows:
    """A step for each sample."""

    cost: Array
    """Its cost, and what blends and gaits cost after it, less what they cost before it."""
    discount: Array
    cut: Indices
    """At which it ends, (N,)."""
    known: Array
    """1 where there is anything left to do after it, else 0, (N,)."""
    after: tuple[Indices, Array]
    """Which basis functions count in the states after it, and their values there, both (N, terms)."""

    def target(self, value: ValueFunction) -> Array:
        """What each sample's value would be with this step, (N,)."""
        index, weight = self.after
        ends = np.einsum("nt,nt->n", value.splines[value.kinds[self.cut][:, None], index], weight)
        return np.asarray(self.cost + self.discount * (self.known * ends + value.cuts[self.cut]))


def _best_steps(
    task: SteerTask, costs: StepCosts, cuts: Indices, states: Array, own: Ahead, value: ValueFunction
) -> _Rows:
    """The step of each sample that a value function says is best."""
    later = own.with_cuts(value.cuts)
    found = task.choices(cuts, states, costs, later, value) or _one_by_one(task, costs, cuts, states, later, value)
    discount, ends = costs.discount[found.steps], costs.steps.stop[found.steps]
    cost = found.spent + discount * (own.cuts[ends] + task.beyond(found.after, ends, own))
    cost -= own.cuts[cuts] + task.beyond(states, cuts, own)
    return _Rows(cost, discount, ends, task.known(found.after).astype(float), value.basis.at(found.after))


def _one_by_one(
    task: SteerTask, costs: StepCosts, cuts: Indices, states: Array, own: Ahead, value: ValueFunction
) -> Choices:
    """The best step of each sample, as the task itself says."""
    steps, bends = costs.steps, costs.bend
    out = np.empty((len(steps), len(bends)))
    made = Choices(np.empty(len(cuts), np.int64), np.empty(len(cuts)), np.empty(states.shape))
    for n, (cut, state) in enumerate(zip(cuts, states, strict=True)):
        step, bend, _ = _asked(task, state, int(cut), costs, own, value, out)
        move = compose(steps.align[cut, steps.start[step]], steps.moves[step, bend])[None]
        seconds = steps.seconds[step : step + 1]
        made.after[n] = task.moved(state, move, seconds)[0]
        made.steps[n] = step
        made.spent[n] = costs.price[cut, steps.start[step]] + own.goal[step] + bends[bend]
        made.spent[n] += float(task.cost(state, made.after[n : n + 1], move, seconds)[0])
    return made


def _asked(
    task: SteerTask, state: Array, cut: int, costs: StepCosts, own: Ahead, value: ValueFunction, out: Array
) -> tuple[int, int, float]:  # fmt: skip
    """What a task says is best; a RequestError that names the task where it raises or gives no numbers."""
    try:
        found = task.best(cut, state, costs, own, value, out, deep=False)
    except ChoreographError:
        raise
    except Exception as error:  # a user's task may raise anything
        raise RequestError(
            f"the task {task.name!r} failed at the state {np.round(state, 3).tolist()}: {type(error).__name__}: {error}"
        ) from error
    if not np.isfinite(found[2]):
        raise RequestError(
            f"the task {task.name!r} gives a cost or a state that is no number at {np.round(state, 3).tolist()}"
        )
    return found


class _Program:
    """The linear program, which rows are added to; solved anew, it starts from where the last solution was."""

    def __init__(
        self, task: SteerTask, steps: StepClips, kind: Indices, samples: tuple[Indices, Array, Indices]
    ) -> None:
        import highspy
        from scipy.sparse import csr_matrix

        self.rows, self._basis = 0, task.basis
        self._kind, (index, weight, cuts) = kind, samples
        self._rows: Any = None
        self._factor: tuple[Array, bool] | None = None
        self._index, self._weight, self._cuts = samples
        kinds = 1 + int(kind.max())
        self.size = kinds * self._basis.size
        alike, both = np.arange(self._basis.size), steps.twins
        if task.mirror and steps.mirrored:
            # Where left and right are alike, a function and its mirror image share an unknown.
            alike = np.minimum(alike, self._basis.mirrored(task.mirror))
        else:
            both = np.arange(len(both))
        alike = np.concatenate([k * self._basis.size + alike for k in range(kinds)])
        _, unknown = np.unique(np.concatenate([alike, self.size + both]), return_inverse=True)
        met = np.bincount((index + self._basis.size * kind[cuts][:, None]).ravel(), minlength=self.size)
        self.coverage = float((met > 0).mean())
        size, whole = int(unknown.max()) + 1, len(unknown)
        self._unknown = unknown
        self._shared = csr_matrix((np.ones(whole), (np.arange(whole), unknown)), (whole, size))
        self._highs = highspy.Highs()  # type: ignore[no-untyped-call]
        self._highs.setOptionValue("output_flag", False)
        self._highs.setOptionValue("threads", 1)
        self._highs.changeObjectiveSense(highspy.ObjSense.kMaximize)
        objective = np.asarray(self._matrix(index, weight, cuts, np.full(len(cuts), 1 / len(cuts))).sum(axis=0)).ravel()
        empty, most = np.zeros(0, np.int32), np.full(size, _HIGHEST)
        least = -most
        least[unknown[self.size :]] = 0.0  # else a shift of all cuts against all splines would be free
        self._highs.addCols(size, objective, least, most, 0, empty, empty, np.zeros(0))

    def _matrix(self, index: Indices, weight: Array, cuts: Indices, factor: Array) -> Any:
        """Rows that give values at states and cuts, times a factor each, by unknowns."""
        from scipy.sparse import csr_matrix

        count, terms = index.shape
        at_kind = index + self._basis.size * self._kind[cuts][:, None]
        columns = np.concatenate([at_kind, self.size + cuts[:, None]], axis=1)
        values = factor[:, None] * np.concatenate([weight, np.ones((count, 1))], axis=1)
        at = np.repeat(np.arange(count), terms + 1)
        return csr_matrix((values.ravel(), (at, columns.ravel())), (count, self._shared.shape[0])) @ self._shared

    def fit(self, targets: Array) -> tuple[Array, Array]:
        """The coefficients and what cuts cost more that give the samples these values, by least squares."""
        from scipy.linalg import cho_factor, cho_solve
        from scipy.sparse import eye, kron

        if self._factor is None:
            self._rows = self._matrix(self._index, self._weight, self._cuts, np.ones(len(targets)))
            square = (self._rows.T @ self._rows).toarray()
            rough = kron(eye(self.size // self._basis.size), self._basis.differences()) @ self._shared[: self.size]
            prior = 1e-3 * np.eye(len(square)) + _SMOOTH * (rough.T @ rough).toarray()
            self._factor = cho_factor(square + len(targets) / len(square) * prior)
        return self._whole(np.asarray(cho_solve(self._factor, self._rows.T @ targets)))

    def keep_near(self, value: ValueFunction) -> None:
        """Keep the program's solutions from going far above a value function."""
        most = np.empty(self._shared.shape[1])
        most[self._unknown] = np.concatenate([value.coefficients, value.cuts]) + _ABOVE
        count = np.arange(len(most), dtype=np.int32)
        self._highs.changeColsBounds(len(most), count, np.full(len(most), -_HIGHEST), most)

    def add(self, which: Indices, rows: _Rows) -> None:
        """Add the rows of some samples."""
        before = self._matrix(self._index[which], self._weight[which], self._cuts[which], np.ones(len(which)))
        index, weight = rows.after[0][which], rows.known[which, None] * rows.after[1][which]
        after = self._matrix(index, weight, rows.cut[which], rows.discount[which])
        both = (before - after).tocsr()
        both.sum_duplicates()
        self._highs.addRows(
            len(which), np.full(len(which), -np.inf), rows.cost[which], both.nnz, both.indptr[:-1].astype(np.int32),
            both.indices.astype(np.int32), both.data,
        )  # fmt: skip
        self.rows += len(which)

    def solve(self) -> tuple[Array, Array]:
        """The coefficients, (size,), and what each cut costs more, (N,)."""
        import highspy

        self._highs.run()
        status = self._highs.getModelStatus()
        if status != highspy.HighsModelStatus.kOptimal:
            raise RequestError(f"the value function cannot be learned: {self._highs.modelStatusToString(status)}")
        return self._whole(np.array(self._highs.getSolution().col_value))

    def _whole(self, unknowns: Array) -> tuple[Array, Array]:
        whole = unknowns[self._unknown]
        return whole[: self.size], whole[self.size :]
