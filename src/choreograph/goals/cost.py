"""A function of your own as a goal: in request files it is FILE.py:NAME."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, ClassVar

from annotated_types import MaxLen
from pydantic import BeforeValidator, WithJsonSchema

from choreograph.base.errors import RequestError
from choreograph.contract.mistakes import quote
from choreograph.contract.request import Wrong
from choreograph.goals.base import Goal


class LoadedFunction:
    """A function from a file, which knows by what name a request asked for it."""

    def __init__(self, function: Callable[[Any], Any], source: str) -> None:
        self._function, self.source = function, source
        self.__name__ = source.rpartition(":")[2]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LoadedFunction) and other.source == self.source

    def __hash__(self) -> int:
        return hash(self.source)

    def __call__(self, motion: Any) -> Any:
        """What the function says about a motion."""
        return self._function(motion)


def _check_function(value: Any) -> Any:
    if callable(value):
        return value
    file, colon, name = value.rpartition(":") if isinstance(value, str) else ("", "", "")
    if not colon or not file.endswith(".py") or not name.isidentifier():
        raise Wrong("", f"is {quote(value)}; it must be FILE.py:NAME, such as style.py:stay_low, or a function")
    return value


class CostGoal(Goal):
    """A function of your own that says what a motion costs; the search keeps what lowers it."""

    noun: ClassVar[str] = "cost"
    named_only: ClassVar[tuple[str, ...]] = Goal.named_only

    function: Annotated[Any, BeforeValidator(_check_function), WithJsonSchema({"type": "string", "maxLength": 4096})]
    """Gets a `MotionView` and returns its cost, 0 or more: one number, or one for each frame (N,), which count by
    the second: 1 throughout ten seconds costs 10. In request files FILE.py:NAME."""
    name: Annotated[str, MaxLen(200)] = ""
    """What messages call it; the function's own name if empty."""

    @property
    def label(self) -> str:
        """What messages call it."""
        return self.name or getattr(self.function, "__name__", "function")

    def as_document(self) -> dict[str, Any]:
        """As request files have it; a function that is in no file by its module and name."""
        function = self.function
        if not isinstance(function, str):
            place = f"{getattr(function, '__module__', '')}:{getattr(function, '__qualname__', self.label)}"
            function = getattr(function, "source", place)
        return {**super().as_document(), "function": function}

    def loaded(self, folder: Path, where: str, *, allow_code: bool) -> CostGoal:
        """The same with its function at hand. Its file is run to get it, so only where that is allowed.

        Args:
            folder: Where the file is looked for.
            where: The goal's place in the request.
            allow_code: Whether the file may be run.

        Raises:
            RequestError: If that is not allowed, or the file does not have the function.
        """
        import importlib.util

        if not isinstance(self.function, str):
            return self
        source, where = self.function, f"{where}.function"
        file, _, name = source.rpartition(":")
        if not allow_code:
            raise RequestError(
                f"{where} is {source!r}: that runs the code in {file}; if you trust it, allow it (allow_code)",
                where=where,
            )
        spec = importlib.util.spec_from_file_location(Path(file).stem, folder / file)
        assert spec is not None and spec.loader is not None  # the name ends in .py
        module = importlib.util.module_from_spec(spec)
        try:
            spec.loader.exec_module(module)
        except OSError as error:
            raise RequestError(f"{where}: {folder / file} cannot be read: {error.strerror}", where=where) from None
        except Exception as error:
            text = f"{where}: {folder / file} raised {type(error).__name__}: {error}"
            raise RequestError(text, where=where) from error
        function = getattr(module, name, None)
        if not callable(function):
            raise RequestError(f"{where}: {folder / file} has no function {name!r}", where=where)
        return self.with_(function=LoadedFunction(function, source))
