"""Value functions: what a task will cost from a state on, and the step that they say is best."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from choreograph.base.arrays import Floats, Ints
from choreograph.base.errors import RequestError
from choreograph.verbs.steer.basis import SplineBasis

if TYPE_CHECKING:
    from choreograph.verbs.steer.steps import StepClips
    from choreograph.verbs.steer.tasks import SteerTask


class Worth(NamedTuple):
    """What ends of steps are worth, as kernels read it."""

    table: Floats
    """What describes each dimension, (D, 6), see `SplineBasis.table`."""
    splines: Floats
    """Coefficients, a row for each spline, (K, size)."""
    kind: Ints
    """Which spline each cut has, (N,)."""


@dataclass(frozen=True, eq=False)
class ValueFunction:
    """What a task will cost from a state on, beyond what blends and gaits cost by themselves."""

    task: str
    basis: SplineBasis
    coefficients: Floats
    """Of one spline after another, each as many as the basis has functions."""
    cuts: Floats
    """What being at each cut costs more, (N,)."""
    report: Mapping[str, Any] = field(default_factory=dict)
    """How it was learned: violation, samples, seconds …"""
    kind: Ints | None = None
    """Which spline each cut has, (N,); one for all if not given."""
    steps: str = ""
    """The word of the steps that it was learned on (`StepClips.word`); any will do that are as many if not given."""

    @cached_property
    def kinds(self) -> Ints:
        """Which spline each cut has, (N,)."""
        return np.zeros(len(self.cuts), np.int64) if self.kind is None else self.kind

    @cached_property
    def splines(self) -> Floats:
        """The coefficients, a row for each spline, (K, size of the basis)."""
        return self.coefficients.reshape(-1, self.basis.size)

    def at(self, state: Floats, cut: Ints | int | None = None) -> Floats:
        """The values of states (N, D), (N,), at these cuts; at those of the most frequent kind if not given."""
        index, weight = self.basis.at(state)
        kind = np.zeros(1, np.int64) if cut is None else np.atleast_1d(self.kinds[cut])
        return np.asarray((self.splines[kind[:, None], index] * weight).sum(axis=1))

    @cached_property
    def worth(self) -> Worth:
        """The same as kernels read it, whether it comes from the cache or was learned just now."""
        return Worth(self.basis.table, np.array(self.splines), np.array(self.kinds))


def check_fits(value: ValueFunction, task: SteerTask, steps: StepClips) -> None:
    """Raise a RequestError if a value function is of another task, version or graph."""
    if value.task != task.name or value.basis != task.basis:
        raise RequestError(f"the value function is of the task {value.task!r} or of another version of {task.name!r}")
    other = value.steps and value.steps != steps.word
    splines = 1 + int(value.kinds.max(initial=0))
    if (
        other
        or value.coefficients.shape != (splines * value.basis.size,)
        or not (value.cuts.shape == value.kinds.shape == steps.cut_foot.shape)
    ):
        cuts = (
            ""
            if len(value.cuts) == len(steps.cut_foot)
            else (f": it knows {len(value.cuts)} cuts, these steps have {len(steps.cut_foot)}")
        )
        raise RequestError(f"the value function is of another graph or of other recordings{cuts}; learn it anew")
    if not (np.isfinite(value.coefficients).all() and np.isfinite(value.cuts).all()):
        raise RequestError("the value function has values that are no numbers; learn it anew")
