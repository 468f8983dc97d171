"""What worker processes do: one module for each kind of work, each a plain function.

A task takes the worker's context, what was asked, and a `TaskChannel` to speak through while it works. Verbs share one,
`answer`: what a verb is, its own room says.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

TASKS = {
    "demo": "imports:import_demo",
    "import": "imports:import_files",
    "clips": "clips",
    "frames": "clips:frames",
    "find": "find",
    "figure": "figure",
    "character": "characters:character",
    "character_roles": "characters:roles",
    "wear": "characters:wear",
    "wear_live": "characters:wear_live",
    "thumbnail": "thumbnail",
    "shape": "shape",
    "build": "build",
    "summary": "build:summary",
    "curve": "build:curve",
    "joins": "joins",
    "matrix": "matrix",
    "preview": "preview",
    "answer": "answer",
    "prepare": "answer:prepare",
    "examples": "examples",
    "moved": "performing:moved",
    "dragged": "dragging:dragged",
    "warm_perform": "performing:warm",
    "export": "export",
    "output": "output",
    "faces": "faces:listed",
    "face_received": "faces:received",
    "face_surface": "faces:surface",
}
"""Where tasks are: a module here, and a function of it where that is not called like the module."""


def find_task(name: str) -> Callable[..., Any]:
    """The function that does a task."""
    module, _, function = TASKS[name].partition(":")
    task: Callable[..., Any] = getattr(import_module(f"{__name__}.{module}"), function or module)
    return task
