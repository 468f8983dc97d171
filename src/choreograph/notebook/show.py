"""The stage in a notebook's cell, and the hook through which motions show themselves."""

from __future__ import annotations

import importlib.util
import sys
from typing import Any

from numpy.typing import ArrayLike

from choreograph.base.errors import RequestError
from choreograph.notebook.scene import Motion, set_scene
from choreograph.scene.path import Path

THEMES = ("auto", "dark", "light")


def show(
    *motions: Motion,
    path: Path | ArrayLike | None = None,
    height: int = 420,
    theme: str = "auto",
    ghosts: bool = False,
) -> Any:
    """A stage on which motions play together; leave it as the last line of a cell, or give it to `display`.

    With anywidget it is a `StageView`, whose traits (`time`, `playing`, `speed`, `ghosts` …) can be read and set while
    it is seen. Without, it is a picture and a line that says what to install.

    >>> from choreograph.demo import demo_clip
    >>> show(demo_clip("walk", 30.0), height=300)  # doctest: +SKIP

    Args:
        *motions: Clips, finished motions, results of following a path, performances.
        path: A line on the floor: a Path, or points (N, 2) as (x, z), metres. Results bring their own along.
        height: Of the stage, pixels.
        theme: "auto" goes with the notebook; or "dark", "light".
        ghosts: Whether to show where the figures were and will be.
    """
    if theme not in THEMES:
        raise RequestError(f"unknown theme {theme!r}; choose from {', '.join(THEMES)}")
    if not 120 <= height <= 4000:
        raise RequestError(f"a stage is 120 to 4000 pixels high, not {height}")
    scene = set_scene(motions, path)
    if importlib.util.find_spec("anywidget") is None:
        from choreograph.notebook.still import Still

        return Still(scene, "to see it move: pip install 'choreograph[notebook]', then restart the kernel")
    from choreograph.notebook.view import STAGE, StageView

    if not STAGE.is_file():
        from choreograph.notebook.still import Still

        return Still(scene, "to see it move: run `make page` where the package was cloned; it builds the stage")
    return StageView(scene, height=height, theme=theme, ghosts=ghosts)


def describe(motion: Motion) -> Any:
    """What a motion answers when Jupyter asks how to display it; nothing, so that its text is shown, in a terminal."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return show(motion)._repr_mimebundle_() if hasattr(shell, "kernel") else {}
