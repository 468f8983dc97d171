"""The house stays tidy: files that can be read at once, and figures that only go down (`house.toml`)."""

from __future__ import annotations

import ast

import pytest
from tests.meta import house
from tests.meta.tree import modules, rings

MAX_FILE, MAX_FUNCTION, MAX_PARAMETERS = 400, 100, 8


def test_files_and_functions_can_be_read_at_once() -> None:
    wrong = []
    for module in (module for module in modules() if not module.kernels):
        if len(module.lines) > MAX_FILE:
            wrong.append(f"{module} has {len(module.lines)} lines: two ideas may share this file")
        for function in module.nodes(ast.FunctionDef, ast.AsyncFunctionDef):
            length = function.end_lineno - function.lineno + 1
            names = [a.arg for a in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)]
            given = [name for name in names if name not in ("self", "cls")]
            if length > MAX_FUNCTION:
                wrong.append(f"{module}: {function.name} has {length} lines")
            if len(given) > MAX_PARAMETERS:
                wrong.append(f"{module}: {function.name} takes {len(given)} parameters")
    assert not wrong, "\n".join(wrong)


def test_kernels_are_compiled_by_one_module() -> None:
    """`choreograph.base.compiling` keeps numba from importing all of scipy.linalg before the first kernel."""
    wrong = [
        str(module)
        for module in modules()
        if module.kernels and any(name.split(".")[0] == "numba" for name in module.imports(deep=True, types=True))
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("guard", house.GUARDS)
def test_what_only_goes_down(guard: str) -> None:
    """Allowances are lowered by `python -m tests.meta.house`, and raised by hand where a commit adds a capability."""
    over = house.too_much(guard)
    assert not over, "\n".join([f"{guard}:", *over])


def test_allowances_are_only_lowered() -> None:
    text = '[lines]\ntotal = 30\n"verbs/follow" = 9 # grows soon\nroom = 3\n\n["array aliases"]\nroom = 2\nold = 1\n'
    figures = {"lines": {"total": 20, "verbs/follow": 7, "room": 2}, "array aliases": {"room": 4}}
    assert house.lower(text, figures) == (
        '[lines]\ntotal = 20\n"verbs/follow" = 9 # grows soon\nroom = 2\n\n["array aliases"]\nroom = 2\n'
    )


def test_rings_are_modules_that_import_each_other() -> None:
    graph = {"a": {"b"}, "b": {"c"}, "c": {"a", "d"}, "d": {"e"}, "e": set(), "f": {"g"}, "g": {"f", "a"}}
    assert rings(graph) == [["a", "b", "c"], ["f", "g"]]
