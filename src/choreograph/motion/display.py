"""How motions show themselves in Jupyter: they ask for the notebook's stage when, and only when, they are displayed."""

from __future__ import annotations

import importlib
from typing import Any


class ShowsItself:
    """A motion that plays in a notebook's cell."""

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Any:
        # By name: the stage knows motions of all kinds and stands above them.
        return importlib.import_module("choreograph.notebook").describe(self)
