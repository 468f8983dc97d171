"""A user's own task, loaded from a Python file."""

from __future__ import annotations

import runpy
from pathlib import Path

from choreograph.base.errors import RequestError
from choreograph.verbs.steer.tasks import SteerTask


def load_task(text: str) -> SteerTask:
    """The task that FILE.py:CLASS names; this runs the file.

    Raises:
        RequestError: If there is no such file or class, or it is no task.
    """
    file, _, name = text.rpartition(":")
    if not file or not Path(file).is_file():
        raise RequestError(
            f"own_task is {text!r}; it must be FILE.py:CLASS with a file that is there", where="own_task"
        )
    try:
        item = runpy.run_path(file).get(name)
        task = item() if isinstance(item, type) else item
    except Exception as error:
        raise RequestError(f"own_task: {file} raised {type(error).__name__}: {error}", where="own_task") from error
    if not isinstance(task, SteerTask):
        raise RequestError(
            f"own_task: {name!r} in {file} is no task; make it a subclass of choreograph.SteerTask", where="own_task"
        )
    return task
