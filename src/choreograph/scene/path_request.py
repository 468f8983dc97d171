"""PathSource: how a path on the floor is given, the same for every verb that takes one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path as FilePath
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from annotated_types import Ge, Le, MaxLen
from pydantic import model_validator

from choreograph.base.errors import RequestError
from choreograph.contract.limits import beside
from choreograph.contract.request import FileName, Metres, Option, Point, Request, Seconds, Wrong
from choreograph.scene.path import Path
from choreograph.scene.path_files import SUFFIXES, load_path

_FORMS = ("file", "shape", "points")


class PathSource(Request):
    """A path on the floor, from a file, a shape or points.

    >>> PathSource(**PathSource.of_word("eight:radius=3,smooth=0.5")).as_document()
    {'shape': 'eight:radius=3', 'smooth_m': 0.5}
    """

    panel: ClassVar[str] = "Path"

    file: Annotated[str, MaxLen(4096), FileName()] = ""
    """A .csv, .json or .svg file; drawing.svg#ID for one line of a drawing."""
    shape: Annotated[str, MaxLen(4096)] = ""
    """A shape such as eight or circle:radius=4."""
    points: Annotated[tuple[Point, ...], MaxLen(200_000)] = ()
    """Points, x and z, metres."""
    times: Annotated[tuple[Annotated[Seconds, Ge(0), Le(1e6)], ...], MaxLen(200_000)] = ()
    """When each point is reached, seconds from the start; verbs that take a trajectory read it."""
    scale: Annotated[str, MaxLen(40)] | None = None
    """Metres per unit of the file, or m, cm …; of a shape, how many times larger."""
    flip: bool = False
    """Whether it is mirrored left to right."""
    smooth_m: Annotated[Metres, Ge(0), Le(100)] = 0.0
    """Length over which it is smoothed."""
    round_m: Annotated[Metres, Ge(0), Le(1000)] = 0.0
    """Radius to which its corners are rounded."""

    @model_validator(mode="after")
    def _check_path(self) -> Self:
        given = [name for name in _FORMS if getattr(self, name)]
        if len(given) != 1:
            raise Wrong("", f"must have one of {', '.join(_FORMS)}; it has {', '.join(given) or 'none'}")
        if self.times and len(self.times) != len(self.points):
            raise Wrong("times", f"are {len(self.times)}, but points are {len(self.points)}; give one for each")
        if any(later <= earlier for earlier, later in zip(self.times, self.times[1:], strict=False)):
            raise Wrong("times", "do not increase; give points in order of time")
        return self

    @classmethod
    def of_word(cls, text: str) -> dict[str, Any]:
        """The fields that one word says: a file or shape, and after a colon the other fields without their units."""
        named, colon, rest = text.rpartition(":")
        if not colon or FilePath(text).suffix.lower() in SUFFIXES:
            named, rest = text, ""
        usual = {name.removesuffix("_m"): name for name in cls.model_fields if name not in (*_FORMS, "times")}
        fields: dict[str, Any] = {}
        measures = []
        for part in filter(None, (part.strip() for part in rest.split(","))):
            name, _, value = (word.strip() for word in part.partition("="))
            if name == "flip":
                fields["flip"] = value.lower() not in ("no", "false", "0")
            elif name == "scale":
                fields["scale"] = value
            elif name in usual:
                try:
                    fields[usual[name]] = float(value)
                except ValueError:
                    raise Wrong("", f"is {text!r}; {name} must be a number") from None
            elif _is_file(named):
                raise Wrong("", f"is {text!r}; a file can be followed by {', '.join(usual)}, not {part}")
            else:
                measures.append(part)
        if _is_file(named):
            return {"file": named, **fields}
        return {"shape": ":".join(filter(None, (named, ",".join(measures)))), **fields}

    @classmethod
    def to_word(cls, document: Mapping[str, Any]) -> str | None:
        """The word that says the same as a document; None if no word does."""
        if "points" in document:
            return None
        rest = [
            name if value is True else f"{name.removesuffix('_m')}={value}"
            for name, value in document.items()
            if name not in _FORMS
        ]
        named = document.get("file") or document["shape"]
        return named + (("," if ":" in named else ":") + ",".join(rest) if rest else "")

    def resolved(self, folder: FilePath, *, allow_code: bool = False) -> Self:
        """The path with its file taken from a folder."""
        file, mark, line = self.file.partition("#")
        return self.with_(file=f"{beside(folder, file)}{mark}{line}") if file else self

    def notes(self) -> list[str]:
        """Which line of a drawing the path is, and how large a unit of it."""
        return [] if self.points else [str(note) for note in self._loaded().notes]

    def given_path(self, begin: Point | None = None) -> Path:
        """The path as it is given; with a place before it, if the character stands there already.

        Raises:
            RequestError: If it cannot be read.
        """
        if self.points:
            points = [*([begin] if begin else []), *self.points]
            if len(points) < 2:
                raise RequestError("nothing is drawn yet: draw a path on the floor, or give one (path)", where="path")
            return Path(np.array(points))
        path = self._loaded()
        return path if begin is None else Path(np.array([begin, *path.points]), name=path.name)

    def shaped(self, path: Path) -> Path:
        """A path with its corners rounded and its wiggles smoothed as the request says."""
        path = path.rounded(self.round_m) if self.round_m else path
        return path.smoothed(self.smooth_m) if self.smooth_m else path

    def _loaded(self) -> Path:
        return load_path(self.file or self.shape, scale=self.scale, flip=self.flip)


def _is_file(text: str) -> bool:
    return FilePath(text.partition("#")[0]).suffix.lower() in SUFFIXES


class PathRequest(Request):
    """A path among a request's own fields, as follow, steer and bend have it still."""

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
        """The path as it is given; from `begin` on, if the character stands there already.

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
