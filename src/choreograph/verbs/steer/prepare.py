"""What steering computes once for a graph: steps, their clean frames, and value functions, kept in the cache."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from typing import Any

import numpy as np

from choreograph.base.errors import RequestError
from choreograph.base.progress import Progress, silent
from choreograph.graph.cache import Content, find_key, find_or_build
from choreograph.graph.model import MotionGraph
from choreograph.verbs.steer.avoid import Avoid
from choreograph.verbs.steer.basis import Dimension, SplineBasis
from choreograph.verbs.steer.controller import SteerPolicy
from choreograph.verbs.steer.costs import SteerAdvanced, StepCosts
from choreograph.verbs.steer.learn import PolicyLearning, learn
from choreograph.verbs.steer.navigate import Navigate
from choreograph.verbs.steer.policy import ValueFunction, check_fits
from choreograph.verbs.steer.steps import StepClips, build_steps
from choreograph.verbs.steer.tasks import Spin, SteerTask

METHOD = 9
"""One more whenever the same graph would give another value function."""
FIRST_READY = "ready to steer"
"""Stage of preparing at which characters can be steered, though not yet as well as they will be."""


def find_steps(graph: MotionGraph, *, mirror: bool = True, progress: Progress | None = None) -> StepClips:
    """The steps of a graph's clips.

    Args:
        graph: Whose motion.
        mirror: Whether each clip counts as its mirror image too; where the graph has those already, they do.
        progress: Hears how many clips are cut.
    """
    has = any(info.mirror_of is not None for info in graph.infos)
    return build_steps(list(graph.clips), mirror=mirror and not has, progress=progress)


def standard_tasks(settings: SteerAdvanced) -> dict[str, SteerTask]:
    """The tasks that there are, with the weights of some settings."""
    weights = settings.weights
    return {
        "navigate": Navigate(weights.deviation, weights.direction, settings.discount_s),
        "spin": Spin(weights.direction),
        "avoid": Avoid(weights.obstacle, turning_weight=weights.direction),
    }


def find_value(
    graph: MotionGraph,
    task: SteerTask,
    costs: StepCosts,
    settings: PolicyLearning = PolicyLearning(),
    progress: Progress | None = None,
) -> ValueFunction:
    """The value function of a task on a graph's steps, read from the cache or learned.

    Args:
        graph: Whose motion.
        task: What is wanted; a task of your own is learned each time unless it is a frozen dataclass.
        costs: The steps and what they cost by themselves.
        settings: How it is learned.
        progress: Hears how far learning has come; may cancel.
    """
    plain = is_dataclass(task) and type(task).__module__.startswith("choreograph.")
    key = None
    if plain:
        key = find_key(
            graph, "value function", METHOD, ("motion", "labels", "contacts"), task=task.name, weights=asdict(task),  # type: ignore[call-overload]
            costs=costs.settings.as_document(), learning=asdict(settings), steps=costs.steps.word,
        )  # fmt: skip
    return find_or_build(
        key, lambda: learn(task, costs, settings, progress), _pack, lambda content: _unpack(content, task, costs)
    )


def load_policy(
    graph: MotionGraph,
    settings: SteerAdvanced | None = None,
    tasks: tuple[str, ...] = ("navigate",),
    *,
    mirror: bool = True,
    own: Mapping[str, SteerTask] | None = None,
    learning: PolicyLearning = PolicyLearning(),
    steps: StepClips | None = None,
    progress: Progress | None = None,
) -> SteerPolicy:
    """All that characters of a graph need to be steered: steps, and a value function for each task.

    >>> import choreograph as cg
    >>> from choreograph.demo import demo_clip
    >>> graph = cg.build_graph([demo_clip(name, 30.0) for name in ("walk", "walk_veer_left")])
    >>> list(load_policy(graph, tasks=("spin",)).values)
    ['spin']

    Args:
        graph: Whose motion.
        settings: What counts how much.
        tasks: Names of tasks.
        mirror: Whether each clip counts as its mirror image too.
        own: Tasks of your own, by name.
        learning: How value functions are learned.
        steps: The graph's steps, where they are at hand.
        progress: Hears how far the work has come; may cancel.

    Raises:
        RequestError: If there is no such task, or no steps can be made of the graph's clips.
    """
    settings, progress = settings or SteerAdvanced(), progress or silent
    known = {**standard_tasks(settings), **(own or {})}
    for name in tasks:
        if name not in known:
            raise RequestError(f"there is no task {name!r}; there are {', '.join(known)}", where="task")
    costs = StepCosts(steps or find_steps(graph, mirror=mirror, progress=progress), settings)
    used = {name: known[name] for name in tasks}
    values = {name: find_value(graph, task, costs, learning, progress=progress) for name, task in used.items()}
    return SteerPolicy(costs, used, values)


def _pack(value: ValueFunction) -> Content:
    dimensions = [vars(one) for one in value.basis.dimensions]
    facts = {
        "task": value.task,
        "dimensions": json.loads(json.dumps(dimensions)),
        "report": dict(value.report),
        "steps": value.steps,
    }
    return Content(facts, {"coefficients": value.coefficients, "cuts": value.cuts, "kind": value.kinds})


def _unpack(content: Content, task: SteerTask, costs: StepCosts) -> ValueFunction:
    """The value function of an entry; a ValueError where it does not fit the task or the steps."""
    basis = SplineBasis(tuple(Dimension(**one) for one in content.facts["dimensions"]))
    report: dict[str, Any] = dict(content.facts["report"])
    # Copies, as those just learned are: kernels would be compiled once more for arrays that cannot be written to.
    coefficients, cuts = (content.arrays[name].copy() for name in ("coefficients", "cuts"))
    kind = content.arrays["kind"].astype(np.int64)
    value = ValueFunction(content.facts["task"], basis, coefficients, cuts, report, kind, content.facts["steps"])
    check_fits(value, task, costs.steps)
    return value
