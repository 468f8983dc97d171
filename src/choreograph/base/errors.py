"""Everything Choreograph raises on purpose, as one tree.

    ChoreographError            catch this to catch them all
    ├── FormatError             a motion file could not be read or written: fix or replace the file
    ├── SkeletonMismatch        two clips cannot be used together as they are
    ├── RoleError               a joint role (a foot, the hips …) is missing or wrongly named
    ├── GraphFileError          a .mog file is foreign, newer, damaged or out of reach
    ├── RequestError            a setting or argument is outside what can be done
    │   └── SearchStateError    what was kept of a search cannot be gone on from
    ├── OutputExists            the output is already there and overwriting was not asked for
    ├── DownloadError           recordings could not be fetched
    ├── MissingExtra            an optional part is not installed; the message has the install line
    └── Cancelled               the caller asked for the work to stop

Messages say what failed, where, what was found, and what to try. Exceptions also carry that as attributes.
"""

from __future__ import annotations

from pathlib import Path

LONGEST = 1000
"""Characters of what a message says about a file: names and values in it may be megabytes long."""
_NAME = 400
"""Characters of the file's own name."""


def _short_name(path: str | Path) -> str:
    """A file's name without its middle, where it is longer than anybody reads."""
    text = str(path)
    return text if len(text) <= _NAME else f"{text[: _NAME // 2]}…{text[-_NAME // 2 :]}"


def _short(reason: str) -> str:
    return reason if len(reason) <= LONGEST else f"{reason[:LONGEST]}…"


class ChoreographError(Exception):
    """Base of every error that Choreograph raises on purpose."""


class FormatError(ChoreographError):
    """A motion file could not be read or written.

    Attributes:
        path: The file, if there is one.
        line: The line at fault, counted from 1, if known.
        reason: The message without file and line.
    """

    def __init__(self, reason: str, *, path: str | Path | None = None, line: int | None = None) -> None:
        self.reason = reason = _short(reason)
        self.path = None if path is None else Path(path)
        self.line = line
        name = "" if path is None else _short_name(path)
        place = "" if path is None else f"{name}: " if line is None else f"{name}, line {line}: "
        super().__init__(place + reason)

    def at(self, path: str | Path) -> FormatError:
        """The same error, naming its file."""
        return FormatError(self.reason, path=path, line=self.line)


class SkeletonMismatch(ChoreographError):
    """Two clips cannot be used together because their skeletons differ."""


class RoleError(ChoreographError):
    """A joint role is needed that no joint of the skeleton has, or a role's name is unknown."""


class GraphFileError(ChoreographError):
    """A .mog file cannot be opened or written.

    Attributes:
        path: The file.
        reason: The message without the file's name.
    """

    def __init__(self, reason: str, *, path: str | Path) -> None:
        self.reason = reason = _short(reason)
        self.path = Path(path)
        super().__init__(f"{_short_name(path)}: {reason}")


class RequestError(ChoreographError):
    """A setting or argument is outside what can be done.

    Attributes:
        where: Its place in the request, such as "body[1].position", if it is about one.
        mistakes: All that is wrong with a request, each as its place and a sentence.
    """

    def __init__(self, message: str, *, where: str = "") -> None:
        self.where = where
        self.mistakes: tuple[tuple[str, str], ...] = ((where, message),)
        super().__init__(message)


class SearchStateError(RequestError):
    """What was kept of a search is damaged, or is of another graph or request: begin a new search."""


class OutputExists(ChoreographError):
    """The output is already there, and overwriting it was not asked for.

    Attributes:
        path: What is in the way.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        super().__init__(f"{path} exists already; choose another name, or have it replaced (overwrite)")


class DownloadError(ChoreographError):
    """Recordings could not be fetched.

    Attributes:
        status: The HTTP status the server answered with, if that is what went wrong.
        gave_up: Whether every allowed attempt failed: the server or the way to it is in trouble, not this one file.
    """

    def __init__(self, message: str, *, status: int | None = None, gave_up: bool = False) -> None:
        self.status = status
        self.gave_up = gave_up
        super().__init__(message)


class MissingExtra(ChoreographError):
    """An optional part is not installed.

    Attributes:
        extra: The name of the extra that brings it.
    """

    def __init__(self, what: str, extra: str) -> None:
        self.extra = extra
        super().__init__(f"{what} needs an optional part; install it with: pip install 'choreograph[{extra}]'")


class Cancelled(ChoreographError):
    """The caller asked for the work to stop; nothing half-made was left behind."""

    def __init__(self, message: str = "cancelled") -> None:
        super().__init__(message)
