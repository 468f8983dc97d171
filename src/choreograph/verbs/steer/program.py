"""The linear program that a value function is found by.

    maximise   the mean over samples of V(X), less what it lets samples off
    such that  V(X) <= cost of a step + discount * V(X') + what it lets X off, for the steps in the program

After Treuille, Lee and Popović (2007). Splines cannot follow every ridge of the true V: the more strictly V is held
below it at every sample, the farther it is off. So the program may let samples off at a price, as Desai, Farias and
Moallemi do ("Approximate dynamic programming via a smoothed linear program", 2012).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from choreograph.base.arrays import Floats, Ints
from choreograph.base.errors import RequestError
from choreograph.verbs.steer.policy import ValueFunction
from choreograph.verbs.steer.steps import StepClips
from choreograph.verbs.steer.tasks import SteerTask

_LET_OFF = 2.0
"""What it costs to let a sample violate its rows by 1, where V may gain 1 there: with 2, V is above its rows at half of
the samples. Picked among 2, 4 and 16 on the demo motion by V's error; with 1 nothing would hold it."""
_HIGHEST = 1e4
"""Coefficients are kept within this, so that the first program is bounded."""
_ABOVE = 1.0
"""How far above the fit the program's coefficients may be: nothing holds V down between samples, and without this the
program adds rows for ever."""
_SMOOTH = 0.1
"""Weight of the second differences of a spline's coefficients against its errors at samples: what few samples say of
a place is evened out with its neighbours (P-splines, Eilers and Marx 1996)."""


@dataclass(frozen=True, eq=False)
class ProgramRows:
    """A step for each sample."""

    cost: Floats
    """Its cost, and what blends and gaits cost after it, less what they cost before it."""
    discount: Floats
    cut: Ints
    """At which it ends, (N,)."""
    known: Floats
    """1 where there is anything left to do after it, else 0, (N,)."""
    after: tuple[Ints, Floats]
    """Which basis functions count in the states after it, and their values there, both (N, terms)."""

    def target(self, value: ValueFunction) -> Floats:
        """What each sample's value would be with this step, (N,)."""
        index, weight = self.after
        ends = np.einsum("nt,nt->n", value.splines[value.kinds[self.cut][:, None], index], weight)
        return np.asarray(self.cost + self.discount * (self.known * ends + value.cuts[self.cut]))


class ValueProgram:
    """Unknowns that are fitted to samples, and then found by a linear program, to which rows are added; solved anew,
    it starts from where the last solution was."""

    def __init__(self, task: SteerTask, steps: StepClips, kind: Ints, samples: tuple[Ints, Floats, Ints]) -> None:
        import highspy
        from scipy.sparse import csr_matrix

        self.rows, self._basis = 0, task.basis
        self._kind, (index, weight, cuts) = kind, samples
        self._rows: Any = None
        self._factor: tuple[Floats, bool] | None = None
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
        count = len(cuts)
        self.let_off = np.zeros(count)
        """By how much the program lets each sample violate its rows, (N,)."""
        price = np.full(count, -_LET_OFF / count)
        self._highs.addCols(count, price, np.zeros(count), np.full(count, np.inf), 0, empty, empty, np.zeros(0))

    def _matrix(self, index: Ints, weight: Floats, cuts: Ints, factor: Floats) -> Any:
        """Rows that give values at states and cuts, times a factor each, by unknowns."""
        from scipy.sparse import csr_matrix

        count, terms = index.shape
        at_kind = index + self._basis.size * self._kind[cuts][:, None]
        columns = np.concatenate([at_kind, self.size + cuts[:, None]], axis=1)
        values = factor[:, None] * np.concatenate([weight, np.ones((count, 1))], axis=1)
        at = np.repeat(np.arange(count), terms + 1)
        return csr_matrix((values.ravel(), (at, columns.ravel())), (count, self._shared.shape[0])) @ self._shared

    def fit(self, targets: Floats) -> tuple[Floats, Floats]:
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

    def add(self, which: Ints, rows: ProgramRows) -> None:
        """Add the rows of some samples."""
        from scipy.sparse import csr_matrix, hstack

        before = self._matrix(self._index[which], self._weight[which], self._cuts[which], np.ones(len(which)))
        index, weight = rows.after[0][which], rows.known[which, None] * rows.after[1][which]
        after = self._matrix(index, weight, rows.cut[which], rows.discount[which])
        every = np.arange(len(which))
        off = csr_matrix((-np.ones(len(which)), (every, which)), (len(which), len(self.let_off)))
        both = hstack([before - after, off]).tocsr()
        both.sum_duplicates()
        self._highs.addRows(
            len(which), np.full(len(which), -np.inf), rows.cost[which], both.nnz, both.indptr[:-1].astype(np.int32),
            both.indices.astype(np.int32), both.data,
        )  # fmt: skip
        self.rows += len(which)

    def solve(self) -> tuple[Floats, Floats]:
        """The coefficients, (size,), and what each cut costs more, (N,)."""
        import highspy

        self._highs.run()
        status = self._highs.getModelStatus()
        if status != highspy.HighsModelStatus.kOptimal:
            raise RequestError(f"the value function cannot be learned: {self._highs.modelStatusToString(status)}")
        solution = np.array(self._highs.getSolution().col_value)
        self.let_off = solution[self._shared.shape[1] :]
        return self._whole(solution[: self._shared.shape[1]])

    def _whole(self, unknowns: Floats) -> tuple[Floats, Floats]:
        whole = unknowns[self._unknown]
        return whole[: self.size], whole[self.size :]
