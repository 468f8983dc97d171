"""PathRequest: how a path on the floor is asked for, the same for every verb that takes one."""

from __future__ import annotations

from pathlib import Path as FilePath
from typing import Annotated, Self

import numpy as np
from annotated_types import Ge, Le, MaxLen
from pydantic import model_validator

from choreograph.base.errors import RequestError
from choreograph.contract.limits import beside
from choreograph.contract.request import FileName, Metres, Option, Point, Request, Wrong
from choreograph.scene.path import Path
from choreograph.scene.path_files import load_path


class PathRequest(Request):
    """A path on the floor, from a file, a shape or points."""

    path: Annotated[str, MaxLen(4096), FileName(), Option(("--path", "-p"))] = ""
    """The path: a .csv, .json or .svg file, or a shape such as circle:radius=4 or eight."""
    points: Annotated[tuple[Point, ...], MaxLen(200_000), Option(hidden=True)] = ()
    """The path as points, x and z in metres, instead of a file or shape."""
    scale: Annotated[str, MaxLen(40), Option(unlisted=True)] | None = None
    """Metres per unit of the path's file, or m, cm …"""
    flip: Annotated[bool, Option(unlisted=True)] = False
    """Mirror the path left to right."""
    smooth_m: Annotated[Metres, Ge(0), Le(100), Option(unlisted=True)] = 0.0
    """Smooth the path over so many metres."""
    rounded_m: Annotated[Metres, Ge(0), Le(1000), Option(("--round",), unlisted=True)] = 0.0
    """Round its corners to this radius."""

    @model_validator(mode="after")
    def _check_path(self) -> Self:
        if self.path and self.points:
            raise Wrong("points", "are given beside a path; give one of them")
        return self

    def resolved(self, folder: FilePath, *, allow_code: bool = False) -> Self:
        """The request with the path's file taken from a folder."""
        if self.path and FilePath(self.path).suffix:
            return self.with_(path=beside(folder, self.path))
        return self

    def notes(self) -> list[str]:
        """Which line of a drawing the path is, and how large a unit of it."""
        return [str(note) for note in self._loaded().notes] if self.path else []

    def given_path(self, begin: Point | None = None) -> Path:
        """The path as it is given; from `begin` on, if that is where somebody stands already.

        Raises:
            RequestError: If there is none, or it cannot be read.
        """
        path = None
        if self.points or (begin is not None and not self.path):
            points = [*([begin] if begin else []), *self.points]
            path = Path(np.array(points)) if len(points) >= 2 else None
        elif self.path:
            path = self._loaded()
            if begin is not None:
                path = Path(np.array([begin, *path.points]), name=path.name)
        if path is None:
            raise RequestError("nothing is drawn yet: draw a path on the floor, or give one (path)", where="path")
        return path

    def shaped(self, path: Path) -> Path:
        """The path with its corners rounded and its wiggles smoothed as the request says."""
        path = path.rounded(self.rounded_m) if self.rounded_m else path
        return path.smoothed(self.smooth_m) if self.smooth_m else path

    def _loaded(self) -> Path:
        return load_path(self.path, scale=self.scale, flip=self.flip)
