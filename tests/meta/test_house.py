"""The house stays tidy: files, functions and signatures that can be read at once."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import choreograph

SOURCE = Path(choreograph.__file__).parent
FILES = sorted(path for path in SOURCE.rglob("*.py") if "_compiled" not in path.name)
MAX_FILE, MAX_FUNCTION, MAX_PARAMETERS = 400, 100, 8


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_files_and_functions_can_be_read_at_once(path: Path) -> None:
    assert len(path.read_text("utf-8").splitlines()) <= MAX_FILE, "two ideas may share this file"
    for function in functions(path):
        length = function.end_lineno - function.lineno + 1  # type: ignore[operator]
        names = [a.arg for a in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)]
        given = [name for name in names if name not in ("self", "cls")]
        assert length <= MAX_FUNCTION, f"{function.name} has {length} lines"
        assert len(given) <= MAX_PARAMETERS, f"{function.name} takes {len(given)} parameters"


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("_compiled*.py")), ids=lambda path: str(path.relative_to(SOURCE)))
def test_kernels_are_compiled_by_one_module(path: Path) -> None:
    """`choreograph.base.compiling` keeps numba from importing all of scipy.linalg before the first kernel."""
    modules = set[str]()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom):
            modules.add(node.module or "")
        elif isinstance(node, ast.Import):
            modules.update(name.name for name in node.names)
    assert not {module for module in modules if module.split(".")[0] == "numba"}
