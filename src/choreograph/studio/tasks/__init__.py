"""What worker processes do: one module for each kind of work, each a plain function.

A task takes the workshop, what was asked, and a `TaskChannel` to speak through while it works. A verb, that is a way of asking
for motion, is a task that comes back with a list of `Result`; it also has a line in `VERBS`.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from choreograph.studio.document import FollowAsk, PerformAsk, SolveAsk

TASKS = {
    "warm": "warm",
    "demo": "imports:import_demo",
    "import": "imports:import_files",
    "import_graph": "imports:import_graph",
    "clips": "clips",
    "figure": "figure",
    "thumbnail": "thumbnail",
    "shape": "shape",
    "build": "build",
    "summary": "build:summary",
    "joins": "joins",
    "matrix": "matrix",
    "preview": "preview",
    "follow": "follow",
    "solve": "solve",
    "cuts": "solve:cuts",
    "perform": "perform",
    "examples": "examples",
    "moved": "performing:moved",
    "warm_perform": "performing:warm",
    "export": "export",
}
"""Where tasks are: a module here, and a function of it where that is not called like the module."""

VERBS: dict[str, Any] = {"follow": FollowAsk, "solve": SolveAsk, "perform": PerformAsk}
"""Continuations of asking for motion, and the type that what is asked has."""


def find_task(name: str) -> Callable[..., Any]:
    """The function that does a task."""
    module, _, function = TASKS[name].partition(":")
    found: Callable[..., Any] = getattr(import_module(f"{__name__}.{module}"), function or module)
    return found
